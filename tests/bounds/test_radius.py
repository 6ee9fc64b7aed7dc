"""Prover, closed form, certificates and the share, against brute force."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import mohs
from mohs.bounds import Certificate, Checked, Points, Prover, Share, check, read_certificates
from mohs.bounds.additive import worst_of
from mohs.bounds.points import TIE
from mohs.bounds.prover import margin_of
from mohs.errors import BadInput
from mohs.models.bag import BagVictim, pocket_victim
from mohs.models.function import FunctionVictim
from mohs.records import Outcome
from mohs.space import Space
from mohs.text import Text
from tests.second_order.toys import chances
from tests.toys import Instant, Table, WordCount, now

WORDS = "abcdefg"
spaces = st.lists(
    st.tuples(st.sampled_from(WORDS), st.lists(st.sampled_from(WORDS), max_size=3, unique=True)), min_size=1, max_size=5
)


def space_of(rows: list[tuple[str, list[str]]]) -> Space:
    choices = {i: tuple(w for w in words if w != own) for i, (own, words) in enumerate(rows)}
    return Space(Text(" ".join(own for own, _ in rows)), {i: words for i, words in choices.items() if words})


def texts_at(space: Space, r: int) -> list[Text]:
    """Every text with exactly r substitutions, the long way round."""
    words = [(space.text.words[i], *space.choices.get(i, ())) for i in range(len(space.text))]
    found = [Text(" ".join(each)) for each in product(*words)]
    return [text for text in found if len(space.text.changes(text)) == r]


def points_of(space: Space, victim: Any, judge: Any = None) -> Points:
    return Points(space, Instant(victim), Instant(victim if judge is None else judge))


def true_radius(space: Space, label: int, victim: Any, max_r: int) -> tuple[int, bool]:
    """How many substitutions change nothing, and whether one more does (within max_r); a tie ends it."""
    for r in range(1, max_r + 1):
        margins = [margin_of(victim(text.fields), label) for text in texts_at(space, r)]
        if min(margins) <= TIE:
            return r - 1, min(margins) < -TIE
    return max_r, False


def test_the_toy_has_all_kinds_of_radii() -> None:
    space = space_of([("a", ["b", "c"]), ("b", ["c"]), ("c", ["d", "e"])])
    kinds = {(true_radius(space, 0, chances(2, f"{salt}"), 3)) for salt in range(300)}
    assert kinds == {(0, True), (1, True), (2, True), (0, False), (1, False), (2, False), (3, False)}


@settings(max_examples=200, deadline=None)
@given(rows=spaces, salt=st.text("xyz", max_size=3), classes=st.integers(2, 4), max_r=st.integers(0, 6))
def test_the_prover_is_right(rows: list[Any], salt: str, classes: int, max_r: int) -> None:
    space, victim = space_of(rows), chances(classes, salt)
    scores = victim(space.text.fields)
    label = max(range(classes), key=lambda i: scores[i])
    proof = now(Prover(max_r)(points_of(space, victim), label))
    last = min(max_r, len(space.choices))
    radius, more = true_radius(space, label, victim, last)
    assert proof.certified == radius
    assert (proof.found is not None) == more
    if proof.found is not None:
        text = space.text.replace_all(proof.found)
        assert len(space.text.changes(text)) == radius + 1
        assert margin_of(victim(text.fields), label) < 0
    for level in proof.levels:
        margins = [margin_of(victim(text.fields), label) for text in texts_at(space, level.r)]
        assert level.size == len(margins)
        assert level.margin == pytest.approx(min(margins), abs=1e-6)
        assert margin_of(victim(space.text.replace_all(level.where).fields), label) == pytest.approx(min(margins))


def test_ties_are_not_certified() -> None:
    space = space_of([("a", ["b"]), ("c", ["d"])])

    def victim(fields: tuple[str, ...]) -> tuple[float, float]:
        return (0.5, 0.5) if fields == ("b c",) else (0.6, 0.4)

    proof = now(Prover(2)(points_of(space, victim), 0))
    assert (proof.certified, proof.found, proof.stopped) == (0, None, "ties")


def test_near_ties_are_the_judges() -> None:
    space = space_of([("a", ["b"])])
    coarse = lambda fields: (0.500002, 0.499998)  # noqa: E731
    fine = lambda fields: (0.499998, 0.500002)  # noqa: E731
    for off, stopped in ((0.0, ""), (0.01, "batches")):  # the first are within what 32 bits can tell
        far = lambda fields: (0.5000 - off, 0.5000 + off)  # noqa: B023, E731
        victim = Victim32(fine if not off else far)
        points = Points(space, Instant(coarse), Instant(victim.answer), victim)
        proof = now(Prover(1)(points, 0))
        assert (proof.found, proof.stopped) == ({0: "b"}, stopped)
    wide = Victim32(lambda fields: (0.503, 0.497))
    assert now(Prover(1)(Points(space, Instant(wide.answer), Instant(wide.answer), wide), 0)).certified == 1
    proof = now(Prover(1)(Points(space, Instant(fine), Instant(wide.answer), wide), 0))
    assert (proof.certified, proof.stopped) == (0, "batches")


def test_the_order_of_positions() -> None:
    space = space_of([("a", ["b"]), ("c", ["d"]), ("e", ["f"])])
    asked: list[str] = []

    def victim(fields: tuple[str, ...]) -> tuple[float, float]:
        asked.append(fields[0])
        return (0.6, 0.4) if fields[0][-1] == "f" else (0.9, 0.1)

    now(Prover(2)(points_of(space, victim), 0, order=[2, 0, 1]))
    assert list(dict.fromkeys(asked)) == [
        "a c f",
        "b c e",
        "a d e",
        "b c f",
        "a d f",
        "b d e",
    ]  # then by how near one came: 2, 0, 1


def test_what_is_found_is_the_judges() -> None:
    space = space_of([("a", ["b", "c", "d"]), ("b", ["c"])])
    wrong = lambda fields: (0.1, 0.9) if "d" not in fields[0] else (0.2, 0.8)  # noqa: E731
    right = lambda fields: (0.9, 0.1)  # noqa: E731
    proof = now(Prover(2)(points_of(space, wrong, right), 0))
    assert (proof.certified, proof.found, proof.stopped) == (0, None, "batches")  # one of the two is wrong
    some = lambda fields: (0.1, 0.9) if fields == ("d b",) else (0.9, 0.1)  # noqa: E731
    assert now(Prover(2)(points_of(space, wrong, some), 0)).found == {0: "d"}


def test_what_32_bits_cannot_tell_is_not_certified() -> None:
    space = space_of([("a", ["b"])])
    victim = Victim32(lambda fields: (0.50002, 0.49998) if fields == ("b",) else (0.9, 0.1))
    assert now(Prover(1)(points_of(space, victim.answer), 0)).certified == 1
    judge = Instant(victim.answer)
    proof = now(Prover(1)(Points(space, judge, judge, victim), 0))
    assert (proof.certified, proof.found, proof.stopped) == (0, None, "ties")


class Victim32:
    """As much of a victim as points look at."""

    tolerance = 1e-4

    def __init__(self, answer: Any, verdict: Any = None) -> None:
        self.answer = answer
        self.verdict = self if verdict is None else verdict


def test_coarse_numbers_are_believed_no_farther_than_they_were_seen_to_be_right() -> None:
    space = space_of([("a", ["b", "c"]), ("d", ["e"])])

    def fine(fields: tuple[str, ...]) -> tuple[float, float]:
        return (0.1, 0.9) if fields == ("b e",) else (0.9, 0.1)

    def coarse(off: float) -> Any:
        return lambda fields: (0.9 - (off if "c" in fields[0] else 0.0), 0.1 + (off if "c" in fields[0] else 0.0))

    for off, found in ((0.0, None), (0.25, {0: "b", 1: "e"})):  # the second is far apart at level 1 already
        victim, judge = Instant(coarse(off)), Instant(fine)
        points = Points(space, victim, judge, Victim32(coarse(off), Victim32(fine)))
        assert now(Prover(2)(points, 0)).found == found


def test_what_is_no_number_is_an_error() -> None:
    class Odd(WordCount):
        def scores(self, fields: tuple[str, ...]) -> tuple[float, float]:
            return (math.nan, math.nan) if "x" in fields[0] else (0.1, 0.9)

    run = mohs.radius(Odd({}), [("a b", 1), ("b b", 1)], source=Table((("a", ("x",)),)), stopwords="none")
    assert [record.outcome for record in run.records()] == [Outcome.ERROR, Outcome.MEASURED]
    assert [record.queries for record in run.records()] == [2, 1]  # what was asked before it failed counts


def test_nothing_is_proven_of_a_victim_that_does_not_repeat_itself() -> None:
    count = iter(range(10**6))

    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.9 - 0.01 * (next(count) % 3), 0.1 + 0.01 * (next(count) % 3)] for _ in texts]

    def steady(texts: list[str]) -> list[list[float]]:
        return [[0.9, 0.1] for _ in texts]

    for victim, lower, stopped in ((predict, 0, "unsteady"), (steady, 1, "")):
        victim_ = FunctionVictim(victim, output="logits")
        run = mohs.radius(victim_, [("a b", 0)], source=Table((("a", ("x",)),)), stopwords="none", max_r=1)
        (row,) = run.radii()
        assert (row["lower"], row["stopped"]) == (lower, stopped)
        assert ("certificate" in row) == bool(lower)


def test_a_word_is_no_change_of_itself() -> None:
    source = Plainly((("a", ("a", "x")), ("b", ("B", "b"))))
    run = mohs.radius(WordCount({"b": 1.0}), [("a b", 1)], source=source, stopwords="none", max_r=2)
    assert run.radii()[0]["sizes"] == [2, 1]


@dataclass(frozen=True)
class Plainly:
    """A source that offers whatever it is told."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Any, ask: Any) -> list[dict[str, str]]:
        return [dict.fromkeys(dict(self.rows)[text.words[position]], "plainly") for position in positions]


