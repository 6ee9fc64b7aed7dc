"""Which words of a string stay in another string, and what became of the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from mohs.text.text import Edit, Text

_REWRITE = "rewrite: "


@dataclass(frozen=True)
class Alignment:
    """What stands in the place of each word of an old string in a new one.

    As many words as possible stay, in their order (a longest common subsequence). A run of other words takes the new
    words that stand there, one for one; the last of them takes the rest, and words for which nothing is left are
    removed. Words that are only added stand beside a word that stays.
    """

    new: tuple[str, ...]  # for each old word, the string in its place
    replaced: frozenset[int]  # the old words that are replaced or removed
    added: tuple[int, ...]  # the places where words are only added: before this old word


def align(old: Sequence[str], string: str, fixed: Collection[int] = ()) -> Alignment:
    """Align the words of a field with a new string. fixed: words beside which others are rather not put."""
    text = Text(string)
    starts = [start for _, start, _ in text.spans()]
    ends = [end for _, _, end in text.spans()]
    found, replaced, added = list(old), set[int](), list[int]()
    for i, i_end, k, k_end in stretches(old, text.words):
        if i == i_end:
            added.append(i)
            if i > 0 and (i - 1 not in fixed or i == len(old) or i in fixed):
                found[i - 1] += string[ends[k - 1] : ends[k_end - 1]]
            elif i < len(old):
                found[i] = string[starts[k] : starts[k_end]] + found[i]
            continue
        replaced.update(range(i, i_end))
        for place in range(i, i_end):
            at = k + place - i
            last = k_end if place == i_end - 1 else at + 1
            found[place] = string[starts[at] : ends[last - 1]] if at < k_end else ""
    return Alignment(tuple(found), frozenset(replaced), tuple(added))


def rewrite_edit(position: int, old: str, new: str, rule: str) -> Edit:
    """What became of a word when its whole field was rewritten by a rule."""
    return Edit(position, old, new, _REWRITE + rule)


def is_rewrite(edits: Iterable[Edit]) -> bool:
    """Whether a whole field was rewritten: then edits align words, and none is a substitute chosen for another."""
    return any(edit.source.startswith(_REWRITE) for edit in edits)


def stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches between the words that stay: start and end among the old words, then among the new ones."""
    i = k = 0
    for step in LCSseq.opcodes(old, new):
        if step.tag == "equal":
            if i < step.src_start or k < step.dest_start:
                yield i, step.src_start, k, step.dest_start
            i, k = step.src_end, step.dest_end
    if i < len(old) or k < len(new):
        yield i, len(old), k, len(new)
