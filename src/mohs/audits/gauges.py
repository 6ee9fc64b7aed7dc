"""What is measured of an adversarial example. A gauge asks one kind of service and gives one or more named values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol

from mohs.engine import together
from mohs.errors import BadInput
from mohs.space import (
    Acceptable,
    BertScore,
    Constraint,
    EditDistance,
    FluencyRank,
    GrammarErrors,
    Measure,
    Perplexity,
    PerplexityRatio,
    PositionsAgain,
    SentenceSimilarity,
    Services,
    ShareChanged,
    WordCosine,
    WordsChanged,
    parse_constraint,
)
from mohs.space.fluency import perplexity
from mohs.tasks.described import describe
from mohs.text import Text
from mohs.text.questions import Blank

_BESIDE = 30  # words on each side that the masked language model reads: long texts would take minutes each
WINDOWS = (11, 15)  # words around a change: as people were shown them, and as TextFooler compares them
# The thresholds of Morris et al. ("Reevaluating adversarial examples in natural language", 2020).
DEFAULT_REQUIRED = ("word-cosine>=0.9", "similarity:angular=no,window=15>=0.98", "grammar-errors<=0")

EDITS, EDIT_SHARE = "edit distance", "edit distance, normalised"
CHANGED, SHARE = "words changed", "share of words changed"
COSINE, WORD = "sentence cosine", "word cosine"
BERT = "BERTScore"
ACCEPTED = "acceptable"
ERRORS, ERRORS_BEFORE, ERRORS_AFTER = "grammar errors introduced", "grammar errors before", "grammar errors after"
PPL_BEFORE, PPL, PPL_RATIO = "perplexity before", "perplexity", "perplexity ratio"
EXPECTED = "masked-LM log-odds"


@dataclass(frozen=True)
class Taken:
    """What was measured of one example: values by name (nan if undefined) and the rules of grammar that it breaks."""

    values: Mapping[str, float]
    rules_before: tuple[str, ...] | None = None  # None if grammar was not measured
    rules_after: tuple[str, ...] | None = None


class Gauge(Protocol):
    """Measures a pair of texts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its values."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of services it asks."""
        ...

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """Measure a final text against the original."""
        ...


@dataclass(frozen=True)
class Extent:
    """How much was changed: characters, and words."""

    names: ClassVar[tuple[str, ...]] = (EDITS, EDIT_SHARE, CHANGED, SHARE)
    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """The edit distance is normalised by the characters of the longer text."""
        (edits,) = await EditDistance().against(original, [final], ask)
        (words,) = await WordsChanged().against(original, [final], ask)
        (share,) = await ShareChanged().against(original, [final], ask)
        longer = max(sum(map(len, original.fields)), sum(map(len, final.fields)), 1)
        return Taken({EDITS: edits, EDIT_SHARE: round(edits / longer, 6), CHANGED: words, SHARE: round(share, 6)})


@dataclass(frozen=True)
class Whole:
    """A measure of whole texts. With a window, the worst of the windows around the changed words."""

    measure: Measure
    worst: Callable[[Sequence[float]], float] = min

    @property
    def names(self) -> tuple[str, ...]:
        """The measure's name with its settings."""
        most = self.worst is max and getattr(self.measure, "window", None) is not None
        return (f"{value_of(self.measure)}, most" if most else value_of(self.measure),)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the measure needs."""
        return self.measure.needs

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """Compare with the original. A window sees each change as a step from the text without that change."""
        measure = self.measure
        if getattr(measure, "window", None) is None or not original.same_shape(final):
            (value,) = await measure.of_texts(original, None, [final], ask)
            return Taken({self.names[0]: value})
        places = original.changes(final)
        steps = [final.replace(place, original.words[place]) for place in places]
        found = await together(*(measure.of_texts(original, step, [final], ask) for step in steps))
        values = [value for (value,) in found]
        if not values:
            values = await measure.of_texts(original, None, [final], ask)
        unknown = any(map(math.isnan, values))
        return Taken({self.names[0]: math.nan if unknown else self.worst(values)})


@dataclass(frozen=True)
class GrammarRules:
    """The rules that each text breaks, and G(x_adv) - G(x)."""

    names: ClassVar[tuple[str, ...]] = (ERRORS, ERRORS_BEFORE, ERRORS_AFTER)
    needs: ClassVar[tuple[str, ...]] = ("grammar",)

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """Check both texts."""
        before, after = await ask.grammar([str(original), str(final)])
        values = {
            ERRORS: float(len(after) - len(before)),
            ERRORS_BEFORE: float(len(before)),
            ERRORS_AFTER: float(len(after)),
        }
        return Taken(values, tuple(before), tuple(after))


@dataclass(frozen=True)
class Fluency:
    """The perplexity of both texts."""

    names: ClassVar[tuple[str, ...]] = (PPL_BEFORE, PPL, PPL_RATIO)
    needs: ClassVar[tuple[str, ...]] = ("lm",)

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """Read both texts."""
        before, after = map(perplexity, await ask.lm([str(original), str(final)]))
        return Taken({PPL_BEFORE: before, PPL: after, PPL_RATIO: round(after / before, 6) if before else math.nan})


@dataclass(frozen=True)
class Expected:
    """How much less a masked language model expects the new words: mean of log p(new) - log p(old), one mask each.

    Words that are not one piece of its vocabulary are left out; nan if no changed word is left.
    """

    names: ClassVar[tuple[str, ...]] = (EXPECTED,)
    needs: ClassVar[tuple[str, ...]] = ("masked_lm",)

    async def __call__(self, original: Text, final: Text, ask: Services) -> Taken:
        """Mask each changed word of the final text, with the words around it."""
        if not original.same_shape(final):
            return Taken({EXPECTED: math.nan})
        blanks = []
        for edit in original.edits(final):
            if edit.new and " " not in edit.new:
                string, start, end = final.stretch(edit.position, _BESIDE, _BESIDE)
                blanks.append(Blank((string,), 0, start, end, 1, (edit.old.lower(), edit.new.lower())))
        filled = await ask.fill(blanks) if blanks else []
        gaps = [new - old for old, new in (answer.log_probs for answer in filled)]
        known = [gap for gap in gaps if not math.isnan(gap)]
        return Taken({EXPECTED: round(math.fsum(known) / len(known), 6) if known else math.nan})


def cosine(window: int | None = None) -> SentenceSimilarity:
    """The sentence encoder's cosine."""
    return SentenceSimilarity(angular=False, window=window)


