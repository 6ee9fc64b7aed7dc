"""`mohs second-order`: its options, and the tasks made from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import blacklist, budget, change_placeholders, floor, model, no_judge, option
from mohs.tasks.plan import Plan, Verb

if TYPE_CHECKING:
    from mohs.second_order.searches import SecondOrder
    from mohs.space import Source
    from mohs.tasks.subject import Subject

SYNONYMS = "neighbours:k=8,min_cosine=0.5"
_ENDLESS = 1e15  # estimates of the number of texts are cut off here
_WORDS_NAMED = 3  # in the note on words that cannot be patch words

_Sizes = Sequence[tuple[float, int]]  # for some examples: texts one step away, and words that may change


@dataclass(frozen=True, kw_only=True)
class SecondOrderVerb(Verb, command="second-order", function="second_order_attack", third="method", doing="searching"):
    """Search near each example for a text that one synonym tips over.

    A masked language model rewrites up to k words of each example. Of the synonym pairs that fit the text, the search
    uses the one whose words the victim scores most differently. Method: Zhang et al. 2021 (Double Perturbation).
    Running the same command again resumes the run.

    Examples:
      mohs second-order --masked-lm hf:distilbert-base-uncased --n 50
      mohs second-order --victim hf:./my-model --data dev.jsonl --masked-lm hf:./mlm --method so-enum -k 2
      mohs second-order --victim mohs:my-cnn --data dev.jsonl --masked-lm hf:./mlm --synonyms thesaurus:pairs.json
      mohs second-order --masked-lm hf:./mlm --lm gguf:smollm2.gguf --floor 2 --workers 4
    """

    finds = "mohs.second_order.finding:SecondOrderFinding"

    masked_lm: Any = model("masked_lm")
    method: str | SecondOrder = option(
        "so-enum, so-beam or random; append :released for the settings of the released code.",
        default="so-beam",
        metavar="M",
    )
    k: int | None = option("The most words to rewrite; by default 2 for so-enum, else 6.", "-k", least=1)
    beam: int | None = option("The beam width of so-beam; by default 20.", least=1)
    synonyms: str | Source | None = option(
        "Source of the synonyms (see `mohs spaces`), such as thesaurus:FILE or wordnet; by default the eight nearest "
        "word vectors.",
        metavar="S",
    )
    patch_stopwords: bool = option(
        "Allow stopwords as patch words (is, now); methods with :released always do.", default=False, before=True
    )
    blacklist: str | Path | Iterable[str] | None = blacklist()
    floor: float | None = floor()
    change_placeholders: bool = change_placeholders()
    no_judge: bool = no_judge()
    most: int = option("Refuse so-enum if it would check more texts per example.", default=1_000_000, least=1)
    lm: Any = model("lm")
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")
    budget: int | None = budget()

    def check(self) -> None:
        """Refuse a method or source that does not exist or does not fit the other options."""
        _ = self._chosen, self._source

    def view(self, run: Any) -> Any:
        """The view of a run of this command, with fair success as asked for."""
        return run.view(judge="none" if self.no_judge else None)

    def needs(self, subject: Subject) -> Iterable[str]:
        """The masked language model, what the synonyms need, and a causal language model if one is given."""
        if subject.target.traits.hard and self._chosen.needs_scores:
            raise BadInput(
                f"{self._name} needs the victim's scores, but {subject.model.name} gives labels only; "
                "use --method so-enum."
            )
        return [*self._chosen.near.needs, *self._source.needs, *(["lm"] if self.lm is not None else [])]

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One task that searches near each example, with the patch words of all examples."""
        from mohs.second_order.single_words import patch_book
        from mohs.second_order.task import SecondOrderTask
        from mohs.space import Services
        from mohs.tasks.described import describe, identity, word_list, written
        from mohs.tasks.neighbourhood import crowd, first_steps, known_to
        from mohs.text.stopwords import ENGLISH

        subject = subject.changing(self.change_placeholders)
        chosen, ask = replace(self._chosen, refusal=subject.target.refusal), Services(services, Random(0))
        book, lost = patch_book(subject, self._source, ask)
        if not self.patch_stopwords and not self._name.endswith(":released"):
            book = replace(book, barred=ENGLISH)
        steps = [] if chosen.walk else first_steps(subject.target, subject.data, chosen.near, ask)
        sizes = [(first, len(positions)) for _, first, positions in steps]
        if chosen.width is None and not chosen.walk:
            chosen = replace(chosen, most=self.most)
            self._feasible(sizes)
        known_to(services["masked_lm"], book.scores)
        return Plan(
            tasks=[SecondOrderTask(self._name, chosen, book, subject.target, services, subject.seed, self.budget)],
            resolved={
                "method": self._name,
                "k": chosen.k,
                "beam": chosen.width,
                "synonyms": written(self._synonyms),
                "blacklist": word_list(self.blacklist),
            },
            identity={
                "method_settings": describe(replace(chosen, most=None)),
                "synonyms_used": identity(self._source),
                "avoid": sorted(self._avoid),
            },
            notes=self._notes(len(book.scores), sizes, lost),
            at_once=crowd(subject),
        )

    @property
    def _name(self) -> str:
        return self.method if isinstance(self.method, str) else "second-order"

    @property
    def _synonyms(self) -> str | Source:
        return SYNONYMS if self.synonyms is None else self.synonyms

    @cached_property
    def _source(self) -> Source:
        from mohs.space import word_source

        return word_source(self._synonyms)

    @cached_property
    def _avoid(self) -> frozenset[str]:
        from mohs.text.stopwords import read_words

        if self.blacklist is None:
            return frozenset()
        return read_words(self.blacklist, "blacklist", "name a text file of words")

    @cached_property
    def _chosen(self) -> SecondOrder:
        from mohs.second_order.searches import find_method

        found = find_method(self.method) if isinstance(self.method, str) else self.method
        if self.beam is not None and found.width is None:
            raise BadInput(f"{self._name} has no beam; --beam is for so-beam.")
        return replace(
            found,
            k=found.k if self.k is None else self.k,
            width=found.width if self.beam is None else self.beam,
            near=replace(found.near, avoid=found.near.avoid | self._avoid, floor=self.floor),
        )

    def _notes(self, words: int, sizes: _Sizes, lost: Sequence[str]) -> list[str]:
        notes = [f"The victim was first asked about {words:,} single words: words of the data and their synonyms."]
        if sizes:
            texts = _mean(sizes, self._chosen.k, self._chosen.width)
            notes.append(
                f"At most about {texts:,.0f} texts per example were expected, each asked with and without its patch."
            )
        if lost:
            named = ", ".join(lost[:_WORDS_NAMED]) + (" ..." if len(lost) > _WORDS_NAMED else "")
            notes.append(
                f"The victim raises an error for {len(lost):,} more single words ({named}), so they are no patch words."
            )
        if self._synonyms == SYNONYMS:
            notes.append(
                "Patch words are near word vectors, not always synonyms (your|our); give better ones with --synonyms."
            )
        return notes

    def _feasible(self, sizes: _Sizes) -> None:
        """Refuse an enumeration of too many texts."""
        k = self._chosen.k
        texts = _mean(sizes, k)

        def fewer(most: float) -> str:
            smaller = next((step for step in range(k - 1, 0, -1) if _mean(sizes, step) <= most), None)
            return "" if smaller is None else f"-k {smaller}, "

        if self.budget is not None and 2 * texts > self.budget:
            raise BadInput(
                f"{self._name} with k={k} asks the victim about {2 * texts:,.0f} texts per example (mean of the first "
                f"{len(sizes)}), but --budget is {self.budget:,}; use {fewer(self.budget / 2)}--method so-beam, or a "
                "larger budget."
            )
        if texts > self.most:
            raise BadInput(
                f"{self._name} with k={k} would check about {texts:,.0f} texts per example (mean of the first "
                f"{len(sizes)}); use {fewer(self.most)}--method so-beam, or --most {math.ceil(texts)} to do it anyway."
            )


def _mean(sizes: _Sizes, k: int, width: int | None = None) -> float:
    """About how many texts k steps lead to on average; with a width, each step starts from at most that many texts."""
    total = 0.0
    for first, places in sizes:
        whole = _size(first, k, places)
        total += whole if width is None else min(whole, first * (1 + (k - 1) * width))
    return total / max(1, len(sizes))


def _size(first: float, k: int, places: int) -> float:
    """About how many texts k steps lead to, as in `size_of`; cut off at _ENDLESS."""
    if not first:
        return 0.0
    return math.exp(min(math.log(_ENDLESS), k * math.log(first) - math.lgamma(min(k, places) + 1)))
