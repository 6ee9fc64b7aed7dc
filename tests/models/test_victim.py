"""What victims have in common."""

from __future__ import annotations

import math

from mohs.models.victim import answers_of, differ
from tests.toys import WordCount


def test_answers_that_differ() -> None:
    assert not differ((0.25, 0.75), (0.25, 0.75), 0.0)
    assert not differ((0.25, 0.75), (0.3, 0.7), 0.051)
    assert differ((0.25, 0.75), (0.3, 0.7), 0.049)
    assert differ((0.5, 0.5), (0.5, 0.5, 0.0), 1.0)
    assert differ((math.nan, 0.5), (math.nan, 0.5), 1.0)


def test_texts_are_asked_in_the_batches_that_the_victim_wants() -> None:
    model = WordCount({"good": 1.0}, in_flight=3, rows=2)
    texts = [(f"good {'film ' * n}",) for n in range(7)]
    assert answers_of(model, texts) == {text: model.scores(text) for text in texts}
    assert max(model.batches) == 2
