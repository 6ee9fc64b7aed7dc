"""The analysis of whole studies: Eq. 6.2 by enumeration, planted validity, who is counted, and what is written."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.errors import BadInput
from mohs.studies.analysis import Analysis, analyse_study
from mohs.studies.design import read_design
from mohs.studies.item import Item, Judgement, Kind
from mohs.studies.pool import Pool
from mohs.studies.study import Study
from mohs.studies.validity import fair_attacks, valid_attacks, validity
from mohs.studies.verdict_rule import judged_valid, rule_of
from tests.studies.judged import Judges, quality_of, runs, study_of

FRAGMENTS = read_design("fragments")
SIMULATIONS = 1000
FAIR = 300  # of them: fair success takes longer
# How often intervals may hold: three standard errors of such a share around 95%, and a little more above, because the
# intervals are Wilson's.
HELD, HELD_FAIR = (0.929, 0.985), (0.912, 0.995)


def analysed(place: Path, design: str = "fragments", **more: object) -> Analysis:
    with study_of(place, design, **more) as study:  # type: ignore[arg-type]
        return analyse_study(study, measures=False)


def table(place: Path, means: list[int], groups: dict[str, object] | None = None, judges: int = 3) -> Study:
    """A study of fragments whose items all their judges give the same score."""
    items = [Item(f"i{n}", "meaning", (f"old {n}", f"new {n}"), "attack") for n in range(len(means))]
    study = Study.create(place, replace(FRAGMENTS, controls=(), judges=judges), items, groups=groups or {})
    rows = [Judgement(f"i{n}", f"j{judge}", value) for n, value in enumerate(means) for judge in range(judges)]
    study.add(rows, Kind.IMPORTED)
    return study


# Eq. 6.2 of Hauser 2021


def test_valid_attacks_by_enumeration(tmp_path: Path) -> None:
    """Two of five changes are valid; an attack with i changes draws each of them anew; all draws are tried."""
    scores = [7, 2, 6, 1, 3]
    changes = {1: 6, 2: 3, 4: 1}  # p(1) = 0.6, p(2) = 0.3, p(4) = 0.1
    facts = {"attack": "a", "attacked": 40, "successes": 10, "changes": {str(i): n for i, n in changes.items()}}
    with table(tmp_path / "study", scores, {"attack": facts}) as study:
        (group,) = analyse_study(study, measures=False).groups
    expected = 0.0
    for i, count in changes.items():
        drawn = list(product(scores, repeat=i))
        expected += count / 10 * sum(all(score >= 5 for score in attack) for attack in drawn) / len(drawn)
    assert expected == pytest.approx(0.6 * 0.4 + 0.3 * 0.16 + 0.1 * 0.0256)
    assert group.measured == "by formula"
    assert group.valid.value == 0.4
    assert group.valid_attacks is not None
    assert group.valid_attacks.value == pytest.approx(expected)
    assert group.fair is not None
    assert group.fair.value == pytest.approx(10 / 40 * expected)
    assert group.success == 0.25
    points = {point.threshold: (point.valid.value, point.attacks) for point in group.curve}
    assert points[5.0][0] == 0.4
    assert points[3.0][0] == 0.6
    assert points[1.0][1] is not None
    assert points[1.0][1].value == 1.0  # all changes are valid, and so are all attacks


def test_changes_come_from_the_runs_successes(tmp_path: Path) -> None:
    """The toy run: 60 examples, a fifth of them failures, and 1, 2 or 3 changes in turn."""
    found = analysed(tmp_path / "study")
    (group,) = found.groups
    expected = Counter(1 + n % 3 for n in range(60) if n % 5)
    assert found.source["groups"][group.name]["changes"] == {str(i): n for i, n in sorted(expected.items())}
    assert (group.attacked, group.successes) == (60, 48)
    p = group.valid.value
    assert p is not None
    assert group.valid_attacks is not None
    assert group.valid_attacks.value == pytest.approx(sum(n / 48 * p**i for i, n in expected.items()))


def test_whole_texts_are_measured_directly(tmp_path: Path) -> None:
    (group,) = analysed(tmp_path / "study", "meaning").groups
    assert group.measured == "directly"
    assert group.valid_attacks == group.valid
    assert group.fair is not None
    assert group.fair.value == pytest.approx(group.valid.valid / 60)  # all 48 successes were judged
    assert all(point.attacks is None for point in group.curve)


# Planted validity


def test_a_simulated_pool_recovers_what_was_planted() -> None:
    """1,000 simulated studies of the design of fragments: 60 items, five judges of a pool of 20, seven points.

    The truth is how probably five other judges find another item valid, from 200,000 items.
    """
    random = np.random.default_rng(11)
    design = FRAGMENTS
    items = [Item(f"i{n}", "meaning", ("old", "new"), "attack") for n in range(60)]
    by_key = {item.key: item for item in items}
    rule = rule_of(design)
    assert rule is not None

    def answers(quality: Any, bias: Any) -> Any:
        return np.clip(np.round(quality + bias + random.normal(0, 1, bias.shape)), 1, 7)

    many = answers(random.normal(4.3, 1.3, (200_000, 1)), random.normal(0, 0.5, (200_000, 5)))
    planted = float((many.mean(1) >= 5).mean())
    shares = {1: 0.4, 2: 0.3, 3: 0.2, 5: 0.1}
    truth = {
        "valid": planted,
        "attacks": sum(share * planted**i for i, share in shares.items()),
        "fair": 0.7 * sum(share * planted**i for i, share in shares.items()),
    }
    held = Counter[str]()
    for number in range(SIMULATIONS):
        who = random.random((60, 20)).argsort(1)[:, :5]
        given = answers(random.normal(4.3, 1.3, (60, 1)), random.normal(0, 0.5, 20)[who]).astype(int).tolist()
        rows = tuple(
            Judgement(f"i{n}", f"simulated-{judge}", value)
            for n, (judges, values) in enumerate(zip(who.tolist(), given, strict=True))
            for judge, value in zip(judges, values, strict=True)
        )
        pool = Pool(design, by_key, rows, "simulated")
        found = validity(pool.ratings(judged_valid(design, items)), rule)
        successes = int(random.binomial(400, 0.7))
        changes = dict(zip(shares, random.multinomial(successes, list(shares.values())).tolist(), strict=True))
        figures = {"valid": found, "attacks": valid_attacks(found, changes)}
        if number < FAIR:
            figures["fair"] = fair_attacks(found, changes, 400)
        for name, one in figures.items():
            low, high = one.interval or (2.0, 2.0)
            held[name] += low <= truth[name] <= high
    assert 0.2 < planted < 0.4
    assert all(HELD[0] <= held[name] / SIMULATIONS <= HELD[1] for name in ("valid", "attacks")), held
    assert HELD_FAIR[0] <= held["fair"] / FAIR <= HELD_FAIR[1]


def test_people_without_noise_give_the_planted_verdicts(tmp_path: Path) -> None:
    """Who answers by the quality of an item alone finds valid what is planted to be."""
    with study_of(tmp_path / "study", judges=Judges(noise=0.0, spread=0.0)) as study:
        planted = {item.key: quality_of(item) * 7 >= 4 for item in study.items() if item.role == "main"}
        found = analyse_study(study, measures=False)
    # of seven equal parts of the scale, the fifth begins at 4/7
    assert found.whole.verdicts == planted
    assert found.whole.questions[0].alpha.value == pytest.approx(1.0)


# Who is counted


def test_simulated_judges_are_labelled_wherever_figures_are(tmp_path: Path) -> None:
    with study_of(tmp_path / "study", kind=Kind.SIMULATED) as study:
        found = analyse_study(study, measures=False)
    said = "The judges are simulated: no figure here says anything about people."
    assert found.simulated
    assert found.judges == "simulated judges"
    assert found.to_json()["simulated"] is True
    assert said in found.notes
    assert said in found._repr_html_()
    page = found.page(tmp_path / "page.html").read_text("utf-8")
    assert '<p class="banner">' + said in page
    assert page.count(said) == 1


def test_people_models_and_simulated_judges_are_never_mixed(tmp_path: Path) -> None:
    with table(tmp_path / "study", [7, 7, 1, 1]) as study:
        alone = analyse_study(study, measures=False)
        study.add([Judgement(f"i{n}", "gpt", 1) for n in range(4)], Kind.MODEL)
        study.add([Judgement(f"i{n}", f"s{j}", 4) for n in range(4) for j in range(3)], Kind.SIMULATED)
        found = analyse_study(study, measures=False)
        simulated = analyse_study(study, kind="simulated", measures=False)
    assert found.whole == alone.whole
    assert not found.simulated
    assert (found.counted.people, found.counted.model, found.counted.simulated) == (12, 4, 12)
    assert "12 judgements of simulated judges are in no figure." in found.notes
    assert "Answers of models stand apart, and are in no figure of people." in found.notes
    assert [one.model for one in found.models] == ["gpt"]
    assert simulated.simulated
    assert simulated.whole.questions[0].mean is not None
    assert simulated.whole.questions[0].mean.value == 4


def test_people_who_were_set_aside_or_left_out_are_in_no_figure(tmp_path: Path) -> None:
    with table(tmp_path / "study", [6, 6]) as study:
        study.add([Judgement("i0", "odd", 1), Judgement("i1", "odd", 1)], Kind.IMPORTED)
        every = analyse_study(study, measures=False)
        without = analyse_study(study, without=["odd"], measures=False)
        study.set_aside("odd")
        aside = analyse_study(study, measures=False)
        with pytest.raises(BadInput, match="There is no annotator 'nobody' in"):
            analyse_study(study, without=["nobody"])
    assert (every.whole.valid.value, without.whole.valid.value, aside.whole.valid.value) == (0.0, 1.0, 1.0)
    assert (without.counted.left_out, aside.counted.set_aside) == (2, 2)
    assert aside.whole == without.whole


def test_thresholds_and_judges(tmp_path: Path) -> None:
    with table(tmp_path / "study", [7, 6, 5, 4]) as study:
        study.add([Judgement("i0", "more", 7)], Kind.IMPORTED)
        shares = {t: analyse_study(study, threshold=t, measures=False).whole.valid.value for t in (4, 5, 6.5)}
        few = analyse_study(study, least_judges=4, measures=False).whole.valid
        for wrong in (0.5, 7.5, float("nan"), float("inf")):
            with pytest.raises(BadInput, match="lies between 1 and 7"):
                analyse_study(study, threshold=wrong)
        one = Item("late", "meaning", ("a", "b"), "attack")
        study.add([Judgement("late", "j0", 7)], Kind.IMPORTED, items=[one])
        early = analyse_study(study, measures=False)
        study.add([Judgement("late", "j1", 7)], Kind.IMPORTED)
        late = analyse_study(study, measures=False)
    assert shares == {4: 1.0, 5: 0.75, 6.5: 0.25}
    assert (early.whole.verdicts["late"], late.whole.verdicts["late"]) == (None, True)  # two are half of three judges
    assert "1 of 5 items have fewer than the 3 judges of the design." in late.notes
    assert (few.items, few.undecided, few.value) == (1, 3, 1.0)


def test_unnamed_judges_give_a_warning_and_a_narrower_interval(tmp_path: Path) -> None:
    rows = [Judgement(f"i{n}", f"j{j}", 6 if (n + j) % 2 else 3) for n in range(30) for j in range(3)]
    found = []
    for named in (True, False):
        items = [Item(f"i{n}", "meaning", ("a", "b"), "attack") for n in range(30)]
        with Study.create(tmp_path / str(named), replace(FRAGMENTS, controls=(), judges=3), items) as study:
            study.add(rows, Kind.IMPORTED, named=named)
            found.append(analyse_study(study, measures=False))
    assert not found[0].whole.valid.judges_unknown
    assert found[1].whole.valid.judges_unknown
    assert found[1].counted.judges == 0
    assert any(note.startswith("Nobody knows which judgements come from one person") for note in found[1].notes)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (None, "ask people with `mohs study invite` and `mohs study serve`, or import answers."),
        (Kind.MODEL, "only models; ask people with"),
    ],
)
def test_nothing_to_analyse(tmp_path: Path, kind: Kind | None, message: str) -> None:
    study = Study.create(tmp_path / "study", FRAGMENTS, [Item("i0", "meaning", ("a", "b"), "attack")])
    with study:
        if kind is not None:
            study.add([Judgement("i0", "gpt", 1)], kind)
        with pytest.raises(BadInput, match=message):
            analyse_study(study)
        with pytest.raises(BadInput, match="There is no kind of judge 'dogs'; use people or simulated"):
            analyse_study(study, kind="dogs")  # type: ignore[arg-type]


# What is written


@pytest.mark.parametrize("design", ["fragments", "words", "meaning", "real-or-altered", "labels"])
def test_every_design_can_be_analysed(tmp_path: Path, design: str) -> None:
    def any_answer(design: object, item: Item, statement: int, mild: float, judges: object, random: object) -> int:
        return item.expected[0] if item.expected else 1

    answer = any_answer if design in ("real-or-altered", "labels") else None
    unchanged = [(f"unchanged {n}", n % 2) for n in range(30)] if design == "labels" else None
    more = {"training": None, "accuracy": 4} if design == "labels" else {}
    found = analysed(tmp_path / "study", design, answer=answer, unchanged=unchanged, **more)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["design"] == design
    assert found.whole.valid.items == sum(verdict is not None for verdict in found.whole.verdicts.values()) > 0
    page = found.page(tmp_path / "page.html").read_text("utf-8")
    assert found.design.title in page
    assert "<table><caption>" in found._repr_html_()


def test_items_as_a_file(tmp_path: Path) -> None:
    with table(tmp_path / "study", [7, 3]) as study:
        study.add([Judgement("i0", "more", 4)], Kind.IMPORTED)
        path = analyse_study(study, measures=False).write(tmp_path / "items.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"i0", "i1"}
    assert {
        name: rows["i0"][name] for name in ("judges", "mean", "median", "most_given", "share", "valid", "text")
    } == {
        "judges": "4",
        "mean": "6.25",
        "median": "7.0",
        "most_given": "7",
        "share": "",
        "valid": "True",
        "text": "old 0",
    }
    assert rows["i1"]["valid"] == "False"


def test_the_file_has_the_share_that_recognised_each_text(tmp_path: Path) -> None:
    """R(x_adv) of paper 003, 3.5, which is compared with epsilon text by text."""
    found = analysed(tmp_path / "study", "real-or-altered", n=4)
    rows = {row["item"]: row for row in found.rows()}
    (group,) = found.groups
    assert group.recognised
    for key, share in group.recognised.items():
        assert rows[key]["share"] == pytest.approx(share, abs=1e-6)
        assert rows[key]["valid"] is (share < 0.5)
        assert rows[key]["truth"] == "altered"


def test_several_attacks_have_a_column_each_and_one_for_all(tmp_path: Path) -> None:
    found = analysed(tmp_path / "study", run=runs(60, ("textfooler:paper", "pwws:textattack")), n=20)
    assert [one.name for one in found.columns] == ["textfooler:paper", "pwws:textattack", "all attacks"]
    assert found.whole.items == sum(one.items for one in found.groups) == 40
    assert found.whole.valid.valid == sum(one.valid.valid for one in found.groups)
    assert found.whole.fair is None


def test_the_measures_of_a_study(tmp_path: Path) -> None:
    """With the bundled vectors and encoder; every judged item lies in one bucket of each, or is counted as unknown."""
    with study_of(tmp_path / "study") as study:
        found = analyse_study(study)
    assert found.relations is not None
    judged = found.whole.valid.items
    assert sum(one.count for one in found.relations.word) + found.relations.word_unknown == judged
    assert sum(one.count for one in found.relations.text) + found.relations.text_unknown == judged
    assert sum(one.valid for one in found.relations.text) == found.whole.valid.valid
    assert set(found.services) == {"vectors", "encoder"}
    assert {row["word_cosine"] for row in found.rows()} != {""}


@pytest.mark.parametrize("design", ["fragments", "meaning"])
def test_correlations_are_positive_where_more_alike_is_more_valid(tmp_path: Path, design: str) -> None:
    """In one design 7 is Strongly Agree, in the other 1. The toy words' cosines and qualities go together."""
    with study_of(tmp_path / "study", design) as study:
        found = analyse_study(study)
    assert found.relations is not None
    assert (found.relations.word_correlation.value or 0) > 0.4
    assert (found.relations.text_correlation.value or 0) > 0.4


def test_the_python_door(tmp_path: Path) -> None:
    """All of it by the public names."""
    words = mohs.studies.read_design("words")
    study, notes = mohs.studies.new_study(tmp_path / "study", runs(20), words, n=5, judges=2)
    drawn = mohs.studies.drawn([runs(20)], words)
    with study:
        assert study.progress().items == 5
        assert study.design.judges == 2
        assert isinstance(notes, list)
        assert len(drawn.items) > 5
        main = [item.key for item in study.items() if item.role is mohs.studies.Role.MAIN]
        rows = [mohs.studies.Judgement(key, who, 6) for key in main for who in ("ada", "grace")]
        study.add(rows, mohs.studies.Kind.IMPORTED)
        (path,) = mohs.studies.export(study, tmp_path / "answers.csv")
        again = mohs.studies.imported(study, path)
        assert (again.new, again.there) == (0, 10)
        assert mohs.analyse_study(study, measures=False).whole.valid.value == 1.0
    assert mohs.analyse_study(tmp_path / "study", measures=False).page().parent == tmp_path / "study"
