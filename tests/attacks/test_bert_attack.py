"""BERT-Attack, step by step on a victim and a language model small enough to follow by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import mohs
from mohs.attacks.bert_attack import BertAttack
from mohs.records import Outcome, Record
from mohs.text.questions import Piece, Spelling
from mohs.text.stopwords import NLTK
from tests.attacks.fills import Angles, Fills
from tests.toys import AFTER, WordCount, table

WEIGHTS = {
    "good": 3.0,
    "truly": 1.0,
    "nice": 1.5,
    "decent": 0.5,
    "really": -1.0,
    "hardly": -2.0,
    "bad": -2.0,
    "vile": -3.0,
}
LM = Fills(
    {
        "a truly [good] film": "nice decent",
        "a [truly] good film": "really",
        "a truly good [film]": "movie",
        "a [truly] decent film": "hardly",
    }
)
PAPER, RELEASED, TEXTATTACK = (
    replace(method, stopwords=frozenset({"a"}))
    for method in (BertAttack(), BertAttack.released(), BertAttack.textattack())
)


def wide(method: BertAttack) -> BertAttack:
    """Without a cap on the words changed, which a text of four words would run into."""
    return replace(method, constraints=method.constraints[1:])


def attack(
    text: str, method: BertAttack, lm: Fills = LM, angles: dict[str, float] | None = None, **options: Any
) -> tuple[Record, list[str]]:
    victim = WordCount(WEIGHTS)
    with mohs.attack(
        victim, [(text, 1)], [method], masked_lm=lm, encoder=Angles(angles or {}), at_once=1, **options
    ) as run:
        record = next(run.records())
    assert record.error is None, record.error
    return record, [fields[0] for fields in victim.asked[:-AFTER]]


def test_candidates_are_asked_one_by_one_in_the_order_of_importance() -> None:
    record, asked = attack("a truly good film", wide(PAPER))
    start = len(asked) - 1 - asked[::-1].index("a truly good film")  # the last time: before, the victim is tried out
    assert set(asked[start + 1 : start + 4]) == {"a [MASK] good film", "a truly [MASK] film", "a truly good [MASK]"}
    assert asked[start + 4 : -1] == [  # the last is the judge's
        "a truly nice film",
        "a truly decent film",
        "a really decent film",  # really is from the reading of the original text
    ]
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a really decent film",))
    assert record.queries == 7


def test_the_first_that_fools_is_taken_and_no_other_is_asked() -> None:
    lm = Fills({"a truly [good] film": "nice bad vile"})
    record, asked = attack("a truly good film", wide(PAPER), lm, angles={"bad": 30.0})
    assert record.perturbed == ("a truly bad film",)
    assert record.queries == 4  # the original, the only importance there is, nice and bad
    assert "a truly vile film" not in asked


def test_what_does_not_help_is_not_kept_and_equals_are_in_the_models_order() -> None:
    lm = Fills({"a truly [good] film": "zero one", "a truly good [film]": "movie"})
    record, _ = attack("a truly good film", wide(PAPER), lm)
    assert record.perturbed == ("a truly zero film",)  # zero and one weigh nothing; movie changes nothing


def test_released_ranks_with_unk_and_the_gain_of_a_new_label() -> None:
    # Without b the true label loses 0.3 and another gains 0.4; without c it loses 0.4 and another gains 0.2.
    answers = {"a b c": (0.6, 0.3, 0.1), "a [UNK] c": (0.3, 0.2, 0.5), "a b [UNK]": (0.2, 0.5, 0.3)}
    answers |= {key.replace("UNK", "MASK"): value for key, value in answers.items()}

    def order(method: BertAttack) -> list[str]:
        asked: list[str] = []

        def victim(texts: list[str]) -> list[tuple[float, ...]]:
            asked.extend(texts)
            return [answers.get(text, (0.6, 0.3, 0.1)) for text in texts]

        lm = Fills({"a [b] c": "x", "a b [c]": "z"})
        with mohs.attack(victim, [("a b c", 0)], [wide(method)], masked_lm=lm, encoder=Angles({})) as run:
            assert next(run.records()).outcome is Outcome.FAILED
        return [text for text in asked if "x" in text or "z" in text or "[" in text][:4]

    assert set(order(RELEASED)[:2]) == {"a [UNK] c", "a b [UNK]"}
    assert order(RELEASED)[2:] == ["a x c", "a b z"]
    assert set(order(PAPER)[:2]) == {"a [MASK] c", "a b [MASK]"}
    assert order(PAPER)[2:] == ["a b z", "a x c"]
    assert set(order(TEXTATTACK)[:2]) == {"a [UNK] c", "a b [UNK]"}
    assert order(TEXTATTACK)[2:] == ["a b z", "a x c"]


def test_textattack_reads_the_text_as_it_stands_and_asks_all_at_once() -> None:
    record, asked = attack("a truly good film", wide(TEXTATTACK))
    assert record.perturbed == ("a hardly decent film",)
    assert "a really decent film" not in asked
    assert record.queries == 7
    lm = Fills({"a truly [good] film": "vile bad"})
    record, asked = attack("a truly good film", wide(TEXTATTACK), lm, angles={"vile": 50.0, "bad": 30.0})
    assert record.perturbed == ("a truly bad film",)  # both fool, bad is more similar
    assert record.queries == 6  # importance of all three words: what they could become is not known yet
    record, _ = attack("a truly good film", wide(TEXTATTACK), Fills({"a truly [good] film": "bad vile"}))
    assert record.perturbed == ("a truly vile film",)  # equally similar, and stronger


def test_textattack_spends_a_budget_in_the_order_of_the_alphabet() -> None:
    lm = Fills({"a truly [good] film": "vile nice bad decent"})
    for budget, best in {5: "bad", 6: "bad", 7: "bad", 8: "vile"}.items():  # bad, decent, nice, vile
        record, _ = attack("a truly good film", wide(TEXTATTACK), lm, budget=budget)
        assert record.perturbed == (f"a truly {best} film",)
        assert record.queries == budget


class Spelt(Fills):
    """Words of two pieces, and what their products were asked for."""

    def __init__(self, pieces: str) -> None:
        super().__init__({"pieces": pieces})
        self.weighed: list[str] = []

    def answer(self, item: Any) -> Any:
        if isinstance(item, Spelling):
            self.weighed.append("".join(item.pieces))
            return float(len(self.weighed))
        word = item.fields[item.field][item.start : item.end]
        if word != "good":
            return (Piece(word, ()),)
        return Piece("go", self.guesses("pieces", item.k)), Piece("od", self.guesses("pieces", item.k))


@pytest.mark.parametrize(
    ("method", "weighed"),
    [(TEXTATTACK, []), (RELEASED, ["lele", "levi", "vile", "vivi"])],
    ids=["textattack", "released"],
)
def test_where_all_are_asked_the_order_of_products_is_not(method: BertAttack, weighed: list[str]) -> None:
    lm = Spelt("vi le")
    record, asked = attack("a truly good film", wide(method), lm)
    assert record.perturbed == ("a truly vile film",)
    assert sorted(lm.weighed) == weighed
    if not weighed:
        assert {f"a truly {word} film" for word in ("lele", "levi", "vile", "vivi")} <= set(asked)


@pytest.mark.parametrize(("method", "changed"), [(PAPER, 1), (RELEASED, 1), (TEXTATTACK, 2)])
def test_forty_percent_of_four_words(method: BertAttack, changed: int) -> None:
    lm = table(good="nice", truly="neat", film="movie", show="play")
    record, _ = attack("good truly good truly", replace(method, source=lm))
    assert record.outcome is Outcome.FAILED
    assert [edit.new for edit in record.edits] == ["nice"] * changed


@pytest.mark.parametrize(("angle", "passes"), [(78.4, True), (78.5, False)])
def test_the_cosine_to_the_original_is_at_least_a_fifth(angle: float, passes: bool) -> None:
    for method in (PAPER, TEXTATTACK):
        record, asked = attack("a truly good film", replace(method, source=table(good="bad")), angles={"bad": angle})
        assert ("a truly bad film" in asked) is passes
        assert record.outcome is (Outcome.SUCCESS if passes else Outcome.FAILED)
    record, _ = attack("a truly good film", replace(RELEASED, source=table(good="bad")), angles={"bad": 90})
    assert record.outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    ("budget", "best"), [(4, "truly good"), (5, "truly nice"), (6, "truly decent"), (7, "really decent")]
)
def test_the_budget_is_kept(budget: int, best: str) -> None:
    record, _ = attack("a truly good film", wide(PAPER), budget=budget)
    assert record.perturbed == (f"a {best} film",)
    assert record.outcome is (Outcome.SUCCESS if budget == 7 else Outcome.EXHAUSTED)
    assert record.queries == budget


def test_textattack_takes_the_first_products_of_pieces() -> None:
    from mohs.space import UnmaskedWords

    assert BertAttack.textattack().source == UnmaskedWords(k=48, width=48, products=48, ranked=False)
    assert BertAttack().source == UnmaskedWords(k=48, width=4, products=24)


class Near:
    """Vectors of which only the cosines are known."""

    name, fingerprint = "near", "near-1"

    def cosines(self, word: str, others: list[str]) -> list[float]:
        return [{"nice": 0.5, "decent": 0.4, "bad": 0.399}.get(other, math.nan) for other in others]


@pytest.mark.parametrize(
    ("made", "plain", "asked_too"),
    [
        (BertAttack.primed, BertAttack.textattack, []),
        (BertAttack.released_sentiment, BertAttack.released, ["a truly decent film"]),
    ],
)
def test_presets_with_a_cosine_of_words(made: Any, plain: Any, asked_too: list[str]) -> None:
    """Of 0.5 in BERT-Attack', of 0.4 in the authors' commands for sentiment; a word without a vector passes."""
    assert replace(made(), constraints=plain().constraints) == plain()
    assert made().constraints[:-1] == plain().constraints
    lm = Fills({"a truly [good] film": "bad decent nice vile"})
    method = replace(made(), stopwords=frozenset({"a"}))
    record, asked = attack("a truly good film", method, lm, vectors=Near())
    assert record.perturbed == ("a truly vile film",)
    tried = [text for text in asked if any(word in text for word in ("bad", "decent", "nice"))]
    assert sorted(tried) == [*asked_too, "a truly nice film"]  # bad is too far, decent too far for 0.5
    assert record.measures["word cosine"] == 1  # nothing is known of vile


@pytest.mark.parametrize(
    ("method", "changes"), [(BertAttack(), True), (BertAttack.released(), False), (BertAttack.textattack(), True)]
)
def test_whose_stopwords(method: BertAttack, changes: bool) -> None:
    """NLTK's few in the paper and in TextAttack; the released code has more, for which our own list stands."""
    assert "almost" not in NLTK
    _, asked = attack("almost a good film", replace(method, source=table(almost="nearly")))
    assert ("nearly a good film" in asked) is changes
