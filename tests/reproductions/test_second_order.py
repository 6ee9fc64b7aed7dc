"""The tables of the second-order reproduction, and the memory that its runs share."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from mohs.bias import PairBias
from mohs.engine import Service
from mohs.records import Outcome, Record
from mohs.report.second_order.figures import summarise_second_order
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch
from mohs.text.questions import Scored
from mohs.text.text import Edit

FOLDER = Path(__file__).parents[2] / "reproductions"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script, which imports its parts as a command does: from its own folder."""
    before, known = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("second_order")
    finally:
        sys.path[:] = before
        for name in {"second_order", "first_order_rows", "fluency", "gender_bias", "groups", "sst2"} - known:
            sys.modules.pop(name, None)


def part(script: ModuleType, name: str) -> ModuleType:
    """A file that the script imports."""
    assert script.__file__
    return sys.modules[name]


class Lengths:
    """Says how long a word is, in batches of two, and notes what it was asked."""

    name, fingerprint, in_flight = "lengths", "0", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items[at : at + 2] for at in range(0, len(items), 2)]

    def launch(self, batch: list[str]) -> list[str]:
        self.asked += batch
        return batch

    def collect(self, ticket: list[str]) -> list[int]:
        return [len(item) for item in ticket]


def answers(model: Any, items: list[str]) -> list[int]:
    service: Service[str, int] = Service(model)
    ask = service.ask(items)
    while ask.missing:
        list(service.launch())
        list(service.collect())
    return [int(answer) for answer in ask.answers]


def test_a_question_reaches_the_model_once_whichever_run_asks(script: ModuleType) -> None:
    model = Lengths()
    shared = script.Remembered(model)
    assert answers(shared, ["a", "to", "the"]) == [1, 2, 3]
    assert answers(shared, ["from", "to", "a", "where"]) == [4, 2, 1, 5]
    assert sorted(model.asked) == sorted(["a", "to", "the", "from", "where"])
    assert shared.asked == 7  # each run's own questions, known or not
    assert shared.name == "lengths"


def test_a_full_memory_still_answers(script: ModuleType) -> None:
    model = Lengths()
    shared = script.Remembered(model, 0)
    assert answers(shared, ["a", "to"]) == answers(shared, ["a", "to"]) == [1, 2]
    assert model.asked == ["a", "to"] * 2


def record(number: int, outcome: Outcome, words: int = 0) -> Record:
    edits = tuple(Edit(at, "x", "y") for at in range(words))
    return Record(
        "so-beam",
        str(number),
        outcome,
        0,
        ("text",),
        ("a",),
        0,
        5,
        edits=edits,
        queries=0 if outcome == "skipped" else 8,
    )


def test_examples_without_a_pair_count_among_all_and_not_among_those_with_one(script: ModuleType) -> None:
    outcomes = [Outcome.SUCCESS, Outcome.SUCCESS, Outcome.FAILED, Outcome.SKIPPED]
    records = [record(number, outcome, number) for number, outcome in enumerate(outcomes)]
    (summary,) = summarise_second_order(records)
    cells = script.line("lstm", "so-beam", summary, 12.0, 6.0)
    assert len(cells) == len(script.HEADS)
    row = dict(zip(script.HEADS, cells, strict=True))
    assert row["found (% of all) [95%]"].startswith("50.0 (2/4)")
    assert row["of those with a pair"] == "66.7 (2/3)"
    assert row["paper (% of 872)"] == "99.5"  # Table 2, base LSTM, SO-Beam
    assert row["original itself"] == "1"
    assert row["l0"] == "0.50"
    assert row["seconds"] == "1.5"  # six seconds, four examples


def test_the_paper_prints_no_random_walk_on_base_models(script: ModuleType) -> None:
    (summary,) = summarise_second_order([record(0, Outcome.SUCCESS, 1)])
    cells = script.line("bow", "random", summary, 1.0, 1.0)
    assert [cells[at] for at in (4, 7, 11)] == [""] * 3
    assert script.line("bow", "so-enum k=1", summary, 1.0, 1.0)[4] == ""  # nor another distance than its own


