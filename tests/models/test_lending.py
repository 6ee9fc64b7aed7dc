"""One network for several processes."""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

import mohs
import mohs.models.transformer
import mohs.runs.job
import mohs.runs.sharing
from mohs.errors import BadInput, ServiceFailed
from mohs.models.hf import HfVictim
from mohs.models.lending import Borrowed, Desk, Lender, Posted
from mohs.models.victim import Fields
from mohs.records import Record
from mohs.runs import headcount
from mohs.runs.anchors import answers_alone
from tests.models.alike import alike

WORDS = ("good", "bad", "film", "the", "very")
TEXTS: list[Fields] = [("a good film",), ("a bad film",), ("good",), ("the very bad good film",), ("a", "good film")]


class Line:
    """A pipe whose other end answers when somebody waits."""

    def __init__(self, lender: Lender) -> None:
        self.lender = lender
        self.back: deque[Any] = deque()

    def send(self, posted: Posted) -> None:
        self.lender.take(self.back.append, pickle.loads(pickle.dumps(posted)))

    def recv(self) -> Any:
        while not self.back:
            self.lender.launch()
            self.lender.collect()
        return self.back.popleft()


def test_a_borrowed_victim_answers_like_its_own(bert: HfVictim) -> None:
    lender = Lender(bert)
    sent = pickle.dumps(lender.loan())
    assert b"torch" not in sent  # a borrower need not even import it
    loan = pickle.loads(sent)
    one, other = (Borrowed(loan, Desk(Line(lender))) for _ in range(2))
    assert "_model" not in vars(one)
    tickets = [(batch, v, v.launch(batch)) for v in (one, other) for batch in v.plan(list(TEXTS))]
    for batch, victim, ticket in reversed(tickets):
        assert victim.collect(ticket) == alike(bert, [bert.collect(bert.launch([item]))[0] for item in batch])
    assert one.visible(("good " * 60,)) == bert.visible(("good " * 60,)) != None  # noqa: E711
    assert (one.labels, one.exact, one.fingerprint) == (bert.labels, bert.exact, bert.fingerprint)


