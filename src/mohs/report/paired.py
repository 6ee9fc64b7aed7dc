"""Two shares of the same examples, and how far they are apart: the paired statistics of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mohs.tasks.inference import FEWEST, mcnemar, paired_interval


@dataclass(frozen=True)
class Answer:
    """One question about one example in one run: yes, no, or hidden by an error."""

    value: bool | None  # None: an error hides it
    least: bool = False  # what a hidden answer may be: from `least` to `most`
    most: bool = True
    asked: bool = True  # False: the question is not about this example

    @property
    def ends(self) -> tuple[bool, bool]:
        """The least and the most that the answer can be."""
        return (self.least, self.most) if self.value is None else (self.value, self.value)


YES, NO, HIDDEN = Answer(True), Answer(False), Answer(None)
NOT_ASKED = Answer(None, asked=False)


def answered(value: bool) -> Answer:
    """A known answer."""
    return YES if value else NO


@dataclass(frozen=True)
class Pairs:
    """How often each pair of answers was seen, among examples of one kind."""

    both: int = 0
    first: int = 0  # yes in the first run alone
    second: int = 0  # yes in the second run alone
    neither: int = 0
    errors: int = 0  # an error hides one of the answers, or both
    least: int = 0  # over these: the least that second minus first can sum up to
    most: int = 0

    @property
    def known(self) -> int:
        """Examples with both answers."""
        return self.both + self.first + self.second + self.neither

    @property
    def whole(self) -> int:
        """All examples of the kind."""
        return self.known + self.errors

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(*(mine + its for mine, its in zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class Paired:
    """The shares of yes in two runs on the same examples, and their difference: second minus first.

    Kinds are groups of examples in which errors are equally likely to have hidden a yes: examples attacked in both
    runs, in one, in none. Each error counts as the examples of its kind without one do on average. Left out, attacked
    examples alone would be missing, and shares of all examples would be wrong. With no error this changes nothing. If
    all examples of a kind are errors, the kinds with errors count as one.
    """

    of: str  # the denominator
    kinds: tuple[Pairs, ...]
    aside: Pairs = Pairs()  # errors of which the kind is not known: only in the bounds
    holm: float = math.nan  # the p value, adjusted for all tests of this question

    @classmethod
    def of_answers(cls, of: str, answers: Iterable[tuple[object, Answer, Answer]]) -> Paired:
        """From the kind and the two answers of each example; those that one run was not asked are left out.

        Kind None: errors are as likely in all examples, or it is not known in which; they are left out of the shares.
        """
        found: dict[object, Pairs] = {}
        aside = Pairs()
        for kind, first, second in answers:
            if not first.asked or not second.asked:
                continue
            pair = _pair(first, second)
            if kind is None and pair.errors:
                aside += pair
            else:
                found[kind] = found.get(kind, Pairs()) + pair
        return cls(of, tuple(found.values()), aside)

    @property
    def pairs(self) -> Pairs:
        """All examples together."""
        return sum(self.kinds, self.aside)

    @property
    def first(self) -> float | None:
        """The share in the first run; None if there is nothing to tell it from."""
        return self._share(lambda found: found.both + found.first)

    @property
    def second(self) -> float | None:
        """The share in the second run."""
        return self._share(lambda found: found.both + found.second)

    @property
    def difference(self) -> float | None:
        """The share in the second run minus that in the first."""
        return self._share(lambda found: found.second - found.first)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the difference (Tango 1998); None below six examples with both answers.

        After errors it is that of as many examples as would tell the difference as well as these do.
        """
        seen = self.pairs
        if seen.known < FEWEST or self.difference is None:
            return None
        if seen.errors == self.aside.errors:
            return paired_interval(seen.second, seen.first, seen.known)
        n = self._as_good_as()
        gained, lost = (self._share(part) or 0.0 for part in (lambda one: one.second, lambda one: one.first))
        return paired_interval(gained * n, lost * n, n)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The difference if all errors had hidden what lowers it most, and what raises it most."""
        seen = self.pairs
        if not seen.whole:
            return None
        sure = seen.second - seen.first
        return (sure + seen.least) / seen.whole, (sure + seen.most) / seen.whole

    @property
    def p(self) -> float:
        """McNemar's exact test of no difference, on examples with both answers; nan for fewer than six."""
        seen = self.pairs
        return mcnemar(seen.first, seen.second) if seen.known >= FEWEST else math.nan

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        seen = self.pairs
        return {
            "of": self.of,
            "examples": seen.known,
            "errors": seen.errors,
            "both": seen.both,
            "only_first": seen.first,
            "only_second": seen.second,
            "neither": seen.neither,
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "interval": self.interval,
            "bounds": self.bounds,
            "p": None if math.isnan(self.p) else self.p,
            "holm": None if math.isnan(self.holm) else self.holm,
        }

    def _share(self, part: Callable[[Pairs], float]) -> float | None:
        """The mean of a count over all examples, those with an error as the others of their kind on average."""
        kinds = self._pooled
        whole = sum(one.whole for one in kinds)
        if not whole or any(not one.known for one in kinds):
            return None
        return float(sum(one.whole * part(one) / one.known for one in kinds)) / whole

    @property
    def _pooled(self) -> list[Pairs]:
        """The kinds; if one has errors alone, those with errors are one kind."""
        kinds = [one for one in self.kinds if one.whole]
        if all(one.known for one in kinds):
            return kinds
        return [one for one in kinds if not one.errors] + [sum((one for one in kinds if one.errors), Pairs())]

    def _as_good_as(self) -> float:
        """How many examples without errors would tell the difference with the same variance.

        In a kind with errors the shares of discordant pairs are moved a little towards each other, or a kind without
        one would seem to tell for certain. Without errors this is the number of examples.
        """
        kinds = self._pooled
        whole = sum(one.whole for one in kinds)
        mean = spread = within = 0.0
        for one in kinds:
            weight, more = one.whole / whole, 1.0 if one.errors else 0.0
            gained = (one.second + more) / (one.known + 4 * more)
            lost = (one.first + more) / (one.known + 4 * more)
            mean += weight * (gained - lost)
            spread += weight * (gained + lost)
            # the known ones tell the difference within the kind, all of them how large the kind is
            within += weight**2 * (gained + lost - (gained - lost) ** 2) / one.known
            within += weight * (gained - lost) ** 2 / whole
        variance = within - mean**2 / whole
        return (spread - mean**2) / variance if variance > 0 else float(self.pairs.known)


def _pair(first: Answer, second: Answer) -> Pairs:
    """One example."""
    if first.value is None or second.value is None:
        (low, high), (least, most) = first.ends, second.ends
        return Pairs(errors=1, least=least - high, most=most - low)
    return Pairs(
        both=int(first.value and second.value),
        first=int(first.value and not second.value),
        second=int(second.value and not first.value),
        neither=int(not first.value and not second.value),
    )
