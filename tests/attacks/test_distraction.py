"""Distractions: tautologies, links and handles."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks.catalogue import entries, find_attack
from mohs.attacks.goal import Untargeted
from mohs.attacks.labels import keeps_label_of
from mohs.attacks.method import fits
from mohs.audits.columns import texts_of
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.space import Links, Neighbours, Tautologies, Union, parse_source
from mohs.space.extent import words_changed
from mohs.text import Text
from tests.toys import WordCount, bundled, now, services

FIVE = "and true is true and true is true and true is true and true is true and true is true"


def attacked(attack: Any, examples: list[mohs.Example], victim: Any, **options: Any) -> list[Record]:
    with mohs.attack(victim, examples, [attack], **{**bundled(), **options}) as run:
        return list(run.records())


@pytest.mark.parametrize(
    ("said", "before", "after"),
    [
        ("a good film.", "a good film ", "."),
        ("a good film", "a good film ", ""),
        ("a good film . ", "a good film ", " . "),
        ("What a film?!", "What a film ", "?!"),
        ("Mr. Smith is late...", "Mr. Smith is late ", "..."),
        ('He said "good."', 'He said "good." ', ""),
        ("see http://a.org/b.", "see http://a.org/b ", "."),
        ("good\n", "good ", "\n"),
    ],
)
def test_the_three_tautologies(said: str, before: str, after: str) -> None:
    found = now(Tautologies().rewrite(Text(said), 0, services()))
    assert found == {
        f"{before}and true is true{after}": "tautology: true",
        f"{before}and false is not true{after}": "tautology: not false",
        f"{before}{FIVE}{after}": "tautology: true, 5 times",
    }


def test_links_and_handles_before_and_after() -> None:
    found = now(Links(each=2).rewrite(Text("a", "good film."), 1, services(seed=3)))
    names = ["link", "link", "handle", "handle"]
    assert list(found.values()) == [f"{name} before" for name in names] + [f"{name} after" for name in names]
    added = [string.replace("good film.", "").strip() for string in found]
    assert added[:4] == added[4:]
    assert len(set(added)) == 4
    for one in added[:2]:
        assert re.fullmatch(r"https://t\.co/[A-Za-z0-9]{6}", one)
    for one in added[2:4]:
        assert re.fullmatch(r"@[A-Za-z0-9]{6}", one)
    assert list(found) == [f"{one} good film." for one in added[:4]] + [f"good film. {one}" for one in added[4:]]
    assert now(Links(each=2).rewrite(Text("a", "good film."), 1, services(seed=3))) == found
    assert now(Links(each=2).rewrite(Text("a", "good film."), 1, services(seed=4))) != found


@pytest.mark.parametrize(
    ("spec", "source"),
    [
        ("tautology", Tautologies()),
        ("tautology:times=2", Tautologies(times=2)),
        ("links:each=1", Links(each=1)),
        ("tautology+links", Union((Tautologies(), Links()))),
    ],
)
def test_as_written(spec: str, source: Any) -> None:
    assert parse_source(spec) == source


@pytest.mark.parametrize(("spec", "least"), [("tautology:times=1", 2), ("links:each=0", 1)])
def test_settings_that_would_do_nothing(spec: str, least: int) -> None:
    with pytest.raises(BadInput, match=f"it must be at least {least}"):
        parse_source(spec)


def test_the_presets() -> None:
    sources = [find_attack(f"distraction:{name}")[1].source for name in ("paper", "stresstest", "checklist")]
    assert sources == [Union((Tautologies(), Links())), Tautologies(), Links()]


def test_the_rewrite_with_the_fewest_new_words_wins_then_the_strongest() -> None:
    # One "true" brings 1.5 down to 0.5, "not" down to -1.5, and ten of them far below.
    victim = WordCount({"good": 1.5, "true": -0.5, "not": -2.5})
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], victim)
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("a good film and false is not true.",)  # 5 words; five times would be 20
    assert record.queries == 4
    assert [tuple(edit) for edit in record.edits] == [
        (2, "film", "film and false is not true", "rewrite: tautology: not false")
    ]
    assert record.positions == 3
    even = WordCount({"good": 1.5, "true": -1.0})
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], even)
    assert record.perturbed == ("a good film and true is true.",)


def test_without_a_success_the_strongest_is_kept() -> None:
    victim = WordCount({"good": 9.0, "true": -0.5})
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], victim)
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == (f"a good film {FIVE}.",)
    steady = WordCount({"good": 9.0, "true": 0.5})
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], steady)
    assert record.perturbed == record.original


@pytest.mark.parametrize(("budget", "outcome"), [(1, "exhausted"), (2, "exhausted"), (3, "success"), (4, "success")])
def test_the_budget(budget: int, outcome: str) -> None:
    victim = WordCount({"good": 1.5, "not": -2.5})  # the second rewrite fools it
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], victim, budget=budget)
    assert str(record.outcome) == outcome
    assert record.queries <= budget


def test_only_the_hypothesis_changes() -> None:
    victim = WordCount({"good": 1.5, "not": -2.5})
    pair = mohs.Example.of(("a good film", "it is fine."), 1)
    (record,) = attacked("distraction:stresstest", [pair], victim)
    assert record.perturbed == ("a good film", "it is fine and false is not true.")
    assert record.edits[0].position == 5


def test_links_are_drawn_for_each_example_and_seed() -> None:
    class Linked(WordCount):
        def scores(self, fields: tuple[str, ...]) -> tuple[float, ...]:
            return (0.9, 0.1) if "https://" in fields[0] else (0.2, 0.8)

    twice = [mohs.Example.of("a good film", 1, id=str(number)) for number in range(2)]
    first = attacked("distraction:checklist", twice, Linked({}), seed=1)
    texts = [record.perturbed for record in first]
    assert len(set(texts)) == 2
    assert [record.perturbed for record in attacked("distraction:checklist", twice[::-1], Linked({}), seed=1)] == [
        texts[1],
        texts[0],
    ]
    assert [record.perturbed for record in attacked("distraction:checklist", twice, Linked({}), seed=2)] != texts


def test_constraints_and_measures_hold() -> None:
    victim = WordCount({"good": 1.5, "true": -1.0, "not": -2.5})
    options = {"constraints": ["words-changed<=4"], "measures": ["edit-distance"]}
    (record,) = attacked("distraction:stresstest", [mohs.Example.of("a good film.", 1)], victim, **options)
    assert record.perturbed == ("a good film and true is true.",)
    assert record.queries == 2
    assert record.measures == {"words changed": 4, "edit distance": len(" and true is true")}
    (record,) = attacked("distraction", [mohs.Example.of("a good film.", 1)], victim, constraints=["words-changed<=1"])
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == record.original


def test_a_rewriter_as_the_source_of_an_attack() -> None:
    victim = WordCount({"good": 1.5, "not": -2.5})
    (record,) = attacked("rewriting", [mohs.Example.of("a good film.", 1)], victim, source="tautology:times=2")
    assert record.perturbed == ("a good film and false is not true.",)


@pytest.mark.parametrize(
    ("attack", "source", "sentence"),
    [
        (
            "textfooler",
            "neighbours+links",
            r"textfooler:paper\+neighbours\+links replaces single words and would never try the rewrites of links; "
            "give that source to --attack rewriting",
        ),
        (
            "distraction",
            "neighbours",
            r"distraction:paper\+neighbours rewrites whole texts, but its source here replaces single words; use an "
            "attack that does so, such as greedy",
        ),
        ("rewriting", "links+neighbours", "rewrites whole texts, but its source here replaces single words"),
    ],
)
def test_a_source_that_an_attack_would_never_try(attack: str, source: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        attacked(attack, [mohs.Example.of("a good film.", 1)], WordCount({}), source=source)


@pytest.mark.parametrize("verb", ["radius", "certify"])
def test_verbs_over_words_refuse_the_attack(verb: str) -> None:
    with pytest.raises(BadInput, match="distraction:stresstest rewrites whole texts"):
        getattr(mohs, verb)("nowhere", "nowhere.jsonl", attacks=["distraction:stresstest"])


def test_an_attack_on_words_fits_its_own_source() -> None:
    fits("greedy", find_attack("greedy")[1])
    fits("distraction", find_attack("distraction")[1])


def test_which_labels_it_keeps() -> None:
    assert keeps_label_of(find_attack("distraction")[1]) == frozenset({"sentiment", "nli", "qnli"})
    assert keeps_label_of(find_attack("textfooler")[1]) is None
    assert keeps_label_of(mohs.TextFooler(source=Neighbours(k=1))) is None
    (entry,) = (entry for entry in entries() if entry.name == "distraction")
    assert entry.keeps_label_of == ("nli", "qnli", "sentiment")


@pytest.mark.parametrize(
    ("names", "labels", "noted"),
    [
        (("question1", "question2"), ("no", "yes"), False),  # what these labels mean nobody knows
        (("question1", "question2"), ("not_duplicate", "duplicate"), True),
        (("premise", "hypothesis"), ("entailment", "not_entailment"), False),
    ],
)
def test_a_run_on_another_kind_of_task_says_so(names: Any, labels: Any, noted: bool) -> None:
    def predict(texts: list[tuple[str, str]]) -> list[list[float]]:
        return [[0.4, 0.6] for _ in texts]

    pair = mohs.Example.of(("who is it?", "who is this?"), 1, names=names)
    with mohs.attack(predict, [pair], ["distraction"], labels=labels) as run:
        notes = run.manifest["facts"]["notes"]
    sentence = (
        "distraction:paper keeps the labels of these tasks: sentiment, natural language inference, whether a sentence "
        "answers a question. This one seems to be another (paraphrases), so look whether a changed text still has its "
        "label."
    )
    assert (sentence in notes) == noted


def test_the_page_shows_the_text_itself(tmp_path: Path) -> None:
    victim = WordCount({"good": 1.5, "not": -2.5})
    example = mohs.Example.of('He said: "good film."', 1)
    with mohs.attack(victim, [example], ["distraction:stresstest"]) as run:
        (record,) = run.records()
        page = run.report(tmp_path / "page.html").read_text("utf-8")
    assert record.perturbed == ('He said: "good film." and false is not true',)
    (edit,) = record.edits
    assert Text(*record.original).replace_all({edit.position: edit.new}).fields != record.perturbed
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    ((field,),) = [row["text"] for row in data["rows"]]
    assert field == ['He said: "good film', ['."', '." and false is not true', "rewrite: tautology: not false"], ""]


def test_other_verbs_know_that_the_text_was_rewritten() -> None:
    victim = WordCount({"good": 1.5, "not": -2.5})
    options: dict[str, Any] = {"measures": ["words-changed"]}
    with mohs.attack(victim, [mohs.Example.of("a good film.", 1)], ["distraction:stresstest"], **options) as run:
        (record,) = run.records()
        original, final = texts_of(record)
        assert record.measures["words changed"] == words_changed(original, final) == 5  # as an audit measures it
        with pytest.raises(BadInput, match="has no adversarial example with replaced words"):
            mohs.analyse(run)


def test_the_goal_is_met_by_labels_alone() -> None:
    def labels(texts: list[str]) -> list[int]:
        return [int("not" not in text) for text in texts]

    (record,) = attacked(
        "distraction:stresstest",
        [mohs.Example.of("a good film.", 1)],
        labels,
        labels=("no", "yes"),
        victim_options={"output": "labels"},
    )
    assert Untargeted(1).met(record.scores_after)
    assert record.outcome is Outcome.SUCCESS
