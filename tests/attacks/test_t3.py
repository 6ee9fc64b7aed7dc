"""T3: what it asks, what it tries, and what it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks.catalogue import find_attack
from mohs.attacks.method import needs
from mohs.attacks.t3 import T3, Descent, leaf
from mohs.errors import BadInput
from mohs.models.tree_folder import save_settings, save_trees
from mohs.records import Outcome, Record
from mohs.space.trees import fixed_tokens
from mohs.text import Text
from mohs.text.parses import ParsedToken
from mohs.text.tree_search import Decoded, TreeQuestion
from tests.models.tree_toys import trained
from tests.toy_parser import ToyParser, parse
from tests.toy_trees import ToyTrees
from tests.toys import WordCount

VICTIM = WordCount({"good": 2.0, "great": 2.0, "bad": -2.0, "dull": -3.0})


class Told(ToyTrees):
    """Gives what it is told to."""

    def __init__(self, *found: Decoded, reconstruction: float = 1.0) -> None:
        self.found = list(found)
        self.asked: list[TreeQuestion] = []
        self.reconstruction = reconstruction

    def answer(self, item: TreeQuestion) -> list[Decoded]:
        self.asked.append(item)
        return self.found


def attacked(text: Any, trees: Any, label: int = 1, attack: Any = None, **options: Any) -> Record:
    example = text if isinstance(text, mohs.Example) else mohs.Example.of(text, label)
    options = {"parser": ToyParser(), "autoencoder": trees, **options}
    with mohs.attack(VICTIM, [example], [attack or T3()], **options) as run:
        (record,) = run.records()
        return record


def decoded(string: str, margin: float, distance: float = 1.0) -> Decoded:
    return Decoded(string, 0, margin, distance)


def test_the_nearest_that_fools_the_victim_is_taken() -> None:
    trees = Told(
        decoded("a dull film", -3.0, 9.0),
        decoded("a good film", 1.0, 0.0),  # the original
        decoded("a bad film", -2.0, 4.0),
        decoded("a great film", -1.0, 1.0),  # the search was wrong about this one, so the next is tried
        decoded("a good dull film", -1.0, 16.0),
    )
    record = attacked("a good film", trees)
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.SUCCESS, ("a bad film",), 3)
    assert [(edit.old, edit.new, edit.source) for edit in record.edits] == [("good", "bad", "rewrite: root")]
    (question,) = trees.asked
    assert question.steps == (False, 100, 0.1, 1e4, 0.0, 0.5, 0.1)
    assert (question.fields, question.number, question.label, question.target) == (("a good film",), 0, 1, None)
    assert question.parse == parse("a good film")
    assert question.fixed == (False, False, False)


def test_if_none_fools_the_victim_only_the_strongest_is_asked() -> None:
    record = attacked("a good good film", Told(decoded("a good great film", 2.0), decoded("a good movie film", 0.5)))
    assert (record.outcome, record.queries) == (Outcome.FAILED, 2)
    assert record.perturbed == ("a good movie film",)  # its score is lower than the original's
    assert attacked("a good film", Told()).perturbed == ("a good film",)


def test_the_budget_ends_it() -> None:
    trees = Told(*(decoded(f"a great film {word}", -1.0) for word in ("one", "two", "three")))
    record = attacked("a good film", trees, budget=2)
    assert (record.outcome, record.queries) == (Outcome.EXHAUSTED, 2)


def test_goals_reach_the_search() -> None:
    trees = Told()
    attacked("a good film", trees, goal="targeted:0")
    attacked("a good film", trees, goal="below:0.2")
    assert [question.target for question in trees.asked] == [0, None]
    assert trees.asked[1].steps.confidence == pytest.approx(1.3862944)  # log(0.8 / 0.2)
    below = attacked("a good film", Told(decoded("a bad film", -1.39), decoded("a film", -1.38, 0.5)), goal="below:0.2")
    assert below.perturbed == ("a bad film",)


def test_fixed_words_and_other_fields() -> None:
    pair = mohs.Example("0", Text("a good film", "it's good"), 1, ("one", "two"), ("two",))
    trees = Told(decoded("it's dull", -1.0))
    record = attacked(pair, trees, keep=["it's"])
    assert record.perturbed == ("a good film", "it's dull")
    (question,) = trees.asked
    assert question.number == 1
    told = {token.text: fixed for token, fixed in zip(question.parse, question.fixed, strict=True)}
    assert told == {"it": True, "'": True, "s": True, "good": False}
    both = Told()
    attacked(mohs.Example("0", pair.text, 1, ("one", "two"), ("one", "two")), both)
    assert [question.number for question in both.asked] == [0, 1]


def test_a_token_is_free_if_all_words_in_it_are() -> None:
    text = Text("U.S. film")  # whatever the words are, a token over one that stays is fixed
    (first, *_), tokens = text.spans(), (ParsedToken("U.S. film", 0, 9, 0, "ROOT", "X", "XX", "u"),)
    free = set(range(len(text)))
    assert fixed_tokens(text, 0, tokens, free) == (False,)
    assert fixed_tokens(text, 0, tokens, free - {0}) == (True,)
    assert first[0] == 0
    sign = (ParsedToken("?", 9, 10, 0, "ROOT", "X", "XX", "?"),)
    assert fixed_tokens(Text("U.S. film?"), 0, sign, free) == (True,)


def test_a_constraint_holds() -> None:
    trees = Told(decoded("a bad dull", -5.0, 1.0), decoded("a dull film", -3.0, 9.0))
    record = attacked("a good film", trees, constraints=["words-changed<=1"])
    assert record.perturbed == ("a dull film",)
    assert record.measures["words changed"] == 1


def test_an_auto_encoder_that_gives_back_too_little_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r"gives back 89\.9% of the tokens of held-out short sentences, and 90% are need"
    ):
        attacked("a good film", Told(reconstruction=0.899))
    assert attacked("a good film", Told(reconstruction=0.899), attack=T3(least_reconstruction=0.8)).error is None


def test_what_it_needs() -> None:
    assert needs(T3()) == needs(leaf()) == ("parser", "autoencoder", "gradients")
    assert (find_attack("t3")[1], find_attack("t3:leaf")[1]) == (T3(), leaf())
    with pytest.raises(BadInput, match="decodes trees and would never try another source; leave --source out"):
        mohs.attack(VICTIM, "pocket", ["t3"], n=1, source="tautology", parser=ToyParser(), autoencoder=ToyTrees())
    with pytest.raises(BadInput, match="This needs a tree auto-encoder, and none is given; use --autoencoder FOLDER"):
        mohs.attack(VICTIM, "pocket", ["t3"], n=1, parser=ToyParser())


@pytest.mark.parametrize("attack", [T3(Descent(temperature=1.0)), T3(Descent(leaf=True, temperature=1.0))])
def test_with_a_trained_auto_encoder_from_its_folder(attack: T3, tmp_path: Path) -> None:
    trees = trained()
    save_trees(tmp_path, trees.lexicon, trees.module)
    save_settings(tmp_path, trees.lexicon, trees.module, {"right": 9, "of": 10})
    record = attacked("The good film moved me.", str(tmp_path), attack=attack)
    assert record.outcome is Outcome.SUCCESS, record.error
    assert record.edits
    assert attacked("The good film moved me.", trees, attack=attack) == record  # a loaded one will do as well
