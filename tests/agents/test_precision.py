"""The fastest precision is one that the processor has."""

import pytest

from agents.training.precision import fastest_precision


@pytest.mark.parametrize(
    ("capabilities", "precision"),
    [({"avx512_bf16": True}, "bfloat16"), ({"avx2": True}, "float32"), (None, "float32")],
)
def test_it_is_by_the_processor_s_capabilities(
    capabilities: dict[str, bool] | None, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if capabilities is None:
        monkeypatch.delattr("torch.cpu.get_capabilities", raising=False)
    else:
        monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities, raising=False)
    assert fastest_precision() == precision
