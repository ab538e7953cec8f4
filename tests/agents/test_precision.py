"""The fastest precision is one that the processor multiplies fast."""

from typing import Any

import pytest

from agents.training.precision import fastest_precision, is_emulated


@pytest.mark.parametrize(
    ("capabilities", "precision"),
    [
        ({"avx512_bf16": True}, "bfloat16"),
        ({"avx512_bf16": True, "cpu_name": "AMD EPYC"}, "bfloat16"),
        ({"avx512_bf16": True, "amx_bf16": False, "cpu_name": "Intel Xeon"}, "float32"),
        ({"avx512_bf16": True, "amx_bf16": True, "cpu_name": "Intel Xeon"}, "bfloat16"),
        ({"avx2": True}, "float32"),
        (None, "float32"),
    ],
)
def test_it_is_by_the_processor_s_capabilities(
    capabilities: dict[str, Any] | None, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if capabilities is None:
        monkeypatch.delattr("torch.cpu.get_capabilities", raising=False)
    else:
        monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities, raising=False)
    assert fastest_precision() == precision
    native = capabilities is not None and "avx512_bf16" in capabilities
    assert not (native and is_emulated("bfloat16"))
