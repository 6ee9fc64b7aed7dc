"""What every attack must keep, whatever it does: one table over the catalogue."""

from __future__ import annotations

import random
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mohs
from mohs import engine
from mohs.attacks.catalogue import CATALOGUE, entries, find_attack, name_of
from mohs.attacks.goal import UNTARGETED, keeps_label, parse_goal, predicted
from mohs.attacks.method import goal_of, needs
from mohs.engine import Service, by_size
from mohs.errors import BadInput
from mohs.models.bag import BagVictim, pocket_victim
from mohs.models.victim import Fields
from mohs.records import Outcome, Record
from mohs.space import Services, build_space
from mohs.space.rewrites import only_rewrites, rewriters
from mohs.tasks.services import load_services
from mohs.text import Edit
from mohs.text.dataset import Dataset
from mohs.text.placeholders import placeholders
from tests.toy_paraphraser import ToyParaphraser
from tests.toy_parser import ToyParser
from tests.toy_trees import ToyTrees
from tests.toys import WordCount, bundled, toy_services

SAME = ("cv70-use85", "cv70-use90", "cv80-use90")  # TextFooler's cv50-use88 with other numbers
TWICE = ("a2t:textattack", "a2t:textattack-mlm")  # a2t:paper and a2t:paper-mlm under another name
NAMES = [f"{name}:{preset}" for name, presets in CATALOGUE.items() for preset in presets if preset not in SAME]
ALL = [name for name in NAMES if name not in TWICE]
each_attack = pytest.mark.parametrize("name", ALL)
REVIEWS = list(Dataset("pocket", n=12))
BOOK = sorted(pocket_victim().word_scores)


def toys_for(name: str) -> dict[str, Any]:
    """The toy services, and those that only some attacks may be given."""
    more = {"parser": ToyParser(), "paraphraser": ToyParaphraser(), "autoencoder": ToyTrees()}
    wanted = needs(find_attack(name)[1])
    return toy_services() | {kind: toy for kind, toy in more.items() if kind in wanted}


def records(name: str, examples: list[mohs.Example], **options: Any) -> dict[str, Record]:
    victim = options.pop("victim", "pocket")
    options.setdefault("budget", 200)  # population searches would go on for thousands
    with mohs.attack(victim, examples, [name], **{**bundled(), **toys_for(name), **options}) as run:
        return {record.example_id: record for record in run.records()}


class Sliced(BagVictim):
    """The pocket victim in batches of a few rows, several of which fly."""

    def __init__(self, in_flight: int, rows: int) -> None:
        vars(self).update(vars(pocket_victim()))
        self.in_flight, self.rows = in_flight, rows

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        return by_size(items, lambda fields: len(fields[0]), self.rows)


@each_attack
def test_neither_the_schedule_nor_the_order_nor_the_cache_matters(name: str, tmp_path: Path) -> None:
    # With bundled services of its own, which have not been asked anything before.
    with mohs.attack("pocket", REVIEWS, [name], budget=200, **toys_for(name)) as run:
        plain = {record.example_id: record for record in run.records()}
    assert records(name, REVIEWS, at_once=1, victim=Sliced(2, 1)) == plain
    shuffled = random.Random(3).sample(REVIEWS, len(REVIEWS))
    kept = tmp_path / "answers.sqlite"
    assert records(name, shuffled, at_once=7, victim=Sliced(3, 7), cache=kept) == plain
    assert records(name, REVIEWS, at_once=3, victim=Sliced(1, 64), cache=kept) == plain  # all from the cache


def test_with_the_grammar_checker_itself() -> None:
    found = [records("textfooler:adjusted", REVIEWS[:3], grammar="harper", at_once=count) for count in (1, 3)]
    assert found[0] == found[1]
    measured = [record.measures["grammar errors introduced"] for record in found[0].values() if record.edits]
    assert measured
    assert max(measured) <= 0