def always() -> list[Gauge]:
    """The gauges of every audit, as far as their services are there."""
    return [
        Extent(),
        Whole(cosine()),
        *(Whole(cosine(window)) for window in WINDOWS),
        Whole(WordCosine()),
        Whole(BertScore()),
        Whole(Acceptable()),
        GrammarRules(),
        Fluency(),
        Expected(),
    ]


@dataclass(frozen=True)
class Required:
    """A constraint on the final text, as written, and the name of the value that it judges."""

    written: str
    constraint: Constraint
    value: str
    gauge: Gauge
    default: bool = False  # not asked for by the user

    def holds(self, taken: Taken, words: int) -> bool:
        """Whether an example passes; an undefined value never does."""
        return self.constraint.holds(taken.values.get(self.value, math.nan), words)


def required(given: str | Constraint, default: bool = False) -> Required:
    """A constraint for `--require`: the final text against the original."""
    asked = parse_constraint(given) if isinstance(given, str) else given
    measure: Any = asked.measure
    written = given if isinstance(given, str) else describe(given, defaults=False)
    if isinstance(measure, FluencyRank | PositionsAgain):
        raise BadInput(f"{written!r} judges the steps of a search; an audit sees final texts only.")
    if getattr(measure, "previous", False) and is_dataclass(measure):
        measure = replace(measure, previous=False)  # type: ignore[type-var]  # a final text has no step before it
    asked = replace(asked, measure=measure)
    gauge = _gauge(measure, asked)
    value = gauge.names[0] if isinstance(gauge, Whole) else value_of(measure)
    return Required(written, asked, value, gauge, default)


def absolute(given: str | Constraint) -> Required:
    """A constraint for `--absolute`: the final text alone (Morris et al. 2020, section 3.3)."""
    asked = parse_constraint(given) if isinstance(given, str) else given
    written = given if isinstance(given, str) else describe(given, defaults=False)
    if isinstance(asked.measure, GrammarErrors):
        return Required(written, asked, ERRORS_AFTER, GrammarRules())
    if isinstance(asked.measure, Perplexity):
        return Required(written, asked, PPL, Fluency())
    raise BadInput(
        f"{written!r} compares two texts; --absolute judges the final text alone: use perplexity<=P or "
        "grammar-errors<=N."
    )


def _gauge(measure: Measure, asked: Constraint) -> Gauge:
    if isinstance(measure, GrammarErrors):
        return GrammarRules()
    if isinstance(measure, Perplexity | PerplexityRatio):
        return Fluency()
    low_is_worse = asked.at_most == math.inf
    return Whole(measure) if low_is_worse else Whole(measure, max)


def value_of(measure: Any) -> str:
    """The name of a measure's value: its own, plus the settings that differ from their defaults."""
    window = getattr(measure, "window", None)
    name = f"{measure.name} in {window} words" if window is not None else measure.name
    if not is_dataclass(measure):
        return str(name)
    said = ("window", "previous", "angular")  # in the name, or without a meaning for final texts
    other = [
        f"{f.name}={getattr(measure, f.name)}"
        for f in fields(measure)
        if f.name not in said and getattr(measure, f.name) != f.default
    ]
    return f"{name} ({', '.join(other)})" if other else name


def gauges_of(wanted: Sequence[Required]) -> list[Gauge]:
    """The gauges of an audit with these constraints, each once."""
    found = always()
    known = {name for gauge in found for name in gauge.names}
    for one in wanted:
        if one.value not in known:
            found.append(one.gauge)
            known.update(one.gauge.names)
    return found
