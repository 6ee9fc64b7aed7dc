"""The judged items of a study as rows of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from mohs.studies.item import COUNTED, Item
from mohs.studies.relating import Relations

if TYPE_CHECKING:
    from mohs.studies.analysis import Analysis

COLUMNS = (
    "item", "group", "question", "role", "truth", "judges", "mean", "median", "most_given", "share", "valid",
    "word_cosine", "similarity", "example", "old", "new", "text", "other_text",
)  # fmt: skip


def item_rows(found: Analysis) -> list[dict[str, Any]]:
    """The judged main and accuracy items."""
    pool, related = found.pool, found.relations
    items = [item for item in pool.items.values() if item.role in COUNTED]
    given = pool.ratings(items).by_item
    verdicts = {key: verdict for group in found.groups for key, verdict in group.verdicts.items()}
    meant = None if found.rule is None else found.rule.answer
    return [_row(item, given[item.key], verdicts, related, meant) for item in items if item.key in given]


def _row(
    item: Item,
    values: Sequence[float],
    verdicts: dict[str, bool | None],
    related: Relations | None,
    meant: float | None,
) -> dict[str, Any]:
    """meant: the answer whose share a rule is about, such as R of paper 003: how many say that a text is altered."""

    def number(of: Any) -> float | str:
        value = None if related is None else of(related.likeness).get(item.key)
        return "" if value is None else value

    verdict = verdicts.get(item.key)
    return {
        "item": item.key,
        "group": item.group,
        "question": item.question,
        "role": str(item.role),
        "truth": item.facts.get("truth", ""),
        "judges": len(values),
        "mean": round(fmean(values), 6),
        "median": median(values),
        "most_given": _most(values),
        "share": "" if meant is None else round(values.count(meant) / len(values), 6),
        "valid": "" if verdict is None else verdict,
        "word_cosine": number(lambda found: found.word),
        "similarity": number(lambda found: found.text),
        "example": item.facts.get("example", ""),
        "old": item.facts.get("old", ""),
        "new": item.facts.get("new", ""),
        "text": item.texts[0],
        "other_text": item.texts[1] if len(item.texts) > 1 else "",
    }


def _most(values: Iterable[float]) -> str:
    """The answers given most often; several if they tie."""
    given = list(values)
    most = max(map(given.count, given))
    return " ".join(f"{value:g}" for value in sorted(set(given)) if given.count(value) == most)
