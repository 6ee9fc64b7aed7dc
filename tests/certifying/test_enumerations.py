"""Certificates of smoothing against enumerations: every version that can be drawn, of every text of the space."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.certifying.finding import CertifyFinding
from mohs.certifying.smoothed import Smoothed, reads
from mohs.defences.smoothing import RanMask, Safer
from mohs.defences.versions import Versions
from mohs.models.function import FunctionVictim
from mohs.models.victim import Fields, answers_of
from mohs.space import Services, Space, build_space
from mohs.space.sources import Neighbours
from mohs.text import Example, Text
from mohs.text.stopwords import ENGLISH
from mohs.text.vectors import read_vectors
from tests.toys import now

ANGLES = {"good": 0, "fine": 3, "nice": 6, "great": 9, "film": 90, "movie": 93, "flick": 96}  # words as directions
NEAR = math.cos(math.radians(7))
WORDS = ("good", "fine", "a", "Film", "2", "don't", "well-made", "naïve", "[MASK]")
GAPS = (" ", ", ", "--", "/", " - ", "''", "‍ ", ".", "'")


def at_random(seed: int, share: float) -> FunctionVictim:
    """A lookup table: each pair of texts has a class at random."""

    def answer(texts: Sequence[str | tuple[str, ...]]) -> list[list[float]]:
        found = [Random(f"{seed}/{text}").random() < share for text in texts]
        return [[1.0 - one, float(one)] for one in found]

    return FunctionVictim(answer)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Words in a plane. Their perturbation sets have 3 to 4 words, and not all of them are symmetric."""
    path = tmp_path_factory.mktemp("vectors") / "plane.txt"
    turns = {word: math.radians(angle) for word, angle in ANGLES.items()}
    path.write_text("".join(f"{word} {math.cos(a):.9f} {math.sin(a):.9f}\n" for word, a in turns.items()), "utf-8")
    return read_vectors(str(path))


def all_versions(defence: Safer | RanMask, fields: Fields) -> list[Fields]:
    """Every version of a text, each as often as any other. Written anew, from the papers."""
    text = Text(*fields)
    if isinstance(defence, Safer):
        sets = defence.sets(text)
        return [text.replace_all(dict(zip(sets, words, strict=True))).fields for words in product(*sets.values())]
    count = min(len(text) - 1, int(defence.rate * len(text) + 0.5))
    return [text.replace_all(dict.fromkeys(own, "[MASK]")).fields for own in combinations(range(len(text)), count)]


def exact(victim: Versions, fields: Fields, label: int) -> float:
    """The share of a label over all versions."""
    versions = all_versions(victim.defence, fields)
    answers = answers_of(victim.victim, list(dict.fromkeys(versions)))
    return sum(answers[one].index(max(answers[one])) == label for one in versions) / len(versions)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_texts_of_a_space_share_the_versions_that_hide_their_changes(data: st.DataObject) -> None:
    """The step that RanMASK's proof stands on, over awkward words and gaps, in pairs of texts too."""
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=7))
    pieces = [word + data.draw(st.sampled_from(GAPS)) for word in words]
    cut = data.draw(st.integers(0, len(pieces)))
    text = Text("".join(pieces[:cut]), "".join(pieces[cut:])) if data.draw(st.booleans()) else Text("".join(pieces))
    offered = {p: [w for w in (*WORDS, "two words", "a.") if w != text.words[p]] for p in range(len(text))}
    kept = {p: tuple(w for w in own if reads(text, p, w)) for p, own in offered.items()}
    places = data.draw(st.lists(st.sampled_from(range(len(text))), max_size=3, unique=True)) if len(text) else []
    changed = text.replace_all({p: data.draw(st.sampled_from(kept[p])) for p in places if kept[p]})
    again = Text(*changed.fields)
    assert again.words == changed.words
    assert again.same_shape(text)
    victim = Versions(at_random(data.draw(st.integers(0, 99)), 0.8), RanMask(rate=0.6), "ranmask")
    loss = Smoothed(victim).loss(Space(text, kept), len(places), 1.0)
    assert exact(victim, changed.fields, 1) >= exact(victim, text.fields, 1) - loss - 1e-12