def test_limits() -> None:
    space = space_of([("a", ["b", "c"]), ("c", ["d", "e"])])
    victim = lambda fields: (0.9, 0.1)  # noqa: E731
    proof = now(Prover(2, most=7)(points_of(space, victim), 0))
    assert (proof.certified, proof.stopped) == (1, "texts")  # 4 texts, and then 4 more
    with pytest.raises(BadInput):
        Prover(-1)


scores = st.integers(-40, 40).map(lambda i: i / 8)


@settings(max_examples=200, deadline=None)
@given(rows=spaces, weights=st.lists(scores, min_size=7, max_size=7), bias=scores, data=st.data())
def test_the_closed_form_is_right(rows: list[Any], weights: list[float], bias: float, data: st.DataObject) -> None:
    bag = BagVictim("bag", dict(zip(WORDS, weights, strict=True)), bias, ("n", "p"))
    space = space_of(rows)

    def victim(fields: tuple[str, ...]) -> tuple[float, ...]:
        return bag.collect(bag.launch([fields]))[0]

    label = data.draw(st.integers(0, 1))
    worst = worst_of(bag, space, label)
    assert worst is not None
    for r in range(len(space.choices) + 1):
        true = min(margin_of(victim(t.fields), label) for j in range(r + 1) for t in texts_at(space, j))
        found = margin_of(victim(space.text.replace_all(worst.edits(r)).fields), label)
        assert found == pytest.approx(true, abs=1e-12)


