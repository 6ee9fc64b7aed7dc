from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import MohsError
from mohs.records import Outcome, Record, RunStore
from mohs.report import listing
from mohs.report.attack.table import lines
from mohs.report.attack.view import AttackView
from mohs.runs.run import Run
from mohs.text import Edit
from tests.report.made import EVIL, Parsed


def record(number: int = 0, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "attack": "textfooler:paper",
        "example_id": f"e{number}",
        "outcome": Outcome.SUCCESS,
        "label": 1,
        "names": ("text",),
        "original": ("A good, good film.",),
        "seed": 0,
        "words": 4,
        "perturbed": ("A good, bad film.",),
        "edits": (Edit(2, "good", "bad", "wordnet"),),
        "scores_before": (0.2, 0.8),
        "scores_after": (0.7, 0.3),
        "queries": 5,
    }
    return Record(**(values | changes))


def run_of(*records: Record, **config: Any) -> Run:
    attacks = list(dict.fromkeys(r.attack for r in records)) or ["textfooler:paper"]
    asked = {"victim": "pocket", "data": "films.csv", "attacks": attacks, "goal": "untargeted", "seed": 7}
    asked |= {"labels": ["negative", "positive"]}
    manifest = {"tasks": attacks, "config": asked | config, "facts": {"versions": {"mohs": "1.2"}}}
    store = RunStore(None, manifest)
    for number, one in enumerate(records):
        store.add(number, one)
    return Run(store)


def parsed(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(run.report(folder / "report.html").read_text("utf-8"))


def test_says_what_was_attacked_and_the_same_figures_as_the_terminal(tmp_path: Path) -> None:
    skipped = {"outcome": Outcome.SKIPPED, "perturbed": None, "edits": (), "scores_after": ()}
    run = run_of(record(0), record(1, outcome=Outcome.FAILED), record(2, **skipped))
    figures = lines(run.summary()[0])
    found = parsed(run, tmp_path)
    sentence = "fooled the model on 1 of 2 examples it got right, fewer than 1 with changes that people would accept."
    assert f"textfooler:paper {sentence}" in found.text
    for said in ("pocket", "films.csv", "untargeted", "negative, positive", "mohs 1.2"):
        assert said in found.text
    for name, value, note in figures:
        assert name in found.text
        assert value in found.text
        assert note in found.text


def test_charts_have_names_for_those_who_cannot_see_them(tmp_path: Path) -> None:
    found = parsed(run_of(record(0), record(0, attack="random:baseline", queries=9)), tmp_path)
    charts = [attrs for tag, attrs in found.tags if tag == "svg"]
    assert len(charts) == 3
    assert all(chart["role"] == "img" and "random:baseline" in (chart["aria-label"] or "") for chart in charts)


def test_a_row_holds_the_diff_and_the_scores(tmp_path: Path) -> None:
    (row,) = parsed(run_of(record(near_tie=True, beyond_window=3)), tmp_path).data()["rows"]
    assert row["text"] == [["A good, ", ["good", "bad", "wordnet"], " film."]]
    assert (row["label"], row["said"], row["before"], row["after"]) == ("positive", "negative", 0.8, 0.3)
    assert (row["changed"], row["queries"], row["tie"], row["beyond"]) == (1, 5, True, 3)
    assert "names" not in row


def test_several_fields_keep_their_names_and_edits(tmp_path: Path) -> None:
    pair = record(
        names=("premise", "hypothesis"),
        original=("A 👍 man naps.", "Someone sleeps"),
        edits=(Edit(1, "man", "bloke"), Edit(4, "sleeps", "")),
    )
    (row,) = parsed(run_of(pair), tmp_path).data()["rows"]
    assert row["names"] == ["premise", "hypothesis"]
    assert row["text"] == [["A 👍 ", ["man", "bloke", ""], " naps."], ["Someone ", ["sleeps", "", ""], ""]]


def test_errors_carry_their_sentence_and_traceback(tmp_path: Path) -> None:
    broken = record(
        outcome=Outcome.ERROR,
        perturbed=None,
        edits=(),
        scores_before=(float("nan"), float("nan")),
        scores_after=(),
        error="It broke.",
        traceback="Traceback ...",
    )
    found = parsed(run_of(broken), tmp_path)
    (row,) = found.data()["rows"]
    assert (row["error"], row["traceback"], row["before"], row["changed"]) == ("It broke.", "Traceback ...", None, None)
    assert row["text"] == [["A good, good film."]]
    assert "Every example was skipped or ended in an error." in found.text


def test_texts_never_become_markup(tmp_path: Path) -> None:
    nasty = record(
        attack=EVIL,
        example_id=EVIL,
        names=(EVIL, "b"),
        original=(EVIL, f"good {EVIL}"),
        edits=(Edit(0, "script", EVIL),),
        error=EVIL,
        traceback=EVIL,
        measures={EVIL: 0.5},
    )
    config = {"labels": [EVIL, EVIL], "victim": EVIL, "data": EVIL, "goal": EVIL, "encoder": EVIL}
    found = parsed(run_of(nasty, record(0), **config), tmp_path)
    assert [tag for tag, _ in found.tags if tag in ("script", "img", "iframe", "object", "link")] == ["script"] * 2
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert "alert(1)" not in found.scripts[1]
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])
    assert (tmp_path / "report.html").read_text("utf-8").count("</script>") == 2
    data = found.data()
    assert data["attacks"][0].startswith(EVIL[:40])
    row = data["rows"][0]
    assert (row["id"], row["names"][0], row["label"], row["error"]) == (EVIL, EVIL, EVIL, EVIL)
    assert "".join(p if isinstance(p, str) else p[0] for p in row["text"][0]) == EVIL


