"""The search on the vectors of a tree, against a victim whose answers are known by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.models.hf import HfVictim
from mohs.models.tree_rows import forest_of
from mohs.models.tree_search import TreeSearch
from mohs.text.text import words_of
from mohs.text.tree_search import Decoded, Steps, TreeQuestion
from tests.models.conftest import save, tiny_tokenizer
from tests.models.tree_toys import SENTENCES, trained
from tests.toy_parser import parse
from tests.toys import CountSlopes, WordCount

GOOD = WordCount({"good": 2.0, "great": 2.0, "pleased": 1.0, "bad": -2.0, "dull": -2.0, "bored": -1.0})
QUICK: dict[str, Any] = {"temperature": 1.0}  # the toy auto-encoder is too sure of its words for a temperature of 0.1


def search(
    text: str, label: int, *, fixed: tuple[str, ...] = (), target: int | None = None, **steps: Any
) -> list[Decoded]:
    tokens = parse(text)
    question = TreeQuestion(
        ("a field before", text),
        1,
        tokens,
        tuple(token.text in fixed for token in tokens),
        label,
        target,
        Steps(**steps),
    )
    model = TreeSearch(trained(), GOOD)
    (found,) = model.collect(model.launch(model.plan([question])[0]))
    return found


def margin(text: str, label: int) -> float:
    probs = GOOD.scores(("a field before", text))
    return math.log(probs[label]) - math.log(probs[1 - label])


@pytest.mark.parametrize("leaf", [False, True])
def test_it_finds_words_that_fool_the_victim(leaf: bool) -> None:
    text = "the good film pleased me."
    found = search(text, 1, leaf=leaf, **QUICK)
    assert (found[0].string, found[0].step, found[0].distance) == (text, 0, 0.0)
    assert len({one.string for one in found}) == len(found)
    assert [one.step for one in found] == sorted(one.step for one in found)
    fooled = [one for one in found if one.margin < 0]
    assert fooled
    for one in found:
        assert one.margin == pytest.approx(margin(one.string, 1), abs=1e-5)
        old, new = words_of((text,)), words_of((one.string,))
        assert len(old) == len(new)
        moved = sum((GOOD.weights.get(a, 0) - GOOD.weights.get(b, 0)) ** 2 for a, b in zip(old, new, strict=True))
        assert one.distance == pytest.approx(moved)  # a word's vector is its weight
        assert one.string.endswith(".")
    assert search(text, 1, leaf=leaf, **QUICK) == found


def test_fixed_words_stay() -> None:
    found = search("the good film pleased me.", 1, fixed=("good", "film"), **QUICK)
    assert len(found) > 1
    assert all({"good", "film"} <= set(words_of((one.string,))) for one in found)
    assert search("the good film.", 1, fixed=("the", "good", "film", ".")) == []
    assert search("Zork!", 1) == search("", 1) == []


def test_a_target_is_pressed_towards() -> None:
    text = "the bad film bored me."
    found = search(text, 0, target=1, **QUICK)
    assert found[0].margin == pytest.approx(margin(text, 0), abs=1e-5)  # the other class over the target
    assert any(one.margin < 0 for one in found)


def test_without_the_victim_nothing_moves() -> None:
    text = "the good film pleased me."
    assert [one.string for one in search(text, 1, const=0.0, **QUICK)] == [text]  # the distance is least already
    assert [one.string for one in search(text, 1, steps=1)] == [text]
    assert search(text, 1, steps=0) == []
    already = search("the bad film bored me.", 1, **QUICK)  # it fools the victim as it is
    assert [(one.string, one.margin < 0) for one in already] == [("the bad film bored me.", True)]


def test_confidence_presses_further() -> None:
    text = "the good film pleased me."
    least = min(one.margin for one in search(text, 1, **QUICK))
    assert min(one.margin for one in search(text, 1, confidence=4.0, **QUICK)) < least


def test_against_an_encoder_with_three_classes(tmp_path: Path) -> None:
    victim = HfVictim(str(save(tmp_path, "bert", tiny_tokenizer("wordpiece"))), device="cpu")
    text = "the good film moved me."

    def scores(string: str) -> Any:
        return victim.collect(victim.launch(victim.plan([(string,)])[0]))[0]

    label = max(range(3), key=scores(text).__getitem__)
    tokens = parse(text)
    question = TreeQuestion((text,), 0, tokens, (False,) * len(tokens), label, None, Steps(steps=8, temperature=1.0))
    model = TreeSearch(trained(), victim)
    found = model.collect([question])[0]
    assert found[0].string == text
    for one in found:
        best = max(prob for number, prob in enumerate(scores(one.string)) if number != label)
        assert one.margin == pytest.approx(math.log(scores(one.string)[label] / best), abs=1e-4)
    assert model.collect([question])[0] == found


def test_a_victim_without_words_is_refused() -> None:
    class Letters(WordCount):
        def gradients(self) -> CountSlopes:
            found = super().gradients()
            found.vectors = lambda words: [None for _ in words]  # type: ignore[method-assign]
            return found

    model = TreeSearch(trained(), Letters({"good": 1.0}))
    with pytest.raises(BadInput, match="word count reads no word of t3:toy as one token"):
        model.collect([TreeQuestion(("good",), 0, parse("good"), (False,), 1, None, Steps())])


def test_what_it_is_called() -> None:
    model = trained().against(GOOD)
    assert isinstance(model, TreeSearch)
    assert (model.name, model.reconstruction) == ("t3:toy", 1.0)
    assert model.fingerprint == trained().fingerprint
    one = TreeQuestion(("b",), 0, parse("b"), (False,), 0, None, Steps())
    assert model.plan([one, one._replace(fields=("a",))]) == [[one._replace(fields=("a",))], [one]]
    assert forest_of([trained().lexicon.row(parse(SENTENCES[0]))]).words.min() > 0