def test_the_closed_form_knows_where_it_does_not_hold() -> None:
    bag = pocket_victim()
    assert worst_of(bag, Space(Text("a good film"), {1: ("very fine",)}), 1) is None  # another number of words
    assert worst_of(object(), Space(Text("a good film"), {1: ("fine",)}), 1) is None


def test_the_pocket_victim_is_certified_exactly_and_enumeration_agrees() -> None:
    run = mohs.radius("pocket", "pocket", n=24)
    rows = {row["example"]: row for row in run.radii()}
    assert all(row["exact"] and row["by"] == "closed form" for row in rows.values())
    bag = pocket_victim()

    class Plain:
        """The same victim, whose inside nobody knows."""

        name, fingerprint, in_flight, hard, exact = "plain", "plain", 1, False, True
        labels = bag.labels

        def __getattr__(self, name: str) -> Any:
            return getattr(bag, name)

    again = mohs.radius(Plain(), "pocket", n=24, max_r=3)
    for row in again.radii():
        true = rows[row["example"]]
        assert row["by"] == "enumeration"
        assert row["lower"] == min(true["lower"], 3)
        assert row["upper"] == (true["upper"] if true["upper"] is not None and true["upper"] <= 3 else None)


def test_attacks_bound_from_above() -> None:
    run = mohs.radius("pocket", "pocket", n=6, attacks=["random", "beam"], tagger="pocket")
    for row in run.radii():
        for edits in row["attacks"].values():
            assert edits is None or edits >= row["upper"] > row["lower"]


