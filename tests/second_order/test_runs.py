"""Second-order runs, from the arguments to the records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput, MohsError
from mohs.records import Outcome
from mohs.text.questions import Filled, Guess
from tests.attacks.fills import Fills
from tests.toys import WordCount, Wordlike, table

FILLS = Fills(
    {
        "a _ film": "bad:0.5 good:0.4",
        "_ good film": "the",
        "the _ film": "dull:0.5 bad",
        "_ dull film": "a",
        "a _ movie": "good",
    }
)
VICTIM = WordCount({"good": 2, "bad": -1, "film": 0, "movie": -1.2, "dull": 1, "the": 0.1, "a": 0.1})
ROWS = [("a good film", 1), ("a good play", 1), ("", 0), ("film movie", 0)]
SYNONYMS = table(film="movie", movie="film")


def start(method: Any = "so-enum", rows: Any = ROWS, victim: Any = VICTIM, **options: Any) -> mohs.Run:
    return mohs.second_order_attack(
        victim, rows, method, **{"masked_lm": FILLS, "synonyms": SYNONYMS, "seed": 1, **options}
    )


def test_records() -> None:
    run = start()
    first, *others = run.records()
    assert [record.outcome for record in others] == [Outcome.SKIPPED] * 3  # no pair fits them
    assert first.outcome is Outcome.SUCCESS
    assert first.original == ("a good film",)
    assert first.perturbed == ("the dull film",)
    assert first.to_row()["details"]["patch"] == {
        "position": 2,
        "old": "film",
        "new": "movie",
        "gap": pytest.approx(0.196, abs=1e-3),
    }
    assert [(edit.old, edit.new) for edit in first.edits] == [("a", "the"), ("good", "dull")]
    assert first.finding.steps == 2
    assert first.scores_before == VICTIM.scores(("a good film",))
    assert first.finding.patched_before == VICTIM.scores(("a good movie",))
    assert first.scores_after == VICTIM.scores(("the dull film",))
    assert first.finding.patched_after == VICTIM.scores(("the dull movie",))
    assert run.command == "second-order"
    (figures,) = run.vulnerable()
    assert (figures.vulnerable.hits, figures.vulnerable.total) == (1, 1)
    assert "vulnerable example found" in run._repr_html_()
    assert run.manifest["config"]["k"] == 2


def test_stopwords_are_no_patch_words_unless_allowed() -> None:
    rows, synonyms = [("it is a film", 1)], table(**{"is": "now", "film": "movie"})
    victim = WordCount({"is": 3, "now": -3, "film": 0.1, "movie": 0.2})

    def patch(**options: Any) -> list[str]:
        (record,) = start(rows=rows, victim=victim, synonyms=synonyms, **options).records()
        return [record.finding.patch.old, record.finding.patch.new]

    assert patch() == ["film", "movie"]
    assert patch(patch_stopwords=True) == ["is", "now"]
    assert patch(method="so-enum:released", masked_lm=Wordlike()) == ["is", "now"]


def test_a_run_is_gone_on_with(tmp_path: Path) -> None:
    with start(out=tmp_path / "run") as run:
        records = list(run.records())
    seen: list[Any] = []
    with start(out=tmp_path / "run", progress=lambda record, *_: seen.append(record)) as run:
        assert list(run.records()) == records
    assert seen == [None]
    with pytest.raises(BadInput, match="k"):
        start(out=tmp_path / "run", k=1)


def test_k_is_a_limit() -> None:
    assert next(iter(start(k=1).records())).outcome is Outcome.FAILED
    assert next(iter(start(budget=3).records())).outcome is Outcome.EXHAUSTED


def test_a_budget_is_spent_to_the_last_pair_of_texts() -> None:
    spent = {budget: next(iter(start(budget=budget).records())) for budget in (1, 4, 5, 7, 8)}
    assert {budget: record.queries for budget, record in spent.items()} == {1: 0, 4: 4, 5: 4, 7: 6, 8: 8}
    assert [record.outcome for record in spent.values()] == [Outcome.EXHAUSTED] * 4 + [Outcome.SUCCESS]
    assert next(iter(start("random", budget=1).records())).outcome is Outcome.EXHAUSTED


def test_a_victim_that_raises_at_a_word_loses_that_word_alone() -> None:
    def raising_at(*words: str) -> Any:
        def answer(texts: list[Any]) -> list[Any]:
            if set(words) & set(texts):
                raise ValueError("what is this")
            return [VICTIM.scores((text,)) for text in texts]

        return answer

    pairs = table(film="movie", good="fine")
    assert next(iter(start(victim=raising_at("movie"), synonyms=pairs).records())).finding.patch.new == "fine"
    run = start(victim=raising_at("film"), synonyms=pairs)
    assert next(iter(run.records())).finding.patch.new == "fine"
    sentence = "The victim raises an error for 1 more single words (film), so they are no patch words."
    assert sentence in run.manifest["facts"]["notes"]
    assert not any("raises" in note for note in start().manifest["facts"]["notes"])
    with pytest.raises(BadInput, match="raises an error for every single word"):
        start(victim=raising_at("movie", "film"))
    record = next(iter(start(victim=raising_at("a bad movie")).records()))
    assert record.outcome is Outcome.ERROR
    assert record.queries == 6  # what was asked until then


def test_a_masked_model_that_raises_at_a_text_costs_that_example() -> None:
    class Picky(Fills):
        def answer(self, item: Any) -> Any:
            if "play" in item.fields[0]:
                raise ValueError("no plays")
            return super().answer(item)

    rows = [("a good play film", 1), *ROWS]
    outcomes = [record.outcome for record in start(rows=rows, masked_lm=Picky(FILLS.answers)).records()]
    assert outcomes == [Outcome.ERROR, Outcome.SUCCESS] + [Outcome.SKIPPED] * 3


def test_the_refusal_can_be_followed() -> None:
    rows = [("a good film about happy people", 1)]
    for k, most, smaller in ((200, 10_000, "-k 2, "), (2, 10_000, None), (1, 10, "")):
        if smaller is None:
            start(rows=rows, masked_lm=Wordlike(), k=k, most=most)
            continue
        with pytest.raises(BadInput, match=rf"; use {smaller}--method so-beam, or --most \d+ to do it"):
            start(rows=rows, masked_lm=Wordlike(), k=k, most=most)
    for budget, smaller in ((1000, "-k 1, "), (10, "")):
        with pytest.raises(BadInput, match=rf"--budget is [\d,]+; use {smaller}--method so-beam, or a larger budget"):
            start(rows=rows, masked_lm=Wordlike(), k=2, budget=budget)
    start(rows=rows, masked_lm=Wordlike(), k=1, budget=1000)


def test_bad_input() -> None:
    with pytest.raises(BadInput, match="no synonym for any of the 5 words"):
        start(synonyms=table(house="home"))
    with pytest.raises(BadInput, match="so-beam"):
        start(beam=3)
    with pytest.raises(BadInput, match="masked language model, and none is given"):
        start(masked_lm=None)
    with pytest.raises(BadInput, match=r"would check about [\d,]+ texts per example .* use -k 1, --method so-beam"):
        start(rows=[("a good film about happy people", 1)], masked_lm=Wordlike(), most=100)
    with pytest.raises(MohsError, match="at least 2 are expected"):
        start(victim=lambda texts: [[1.0] for _ in texts])
    with pytest.raises(BadInput, match="k is 0"):
        start(k=0)


def test_a_victim_with_labels_only_is_enumerated_and_not_searched() -> None:
    def labels(texts: list[Any]) -> list[int]:
        return [round(VICTIM.scores((text,))[1]) for text in texts]

    options = {"victim": labels, "victim_options": {"output": "labels"}, "labels": ["n", "p"]}
    assert next(iter(start(**options).records())).outcome is Outcome.SUCCESS
    with pytest.raises(BadInput, match="labels only"):
        start("so-beam", **options)


def test_the_scores_of_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path))
    first, second = WordCount(VICTIM.weights), WordCount(VICTIM.weights)
    letters = [(letter,) for letter in "bcdefghijklmnopq"]
    many = table(film=f"movie {' '.join(letter for (letter,) in letters)}")
    start(victim=first, synonyms=many)
    start(victim=second, synonyms=many)
    assert set(letters) <= set(first.asked)
    assert len(set(letters) & set(second.asked)) <= 8  # by which the model is known again
    other = WordCount({"film": 3, "movie": -3})
    other.fingerprint = first.fingerprint  # another model under the same name
    start(victim=other, rows=[("a good film", 1)])
    assert ("movie",) in other.asked


def test_another_model_of_the_same_name_is_told_by_more_than_one_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path))
    start(victim=VICTIM)
    other = WordCount({**VICTIM.weights, "movie": -3})  # film, the first word, is read as before
    other.fingerprint = VICTIM.fingerprint
    assert next(iter(start(victim=other).records())).finding.patch.gap == pytest.approx(0.389, abs=1e-3)


def test_words_that_are_never_brought_in() -> None:
    record = next(iter(start(blacklist=["dull"]).records()))
    assert record.outcome is Outcome.FAILED


def test_questions_to_both_language_models_are_counted() -> None:
    effort = start(lm=Wordlike()).effort()
    assert effort["masked_lm_asked"] > 0
    assert effort["lm_asked"] == 2  # the original and the vulnerable example


@pytest.mark.parametrize(
    ("method", "beam", "texts"), [("so-enum", None, 8 * 8 // 2), ("so-beam", 1, 8 + 8), ("random", None, None)]
)
def test_what_is_to_be_expected_is_said_before_the_first_search(
    method: str, beam: int | None, texts: int | None
) -> None:
    class Two(Fills):  # words for each place
        def answer(self, item: Any) -> Any:
            return Filled((Guess("q", 1.0, True), Guess("r", 1.0, True)), 2.0)

    said: list[str] = []
    early: list[int] = []
    rows = [("s t u v film", 1)]
    start(
        method,
        rows=rows,
        masked_lm=Two({}),
        k=2,
        beam=beam,
        said=said.append,
        progress=lambda *_: early.append(len(said)),
    )
    expected = f"At most about {texts} texts per example were expected, each asked with and without its patch."
    assert said[1:] == ([expected] if texts else [])
    assert early[0] == len(said)
