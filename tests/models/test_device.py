from __future__ import annotations

import pytest
import torch

from mohs.errors import BadInput
from mohs.models.device import choose_device


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
