from glimpse_envs.testing import check_task


def test_find_coin() -> None:
    check_task("my_tasks:Mine/FindCoin-v0")
    check_task("my_tasks:Mine/FindCoin-v0", boxes=3, budget=2, split="test")
