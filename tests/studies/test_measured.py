"""Fair success of a run, measured by the people of a study."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner

import mohs
from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.measured import ByPeople
from mohs.report.table import measured_rows
from mohs.runs.run import Run
from mohs.studies.design import Design, read_design
from mohs.studies.drawing import drawn
from mohs.studies.item import Item, Judgement, Kind, Role
from mohs.studies.measured import measured_by
from mohs.studies.study import Study
from tests.audits.toys import record, run_of
from tests.report.made import Parsed, biased, measured, needs_nothing_else
from tests.studies.toys import POSTGRES

TEXT = "the film was good and long"
ATTACK = "textfooler:paper"


def records(
    successes: int = 8, failures: int = 2, changes: Sequence[int] = (1, 2), attack: str = ATTACK
) -> list[Record]:
    """Successes with one and two changes in turn, then failures."""
    both = {1: "movie", 3: "fine"}
    found = []
    for number in range(successes):
        some = dict(list(both.items())[: changes[number % len(changes)]])
        found.append(record(number, f"{TEXT} {number}", some, attack=attack))
    return found + [record(successes + n, f"{TEXT} no {n}", attack=attack) for n in range(failures)]


def judged(
    place: Path | str, run: Run, design: Design, said: Mapping[str, Sequence[int]], kind: Kind = Kind.IMPORTED
) -> Study:
    """A study of the run; `said` has the answers of judges 0, 1 ... about each item, by its key behind the attack."""
    found = drawn([run], design)
    study = Study.create(place, found.design, found.items, **found.source)
    keys = {item.key.removeprefix(f"{item.group}/"): item for item in study.items() if item.role is Role.MAIN}
    rows = [Judgement(keys[key].key, f"p{n}", value) for key, values in said.items() for n, value in enumerate(values)]
    study.add(rows, kind)
    return study


MEANING = replace(read_design("meaning"), judges=2)
FRAGMENTS = replace(read_design("fragments"), judges=2)


def test_looking_altered_is_not_the_meaning(tmp_path: Path) -> None:
    """Whether a text looks altered is another question than whether people would accept the change."""
    design = replace(read_design("real-or-altered"), judges=2)
    with run_of(records(4, 0)) as run:
        altered = [item.key for item in drawn([run], design).items if item.expected == (2,)]
        said = {key.removeprefix(f"{ATTACK}/"): [1, 1] for key in altered}
        with judged(tmp_path / "s", run, design, said) as study:
            found = measured_by(study, run)
    assert found.attacks[ATTACK].fair.value == pytest.approx(1.0)
    assert found.notes[0].startswith("People said which texts look altered, not whether the meaning is kept")


def test_whole_attacks_by_hand(tmp_path: Path) -> None:
    """8 of 10 attacked; 4 successes judged, 1 of them too rarely; 2 of 3 valid: 0.8 x 2/3."""
    said = {"e0": [1, 2], "e1": [2, 2], "e2": [4, 5], "e3": []}
    design = replace(MEANING, judges=3)  # an item needs two
    with run_of(records()) as run, judged(tmp_path / "s", run, design, {**said, "e4": [1]}) as study:
        found = measured_by(study, run)
    one = found.attacks[ATTACK]
    assert (one.attacked, one.successes, one.judged, one.valid, one.undecided) == (10, 8, 3, 2, 1)
    assert one.fair.value == pytest.approx(0.8 * 2 / 3)
    assert one.successes_valid == one.judged_valid
    assert one.judged_valid.value == pytest.approx(2 / 3)
    assert (one.way, one.unit, one.people, one.judgements) == ("directly", "successes", 2, 7)
    assert one.rule == "mean of meaning <= 2"
    assert dict(one.said) == {"e0": "valid", "e1": "valid", "e2": "not valid", "e4": "no verdict"}
    assert found.said(ATTACK, "e3") is found.said("other", "e0") is None
    assert found.notes == ()


def test_if_all_are_judged_the_interval_is_wilsons_of_valid_successes(tmp_path: Path) -> None:
    """Judges who judge one item each add nothing, so 5 valid successes of 10 attacked are a plain share, nearly."""
    run = run_of(records())
    found = drawn([run], replace(MEANING, judges=1))
    study = Study.create(tmp_path / "s", found.design, found.items, **found.source)
    main = [item for item in study.items() if item.role is Role.MAIN]
    study.add([Judgement(one.key, f"p{n}", 1 if n < 5 else 5) for n, one in enumerate(main)], Kind.IMPORTED)
    one = measured_by(study, run).attacks[ATTACK]
    study.close()
    assert one.fair.value == pytest.approx(0.5)
    low, high = proportion_confint(5, 10, method="wilson")
    assert one.fair.low == pytest.approx(low, abs=0.02)
    assert one.fair.high == pytest.approx(high, abs=0.02)


def test_single_changes_by_hand(tmp_path: Path) -> None:
    """P = 3/4; 4 successes have one change and 4 have two: valid attacks (3/4 + 9/16) / 2, fair 0.8 of it."""
    said = {"e0/1": [6, 7], "e1/1": [5, 5], "e1/3": [7, 7], "e2/1": [1, 7]}
    with run_of(records()) as run, judged(tmp_path / "s", run, FRAGMENTS, said) as study:
        found = measured_by(study, run)
    one = found.attacks[ATTACK]
    assert (one.way, one.unit, one.judged, one.valid) == ("by formula", "single changes", 4, 3)
    assert one.judged_valid.value == pytest.approx(3 / 4)
    assert one.successes_valid.value == pytest.approx((3 / 4 + 9 / 16) / 2)
    assert one.fair.value == pytest.approx(0.8 * (3 / 4 + 9 / 16) / 2)
    assert dict(one.said) == {"e0": "1 of 1 valid", "e1": "2 of 2 valid", "e2": "0 of 1 valid"}
    assert "Eq. 6.2" in found.notes[0]


def test_labels(tmp_path: Path) -> None:
    """Valid: two of two say the original label, which is the example's number modulo two."""
    design = replace(read_design("labels"), judges=2, examples=0, training=None, accuracy=0)
    assert design.valid is not None
    design = replace(design, valid=replace(design.valid, least_agreeing=2))
    said = {"e0": [0, 0], "e1": [1, 1], "e2": [1, 1], "e3": [0, 1]}
    with run_of(records()) as run, judged(tmp_path / "s", run, design, said) as study:
        one = measured_by(study, run).attacks[ATTACK]
    assert (one.judged, one.valid) == (4, 2)
    assert one.fair.value == pytest.approx(0.8 * 2 / 4)


