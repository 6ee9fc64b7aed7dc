"""The rows of the file: one for each example, defence and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mohs.defending.figures import TRIED, GoalOf, Said, final_right, right, vote
from mohs.models.victim import Fields
from mohs.records import Outcome, Record

COLUMNS = (
    *("run", "attack", "defence", "key", "example_id", "label", "outcome", "original_right"),
    *("defended_right", "reverted", "still_fooled", "adaptive_outcome", "adaptive_final_right", "adaptive_queries"),
    *("fresh_draws", "fresh_right_before", "fresh_fooled"),
    *("averaging_outcome", "averaging_fresh_draws", "averaging_fresh_right_before", "averaging_fresh_fooled"),
)


def rows_of(
    about: Mapping[str, Any],  # run, attack, defence
    records: Sequence[Record],
    answers: Mapping[int, Said],  # by key
    adaptive: Mapping[int, Mapping[str, Record]],  # by key and example
    averaging: Mapping[str, Record],  # by example; stands in the rows of key 0
    draws: Sequence[Said],
    goal: GoalOf,
) -> Iterator[dict[str, Any]]:
    """What is known of each example with each key. Empty: does not apply, or could not be read."""
    for key, said in answers.items():
        for record in records:
            row: dict[str, Any] = dict.fromkeys(COLUMNS, "") | dict(about)
            row |= {"key": key, "example_id": record.example_id, "label": record.label, "outcome": str(record.outcome)}
            row["original_right"] = _number(right(record, record.scores_before))
            if isinstance(scores := _known(said, record.original), tuple):
                row["defended_right"] = _number(right(record, scores))
            if record.outcome is Outcome.SUCCESS and isinstance(scores := _known(said, record.perturbed), tuple):
                row["reverted"] = _number(right(record, scores))
                row["still_fooled"] = _number(goal(record).won(scores, 0))
            found = adaptive.get(key, {}).get(record.example_id)
            if found is not None:
                row["adaptive_outcome"] = str(found.outcome)
                row["adaptive_queries"] = found.queries
                if found.outcome is not Outcome.ERROR:
                    row["adaptive_final_right"] = _number(final_right(found))
                row |= _fresh("", found, draws, goal)
            if key == 0 and (found := averaging.get(record.example_id)) is not None:
                row |= {"averaging_outcome": str(found.outcome), **_fresh("averaging_", found, draws, goal)}
            yield row


def _fresh(start: str, record: Record, draws: Sequence[Said], goal: GoalOf) -> dict[str, Any]:
    """What fresh draws say about the texts of an adaptive record."""
    if not draws or record.outcome not in TRIED:
        return {}
    before = vote(record, record.original, draws, goal(record))
    row = {f"{start}fresh_draws": before.draws, f"{start}fresh_right_before": before.right}
    if record.outcome is Outcome.SUCCESS and record.perturbed:
        row[f"{start}fresh_fooled"] = vote(record, record.perturbed, draws, goal(record)).fooled
    return row


def _known(said: Said, text: Fields | None) -> Any:
    return None if text is None else said.get(text)


def _number(value: bool) -> int:
    return int(value)
