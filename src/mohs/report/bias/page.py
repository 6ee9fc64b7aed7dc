"""The pages of bias runs: one run, or two side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from mohs.bias.change import PairChange
from mohs.bias.level import Shown
from mohs.bias.statistics import PairBias
from mohs.records import Record
from mohs.report.bias.charts import MOST_PAIRS, Row, by_distance, forest, histograms
from mohs.report.bias.figures import (
    BiasFigures,
    Pair,
    bias_headline,
    both,
    by_pair,
    chance,
    compared,
    signed,
    spread,
)
from mohs.report.page import on_data, page_of
from mohs.text import Text

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run

EXAMPLES = 5  # texts shown for a pair at one distance
_FORMAT = {"signed": signed, "spread": spread, "chance": chance}


def bias_page(view: View, run: Run, figures: BiasFigures) -> str:
    """The whole page of one run."""
    sets = [("All sentences", figures.shown, _grouped(figures)), _filtered(figures)]
    last = max((one.k for one in figures.shown), default=0)
    rows = [_ends(found, last) for _, found, _ in sets]
    shown, pairs = by_pair(figures.shown), by_pair(figures.whole)
    if figures.words:
        pairs = dict(list(pairs.items())[:MOST_PAIRS])  # a group of a hundred words has thousands
    return page_of(
        "bias/page.html.j2",
        view,
        f"{on_data(view)}, counterfactual bias",
        headline=bias_headline(figures),
        figures=figures,
        last=last,
        distances=range(last + 1),
        sets=[
            {"name": name, "about": about, "pairs": by_pair(found), "forest": forest(rows[at], rows[1 - at])}
            for at, (name, found, about) in enumerate(sets)
            if at == 0 or figures.epsilon
        ],
        left=max(0, len(shown) - MOST_PAIRS),
        lines=by_distance(shown),
        histograms=histograms(pairs),
        examples=_examples(run.records(), list(pairs)),
        **_FORMAT,
    )


def against_page(view: View, before: Run, new: BiasFigures, old: BiasFigures, changes: Sequence[PairChange]) -> str:
    """The page of two runs over the same pairs. before: the earlier run; new, old: the figures of both."""
    sets = [
        ("All sentences", old.shown, new.shown, _grouped(new)),
        ("Filtered set", old.filtered, new.filtered, f"{_filtered(new)[2]} Each run is filtered by its own victim."),
    ]
    last = max((one.k for one in (*old.shown, *new.shown)), default=0)
    tables = [both(earlier, later) for _, earlier, later, _ in sets]
    rows: list[list[Row]] = [[("|".join(pair), a, b) for pair, k, a, b in table if k == last] for table in tables]
    paired = {((one.old, one.new), one.k): one for one in changes}
    earlier = before.manifest["config"]
    victims = [config.get("victim", "a model") for config in (earlier, view.config)]
    return page_of(
        "bias/against.html.j2",
        view,
        f"{' and '.join(map(str, victims))}, counterfactual bias",
        headline=compared(old, new, changes),
        before=earlier,
        after=view.config,
        figures=new,
        last=last,
        sets=[
            {
                "name": name,
                "about": about,
                "table": tables[at],
                "changes": paired if at == 0 else {},
                "forest": forest(rows[at], rows[1 - at]),
            }
            for at, (name, _, _, about) in enumerate(sets)
            if at == 0 or new.epsilon
        ],
        left=max(0, len(rows[0]) - MOST_PAIRS),
        **_FORMAT,
    )


def _grouped(figures: BiasFigures) -> str:
    """What a row of a group is."""
    if not figures.words:
        return ""
    return (
        "Each sentence with a word of the group is asked with every word of the group in that place. The bias of a "
        "word is its difference from their mean; words are ordered by p at the largest k."
    )


def _filtered(figures: BiasFigures) -> tuple[str, tuple[PairBias, ...], str]:
    about = f"Only sentences whose own difference (k = 0) is below {figures.epsilon}, so their bias is hidden."
    return "Filtered set", figures.filtered, about


def _ends(found: Iterable[PairBias], last: int) -> list[Row]:
    """Each pair at distance 0 and at the largest distance."""
    return [
        ("|".join(pair), levels.get(0), levels.get(last) if last else None) for pair, levels in by_pair(found).items()
    ]


def _examples(records: Iterable[Record], order: Sequence[Pair]) -> dict[str, list[dict[str, Any]]]:
    """Some texts for each pair and distance, from as many sentences as possible, like the first examples of Table 9."""
    kept: dict[Pair, dict[int, list[tuple[int, int, Shown, tuple[str, ...]]]]] = {pair: {} for pair in order}
    for number, record in enumerate(records):
        for pair in record.finding.pairs if record.finding is not None else ():
            levels = kept.get((pair.old, pair.new), {})
            for level in pair.levels:
                found = levels.setdefault(level.k, [])
                found += [(rank, number, one, record.original) for rank, one in enumerate(level.examples)]
                found.sort(key=lambda one: one[:2])
                del found[EXAMPLES:]
    return {
        "|".join(pair): [
            {"k": k, "text": _marked(one, original), "before": one.before, "after": one.after}
            for k, found in sorted(levels.items())
            for _, _, one, original in sorted(found, key=lambda one: (one[1], one[0]))
        ]
        for pair, levels in kept.items()
        if any(levels.values())
    }


def _marked(example: Shown, original: Sequence[str]) -> list[list[dict[str, str]]]:
    """The pieces of each field: unchanged text (`same`), a new word (`new`), or the pair (`old` and `other`)."""
    text, patched, source = Text(*example.text), Text(*example.patched), Text(*original)
    other = patched.words if len(patched) == len(text) else text.words
    walked = source.words if len(source) == len(text) else ()
    fields: list[list[dict[str, str]]] = [[] for _ in text.fields]
    ends = [0] * len(fields)
    there = zip_longest(text.spans(), text.words, other, walked)
    for (field, start, end), word, second, first in there:
        if second != word:
            piece = {"old": word, "other": second}
        elif first is not None and first != word and first.lower() != word.lower():
            piece = {"new": word, "was": first}
        else:
            continue
        fields[field] += [{"same": text.fields[field][ends[field] : start]}, piece]
        ends[field] = end
    for pieces, string, end in zip(fields, text.fields, ends, strict=True):
        pieces.append({"same": string[end:]})
    return fields