@pytest.mark.parametrize("kind", ["safer", "ranmask"])
def test_what_a_run_certifies_holds_over_all_versions_of_all_texts(kind: str, plane: Any) -> None:
    """Whole runs over lookup tables: no certificate is wrong, at any budget, and some are given."""
    texts = ["a good film", "the great movie was so very fine and good", "a film and a flick and", "so nice and so"]
    certified, asked = [0, 0, 0], 0
    for seed, share in ((1, 0.7), (2, 0.97), (3, 0.99), (4, 0.75), (5, 0.8), (6, 1.0)):
        defence = Safer(k=3, cosine=NEAR, books={"vectors": plane}) if kind == "safer" else RanMask(rate=0.8)
        victim = Versions(at_random(seed, share), defence, kind)
        own: dict[str, Any] = {"source": f"neighbours:k=3,min_cosine={NEAR}", "vectors": plane}
        options = (own if kind == "ranmask" else {}) | {"draws": 600, "attacks": "greedy", "every": 0, "budget": "1,2"}
        with mohs.certify(victim, [Example.of(text, 1, id=text) for text in texts], **options) as run:
            for record in run.records():
                text = Text(*record.original)
                space = space_of(Smoothed(victim), text, plane)
                assert record.finding.size == space.size()
                for one in record.finding.budgets:
                    asked += 1
                    if one.certified:
                        certified[one.budget] += 1
                        for point in space.points(one.budget):
                            assert exact(victim, point.fields, 1) > 0.5
    assert 3 <= certified[2] <= certified[1] < asked / 2


def space_of(smoothed: Smoothed, text: Text, vectors: Any) -> Space:
    places = tuple(range(len(text)))
    if smoothed.method == "safer":
        return Space(text, smoothed.choices(text, places))
    services = Services({"vectors": vectors}, Random(0))
    return now(build_space(text, Neighbours(k=3, min_cosine=NEAR), (), ENGLISH, places, services))


def test_the_bound_is_the_lower_end_minus_the_loss() -> None:
    victim = Versions(at_random(0, 1.0), RanMask(rate=0.8), "ranmask")
    with mohs.certify(victim, [("one good film with stars", 1)], draws=400, alpha=0.02, budget="1") as run:
        (record,) = run.records()
    assert record.finding.votes.label == record.finding.votes.draws == 400
    assert record.finding.budgets[0].bound == pytest.approx(0.02 ** (1 / 400) - 1 / 5 - 0.5, abs=2e-9)
    with mohs.certify(
        Versions(at_random(0, 1.0), Safer(books={"vectors": read_vectors("pocket")}), "safer"),
        [("the and of", 1)],
        draws=400,
        published=True,
    ) as run:
        (record,) = run.records()
    assert record.finding.budgets[0].bound == pytest.approx(1 - 0.01 - 0.5)  # nothing may change; the paper's slack


@pytest.mark.parametrize("text", ["", "...", "the of"])
def test_a_text_without_a_word_that_may_change(text: str) -> None:
    for victim, options in (
        (Versions(at_random(0, 1.0), RanMask(rate=0.8), "ranmask"), {"draws": 50}),
        ("pocket", {}),
    ):
        with mohs.certify(victim, [(text, 1), (text, 0)], budget="1", **options) as run:  # type: ignore[arg-type]
            records = list(run.records())
        assert not any(record.error for record in records)
        (found,) = [record.finding for record in records if record.outcome == "measured"]
        assert isinstance(found, CertifyFinding)
        assert found.size == 1
        assert not found.budgets[0].fooled


def test_pairs_change_in_one_text_and_are_drawn_in_both(plane: Any) -> None:
    """The premise cannot change, but its words are hidden, too, and count among all words."""
    victim = Versions(at_random(7, 0.995), RanMask(rate=0.8), "ranmask")
    pair = Example.of(("a good man is here", "film is good"), 1, id="p")
    source = f"neighbours:k=3,min_cosine={NEAR}"
    with mohs.certify(victim, [pair], draws=2000, budget="1,2", source=source, vectors=plane) as run:
        (record,) = run.records()
    assert record.positions == 2
    first, last = record.finding.budgets
    assert first.certified
    assert first.bound - last.bound == pytest.approx((1 - 15 / 28) - 2 / 8)  # 2 of 8 words are shown


@pytest.mark.parametrize("kind", ["safer", "ranmask"])
def test_versions_are_drawn_as_often_as_the_defence_draws_them(kind: str, plane: Any) -> None:
    """All versions occur, and no count is more than five deviations from its expectation, here and in the defence."""
    defence: Any = Safer(k=3, cosine=NEAR, books={"vectors": plane}) if kind == "safer" else RanMask(rate=0.6)
    fields = ("a good film", "so nice")
    versions = all_versions(defence, fields)
    smoothed, n = Smoothed(Versions(at_random(0, 1.0), defence, kind)), 8000
    expected = n / len(versions)
    for drawn in (
        smoothed._drawn(Text(*fields), n, Random(5)),
        Counter(replace(defence, n=n).versions(fields, Random(6))),
    ):
        assert sum(drawn.values()) == n
        assert set(drawn) == set(versions)
        assert all(abs(count - expected) < 5 * expected**0.5 for count in drawn.values())