def test_certificates_can_be_checked(tmp_path: Path) -> None:
    victim = chances(2, "")
    table = Table(tuple((word, tuple(WORDS.replace(word, "")[:3])) for word in WORDS))

    def predict(texts: list[str]) -> list[list[float]]:
        return [list(victim((text,))) for text in texts]

    rows = [(" ".join(words), 0) for words in ("abc", "bcd", "cde", "def")]
    model = FunctionVictim(predict)
    run = mohs.radius(model, rows, source=table, stopwords="none", max_r=2, out=tmp_path / "run")
    with run:
        file = run.certificates(tmp_path / "c.jsonl")
        certified = [row for row in run.radii() if row["lower"]]
    assert certified
    found = mohs.verify(file, model)
    assert all(checked.sound and checked.whole and checked.same for _, checked in found)
    assert [certificate.radius for certificate, _ in found] == [row["lower"] for row in certified]
    assert all(checked.sound for _, checked in mohs.verify(file, model, sample=2))
    certificate = read_certificates(file)[0]
    row = certificate.to_json()
    assert Certificate.from_json(json.loads(json.dumps(row))) == certificate

    def checked_by(certificate: Certificate, scores: tuple[float, float]) -> Checked:
        judge = Instant(lambda fields: scores)
        return now(check(certificate, model, lambda space: Points(space, judge, judge, model), judge, None))

    other = checked_by(certificate, (0.4, 0.6))
    assert not other.sound
    assert "The label does not hold: " in other.why
    (tmp_path / "odd.jsonl").write_text(
        json.dumps({**row, "example": "\u2028 \x85"}, ensure_ascii=False) + "\n", "utf-8"
    )
    assert read_certificates(tmp_path / "odd.jsonl")[0].example == "\u2028 \x85"
    row["levels"][0]["size"] += 1
    assert not checked_by(Certificate.from_json(row), (0.9, 0.1)).sound
    model.fingerprint = "another"
    assert "is not the model of this certificate" in mohs.verify(file, model)[0][1].why
    with pytest.raises(BadInput, match="no certificate for the example 'x'"):
        mohs.verify(file, model, example="x")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(BadInput, match="not a certificate of mohs"):
        mohs.verify(tmp_path / "bad.json", model)


