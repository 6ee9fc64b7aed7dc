"""PDP: its steps by hand, and brute force as the oracle where the space is small."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.attacks import Targeted, Untargeted
from mohs.attacks.goal import predicted
from mohs.attacks.hotflip import FirstOrder
from mohs.attacks.method import Ask, needs
from mohs.attacks.pdp import PDP, _Search, gradients, released, unreverted
from mohs.attacks.population import Member
from mohs.engine import Meter
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.space import Constraint, Sememes, ShareChanged, Space, WordsChanged
from mohs.text import Text
from tests.toys import WordCount, asked_with_texts, now, table

SPACE = table(a="p q", b="r", c="s t", d="u")
CHOICES = {0: ("p", "q"), 1: ("r",), 2: ("s", "t"), 3: ("u",)}
X = Text("a b c d")
ALL = 10_000  # larger than any pool here
PLAIN = PDP(source=SPACE, constraints=())
WHOLE = replace(PLAIN, memory=ALL, drawn=ALL)
CODE = replace(released(), source=SPACE)

# Of "a b c" with p, q for a, r for b and s for c; the probability of the true label 1.
THREE = table(a="p q", b="r", c="s")
ANSWERS = {
    "a b c": 0.9,
    **{"p b c": 0.8, "q b c": 0.85, "a r c": 0.7, "a b s": 0.75},
    **{"p r c": 0.6, "q r c": 0.65, "a r s": 0.72, "p b s": 0.4, "q b s": 0.95},
    **{"p r s": 0.55, "q r s": 0.1},
}


def one(victim: Any, method: Any, text: str = "a b c", **options: Any) -> Record:
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records())


def by_hand(method: PDP, answers: dict[str, float] = ANSWERS, **options: Any) -> tuple[Record, list[str]]:
    """The record, and what was asked after the original: question by question, in one by the alphabet."""
    asked: list[str] = []

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        asked.extend(texts)
        return [(1 - answers.get(text, 0.9), answers.get(text, 0.9)) for text in texts]

    record = one(victim, method, **options)
    return record, list(dict.fromkeys(text for text in asked if text in answers and text != "a b c"))


def random_victim(seed: int, share: float, classes: int = 2) -> Any:
    """Scores drawn anew for each text; the true label has the highest for all but a share of them."""

    def scores(text: str) -> tuple[float, ...]:
        random = Random(f"{seed}/{text}")
        drawn = sorted((random.random() for _ in range(classes)), reverse=True)
        at = random.randrange(classes - 1) if text != str(X) and random.random() < share else classes - 1
        others = [label for label in range(classes) if label != 1]
        random.shuffle(others)
        order = [1, *others] if at == classes - 1 else [others[0], 1, *others[1:]]
        found = dict(zip(order, (value / sum(drawn) for value in drawn), strict=True))
        return tuple(found[label] for label in range(classes))

    return lambda texts: [scores(text) for text in texts]


def fewest(victim: Any, most: int = 4, met: Any = lambda label: label != 1) -> int | None:
    """How many changes the goal needs, by asking about the whole space."""
    space = Space(X, CHOICES)
    found = [len(X.changes(t)) for t in space.points(most) if met(predicted(victim([str(t)])[0]))]
    return min(found, default=None)


def test_the_steps_of_algorithm_1() -> None:
    record, asked = by_hand(replace(PLAIN, source=THREE))
    # b is decided first (0.7 is the least), then a (p r c), then c; of p b s and q r s the one with two changes.
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.SUCCESS, ("p b s",), 12)
    assert set(asked[:4]) == {"p b c", "q b c", "a r c", "a b s"}
    assert set(asked[4:7]) == {"p r c", "q r c", "a r s"}
    assert set(asked[7:]) == {"p b s", "q b s", "p r s", "q r s"}


def test_what_the_memory_forgets_is_not_found() -> None:
    # After two steps one text is p r c, two are p r c and q r c; p b c would be the fifth.
    record, _ = by_hand(replace(PLAIN, source=THREE, memory=1))
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("p r s",))  # the best ever seen
    found = {k: by_hand(replace(PLAIN, source=THREE, memory=k))[0].perturbed for k in (2, 4, 5)}
    assert found[2] == ("q r s",)
    assert found[4] == found[5] == ("p b s",)  # a r c .7, p b c .8: the fourth is p b c


def test_only_some_texts_look_ahead() -> None:
    record, asked = by_hand(replace(PLAIN, source=THREE, drawn=1, by_chance=False))
    assert (record.perturbed, record.queries) == (("p b s",), 12)
    # The second step looks ahead from a r c, the third from p r c alone; then the others get their s.
    assert asked[4:] == ["a r s", "p r c", "q r c", "p r s", "p b s", "q b s", "q r s"]
    # Where c does more for a r c, the third step looks ahead from a r s.
    _, asked = by_hand(replace(PLAIN, source=THREE, drawn=1, by_chance=False), {**ANSWERS, "a r s": 0.59})
    assert asked[4:] == ["a r s", "p r c", "q r c", "p r s", "q r s", "p b s", "q b s"]


def test_texts_are_drawn_in_proportion_to_their_scores() -> None:
    pool = [Member(Text(word), score, False) for word, score in (("x", 0.6), ("y", 0.3), ("z", 0.1), ("never", 0.0))]
    random = Random(1)
    found = Counter(str(text) for _ in range(5000) for text, *_ in replace(PLAIN, drawn=1)._some(pool, random))
    assert found["x"] == pytest.approx(3000, abs=120)
    assert found["y"] == pytest.approx(1500, abs=110)
    assert found["z"] == pytest.approx(500, abs=75)
    pairs = [tuple(map(str, (m.text for m in replace(PLAIN, drawn=2)._some(pool, random)))) for _ in range(200)]
    assert all(first != second for first, second in pairs)  # none twice
    assert set(pairs) >= {("x", "y"), ("x", "z"), ("y", "z")}  # and in the order of the pool
    assert replace(PLAIN, drawn=9)._some(pool, random) == pool
    assert replace(PLAIN, drawn=2, by_chance=False)._some(pool, random) == pool[:2]
    sure = [member._replace(score=0.0) for member in pool]
    assert len({str(replace(PLAIN, drawn=1)._some(sure, random)[0].text) for _ in range(50)}) == 4


def test_the_seed_decides_who_looks_ahead() -> None:
    """From each of two texts another position is better: the draw shows in the order of the rest."""
    answers = {"p b c": 0.5001, "q b c": 0.5002, "p r c": 0.89, "p b s": 0.6, "a r c": 0.8, "a b s": 0.8}
    method = replace(PLAIN, source=THREE, drawn=1)
    found = {seed: by_hand(method, answers, seed=seed)[1] for seed in range(12)}
    assert found == {seed: by_hand(method, answers, seed=seed)[1] for seed in range(12)}
    assert len({tuple(asked) for asked in found.values()}) > 1


def test_equal_positions_stay_in_their_order() -> None:
    # Nothing helps but all three together: every position reaches what the text reaches as it is.
    record, asked = by_hand(replace(PLAIN, source=THREE, memory=1), {**dict.fromkeys(ANSWERS, 0.95), "a b c": 0.9})
    assert (record.outcome, record.perturbed, len(asked)) == (Outcome.FAILED, ("a b c",), 4)
    # The own word counts as well: b, the least harm, is no better than a.
    _, asked = by_hand(replace(PLAIN, source=THREE), {**dict.fromkeys(ANSWERS, 0.95), "a b c": 0.9, "a r c": 0.91})
    assert asked[4:8] == ["p b s", "p r c", "q b s", "q r c"]
    # Released: b leads and is not decided again; c and a reach 0.4 by p b s both, and c was ahead.
    record, asked = by_hand(replace(CODE, source=THREE))
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("p b s",))
    assert asked[:4] == ["p b c", "q b c", "a r c", "a b s"]
    assert "q r s" not in asked


def test_released_keeps_no_text_as_it_is() -> None:
    # From a r c alone: p is better than s, so p r c, then p r s with three changes; two of which are needed.
    answers = {**ANSWERS, "p r s": 0.3}
    method = replace(CODE, source=THREE, memory=1)
    record, asked = by_hand(replace(method, revert=False), answers)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("p r s",))
    assert asked == ["p b c", "q b c", "a r c", "a b s", "a r s", "p r c", "q r c", "p r s"]
    record, more = by_hand(method, answers)
    assert (record.perturbed, more) == (("p b s",), [*asked, "p b s"])
    # After a failure at the last level the best is given back.
    record, _ = by_hand(method, {**answers, "p r s": 0.65})
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("p r c",))


FOUR = table(a="p q", b="r", c="s", d="u")
STEEP = {"a b c d": 0.9, "p b c d": 0.6, "p r c d": 0.55, "p b s d": 0.58, "p r s d": 0.52, "p r c u": 0.51}


def four(method: PDP, answers: dict[str, float]) -> tuple[Record, list[str]]:
    """The same for a text of four words; what is not listed has 0.8."""
    listed = {str(t): 0.8 for t in Space(X, {0: ("p", "q"), 1: ("r",), 2: ("s",), 3: ("u",)}).points(4)}
    record, asked = by_hand(replace(method, source=FOUR), {**listed, **answers}, text=str(X))
    return record, [text for text in asked if text != str(X)]


def test_released_gives_every_kept_text_a_new_word() -> None:
    record, asked = four(replace(CODE, drawn=1, revert=False), {**STEEP, "p r s u": 0.3})
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("p r s u",))
    assert asked[:5] == ["p b c d", "q b c d", "a r c d", "a b s d", "a b c u"]
    assert asked[5:8] == ["p b c u", "p b s d", "p r c d"]  # looking ahead from p b c d: b it is
    assert asked[8:11] == ["a r c u", "a r s d", "q r c d"]
    assert asked[11:13] == ["p r c u", "p r s d"]  # from p r c d: d
    assert asked[13:15] == ["a r s u", "q r c u"]  # all have r now: a b s u is never made
    assert asked[15:] == ["p r s u", "q r s u"]


def test_released_does_not_decide_the_first_position_again() -> None:
    record, asked = four(replace(CODE, memory=1), {**STEEP, "p r s u": 0.505})
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("p r s u",))
    assert asked[5:] == ["p b c u", "p b s d", "p r c d", "p r c u", "p r s d", "p r s u"]  # no q


def test_released_ends_at_the_first_position_with_a_success() -> None:
    record, asked = by_hand(replace(CODE, source=THREE), {**ANSWERS, "a r c": 0.45, "a b s": 0.1})
    assert (record.perturbed, asked) == (("a r c",), ["p b c", "q b c", "a r c"])
    record, asked = by_hand(replace(PLAIN, source=THREE), {**ANSWERS, "a r c": 0.45, "a b s": 0.1})
    assert (record.perturbed, len(asked)) == (("a b s",), 4)  # the paper's takes the position that reaches further


@dataclass(frozen=True)
class NoStep(WordsChanged):
    """Words changed, by a step."""

    stepwise: ClassVar[bool] = True


def test_the_strongest_undoing_is_taken_first() -> None:
    start = Member(Text("p r s"), 0.9, True)
    answers = {"a r s": 0.4, "p b s": 0.3, "p r c": 0.2, "p b c": 0.6, "a r c": 0.49, "a b s": 0.1}
    for constraint, expected in (
        ((), "a r c"),  # p r c is the strongest, then a r c alone still fools; a b s is never looked at
        ((Constraint(NoStep(), at_most=0),), "a r c"),  # which judges steps, and this is none
        ((Constraint(WordsChanged(), at_least=3),), "p r s"),
    ):
        space = Space(Text("a b c"), {0: ("p",), 1: ("r",), 2: ("s",)}, constraint)
        meter: Meter[Any, Any] = Meter(asked_with_texts(lambda f: (1 - answers.get(f[0], 0.9), answers.get(f[0], 0.9))))
        search = _Search(space.text, Untargeted(1), space, Ask({}, Random(0), meter))
        assert str(now(search.reverted(start)).text) == expected


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.02, 0.1, 0.4]), classes=st.sampled_from([2, 3]))
def test_with_all_memory_it_succeeds_where_brute_force_does(seed: int, share: float, classes: int) -> None:
    victim = random_victim(seed, share, classes)
    least = fewest(victim)
    record = one(victim, WHOLE, str(X), labels=tuple("xyz"[:classes]))
    assert (record.outcome is Outcome.SUCCESS) == (least is not None)
    assert record.queries <= Space(X, CHOICES).size()
    if least is not None:
        assert least <= len(record.edits)
        assert least > 1 or len(record.edits) == 1  # one that suffices is always found


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.1, 0.4]),
    classes=st.sampled_from([2, 3]),
    method=st.sampled_from([PLAIN, CODE, replace(PLAIN, revert=True), replace(CODE, revert=False)]),
    memory=st.sampled_from([1, 3, ALL]),
    drawn=st.sampled_from([1, 10]),
)
def test_what_it_finds_is_in_the_space_and_no_fewer_changes_do(
    seed: int, share: float, classes: int, method: PDP, memory: int, drawn: int
) -> None:
    victim = random_victim(seed, share, classes)
    record = one(victim, replace(method, memory=memory, drawn=drawn), str(X), labels=tuple("xyz"[:classes]))
    assert record.error is None
    assert record.perturbed is not None
    final = Text(*record.perturbed)
    assert final in Space(X, CHOICES)
    least = fewest(victim)
    if least == 1:
        assert len(record.edits) == 1
    if record.outcome is Outcome.SUCCESS:
        assert least is not None
        assert least <= len(record.edits)
        if method.revert:
            undone = [str(final.replace(p, X.words[p])) for p in X.changes(final)]
            assert all(predicted(scores) == 1 for scores in victim(undone))


def test_brute_force_is_met_every_way() -> None:
    """The victims above need one change, several, or cannot be fooled."""
    found = Counter(fewest(random_victim(seed, 0.1)) for seed in range(40))
    assert min(found[1], found[2], found[3] + found[4], found[None]) > 0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), tau=st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_no_more_than_a_share_of_the_words_changes(seed: int, tau: float) -> None:
    victim = random_victim(seed, 0.2)
    record = one(victim, replace(WHOLE, constraints=(Constraint(ShareChanged(), at_most=tau),)), str(X))
    assert len(record.edits) <= 4 * tau
    assert (record.outcome is Outcome.SUCCESS) == (fewest(victim, int(4 * tau)) is not None)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), target=st.sampled_from([0, 2]))
def test_a_chosen_label(seed: int, target: int) -> None:
    victim = random_victim(seed, 0.3, 3)
    least = fewest(victim, met=lambda label: label == target)
    record = one(victim, WHOLE, str(X), goal=f"targeted:{target}", labels=("x", "y", "z"))
    assert (record.outcome is Outcome.SUCCESS) == (least is not None)
    if least is not None:
        assert predicted(record.scores_after) == target
        assert least <= len(record.edits)


def test_towards_a_chosen_label_its_own_probability_counts() -> None:
    scores = {"a b": (0.1, 0.8, 0.1), "p b": (0.4, 0.5, 0.1), "a r": (0.0, 0.7, 0.3), "p r": (0.0, 0.3, 0.7)}
    asked: list[str] = []

    def victim(texts: list[str]) -> list[tuple[float, ...]]:
        asked.extend(texts)
        return [scores.get(text, (0.0, 1.0, 0.0)) for text in texts]

    method = replace(PLAIN, source=table(a="p", b="r"), memory=1)
    record = one(victim, method, "a b", goal="targeted:2", labels=("x", "y", "z"))
    assert record.perturbed == ("p r",)  # by way of a r, which the memory of one keeps
    record = one(
        victim, replace(method, constraints=(Constraint(WordsChanged(), at_most=1),)), "a b", goal="targeted:2"
    )
    assert record.perturbed == ("a r",)


def test_a_success_is_not_passed_by_for_a_lower_true_label() -> None:
    scores = {"a b": (0.1, 0.8, 0.1), "p b": (0.55, 0.45, 0.0), "a r": (0.35, 0.4, 0.25)}

    def victim(texts: list[str]) -> list[tuple[float, ...]]:
        return [scores.get(text, (0.0, 1.0, 0.0)) for text in texts]

    record = one(victim, replace(PLAIN, source=table(a="p", b="r")), "a b", labels=("x", "y", "z"))
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.SUCCESS, ("p b",), 3)


@pytest.mark.parametrize("budget", range(1, 14))
def test_a_budget(budget: int) -> None:
    for method in (replace(PLAIN, source=THREE), replace(CODE, source=THREE, memory=1)):
        answers = {**ANSWERS, "p r s": 0.3}
        record, asked = by_hand(method, answers, budget=budget)
        assert record.queries == min(budget, by_hand(method, answers)[0].queries)
        seen = ["a b c", *asked]
        # The best of what was asked: of successes the one with the fewest changes.
        fooled = [t for t in seen if answers[t] < 0.5]
        best = min(fooled or seen, key=lambda t: (fooled and len(Text("a b c").changes(Text(t))), answers[t]))
        assert record.perturbed == (best,)


WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0, "quite": 0.5, "movie": 0.5}
WORDS = table(good="nice decent", truly="really quite", film="movie")


def test_looking_ahead_by_gradients_asks_nothing() -> None:
    victim = WordCount(WEIGHTS)
    record = one(victim, replace(gradients(), source=WORDS, constraints=()), "a film truly good")
    # good is first (2.5), then truly (2): the original and the words of good, then those of truly for all three
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.SUCCESS, ("a film really decent",), 9)
    assert all("movie" not in text for (text,) in victim.asked)
    asking = one(WordCount(WEIGHTS), replace(PLAIN, source=WORDS), "a film truly good")
    assert (asking.perturbed, asking.queries) == (record.perturbed, 12)


@dataclass(frozen=True)
class Told(FirstOrder):
    """Estimates by hand."""

    gains: tuple[tuple[str, float], ...] = ()
    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, goal: Any, space: Space, ask: Any) -> dict[Text, float]:
        open_ = [p for p in space.positions if text.words[p] == space.text.words[p]]
        found = [text.replace(p, word) for p in open_ for word in space.choices[p]]
        return {t: dict(self.gains)[str(t)] for t in found if str(t) in dict(self.gains)}


@pytest.mark.parametrize(("goal", "start"), [(Untargeted(1), math.log(2)), (Targeted(1, 0), math.log(0.5))])
def test_estimates_add_to_what_a_text_has_reached(goal: Any, start: float) -> None:
    space = Space(Text("a b c"), {0: ("p", "q"), 1: ("r",), 2: ("s",)}, (Constraint(WordsChanged(), at_most=2),))
    some = [Member(Text("a r c"), 0.5, False), Member(Text("a b c"), 0.2, False), Member(Text("p r c"), 0.4, False)]
    gains = (("p r c", 0.1), ("q r c", 0.3), ("a b s", 1.5), ("p r s", 9.0))
    search = _Search(space.text, goal, space, Ask({}, Random(0), Meter(asked_with_texts(lambda fields: (0.0, 1.0)))))
    found = now(search.estimated(some, [0, 1, 2], Told(gains)))
    second = math.log(1 / 0.8) if isinstance(goal, Untargeted) else math.log(0.2)
    # p r s would be a third change with ever so much gain; nothing is known of r
    assert found == {0: pytest.approx(start + 0.3), 1: -math.inf, 2: pytest.approx(second + 1.5)}


def test_settings() -> None:
    assert (PDP().memory, PDP().drawn, PDP().source, PDP().stopwords) == (1280, 10, Sememes(k=5), frozenset())
    assert PDP().constraints == (Constraint(ShareChanged(), at_most=0.25),)
    assert (released().constraints, released().revert, unreverted().revert) == ((), True, False)
    assert replace(unreverted(), revert=True) == released()
    assert "gradients" in needs(gradients())
    assert "gradients" not in needs(PDP())
    with pytest.raises(BadInput, match="memory=0 does not fit"):
        PDP(memory=0)
