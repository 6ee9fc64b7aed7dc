"""Rows of sweeps are the rows that the strings give, and so are the answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import mohs
from mohs import engine
from mohs.errors import VictimError
from mohs.models.hf import HfVictim
from mohs.models.neural import NeuralVictim
from mohs.models.sweeps import SweepRows, sweeps_of
from mohs.models.victim import answers_of
from mohs.models.wrapper import Wrapper
from mohs.text import Text
from mohs.text.sweep import Sweep
from tests.models.alike import alike
from tests.models.test_neural import victim_of

WORDS = ("good", "film", "well-made", "don't", "unquestionably", "Ünseen", "two words", "42", "a", "", "[UNK]", "x,y")
GAPS = (" ", ", ", " - ", "/", '" ', " (", "  ")


def drawn(data: st.DataObject) -> list[Sweep]:
    found = []
    for _ in range(data.draw(st.integers(1, 3))):
        words = data.draw(st.lists(st.sampled_from(WORDS[:9]), min_size=1, max_size=14))
        text = Text("".join(word + data.draw(st.sampled_from(GAPS)) for word in words).rstrip())
        if data.draw(st.booleans()):
            text = text.replace(data.draw(st.integers(0, len(text) - 1)), data.draw(st.sampled_from(["", "two words"])))
        size = data.draw(st.integers(1, 5))
        positions = data.draw(st.lists(st.integers(0, len(text) - 1), min_size=size, max_size=size))
        found.append(Sweep(text, positions, data.draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))))
    return found


class Seen:
    """A victim that notes the rows it was sent."""

    def __init__(self, victim: Any) -> None:
        self._victim = victim
        self.rows: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._victim, name)

    def send_rows(self, rows: list[bytes]) -> list[bytes]:
        self.rows += rows
        return rows

    def collect(self, rows: list[bytes]) -> list[bytes]:
        return rows


def told(victim: Any, sweeps: list[Sweep]) -> list[list[bytes]]:
    """The row of each text of some sweeps."""
    asked: Any = SweepRows(Seen(victim))
    found: list[list[bytes]] = []
    for batch in asked.plan(sweeps):
        found += asked.collect(asked.launch(batch))
    return found


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_rows_of_a_transformer_are_those_of_the_strings(victim: HfVictim, data: st.DataObject) -> None:
    sweeps = drawn(data)
    for sweep, rows in zip(sweeps, told(victim, sweeps), strict=True):
        for text, row in zip(sweep, rows, strict=True):
            victim._encode([text.fields])
            assert row == victim._rows.pop(text.fields)[0]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), most=st.sampled_from([6, 12, 40]))
def test_rows_of_a_network_over_words_are_those_of_the_strings(data: st.DataObject, most: int) -> None:
    victim = CNN[most]
    sweeps = drawn(data)
    for sweep, rows in zip(sweeps, told(victim, sweeps), strict=True):
        assert rows == [victim.vocabulary.packed(text.fields) for text in sweep]


CNN: dict[int, NeuralVictim] = {most: victim_of("cnn", most) for most in (6, 12, 40)}


def asked(model: Any, sweeps: Sequence[Sweep], at_once: int = 4) -> dict[int, list[Any]]:
    service = sweeps_of(model)
    assert service is not None

    async def one(sweep: Sweep) -> Any:
        (answers,) = await service.ask([sweep])
        return answers

    searches = [(number, one(sweep)) for number, sweep in enumerate(sweeps)]
    found = {ended.key: ended.result for ended in engine.run(searches, [service], at_once)}
    return {number: list(found[number] or []) for number in sorted(found)}


@pytest.mark.parametrize("name", ["cnn", "lstm", "bow"])
def test_answers_are_those_of_the_strings(name: str) -> None:
    model = victim_of(name, 40)
    base = Text("a good film, with (some) good actors and a story")
    sweeps = [Sweep.at(base, p, ["film", "bad", "two words", "never-seen"]) for p in range(len(base))]
    wanted = answers_of(model, list(dict.fromkeys(text.fields for sweep in sweeps for text in sweep)))
    for at_once in (3, 100):
        for number, found in asked(model, sweeps, at_once).items():
            assert found == alike(model, [wanted[text.fields] for text in sweeps[number]])


def test_equal_rows_are_computed_once() -> None:
    model = victim_of("cnn", 40)
    one, other = Text("a good film"), Text("a fine film")
    sweeps = [Sweep.at(one, 1, ["bad", "fine"]), Sweep.at(other, 1, ["bad", "good"])]
    service = sweeps_of(model)
    assert service is not None
    sent = service.model.launch(sweeps)
    assert SweepRows.rows_of(sweeps) == 4
    assert SweepRows.rows_of(sweeps, sent) == 3
    first, second = service.model.collect(sent)
    assert first[0] == second[0]


def test_who_is_not_asked_with_sweeps() -> None:
    model = victim_of("cnn")

    class Own(Wrapper):
        def collect(self, ticket: Any) -> Any:
            return [(1.0, 0.0) for _ in self.victim.collect(ticket)]

    class Proxy:
        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def launch(self, batch: Any) -> Any:
            return model.launch([("good",) for _ in batch])

    class Lower(NeuralVictim):
        def launch(self, batch: Any) -> Any:
            return super().launch([tuple(map(str.lower, fields)) for fields in batch])

    class Rows(Lower):
        def send_rows(self, rows: list[bytes]) -> Any:
            return super().send_rows(rows)

    assert sweeps_of(model) is not None
    assert sweeps_of(Proxy()) is None
    patched = victim_of("cnn")
    patched.__dict__["launch"] = lambda batch: model.launch(batch[:0])
    assert sweeps_of(patched) is None
    for kind, taken in ((Lower, False), (Rows, True)):
        changed = victim_of("cnn")
        changed.__class__ = kind
        assert (sweeps_of(changed) is not None) == taken
    assert sweeps_of(Own(model, inside=None)) is None
    assert sweeps_of(Wrapper(model)) is None  # its own launch is not passed over
    assert sweeps_of(mohs.FunctionVictim(lambda texts: [[0.5, 0.5] for _ in texts])) is None


def test_rows_with_segment_ids_are_made_of_strings(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    """As XLNet's, whose last token has one of its own: rows of pieces know of none."""
    assert sweeps_of(bert) is not None
    between, _ = bert._special_tokens._packed[1]
    monkeypatch.setitem(bert._special_tokens._packed, 1, (between, False))
    assert sweeps_of(bert) is None


