"""Victims that misbehave: none of them gets a false certificate, and the page says what is wrong."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.bounds.again import Again
from mohs.errors import MohsError
from mohs.models.bag import BagVictim, pocket_victim
from mohs.models.function import FunctionVictim
from mohs.models.wrapper import Wrapper
from mohs.runs.run import Run
from tests.bounds.conftest import holds
from tests.bounds.misbehaving import (
    GIVES_LABELS,
    HARMLESS,
    MISBEHAVING,
    OWN_MEMORY,
    WEIGHTS,
    label_of,
    odd_calls,
    right,
    texts,
    towards,
    truth,
    victim_of,
)
from tests.toys import Table

OFFERED = {"good": "fine poor", "great": "fine bad", "film": "plot", "bad": "poor fine", "plot": "film"}
SOURCE = Table(tuple((word, tuple(others.split())) for word, others in OFFERED.items()))
MANY = Table(tuple((word, tuple(f"{word}{end}" for end in "abcdefghij")) for word in WEIGHTS))
SHOWN_AT_ONCE = ["backwards", "sorted and not put back", "shifted by one", "other in batches of 2", "moved in batches"]
SEEN_IN_LARGE_BATCHES = "other in batches of 40"
GIVEN: dict[str, Any] = {"source": SOURCE, "stopwords": "none", "max_r": 2}
GREEDY = mohs.attacks.Greedy(SOURCE, (), frozenset())
RANDOM = mohs.attacks.RandomWords(4, SOURCE, (), frozenset())  # for victims that give labels alone


def rows() -> list[tuple[str, int]]:
    return [(text, label_of(text)) for text in texts()]


def withstands(text: str, label: int, radius: int) -> bool:
    """The oracle: every text with at most that many substitutions, the long way round."""
    words = text.split()
    options = [[word, *OFFERED.get(word, "").split()] for word in words]
    near = (new for new in product(*options) if sum(map(str.__ne__, new, words)) <= radius)
    return all(truth(" ".join(new))[label] > 0.5 for new in near)


def certified(model: FunctionVictim, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    """The certificates of a run, also of one that ended because the victim stopped answering."""
    with suppress(MohsError):  # in one sentence; anything else is a traceback
        mohs.radius(model, rows(), out=folder, **GIVEN, **settings).close()
    if not (folder / "manifest.yaml").exists():
        return []
    with Run.open(folder) as run:
        return [row["certificate"] for row in run.radii() if "certificate" in row]


def false(certificates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in certificates if not withstands(one["text"][0], one["label"], one["radius"])]


def test_there_are_fifty_kinds() -> None:
    assert len(MISBEHAVING) - len(HARMLESS) >= 50


@pytest.mark.parametrize("kind", MISBEHAVING)
def test_no_false_certificate(kind: str, tmp_path: Path) -> None:
    """One by one; and all at once, with a cache that the attack's questions come from."""
    attacks = {"attacks": [attack_on(kind)], "cache": tmp_path / "cache.sqlite"}
    odd = 0
    for at_once, more in ((1, {}), (64, attacks)):
        model = victim_of(kind)
        found = certified(model, tmp_path / f"at once {at_once}", at_once=at_once, **more)
        assert false(found) == []
        odd += odd_calls(model)
        if kind in HARMLESS:
            assert {one["text"][0]: one["radius"] for one in found} == radii()
    # Batches of 40 come up in longer texts alone, see below.
    assert odd or kind in (*HARMLESS, SEEN_IN_LARGE_BATCHES), "the kind behaved, so this has shown nothing"


def radii() -> dict[str, int]:
    """The true radius of the originals that withstand a substitution, up to the number that may be asked."""
    found = {}
    for text, label in rows():
        places = sum(word in OFFERED for word in text.split())
        found[text] = min(places, max((r for r in (0, 1, 2) if withstands(text, label, r)), default=0))
    return {text: radius for text, radius in found.items() if radius}


def test_a_victim_that_behaves_is_certified_as_far_as_brute_force_says(tmp_path: Path) -> None:
    found = certified(victim_of("right"), tmp_path / "run")
    assert {one["text"][0]: one["radius"] for one in found} == radii()
    assert len(found) > 5
    with Run.open(tmp_path / "run") as run:
        assert run.view().notes == []


@pytest.mark.parametrize("kind", MISBEHAVING)
def test_an_attack_on_it_is_right_or_flagged(kind: str, fair: dict[str, list[str]]) -> None:
    """It ends with one sentence or with records, and these are those of a victim that behaves, or the page warns."""
    attack = attack_on(kind)
    try:
        run = mohs.attack(victim_of(kind), rows(), [attack], at_once=64)
    except MohsError:  # in one sentence; anything else is a traceback
        return
    with run:
        view = run.view()
        if not (view.notes or view.errors):
            assert [record.outcome.value for record in run.records()] == fair[str(attack)], "no word of warning"


def attack_on(kind: str) -> Any:
    return RANDOM if kind in GIVES_LABELS else GREEDY


@pytest.fixture(scope="module")
def fair() -> dict[str, list[str]]:
    """How the attacks end on a victim that behaves."""
    found = {}
    for attack in (GREEDY, RANDOM):
        with mohs.attack(victim_of("right"), rows(), [attack]) as run:
            assert run.view().notes == []
            found[str(attack)] = [record.outcome.value for record in run.records()]
    return found


@pytest.mark.parametrize("kind", [SEEN_IN_LARGE_BATCHES, "noisy after sixty calls", "5% flips"])
def test_what_shows_only_later_is_flagged_too(kind: str) -> None:
    examples = [(text, label_of(text)) for text in ("good great fine film", "bad poor plot bad")]
    with mohs.radius(victim_of(kind), examples, source=MANY, stopwords="none", max_r=2) as run:
        assert all(row["lower"] == 0 for row in run.radii())
        assert any("have no certificate because the victim" in note for note in run.view().notes)