def test_the_threshold_can_be_another(tmp_path: Path) -> None:
    with run_of(records()) as run, judged(tmp_path / "s", run, MEANING, {"e0": [1, 1], "e1": [3, 3]}) as study:
        assert measured_by(study, run).attacks[ATTACK].valid == 1
        milder = measured_by(study, run, threshold=3).attacks[ATTACK]
    assert (milder.valid, milder.rule) == (2, "mean of meaning <= 3")


def test_errors_are_in_the_bounds(tmp_path: Path) -> None:
    broken = replace(record(20, "an error"), outcome=Outcome.ERROR, error="no", perturbed=None, edits=())
    with run_of([*records(), broken]) as run, judged(tmp_path / "s", run, MEANING, {"e0": [1, 1]}) as study:
        one = measured_by(study, run).attacks[ATTACK]
    assert (one.attacked, one.errors) == (10, 1)
    assert one.bounds == pytest.approx((8 / 11, 9 / 11))
    assert measured_rows(one)[0][1].endswith("{72.7, 81.8}")


def test_only_people_measure(tmp_path: Path) -> None:
    with run_of(records()) as run, judged(tmp_path / "s", run, MEANING, {"e0": [1, 1]}) as study:
        before = measured_by(study, run)
        keys = [item.key for item in study.items() if item.role is Role.MAIN]
        study.add([Judgement(key, "gpt", 5) for key in keys], Kind.MODEL)
        study.add([Judgement(key, "bot", 5) for key in keys], Kind.SIMULATED)
        study.add([Judgement(key, "careless", 5) for key in keys], Kind.IMPORTED)
        study.set_aside("careless")
        assert measured_by(study, run) == before
    with (
        run_of(records()) as run,
        judged(tmp_path / "m", run, MEANING, {"e0": [1, 1]}, Kind.MODEL) as study,
        pytest.raises(BadInput, match=r"Nobody has judged an item of .*, only models"),
    ):
        measured_by(study, run)


