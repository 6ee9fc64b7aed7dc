"""The browsable page of a run: one HTML file that needs nothing else.

The summary and its charts are plain HTML and SVG. The rows travel as JSON inside the page, and a script shows them.
"""

from __future__ import annotations

import heapq
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.errors import MohsError
from mohs.records import Outcome, Record
from mohs.report.charts import bars, curve
from mohs.report.flags import flags
from mohs.report.metrics import Summary, summarise
from mohs.report.table import goal_named, has_own_goal, lines, rows_of
from mohs.text import Text

if TYPE_CHECKING:
    from mohs.runs import Run

MOST_ROWS = 2000
_LONGEST_NAME = 48  # an attack that was built by hand is named by its settings, which can fill a screen


def write_page(run: Run, path: Path) -> Path:
    """Write one self-contained HTML file; the same run gives the same bytes."""
    page = _render(run).encode("utf-8", "backslashreplace")
    special = path.exists() and not path.is_file()  # a pipe or a device cannot be renamed onto
    target = path if special else path.parent / f"{path.name}.part"
    try:
        target.write_bytes(page)
        if not special:
            target.replace(path)
    except OSError as error:
        if not special and target.is_file():
            target.unlink(missing_ok=True)
        raise MohsError(
            f"{path} cannot be written ({error.strerror or error}); the run itself is untouched."
        ) from error
    return path


class _Gathered:
    """What the page needs of the records, gathered while they stream by: counts, and the rows worth showing.

    Of too many rows successes stay first and skipped ones last, and the attacks share the room.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self.attacks: dict[str, int] = {}
        self.outcomes: Counter[str] = Counter()
        self.words: dict[str, Counter[int]] = {}
        self.queries: dict[str, Counter[int]] = {}
        self._kept: list[tuple[int, int, int, dict[str, Any]]] = []  # a heap, the least wanted row on top
        self._ranks: Counter[tuple[str, int]] = Counter()

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        for number, record in enumerate(records):
            self._add(number, record)
            yield record

    def _add(self, number: int, record: Record) -> None:
        attack = self.attacks.setdefault(record.attack, len(self.attacks))
        self.outcomes[str(record.outcome)] += 1
        if record.outcome is Outcome.SUCCESS:
            self.words.setdefault(record.attack, Counter())[len(record.edits)] += 1
            self.queries.setdefault(record.attack, Counter())[record.queries] += 1
        tier = {Outcome.SUCCESS: 0, Outcome.SKIPPED: 2}.get(record.outcome, 1)
        rank = self._ranks[record.attack, tier]
        self._ranks[record.attack, tier] += 1
        key = (-tier, -rank, -number)
        if len(self._kept) < MOST_ROWS:
            heapq.heappush(self._kept, (*key, _row(record, attack, self.labels)))
        elif key > self._kept[0][:3]:
            heapq.heapreplace(self._kept, (*key, _row(record, attack, self.labels)))

    def rows(self) -> list[dict[str, Any]]:
        """The rows kept, in the order of the run."""
        return [row for *_, row in sorted(self._kept, key=lambda kept: -kept[2])]


def _row(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """A record for the page's script."""

    def called(label: int) -> str:
        return str(labels[label]) if 0 <= label < len(labels) else str(label)

    def truth(scores: Sequence[float]) -> float | None:
        found = scores[record.label] if 0 <= record.label < len(scores) else math.nan
        return round(found, 4) if math.isfinite(found) else None

    last = record.scores_after or record.scores_before
    said = max(range(len(last)), key=last.__getitem__) if last else record.label
    row: dict[str, Any] = {
        "id": record.example_id,
        "attack": attack,
        "outcome": str(record.outcome),
        "label": called(record.label),
        "said": called(said) if said != record.label else None,
        "before": truth(record.scores_before),
        "after": truth(record.scores_after),
        "changed": len(record.edits) if record.perturbed is not None else None,
        "queries": record.queries,
        "text": _pieces(record),
    }
    if len(record.original) > 1:
        row["names"] = list(record.names)
    if record.near_tie:
        row["tie"] = True
    if record.beyond_window:
        row["beyond"] = record.beyond_window
    if record.error is not None:
        row |= {"error": record.error, "traceback": record.traceback}
    return row