def test_an_attack_that_was_misled_is_flagged() -> None:
    examples = [("good great fine film good great", 1), ("good great great film good", 1)]
    attack = mohs.attacks.Greedy(MANY, (), frozenset())
    with mohs.attack(victim_of(SEEN_IN_LARGE_BATCHES), examples, [attack]) as run:
        (summary,) = run.summary()
        assert (summary.success.hits, summary.apart) == (0, 2)
        assert any("2 of 2 final texts differently in a batch" in note for note in run.view().notes)
    with mohs.attack(victim_of("right"), examples, [attack]) as run:
        assert run.summary()[0].apart == 0


@pytest.mark.parametrize("kind", SHOWN_AT_ONCE)
def test_a_victim_that_answers_otherwise_in_batches_is_flagged(kind: str, tmp_path: Path) -> None:
    sentence = "The victim answers differently in batches than alone"
    with mohs.radius(victim_of(kind), rows(), **GIVEN) as run:
        assert {(row["lower"], row["stopped"]) for row in run.radii()} == {(0, "batches")}
        assert any(sentence in note for note in run.view().notes)
    with mohs.attack(victim_of(kind), rows()[:4], ["random"], out=tmp_path / "run") as run:
        assert any(sentence in note for note in run.view().notes)
        assert sentence in run.report().read_text("utf-8")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_victim_that_is_another_one_at_the_end_is_flagged(workers: int, tmp_path: Path) -> None:
    """It answers itself alike at any moment, so only a comparison with the start can tell."""
    sentence = "At the end of the run the victim answered"
    name, data = f"python:{__name__}:released", rows() * 4
    RELEASED[0] = 0
    with mohs.attack(name, data, [RANDOM], out=tmp_path / "run", workers=workers, at_once=1) as run:
        assert any(sentence in note for note in run.view().notes)
        assert sentence in run.report().read_text("utf-8")
    with Run.open(tmp_path / "run") as run:
        assert run.effort()["changed"] > 0
    RELEASED[0] = 0
    with mohs.radius(name, data, at_once=1, **GIVEN) as run:
        found = run.radii()
        assert {row["stopped"] for row in found[-3:]} == {"unsteady"}
        assert any("certificate" in row for row in found)


RELEASED = [0]


def released(given: list[str]) -> list[list[float]]:
    """Another release after some calls."""
    RELEASED[0] += 1
    return right(given) if RELEASED[0] < 100 else towards((0.1, 0.9), 0.5, given)


@pytest.mark.parametrize(("texts", "share"), [(100, 0.2), (8000, 0.01)])
def test_what_share_of_a_level_is_asked_again(texts: int, share: float) -> None:
    """At least 20 texts or 1%, at random, besides the ten smallest margins: the docs give the odds of a rare lie."""
    margins = np.linspace(0.1, 0.9, texts)
    numbers = np.arange(texts, dtype=np.int32)[:, None]
    times = np.zeros(texts)
    for seed in range(400):
        again = Again(str(seed))
        for part in np.array_split(np.arange(texts), 7):
            again.add(numbers[part], numbers[part], margins[part])
        times[again.places[:, 0]] += 1
    assert (times[:10] == 400).all()
    drawn = times[10:] / 400
    assert drawn.mean() == pytest.approx(share, rel=0.05)
    assert drawn[len(drawn) // 2 :].mean() == pytest.approx(share, rel=0.1)  # the last ones as often as the first


@pytest.mark.parametrize("kind", OWN_MEMORY)
def test_a_memory_of_its_own_shows_only_to_the_second_verifier(kind: str, tmp_path: Path) -> None:
    """Within one process such a victim contradicts itself nowhere. A new one that is asked one by one tells."""
    found = certified(victim_of(kind), tmp_path / "run")
    wrong = false(found)
    assert wrong, "it is caught by now: make it one of the other kinds"
    assert not all(holds(json.dumps(one), OWN_MEMORY[kind]()) for one in wrong)


class Pairs(Wrapper):
    """A wrapper that forgot to say that nothing adds up any more: some words turn its answer round."""

    def launch(self, batch: list[Any]) -> Any:
        return batch, super().launch(batch)

    def collect(self, ticket: Any) -> list[Any]:
        batch, inside = ticket
        rows = super().collect(inside)
        odd = [-1 if {"terrific", "gorgeous"} & set(text.split()) else 1 for (text,) in batch]
        return [row[::step] for row, step in zip(rows, odd, strict=True)]


class OwnBag(BagVictim):
    """A bag of words that reads one word otherwise than its scores say."""

    def collect(self, ticket: Any) -> list[Any]:
        rows = super().collect(ticket)
        return [row[:: -1 if "terrific" in text else 1] for (text,), row in zip(ticket, rows, strict=True)]


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_closed_form_is_not_believed_of_what_does_not_add_up(wrapped: bool) -> None:
    bag = pocket_victim()
    model = Pairs(bag) if wrapped else own_bag(bag)
    with mohs.radius(model, [("a wonderful film", 1)], max_r=2) as run:
        (row,) = run.radii()
    assert (row["by"], row["lower"]) == ("enumeration", 0)
    with mohs.radius(Wrapper(bag), [("a wonderful film", 1)], max_r=2) as run:
        assert run.radii()[0]["by"] == "closed form"


def own_bag(bag: BagVictim) -> OwnBag:
    made = OwnBag.__new__(OwnBag)
    vars(made).update(vars(bag))
    return made