def test_several_attacks_and_several_runs(tmp_path: Path) -> None:
    """Each attack has its own figure; one without items has none, and that is said."""
    one, other = records(), records(changes=(2,), attack="pwws:original")
    study_run = run_of(one + other)
    design = replace(MEANING, judges=1)
    found = drawn([study_run], design)
    study = Study.create(tmp_path / "s", found.design, found.items, **found.source)
    rows = [Judgement(item.key, "p", 1 if item.group == ATTACK else 5) for item in study.items() if item.group]
    study.add(rows, Kind.IMPORTED)
    values = {name: one.fair.value for name, one in measured_by(study, study_run).attacks.items()}
    assert values == {ATTACK: pytest.approx(0.8), "pwws:original": 0.0}
    more = measured_by(study, run_of(one + records(attack="bae:paper")))
    study.close()
    assert list(more.attacks) == [ATTACK]
    assert more.notes == (f"The study {study.place} has no item of bae:paper: no fair success is measured there.",)


def test_a_study_of_two_runs_measures_each_by_its_own_items(tmp_path: Path) -> None:
    first = run_of(records(), folder=tmp_path / "first")
    second = run_of(records(changes=(2,)), folder=tmp_path / "second")
    found = drawn([first, second], replace(MEANING, judges=1))
    study = Study.create(tmp_path / "s", found.design, found.items, **found.source)
    rows = [Judgement(one.key, "p", 1 if one.group.startswith("first") else 5) for one in study.items() if one.group]
    study.add(rows, Kind.IMPORTED)
    values = [measured_by(study, run).attacks[ATTACK].fair.value for run in (first, second)]
    assert values == [pytest.approx(0.8), 0.0]
    for part in (study, first, second):
        part.close()


def test_a_study_of_another_run_is_refused(tmp_path: Path) -> None:
    """The same examples and the same attack, but other final texts; also if only one of the texts is another."""
    run_of(records(), folder=tmp_path / "a").close()
    run_of(records(changes=(2,)), folder=tmp_path / "b").close()
    with Run.open(tmp_path / "a") as run:
        judged(tmp_path / "s", run, MEANING, {"e0": [1, 1]}).close()
    ended = CliRunner().invoke(app, ["report", str(tmp_path / "b"), "--study", str(tmp_path / "s")])
    assert isinstance(ended.exception, BadInput)
    assert str(ended.exception) == (
        f"{tmp_path / 's'} was drawn from {tmp_path / 'a'}, and its items are not the successes of {tmp_path / 'b'}; "
        f"make a study of it with `mohs study new --from {tmp_path / 'b'}`."
    )
    assert not (tmp_path / "b" / "report.html").exists()
    odd = records()
    odd[3] = record(3, f"{TEXT} 3", {1: "picture"})
    with run_of(odd) as run, pytest.raises(BadInput, match="its items are not the successes of this run"):
        measured_by(tmp_path / "s", run)


def test_a_run_may_be_moved_and_may_go_on(tmp_path: Path) -> None:
    run_of(records(), folder=tmp_path / "a").close()
    with Run.open(tmp_path / "a") as run:
        judged(tmp_path / "s", run, MEANING, {"e0": [1, 1]}).close()
    (tmp_path / "a").rename(tmp_path / "moved")
    with Run.open(tmp_path / "moved") as run:
        assert measured_by(tmp_path / "s", run).attacks[ATTACK].fair.value == pytest.approx(0.8)
    with run_of([*records(), record(30, "more of it"), record(31, "and more")]) as run:
        assert measured_by(tmp_path / "s", run).attacks[ATTACK].fair.value == pytest.approx(8 / 12)