def _pieces(record: Record) -> list[list[str | list[str]]]:
    """For each field its text in pieces: a string as it was, or the old word, the new and its source."""
    edits = {edit.position: edit for edit in record.edits}
    found: list[list[str | list[str]]] = [[] for _ in record.original]
    ends = [0] * len(record.original)
    spans = Text(*record.original).spans() if edits else []
    for position, (field, start, end) in enumerate(spans):
        if position in edits:
            found[field] += [record.original[field][ends[field] : start], [*edits[position][1:]]]
            ends[field] = end
    for pieces, string, end in zip(found, record.original, ends, strict=True):
        pieces.append(string[end:])
    return found


def _render(run: Run) -> str:
    config: Mapping[str, Any] = run.manifest.get("config", {})
    labels = [str(label) for label in config.get("labels") or ()]
    gathered = _Gathered(labels)
    summaries = summarise(gathered.watch(run.records()), run.goal_of)
    names = _short_names(gathered.attacks)
    template = resources.files("mohs.report").joinpath("page.html.j2").read_text("utf-8")
    rows, total = gathered.rows(), gathered.outcomes.total()
    here = Counter(row["outcome"] for row in rows)
    planned = run.planned
    figures = [{name: (value, note) for name, value, note in lines(summary)} for summary in summaries]
    fooling = [summary for summary in summaries if not keeps_label(summary.goal)]
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(template).render(
        config=config,
        versions=run.manifest.get("facts", {}).get("versions", {}),
        headline=_headline(summaries, names, labels),
        goal=goal_named(run.goal, labels),
        own_goal=any(map(has_own_goal, summaries)),
        summaries=summaries,
        names=names,
        figures=figures,
        order=rows_of(summaries),
        bars=bars(gathered.words),
        curve=curve(fooling, {s.attack: gathered.queries[s.attack] for s in fooling if s.attack in gathered.queries}),
        fooling=fooling,
        figure_of={summary.attack: column for summary, column in zip(summaries, figures, strict=True)},
        outcomes={str(o): (here[o], gathered.outcomes[o]) for o in Outcome if gathered.outcomes[o]},
        total=total,
        shown=len(rows),
        flags=flags(run.manifest.get("facts", {}), summaries, total, planned),
        data=_embedded({"attacks": list(names.values()), "rows": rows}),
    )


def _embedded(value: Any) -> Markup:
    """JSON that no HTML parser can take for markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}))


def _short_names(attacks: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for attack in attacks:
        short = attack if len(attack) <= _LONGEST_NAME else attack[: _LONGEST_NAME - 1] + "…"
        same = sum(other[: _LONGEST_NAME - 1] == attack[: _LONGEST_NAME - 1] for other in found)
        found[attack] = f"{short} ({same + 1})" if same and short != attack else short
    return found


def _headline(summaries: Sequence[Summary], names: Mapping[str, str], labels: Sequence[str]) -> str:
    """One sentence: for each goal, each of up to three attacks, or the strongest of more."""
    tried = [summary for summary in summaries if summary.success.total]
    if not tried:
        return "Every example was skipped or ended in an error." if summaries else "Nothing has been attacked yet."
    goals = dict.fromkeys(summary.goal for summary in tried)
    found = [_of_goal(goal, [summary for summary in tried if summary.goal == goal], names) for goal in goals]
    return goal_named("; ".join(found), labels)


def _of_goal(goal: str, tried: Sequence[Summary], names: Mapping[str, str]) -> str:
    right = "it got right" if goal == UNTARGETED else "attacked"
    feat = "fooled the model" if goal == UNTARGETED else f"reached the goal {goal}"
    start = ""
    if len(tried) > 3:
        start = f"The strongest of {len(tried)} attacks, "
        tried = [max(tried, key=lambda summary: summary.success.value or 0)]
    first, *others = tried
    count = f"{first.success.hits:,} of {first.success.total:,}"
    rest = [f"{names[s.attack]} on {s.success.hits:,} of {s.success.total:,}" for s in others]
    return f"{start}{names[first.attack]}{',' * bool(start)} {feat} on " + "; ".join(
        [f"{count} examples {right}", *rest]
    )