@each_attack
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(BOOK), min_size=0, max_size=12), seed=st.integers(0, 5), budget=st.integers(1, 80)
)
def test_stays_in_its_space_and_the_verdict_holds(name: str, words: list[str], seed: int, budget: int) -> None:
    text = ", ".join(words)
    victim = pocket_victim()
    label = predicted(victim.collect([(text,)])[0])
    example = mohs.Example.of(text, label)
    record = records(name, [example], seed=seed, budget=budget)["0"]
    assert record.queries <= budget
    attack = find_attack(name)[1]
    goal = parse_goal(goal_of(name, attack, UNTARGETED), label, 2)
    if goal.skips(record.scores_before, len(words)):
        assert record.outcome is Outcome.SKIPPED
        return
    assert record.outcome in (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED), record.error
    parts = load_services(needs(attack), bundled() | toys_for(name), victim=victim)
    asked = [part for part in parts.values() if isinstance(part, Service)]
    drawn = Random(f"{seed}/{name}/0")  # as in the run
    building = build_space(
        example.text, attack.source, attack.constraints, attack.stopwords, example.positions, Services(parts, drawn)
    )
    (built,) = engine.run([(0, building)], asked)
    space = built.result
    assert space is not None
    assert record.perturbed is not None
    final = example.text.replace_all({edit.position: edit.new for edit in record.edits})
    if space.rewrites:  # edits say what became of the words; the signs between them may differ as well
        final = mohs.Text(*record.perturbed)
        assert final == example.text or record.edits == space.edits(final)
    assert final.fields == record.perturbed
    assert final in space or getattr(attack, "living", False)  # what such a space offers depends on the way taken
    assert record.scores_after == victim.collect([record.perturbed])[0]
    left = sum(len(word.split()) for word in final.words)
    assert goal.won(record.scores_after, left) == (record.outcome is Outcome.SUCCESS)
    if keeps_label(goal_of(name, attack, UNTARGETED)):
        assert predicted(record.scores_after) == label  # it shortens, and never changes the label


@each_attack
def test_it_can_search_fair_changes_only(name: str) -> None:
    if keeps_label(goal_of(name, find_attack(name)[1], UNTARGETED)):
        with pytest.raises(BadInput, match=f"{name} deletes words to keep the label"):
            records(name, REVIEWS[:1], fair=True)
        return
    if name.partition(":")[0] in ("deepwordbug", "pruthi") or name == "comp-attack:typo":
        with pytest.raises(BadInput, match=f"{name} only changes spellings, on which the judge has no opinion"):
            records(name, REVIEWS[:1], fair=True)
        return
    if only_rewrites(find_attack(name)[1].source):
        with pytest.raises(BadInput, match=f"{name} rewrites whole texts, and the judge of --fair reads single words"):
            records(name, REVIEWS[:1], fair=True)
        return
    for record in records(name, REVIEWS[:6], fair=True).values():
        assert record.error is None
        if record.edits:
            assert record.measures["acceptable"] >= 0.5
            assert record.measures["antonyms"] == 0
            assert record.measures["grammar errors introduced"] <= 0


@each_attack
def test_only_allowed_fields_change(name: str) -> None:
    pairs = [
        mohs.Example(e.id, mohs.Text(e.text.fields[0], f.text.fields[0]), e.label, ("one", "two"), ("one",))
        for e, f in zip(REVIEWS[:6], REVIEWS[6:], strict=True)
    ]
    found = records(name, pairs)
    for pair in pairs:
        assert found[pair.id].error is None
        perturbed = found[pair.id].perturbed
        assert perturbed is None or perturbed[1] == pair.text.fields[1]


PLACEHOLDERS = ["@USER", "[NAME]", "<user>", "URL", "http://a.org/good-bad", "<br /><br />", "@good_7"]


def with_placeholders(example: mohs.Example) -> mohs.Example:
    """The example with a placeholder after every second word."""
    words = example.text.fields[0].split(" ")
    marked = [f"{word} {PLACEHOLDERS[n // 2 % len(PLACEHOLDERS)]}" if n % 2 else word for n, word in enumerate(words)]
    return mohs.Example.of(" ".join(marked), example.label, id=example.id)


def changed(record: Record, rewrites: bool) -> list[Edit]:
    """The edits of a record. A rewrite may add words beside one that stays: that changes no word."""
    return [edit for edit in record.edits if not (rewrites and edit.old in mohs.Text(edit.new).words)]


