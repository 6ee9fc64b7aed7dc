"""`mohs bias`: its options, and the tasks made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import blacklist, budget, change_placeholders, floor, model, option
from mohs.tasks.plan import Plan, Verb

if TYPE_CHECKING:
    from mohs.bias.pairs import Pairs
    from mohs.bias.task import BiasTask
    from mohs.space import Services
    from mohs.space.natural import Neighbourhood
    from mohs.tasks.subject import Subject
    from mohs.text import Example

PRESETS = {"paper": 100, "released": 800}  # with their breadths
_PAIRS_NAMED = 5  # in the note on pairs that fit no example; the manifest lists all


@dataclass(frozen=True, kw_only=True)
class BiasVerb(Verb, command="bias", function="token_bias", doing="measuring", third="pairs"):
    """Measure how words such as he and she change predictions.

    A masked language model rewrites up to k other words of each sentence that contains the first word of a pair. The
    bias is the mean change of a class's probability when the second word replaces the first (the counterfactual token
    bias of Zhang et al. 2021). Running the same command again resumes the run. `mohs report A --against B` compares two
    runs.

    Examples:
      mohs bias -k 0
      mohs bias --victim hf:./my-model --data dev.jsonl --pairs gender --masked-lm hf:distilbert-base-uncased -k 3
      mohs bias --victim mohs:my-lstm --data dev.jsonl --pairs mine.csv --masked-lm hf:./mlm --label toxic
      mohs bias --victim mohs:my-lstm --data dev.jsonl --pairs words.json:religion -k 0
      mohs report mohs-runs/DEBIASED --against mohs-runs/BEFORE
    """

    finds = "mohs.bias.finding:BiasFinding"

    masked_lm: Any = model("masked_lm")
    pairs: str | Path | Pairs = option(
        "Word pairs: gender, nationality, religion, sexual-orientation, country, a file with two words per row, or a "
        ".json file with groups of words, of which FILE.json:GROUP takes one.",
        default="gender",
        metavar="P",
    )
    k: int = option(
        "The most words to rewrite; 0 uses the sentences unchanged and needs no --masked-lm.",
        "-k",
        default=2,
        least=0,
    )
    label: str | int | None = option(
        "The class whose probability is measured, by name or number; by default the last.", metavar="L"
    )
    epsilon: float = option(
        "The filtered set: sentences whose own bias, without rewriting, is below this.",
        "--filter-epsilon",
        "--epsilon",
        default=0.005,
    )
    preset: str | None = option(
        "paper (default), or released: one pair per sentence, the first of the list that fits, in either direction, "
        "if it leaves a text of up to 20 words plausible; implies --by-sample and a breadth of 800.",
        metavar="P",
    )
    both_directions: bool = option("Also use sentences that contain the second word of a pair.", default=False)
    blacklist: str | Path | Iterable[str] | None = blacklist()
    floor: float | None = floor()
    change_placeholders: bool = change_placeholders()
    most: int = option(
        "Sample a distance, instead of measuring all its texts, if it is expected to have more than this.",
        default=10_000,
        least=1,
    )
    breadth: int | None = option(
        "For sampling: take the neighbours of this many texts one step nearer; by default 100, with --preset released "
        "800.",
        least=1,
    )
    by_sample: bool = option(
        "Weigh sampled texts and sentences by how often they were drawn, not by the size of the neighbourhood (as "
        "earlier versions did).",
        default=False,
        before=True,
    )
    lm: Any = model("lm")
    budget: int | None = budget()

    def check(self) -> None:
        """Refuse unreadable pairs and an epsilon that is not a probability."""
        from mohs.bias.statistics import check_epsilon

        _ = self._pairs
        check_epsilon(self.epsilon)
        if (self.preset or "paper") not in PRESETS:
            raise BadInput(f"Unknown preset {self.preset!r}; use {' or '.join(PRESETS)}.")

    def needs(self, subject: Subject) -> Iterable[str]:
        """The services that write neighbours, if k is above 0."""
        near, released = self._near, self.preset == "released"
        if (self.k or released) and self.masked_lm is None:
            raise BadInput(
                "This needs a masked language model, and none is given; use --masked-lm hf:PATH_OR_ID, or -k 0"
                f"{' and --preset paper' if released else ''}, which needs no model."
            )
        return near.needs if self.k else ["masked_lm"] if released else ()

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One task that measures each example."""
        from mohs.bias.task import BiasTask
        from mohs.space import Services
        from mohs.space.plausible import RELEASED_DROP
        from mohs.tasks.described import word_list
        from mohs.tasks.neighbourhood import crowd, known_to

        subject = subject.changing(self.change_placeholders)
        task = BiasTask(
            name=f"bias:{self._pairs.name}",
            pairs=self._pairs,
            target=subject.target,
            services=services,
            label=self._label(subject),
            k=self.k,
            near=self._near,
            most=self.most,
            breadth=self._breadth,
            seed=subject.seed,
            budget=self.budget,
            both_directions=self.both_directions,
            by_sample=self.by_sample or self.preset == "released",
            one_pair=self.preset == "released",
            plausible=RELEASED_DROP if self.preset == "released" else None,
        )
        fitting, used = [], set[tuple[str, str]]()
        for example in subject.data:
            if fits := task.fits(example):
                fitting.append(example)
                used.update(fits)
        if not fitting:
            of, rule = (
                f"pairs of {self._pairs.name}",
                "the first word must occur exactly once, and the second not at all",
            )
            if self._pairs.groups:
                of, rule = (
                    f"pairs of words of {self._pairs.name}",
                    "one must occur exactly once, and the other not at all",
                )
            raise BadInput(
                f"None of the {len(self._pairs.pairs)} {of} fits any of the {subject.examples} examples: {rule}; use "
                "other pairs or more data."
            )
        unused = [pair for pair in self._pairs.pairs if pair not in used]
        notes = self._group_notes(subject.data) if self._pairs.groups else self._notes(unused)
        if subject.cache is not None:
            notes.append("--cache was not used: the figures are made of the victim's answers, which are asked anew.")
        if self.k:
            known_to(services["masked_lm"], {word for pair in used for word in pair})
            notes.append(self._expected(task, fitting, Services(services, Random(0))))
        return Plan(
            tasks=[task],
            resolved={
                "pairs": str(self.pairs) if isinstance(self.pairs, str | Path) else self._pairs.name,
                "label": task.label,
                "breadth": task.breadth,
                "blacklist": word_list(self.blacklist),
            },
            identity={"pairs_hash": self._pairs.fingerprint, "avoid": sorted(self._near.avoid)},
            facts={"groups": {name: list(words) for name, words in self._pairs.groups.items()}}
            if self._pairs.groups
            else {"unused_pairs": ["|".join(pair) for pair in unused]},
            notes=notes,
            at_once=crowd(subject),
        )

    @cached_property
    def _pairs(self) -> Pairs:
        from mohs.bias.pairs import Pairs, read_pairs

        return self.pairs if isinstance(self.pairs, Pairs) else read_pairs(self.pairs)

    @property
    def _breadth(self) -> int:
        return PRESETS[self.preset or "paper"] if self.breadth is None else self.breadth

    @cached_property
    def _near(self) -> Neighbourhood:
        from mohs.space.natural import Neighbourhood
        from mohs.text.stopwords import read_words

        if self.blacklist is None:
            return Neighbourhood(floor=self.floor)
        avoid = read_words(self.blacklist, "blacklist", "name a text file of words")
        return Neighbourhood(avoid=avoid, floor=self.floor)

    def _label(self, subject: Subject) -> int:
        """The number of the class whose probability is measured; by default the last."""
        known, classes = subject.labels, subject.target.classes
        if self.label is None:
            return classes - 1
        if isinstance(self.label, str) and self.label in known:
            return known.index(self.label)
        if not str(self.label).isdigit() or int(self.label) >= classes:
            named = ", ".join(known) if known else f"0 to {classes - 1} without names; give names with --labels"
            raise BadInput(f"There is no label {self.label!r}: {subject.model.name} has the classes {named}.")
        return int(self.label)

    def _notes(self, unused: Sequence[tuple[str, str]]) -> list[str]:
        """Notes on the pairs."""
        notes, pairs = [], self._pairs
        if pairs.headed:
            first, second = pairs.pairs[0]
            notes.append(
                f"The first pair of {pairs.name}, {first}|{second}, looks like a header but is used as a pair; if it "
                "is a header, remove it from the file."
            )
        if unused:
            named = _some(["|".join(pair) for pair in unused])
            notes.append(f"{len(unused)} of {len(pairs.pairs)} pairs fit no example: {named}.")
        return notes

    def _group_notes(self, examples: Iterable[Example]) -> list[str]:
        """Notes on the groups: which words the data has, and which entries are not used."""
        notes, words = [], {word.lower() for example in examples for word in example.text.words}
        for name, group in self._pairs.groups.items():
            found = [word for word in group if word in words]
            named = f": {_some(found)}" if found else ""
            notes.append(f"Of the {len(group)} words of {name}, the examples hold {len(found)}{named}.")
        if left := self._pairs.left_out:
            entries = "entry is" if len(left) == 1 else "entries are"
            notes.append(f"{len(left)} {entries} not one word and left out: {_some(left)}.")
        return notes

    def _expected(self, task: BiasTask, fitting: Sequence[Example], ask: Services) -> str:
        """A note on how many texts are expected; refuse more than the budget."""
        *smaller, texts = _estimate(task, fitting, ask)
        if self.budget is not None and texts > self.budget:
            fewer = max((step for step, size in enumerate(smaller) if size <= self.budget), default=None)
            raise BadInput(
                f"k={self.k} asks the victim about {texts:,.0f} texts per example, but --budget is "
                f"{self.budget:,}; use {'' if fewer is None else f'-k {fewer}, '}a smaller --breadth or --most, or a "
                "larger budget."
            )
        return f"About {texts:,.0f} texts were expected around each example with a pair ({len(fitting):,} of them)."


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _PAIRS_NAMED} more" if len(names) > _PAIRS_NAMED else ""
    return ", ".join(names[:_PAIRS_NAMED]) + more


def _estimate(task: BiasTask, fitting: Sequence[Example], ask: Services) -> list[float]:
    """About how many texts per example the victim is asked, up to each k: each with both words of each pair."""
    from mohs.tasks.neighbourhood import first_steps

    totals = []
    near = replace(task.near, avoid=task.near.avoid | task.pairs.blacklist)
    for example, first, _ in first_steps(task.target, fitting, near, ask):
        fits = task.fits(example)
        sizes = [1.0]
        for step in range(task.k):
            size = sizes[-1] * first / (step + 1)
            sizes.append(size if size <= task.most else min(size, task.breadth * first))
        texts = len(fits) + len({old for old, _ in fits})
        totals.append([texts * size for size in accumulate(sizes)])
    return [sum(column) / len(totals) for column in zip(*totals, strict=True)] or [0.0] * (task.k + 1)
