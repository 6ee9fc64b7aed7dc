"""Choose the devices and the dtype."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mohs.errors import BadInput

_ALL = "cuda:all"
_ONE = re.compile(r"auto|cpu|cuda(?::([0-9]+))?")
_CONTEXT = 500_000_000  # bytes that a process takes on a device before it holds anything there
_SEVERAL = re.compile(r"cuda:[0-9]+(?:,(?:cuda:)?[0-9]+)+")


def devices_of(name: str) -> tuple[str, ...]:
    """The devices that a name such as `cuda:0,1` or `cuda:all` stands for, in its order; most names stand for one."""
    plain = name.replace(" ", "")
    if _ONE.fullmatch(plain):
        return (plain,)
    if plain == _ALL:
        import torch

        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count())) or (choose_device("cuda"),)
    if not _SEVERAL.fullmatch(plain):
        raise _unknown(name)
    found = [f"cuda:{int(part.removeprefix('cuda:'))}" for part in plain.split(",")]
    twice = next((device for device in found if found.count(device) > 1), None)
    if twice is not None:
        raise BadInput(f"Device {name!r} names {twice} twice; name each device once.")
    return tuple(map(choose_device, found))


def first_device(name: str) -> str:
    """The first device that a name stands for. Records are those of this device, so it is what a run notes."""
    plain = name.replace(" ", "")
    if plain == _ALL:
        return "cuda:0"
    return plain.partition(",")[0] if _SEVERAL.fullmatch(plain) else name


def choose_device(name: str) -> str:
    """Resolve `auto` to the first CUDA device, or to the CPU if there is none; check any other name."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cpu":
        return name
    if first_device(name) != name:
        raise BadInput(f"Device {name!r} may be several devices, which only runs with workers can use; name one.")
    match = _ONE.fullmatch(name)
    if match is None:
        raise _unknown(name)
    if not torch.cuda.is_available():
        raise BadInput(f"Device {name!r} is not available: torch finds no CUDA device; use --device cpu.")
    number = int(match[1] or 0)
    if number >= torch.cuda.device_count():
        raise BadInput(f"Device {name!r} does not exist; there are {torch.cuda.device_count()} CUDA devices.")
    return name


def _unknown(name: str) -> BadInput:
    return BadInput(
        f"Unknown device {name!r}; use auto, cpu, cuda or cuda:N; a run can have several: cuda:0,1 or cuda:all."
    )


def current(device: str) -> AbstractContextManager[Any]:
    """What happens inside goes to this device: events, streams, recordings and pinned memory belong to the current one.

    A process can hold networks on several devices.
    """
    if not device.startswith("cuda"):
        return nullcontext()
    import torch

    return torch.cuda.device(device)


def room_on(device: str) -> int | None:
    """How many more processes fit on a device if each takes what this one does; None if this one has nothing there."""
    if not device.startswith("cuda"):
        return None
    import torch

    own = torch.cuda.memory_reserved(device)
    return int(torch.cuda.mem_get_info(device)[0] // (own + _CONTEXT)) if own else None


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
