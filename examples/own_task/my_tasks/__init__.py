"""Tasks of a package of its own: gymnasium.make("my_tasks:Mine/FindCoin-v0")."""

import glimpse_envs

glimpse_envs.register("Mine/FindCoin-v0", task="my_tasks.find_coin:FindCoin", boxes=6, budget=4)