FORGED: dict[str, Any] = {
    "another level twice": lambda row: row["levels"][1].update(r=1, size=row["levels"][0]["size"]),
    "a level left out": lambda row: row["levels"].pop(),
    "no positions": lambda row: row.update(choices=[]),
    "radius 0": lambda row: row.update(radius=0),
    "radius -1": lambda row: row.update(radius=-1),
    "a radius that is no number": lambda row: row.update(radius="2"),
    "a label that is no number": lambda row: row.update(label="0"),
    "a label that is not there": lambda row: row.update(label=7),
    "another label": lambda row: row.update(label=1),
    "a place beyond the text": lambda row: row["choices"].append([9, ["x"]]),
    "a word for itself": lambda row: row["choices"][0][1].append(row["text"][0].split()[row["choices"][0][0]]),
    "a word twice": lambda row: row["choices"][0][1].append(row["choices"][0][1][0]),
    "one word less": lambda row: row["choices"][0][1].pop(),
    "another form": lambda row: row.update(by="magic"),
    "the closed form": lambda row: row.update(by="closed form"),
    "too many excluded": lambda row: row["levels"][0].update(pruned=99),
    "no tolerance": lambda row: row.update(tolerance=-1.0),
    "a position twice": lambda row: row["choices"].append([row["choices"][0][0], ["y"]]),
    "half a position": lambda row: row["choices"][0].__setitem__(0, 0.5),
    "a position that is true": lambda row: row["choices"][1].__setitem__(0, True),
    "a whole number with a point": lambda row: row.update(radius=2.0),
    "a field nobody knows": lambda row: row.update(approved=True),
    "a field of a level nobody knows": lambda row: row["levels"][0].update(approved=True),
    "no victim": lambda row: row.pop("victim"),
    "no digest": lambda row: row["levels"][0].pop("digest"),
    "a text of letters": lambda row: row.update(text=row["text"][0]),
    "words that are one text": lambda row: row["choices"][0].__setitem__(1, "xy"),
    "a name that is a number": lambda row: row.update(victim=7),
    "ties": lambda row: row["levels"][0].update(ties=1),
    "a bound where none was": lambda row: row["levels"][0].update(pruned=1),
    "a smallest margin elsewhere": lambda row: row["levels"][0].update(where=[[0, "q"]]),
    "a smallest margin at two words": lambda row: row["levels"][0].update(where=[[0, "x"], [1, "x"]]),
    "a digest of another length": lambda row: row["levels"][0].update(digest="0"),
    "a margin above one": lambda row: row["levels"][0].update(margin=7),
    "three texts": lambda row: row.update(text=[*row["text"], "a", "b"]),
    "a list": lambda row: row.update(choices={}),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_certificates_do_not_hold(forge: Any, tmp_path: Path) -> None:
    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.1, 0.9] if text.count("x") > 2 else [0.9, 0.1] for text in texts]

    model = FunctionVictim(predict)
    source = Table(tuple((word, ("x", "y")) for word in "abc"))
    with mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=2, out=tmp_path / "run") as run:
        row = json.loads(run.certificates(tmp_path / "c.jsonl").read_text("utf-8"))
    assert row["radius"] == 2
    assert holds(tmp_path / "c.jsonl", model)
    forge(row)
    (tmp_path / "f.jsonl").write_text(json.dumps(row), "utf-8")
    assert not holds(tmp_path / "f.jsonl", model)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('{"radius": 1, "radius": 2}', "'radius' stands there twice"),
        ('{"format": {"a": 1, "a": 1}}', "'a' stands there twice"),
        ('{"tolerance": Infinity}', "Infinity is not a finite number"),
        ('{"tolerance": -Infinity}', "-Infinity is not a finite number"),
        ('{"tolerance": NaN}', "NaN is not a finite number"),
        ('{"tolerance": 1e999}', "1e999 is not a finite number"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"radius": ' + "9" * 5000 + "}", "Exceeds the limit"),
        ("[]", "has no 'format'"),
        ("7", "has no 'format'"),
        ('{"format": "mohs-certificate-1"}', "has the format 'mohs-certificate-1', but must have"),
        ('{"format": "mohs-certificate-2"}', "it has no 'victim'"),
    ],
)
def test_what_is_not_a_certificate_is_refused_in_one_sentence(written: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(written, "utf-8")
    with pytest.raises(BadInput) as refused:
        mohs.verify(tmp_path / "c.json", "pocket")
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


def holds(file: Path, model: Any) -> bool:
    try:
        ((_, checked),) = mohs.verify(file, model)
    except BadInput:
        return False
    return checked.sound


def test_other_numbers_in_a_certificate_are_seen(tmp_path: Path) -> None:
    model = FunctionVictim(lambda texts: [[0.9, 0.1] for _ in texts])
    source = Table((("a", ("x", "y")),))
    with mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=1, out=tmp_path / "run") as run:
        row = json.loads(run.certificates(tmp_path / "c.jsonl").read_text("utf-8"))
    for change in ({}, {"margin": 0.99}, {"digest": "0" * 32}):
        (tmp_path / "f.jsonl").write_text(json.dumps({**row, "levels": [row["levels"][0] | change]}), "utf-8")
        ((_, checked),) = mohs.verify(tmp_path / "f.jsonl", model)
        assert (checked.sound, checked.same) == ((False, None) if "margin" in change else (True, not change))
    with pytest.raises(BadInput, match="sample is 0"):
        mohs.verify(tmp_path / "f.jsonl", model, sample=0)


def test_every_field_of_a_closed_form_is_recomputed(tmp_path: Path) -> None:
    with mohs.radius("pocket", "pocket", n=3, out=tmp_path / "run") as run:
        rows = [json.loads(line) for line in run.certificates(tmp_path / "c.jsonl").read_text("utf-8").splitlines()]
    row = rows[0]
    level = row["levels"][0]
    assert row["by"] == "closed form"
    assert level["size"] == sum(len(words) for _, words in row["choices"])
    assert row["space"]["source"] == "neighbours:k=5,min_cosine=0.5"
    assert row["space"]["stopwords"][0] == "english"
    (place, word), other = level["where"][0], row["choices"][-1]
    worst = [[other[0], other[1][0]]] if other[0] != place else [[place, next(w for w in other[1] if w != word)]]
    changes = [{"size": 1}, {"margin": level["margin"] / 2}, {"where": worst}, {"where": []}]
    for change in [{}, *changes, {"digest": "0" * 32}, {"ties": 1}, {"pruned": 1}]:
        told = {**row, "levels": [level | change, *row["levels"][1:]]}
        (tmp_path / "f.json").write_text(json.dumps(told), "utf-8")
        assert holds(tmp_path / "f.json", "pocket") == (not change), change
    for name, value in (("tolerance", 1e-4), ("fingerprint", "x")):
        (tmp_path / "f.json").write_text(json.dumps({**row, name: value}), "utf-8")
        assert not holds(tmp_path / "f.json", "pocket")
    (tmp_path / "f.json").write_text(json.dumps({**row, "victim": "another"}), "utf-8")
    ((_, checked),) = mohs.verify(tmp_path / "f.json", "pocket")
    assert checked.notes == ("The certificate calls the victim 'another', but it is 'pocket'.",)


