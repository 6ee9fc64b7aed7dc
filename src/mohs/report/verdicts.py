"""What a judge says about the successes of a run: would people accept the changed words?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from mohs.models.judge import CrossEncoderJudge, load_judge
from mohs.records import Outcome, Record
from mohs.report.judged import word_values
from mohs.text import Text
from mohs.text.calibration import Calibration
from mohs.text.judge import Judge

_Key = tuple[str, str, tuple[str, ...] | None]


Pair = tuple[Text, Text]


def changed(record: Record) -> Pair | None:
    """The original and the final text."""
    return None if record.perturbed is None else (Text(*record.original), Text(*record.perturbed))


class Verdicts:
    """The probabilities of the changed words of every success, by a judge. They are found in one go.

    pair: the two texts of a success that people would compare.
    """

    def __init__(
        self,
        records: Iterable[Record],
        judge: str | Judge | CrossEncoderJudge = "pocket",
        pair: Callable[[Record], Pair | None] = changed,
    ) -> None:
        part = load_judge(judge) if isinstance(judge, str) else judge
        self.name: str = part.name
        self.calibration: Calibration = part.calibration
        hits = {
            _key(record): texts
            for record in records
            if record.outcome is Outcome.SUCCESS and (texts := pair(record)) is not None
        }
        values = word_values(list(hits.values()), part)
        self._words = {key: tuple(words) if words else None for key, words in zip(hits, values, strict=True)}

    def words(self, record: Record) -> tuple[float, ...] | None:
        """The probability of each changed word of a success, nan where the judge has no opinion.

        None if the texts do not correspond word by word.
        """
        return self._words.get(_key(record))

    def text(self, record: Record) -> float | None:
        """The probability that people would accept the whole text; None if the judge cannot judge it."""
        words = self.words(record)
        value = math.nan if words is None else self.calibration.whole(words)
        return None if math.isnan(value) else value


def _key(record: Record) -> _Key:
    return record.attack, record.example_id, record.perturbed
