"""The figures of an audit, against direct loops."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.audits.figures import AttackAudit, Rule, grammar_of
from mohs.audits.gauges import Taken
from mohs.audits.measuring import Example
from mohs.audits.result import Audit
from mohs.records import Outcome, Record
from mohs.report.rates import Rate
from mohs.text import Text
from tests.audits.toys import Lm, cosine, perplexity, record, rules, run_of, tools, word_cosine

WORDS = "aa bbb cccc x xx bad badly badge q fine good".split()


def drawn(count: int = 60, seed: int = 0) -> list[Record]:
    random, found = Random(seed), []
    for number in range(count):
        words = [random.choice(WORDS) for _ in range(random.randint(3, 20))]
        places = random.sample(range(len(words)), random.randint(0, 3))
        changes = {place: random.choice([w for w in WORDS if w != words[place]]) for place in places}
        found.append(record(number, " ".join(words), changes))
    return found


def audited(records: list[Record], **more: Any) -> tuple[Audit, AttackAudit]:
    audit = mohs.audit(run_of(records), **(tools() | more))
    (found,) = audit.summary()
    return audit, found


def hits(records: list[Record]) -> list[tuple[Record, str, str, list[tuple[str, str]]]]:
    """Successes with both strings and the words swapped."""
    found = []
    for one in records:
        if one.outcome == "success":
            assert one.perturbed is not None
            found.append((one, one.original[0], one.perturbed[0], [(edit.old, edit.new) for edit in one.edits]))
    return found


def test_success_by_equation_1_is_a_direct_loop() -> None:
    records = drawn()
    _, found = audited(
        records,
        require=["word-cosine>=0.8", "similarity:angular=no>=0.99", "grammar-errors<=0", "words-changed<=2"],
        absolute=["grammar-errors<=1", "perplexity<=20"],
        lm=Lm(),
    )
    alone, absolute, together, bounded = [0] * 4, [0] * 2, 0, 0
    for _, old, new, swaps in hits(records):
        cosines = [word_cosine(*swap) for swap in swaps]
        holds = [
            all(value >= 0.8 for value in cosines),  # nan is not
            round(cosine(old, new), 6) >= 0.99,
            len(rules(new)) - len(rules(old)) <= 0,
            len(swaps) <= 2,
        ]
        bounds = [len(rules(new)) <= 1, perplexity(new) <= 20]
        alone = [count + held for count, held in zip(alone, holds, strict=True)]
        absolute = [count + held for count, held in zip(absolute, bounds, strict=True)]
        together += all(holds)
        bounded += all(bounds)
    assert found.success == Rate(len(hits(records)), len(records), "examples attacked")
    assert [one.rate for one in found.required] == [Rate(n, len(records), "examples attacked") for n in alone]
    assert [one.rate for one in found.absolute] == [Rate(n, len(records), "examples attacked") for n in absolute]
    assert found.together == Rate(together, len(records), "examples attacked")
    assert found.absolute_together == Rate(bounded, len(records), "examples attacked")
    assert 0 < together < min(alone)  # the loop tells the constraints apart
    assert 0 < bounded < len(hits(records))


def test_the_default_constraints() -> None:
    records = drawn(seed=3)
    _, found = audited(records)
    assert [one.written for one in found.required] == [
        "word-cosine>=0.9",
        "similarity:angular=no,window=15>=0.98",
        "grammar-errors<=0",
    ]
    unknown = sum(any("q" in old + new for old, new in swaps) for *_, swaps in hits(records))
    assert found.required[0].unknown == unknown > 0
    windows = 0
    for one, old, new, _ in hits(records):
        before, after = Text(old), Text(new)
        around = [cosine(before.around(e.position, 15), after.around(e.position, 15)) for e in one.edits]
        windows += min(around) >= 0.98
    assert found.required[1].rate is not None
    assert found.required[1].rate.hits == windows


def test_short_texts_can_have_a_threshold_of_their_own() -> None:
    records = [record(0, "aa bb", {0: "x"}), record(1, "aa bb cc dd ee", {0: "x"})]
    _, found = audited(records, require=["similarity:angular=no>=0.999,short=5,at_least_short=0.5"])
    assert found.required[0].rate is not None
    assert found.required[0].rate.hits == 1


def test_previous_means_the_original_for_a_final_text() -> None:
    _, found = audited([record(0, "aa bb", {0: "aaa"})], require=["word-cosine:previous=yes>=0.9"])
    assert found.required[0].rate is not None
    assert found.required[0].rate.hits == 1


def test_a_windowed_cost_counts_its_worst_window() -> None:
    # In a window of one word the log-probability drops by the letters added: 1 and 4.
    run = [record(0, "aa bb cc dd", {0: "aaa", 3: "dddddd"})]
    for most, held in ((3.5, 0), (4, 1)):
        _, found = audited(run, require=[f"log-prob-drop:window=1<={most}"], lm=Lm())
        assert found.required[0].rate is not None
        assert found.required[0].rate.hits == held


def test_rules_before_after_and_their_ratio() -> None:
    records = drawn()
    _, found = audited(records)
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for _, old, new, _ in hits(records):
        before.update(rules(old))
        after.update(rules(new))
    assert found.grammar is not None
    assert {rule.rule: (rule.before, rule.after) for rule in found.grammar.rules} == {
        rule: (before[rule], after[rule]) for rule in before | after
    }
    gains = [rule.after - rule.before for rule in found.grammar.rules]
    assert gains == sorted(gains, reverse=True)
    for rule in found.grammar.rules:
        assert rule.ratio == (after[rule.rule] / before[rule.rule] if before[rule.rule] else None)
    more = sum(len(rules(new)) > len(rules(old)) for _, old, new, _ in hits(records))
    assert found.grammar.introduced == Rate(more, len(hits(records)), "adversarial examples")
    assert Rule("A", 0, 3).ratio is None
    assert Rule("A", 2, 25).ratio == 12.5


def test_errors_against_substitutions() -> None:
    records = drawn()
    _, found = audited(records)
    pairs = [(len(swaps), len(rules(new)) - len(rules(old))) for _, old, new, swaps in hits(records)]
    assert found.grammar is not None
    assert [changed for changed, _, _ in found.grammar.by_changes] == sorted({changed for changed, _ in pairs})
    for changed, count, mean in found.grammar.by_changes:
        group = [errors for words, errors in pairs if words == changed]
        assert count == len(group)
        assert mean == pytest.approx(sum(group) / len(group))
    slope = np.polyfit([changed for changed, _ in pairs], [errors for _, errors in pairs], 1)[0]
    assert found.grammar.slope == pytest.approx(slope)
    _, one = audited([record(0, "aa bb", {0: "bad"})])
    assert one.grammar is not None
    assert one.grammar.slope is None


def test_success_against_thresholds() -> None:
    records = drawn()
    _, found = audited(records)
    assert set(found.curves) == {"sentence cosine", "sentence cosine in 15 words", "word cosine", "acceptable"}
    for threshold, count in found.curves["word cosine"]:
        least = [min(cosines) for *_, swaps in hits(records) if (cosines := [word_cosine(*swap) for swap in swaps])]
        known = [
            value
            for value, (*_, swaps) in zip(least, hits(records), strict=True)
            if not any("q" in a + b for a, b in swaps)
        ]
        assert count == sum(round(value, 6) >= threshold for value in known)
    for threshold, count in found.curves["sentence cosine"]:
        assert count == sum(round(cosine(old, new), 6) >= threshold for _, old, new, _ in hits(records))


def made_with(k: int, **identity: Any) -> Any:
    name = f"textfooler:paper+neighbours:k={k}"
    settings = {name: f"TextFooler(source=Neighbours(k={k}, min_cosine=0.5), constraints=(), blank='')"}
    records = [record(n, "aa bb", {0: "aaa"} if n < k / 10 else None, name) for n in range(6)]
    same = {"seed": 7, "settings": settings, "source": f"neighbours:k={k}", "attacks": ["textfooler:paper"]}
    return run_of(
        records, tasks=[name], attacks=["textfooler:paper"], source=f"neighbours:k={k}", identity=same | identity
    )


def test_success_against_the_number_of_synonyms() -> None:
    audit = mohs.audit([made_with(50), made_with(8), made_with(20, data_hash="other")], **tools())
    (group,) = audit.synonyms
    assert [(k, before.hits, after and after.hits) for k, before, after in group.points] == [(8, 1, 1), (50, 5, 5)]
    assert not any("number of synonyms needs runs" in note for note in audit.notes)
    lone = mohs.audit([made_with(50), made_with(8, seed=8)], **tools())
    assert lone.synonyms == ()
    assert any("--source neighbours:k=8" in note for note in lone.notes)


def test_several_runs_have_columns_of_their_own() -> None:
    one, other = (run_of([record(0, "aa bb", {0: word})]) for word in ("aaa", "aaaaaa"))
    audit = mohs.audit([one, other], **tools())
    assert [found.name for found in audit.summary()] == ["run 1: textfooler:paper", "run 2: textfooler:paper"]
    assert [found.required[0].rate and found.required[0].rate.hits for found in audit.summary()] == [1, 0]


def test_json_is_strict_and_whole() -> None:
    records = drawn()
    audit, found = audited(records)
    text = json.dumps(audit.to_json(), allow_nan=False)
    (row,) = json.loads(text)["attacks"]
    assert row["success"]["hits"] == found.success.hits
    assert row["required"][0]["rate"]["interval"] == list(found.required[0].rate.interval)  # type: ignore[union-attr,arg-type]
    assert found.together is not None
    assert row["all_required"]["hits"] == found.together.hits
    assert row["by_class"]["directions"]
    assert row["grammar"]["rules"][0].keys() == {"rule", "before", "after", "ratio"}
    assert math.isclose(row["success_by_threshold"]["word cosine"][-1]["threshold"], 1.0)
    assert row["constraint_classes"][0]["attack"] == "textfooler:paper"


def test_errors_of_the_attack_show_as_bounds_of_every_share() -> None:
    records = drawn(20)
    broken = [replace(one, example_id=f"e{n}", outcome=Outcome.ERROR) for n, one in enumerate(records[:5])]
    _, found = audited([*records, *broken], require=["words-changed<=1"])
    (kept,) = found.required
    assert kept.rate is not None
    n = found.success.total
    assert (kept.rate.total, kept.rate.errors) == (n, 5)
    assert kept.rate.bounds == (kept.rate.hits / (n + 5), (kept.rate.hits + 5) / (n + 5))
    assert found.together is not None
    assert found.together.errors == 5
    assert found.to_json()["required"][0]["rate"]["bounds"] == kept.rate.bounds


def test_texts_that_were_not_checked_show_as_bounds() -> None:
    checked = Taken({}, ("A",), ("A", "B"))
    found = grammar_of([Example("0", 2, 1, checked), Example("1", 2, 1, Taken({}))])
    assert (found.introduced.hits, found.introduced.total, found.introduced.bounds) == (1, 1, (0.5, 1.0))