def test_rows_that_cannot_be_put_together_are_made_of_strings(bert: HfVictim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert.composer, "composable", False)
    assert sweeps_of(bert) is None


def test_a_text_that_cannot_be_read_ends_its_own_search_only(bert: HfVictim) -> None:
    service = sweeps_of(bert)
    assert service is not None
    good, bad = (Sweep.at(Text("a good film"), 1, [word]) for word in ("bad", "\ud800"))

    async def one(sweep: Sweep) -> Any:
        return await service.ask([sweep])

    ended = {e.key: e for e in engine.run([("good", one(good)), ("bad", one(bad))], [service])}
    assert ended["good"].error is None
    assert isinstance(ended["bad"].error, UnicodeEncodeError | VictimError | TypeError)


@pytest.mark.parametrize("attack", ["textfooler", "textfooler:textattack", "greedy", "pwws", "textbugger", "genetic"])
def test_records_are_those_of_strings(attack: str, tmp_path: Path) -> None:
    """A wrapper that changes nothing takes strings only."""
    book = tmp_path / "words.tsv"
    book.write_text("good\tbad,fine,very good\nfilm\tmovie,story\nbad\tgood,poor\nstory\tplot\n")
    texts = ["a good film, a bad story.", "good, good film!", "the story: bad film (good story)", ""]
    model = victim_of("cnn", 40)
    answers = answers_of(model, [(text,) for text in texts])
    labels = [int(answers[text,][1] > answers[text,][0]) for text in texts]
    examples = [mohs.Example.of(*pair, id=str(n)) for n, pair in enumerate(zip(texts, labels, strict=True))]
    options: dict[str, Any] = {"source": f"thesaurus:{book}", "constraints": ["share-changed<=0.5"], "fair": False}
    found = []
    for victim in (model, Wrapper(model)):
        for budget in (None, 9):
            with mohs.attack(victim, examples, [attack], budget=budget, **options) as run:
                found.append([record.to_json() for record in run.records()])
    assert found[:2] == found[2:]
    assert any('"success"' in record or '"failed"' in record for record in found[0])