def test_needs_no_network_and_says_so(tmp_path: Path) -> None:
    found = parsed(run_of(record()), tmp_path)
    (policy,) = [a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:")
    assert not [a for _, a in found.tags if "src" in a or "href" in a]
    assert "http" not in "".join(found.scripts)
    assert "innerHTML" not in found.scripts[1]


def test_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    with run_of(*(record(n, queries=n + 1) for n in range(5))) as run:
        first = run.report(tmp_path / "a.html").read_bytes()
        assert run.report(tmp_path / "b.html").read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_a_big_run_keeps_successes_first_and_shares_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [Outcome.SKIPPED, Outcome.FAILED, Outcome.SUCCESS, Outcome.ERROR]
    records = [record(n, attack=attack, outcome=kinds[n % 4]) for attack in ("a", "b") for n in range(20)]
    monkeypatch.setattr(listing, "MOST_ROWS", 14)
    found = parsed(run_of(*records), tmp_path)
    rows = found.data()["rows"]
    assert [row["attack"] for row in rows] == [0] * 7 + [1] * 7
    assert [row["outcome"] for row in rows].count("success") == 10
    assert "skipped" not in {row["outcome"] for row in rows}
    ids = [int(row["id"][1:]) for row in rows]
    assert ids == sorted(ids[:7]) + sorted(ids[7:])
    assert "Showing 14 of 40; mohs export writes all." in found.text


def test_at_most_two_thousand_rows(tmp_path: Path) -> None:
    found = parsed(run_of(*(record(n) for n in range(2005))), tmp_path)
    assert [row["id"] for row in found.data()["rows"]] == [f"e{n}" for n in range(2000)]
    assert "Showing 2,000 of 2,005; mohs export writes all." in found.text
    assert "2,005 of 2,005 examples" in found.text


def test_an_empty_run_has_a_page(tmp_path: Path) -> None:
    found = parsed(run_of(), tmp_path)
    assert "Nothing has been attacked yet." in found.text
    assert found.scripts == []


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    run = run_of(record())
    run.manifest["identity"] = {"examples": 3}
    assert "1 of 3 attempts so far" in parsed(run, tmp_path).text


def test_without_scripts_the_summary_stays(tmp_path: Path) -> None:
    found = parsed(run_of(record()), tmp_path)
    assert "noscript" in [tag for tag, _ in found.tags]
    assert "The list of attempts needs JavaScript" in found.text


def test_other_goals_are_not_called_fooling(tmp_path: Path) -> None:
    assert (
        "reached the goal below:0.3 on 1 of 1 examples attacked"
        in parsed(run_of(record(), goal="below:0.3"), tmp_path).text
    )


def test_long_names_are_cut_and_kept_apart(tmp_path: Path) -> None:
    names = parsed(run_of(record(attack="x" * 90 + "1"), record(attack="x" * 90 + "2")), tmp_path).data()["attacks"]
    assert len(set(names)) == 2
    assert max(map(len, names)) < 60


def test_many_words_changed_are_counted_in_ranges(tmp_path: Path) -> None:
    text = " ".join("abcdefghijklmnopqrstuvwxyz" * 3)
    long = record(1, original=(text,), edits=tuple(Edit(n, text[2 * n], "Z") for n in range(70)), words=78)
    labels = [a["aria-label"] or "" for tag, a in parsed(run_of(record(0), long), tmp_path).tags if tag == "svg"]
    assert "1 with 1–5; 1 with 66–70;" in labels[2]


@pytest.mark.parametrize("place", ["missing/report.html", "folder"])
def test_what_cannot_be_written_is_one_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    with run_of(record()) as run, pytest.raises(MohsError, match="cannot be written"):
        run.report(tmp_path / place)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_real_run(tmp_path: Path) -> None:
    with mohs.attack("pocket", "pocket", ["random"], n=5) as run:
        found = Parsed(run.report(tmp_path / "report.html").read_text("utf-8"))
        originals = [list(r.original) for r in run.records()]
        perturbed = [list(r.perturbed or r.original) for r in run.records()]
    rows = found.data()["rows"]
    assert [["".join(p if isinstance(p, str) else p[0] for p in f) for f in r["text"]] for r in rows] == originals
    assert [["".join(p if isinstance(p, str) else p[1] for p in f) for f in r["text"]] for r in rows] == perturbed


def columns(found: Parsed) -> list[str]:
    return [column["cell"] for column in found.data()["columns"]]


def filters(found: Parsed) -> list[str | None]:
    return [attrs["data-filter"] for tag, attrs in found.tags if tag == "select" and "data-filter" in attrs]


def test_acceptance_has_a_column_and_a_filter_only_if_something_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = [record(0), record(1), record(2)]
    with run_of(*run) as alone:
        plain = Parsed(alone.report(tmp_path / "plain.html", judge="none").read_text("utf-8"))
    assert "accepted" not in columns(plain)
    assert "accepted" not in [attrs.get("id") for _, attrs in plain.tags]
    judged = {"e0": 0.123456, "e1": None, "e2": 1.0}
    monkeypatch.setattr(AttackView, "accepted", lambda self, record: judged[record.example_id])
    found = parsed(run_of(*run), tmp_path)
    assert "accepted" in columns(found)
    assert "accepted" in [attrs.get("id") for tag, attrs in found.tags if tag == "input"]
    assert [row["accepted"] for row in found.data()["rows"]] == [0.1235, None, 1.0]


def test_the_member_of_a_battery_has_a_column_of_its_own(tmp_path: Path) -> None:
    found = parsed(run_of(record(0, by="textfooler:paper"), record(1, by="pwws:paper"), record(2)), tmp_path)
    assert "by" in columns(found)
    assert "by" in filters(found)
    assert [row["by"] for row in found.data()["rows"]] == ["textfooler:paper", "pwws:paper", None]
    alone = parsed(run_of(record(0)), tmp_path)
    assert "by" not in columns(alone)
    assert filters(alone) == []


def test_classes_can_be_chosen_if_there_are_several(tmp_path: Path) -> None:
    wrong = record(0)  # label 1, predicted 0
    right = record(1, outcome=Outcome.FAILED, scores_after=(0.4, 0.6))
    unread = record(2, outcome=Outcome.ERROR, scores_before=(), scores_after=(), perturbed=None, edits=(), error="!")
    found = parsed(run_of(wrong, right, unread), tmp_path)
    assert [row["predicted"] for row in found.data()["rows"]] == ["negative", "positive", None]
    assert filters(found) == ["predicted"]
    assert filters(parsed(run_of(wrong, right, record(3, label=0)), tmp_path)) == ["label", "predicted"]


def test_odd_characters_of_changed_words_have_names(tmp_path: Path) -> None:
    edits = (Edit(1, "good", "go\u200bod", "letters"), Edit(2, "good", "bad"))
    (row,) = parsed(run_of(record(edits=edits)), tmp_path).data()["rows"]
    odd = [[], [[2, "U+200B", "ZERO WIDTH SPACE", False]]]
    assert row["text"] == [["A ", ["good", "go\u200bod", "letters", odd], ", ", ["good", "bad", ""], " film."]]


def test_denominators_have_numbers(tmp_path: Path) -> None:
    skipped = {"outcome": Outcome.SKIPPED, "perturbed": None, "edits": (), "scores_after": ()}
    run = run_of(record(0), record(1), record(2, **skipped), record(0, attack="b"), record(1, attack="b", **skipped))
    found = parsed(run, tmp_path)
    assert "before: of 2 to 3 examples scored; under attack: of 2 to 3 examples scored" in found.text
    assert "of 1 to 2 examples attacked, the share on which the attack succeeded" in found.text


@pytest.mark.parametrize("attacks", [["a"], ["a", "b"]])
def test_bins_are_labelled_and_do_not_overlap(tmp_path: Path, attacks: list[str]) -> None:
    def changed(words: int, attack: str) -> Record:
        text = " ".join(["good"] * 50)
        edits = tuple(Edit(at, "good", "bad", "wordnet") for at in range(words))
        return record(words, attack=attack, original=(text,), words=50, edits=edits)

    found = parsed(run_of(*(changed(n, attack) for attack in attacks for n in (13, 44))), tmp_path)
    bins = [float(attrs["x"] or 0) for tag, attrs in found.tags if tag == "text" and attrs.get("class") == "bin"]
    assert len(bins) == 8
    assert all(right - left >= 40 for left, right in pairwise(bins))  # five signs of a label are about 32 wide


def test_how_examples_were_chosen_and_which_class_is_the_goal(tmp_path: Path) -> None:
    assert "films.csv (first 10)" in parsed(run_of(record(), n=10), tmp_path).text
    drawn = parsed(run_of(record(), n=10, sample=3, goal="targeted:0"), tmp_path)
    assert "films.csv (10 drawn with seed 3)" in drawn.text
    assert "reached the goal targeted:0 (negative) on 1 of 1" in drawn.text
    assert "only reaching the goal counts as success" in drawn.text
