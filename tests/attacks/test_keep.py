"""Words that never change: those the user names, and placeholders."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks.catalogue import find_attack
from mohs.attacks.verb import AttackVerb
from mohs.errors import BadInput
from mohs.records import Record
from mohs.text.stopwords import NLTK
from tests.toys import bundled, table

TWEETS = [
    ("@USER what a lovely, lovely film URL", 1),
    ("a dull and boring story, says [NAME]<br /><br />never again http://dull.org/awful", 0),
]


def attacked(attack: str = "textfooler", data: Any = "pocket", **options: Any) -> list[Record]:
    if data == "pocket":
        options = {"n": 20} | options
    with mohs.attack("pocket", data, [attack], **{**bundled(), **options}) as run:
        return list(run.records())


def changed(records: list[Record]) -> set[str]:
    return {edit.old.lower() for record in records for edit in record.edits}


def members(**options: Any) -> dict[str, Any]:
    return {name: method for _, team in AttackVerb(**options)._teams for name, method in team}


def test_words_to_keep_are_added_to_the_attacks_own_stopwords(tmp_path: Path) -> None:
    usual = attacked()
    word = sorted(changed(usual))[0]
    file = tmp_path / "keep.txt"
    file.write_text(f"{word.upper()}\n", "utf-8")
    kept = attacked(keep=file)
    assert word not in changed(kept)
    own = find_attack("textfooler")[1].stopwords
    assert own
    assert not changed(kept) & own  # one more word to keep frees no other
    replaced = attacked(stopwords=file)
    assert changed(replaced) & own  # as --stopwords does


@pytest.mark.parametrize("attack", ["textfooler", "deepwordbug", "clare", "standard"])
def test_every_member_keeps_its_own_list(attack: str) -> None:
    plain, kept = members(attacks=[attack]), members(attacks=[attack], keep=["Acme", "@Brand"])
    assert [f"{name}+keep" for name in plain] == list(kept)
    for name, method in plain.items():
        assert kept[f"{name}+keep"].stopwords == method.stopwords | {"acme", "brand"}


def test_with_a_stopword_list_both_count() -> None:
    (name, method), *_ = members(stopwords="nltk", keep=["acme"]).items()
    assert name == "textfooler:paper+stopwords+keep"
    assert method.stopwords == NLTK | {"acme"}


def test_a_list_of_words_is_part_of_the_identity(tmp_path: Path) -> None:
    out = tmp_path / "run"
    attacked("random", n=2, keep=iter(["film"]), out=out)
    with mohs.Run.open(out) as run:
        assert run.manifest["config"]["keep"] == "given"
    attacked("random", n=2, keep=["FILM"], out=out)
    with pytest.raises(BadInput, match=r"settings of random:baseline\+keep"):
        attacked("random", n=2, keep=["movie"], out=out)


@pytest.mark.parametrize("written", ["", " \n", "?!\n"])
def test_an_empty_list_is_one_sentence(tmp_path: Path, written: str) -> None:
    file = tmp_path / "keep.txt"
    file.write_text(written, "utf-8")
    with pytest.raises(BadInput) as raised:
        attacked("random", keep=file)
    assert str(raised.value) == (
        f"The list of words to keep {file} holds no word; give a text file with one word per line, or leave it out."
    )


def test_placeholders_change_only_if_asked_for() -> None:
    marked = {"user", "url", "name", "br", "http", "dull", "org", "awful"}
    kept = attacked("deepwordbug", TWEETS)
    assert changed(kept)
    for record, count in zip(kept, (2, 7), strict=True):
        assert record.positions == record.words - count
        assert record.beyond_window == 0
    assert "http://dull.org/awful" in (kept[1].perturbed or ("",))[0]
    free = attacked("deepwordbug", TWEETS, change_placeholders=True)
    assert [record.positions for record in free] == [record.words for record in free]
    assert {"user", "br", "http"} <= changed(free) & marked


def test_a_run_that_changed_placeholders_is_resumed_only_as_such(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = attacked("random", TWEETS, change_placeholders=True, out=out)
    assert attacked("random", TWEETS, change_placeholders=True, out=out) == first
    with pytest.raises(BadInput, match="change_placeholders: None in the folder, False asked for"):
        attacked("random", TWEETS, out=out)


def test_a_run_of_a_version_without_the_option_is_resumed_as_it_was_started(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = attacked("random", TWEETS, change_placeholders=True, out=out)
    manifest = (out / "manifest.yaml").read_text("utf-8")
    assert manifest.count("change_placeholders") == 1
    lines = [line for line in manifest.splitlines(keepends=True) if "change_placeholders" not in line]
    (out / "manifest.yaml").write_text("".join(lines), "utf-8")
    assert attacked("random", TWEETS, out=out) == first
    with sqlite3.connect(out / "journal.sqlite") as journal:
        journal.execute("DELETE FROM records")
    journal.close()
    assert attacked("random", TWEETS, out=out) == first


def test_without_placeholders_the_option_changes_nothing() -> None:
    assert attacked("random", n=3, change_placeholders=True) == attacked("random", n=3)


@pytest.mark.parametrize(("option", "free"), [({}, 5), ({"change_placeholders": True}, 7)])
def test_a_radius_counts_the_same_positions(option: dict[str, Any], free: int) -> None:
    source = table(user="customer", what="which", a="one", lovely="nice", film="movie", url="link")
    options: dict[str, Any] = {"source": source, "stopwords": (), "max_r": 1} | option
    with mohs.radius("pocket", TWEETS[:1], **options) as run:
        (record,) = run.records()
    assert record.error is None
    assert record.positions == free


@pytest.mark.parametrize(("option", "outcome"), [({}, "skipped"), ({"change_placeholders": True}, "measured")])
def test_a_bias_is_not_measured_in_a_placeholder(option: dict[str, Any], outcome: str) -> None:
    sentences = [("@he wrote a good film", 1), ("he wrote a bad film", 0)]
    with mohs.token_bias("pocket", sentences, pairs="gender", k=0, **option) as run:
        assert [str(record.outcome) for record in run.records()] == [outcome, "measured"]
