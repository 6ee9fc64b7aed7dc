"""SememePSO: the swarm's moves, its schedule, and what it finds where the right answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Any
from zlib import crc32

import pytest

import mohs
from mohs.attacks import Untargeted
from mohs.attacks.method import Ask, needs
from mohs.attacks.population import Scout
from mohs.attacks.sememe_pso import SememePSO, pso_neighbours, pso_textattack
from mohs.engine import Meter
from mohs.records import Outcome
from mohs.space import Constraint, ShareChanged, Space
from mohs.text import Text
from tests.toys import WordCount, asked_with_texts, now, table

PLAIN = SememePSO(source=table(good="nice decent", truly="really", film="movie"), constraints=())
WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0}
X = Text("truly good film")
CHOICES = {0: ("really",), 1: ("nice", "decent"), 2: ("movie",)}


def attack(text: str, method: Any = PLAIN, weights: dict[str, float] = WEIGHTS, **options: Any) -> Any:
    victim = WordCount(weights)
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records()), victim


def scout(weights: dict[str, float] = WEIGHTS, constraints: tuple[Constraint, ...] = ()) -> Scout:
    meter: Meter[Any, Any] = Meter(asked_with_texts(WordCount(weights).scores))
    space = Space(X, CHOICES, constraints)
    return Scout(X, Untargeted(1), space, Ask({}, Random(0), meter), space.positions)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", [PLAIN, replace(PLAIN, inverted=True, by_gain=True)], ids=["paper", "textattack"])
def test_the_best_of_all_is_found_where_words_add_up(method: SememePSO, seed: int) -> None:
    weights = {"good": 3.0, "nice": 2.0, "decent": 1.5, "truly": 2.0, "really": 1.0, "film": 1.0}
    text = "truly good film it is a thing"  # long enough to mutate three times: 1 - 2 * 2/7 > 0
    record, victim = attack(text, method, weights, seed=seed)
    texts = product(("truly", "really"), ("good", "nice", "decent"), ("film", "movie"))
    best = min(texts, key=lambda words: victim.scores((" ".join(words),))[1])
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == (" ".join((*best, "it is a thing")),)
    assert record.queries <= 12


def test_a_particle_takes_words_of_the_better_text() -> None:
    """Velocities of 300 turn for certain, those of -300 never."""
    particle, better = Text("really good film"), Text("truly decent movie")
    velocity = [[-300.0, 300.0, -300.0]]
    one = scout()
    assert now(PLAIN._moved([particle], [better], velocity, 1.0, one)) == [Text("really decent film")]
    inverted = replace(PLAIN, inverted=True)  # starts from the better text and takes the particle's words
    assert now(inverted._moved([particle], [better], velocity, 1.0, one)) == [Text("truly good movie")]
    assert now(PLAIN._moved([particle], [better], velocity, 0.0, one)) == [particle]


def test_a_move_that_breaks_a_constraint_is_not_made() -> None:
    one = scout(constraints=(Constraint(ShareChanged(), at_most=0.4),))
    particle, better = X.replace(0, "really"), X.replace(1, "nice")
    velocity = [[-300.0, 300.0, 0.0]]
    assert now(PLAIN._moved([particle], [better], velocity, 1.0, one)) == [particle]
    assert now(replace(PLAIN, inverted=True)._moved([particle], [better], [[300.0, -300.0, 0.0]], 1.0, one)) == [better]


def test_words_turn_with_the_sigmoid_of_their_velocity() -> None:
    particle, better = X, X.replace(0, "really")
    moved = now(PLAIN._moved([particle] * 1000, [better] * 1000, [[1.0, 0.0, 0.0]] * 1000, 1.0, scout()))
    assert abs(moved.count(better) - 731) < 45  # 1 / (1 + exp(-1))
    half = now(PLAIN._moved([particle] * 1000, [better] * 1000, [[300.0, 0.0, 0.0]] * 1000, 0.3, scout()))
    assert abs(half.count(better) - 300) < 45


@dataclass(frozen=True)
class Spied(SememePSO):
    """Writes down its moves."""

    moves: list[Any] = field(default_factory=list, compare=False, hash=False, repr=False)

    async def _moved(
        self, texts: Sequence[Text], aims: Sequence[Text], velocity: list[list[float]], chance: float, scout: Scout
    ) -> list[Text]:
        self.moves.append((list(texts), list(aims), [list(v) for v in velocity], chance))
        return await super()._moved(texts, aims, velocity, chance, scout)


def test_velocities_and_chances_round_by_round() -> None:
    method = Spied(source=PLAIN.source, constraints=(), particles=4, rounds=4)
    attack("truly good film of it all and so on", method, {"good": 4.0, "nice": 3.0, "decent": 3.5, "truly": 1.0})
    own, best = method.moves[0::2], method.moves[1::2]
    assert [chance for *_, chance in own] == pytest.approx([0.8, 0.65, 0.5, 0.35])
    assert [chance for *_, chance in best] == pytest.approx([0.2, 0.35, 0.5, 0.65])
    start = own[0][2]
    for n in range(1, 4):
        inertia = 0.8 - 0.15 * n
        texts, mine, velocity, _ = own[n]
        for k, (text, aim, before, after) in enumerate(zip(texts, mine, own[n - 1][2], velocity, strict=True)):
            for d, (old, new) in enumerate(zip(before, after, strict=True)):
                pull = sum(-3 if text.words[d] == to.words[d] else 3 for to in (aim, best[n][1][k]))
                assert new == pytest.approx(inertia * old + (1 - inertia) * pull)
    assert all(abs(v) <= 0.8 * 3 + 0.2 * 6 for row in start for v in row)
    assert len({tuple(row) for row in start}) == 4
    moved = [aims for _, aims, *_ in best]
    assert all(len(set(aims)) == 1 for aims in moved)  # the best of all is one text


def test_each_particle_and_the_swarm_remember_their_best() -> None:
    def chance(text: str) -> float:
        return 0.6 + crc32(text.encode()) % 1000 / 3000  # words that do not add up, so that a move may be for the worse

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        return [(1 - chance(text), chance(text)) for text in texts]

    fell = 0
    source = table(one="a b c", two="d e f", three="g h i", four="j k l")
    for seed in range(5):
        method = Spied(source=source, constraints=(), particles=3, rounds=12)
        with mohs.attack(victim, [("one two three four", 1)], [method], seed=seed) as run:
            assert next(run.records()).error is None
        own, best = method.moves[0::2], method.moves[1::2]
        for n in range(12):
            for k in range(3):
                seen = [chance(str(texts[k])) for texts, *_ in own[: n + 1]]
                assert chance(str(own[n][1][k])) == min(seen)
                fell += seen[-1] > min(seen)
            assert chance(str(best[n][1][0])) == min(chance(str(text)) for texts, *_ in own[: n + 1] for text in texts)
    # Some particles were worse than their best. The best of all has nowhere to go: one particle always stays there.
    assert fell > 5


def test_mutation_leaves_changed_words_alone_while_there_are_others() -> None:
    one = scout()
    two = Text("really nice film")  # decent would help, movie would not
    assert {m.text for m in now(PLAIN._mutated([two] * 50, one))} == {two}
    everything = {str(m.text) for m in now(PLAIN._mutated([Text("really nice movie")] * 50, one))}
    assert everything == {"really nice movie", "really decent movie"}


def test_a_half_changed_text_does_not_mutate() -> None:
    assert PLAIN._mutation(X, X) == 1
    assert PLAIN._mutation(Text("a b c d"), Text("a b x d")) == 0.5
    assert PLAIN._mutation(Text("a b"), Text("a x")) == 0
    # Of two words the first change is half: the second never comes, though crossing particles can join them.
    record, _ = attack("good film", replace(PLAIN, particles=1), {"good": 3.0, "film": 1.0})
    assert len(record.edits) == 1


def test_a_word_is_drawn_by_its_candidates_ten_at_most() -> None:
    many = " ".join(f"w{i}" for i in range(40))
    method = replace(PLAIN, source=table(good=many, truly="really x y z q"), particles=1, rounds=1, chances=(0.0, 0.0))
    method = replace(method, inertia=(1.0, 1.0))
    examples = [mohs.Example.of("truly good", 1, id=str(i)) for i in range(300)]
    with mohs.attack(WordCount({"good": 3.0, "truly": 2.0}), examples, [method]) as run:
        found = Counter(record.edits[0].old for record in run.records())
    assert abs(found["good"] - 200) < 30  # 10 to 5


def test_textattack_draws_a_word_by_its_gain() -> None:
    one = scout({"truly": 1.0, "really": 0.0, "good": 1.0, "nice": 0.5, "decent": 0.9, "film": -1.0, "movie": -1.0})
    members = {str(m.text): m.score for m in now(one.members([X, X.replace(0, "really"), X.replace(1, "nice")]))}
    gains = [members["really good film"] - members[str(X)], members["truly nice film"] - members[str(X)]]
    drawn = Counter(str(m.text) for m in now(replace(PLAIN, by_gain=True)._mutated([X] * 1000, one)))
    assert set(drawn) == {"really good film", "truly nice film"}
    assert drawn["really good film"] == pytest.approx(1000 * gains[0] / sum(gains), abs=50)


def test_it_ends_with_the_round_that_fools_and_keeps_to_a_quarter() -> None:
    record, _ = attack("truly good film", weights={**WEIGHTS, "decent": -2.0})
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("truly decent film",))
    assert record.queries == 5  # the first round, all swaps of all words
    capped = replace(PLAIN, constraints=SememePSO.constraints)
    record, victim = attack("truly good film it is a x", capped)  # a quarter of seven words is one
    assert record.perturbed == ("truly decent film it is a x",)
    original = Text("truly good film it is a x")
    asked = [Text(*fields) for fields in victim.asked if len(Text(*fields)) == 7]
    assert max(len(original.edits(text)) for text in asked) == 1


def test_a_budget_too_small_for_every_swap_of_every_word_mutates_one_word() -> None:
    names = [f"w{i}" for i in range(8)]
    source = table(**{name: f"{name}a {name}b" for name in names})
    method = replace(PLAIN, source=source, by_gain=True, inverted=True)
    weights = dict.fromkeys(names, 1.0) | {f"{name}{end}": 0.5 for name in names for end in "ab"}
    record, victim = attack(" ".join(names), method, weights, budget=12)
    original = Text(" ".join(names))
    changes = [len(original.edits(Text(*fields))) for fields in victim.asked if len(Text(*fields)) == 8]
    assert record.queries == 12
    assert max(changes) >= 3  # the budget is not spent on the sixteen texts with one word changed
    _, victim = attack(" ".join(names), method, weights)  # without one it asks them all
    assert {original.replace(p, f"{name}{end}").fields for p, name in enumerate(names) for end in "ab"} <= {
        *victim.asked
    }


@pytest.mark.parametrize("budget", [1, 2, 3, 6, 12, 40])
def test_the_budget_is_kept(budget: int) -> None:
    record, _ = attack("truly good film it is a x", weights={**WEIGHTS, "really": 0.5}, budget=budget)
    assert record.queries <= budget


def test_presets() -> None:
    assert needs(SememePSO()) == ("sememes", "tagger", "vectors")
    assert needs(pso_neighbours()) == ("vectors",)
    assert (pso_textattack().inverted, pso_textattack().by_gain, pso_textattack().constraints) == (True, True, ())
    assert (SememePSO().particles, SememePSO().rounds, SememePSO().vmax) == (60, 20, 3.0)