def test_every_field_of_an_enumeration_is_recomputed(tmp_path: Path) -> None:
    model = FunctionVictim(lambda texts: [[0.9 - 0.1 * text.count("x"), 0.1 + 0.1 * text.count("x")] for text in texts])
    source = Table((("a", ("x", "y")), ("b", ("z",))))
    with mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=1, out=tmp_path / "run") as run:
        row = json.loads(run.certificates(tmp_path / "c.jsonl").read_text("utf-8"))
    (level,) = row["levels"]
    assert level["where"] == [[0, "x"]]
    for change in [{}, {"where": [[0, "y"]]}, {"where": []}, {"margin": 0.7}, {"margin": 0.1}, {"size": 2}]:
        (tmp_path / "f.json").write_text(json.dumps({**row, "levels": [level | change]}), "utf-8")
        assert holds(tmp_path / "f.json", model) == (not change), change
    (tmp_path / "f.json").write_text(json.dumps({**row, "tolerance": 1e-3}), "utf-8")
    assert not holds(tmp_path / "f.json", model)
    space: dict[str, Any] = {"size": 9, "fields": [1], "source": 7, "resources": [], "more": 1}
    for name, value in space.items():
        (tmp_path / "f.json").write_text(json.dumps({**row, "space": {**row["space"], name: value}}), "utf-8")
        with pytest.raises(BadInput, match="not a valid certificate"):
            mohs.verify(tmp_path / "f.json", model)
    with pytest.raises(BadInput, match="The space of example 0 cannot be built again"):
        mohs.verify(tmp_path / "c.jsonl", model, rebuild=True)


def test_a_space_that_was_shrunk_is_seen(tmp_path: Path) -> None:
    bag = pocket_victim()
    model = FunctionVictim(lambda texts: bag.collect(bag.launch([(text,) for text in texts])), name="plain")
    given: dict[str, Any] = {"constraints": ["word-cosine>=0.55"], "max_r": 1}
    rows = [("A wonderful and moving story with a great cast, see https://a.b/wonderful", 1)]
    with mohs.radius(model, rows, out=tmp_path / "run", **given) as run:
        row = json.loads(run.certificates(tmp_path / "c.jsonl").read_text("utf-8"))
    ((_, checked),) = mohs.verify(tmp_path / "c.jsonl", model, rebuild=True)
    assert checked.sound, checked.why
    place, words = next(choice for choice in row["choices"] if len(choice[1]) > 1)
    with mohs.radius(model, rows, source=Table(((rows[0][0].split()[place].lower(), (words[0],)),)), max_r=1) as run:
        small = run.radii()[0]["certificate"]
    forged = {**small, "space": {**row["space"], "size": small["space"]["size"]}}
    (tmp_path / "f.json").write_text(json.dumps(forged), "utf-8")
    assert holds(tmp_path / "f.json", model)
    ((_, checked),) = mohs.verify(tmp_path / "f.json", model, rebuild=True)
    assert not checked.sound
    assert "Its space is not the one that its source gives: at position " in checked.why
    other = {**row, "space": {**row["space"], "resources": {"vectors": [None, "pocket 0"]}}}
    (tmp_path / "f.json").write_text(json.dumps(other), "utf-8")
    assert "its vectors are pocket 0, but here" in mohs.verify(tmp_path / "f.json", model, rebuild=True)[0][1].why


def test_a_certificate_runs_no_code(tmp_path: Path) -> None:
    model = FunctionVictim(lambda texts: [[0.9, 0.1] for _ in texts])
    source = Table((("a", ("x", "y")),))
    with mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=1) as run:
        row = run.radii()[0]["certificate"]
    (tmp_path / "own.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\nclass Own: pass\n", "utf-8")
    for named in ({"source": f"{tmp_path}/own.py:Own"}, {"constraints": [f"{tmp_path}/own.py:Own:a=1>=0"]}):
        forged = {**row, "space": {**row["space"], "source": "neighbours", **named}}
        (tmp_path / "f.json").write_text(json.dumps(forged), "utf-8")
        with pytest.raises(
            BadInput, match=r"of example 0 names code to run \(.*own\.py:Own.*add --trust-code, or leave"
        ):
            mohs.verify(tmp_path / "f.json", model, rebuild=True)
        assert not (tmp_path / "ran").exists()
    with pytest.raises(BadInput, match=r"own\.py:Own is not a measure"):
        mohs.verify(tmp_path / "f.json", model, rebuild=True, trust_code=True)
    assert (tmp_path / "ran").exists()


