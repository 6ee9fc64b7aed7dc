"""Choose the device and the dtype."""

from __future__ import annotations

import re
from typing import Any

from mohs.errors import BadInput


def choose_device(name: str) -> str:
    """Resolve `auto` to the first CUDA device, or to the CPU if there is none; check any other name."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cpu":
        return name
    match = re.fullmatch(r"cuda(?::([0-9]+))?", name)
    if match is None:
        raise BadInput(f"Unknown device {name!r}; use auto, cpu, cuda or cuda:N.")
    if not torch.cuda.is_available():
        raise BadInput(f"Device {name!r} is not available: torch finds no CUDA device; use --device cpu.")
    number = int(match[1] or 0)
    if number >= torch.cuda.device_count():
        raise BadInput(f"Device {name!r} does not exist; there are {torch.cuda.device_count()} CUDA devices.")
    return name


def choose_dtype(name: str, device: str) -> Any:
    """Resolve `auto` to fp32; bf16 works on CUDA only."""
    import torch

    if name in ("auto", "fp32"):
        return torch.float32
    if name == "bf16":
        if not device.startswith("cuda"):
            raise BadInput("dtype=bf16 works on CUDA devices only; use fp32 on a CPU.")
        return torch.bfloat16
    raise BadInput(f"Unknown dtype {name!r}; use fp32 or bf16.")
