"""The figures of Tables 1 and 3 and of section 3.4, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from mohs.curation.config import Config
from mohs.curation.counts import families_of, one_sided, table1
from mohs.curation.funnel import AGAIN, drops, funnel
from mohs.curation.item import Dropped, Item
from mohs.curation.measured import validity
from mohs.curation.stage import Outcome, StageFolder
from tests.curation.toys import config, item

VOTES = {  # of texts with label 0: source, found on, votes, reason to drop it
    "a": (("first", "second"), (0, 0, 0, 0, 1), ""),
    "b": (("first",), (0, 0, 0, 0, 0), ""),
    "c": (("third",), (0, 0, 1, 1, 1), "no consensus"),
    "d": (("first", "third"), (1, 1, 1, 1, 1), "another label"),
}


def judged(source: str) -> Item:
    found_on, votes, _ = VOTES[source]
    given = tuple((f"judge-{number}", label) for number, label in enumerate(votes))
    return item("textfooler", source, found_on=found_on, votes=given, judged="people")


@pytest.fixture
def made(tmp_path: Path) -> tuple[Config, StageFolder]:
    """A build with known numbers, of one attack on three surrogates and a distraction."""
    plain = [
        {"attack": "textfooler", "class": "word", "family": "embedding"},
        {"attack": "distraction", "class": "sentence", "family": "distraction"},
    ]
    own = config(tmp_path, attacks=plain, crafted=[])
    stages = StageFolder(tmp_path / "stages")
    counts = {
        "first": {"success": 5, "failed": 5, "attacked": 10, "skipped": 2, "error": 1},
        "second": {"success": 4, "failed": 4, "attacked": 8},
        "third": {"success": 2, "failed": 3, "attacked": 5},
    }
    easy = [item("distraction", source, judged="by definition") for source in "ab"]
    texts = [judged(source) for source in VOTES]
    gone = [item("textfooler", source) for source in "efg"]
    missed = [Dropped(item("textfooler", f"x{n}"), "not fooled") for n in range(12)]
    missed += [Dropped(item("textfooler", f"y{n}"), "the original is read wrong") for n in range(2)]
    missed += [Dropped(item("textfooler", "z"), "error")]
    facts = {
        "counts": {"reviews": {"textfooler": counts, "distraction": {"first": {"success": 2, "attacked": 2}}}},
        "examples": {"reviews": 13},
        "names": {"reviews": ["sentence"]},
        "methods": [["reviews", ["textfooler", "distraction"]]],
    }
    stages.write("attack", "", Outcome([*texts, *gone, *easy], missed, facts))
    stages.write(
        "transfer", "", Outcome([*texts, gone[0], *easy], [Dropped(one, "does not fool all") for one in gone[1:]])
    )
    stages.write("fidelity", "", Outcome([*texts, *easy], [Dropped(gone[0], "too many words changed")]))
    out = [Dropped(judged(source), reason) for source, (_, _, reason) in VOTES.items() if reason]
    stages.write("judge", "", Outcome([judged("a"), judged("b"), *easy], out))
    return own, stages


def test_table_3(made: tuple[Config, StageFolder]) -> None:
    (found,) = validity(*made)  # one attack, so no average; the distraction is not curated
    assert found.method == "textfooler"
    assert {name: rate.counted for name, rate in found.success.items()} == {
        "first": "5/10",
        "second": "4/8",
        "third": "2/5",
    }
    assert {name: rate.counted for name, rate in found.curated.items()} == {
        "first": "2/10",
        "second": "1/8",
        "third": "0/5",
    }
    assert found.mean_success == pytest.approx((0.5 + 0.5 + 0.4) / 3)
    assert found.mean_curated == pytest.approx((0.2 + 0.125 + 0.0) / 3)
    assert found.filter_rate == pytest.approx((3 / 5 + 3 / 4 + 2 / 2) / 3)
    every = [list(votes) for _, votes, _ in VOTES.values()]
    assert found.kappa.value == pytest.approx(fleiss_kappa(aggregate_raters(every)[0]))
    assert found.curated_kappa.value == pytest.approx(fleiss_kappa(aggregate_raters(every[:2])[0]))
    assert found.accuracy.with_own.value == pytest.approx((4 / 5 + 1) / 2)


def test_the_average_is_over_attacks(made: tuple[Config, StageFolder], tmp_path: Path) -> None:
    _, stages = made
    plain = [{"attack": name, "class": "word", "family": "typo"} for name in ("textfooler", "pruthi")]
    own = config(tmp_path, attacks=plain, crafted=[])
    facts = stages.facts("attack")
    facts["counts"]["reviews"]["pruthi"] = {
        name: {"attacked": 4, "success": 1} for name in ("first", "second", "third")
    }
    stages.write("attack", "", Outcome(stages.items("attack"), (), facts))
    one, other, average = validity(own, stages)
    assert other.filter_rate == 1
    assert average.method == "average"
    assert average.mean_success == pytest.approx(((0.5 + 0.5 + 0.4) / 3 + 0.25) / 2)
    assert average.filter_rate == pytest.approx((float(one.filter_rate or 0) + 1) / 2)
    assert average.kappa.value == one.kappa.value  # all judgements together


def test_without_a_success_there_is_no_filter_rate(made: tuple[Config, StageFolder], tmp_path: Path) -> None:
    own, stages = made
    facts = stages.facts("attack")
    facts["counts"]["reviews"]["textfooler"] = {"first": {"attacked": 3}, "second": {}}
    stages.write("attack", "", Outcome((), (), facts))
    stages.write("judge", "", Outcome(()))
    (found,) = validity(own, stages)
    assert found.mean_success == 0
    assert found.filter_rate is None
    assert found.kappa.value is None


def test_the_funnel_counts_every_attempt(made: tuple[Config, StageFolder]) -> None:
    steps = funnel(made[1])
    own = [(step.stage, step.given, step.kept, step.reasons) for step in steps if step.method == "textfooler"]
    attempts = 13 + 8 + 5
    assert own == [
        ("attack", attempts, 7, {"not fooled": 12, "the original is read wrong": 2, "error": 1, AGAIN: 4}),
        ("transfer", 7, 5, {"does not fool all": 2}),
        ("fidelity", 5, 4, {"too many words changed": 1}),
        ("judge", 4, 2, {"another label": 1, "no consensus": 1}),
    ]
    assert all(step.given == step.kept + sum(step.reasons.values()) for step in steps)


def test_shares_of_what_the_filters_take(made: tuple[Config, StageFolder]) -> None:
    (found,) = drops(*made)
    counted = {name: getattr(found, name).counted for name in ("transfer", "fidelity", "automatic")}
    assert counted == {"transfer": "2/7", "fidelity": "1/5", "automatic": "3/7"}
    assert (found.no_consensus.counted, found.other_label.counted) == ("1/4", "1/4")


def test_table_1(tmp_path: Path) -> None:
    own = config(tmp_path)
    rows = {
        "reviews": {
            "dev": [{"class": "word", "family": "typo"}],
            "test": [{"class": "word", "family": "typo"}, {"class": "human", "family": "checklist"}],
        }
    }
    assert families_of(own) == ["embedding", "typo", "syntactic", "distraction", "checklist"]
    dev, test = table1(own, rows)
    assert (dev["split"], dev["all"], dev["families"]["typo"], dev["families"]["checklist"]) == ("dev", 1, 1, 0)
    assert (test["split"], test["all"], test["families"]["typo"], test["families"]["checklist"]) == ("test", 2, 1, 1)


def test_a_set_of_a_family_of_attacks_is_counted_with_them(tmp_path: Path) -> None:
    own = config(tmp_path)
    own = replace(own, crafted=tuple(replace(one, family="typo") for one in own.crafted))
    assert families_of(own) == ["embedding", "typo", "syntactic", "distraction"]
    rows = [{"class": "word", "family": "typo"}, {"class": "human", "family": "typo"}]
    (found,) = table1(own, {"reviews": {"test": rows}})
    assert found["families"] == {"embedding": 0, "typo": 2, "syntactic": 0, "distraction": 0}


def test_a_task_of_mostly_one_label() -> None:
    names = ("entailment", "neutral", "contradiction")
    note = one_sided("rte", [0] * 9 + [2], names)
    assert note == (
        "9 of 10 texts of rte have the label entailment, so a model that always says so reads 90% of them right."
    )
    assert one_sided("rte", [0] * 7 + [1, 2, 2], names) is None  # not one-sided
    assert one_sided("rte", [0] * 9, names) is None  # too few to say
    assert one_sided("rte", [-1] * 20, names) is None  # hidden
    assert one_sided("rte", [], names) is None