def test_an_original_near_a_tie_is_treated_alike() -> None:
    model = FunctionVictim(lambda texts: [[0.50002, 0.49998] if text == "a b" else [0.9, 0.1] for text in texts])
    with mohs.radius(model, [("a b", 0)], source=Table((("a", ("x",)),)), stopwords="none", share=1) as run:
        (record,) = run.records()
    assert (record.outcome, record.near_tie) == (Outcome.SKIPPED, True)  # verify would not accept its certificate
    space, judge = space_of([("a", ["x"]), ("b", [])]), Instant(lambda fields: model.collect([fields])[0])
    found = now(Share("1")(Points(space, judge, judge, model), 0, 2, "seed"))
    assert (found.hold, found.n) == (1, 2)  # the original does not count as one that keeps its label


def test_a_sample_has_different_texts_and_each_seed_its_own(tmp_path: Path) -> None:
    asked: list[str] = []

    def predict(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[0.9, 0.1] for _ in texts]

    model = FunctionVictim(predict)
    source = Table(tuple((word, tuple("xyzuvw")) for word in "abcde"))
    mohs.radius(model, [("a b c d e", 0)], source=source, stopwords="none", max_r=1, out=tmp_path / "run").close()

    def drawn(sample: int, seed: int) -> set[str]:
        asked.clear()
        ((certificate, checked),) = mohs.verify(tmp_path / "run", model, sample=sample, seed=seed)
        (where,) = (str(certificate.space.text.replace_all(level.where)) for level in certificate.levels)
        texts = {text for text in asked if text != "a b c d e"}
        beside = asked.count(where) == 2  # as the first text of all, and because the margin is smallest there
        assert len(texts) == checked.asked + beside
        return texts - ({where} if beside else set())

    assert len(drawn(9, 0)) == 9
    assert drawn(9, 0) == drawn(9, 0) != drawn(9, 1)
    assert len(drawn(29, 0)) == 30  # all of them


def test_a_sample_that_covers_everything_is_whole(tmp_path: Path) -> None:
    model = FunctionVictim(lambda texts: [[0.9, 0.1] for _ in texts])
    source = Table(tuple((word, tuple("xyzuvw")) for word in "abc"))
    given: dict[str, Any] = {"source": source, "stopwords": "none", "max_r": 3}
    mohs.radius(model, [("a b c", 0)], out=tmp_path / "run", **given).close()  # 18, 108 and 216 texts
    for sample, whole, asked in (
        (158, True, 342),
        (109, True, 342),
        (108, False, 234),
        (10, False, 38),
        (8, False, 24),
    ):
        ((_, checked),) = mohs.verify(tmp_path / "run", model, sample=sample)
        assert (checked.sound, checked.whole, checked.same is True, checked.asked) == (True, whole, whole, asked)
        assert checked.why == f"The label holds in {'all' if whole else 'a sample of'} {asked} texts."


def test_the_original_is_asked_too(tmp_path: Path) -> None:
    answers = {"a": 0.9, "x": 0.9}
    model = FunctionVictim(lambda texts: [[answers[text], 1 - answers[text]] for text in texts])
    source = Table((("a", ("x",)),))
    model_probe = {"It was a good day.": 0.9}
    answers |= model_probe
    with mohs.radius(model, [("a", 0)], source=source, stopwords="none", max_r=1, out=tmp_path / "run") as run:
        file = run.certificates(tmp_path / "c.jsonl")
    answers["a"] = 0.2
    assert not mohs.verify(file, model)[0][1].sound


@settings(max_examples=200, deadline=None)
@given(rows=spaces, salt=st.text("xyz", max_size=3), r=st.integers(0, 5))
def test_a_small_space_is_counted(rows: list[Any], salt: str, r: int) -> None:
    space, victim = space_of(rows), chances(2, salt)
    found = now(Share(str(r))(points_of(space, victim), 0, len(rows), "seed"))
    texts = [text for j in range(r + 1) for text in texts_at(space, j)]
    held = sum(margin_of(victim(text.fields), 0) > TIE for text in texts)
    assert (found.method, found.n, found.hold) == ("counted", len(texts), held)
    assert found.value == float(Fraction(held, len(texts)))


