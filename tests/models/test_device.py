from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from mohs.errors import BadInput
from mohs.models.device import choose_device, current, devices_of, first_device, room_on


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)


@pytest.mark.usefixtures("no_cuda")
def test_without_cuda() -> None:
    assert choose_device("auto") == "cpu"
    assert choose_device("cpu") == "cpu"
    for name in ("cuda", "cuda:0"):
        with pytest.raises(BadInput, match=f"'{name}'.*no CUDA device; use --device cpu"):
            choose_device(name)


@pytest.mark.usefixtures("cuda")
def test_with_cuda() -> None:
    assert choose_device("auto") == "cuda"
    assert choose_device("cpu") == "cpu"
    assert choose_device("cuda:1") == "cuda:1"
    with pytest.raises(BadInput, match="'cuda:2' does not exist; there are 2"):
        choose_device("cuda:2")


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", ["tpu", "", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1:0", "gpu0"])
def test_unknown(name: str) -> None:
    with pytest.raises(BadInput, match="Unknown device"):
        choose_device(name)


@pytest.mark.usefixtures("cuda")
def test_several_devices() -> None:
    assert devices_of("cuda:0,1") == devices_of("cuda:0, cuda:1") == devices_of("cuda:all") == ("cuda:0", "cuda:1")
    assert devices_of("cuda:1,0") == ("cuda:1", "cuda:0")
    for one in ("auto", "cpu", "cuda", "cuda:1"):
        assert devices_of(one) == (one,)
    with pytest.raises(BadInput, match="'cuda:2' does not exist; there are 2"):
        devices_of("cuda:0,2")
    with pytest.raises(BadInput, match="names cuda:1 twice"):
        devices_of("cuda:1,0,cuda:1")
    with pytest.raises(BadInput, match="may be several devices, which only runs with workers can use"):
        choose_device("cuda:0,1")


@pytest.mark.usefixtures("no_cuda")
def test_several_devices_without_cuda() -> None:
    assert devices_of("auto") == ("auto",)
    for name in ("cuda:0,1", "cuda:all"):
        with pytest.raises(BadInput, match="no CUDA device; use --device cpu"):
            devices_of(name)


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", ["cpu,cpu", "cuda,cuda:1", "cuda:0,", "0,1", "cuda:0,x", "cuda:0;1", "cuda:all,1"])
def test_unknown_lists(name: str) -> None:
    with pytest.raises(BadInput, match="Unknown device"):
        devices_of(name)


def test_a_list_counts_as_its_first_device() -> None:
    assert first_device("cuda:all") == first_device("cuda:0,cuda:3") == first_device("cuda:0") == "cuda:0"
    assert [first_device(name) for name in ("auto", "cpu", "cuda", "tpu")] == ["auto", "cpu", "cuda", "tpu"]


def test_work_goes_to_the_device_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []

    @contextmanager
    def device(name: str) -> Iterator[Any]:
        entered.append(name)
        yield

    monkeypatch.setattr(torch.cuda, "device", device)
    with current("cuda:1"), current("cpu"):
        assert entered == ["cuda:1"]


def test_room_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "memory_reserved", {"cuda:0": 1_500_000_000, "cuda:1": 0}.get)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (7_000_000_000, 9_000_000_000))
    assert room_on("cuda:0") == 3
    assert room_on("cuda:1") is None
    assert room_on("cpu") is None
