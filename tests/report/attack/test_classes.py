"""The figures by class, against a direct count."""

from __future__ import annotations

import json
from random import Random

from mohs.records import Outcome, Record
from mohs.report.attack.classes import class_lines
from mohs.report.attack.figures import summarise
from tests.report.made import Parsed, kept


def record(number: int, label: int, outcome: Outcome, before: int | None, after: int | None, classes: int) -> Record:
    def scores(best: int | None) -> tuple[float, ...]:
        return () if best is None else tuple(0.9 if c == best else 0.1 / (classes - 1) for c in range(classes))

    return Record(
        "a", f"e{number}", outcome, label, ("text",), ("one two",), seed=0, words=2,
        scores_before=scores(before), scores_after=scores(after), queries=3,
    )  # fmt: skip


def drawn(classes: int, count: int = 200) -> list[Record]:
    random, found = Random(classes), []
    for number in range(count):
        label, kind = random.randrange(classes), random.choice([*list(Outcome)[:4], Outcome.ERROR])
        wrong = random.choice([c for c in range(classes) if c != label])
        before: int | None = wrong if kind is Outcome.SKIPPED else label
        after: int | None = {Outcome.SUCCESS: wrong, Outcome.FAILED: label, Outcome.EXHAUSTED: label}.get(kind)
        if kind is Outcome.ERROR and random.random() < 0.5:
            before = None
        found.append(record(number, label, kind, before, after, classes))
    return found


def test_each_class_has_its_own_rates() -> None:
    records = drawn(3)
    (summary,) = summarise(records)
    assert [one.label for one in summary.by_class.classes] == [0, 1, 2]
    for one in summary.by_class.classes:
        mine = [r for r in records if r.label == one.label]
        (alone,) = summarise(mine)
        assert one.accuracy_before.hits == alone.accuracy_before.hits
        assert one.accuracy_before.total == alone.accuracy_before.total
        assert one.accuracy_under_attack is not None
        assert alone.accuracy_under_attack is not None
        assert one.accuracy_under_attack.value == alone.accuracy_under_attack.value
        assert (one.success.hits, one.success.total) == (alone.success.hits, alone.success.total)
        for other in range(3):
            count = sum(r.outcome is Outcome.SUCCESS and r.scores_after[other] == 0.9 for r in mine)
            found = [way for way in summary.by_class.directions if (way.true, way.predicted) == (one.label, other)]
            assert sum(way.rate.hits for way in found) == count
            assert all(way.rate.total == one.success.total for way in found)
    hits = [way.rate.hits for way in summary.by_class.directions]
    assert hits == sorted(hits, reverse=True)
    assert sum(hits) == summary.success.hits


def test_two_classes_are_told_in_words() -> None:
    records = [record(n, 0, Outcome.SUCCESS, 0, 1, 2) for n in range(3)]
    records += [record(3, 0, Outcome.FAILED, 0, 0, 2), record(4, 1, Outcome.FAILED, 1, 1, 2)]
    (summary,) = summarise(records)
    shown = {name: value for name, value, _ in class_lines(summary.by_class, ["offensive", "fine"])}
    assert shown["offensive read as fine"].startswith("75.0% (3/4)")
    assert shown["offensive: accuracy before"].startswith("100.0% (4/4)")
    assert shown["offensive: under attack"].startswith("25.0% (1/4)")
    assert "offensive: attack success" not in shown  # the one direction says it
    assert shown["fine read as offensive"].startswith("0.0% (0/1)")
    assert any(name.startswith("class 0 read as class 1") for name, _, _ in class_lines(summary.by_class, []))


def test_one_class_needs_no_table() -> None:
    (summary,) = summarise([record(0, 1, Outcome.SUCCESS, 1, 0, 2)])
    assert class_lines(summary.by_class, []) == []


def test_many_classes_show_ten_directions() -> None:
    records = drawn(12, 600)
    (summary,) = summarise(records)
    rows = class_lines(summary.by_class, [])
    assert len(rows) == 10
    assert all(" read as " in name for name, _, _ in rows)
    assert len(summary.by_class.directions) > 10


def test_a_goal_that_keeps_the_label_has_no_directions() -> None:
    records = [record(n, n % 2, Outcome.SUCCESS, n % 2, n % 2, 2) for n in range(4)]
    (summary,) = summarise(records, lambda attack: "reduced:1")
    assert summary.by_class.directions == ()
    assert all(one.accuracy_under_attack is None for one in summary.by_class.classes)


def test_json_and_page_have_them() -> None:
    records = [record(0, 0, Outcome.SUCCESS, 0, 1, 2), record(1, 1, Outcome.FAILED, 1, 1, 2)]
    run = kept("attack", records, attacks=["a"])
    row = json.loads(json.dumps(run.summary()[0].to_json()))["by_class"]
    assert row["directions"][0]["true"] == 0
    assert row["directions"][0]["rate"]["value"] == 1.0
    assert row["classes"][1]["success"]["hits"] == 0
    page = Parsed(run.view().page())
    assert "bad read as good" in page.text
