"""Rows put together from numbers are the rows that the strings give."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

import mohs
from mohs.models.hf import HfVictim
from mohs.models.lending import Borrowed, Desk, Lender
from mohs.models.sheets import Layout, Sheet, Sheets, sheets_of
from mohs.records import Outcome
from mohs.text import Text
from tests.models.alike import alike
from tests.models.test_lending import Line
from tests.toys import table

Choices = Mapping[int, tuple[str, ...]]

WORDS = ("good", "film", "well-made", "don't", "unquestionably", "Ünseen", "two words", "42", "a")
GAPS = (" ", ", ", " - ", "/", '" ', " (")


def rows_of(victim: HfVictim, text: Text) -> tuple[Any, Any]:
    """What the string gives: token ids, and segment ids if they are not all nought."""
    victim._encode([text.fields])
    ids, kinds = victim._rows.pop(text.fields)
    own = None if kinds is None else np.frombuffer(kinds, np.int32).tolist()
    return np.frombuffer(ids, np.int32).tolist(), own


def drawn(data: st.DataObject) -> tuple[Text, Choices]:
    fields = []
    for _ in range(data.draw(st.integers(1, 2))):
        words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
        fields.append("".join(word + data.draw(st.sampled_from(GAPS)) for word in words).rstrip())
    text = Text(*fields)
    places = data.draw(st.lists(st.integers(0, len(text) - 1), max_size=5, unique=True))
    offered = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True)
    return text, {place: tuple(data.draw(offered)) for place in sorted(places)}


def picked(data: st.DataObject, choices: Choices) -> tuple[Any, Any, list[dict[int, str]]]:
    """Some texts of a space, as numbers and as edits."""
    places, picks, edits = [], [], []
    order = list(choices)
    for _ in range(data.draw(st.integers(1, 6))):
        row = [data.draw(st.integers(-1, len(words) - 1)) for words in choices.values()]
        some = [(at, pick) for at, pick in enumerate(row) if pick >= 0]
        edits.append({order[at]: choices[order[at]][pick] for at, pick in some})
        some += [(-1, -1)] * (len(choices) - len(some))
        places.append([at for at, _ in some])
        picks.append([pick for _, pick in some])
    return np.array(places, np.int32), np.array(picks, np.int32), edits


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_rows_are_those_of_the_strings(victim: HfVictim, data: st.DataObject) -> None:
    text, choices = drawn(data)
    layout = victim.layout(text, choices)
    if layout is None:  # a pair that is too long with some of the words
        assert len(text.fields) == 2
        return
    places, picks, edits = picked(data, choices)
    ids, sizes, kinds = layout.rows(places, picks)
    for number, one in enumerate(edits):
        wanted, own = rows_of(victim, text.replace_all(one))
        assert ids[number, : sizes[number]].tolist() == wanted
        if own is not None or kinds is not None:
            assert kinds is not None
            assert kinds[number, : sizes[number]].tolist() == (own or [0] * len(wanted))


def small(victim: HfVictim) -> tuple[Layout, Text, Choices]:
    text = Text("a good, well-made film (not bad)")
    choices = {1: ("fine", "unquestionably good"), 3: ("movie",), 5: ("poor", "dull", "terrible")}
    layout = victim.layout(text, choices)
    assert layout is not None
    return layout, text, choices


def all_of(choices: Choices) -> tuple[Any, Any]:
    picks = np.stack(np.meshgrid(*(np.arange(-1, len(words)) for words in choices.values())), -1).reshape(-1, 3)
    places = np.where(picks < 0, -1, np.arange(3))
    return places.astype(np.int32), picks.astype(np.int32)


def strings(text: Text, choices: Choices, places: Any, picks: Any) -> list[tuple[str, ...]]:
    order = list(choices)
    return [
        text.replace_all({order[a]: choices[order[a]][b] for a, b in zip(one, own, strict=True) if a >= 0}).fields
        for one, own in zip(places.tolist(), picks.tolist(), strict=True)
    ]


@pytest.mark.parametrize("padded", [False, True])
def test_answers_are_those_of_the_strings(victim: HfVictim, padded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, text, choices = small(victim)
    places, picks = all_of(choices)
    monkeypatch.setattr(victim, "_padded", padded)
    model = Sheets(victim)
    sheets = [Sheet(layout, places[:5], picks[:5]), Sheet(layout, places[5:], picks[5:])]
    assert model.rows_of(sheets) == 24
    first, second = model.collect(model.launch(sheets))
    assert (first.shape, second.shape) == ((5, 3), (19, 3))
    wanted = [victim.collect(victim.launch([one]))[0] for one in strings(text, choices, places, picks)]
    assert np.concatenate([first, second]) == pytest.approx(np.array(wanted), abs=1e-6)
    if victim.exact and not padded:
        assert np.concatenate([first, second]).tolist() == [list(row) for row in wanted]


def test_a_borrower_has_sheets_too(bert: HfVictim) -> None:
    lender = Lender(bert)
    borrowed = Borrowed(pickle.loads(pickle.dumps(lender.loan())), Desk(Line(lender)))
    layout, text, choices = small(borrowed)
    places, picks = all_of(choices)
    model = Sheets(borrowed)
    (found,) = model.collect(model.launch([Sheet(layout, places, picks)]))
    wanted = [bert.collect(bert.launch([one]))[0] for one in strings(text, choices, places, picks)]
    assert [tuple(row) for row in found.tolist()] == alike(bert, wanted)


def test_long_texts_are_cut_where_strings_are(bert: HfVictim) -> None:
    text = Text(" ".join(["good film"] * 40))
    choices = dict.fromkeys(range(0, 80, 7), ("unquestionably", "a"))
    layout = bert.layout(text, choices)
    assert layout is not None
    places, picks = np.array([[0, 1, 2], [3, 4, -1]], np.int32), np.array([[0, 0, 0], [1, 1, -1]], np.int32)
    ids, sizes, _ = layout.rows(places, picks)
    for number, fields in enumerate(strings(text, choices, places, picks)):
        wanted, _ = rows_of(bert, Text(*fields))
        assert len(wanted) == bert._special_tokens.window
        assert ids[number, : sizes[number]].tolist() == wanted
    assert bert.layout(Text(text.fields[0], "a good film"), choices) is None  # which gives way depends on the words


def test_what_cannot_be_laid_out(bert: HfVictim) -> None:
    assert bert.layout(Text("a good film"), {1: ("",)}) is None
    assert bert.layout(Text("a  good film"), {1: ("bad",)}) is None
    assert bert.layout(Text("a [MASK] film"), {0: ("the",)}) is None
    assert bert.layout(Text("a-good/film"), dict.fromkeys(range(2), tuple(map(str, range(100))))) is None
    assert sheets_of(object()) is None


def test_sheets_are_sent_in_batches_of_rows(bert: HfVictim) -> None:
    layout, _, choices = small(bert)
    places, picks = all_of(choices)
    many = Sheet(layout, np.repeat(places, 400, axis=0), np.repeat(picks, 400, axis=0))
    assert [len(batch) for batch in Sheets(bert).plan([many] * 3)] == [1, 1, 1]
    few = Sheet(layout, places, picks)
    assert [len(batch) for batch in Sheets(bert).plan([few] * 3)] == [3]


@pytest.mark.parametrize("command", ["attack", "radius"])
def test_a_run_is_gone_on_with(bert_folder: Path, tmp_path: Path, command: str) -> None:
    rows = [(text, label) for text in ("a good film", "the bad film", "very good") for label in (0, 1, 2)]
    given: dict[str, Any] = {"n": None} if command == "radius" else {"attacks": ["random"], "tagger": "pocket"}
    start = getattr(mohs, command)

    class Enough(Exception):
        pass

    def stop(*told: Any) -> None:
        raise Enough

    with pytest.raises(Enough):
        start(f"hf:{bert_folder}", rows, device="cpu", out=tmp_path / "run", progress=stop, **given)
    with start(f"hf:{bert_folder}", rows, device="cpu", out=tmp_path / "run", **given) as run:
        again = [record.to_json() for record in run.records()]
    with start(f"hf:{bert_folder}", rows, device="cpu", **given) as run:
        assert again == [record.to_json() for record in run.records()]


def test_one_bad_text_costs_its_own_example_alone(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = HfVictim(str(bert_folder), device="cpu")
    (bad,) = victim.composer.ids(["terrible"])
    with torch.no_grad():
        victim._model.get_input_embeddings().weight[bad[0]] = float("nan")
    source = table(good="terrible", film="movie")
    rows = [("good film", victim_label(victim, "good film")), ("a film", victim_label(victim, "a film"))]
    run = mohs.radius(victim, rows, source=source, stopwords="none", max_r=1, at_once=1)
    assert [record.outcome for record in run.records()] == [Outcome.ERROR, Outcome.MEASURED]


def victim_label(victim: HfVictim, text: str) -> int:
    scores = victim.collect(victim.launch([(text,)]))[0]
    return scores.index(max(scores))