def measured(old: str, new: str, k: int, sentences: int, neighbours: int, value: float) -> PairBias:
    low, high = (value - 0.01, value + 0.01) if sentences > 1 else (math.nan, math.nan)
    return PairBias(old, new, k, sentences, neighbours, value, low, high, 0.001, 0.002, True, {})


def test_pairs_weigh_by_their_neighbours_in_the_total(script: ModuleType) -> None:
    group = [measured("he", "she", 1, 5, 300, 0.02), measured("son", "daughter", 1, 1, 100, -0.02)]
    total = part(script, "gender_bias").total(group, 1)
    assert (total.sentences, total.neighbours) == (6, 400)
    assert total.bias == pytest.approx(0.01)
    assert part(script, "gender_bias").total(group, 2).neighbours == 0


def test_a_pair_with_one_sentence_is_in_the_total_alone(script: ModuleType) -> None:
    base = [
        measured(old, new, k, sentences, sentences * 10**k, 0.02)
        for old, new, sentences in (("he", "she", 5), ("son", "daughter", 1))
        for k in (0, 1)
    ]
    head, rule, pair, total = part(script, "gender_bias").bias_table({"base": base, "debiased": []}, 1).splitlines()
    assert {row.count("|") for row in (head, rule, pair, total)} == {9}
    assert pair.startswith("| he, she | 5, 0 | 50, 0 | 5 → 325,401 | +2.00 [+1.00, +3.00]* | ")
    assert pair.endswith("| - | - |")
    assert total.startswith("| all 2 pairs | 6, 0 | 60, 0 |")


@pytest.mark.parametrize(
    ("written", "people"),
    [
        ("it 's a charming and often affecting journey . ", "It's a charming and often affecting journey."),
        ("do n't , i 'll say , \u2014 ca n't !", "Don't, I'll say, \u2014 can't!"),
        ("a film ( or two ) about `` love '' ; i think", 'A film (or two) about "love"; I think'),
        ("the -lrb- other -rrb- film", "The (other) film"),
        ("they 're here . he 's not . what ?", "They're here. He's not. What?"),
        ("... a hollow joke told by i-spy", "... a hollow joke told by i-spy"),
        ("the leads ' performances are 100 % fun", "The leads ' performances are 100% fun"),
        ("can not", "Cannot"),
        ("", ""),
    ],
)
def test_texts_are_written_as_people_write_them(script: ModuleType, written: str, people: str) -> None:
    write = part(script, "fluency").detokenised
    assert write(written) == people
    assert write(people) == people  # nothing is left to do


def test_ratios_compare_each_text_with_its_own_original(script: ModuleType) -> None:
    fluency = part(script, "fluency")
    pairs = [(10.0 * 2**at, 12.0 * 2**at) for at in range(20)]  # all a fifth up, over a range of half a million
    found = fluency.ratios([*pairs, (math.nan, 3.0)])
    assert (found.total, found.ratio) == (20, pytest.approx(1.2))
    assert found.low == pytest.approx(1.2)
    assert str(found).endswith("×1.20 [1.20, 1.20]")
    assert fluency.ratios([]) is None
    assert fluency.ratios(pairs[:5]).low is None


@pytest.mark.parametrize("n", [6, 10, 41])
def test_the_interval_of_a_median_covers_it_in_95_of_100_studies_of_skewed_ratios(script: ModuleType, n: int) -> None:
    random, hits = Random(n), 0
    for _ in range(2000):
        low, high = part(script, "fluency").median_interval([random.lognormvariate(0.2, 1.0) for _ in range(n)])
        hits += low <= math.exp(0.2) <= high
    assert hits / 2000 > 0.95 - 0.012  # at least 95%, less two and a half standard errors; the order is discrete


class Plausible:
    """A language model that finds longer texts less likely, and capitals more."""

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items]

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[Scored]:
        return [Scored((0,), (1,), (-len(item) / (2.0 if item[:1].isupper() else 1.0),)) for item in ticket]


