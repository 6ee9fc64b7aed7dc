"""Each stage by itself, on items made by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.curation.apportioned import apportioned, fitting
from mohs.curation.build import build
from mohs.curation.config import Config
from mohs.curation.fidelity import fidelity, similarities
from mohs.curation.folder import open_benchmark
from mohs.curation.item import Dropped, Item
from mohs.curation.judged import NOT_SEEN, judged, to_judge
from mohs.curation.merged import NOT_DRAWN, OTHER, TWICE, UNMATCHED, merged
from mohs.curation.parted import parted
from mohs.curation.sets import ReadSet
from mohs.curation.simulated import qualities, simulated_votes
from mohs.curation.transferred import _sifted
from tests.curation.toys import config, item

RULES: dict[str, Any] = {"by": "simulated"}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return config(tmp_path_factory.mktemp("toy"))


def ids(items: Any) -> list[str]:
    return [one.item.id if isinstance(one, Dropped) else one.id for one in items]


def test_an_item_is_read_back() -> None:
    one = item("textfooler", "a", votes=(("judge-1", 1),), judged="people", part="dev", similarity=0.5)
    assert Item.from_row(one.to_row()) == one
    assert Dropped.from_row(Dropped(one, "why", "more").to_row()) == Dropped(one, "why", "more")


def test_transfer_keeps_what_fools_all(toy: Config) -> None:
    both = item("textfooler", "a", found_on=("first", "third"))
    one = item("textfooler", "b", found_on=("second",))
    key = "reviews", "textfooler"
    said = {
        (*key, "first"): {("b", one.text): "reads it right"},
        (*key, "second"): {("a", both.text): ""},
        (*key, "third"): {("b", one.text): ""},
    }
    found = _sifted(toy, [both, one], said)
    assert ids(found.kept) == [both.id]
    assert [(d.reason, d.more) for d in found.dropped] == [("does not fool all surrogates", "first: reads it right")]
    assert found.facts["fooled"] == {"reviews": {"textfooler": {"first": 1, "second": 2, "third": 2}}}


def test_fidelity_bounds_words_and_keeps_the_most_similar_sentence(toy: Config) -> None:
    items = [
        item("textfooler", "a", share_changed=0.08),
        item("textfooler", "b", share_changed=0.0801),
        item("textfooler", "c", 1, share_changed=0.01),
        item("random", "a", 0, share_changed=1.5),
        item("random", "a", 1),
        item("random", "a", 2),
        item("random", "b", 0),
        item("distraction", "a", 0, share_changed=3.0),
        item("distraction", "a", 1),
    ]
    values = dict(zip(ids(items[3:]), [-0.5, 0.9, 0.9, -0.2, 0.1, 0.2], strict=True))
    found = fidelity(toy, items, lambda own: [values[one.id] for one in own])
    kept = ["textfooler/a/0", "textfooler/c/1", "random/a/1", "random/b/0", "distraction/a/0", "distraction/a/1"]
    assert ids(found.kept) == [f"reviews/{name}" for name in kept]
    assert [(d.item.id.removeprefix("reviews/"), d.reason) for d in found.dropped] == [
        ("textfooler/b/0", "too many words changed"),
        ("random/a/0", "another text is more similar"),
        ("random/a/2", "another text is more similar"),
    ]
    assert [one.similarity for one in found.kept] == [None, None, 0.9, -0.2, 0.1, 0.2]


@pytest.mark.parametrize("measure", ["encoder", "bertscore"])
def test_similarity_is_that_of_the_measures(measure: str, tmp_path: Path) -> None:
    own = config(tmp_path, filters={"similarity": measure})
    same = item("random", "a", text=("A good film.",), original=("A good film.",))
    near = item("random", "b", text=("A great film.",), original=("A good film.",))
    far = item("random", "c", text=("Rain falls on stone.",), original=("A good film.",))
    values = similarities(own)([same, near, far])
    assert values[0] == pytest.approx(1.0, abs=1e-5)
    assert values[0] > values[1] > values[2]


def votes(*labels: int) -> tuple[tuple[str, int], ...]:
    return tuple((f"judge-{number}", label) for number, label in enumerate(labels))


@pytest.mark.parametrize(
    ("given_votes", "reason"),
    [
        ((0, 0, 0, 0, 0), ""),
        ((0, 0, 1, 0, 0), ""),
        ((0, 0, 1, 1, 0), "no consensus"),
        ((1, 1, 1, 0, 1), "another label"),
        ((1, 1, 1, 1, 1), "another label"),
        ((0, 0, 0), "too few judges"),
        ((), "too few judges"),
    ],
)
def test_four_of_five_must_say_the_original_label(toy: Config, given_votes: tuple[int, ...], reason: str) -> None:
    one, certain = item("textfooler", "a"), item("distraction", "a")
    found = judged(toy, [one, certain], {one.id: votes(*given_votes)})
    assert ids(found.kept) == [one.id] * (not reason) + [certain.id]
    assert [drop.reason for drop in found.dropped] == [reason] * bool(reason)
    whole = [*found.kept, *(drop.item for drop in found.dropped)]
    assert {held.method: held.judged for held in whole} == {"textfooler": "simulated", "distraction": "by definition"}


def test_without_judges_everything_stays(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "none"})
    found = judged(own, [item("textfooler", "a")], {})
    assert [held.judged for held in found.kept] == ["nobody"]
    assert not found.dropped


def test_a_limit_draws_what_is_judged(tmp_path: Path) -> None:
    own = config(tmp_path, limits={"most_judged": 3})
    items = [item(name, str(number)) for name in ("textfooler", "random", "distraction") for number in range(8)]
    asked, left = to_judge(own, items)
    assert Counter(one.method for one in asked) == {"textfooler": 3, "random": 3}
    assert Counter(one.item.method for one in left) == {"textfooler": 5, "random": 5}
    built = build(config(tmp_path, limits={"most_judged": 1}), tmp_path / "out")
    left = [one for one in built.stages.dropped("judge") if one.reason == NOT_SEEN]
    note = f"{len(left)} texts were not drawn for the judges; curated ASR and filter rates count them as dropped."
    assert note in open_benchmark(tmp_path / "out").about["notes"]
    fewer, _ = to_judge(own, items[1:])  # another item moves nothing but its own place
    assert len({*ids(asked)} - {*ids(fewer)}) <= 1


@given(st.integers(0, 40), st.dictionaries(st.integers(0, 3), st.integers(0, 9), min_size=1))
def test_apportioned_is_as_near_as_whole_numbers_can_be(total: int, weights: dict[int, int]) -> None:
    found = apportioned(total, weights)
    whole = sum(weights.values())
    if not whole:
        assert not sum(found.values())
        return
    assert sum(found.values()) == total
    exact = {label: total * weight / whole for label, weight in weights.items()}
    assert all(abs(found[label] - exact[label]) < 1 for label in weights)
    assert all(found[label] == 0 for label, weight in weights.items() if not weight)


@pytest.mark.parametrize(
    ("total", "weights", "there"),
    [
        (7, {0: 1, 1: 2}, {0: 5, 1: 3}),
        (9, {0: 3, 1: 3, 2: 1}, {0: 9, 1: 2, 2: 1}),
        (5, {0: 1, 1: 0}, {0: 3, 1: 9}),
        (3, {0: 1, 1: 1}, {0: 1, 1: 1}),
    ],
)
def test_fitting_takes_the_largest_sample_with_these_labels(
    total: int, weights: Mapping[int, int], there: Mapping[int, int]
) -> None:
    def fits(found: Mapping[int, int]) -> bool:
        return all(count <= there[label] for label, count in found.items())

    sizes = [size for size in range(total + 1) if fits(apportioned(size, weights))]
    assert fitting(total, weights, there) == apportioned(max(sizes), weights)


def test_a_label_that_a_set_does_not_have_holds_no_other_back() -> None:
    """As with questions that all have no answer: they get the share of that label."""
    assert fitting(16, {0: 18, 1: 13}, {1: 24}) == {0: 0, 1: 7}
    assert fitting(16, {0: 18, 1: 13}, {1: 3}) == {0: 0, 1: 3}
    assert fitting(16, {0: 18, 1: 13}, {}) == {0: 0, 1: 0}


def curated() -> list[Item]:
    """Of three attacks 6, 3 and 0 texts: three on average, two thirds of them of label 1."""
    first = [item("textfooler", f"s{n}", label=int(n < 4)) for n in range(6)]
    return first + [item("pruthi", f"s{n}", label=int(n < 2)) for n in range(3)]


def test_sets_are_sampled_to_the_average_with_the_same_labels(toy: Config) -> None:
    easy = [item("distraction", f"s{n}", label=n % 2) for n in range(8)]
    ours = [item("ours", f"x{n}", label=n % 2) for n in range(30)]
    found = merged(toy, [*curated(), *easy], lambda one: ReadSet(ours, "", 0))
    counts = Counter((one.method, one.label) for one in found.kept)
    assert counts == {
        ("textfooler", 1): 4, ("textfooler", 0): 2, ("pruthi", 1): 2, ("pruthi", 0): 1,
        ("distraction", 1): 2, ("distraction", 0): 1, ("ours", 1): 2, ("ours", 0): 1,
    }  # fmt: skip
    assert Counter((drop.item.method, drop.reason) for drop in found.dropped) == {
        ("distraction", NOT_DRAWN): 5,
        ("ours", NOT_DRAWN): 27,
    }
    assert found.facts["reviews"] == {
        "labels": [3, 6], "each_set": 3, "sets": ["ours"], "licences": {"ours": ""}, "other_classes": {},
    }  # fmt: skip
    order = [one.method for one in found.kept]
    assert order == sorted(order, key=["textfooler", "pruthi", "random", "distraction", "ours"].index)


def test_the_average_may_be_over_families(tmp_path: Path) -> None:
    own = config(tmp_path, average="family")
    plain = [replace(one, family="typo") if one.name == "textfooler" else one for one in own.attacks]
    own = replace(own, attacks=tuple(plain))  # textfooler and pruthi are one family, random is another
    found = merged(
        own, curated(), lambda one: ReadSet([item("ours", f"x{n}", label=n % 2) for n in range(30)], "MIT", 0)
    )
    assert found.facts["reviews"]["each_set"] == 5  # 9 / 2, halves up


def test_too_few_of_a_label_make_the_sample_smaller(toy: Config) -> None:
    ours = [item("ours", f"x{n}", label=int(n > 0)) for n in range(9)]
    found = merged(toy, [item("textfooler", f"s{n}", label=n % 2) for n in range(24)], lambda one: ReadSet(ours, "", 0))
    assert found.facts["reviews"]["each_set"] == 8
    assert Counter(one.label for one in found.kept if one.method == "ours") == {0: 1, 1: 1}
    assert {drop.reason for drop in found.dropped} == {UNMATCHED}


def test_a_text_is_there_once(toy: Config) -> None:
    first = item("textfooler", "a", text=("same",))
    again = item("pruthi", "a", text=("same",))
    other = item("pruthi", "b", text=("same",), label=1)
    ours = item("ours", "x", text=("same",))
    found = merged(toy, [first, again, other], lambda one: ReadSet([ours], "", 3))
    assert ids(found.kept) == [first.id]
    assert [(drop.item.id, drop.reason, drop.more) for drop in found.dropped] == [
        (again.id, TWICE, first.id),
        (other.id, OTHER, first.id),
        (ours.id, TWICE, first.id),
    ]


def test_the_split_is_by_benign_source(toy: Config) -> None:
    items = [item(name, f"s{n}") for n, name in itertools.product(range(20), ("textfooler", "random"))]
    items += [replace(item("ours", f"x{n}"), benign="", original=(), source="") for n in range(10)]
    found = parted(toy, items)
    assert ids(found.kept) == ids(items)
    sides: dict[str, set[str]] = {}
    for one in found.kept:
        if one.benign:
            sides.setdefault(one.benign, set()).add(one.part)
    assert all(len(parts) == 1 for parts in sides.values())
    assert sum(parts == {"dev"} for parts in sides.values()) == 4  # a fifth of twenty
    assert Counter(one.part for one in found.kept if one.method == "ours") == {"dev": 2, "test": 8}
    assert parted(toy, items[::-1]).kept == found.kept[::-1]
    other = parted(replace(toy, seed=1), items)
    assert {one.id for one in other.kept if one.part == "dev"} != {one.id for one in found.kept if one.part == "dev"}


@pytest.mark.parametrize(
    ("sources", "split", "dev"), [(1, 0.1, 0), (2, 0.1, 1), (3, 0.9, 2), (10, 0.0, 0), (15, 0.1, 2)]
)
def test_small_splits(toy: Config, sources: int, split: float, dev: int) -> None:
    found = parted(replace(toy, split=split), [item("textfooler", f"s{n}") for n in range(sources)])
    assert sum(one.part == "dev" for one in found.kept) == dev


def test_simulated_judges_follow_the_quality(toy: Config) -> None:
    items = [item("textfooler", f"s{n}") for n in range(400)]
    for quality, low, high in ((1.0, 0.92, 0.98), (0.0, 0.45, 0.55), (0.5, 0.68, 0.77)):
        found = simulated_votes(toy, items, dict.fromkeys(ids(items), quality))
        given_labels = [label for one in items for _, label in found[one.id]]
        assert len(given_labels) == 2000
        assert low < given_labels.count(0) / 2000 < high
        assert all(len({judge for judge, _ in own}) == 5 for own in found.values())
    alone = simulated_votes(toy, items[7:8], {items[7].id: 0.5})
    assert alone[items[7].id] == found[items[7].id]


def test_the_quality_of_a_text_is_that_of_the_judge_where_it_has_one(toy: Config) -> None:
    from mohs.report.judged import word_values
    from mohs.text import Text
    from mohs.text.judge import bundled

    original = "The film was good and the music was long ."
    word = item("textfooler", "a", text=(original.replace("good", "great"),), original=(original,), share_changed=0.1)
    typo = item("pruthi", "a", text=(original.replace("good", "goood"),), original=(original,), share_changed=0.1)
    rewritten = item("random", "a", similarity=0.75)
    opposite = item("random", "b", similarity=-0.2)
    [values] = word_values([(Text(original), Text(*word.text))])
    assert values is not None
    assert qualities(toy, [word, typo, rewritten, opposite]) == {
        word.id: bundled().calibration.whole(values),
        typo.id: pytest.approx(0.75),
        rewritten.id: 0.75,
        opposite.id: 0.0,
    }
