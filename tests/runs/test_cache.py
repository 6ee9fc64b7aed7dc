"""The answer cache: it saves questions of the search, and never answers for a victim that has changed."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs import FunctionVictim
from mohs.engine import AnswerCache
from mohs.errors import BadInput
from tests.toys import WordCount, Wordlike, bundled, table

ROWS = [(f"a {word} film number {i}", 1) for i, word in enumerate(["good", "fine", "great", "lovely"] * 3)]
SOURCE = table(good="bad fine", fine="poor good", great="awful good", film="movie", number="count")


class Moody:
    """A victim whose answers hang on something that its fingerprint does not see."""

    def __init__(self, weights: dict[str, float]) -> None:
        self.weights, self.asked = weights, 0

    def victim(self) -> FunctionVictim:
        def predict(texts: list[str]) -> list[tuple[float, ...]]:
            self.asked += len(texts)
            return [WordCount(self.weights).scores((text,)) for text in texts]

        return FunctionVictim(predict, name="moody")


WEIGHTS = {"good": 2.0, "fine": 1.0, "great": 3.0, "lovely": 1.5, "bad": -2.0, "awful": -3.0, "poor": -1.0}
# The same answer to the first question that every victim gets ("It was a good day."), and others to most texts.
CHANGED = WEIGHTS | {"film": -4.0, "movie": -4.0}


def attacked(weights: dict[str, float], cache: Path | None) -> tuple[list[Any], dict[str, float]]:
    with mohs.attack(Moody(weights).victim(), ROWS, "random", source=SOURCE, cache=cache) as run:
        return list(run.records()), run.effort()


def certified(weights: dict[str, float], cache: Path | None, out: Path | None = None) -> list[Any]:
    victim = Moody(weights).victim()
    with mohs.radius(victim, ROWS, source=SOURCE, stopwords=(), max_r=2, cache=cache, out=out) as run:
        return list(run.records())


def test_a_second_run_asks_less_and_finds_the_same(tmp_path: Path) -> None:
    plain, _ = attacked(WEIGHTS, None)
    first, cold = attacked(WEIGHTS, tmp_path / "answers")
    second, warm = attacked(WEIGHTS, tmp_path / "answers")
    assert plain == first == second
    assert warm["reused"] > 0
    assert 0 < warm["forwards"] < cold["forwards"]  # verdicts are asked again


def test_a_changed_victim_gets_no_old_answer(tmp_path: Path) -> None:
    attacked(WEIGHTS, tmp_path / "answers")
    found, effort = attacked(CHANGED, tmp_path / "answers")
    assert found == attacked(CHANGED, None)[0]
    assert effort["reused"] == 0
    back, effort = attacked(WEIGHTS, tmp_path / "answers")
    assert back == attacked(WEIGHTS, None)[0]
    assert effort["reused"] > 0  # its part of the file is still there


def test_verdicts_and_proofs_are_asked_again_even_if_the_change_shows_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, run = tmp_path / "answers", tmp_path / "run"
    attacked(WEIGHTS, cache)
    certified(WEIGHTS, cache)
    monkeypatch.setattr("mohs.runs.subject.alike", lambda one, other: True)  # as if no sample showed it
    found, _ = attacked(CHANGED, cache)
    truth = WordCount(CHANGED)
    for record in found:
        assert record.scores_before == truth.scores(record.original)
        assert record.perturbed is None or record.scores_after == truth.scores(record.perturbed)
    proven = certified(CHANGED, cache, run)
    assert proven == certified(CHANGED, None)
    checked = mohs.verify(run, Moody(CHANGED).victim()) if any(r.finding and r.finding.lower for r in proven) else []
    assert all(result.sound for _, result in checked)


def test_a_proof_asks_every_text_again(tmp_path: Path) -> None:
    asked = []
    for _ in range(2):
        moody = Moody(WEIGHTS)
        mohs.radius(moody.victim(), ROWS, source=SOURCE, stopwords=(), max_r=2, cache=tmp_path / "answers").close()
        asked.append(moody.asked)
    sizes = sum(sum(r.finding.sizes) for r in certified(WEIGHTS, None) if r.finding)
    assert asked[1] >= sizes > 0


def poison(path: Path, answer: str) -> None:
    """Put an answer into every row, with the checksum that it would have."""
    with sqlite3.connect(path) as db:
        for (key,) in db.execute("SELECT key FROM answers").fetchall():
            told = f"{answer} {hashlib.blake2b(key + answer.encode(), digest_size=8).hexdigest()}"
            db.execute("UPDATE answers SET answer = ? WHERE key = ?", (told, key))
    db.close()


def test_a_bias_is_never_an_average_of_old_answers(tmp_path: Path) -> None:
    def measured(weights: dict[str, float], cache: Path | None) -> tuple[list[Any], dict[str, float], list[str]]:
        rows = [(f"he said the film number {i} was good", 1) for i in range(40)]
        with mohs.token_bias(Moody(weights).victim(), rows, "gender", k=0, cache=cache) as run:
            return list(run.records()), run.effort(), run.view().notes

    before, _, notes = measured(WEIGHTS, tmp_path / "answers")
    again, effort, _ = measured(WEIGHTS, tmp_path / "answers")
    after, _, _ = measured(WEIGHTS | {"she": -2.0}, tmp_path / "answers")
    assert effort["reused"] == 0
    assert (before, after) == (again, measured(WEIGHTS | {"she": -2.0}, None)[0])
    assert any("--cache was not used" in note for note in notes)


@pytest.mark.parametrize(
    "answer", ["[NaN, NaN]", "[0.5]", "[0.9, 0.9]", "[2.0, -1.0]", "[0.2, 0.3, 0.5]", "no json", '["a", "b"]', "null"]
)
def test_what_cannot_be_an_answer_is_not_read_back(tmp_path: Path, answer: str) -> None:
    truth, _ = attacked(WEIGHTS, tmp_path / "answers")
    poison(tmp_path / "answers", answer)
    found, effort = attacked(WEIGHTS, tmp_path / "answers")
    assert found == truth
    assert effort["reused"] == 0
    assert all(math.isfinite(score) for record in found for score in record.scores_before + record.scores_after)
    assert attacked(WEIGHTS, tmp_path / "answers")[1]["reused"] > 0  # the bad rows were replaced


@pytest.mark.parametrize(
    "change",
    [
        "answer = (SELECT answer FROM answers ORDER BY key LIMIT 1)",
        "answer = '[0.9, 0.1]'",
        "answer = replace(answer, '[0.0', '[0.1')",
    ],
)
def test_an_answer_that_was_not_written_is_not_read_back(tmp_path: Path, change: str) -> None:
    """It could be one, but it is that of another text, or damaged."""
    truth, _ = attacked(WEIGHTS, tmp_path / "answers")
    with sqlite3.connect(tmp_path / "answers") as db:
        db.execute(f"UPDATE answers SET {change}")
    db.close()
    assert attacked(WEIGHTS, tmp_path / "answers")[0] == truth


def test_a_damaged_sample_is_not_trusted(tmp_path: Path) -> None:
    truth, _ = attacked(WEIGHTS, tmp_path / "answers")
    with sqlite3.connect(tmp_path / "answers") as db:
        db.execute("UPDATE samples SET item = '[\"another text\"]'")
    db.close()
    found, effort = attacked(WEIGHTS, tmp_path / "answers")
    assert (found, effort["reused"]) == (truth, 0)


def test_a_file_of_an_earlier_version_is_filled_anew(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "answers") as db:
        db.execute("CREATE TABLE answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
    db.close()
    assert attacked(WEIGHTS, tmp_path / "answers")[1]["reused"] == 0
    assert attacked(WEIGHTS, tmp_path / "answers")[1]["reused"] > 0


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 64] = b"\xff" * 64
    path.write_bytes(content)


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    attacked(WEIGHTS, tmp_path / "answers")
    damage(tmp_path / "answers")
    with pytest.raises(BadInput, match=r"The answer cache .*answers (is damaged|cannot be opened) \(.*\); delete it"):
        attacked(WEIGHTS, tmp_path / "answers")


def test_a_damaged_cache_of_patch_words_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path))

    def search() -> list[Any]:
        lm: dict[str, Any] = {"masked_lm": Wordlike(), "vectors": bundled()["vectors"]}
        with mohs.second_order_attack(WordCount(WEIGHTS), ROWS[:3], "so-beam", k=1, **lm) as run:
            return list(run.records())

    truth = search()
    file = tmp_path / "patch-words.sqlite"
    poison(file, "[NaN, 1.0]")
    assert search() == truth
    damage(file)
    with pytest.raises(BadInput, match=r"patch-words\.sqlite (is damaged|cannot be opened) \(.*\); delete it"):
        search()
    file.write_bytes(b"junk" * 2000)
    with pytest.raises(BadInput, match=r"patch-words\.sqlite cannot be opened \(.*\); delete it"):
        search()


def test_the_sample_is_a_choice_of_all_items() -> None:
    cache = AnswerCache(":memory:")
    cache.settle("m", ["x"], lambda items: [len(item) for item in items], lambda a, b: a == b, lambda a: True)
    for start in range(0, 1000, 50):
        cache.put("m", {f"item {number}": 6 for number in range(start, start + 50)})
    part = cache._parts["m"]
    kept = cache._sample(part)
    assert len(kept) == 32
    numbers = [int(item.split()[1]) for item in kept if item != "x"]
    assert min(numbers) < 250
    assert max(numbers) > 750
    cache.close()