def test_perplexities_are_those_of_successes_with_and_without_originals_that_stand(script: ModuleType) -> None:
    def found(outcome: Outcome, perturbed: str, words: int) -> Record:
        return replace(record(0, outcome, words), original=("ab",), perturbed=(perturbed,))

    records = [found(Outcome.SUCCESS, "abcd", 1), found(Outcome.SUCCESS, "ab", 0), found(Outcome.FAILED, "abcdef", 1)]
    plain, written = part(script, "fluency").compared(records, Plausible())
    assert plain.total == 2
    assert plain.before == pytest.approx(math.exp(2))
    assert written.before == pytest.approx(math.e)
    _, changed = part(script, "fluency").compared(records, Plausible(), changed=True)
    assert (changed.total, changed.ratio) == (1, pytest.approx(math.exp(2) / math.e))


def test_a_restart_counts_words_and_pairs_within_reach(script: ModuleType) -> None:
    rows = part(script, "first_order_rows")

    def hit(number: int, old: str, new: str) -> Record:
        patch = Patch(0, old, new, 0.5)
        finding = SecondOrderFinding(patch, (0.4, 0.6), (0.7, 0.3), 1, 9)
        scores = (0.4, 0.6)
        return replace(
            record(number, Outcome.SUCCESS), perturbed=(f"{old} film",), scores_after=scores, finding=finding
        )

    hits = [hit(0, "Bad", "poor"), hit(1, "bad", "ill"), hit(2, "is", "be")]
    example = rows.vulnerable(hits[0])
    assert (example.id, example.label, example.text.fields) == ("0", 1, ("Bad film",))
    after = {"0": record(0, Outcome.SUCCESS, 1), "1": record(1, Outcome.SUCCESS, 2), "2": record(2, Outcome.FAILED)}
    book = {"bad": {"poor"}}
    cells = dict(
        zip(rows.RESTARTED[1:], rows.restart_cells(hits, after, [2, 3], lambda w: book.get(w, set())), strict=True)
    )
    assert cells["vulnerable neighbours"] == "3"
    assert cells["fooled from there (%) [95%]"].startswith("66.7 (2/3)")
    assert cells["words from there"] == "1.50"
    assert cells["by one word"].startswith("50.0 (1/2)")
    assert cells["pair within reach"] == "1/3"
    assert cells["fooled of those within reach"].startswith("100.0 (1/1)")
    assert cells["words from the originals"] == "2.50 (2 fooled)"


def test_tables_of_groups(script: ModuleType) -> None:
    groups = part(script, "groups")
    found = [
        measured("faith", word, k, 6, 10, value) for word, value in (("jew", -0.02), ("sikh", 0.01)) for k in (0, 1)
    ]
    lines = groups.word_table(found, 1).splitlines()
    assert lines[0] == "| word | sentences | k = 0 | k = 1 |"
    assert lines[2] == "| sikh | 6 | +1.00 [+0.00, +2.00]* | +1.00 [+0.00, +2.00]* |"
    counts = groups.counts_table({"straight": {0: 7, 1: 2}, "jew": {0: 6, 1: 5}, "sikh": {}})
    assert counts.splitlines()[2:] == ["| jew | 6 | 5 |  |", "| straight | 7 | 2 | 71, 18 |"]


def test_full_takes_every_row_of_the_paper(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["second_order.py", "--assets", "x", "--full", "--base", "y"])
    options = script.arguments()
    assert options.victims == list(script.VICTIMS)
    assert {script.counted("minilm", method, options) for method in script.METHODS} == {872}
    assert (options.n_genetic, options.n_bae, options.breadth) == (100, 872, 800)
    assert set(options.parts) == set(script.PARTS) - {"perplexity"}  # which needs a language model
    monkeypatch.setattr(sys, "argv", ["second_order.py", "--assets", "x", "--victims", "sbert"])
    with pytest.raises(SystemExit):
        script.arguments()
