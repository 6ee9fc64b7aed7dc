"""Victims that answer by several versions of a text."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mohs
from mohs.defences import Encoding, Ensemble, Masking, Mean, RanMask, Safer, Versions, defended
from mohs.defences.versions import by_logits, by_votes, chosen
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.function import FunctionVictim
from mohs.models.victim import traits_of
from mohs.tasks.services import load_books
from mohs.text import Text
from mohs.text.stopwords import EITHER as STOPWORDS
from tests.before.cases import ROWS, victim
from tests.toys import bundled

TEXT = ("A good film with a fine story and a terrible ending .",)
BOOKS = {"vectors": bundled()["vectors"]}


def of(spec: str) -> Any:
    return defended(spec, lambda name: pocket_victim(), load_books)


@given(st.lists(st.lists(st.floats(-8, 8), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_sum_of_log_probabilities_orders_classes_as_the_sum_of_logits(logits: list[list[float]]) -> None:
    table = np.array(logits)
    shares = np.exp(table - table.max(axis=1, keepdims=True))
    found = by_logits(shares / shares.sum(axis=1, keepdims=True))
    total = table.sum(axis=0)
    assert found.sum() == pytest.approx(1)
    for one, other in product(range(3), repeat=2):
        if total[one] > total[other] + 1e-6:
            assert found[one] > found[other]


def test_votes() -> None:
    assert by_votes(np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])).tolist() == pytest.approx([2 / 3, 1 / 3])


@given(st.integers(0, 30), st.floats(0.01, 1), st.integers(0, 5))
def test_a_share_of_the_places(count: int, rate: float, seed: int) -> None:
    found = chosen(count, rate, Random(seed))
    assert len(set(found)) == len(found) == min(count, max(1, int(rate * count + 0.5)) if count else 0)
    assert all(0 <= place < count for place in found)


def test_versions_of_the_ensemble_change_a_share_of_the_words_that_are_no_stopwords() -> None:
    defence = Ensemble(n=200, rate=0.4, books=BOOKS)
    text = Text(*TEXT)
    open_words = [p for p, word in enumerate(text.words) if word.lower() not in STOPWORDS]
    most = max(1, int(0.4 * len(open_words) + 0.5))
    changed: set[int] = set()
    for version in defence.versions(TEXT, Random(1)):
        edits = text.edits(Text(*version))
        assert len(edits) <= most
        for edit in edits:
            assert edit.position in open_words
            near = [word for word, _ in BOOKS["vectors"].near([edit.old.lower()], 50, 0.5)[0]]
            assert edit.new.lower() in near
            assert edit.new.lower() not in STOPWORDS
            changed.add(edit.position)
    assert changed == {p for p in open_words if BOOKS["vectors"].near([text.words[p].lower()], 50, 0.5)[0]}


def test_many_versions_come_near_the_mean_over_the_whole_space() -> None:
    fields = ("good story",)
    few = Ensemble(n=4000, rate=1.0, k=3, cosine=0.5, books=BOOKS)
    near = {w: [o for o, _ in BOOKS["vectors"].near([w], 3, 0.5)[0]] for w in ("good", "story")}
    assert all(near.values())
    model = pocket_victim()
    everything = [(f"{one} {other}",) for one, other in product(near["good"], near["story"])]
    table = np.array(model.collect(model.launch(everything)))
    wrapped = Versions(model, few, "ensemble")
    (found,) = wrapped.collect(wrapped.launch([fields]))
    assert found == pytest.approx(by_logits(table).tolist(), abs=0.01)


def test_with_a_rate_the_mean_is_over_the_choices_of_places_too() -> None:
    few = Ensemble(n=6000, rate=0.5, k=3, cosine=0.5, books=BOOKS)
    near = {w: [o for o, _ in BOOKS["vectors"].near([w], 3, 0.5)[0]] for w in ("good", "story")}
    model = pocket_victim()
    # One of the two words is chosen, then one of its neighbours: both steps uniformly, with unequal numbers of them.
    everything = [(f"{one} story",) for one in near["good"]] + [(f"good {other}",) for other in near["story"]]
    weights = [1 / 2 / len(near["good"])] * len(near["good"]) + [1 / 2 / len(near["story"])] * len(near["story"])
    logs = np.log(np.array(model.collect(model.launch(everything))))
    exact = np.exp(np.array(weights) @ logs)
    (found,) = (wrapped := Versions(model, few, "ensemble")).collect(wrapped.launch([("good story",)]))
    assert found == pytest.approx((exact / exact.sum()).tolist(), abs=0.01)


def test_votes_come_near_the_share_of_the_whole_space() -> None:
    many = Safer(n=6000, k=3, cosine=0.5, books=BOOKS)
    model = pocket_victim()
    sets = many.sets(Text("good story"))
    table = np.array(model.collect(model.launch([(f"{a} {b}",) for a, b in product(sets[0], sets[1])])))
    (found,) = (wrapped := Versions(model, many, "safer")).collect(wrapped.launch([("good story",)]))
    assert found == pytest.approx(by_votes(table).tolist(), abs=0.02)
    hidden = RanMask(n=6000, rate=0.5)
    texts = [("[MASK] bad story so-so",), ("good bad",)]  # only the numbers of hidden words count below
    assert [hidden.hidden(len(Text(*text))) for text in texts] == [2, 1]
    ways = [("good [MASK]",), ("[MASK] bad",)]
    (shares,) = (wrapped := Versions(model, hidden, "ranmask")).collect(wrapped.launch([texts[1]]))
    assert shares == pytest.approx(by_votes(np.array(model.collect(model.launch(ways)))).tolist(), abs=0.02)


def test_batches_whose_versions_have_one_shape() -> None:
    class Shaped(FunctionVictim):
        together = 64

    inside = Shaped(lambda texts: [[0.4, 0.6] for _ in texts])
    assert traits_of(Versions(inside, Masking(n=8), "masking")).together == 8
    assert traits_of(Versions(inside, Masking(n=100), "masking")).together == 1
    assert traits_of(Versions(inside, Encoding(books=BOOKS), "encoding")).together == 64
    assert traits_of(Versions(Versions(inside, Masking(n=8), "m"), Masking(n=4), "m")).together == 2


def test_one_version_of_a_victim_with_labels_gives_labels() -> None:
    model = FunctionVictim(lambda texts: [int("good" in t) for t in texts], output="labels", labels=("a", "b"))
    assert traits_of(Versions(model, Encoding(books=BOOKS), "encoding")).hard
    assert not traits_of(Versions(model, Safer(books=BOOKS), "safer")).hard


def test_an_answer_depends_on_text_and_key_alone() -> None:
    one = of("ensemble(pocket, n=3)")
    texts = [(text,) for text, _ in ROWS[:6]]
    together = {f: s for b in one.plan(texts) for f, s in zip(b, one.collect(one.launch(b)), strict=True)}
    for text in texts:
        assert one.collect(one.launch([text])) == [together[text]]
    assert of("ensemble(pocket, n=3)").fingerprint == one.fingerprint
    others = [of(f"ensemble(pocket, n=3, key={key})") for key in (1, 2, 3)]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert any(other.collect(other.launch([TEXT])) != one.collect(one.launch([TEXT])) for other in others)
    assert one.with_key(1).fingerprint == others[0].fingerprint


def test_masks() -> None:
    for defence, hidden in ((Masking(n=5, rate=0.2), 2), (RanMask(n=5, rate=0.7), 8)):
        for (version,) in defence.versions(TEXT, Random(0)):
            assert version.split().count("[MASK]") == hidden, defence
    assert RanMask(rate=0.99).hidden(3) == 2  # never all
    assert Masking().versions(("",), Random(0)) == [("",)] * 8


def test_encoding_reads_words_of_one_cluster_alike() -> None:
    defence = Encoding(books=BOOKS)
    clusters: dict[str, list[str]] = {}
    for word in BOOKS["vectors"].words[:3000]:
        clusters.setdefault(defence.code(word), []).append(word)
    several = [words for code, words in clusters.items() if len(words) > 1][:20]
    assert several
    for words in several:
        assert len({tuple(defence.versions((f"the {word} was it",), Random(0))) for word in words}) == 1
    for code in clusters:
        assert defence.code(code) == code


def test_safer_draws_words_from_their_sets() -> None:
    defence = Safer(n=50, cosine=0.5, books=BOOKS)
    sets = defence.sets(Text(*TEXT))
    seen: dict[int, set[str]] = {p: set() for p in sets}
    for version in defence.versions(TEXT, Random(0)):
        words = Text(*version).words
        for p in sets:
            seen[p].add(words[p])
            assert words[p] in sets[p]
    assert all(len(words) > 1 for words in seen.values())


def test_a_mean_of_victims() -> None:
    one, other = pocket_victim(), of("masking(pocket, n=2, rate=0.5)")
    both = Mean(one, other)
    texts: list[tuple[str, ...]] = [(text,) for text, _ in ROWS[:4]]
    expected = (np.array(one.collect(one.launch(texts))) + np.array(other.collect(other.launch(texts)))) / 2
    assert both.collect(both.launch(texts)) == [pytest.approx(row) for row in expected.tolist()]
    assert traits_of(both).exact
    assert traits_of(both).inside is None


@pytest.mark.parametrize("spec", ["ensemble(pocket, n=2)", "safer(pocket, n=5)", "mean(pocket, masking(pocket, n=2))"])
def test_records_do_not_depend_on_the_schedule(spec: str) -> None:
    found = []
    for at_once in (1, 64):
        with mohs.attack(spec, ROWS, "textfooler", at_once=at_once, **bundled()) as run:
            found.append([record.to_json() for record in run.records()])
    assert found[0] == found[1]


def test_a_defence_has_no_white_box() -> None:
    with mohs.radius("ensemble(pocket, n=2)", ROWS[:2], max_r=1) as run:
        assert {r.finding.by for r in run.records() if str(r.outcome) == "measured"} <= {"enumeration"}
    with pytest.raises(BadInput, match="gives no gradients"):
        mohs.attack("ensemble(pocket)", ROWS, "hotflip")


def test_labels_alone_can_be_smoothed_but_not_added_up() -> None:
    model = FunctionVictim(lambda texts: [int("good" in t) for t in texts], output="labels", labels=("a", "b"))
    with pytest.raises(BadInput, match=r"adds up scores, but .* gives labels only; use safer"):
        Versions(model, Ensemble(books=BOOKS), "ensemble")
    smoothed = Versions(model, Safer(n=9, cosine=0.5, books=BOOKS), "safer")
    ((no, yes),) = smoothed.collect(smoothed.launch([("a good day",)]))
    assert no + yes == pytest.approx(1)


@pytest.mark.parametrize("defence", [Ensemble(), Encoding(), Safer()])
def test_a_defence_without_its_books_is_refused_at_once(defence: Any) -> None:
    with pytest.raises(BadInput, match="mine asks vectors, and none is given; give books="):
        Versions(victim(), defence, "mine")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ensemble(pocket", "has no closing bracket"),
        ("ensemble(pocket))", "do not match"),
        ("ensemble()", "stands around one victim, not 0"),
        ("ensemble(pocket, pocket)", "stands around one victim, not 2"),
        ("ensemble(pocket, m=3)", "has no setting 'm'; it takes n, rate, words, k, cosine, key, vectors, wordnet"),
        ("ensemble(pocket, n=3, n=4)", "sets n twice"),
        ("ensemble(pocket, n=x)", "n=x, which does not fit; give a whole number"),
        ("ensemble(pocket, n=0)", "at least one version, not n=0"),
        ("ensemble(pocket, rate=2)", "rate=2.0 must be a share"),
        ("ensemble(pocket, words=horoscope)", "neighbours or wordnet, not from 'horoscope'"),
        ("ensemble(pocket, wordnet=here)", "does not ask wordnet"),
        ("masking(pocket, rate=0)", "rate=0.0 must be a share"),
        ("ranmask(pocket, rate=1)", "rate=1.0 must be a share"),
        ("mean(pocket)", "at least two victims"),
        ("mean(pocket, n=2)", "takes victims only, but 'n' is a setting"),
        ("ensemble(http://ann:pw@host/", "The victim 'ensemble(http://***@host/' has no closing bracket"),
        ("ensemble(http://ann:pw@host/))", "The brackets of the victim 'ensemble(http://***@host/))' do not match"),
        ("ensemble(http://ann:pw@host/, n=3, n=4)", "The victim 'ensemble(http://***@host/, n=3, n=4)' sets n twice"),
    ],
)
def test_what_is_wrong_is_said(spec: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        of(spec)
    assert message in str(error.value)


def test_a_detector_stands_outside() -> None:
    rejecting = FunctionVictim(lambda texts: [[0.2, 0.8, 0] for _ in texts], rejects=True)
    with pytest.raises(BadInput, match="put the detector outside"):
        Versions(rejecting, Masking(), "masking")
    with pytest.raises(BadInput, match="put the detector outside"):
        Mean(rejecting, victim())