@each_attack
def test_placeholders_and_words_to_keep_never_change(name: str) -> None:
    marked = [with_placeholders(example) for example in REVIEWS[:6]]
    free = records(name, marked, change_placeholders=True)
    rewrites = bool(rewriters(find_attack(name)[1].source))
    kept = {edit.old.lower() for edit in [edit for record in free.values() for edit in changed(record, rewrites)][::3]}
    found = records(name, marked, **({"keep": sorted(kept)} if kept else {}))
    for example in marked:
        record = found[example.id]
        assert record.error is None
        assert not {edit.position for edit in changed(record, rewrites)} & placeholders(example.text)
        assert not {edit.old.lower() for edit in changed(record, rewrites)} & kept
        if record.perturbed is not None:
            for mark in PLACEHOLDERS:
                assert record.perturbed[0].count(mark) == record.original[0].count(mark)


@each_attack
@pytest.mark.parametrize("goal", ["targeted:1", "below:0.3"])
def test_other_goals(name: str, goal: str) -> None:
    if hasattr(find_attack(name)[1], "goal"):
        with pytest.raises(BadInput, match=f"{name} keeps the label, so it cannot have the goal {goal}"):
            records(name, REVIEWS, goal=goal)
        return
    for record in records(name, REVIEWS, goal=goal).values():
        assert record.error is None
        if record.outcome is Outcome.SUCCESS:
            met = (
                predicted(record.scores_after) == 1 if goal == "targeted:1" else record.scores_after[record.label] < 0.3
            )
            assert met


@each_attack
def test_fewer_words_is_a_goal_of_reduction_alone(name: str) -> None:
    if not hasattr(find_attack(name)[1], "goal"):
        with pytest.raises(BadInput, match=f"{name} changes the label, so it cannot have the goal reduced:3"):
            records(name, REVIEWS, goal="reduced:3")
        return
    found = records(name, REVIEWS, goal="reduced:3", budget=None).values()
    assert [record.error for record in found] == [None] * len(REVIEWS)
    for record in found:
        if record.outcome is not Outcome.SKIPPED:
            assert record.perturbed is not None
            assert predicted(record.scores_after) == record.label
            left = len(mohs.Text(*record.perturbed).words)
            assert (left <= 3) == (record.outcome is Outcome.SUCCESS)


@each_attack
def test_awkward_texts(name: str) -> None:
    texts = ["", "great", "👍👍", "GREAT!!! 100%", "great\r\n\r\ngreat", "שלום great עולם", "e\u0301t\u00e9 great"]
    examples = [mohs.Example.of(text, 1, id=str(i)) for i, text in enumerate(texts)]
    assert [record.error for record in records(name, examples).values()] == [None] * len(texts)


@each_attack
def test_words_beyond_the_window_are_left_alone(name: str) -> None:
    class Short(WordCount):
        def visible(self, fields: tuple[str, ...]) -> tuple[int, ...] | None:
            return (20,)

        def scores(self, fields: tuple[str, ...]) -> tuple[float, ...]:
            return super().scores((fields[0][:20],))

    victim = Short({"good": 2.0, "great": 2.0})
    record = records(name, [mohs.Example.of("a good film with great good actors", 1)], victim=victim)["0"]
    assert record.beyond_window == 3  # great, good, actors; "with" ends at character 16
    assert all(edit.position < 4 for edit in record.edits)


@each_attack
def test_a_victim_that_only_gives_labels_is_refused_or_works(name: str) -> None:
    def labels(texts: list[str]) -> list[int]:
        return [int("good" in text) for text in texts]

    options: dict[str, Any] = {"labels": ("no", "yes"), "victim_options": {"output": "labels"}}
    if find_attack(name)[1].needs_scores:
        with pytest.raises(BadInput, match="needs the victim's scores, but"):
            mohs.attack(labels, [("a good film", 1)], [name], **options, **toys_for(name))
    else:
        assert records(name, [mohs.Example.of("a good film", 1)], victim=labels, **options)["0"].error is None


@pytest.mark.parametrize("name", NAMES)
def test_it_is_in_the_table_and_knows_its_name(name: str) -> None:
    entry = next(entry for entry in entries() if entry.name == name.split(":")[0])
    assert name.split(":")[1] in entry.presets
    assert entry.paper
    assert entry.about
    known = name.replace("a2t:textattack", "a2t:paper") if name in TWICE else name
    assert name_of(find_attack(name)[1]) == known
    hash(find_attack(name)[1])
