"""Tables of judgements: exports of mohs and files of others."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from mohs.errors import BadInput
from mohs.studies.exporting import export, rows
from mohs.studies.forms import Given
from mohs.studies.importing import imported
from mohs.studies.item import Judgement, Kind
from tests.studies.files import judged, table
from tests.studies.test_exporting import told
from tests.studies.toys import Make, controls, design, items


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl", "all.csv.gz", "all.jsonl.gz"])
def test_what_is_exported_is_imported_as_it_was(make: Make, tmp_path: Path, name: str) -> None:
    of = [*items(3, note=["x", 1.5, None]), *controls(design())]
    first, second = make(None, of), make(None, of)
    first.add([Judgement("attack/0", "ada", 2, 1, True, 3.25, 1e9 + 0.125, 4)], Kind.PERSON)
    first.add([Judgement("attack/1", "model:x", 1), Judgement("control 0", "model:x", 3)], Kind.MODEL)
    first.add([Judgement("attack/0", "simulated-1", 3)], Kind.SIMULATED)
    first.add([Judgement("attack/2", "unnamed-1", 3)], Kind.IMPORTED, named=False)
    first.add([Judgement("attack/1", "bob", 3)], Kind.PERSON)
    first.set_aside("bob")
    (path,) = export(first, tmp_path / name.removesuffix(".gz"))
    if name.endswith(".gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress((tmp_path / name.removesuffix(".gz")).read_bytes()))
    found = imported(second, path)
    assert (found.form, found.rows, found.new, found.there) == ("an export of mohs", 6, 6, 0)
    assert told(second) == told(first)
    assert list(rows(second)) == list(rows(first))
    assert second.progress().judgements == first.progress().judgements == 2


def test_other_encodings_are_named(make: Make, tmp_path: Path) -> None:
    of = [replace(items(1)[0], texts=("caf\u00e9", "th\u00e9"))]
    study = make(None, of)
    line = ["caf\u00e9", "th\u00e9", "Yes indeed", "plain", "ren\u00e9"]
    path = table(tmp_path / "t.csv", "text_1 text_2 answer statement judge", line, encoding="latin-1")
    with pytest.raises(BadInput, match=r"is not utf-8 .*--encoding latin-1"):
        imported(study, path)
    assert imported(study, path, Given(encoding="latin-1")).new == 1
    assert judged(study) == {("attack/0", "ren\u00e9"): 1}


def test_opposite_order_and_opposite_statement_keep_their_meaning(make: Make, tmp_path: Path) -> None:
    """Everybody thinks that item 0 keeps its meaning and item 1 does not, however they were asked."""
    study = make(None, items(2))
    lines: list[list[str]] = []
    for number, (kept, changed) in enumerate([("Yes indeed", "Not at all"), ("Not at all", "Yes indeed")]):
        for turned in (False, True):
            for statement, answer in (("plain", kept), ("The change changes the meaning.", changed)):
                texts = [f"one {number}", f"other {number}"]
                lines.append([*(texts[::-1] if turned else texts), answer, statement, f"w{len(lines)}"])
    found = imported(study, table(tmp_path / "t.csv", "text_1 text_2 answer statement judge", *lines))
    assert (found.new, found.judges, found.left_out) == (8, 8, [])
    said = [(row["item"], row["plain_value"], row["value"], row["swapped"]) for row in rows(study)]
    assert [one[:2] for one in said] == [("attack/0", 1)] * 4 + [("attack/1", 3)] * 4 or [one[:2] for one in said] == [
        ("attack/1", 3)
    ] * 4 + [("attack/0", 1)] * 4
    assert sum(swapped for *_, swapped in said) == 4
    assert sum(value != plain for _, plain, value, _ in said) == 4
    assert {row["text_1"] for row in rows(study)} == {"one 0", "one 1"}, "the original stands first in exports"


def test_a_design_with_opposite_statements_must_be_told_which_was_read(make: Make, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "item answer judge", ["attack/0", "Yes indeed", "w"])
    with pytest.raises(BadInput, match=r"2 statements with opposite answers.*--column statement=NAME"):
        imported(make(), path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["attack/9", "Yes indeed", "plain", "w", ""], "the study has no item 'attack/9'"),
        (["attack/1", "Maybe", "plain", "w", ""], "the answer 'Maybe' is none of Yes indeed, Perhaps, Not at all"),
        (["attack/1", "", "plain", "w", ""], "there is no answer"),
        (["attack/1", "Perhaps", "sideways", "w", ""], "the statement 'sideways' is none of the question same"),
        (["attack/1", "Perhaps", "plain", "", ""], "there is no annotator"),
        (["attack/1", "Perhaps", "plain", "w" * 81, ""], "use at most 80 printable characters"),
        (["attack/1", "Perhaps", "plain", "w", "soon"], "the seconds are 'soon'; write a number"),
        (["attack/1", "Perhaps", "plain", "w", "-1"], "the seconds are '-1'; write a number"),
        (["attack/0", "Not at all", "plain", "good", ""], "'good' judges the item attack/0 a second time"),
    ],
)
def test_a_bad_row_refuses_the_file_or_is_left_out(make: Make, tmp_path: Path, line: list[str], said: str) -> None:
    study = make()
    good = ["attack/0", "Yes indeed", "plain", "good", "2"]
    path = table(tmp_path / "t.csv", "item answer statement judge seconds", good, line)
    with pytest.raises(BadInput) as caught:
        imported(study, path)
    assert said in str(caught.value)
    assert "row 2" in str(caught.value)
    assert "--skip-bad" in str(caught.value)
    assert study.judgements() == []
    assert study.annotators() == []
    found = imported(study, path, Given(skip_bad=True))
    assert (found.rows, found.new) == (2, 1)
    assert [(one.where, said in one.reason) for one in found.left_out] == [("row 2", True)]
    assert judged(study) == {("attack/0", "good"): 1}


@pytest.mark.parametrize(
    ("names", "line", "given", "said"),
    [
        ("item answer", ["attack/0", "7"], Given(), "The answer 7 is none of 1 (Yes indeed), 2 (Perhaps)"),
        ("thing answer", ["attack/0", "1"], Given(), "has no column for item or text_1 among 'thing', 'answer'"),
        ("item answer", ["attack/0", "1"], Given(columns={"answer": "Rating"}), "has no column 'Rating'"),
        ("item answer", ["attack/0", "1"], Given(columns={"colour": "item"}), "There is no column 'colour'"),
        ("item note", ["attack/0", "1"], Given(), "has no column with answers"),
        ("item answer", ["attack/0", "1"], Given(question="other"), "The design has no question 'other'"),
        ("item answer", ["attack/0", "1"], Given(answers={"1": "Sure"}), "'Sure', for '1', is no answer"),
        ("item answer", ["attack/0", "1"], Given(kind=Kind.PERSON), "leave --kind out"),
        ("item answer", [], Given(), "has no rows"),
    ],
)
def test_files_that_fit_nothing(
    make: Make, tmp_path: Path, names: str, line: list[str], given: Given, said: str
) -> None:
    study = make()
    path = table(tmp_path / "t.csv", names, *([line] if line else []))
    with pytest.raises(BadInput) as caught:
        imported(study, path, given)
    assert said in str(caught.value)
    assert study.judgements() == []


def test_columns_and_answers_are_given_names(make: Make, tmp_path: Path) -> None:
    study = make(design(), items(2))
    names = "Paar Urteil Wer Satz"
    path = table(tmp_path / "t.tsv", names, ["attack/0", "JA", "w", "plain"], ["attack/1", "nein", "w", "plain"])
    path.write_text(path.read_text("utf-8").replace(",", "\t"), "utf-8")
    columns = {"item": "Paar", "answer": "Urteil", "annotator": "Wer", "statement": "Satz"}
    answers = {"ja": "Yes indeed", "Nein": "Not at all", "vielleicht": "Perhaps"}
    found = imported(study, path, Given(columns=columns, answers=answers))
    assert judged(study) == {("attack/0", "w"): 1, ("attack/1", "w"): 3}
    assert [note for note in found.notes if "vielleicht" in note], "an answer that nobody gave is said"


def test_models_and_simulations_stay_apart_from_people(make: Make, tmp_path: Path) -> None:
    study = make()
    path = table(tmp_path / "t.csv", "item answer statement judge", ["attack/0", "1", "plain", "gpt"])
    imported(study, path, Given(kind=Kind.MODEL))
    assert [(one.name, one.kind) for one in study.annotators()] == [("gpt", Kind.MODEL)]
    assert study.progress().judgements == 0
    with pytest.raises(BadInput, match="of the kind model, not imported"):
        imported(study, table(path, "item answer statement judge", ["attack/1", "1", "plain", "gpt"]))


def test_ids_of_people_become_codes(make: Make, tmp_path: Path) -> None:
    study, other = make(), make()
    secret = ["A1WORKERID", "me@example.org"]
    lines = [["attack/0", "1", "plain", secret[0]], ["attack/1", "2", "plain", secret[0]]]
    path = table(tmp_path / "t.csv", "item answer statement worker_id", *lines)
    imported(study, path)
    imported(other, path)
    (mine,), (theirs,) = ({one.annotator for one in one.judgements()} for one in (study, other))
    assert mine != theirs, "two studies cannot be joined by their codes"
    mail = table(tmp_path / "m.csv", "item answer statement judge", ["attack/2", "1", "plain", secret[1]])
    imported(study, mail)
    imported(study, path)
    assert len(study.annotators()) == 2, "the same person has the same code again"
    kept = study.database.read(lambda c: [c.all(f"SELECT * FROM {name}") for name in ("annotators", "judgements")])
    assert not [one for one in secret if one in repr(kept)]


def test_who_judged_may_be_unknown(make: Make, tmp_path: Path) -> None:
    study = make()
    lines = [["attack/0", "1", "plain"], ["attack/0", "1", "plain"], ["attack/1", "3", "plain"]]
    path = table(tmp_path / "t.csv", "item answer statement", *lines)
    found = imported(study, path)
    assert [note for note in found.notes if "does not say who judged" in note]
    assert judged(study) == {("attack/0", "unnamed-1"): 1, ("attack/0", "unnamed-2"): 1, ("attack/1", "unnamed-1"): 3}
    assert not [one for one in study.annotators() if one.named]
    assert imported(study, path).there == 3
    table(path, "item answer statement", ["attack/0", "2", "plain"])
    with pytest.raises(BadInput, match="name them with --unnamed"):
        imported(study, path)
    assert imported(study, path, Given(unnamed="second batch")).new == 1


def test_a_dry_run_keeps_nothing(make: Make, tmp_path: Path) -> None:
    study = make()
    path = table(tmp_path / "t.csv", "item answer statement judge", ["attack/0", "1", "plain", "w"])
    found = imported(study, path, dry_run=True)
    assert (found.new, found.dry) == (1, True)
    assert (study.judgements(), study.annotators()) == ([], [])


def test_another_answer_of_the_same_judge_does_not_replace_the_first(make: Make, tmp_path: Path) -> None:
    study = make()
    path = table(tmp_path / "t.csv", "item answer statement judge", ["attack/0", "1", "plain", "w"])
    imported(study, path)
    table(path, "item answer statement judge", ["attack/0", "3", "plain", "w"])
    found = imported(study, path)
    assert (found.new, found.there) == (0, 1)
    assert [note for note in found.notes if "another answer in the study, which stays" in note]
    assert judged(study) == {("attack/0", "w"): 1}