@pytest.mark.parametrize("method", ["clopper-pearson", "hoeffding", "sequential"])
def test_a_large_space_is_sampled(method: str) -> None:
    space = Space(Text(" ".join("a" * 12)), dict.fromkeys(range(12), ("b", "c", "d")))

    def victim(fields: tuple[str, ...]) -> tuple[float, float]:
        return (0.9, 0.1) if fields[0].count("b") < 3 else (0.1, 0.9)

    share = Share("25%", method=method)
    found = now(share(points_of(space, victim), 0, 12, "seed"))
    true = 1 - 220 / (1 + 36 + 66 * 9 + 220 * 27)  # of three changes, all to b
    assert found.r == 3
    assert found.low <= true <= found.high
    assert found.high - found.low <= 0.05 + 1e-9
    assert found.n <= 4794
    assert now(share(points_of(space, victim), 0, 12, "seed")) == found


def test_what_a_share_comes_across_bounds_the_radius_from_above() -> None:
    source = Table(tuple((word, ("x", "y")) for word in "abc"))

    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.1, 0.9] if text.count("x") > 1 else [0.9, 0.1] for text in texts]

    given: dict[str, Any] = {"source": source, "stopwords": "none", "max_r": 0}
    cases: list[tuple[Any, int | None]] = [(None, None), ("1", None), (["1", 2], 2), (3, 2)]
    for share, upper in cases:
        (row,) = mohs.radius(predict, [("a b c", 0)], share=share, **given).radii()
        assert (row["lower"], row["upper"], row["stopped"]) == (0, upper, "max-r")


def test_what_is_contradicted_is_not_certified() -> None:
    class Second(WordCount):
        """Changes its mind about one text, as coarse numbers may in other company."""

        def scores(self, fields: tuple[str, ...]) -> tuple[float, float]:
            return (0.9, 0.1) if fields == ("x b",) and self.asked.count(fields) > 1 else (0.1, 0.9)

    given: dict[str, Any] = {"source": Table((("a", ("x",)), ("b", ("y",)))), "stopwords": "none", "max_r": 1}
    (row,) = mohs.radius(Second({}), [("a b", 1)], **given).radii()
    assert (row["lower"], row["stopped"], "certificate" in row) == (0, "batches", False)
    (row,) = mohs.radius(Second({}), [("a b", 1)], share=1, **given).radii()
    assert (row["lower"], row["upper"], "certificate" in row) == (0, 1, False)


def test_a_run_folder_is_verified(tmp_path: Path) -> None:
    model = FunctionVictim(lambda texts: [[0.9, 0.1] for _ in texts])
    source = Table((("a", ("x", "y")),))
    mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=1, out=tmp_path / "run").close()
    assert not (tmp_path / "run" / "certificates.jsonl").exists()
    assert [checked.sound for _, checked in mohs.verify(tmp_path / "run", model)] == [True]
    mohs.radius(model, [("a b c", 0)], source=source, stopwords="none", max_r=0, out=tmp_path / "none").close()
    with pytest.raises(BadInput, match="has no certificates"):
        mohs.verify(tmp_path / "none", model)


def test_radii_of_shares() -> None:
    assert Share(3).radius(10) == 3  # type: ignore[arg-type]
    assert [Share("25%").radius(n) for n in (1, 4, 7, 8)] == [1, 1, 1, 2]
    assert Share("3").radius(100) == 3
    for bad in ("x", "-1", "-5%", "1.5"):
        with pytest.raises(BadInput, match="radius"):
            Share(bad)
    with pytest.raises(BadInput, match="epsilon"):
        Share(epsilon=0)
    with pytest.raises(BadInput, match="Unknown method"):
        Share(method="guess")


def test_bad_input_and_misread_examples() -> None:
    run = mohs.radius("pocket", [("a wonderful film", 0), ("a wonderful film", 1), ("", 0)])
    assert next(record.outcome for record in run.records()) is Outcome.SKIPPED
    with pytest.raises(BadInput, match="measures whole texts, but a radius needs a constraint on single words"):
        mohs.radius("pocket", "pocket", n=2, constraints=["similarity>=0.9"])
    with pytest.raises(BadInput, match="time limit"):
        mohs.radius("pocket", "pocket", n=2, time_limit=0)
