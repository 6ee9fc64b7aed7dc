from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mohs
from mohs.attacks import CompAttack
from mohs.attacks.comp_attack import Adam, Candidates
from mohs.models.bag import BagVictim, pocket_victim
from mohs.records import Outcome
from mohs.space import DropLetter, Listed
from mohs.space.heads import SomeOf
from tests.toys import toy_services

SCORES = {
    "good": 2.0,
    "fine": 0.4,
    "decent": -0.2,
    "great": 3.0,
    "film": 0.4,
    "movie": -0.5,
    "flick": -1.6,
    "bad": -3.0,
}
WORDS = {"good": ["great", "fine", "decent", "bad"], "film": ["movie", "flick"]}


def book(tmp_path: Path, words: Any = WORDS) -> Listed:
    import json

    (tmp_path / "words.json").write_text(json.dumps(words))
    return Listed.read(str(tmp_path / "words.json"))


def attacked(text: str, attack: CompAttack, victim: Any = None, **options: Any) -> Any:
    victim = victim or BagVictim("bag", SCORES, 0.0, ("no", "yes"))
    with mohs.attack(victim, [(text, 1)], attack, **{**toy_services(), **options}) as run:
        (record,) = run.records()
    assert record.error is None
    return record


def test_adam_is_pytorchs() -> None:
    chance = np.random.default_rng(1)
    target = chance.normal(size=7)
    theirs = torch.zeros(7, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([theirs], lr=0.1)
    ours, moments = np.zeros(7), (np.zeros(7), np.zeros(7))
    for number in range(1, 30):
        optimizer.zero_grad()
        ((theirs - torch.from_numpy(target)) ** 2).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        step, moments = Adam().step(moments, 2 * (ours - target), number)
        ours = ours + step
        assert ours == pytest.approx(theirs.detach().numpy(), abs=1e-9)


def test_the_nearest_candidate_by_brute_force() -> None:
    chance = np.random.default_rng(2)
    for _ in range(50):
        table, point = chance.normal(size=(9, 4)), chance.normal(size=4)
        apart = [float(np.linalg.norm(row - point)) for row in table]
        assert Candidates(0, tuple("abcdefghi"), table).nearest(point) == apart.index(min(apart))
    same = Candidates(0, ("old", "new"), np.ones((2, 3)))
    assert same.nearest(np.zeros(3)) == 0  # the old word wins a tie


def test_it_finds_the_smallest_change_of_vectors(tmp_path: Path) -> None:
    """Of all texts of this space that fool the bag, the one whose words' vectors moved least."""
    record = attacked("a good film", CompAttack(source=book(tmp_path)))
    fooling = {}
    for one, two in product(["good", *WORDS["good"]], ["film", *WORDS["film"]]):
        if SCORES[one] + SCORES[two] < 0:
            fooling[f"a {one} {two}"] = (SCORES[one] - 2) ** 2 + (SCORES[two] - 0.5) ** 2
    assert len(fooling) > 3
    assert record.outcome is Outcome.SUCCESS
    size = fooling[record.perturbed[0]]
    assert size <= 1.7 * min(fooling.values())  # the optimisation visits few texts, and not always the very best
    assert size < max(fooling.values())


def test_without_a_way_it_gives_the_nearest_text(tmp_path: Path) -> None:
    record = attacked("a great good film", CompAttack(source=book(tmp_path, {"film": ["movie", "flick"]})))
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == ("a great good flick",)


def test_words_without_candidates_change_nothing(tmp_path: Path) -> None:
    record = attacked("a fine great day", CompAttack(source=book(tmp_path)))
    assert record.perturbed == ("a fine great day",)
    assert record.queries == 1


def test_every_new_text_is_one_query(tmp_path: Path) -> None:
    free = attacked("a good film", CompAttack(source=book(tmp_path)))
    assert 2 <= free.queries <= 15  # there are 15 texts
    short = attacked("a good film", CompAttack(source=book(tmp_path)), budget=2)
    assert short.queries == 2


def test_another_goal(tmp_path: Path) -> None:
    record = attacked("a good film", CompAttack(source=book(tmp_path)), goal="below:0.4")
    assert record.outcome is Outcome.SUCCESS
    assert record.scores_after[1] < 0.4


def test_three_of_many_typos_by_the_examples_own_chance() -> None:
    attack = CompAttack(source=SomeOf(DropLetter(inner=True, min_length=3), 2))
    victim = pocket_victim()
    with mohs.attack(victim, "pocket", attack, n=20, **toy_services()) as run:
        one = {record.example_id: record for record in run.records()}
    with mohs.attack(victim, "pocket", attack, n=20, at_once=1, **toy_services()) as run:
        assert {record.example_id: record for record in run.records()} == one
    changed = [edit for record in one.values() for edit in record.edits]
    assert changed
    assert all(len(edit.new) == len(edit.old) - 1 and edit.new[0] == edit.old[0] for edit in changed)


def test_presets() -> None:
    with mohs.attack("pocket", "pocket", ["comp-attack:typo"], n=30, **toy_services()) as run:
        outcomes = [record.outcome for record in run.records()]
    assert outcomes.count(Outcome.SUCCESS) >= 10
