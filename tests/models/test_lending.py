"""One network for several processes."""

from __future__ import annotations

import pickle
from collections import deque
from pathlib import Path
from typing import Any

import pytest

import mohs
import mohs.runs.job
from mohs.models.hf import HfVictim
from mohs.models.lending import Borrowed, Desk, Lender, Posted
from mohs.models.victim import Fields
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
