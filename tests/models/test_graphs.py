"""Recordings of a model's work, on a device that is only pretended."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from mohs.models.graphs import Graphs, Key

KEY: Key = (64, 8, False)


class Cell:
    """A tensor of one value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def pin_memory(self) -> Cell:
        return self

    def to(self, device: str, non_blocking: bool = False) -> Cell:
        return Cell(self.value)

    def copy_(self, other: Cell, non_blocking: bool = False) -> None:
        self.value = other.value

    def clone(self) -> Cell:
        return Cell(self.value)


class Device:
    """Plays a recording by doing the work again on what is in its buffer."""

    def __init__(self, refuses: bool = False) -> None:
        device = self
        self.recorded = 0
        self.busy: set[Any] = set()
        self.recording: Any = None
        self.order: list[int] = []

        class Graph:
            buffer: Any
            answer: Any

            def capture_begin(self, pool: Any, capture_error_mode: str) -> None:
                if refuses:
                    raise RuntimeError("cannot be recorded")
                device.recorded += 1
                device.recording = self
                self.number = device.recorded

            def capture_end(self) -> None:
                device.recording = None

            def replay(self) -> None:
                device.order.append(self.number)
                self.answer.value = self.buffer.value * 2

        class Event:
            def record(self) -> None:
                device.busy.add(self)

            def query(self) -> bool:
                return self not in device.busy

        cuda = SimpleNamespace(
            CUDAGraph=Graph,
            Event=Event,
            Stream=object,
            stream=lambda stream: nullcontext(),
            graph_pool_handle=object,
            synchronize=lambda: None,
        )
        self.torch = SimpleNamespace(cuda=cuda)

    def work(self, buffer: Cell, key: Key) -> Cell:
        answer = Cell(buffer.value * 2)
        if self.recording is not None:
            self.recording.buffer, self.recording.answer = buffer, answer
        return answer


def graphs(device: Device) -> Graphs:
    made = Graphs(device.work, "pretended")
    vars(made)["_torch"] = device.torch
    return made


def test_a_shape_is_recorded_again_only_while_it_plays() -> None:
    device = Device()
    play = graphs(device)
    assert play(KEY, Cell(3)).value == 6
    device.busy.clear()  # it has ended
    assert play(KEY, Cell(4)).value == 8
    assert device.recorded == 1
    assert play(KEY, Cell(5)).value == 10  # the one before is still playing
    assert device.recorded == 2
    for value in (6, 7, 8):
        assert play(KEY, Cell(value)).value == 2 * value
    assert device.recorded == 2
    assert device.order[-3:] in ([1, 2, 1], [2, 1, 2])  # in turn
    assert play((128, 8, False), Cell(1)).value == 2
    assert device.recorded == 3


def test_answers_are_not_overwritten() -> None:
    device = Device()
    play = graphs(device)
    answers = [play(KEY, Cell(value)) for value in range(5)]
    assert [answer.value for answer in answers] == [0, 2, 4, 6, 8]


def test_what_cannot_be_recorded_is_done_as_it_comes() -> None:
    device = Device(refuses=True)
    play = graphs(device)
    assert [play(KEY, Cell(value)).value for value in (1, 2)] == [2, 4]
    assert not play.plays
