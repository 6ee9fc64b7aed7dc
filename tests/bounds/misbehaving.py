"""Kinds of victims that misbehave, each around one true function: the mean of a text's word weights.

The truth about every kind is that function. A kind with noise is held to what it would answer without the noise, one
that changes to what it answered at first, and one that depends on its batch, its memory or the number of the call to
what it would answer if it did not. Each time a kind makes a new victim. What is random has a fixed seed; a clock is a
counter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import numpy as np

from mohs.models.function import FunctionVictim
from tests.toys import WordCount

WEIGHTS = {"good": 1.5, "fine": 0.5, "poor": -1.0, "bad": -2.0, "film": 0.3, "plot": -0.4, "great": 2.5}
Rows = list[list[float]]
Answer = Callable[[list[str]], Any]
Make = Callable[[], Answer]
Odd = Callable[[int, list[str]], Any]  # the number of a call and its texts

MISBEHAVING: dict[str, Make] = {}
OPTIONS: dict[str, dict[str, Any]] = {}  # of FunctionVictim, for kinds that do not give probabilities
CLAIMS_TO_BE_EXACT: set[str] = set()


_COUNT = WordCount(WEIGHTS)


def truth(text: str) -> list[float]:
    return list(_COUNT.scores((text,)))


def right(given: list[str]) -> Rows:
    return [truth(text) for text in given]


def label_of(text: str) -> int:
    return int(truth(text)[1] > 0.5)


def flipped(given: list[str]) -> Rows:
    return [row[::-1] for row in right(given)]


def sure(given: list[str]) -> Rows:
    return [[0.95, 0.05] for _ in given]


class Watched:
    """A function that counts the calls that it answers otherwise than the truth, or not at all."""

    def __init__(self, answer: Answer, labels: bool = False) -> None:
        self._answer = answer
        self._labels = labels
        self.odd = 0

    def __call__(self, given: list[str]) -> Any:
        true = list(map(label_of, given)) if self._labels else right(given)
        self.odd += 1
        found = self._answer(given)
        self.odd -= isinstance(found, list | np.ndarray) and np.array_equal(found, true)
        return found


def odd_calls(victim: FunctionVictim) -> int:
    """How many calls a victim of `victim_of` did not answer with the truth."""
    watched: Any = victim.made_of
    return int(watched.odd)


def victim_of(kind: str, **options: Any) -> FunctionVictim:
    """A new victim of a kind, or one that behaves ("right")."""
    make = {"right": lambda: right, **MISBEHAVING, **OWN_MEMORY}[kind]
    more = OPTIONS.get(kind, {})
    made = FunctionVictim(Watched(make(), "output" in more), name=kind, **more, **options)
    if kind in CLAIMS_TO_BE_EXACT:
        made.exact = True
    return made


def kind(name: str, exact: bool = False, **options: Any) -> Callable[[Make], Make]:
    def keep(make: Make) -> Make:
        assert name not in MISBEHAVING, f"there are two kinds called {name}"
        MISBEHAVING[name] = make
        OPTIONS[name] = options
        if exact:
            CLAIMS_TO_BE_EXACT.add(name)
        return make

    return keep


def of_calls(odd: Odd) -> Make:
    """A kind whose answer depends on nothing but the number of the call and its texts."""

    def make() -> Answer:
        calls = count()
        return lambda given: odd(next(calls), given)

    return make


def plain(name: str, answer: Answer, exact: bool = False, **options: Any) -> None:
    """A kind without a state."""
    kind(name, exact, **options)(lambda: answer)


def timed(name: str, odd: Odd, **options: Any) -> None:
    """A kind whose answers depend on the number of the call."""
    kind(name, **options)(of_calls(odd))


# Rows in another order.


def racing(seed: int) -> Make:
    """Threads that put their rows down as they finish."""

    def make() -> Answer:
        random = Random(seed)

        def answer(given: list[str]) -> Rows:
            rows = right(given)
            random.shuffle(rows)
            return rows

        return answer

    return make


def neighbours_swapped(given: list[str]) -> Rows:
    rows = right(given)
    if len(rows) > 2:
        rows[1], rows[2] = rows[2], rows[1]
    return rows


def one_missing_in_the_middle(given: list[str]) -> Rows:
    rows = right(given)
    return rows if len(rows) < 3 else [*rows[:1], *rows[2:], rows[-1]]


plain("backwards", lambda given: right(given)[::-1])
plain("backwards, and claims to be exact", lambda given: right(given)[::-1], exact=True)
plain("sorted and not put back", lambda given: right(sorted(given)))
plain("sorted by length and not put back", lambda given: right(sorted(given, key=lambda text: (len(text), text))))
plain("shifted by one", lambda given: right([*given[1:], given[0]]))
plain("halves swapped", lambda given: right([*given[len(given) // 2 :], *given[: len(given) // 2]]))
plain("every other row first", lambda given: right([*given[::2], *given[1::2]]))
plain("two neighbours swapped", neighbours_swapped)
plain("one row left out, the last one twice", one_missing_in_the_middle)
plain("the first row for all", lambda given: right(given[:1]) * len(given))
kind("threads that race")(racing(11))

# Too many rows, too few, or something else.

plain("a row too few in batches", lambda given: right(given)[: max(1, len(given) - 1)])
plain("a row too many in batches", lambda given: [*right(given), *right(given[:1])][: len(given) + (len(given) > 1)])
timed("no rows after a while", lambda call, given: right(given) if call < 45 else [])
plain("a generator", lambda given: (row for row in right(given)))
timed("a generator after a while", lambda call, given: right(given) if call < 50 else iter(right(given)))
timed("None now and then", lambda call, given: None if call % 9 == 8 else right(given))
plain("numbers written as strings", lambda given: [[str(p) for p in row] for row in right(given)])

# Numbers that are no probabilities.


def some_infinite(call: int, given: list[str]) -> Rows:
    return [[math.inf, -math.inf] if call > 50 and "poor" in text else truth(text) for text in given]


timed("NaN after a while", lambda call, given: right(given) if call < 60 else [[math.nan, math.nan]] * len(given))
plain("NaN for one row of a batch", lambda given: [*right(given[:-1]), [math.nan] * 2] if given[1:] else right(given))
timed("infinite for some texts after a while", some_infinite)
plain("logits", lambda given: [[0.0, math.log(b / a)] for a, b in right(given)])
timed("logits after a while", lambda call, given: [[0.0, 9.0]] * len(given) if call > 40 else right(given))
timed(
    "percent now and then", lambda call, given: [[p * (100 if call % 6 == 5 else 1) for p in r] for r in right(given)]
)
plain("negative zeros", lambda given: [[-0.0, 1.0] if label_of(text) else [1.0, -0.0] for text in given])
plain("whole numbers", lambda given: [[1 - label_of(text), label_of(text)] for text in given])
plain(
    "sums a little off in batches", lambda given: [[p * (1 + 9e-4 * (len(given) > 1)) for p in r] for r in right(given)]
)
plain("float16", lambda given: np.array(right(given), np.float16))
plain("float16 in batches alone", lambda given: np.array(right(given), np.float16 if given[1:] else np.float64))
plain("one decimal in batches", lambda given: np.round(right(given), 1 if given[1:] else 9))

# Noise, and answers that change with time. The truth is what it would say without the noise, or before the change.


def noisy(first: int, last: int) -> Make:
    """Calls from the first to the last one are answered at random."""

    def make() -> Answer:
        calls, random = count(), Random(3)

        def answer(given: list[str]) -> Rows:
            if not first <= next(calls) < last:
                return right(given)
            return [truth(text)[:: random.choice((1, -1))] for text in given]

        return answer

    return make


def flips(share: float, seed: int = 5, near: float = 1.0) -> Make:
    """A share of the answers is the other way round, of those with a margin up to `near`."""

    def make() -> Answer:
        random = Random(seed)

        def one(text: str) -> list[float]:
            row = truth(text)
            return row[:: -1 if abs(row[0] - row[1]) <= near and random.random() < share else 1]

        return lambda given: [one(text) for text in given]

    return make


def dropout(width: float) -> Make:
    """Noise on the logits, as of a model in training mode."""

    def make() -> Answer:
        random = Random(17)

        def one(text: str) -> list[float]:
            odds = math.exp(random.gauss(0, width))
            a, b = truth(text)
            return [a / (a + b * odds), b * odds / (a + b * odds)]

        return lambda given: [one(text) for text in given]

    return make


def towards(aim: tuple[float, float], share: float, given: list[str]) -> Rows:
    """Answers that are moved a share of the way to an aim."""
    share = min(share, 1.0)
    return [[p + (end - p) * share for p, end in zip(row, aim, strict=True)] for row in right(given)]


def clocked() -> Answer:
    """Its noise has the clock as its seed: the same within a tick."""
    calls = count()

    def answer(given: list[str]) -> Rows:
        random = Random(next(calls) // 5)
        return [truth(text)[:: -1 if random.random() < 0.1 else 1] for text in given]

    return answer


AIM = (0.1, 0.9)

kind("noisy at first")(noisy(0, 8))
kind("noisy after seven calls")(noisy(7, 10**9))
kind("noisy after forty calls")(noisy(40, 10**9))
kind("noisy after sixty calls")(noisy(60, 10**9))
kind("noisy after a hundred calls")(noisy(100, 10**9))
kind("noisy for a while")(noisy(50, 90))
kind("1% flips")(flips(0.01))
kind("5% flips")(flips(0.05))
kind("30% flips")(flips(0.3))
kind("half of those near the boundary flip")(flips(0.5, near=0.3))
kind("dropout")(dropout(0.3))
kind("a little dropout")(dropout(0.01))
kind("noise by the clock")(clocked)
timed("drifts", lambda call, given: towards(AIM, call * 1e-3, given))
timed("drifts slowly", lambda call, given: towards(AIM, call * 2e-5, given))
timed("drifts from the right answer and back", lambda call, given: towards(AIM, abs(math.sin(call / 50)), given))
timed("warms up", lambda call, given: towards((0.5, 0.5), max(0, 1 - call / 40), given))
timed("another release after a while", lambda call, given: right(given) if call < 90 else towards(AIM, 0.7, given))
timed("classes swapped after a while", lambda call, given: right(given) if call < 70 else flipped(given))
timed("classes swapped in every third call", lambda call, given: flipped(given) if call % 3 == 2 else right(given))
timed("classes swapped in every fiftieth call", lambda call, given: flipped(given) if call % 50 == 49 else right(given))


@kind("right at first, otherwise when asked again")
def otherwise_again() -> Answer:
    seen: set[str] = set()

    def one(text: str) -> list[float]:
        new = text not in seen
        seen.add(text)
        return truth(text)[:: 1 if new else -1]

    return lambda given: [one(text) for text in given]


@kind("learns from the second question on")
def learning() -> Answer:
    """Sure of the first class until it was asked about a text once."""
    seen: set[str] = set()

    def one(text: str) -> list[float]:
        new = text not in seen
        seen.add(text)
        return [0.9, 0.1] if new else truth(text)

    return lambda given: [one(text) for text in given]


# A memory of what was asked before. One that is never lost is in OWN_MEMORY below.


@kind("remembers the last")
def remembers_the_last() -> Answer:
    last: Rows = [[0.5, 0.5]]

    def answer(given: list[str]) -> Rows:
        found = [last[0], *right(given)][: len(given)]
        last[0] = right(given)[-1]
        return found

    return answer


@kind("a call late")
def a_call_late() -> Answer:
    """A queue that gives the rows of the call before, if they are as many."""
    before: list[Rows] = [[]]

    def answer(given: list[str]) -> Rows:
        now, then = right(given), before[0]
        before[0] = now
        return then if len(then) == len(now) else now

    return answer


@kind("half of the answer before")
def momentum() -> Answer:
    state = [0.5, 0.5]

    def answer(given: list[str]) -> Rows:
        rows = []
        for row in right(given):
            state[:] = [(old + new) / 2 for old, new in zip(state, row, strict=True)]
            rows.append(list(state))
        return rows

    return answer


@kind("one buffer for all answers")
def one_buffer() -> Answer:
    """Gives a view of memory that the next call writes over."""
    buffer = np.zeros((4096, 2))

    def answer(given: list[str]) -> Any:
        buffer[: len(given)] = right(given)
        return buffer[: len(given)]

    return answer


@kind("one buffer, filled too late")
def late_buffer() -> Answer:
    """In batches, the rows of the last call that had as many."""
    buffer = np.full((4096, 2), 0.5)

    def answer(given: list[str]) -> Any:
        stale = buffer[: len(given)].copy()
        buffer[: len(given)] = right(given)
        return stale if given[1:] else buffer[:1]

    return answer


def remembering(key: Callable[[str], Any], most: int) -> Make:
    """Answers by a key that several texts share, and forgets everything when it has `most` entries."""

    def make() -> Answer:
        kept: dict[Any, list[float]] = {}

        def one(text: str) -> list[float]:
            if len(kept) >= most:
                kept.clear()
            return kept.setdefault(key(text), truth(text))

        return lambda given: [one(text) for text in given]

    return make


def latest(key: Callable[[str], Any]) -> Make:
    """Answers from a table by a key that several texts share; the answer is put there afterwards."""

    def make() -> Answer:
        kept: dict[Any, list[float]] = {}

        def one(text: str) -> list[float]:
            found = kept.get(key(text), truth(text))
            kept[key(text)] = truth(text)
            return found

        return lambda given: [one(text) for text in given]

    return make


kind("remembers the start of a text, and forgets after 3")(remembering(lambda text: text[:8], 3))
kind("remembers the number of words, and forgets after 2")(remembering(lambda text: text.count(" "), 2))
kind("remembers words in any order, and forgets after 9")(remembering(lambda text: frozenset(text.split()), 9))
kind("the last answer to a text that starts alike")(latest(lambda text: text[:8]))
kind("the last answer to a text of that length")(latest(len))
kind("the last answer to a text of that hash")(latest(lambda text: sum(map(ord, text)) % 8))


@kind("remembers by the object")
def by_object() -> Answer:
    """The address of a string, which another one has later. The strings here are copies, so that it happens."""
    kept: dict[int, list[float]] = {}

    def one(text: str) -> list[float]:
        copy = (text + " ")[:-1]
        return kept.setdefault(id(copy), truth(copy))

    return lambda given: [one(text) for text in given]


@kind("remembers by the place in a batch")
def by_place() -> Answer:
    kept: dict[tuple[int, int], list[float]] = {}

    def one(place: int, size: int, text: str) -> list[float]:
        return truth(text) if size == 1 else kept.setdefault((place, size), truth(text))

    return lambda given: [one(place, len(given), text) for place, text in enumerate(given)]


# Answers that depend on the rest of the batch.


def where(wrong: Callable[[int, int, str], bool]) -> Answer:
    """The other way round where the place, the size of the batch and the text say so."""
    return lambda given: [truth(t)[:: -1 if wrong(place, len(given), t) else 1] for place, t in enumerate(given)]


def normalised(given: list[str]) -> Rows:
    """Scores less their mean over the batch, as batch normalisation in training mode does."""
    logits = [math.log(b / a) for a, b in right(given)]
    middle = sum(logits) / len(logits) if given[1:] else 0.0
    return [[1 / (1 + math.exp(z - middle)), 1 / (1 + math.exp(middle - z))] for z in logits]


def cut_to_the_shortest(given: list[str]) -> Rows:
    words = min(len(text.split()) for text in given)
    return right([" ".join(text.split()[:words]) for text in given])


def padded_with_the_longest(given: list[str]) -> Rows:
    longest = max((text.split() for text in given), key=len)
    return right([" ".join([*text.split(), *longest[len(text.split()) :]]) for text in given])


def other_from(least: int) -> Answer:
    """Sure of the first class in a large batch, as a forgotten mask may make it."""
    return lambda given: sure(given) if len(given) >= least else right(given)


plain("other in batches of 2", other_from(2))
plain("other in batches of 5", other_from(5))
plain("other in batches of 40", other_from(40))
plain("moved in batches", lambda given: towards((0.5, 0.5), 0.6 * (len(given) > 1), given))
plain("moved in batches, and claims to be exact", lambda g: towards((0.5, 0.5), 0.6 * (len(g) > 1), g), exact=True)
plain("wrong in batches of an odd size", where(lambda place, size, text: size > 1 and size % 2 == 1))
plain("wrong in batches of an even size", where(lambda place, size, text: size % 2 == 0))
plain("the first row of a batch wrong", where(lambda place, size, text: size > 1 and place == 0))
plain("the last row of a batch wrong", where(lambda place, size, text: size > 1 and place == size - 1))
plain("every row from the fifth on wrong", where(lambda place, size, text: place > 4))
plain("one word read wrong in batches", where(lambda place, size, text: size > 1 and "poor" in text))
plain("two words read wrong in batches", where(lambda p, size, t: size > 1 and "poor" in t and "plot" in t))
plain("near the boundary wrong in batches", where(lambda p, s, t: s > 1 and abs(truth(t)[0] - truth(t)[1]) < 0.3))
plain("normalised over the batch", normalised)
plain("cut to the shortest of the batch", cut_to_the_shortest)
plain("padded with the words of the longest", padded_with_the_longest)


def liar(honest_about: Callable[[], list[str]]) -> Make:
    """Right about the originals, and about all texts alone; sure of the likely label of others in batches."""

    def make() -> Answer:
        known = set(honest_about())

        def answer(given: list[str]) -> Rows:
            if len(given) == 1:
                return right(given)
            return [truth(text) if text in known else [0.03, 0.97] for text in given]

        return answer

    return make


def texts(number: int = 24) -> list[str]:
    """The originals of the runs: a few words each."""
    random = Random(7)
    words = list(WEIGHTS)
    return list(dict.fromkeys(" ".join(random.choices(words, k=random.randint(2, 5))) for _ in range(number)))


kind("lies about candidates in batches")(liar(texts))

# What it does to the list that it is given.


@kind("sorts what it gets")
def sorts_what_it_gets() -> Answer:
    def answer(given: list[str]) -> Rows:
        rows = right(given)
        given.sort()
        return rows[::-1]

    return answer


@kind("empties what it gets")
def empties_what_it_gets() -> Answer:
    def answer(given: list[str]) -> Rows:
        rows = []
        while given:
            rows.append(truth(given.pop()))
        return rows

    return answer


@kind("writes into what it got before")
def writes_into_earlier() -> Answer:
    """Keeps the lists that it was given and changes them during the next call; its answers are right."""
    kept: list[list[str]] = []

    def answer(given: list[str]) -> Rows:
        for other in kept:
            other[:] = ["bad"] * (len(other) + 1)
        kept[:] = [given]
        return right(given)

    return answer


# Errors.


def raising(error: type[BaseException], when: Callable[[int, list[str]], bool]) -> Odd:
    def odd(call: int, given: list[str]) -> Rows:
        if when(call, given):
            raise error("no answer")
        return right(given)

    return odd


timed("raises at some texts", raising(ValueError, lambda call, given: any("bad plot" in text for text in given)))
timed("raises in every fifth call", raising(RuntimeError, lambda call, given: call % 5 == 4))
timed("raises at batches of 3", raising(MemoryError, lambda call, given: len(given) > 2))
timed("raises for good after a while", raising(OSError, lambda call, given: call > 80))
timed("ends the program after a while", raising(SystemExit, lambda call, given: call == 70))


@kind("wrong once it has raised")
def wrong_after_an_error() -> Answer:
    calls = count()
    broken = [False]

    def answer(given: list[str]) -> Rows:
        if next(calls) == 60:
            broken[0] = True
            raise RuntimeError("out of memory")
        return flipped(given) if broken[0] else right(given)

    return answer


# Another number of classes.

plain("another class in batches", lambda given: [[*row, 0.0] for row in right(given)] if given[2:] else right(given))
timed(
    "another class after a while",
    lambda call, given: [[*row, 0.0] for row in right(given)] if call > 55 else right(given),
)
timed(
    "a class less after a while", lambda call, given: [row[1:] for row in right(given)] if call > 55 else right(given)
)

# Labels alone.

LABELS: dict[str, Any] = {"output": "labels", "labels": ("negative", "positive")}


def wrong_labels(share: float) -> Make:
    def make() -> Answer:
        random = Random(23)
        return lambda given: [label_of(text) ^ (random.random() < share) for text in given]

    return make


kind("labels, 5% of them wrong", **LABELS)(wrong_labels(0.05))
plain("labels, backwards", lambda given: [label_of(text) for text in given][::-1], **LABELS)
plain("labels, all the same in batches", lambda given: [label_of(t) if len(given) == 1 else 1 for t in given], **LABELS)
timed("labels, swapped after a while", lambda call, given: [label_of(t) ^ (call > 100) for t in given], **LABELS)
timed(
    "labels as words after a while",
    lambda call, g: [("no", "yes")[label_of(t)] if call > 60 else label_of(t) for t in g],
    **LABELS,
)
timed("a label too many after a while", lambda call, given: [2 if call > 60 else label_of(t) for t in given], **LABELS)

GIVES_LABELS = [name for name, options in OPTIONS.items() if options]

# Odd, but right: nothing is lost with these.
HARMLESS = (
    "negative zeros",
    "whole numbers",
    "float16",
    "one buffer for all answers",
    "writes into what it got before",
)

# No run can catch these: they answer every text alike in one process, however it is asked. See docs/radius.md.
OWN_MEMORY: dict[str, Make] = {
    "remembers the start of a text": remembering(lambda text: text[:8], 10**9),
    "remembers the number of words": remembering(lambda text: text.count(" "), 10**9),
    "remembers by a hash that collides": remembering(lambda text: sum(map(ord, text)) % 3, 10**9),
}


def remembers_what_it_got_wrong() -> Answer:
    """Batches are answered backwards, and what was answered once is kept."""
    kept: dict[str, list[float]] = {}

    def answer(given: list[str]) -> Rows:
        new = [text for text in given if text not in kept]
        kept.update(zip(new, right(new)[::-1], strict=True))
        return [kept[text] for text in given]

    return answer


OWN_MEMORY["remembers what it got wrong in a batch"] = remembers_what_it_got_wrong