def test_rows_of_all_borrowers_share_batches(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    send = HfVictim.send

    def counted(self: HfVictim, laid: Any) -> Any:
        sent.append(sum(part.rows for part in laid))
        return send(self, laid)

    monkeypatch.setattr(HfVictim, "send", counted)
    lender = Lender(bert)
    victims = [Borrowed(lender.loan(), Desk(Line(lender))) for _ in range(3)]
    batch: list[Fields] = [("a good film",), ("a bad film",)]
    tickets = [victim.launch(batch) for victim in victims]
    assert len({tuple(map(tuple, v.collect(t))) for v, t in zip(victims, tickets, strict=True)}) == 1
    assert sent == [6]


def test_what_the_network_raises_reaches_the_borrower(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: HfVictim, laid: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(HfVictim, "send", broken)
    lender = Lender(bert)
    victim = Borrowed(lender.loan(), Desk(Line(lender)))
    with pytest.raises(RuntimeError, match="out of memory"):
        victim.collect(victim.launch([("a good film",)]))


def test_a_run_with_a_lent_network(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a good film", 0), ("a bad film", 1), ("the very bad good film", 2), ("good", 0)]
    alone = mohs.attack(f"hf:{bert_folder}", rows, ["textfooler", "random"], device="cpu")
    monkeypatch.setattr(mohs.runs.job, "lender_of", Lender)  # on a CPU each would have its own
    shared = mohs.attack(f"hf:{bert_folder}", rows, ["textfooler", "random"], device="cpu", workers=2)
    assert list(shared.records()) == list(alone.records())


def test_batches_go_to_the_device_of_their_network(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the current device is: events and recordings would be those of another one."""
    entered: list[str] = []

    @contextmanager
    def current(device: str) -> Iterator[None]:
        entered.append(device)
        yield

    monkeypatch.setattr(mohs.models.transformer, "current", current)
    Lender(bert).launch()
    bert.collect(bert.launch([("a good film",)]))
    assert entered == ["cpu"]


ROWS = [("a good film", 0), ("a bad film", 1), ("the very bad good film", 2), ("good", 0), ("a very good film", 1)]


@pytest.fixture
def alone(bert_folder: Path) -> list[Record]:
    """The records of a run on one device, in one process."""
    return list(mohs.attack(f"hf:{bert_folder}", ROWS, ["textfooler", "random"], device="cpu").records())


@pytest.fixture
def lent(alone: list[Record], monkeypatch: pytest.MonkeyPatch) -> list[HfVictim]:
    """Two networks on the CPU stand for two devices. Gives those that are lent, in the order of the devices."""
    found: list[HfVictim] = []

    class Noted(Lender):
        def __init__(self, victim: HfVictim) -> None:
            super().__init__(victim)
            found.append(victim)

    monkeypatch.setattr(mohs.runs.job, "lender_of", Noted)
    monkeypatch.setattr(mohs.runs.sharing, "Lender", Noted)
    monkeypatch.setattr(sys.modules["mohs.runs.carry_out"], "devices_of", lambda name: ("cpu", "cpu"))
    return found


def start(folder: Path, **options: Any) -> mohs.Run:
    return mohs.attack(f"hf:{folder}", ROWS, ["textfooler", "random"], device="cpu", **{"workers": 2, **options})


@pytest.mark.parametrize("workers", [2, 3])
def test_a_run_on_several_devices(
    bert_folder: Path, alone: list[Record], lent: list[HfVictim], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    asked: set[int] = set()
    answers = HfVictim.answers

    def noted(self: HfVictim, ticket: Any) -> Any:
        asked.add(id(self))
        return answers(self, ticket)

    def loan(self: Lender) -> Any:
        asked.clear()  # what was asked before any worker was set to work
        return own(self)

    own = Lender.loan
    monkeypatch.setattr(HfVictim, "answers", noted)
    monkeypatch.setattr(Lender, "loan", loan)
    shared = start(bert_folder, workers=workers)
    assert list(shared.records()) == alone
    assert asked == set(map(id, lent))
    assert len(asked) == 2
    assert shared.effort()["workers"] == workers


@pytest.mark.usefixtures("lent")
def test_auto_on_several_devices(
    bert_folder: Path, alone: list[Record], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(headcount, "cores", lambda: 4)
    monkeypatch.setattr(headcount, "_IMPORTS", 0.0)
    monkeypatch.setattr(headcount, "_ALONE", 0.0)  # one search alone
    monkeypatch.setattr(headcount, "_WORTH", 1e-9)
    said: list[str] = []
    with start(bert_folder, workers=None, said=said.append, out=tmp_path / "run") as run:
        assert list(run.records()) == alone
        assert run.effort()["workers"] == 3
        assert run.manifest["config"]["device"] == "cpu"
    assert said[-1] == "Workers: 3 (there are 4 cores, and one is for the network)."


@pytest.mark.usefixtures("lent")
def test_fewer_workers_than_devices(bert_folder: Path) -> None:
    with pytest.raises(BadInput, match="workers is 1, but there are 2 devices; give each at least one worker"):
        start(bert_folder, workers=1)


def test_an_object_stays_on_its_device(bert: HfVictim, lent: list[HfVictim]) -> None:
    run = mohs.attack(bert, ROWS, ["random"], device="cpu", workers=2)
    assert [record.error for record in run.records()] == [None] * len(ROWS)
    assert lent == [bert]


@pytest.mark.usefixtures("lent")
def test_a_device_with_other_answers_is_refused(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(victim: Any, texts: list[Fields]) -> dict[Fields, Any]:
        return {text: scores[::-1] for text, scores in answers_alone(victim, texts).items()}

    monkeypatch.setattr(mohs.runs.sharing, "answers_alone", turned)
    with pytest.raises(BadInput, match="answers differently on cpu than on cpu; leave it out"):
        start(bert_folder)


@pytest.mark.usefixtures("lent")
def test_a_device_that_raises_ends_the_run_and_loses_nothing(
    bert_folder: Path, alone: list[Record], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(laid: Any) -> Any:
        raise RuntimeError("the device is gone")

    class Gone(Lender):
        def __init__(self, victim: HfVictim) -> None:
            super().__init__(victim)
            vars(victim)["send"] = broken

    with monkeypatch.context() as now:
        now.setattr(mohs.runs.sharing, "Lender", Gone)
        with pytest.raises(ServiceFailed, match="the device is gone"):
            start(bert_folder, out=tmp_path / "run")
    with start(bert_folder, out=tmp_path / "run") as resumed:
        assert list(resumed.records()) == alone


@pytest.mark.usefixtures("lent")
def test_a_dead_worker_of_one_device_ends_the_run_and_loses_nothing(
    bert_folder: Path, alone: list[Record], tmp_path: Path
) -> None:
    def kill(record: Any, finished: int, total: int) -> None:
        if record is not None:
            for process in active_children():
                process.kill()

    with pytest.raises(ServiceFailed, match="A worker process died"):
        start(bert_folder, at_once=2, out=tmp_path / "run", progress=kill)
    with start(bert_folder, out=tmp_path / "run") as resumed:
        assert list(resumed.records()) == alone


class Slow(HfVictim):
    """Says that a batch is done when it is told to."""

    done = False

    def send(self, laid: Any) -> Any:
        count, answers, _ = super().send(laid)
        return count, answers, self

    def query(self) -> bool:
        return self.done

    def synchronize(self) -> None:
        pass


def test_what_waits_is_still_to_do(bert: HfVictim) -> None:
    victim = Slow.__new__(Slow)
    victim.__dict__ |= vars(bert) | {"verdict": victim, "_tokens": 1}  # batches of four
    lender = Lender(victim)
    came: dict[int, Any] = {}
    texts = max(bert.plan([(f"{a} {b}",) for a in WORDS for b in WORDS]), key=len)[:6]
    assert len(texts) == 6
    batches: list[list[Fields]] = [texts[:3], texts[3:5], *([t] for t in texts[5:]), texts[1:3]]
    for ticket, batch in enumerate(batches):
        bert._encode(batch)
        laid = bert._laid([bert._rows.pop(item) for item in batch])
        lender.take(lambda found: came.update([found]), Posted(0, ticket, laid))
    lender.launch()
    assert not lender.collect()
    assert not came
    victim.done = True
    while lender.busy:
        lender.launch()
        assert lender.collect()
    for ticket, batch in enumerate(batches):
        found = victim.collect((len(batch), Answered(came[ticket]), None))
        assert found == alike(bert, bert.collect(bert.launch(batch)))


class Answered:
    """What a device gives, already there."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def numpy(self) -> Any:
        return self.rows
