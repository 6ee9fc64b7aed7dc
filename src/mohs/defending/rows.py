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
)


def rows_of(
    about: Mapping[str, Any],  # run, attack, defence
    records: Sequence[Record],
    answers: Mapping[int, Said],  # by key
    adaptive: Mapping[int, Mapping[str, Record]],  # by key and example
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
                if draws and found.outcome in TRIED:
                    before = vote(found, found.original, draws, goal(found))
                    row |= {"fresh_draws": before.draws, "fresh_right_before": before.right}
                    if found.outcome is Outcome.SUCCESS and found.perturbed:
                        row["fresh_fooled"] = vote(found, found.perturbed, draws, goal(found)).fooled
            yield row


def _known(said: Said, text: Fields | None) -> Any:
    return None if text is None else said.get(text)


def _number(value: bool) -> int:
    return int(value)