def test_what_measures_nothing(tmp_path: Path) -> None:
    with run_of(records()) as run:
        free = replace(MEANING, valid=None)
        with (
            judged(tmp_path / "free", run, free, {"e0": [1, 1]}) as study,
            pytest.raises(BadInput, match="says nowhere when an item is valid, so it measures no fair success"),
        ):
            measured_by(study, run)
        table = Study.create(tmp_path / "table", MEANING, [Item("1", "meaning", ("a", "b"))])
        with table, pytest.raises(BadInput, match="was not drawn from a run in a folder"):
            measured_by(table, run)
    bias = biased([measured(0, ("he", "she"), [[0.1]])])
    with pytest.raises(BadInput, match="is a run of `mohs bias`; people measure"):
        measured_by(tmp_path / "free", bias)
    with pytest.raises(BadInput, match="is a run of `mohs bias`; --study is for runs of `mohs attack`"):
        bias.view(measured=ByPeople("s", {}))


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A run in a folder and a study of it."""
    run_of(records(), folder=tmp_path / "run", labels=["bad", "good"]).close()
    with Run.open(tmp_path / "run") as run:
        judged(tmp_path / "study", run, MEANING, {"e0": [1, 2], "e1": [2, 2], "e2": [4, 5]}).close()
    return tmp_path / "run", tmp_path / "study"


def report(*words: object) -> Any:
    ended = CliRunner().invoke(app, ["report", *map(str, words)], catch_exceptions=False)
    assert ended.exit_code == 0
    return ended.stdout


def test_the_command(places: tuple[Path, Path]) -> None:
    run, study = places
    said = report(run, "--study", study)
    rows = {line.split("  ")[0].strip(): " ".join(line.split()) for line in said.splitlines()}
    assert "53.3% (5.3/10) [" in rows["measured fair success"]
    assert "66.7% (2/3) [" in rows["valid successes"]
    assert rows["judged by people"].endswith("3/8")
    assert "fair success" in rows  # the judge's estimate stays beside it
    assert "(2 people, 6 judgements, design meaning)" in " ".join(said.split())
    machine = json.loads(report(run, "--study", study, "--json", "--no-page", "--no-judge"))
    assert machine["study"] == str(study)
    (summary,) = machine["summary"]
    assert "fair" not in summary
    assert summary["measured"]["fair"]["value"] == pytest.approx(0.8 * 2 / 3)
    assert summary["measured"]["said"] == {"e0": "valid", "e1": "valid", "e2": "not valid"}
    assert "measured" not in json.loads(report(run, "--json", "--no-page"))["summary"][0]


def test_the_page_and_the_file_say_which_successes_were_judged(places: tuple[Path, Path]) -> None:
    run, study = places
    report(run, "--study", study)
    page = Parsed((run / "report.html").read_text("utf-8"))
    assert needs_nothing_else(page)
    assert "measured fair success" in page.text
    assert "about 5 of which people found valid" in page.text
    data = page.data()
    assert "people" in [column["cell"] for column in data["columns"]]
    assert Counter(row["people"] for row in data["rows"]) == {"valid": 2, "not valid": 1, None: 7}
    lines = [json.loads(line) for line in (run / "adversarial.jsonl").read_text().splitlines()]
    assert {line["example_id"]: line["people"] for line in lines if line["people"]} == {
        "e0": "valid", "e1": "valid", "e2": "not valid",
    }  # fmt: skip
    report(run)
    assert "people" not in json.loads((run / "adversarial.jsonl").read_text().splitlines()[0])
    assert "People" not in [
        head[1]
        for column in Parsed((run / "report.html").read_text("utf-8")).data()["columns"]
        for head in column["heads"]
    ]


def test_in_python(places: tuple[Path, Path], tmp_path: Path) -> None:
    run_folder, study = places
    with mohs.Run.open(run_folder) as run:
        found = mohs.measured_by(study, run)
        path = run.report(tmp_path / "page.html", measured=found)
        assert "measured fair success" in run.view(measured=found).html()
        assert "measured fair success" not in run.view().html()
    assert "measured fair success" in path.read_text("utf-8")


@pytest.mark.skipif(not POSTGRES, reason="set MOHS_POSTGRES to the address of a PostgreSQL database to run this")
def test_a_study_on_a_server(tmp_path: Path) -> None:
    import os

    import psycopg

    name = f"measured{os.getpid()}"
    place = f"{POSTGRES}?study={name}"
    with run_of(records(), folder=tmp_path / "run") as run:
        judged(place, run, MEANING, {"e0": [1, 2], "e1": [5, 5]}).close()
    try:
        machine = json.loads(report(tmp_path / "run", "--study", place, "--json", "--no-page"))
        assert machine["summary"][0]["measured"]["fair"]["value"] == pytest.approx(0.4)
    finally:
        with psycopg.connect(POSTGRES, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS mohs_{name} CASCADE")
