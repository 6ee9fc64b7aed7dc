"""The words of a group: how far each lies from the mean of its group, and how often it comes with each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum

from mohs.bias.change import PairChange, pair_changes
from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import LevelFinding
from mohs.bias.statistics import PairBias, pair_biases
from mohs.records import Record
from mohs.text import Example

Groups = Mapping[str, Sequence[str]]


def word_biases(records: Iterable[Record], groups: Groups) -> list[PairBias]:
    """The bias of each word of a group against the mean of the group; `old` is the group and `new` the word.

    Each sentence with a word of the group, and each of its neighbours, is asked with every word of the group in that
    place. D(w) is the probability of the label with w, minus its mean over these words. So all sentences count for all
    words, where a pair of words has only the sentences with one of the two. Words that stand elsewhere in the sentence
    are left out there.
    """
    return pair_biases(_against_group(record, groups) for record in records)


def word_changes(before: Iterable[Record], after: Iterable[Record], groups: Groups) -> list[PairChange]:
    """How much the bias of each word against the mean of its group changed between two runs."""
    earlier, later = ([_against_group(record, groups) for record in records] for records in (before, after))
    return pair_changes(earlier, later)


def _against_group(record: Record, groups: Groups) -> Record:
    """A record whose pairs are a group and one of its words."""
    if record.finding is None:
        return record
    found: dict[tuple[str, str], dict[int, LevelFinding]] = {}
    for position in dict.fromkeys(pair.position for pair in record.finding.pairs):
        here = [pair for pair in record.finding.pairs if pair.position == position]
        for group, words in groups.items():
            for word, level in _levels(here, set(words)):
                levels = found.setdefault((group, word), {})
                levels[level.k] = _joined(levels[level.k], level) if level.k in levels else level
    pairs = [PairFinding(group, word, 0, levels=tuple(found[group, word].values())) for group, word in found]
    return replace(record, finding=BiasFinding(tuple(pairs)))


def _levels(pairs: Sequence[PairFinding], words: set[str]) -> Iterator[tuple[str, LevelFinding]]:
    """The difference of each word from the mean of all, at each distance that every pair has reached.

    All pairs hold the word that stands in the text, and were asked about the same neighbours.
    """
    inside = [pair for pair in pairs if {pair.old, pair.new} <= words]
    if not inside:
        return
    there = inside[0].new if inside[0].back else inside[0].old
    for depth in range(min(len(pair.levels) for pair in inside)):
        level = inside[0].levels[depth]
        raised = {there: 0.0}  # the sum of P(word) - P(there) over the neighbours that the sentence counts for
        for pair in inside:
            weighted = pair.levels[depth].weighted
            raised[pair.old if pair.back else pair.new] = -weighted if pair.back else weighted
        mean = fsum(raised.values()) / len(raised)
        for word, value in raised.items():
            yield word, _made(level, value - mean, level.weight)


def _made(level: LevelFinding, total: float, size: float) -> LevelFinding:
    """A level with another sum; the spread and the bins of single texts are not known."""
    return replace(level, sum=total, total=total, size=size, squares=0.0, bins={}, examples=())


def _joined(one: LevelFinding, other: LevelFinding) -> LevelFinding:
    """Two places of one sentence, which is one unit whatever it holds."""
    both = replace(one, n=one.n + other.n, exact=one.exact and other.exact)
    return _made(both, one.weighted + other.weighted, one.weight + other.weight)


def label_counts(examples: Iterable[Example], words: Iterable[str]) -> dict[str, dict[int, int]]:
    """How many examples of each label hold a word, for each word: Table 7 of Zhang et al. 2021.

    A biased word often has learned its label from the training data, perhaps in another sense (straight to video).
    """
    found: dict[str, Counter[int]] = {word.lower(): Counter() for word in words}
    for example in examples:
        for word in {word.lower() for word in example.text.words} & found.keys():
            found[word][example.label] += 1
    return {word: dict(sorted(counts.items())) for word, counts in found.items()}
