"""The frame around every task: what a search finds or raises becomes a record."""

from __future__ import annotations

import pytest

from mohs.errors import VictimError
from mohs.records import Outcome
from mohs.tasks.attempt import Draft, attempt
from mohs.tasks.subject import Target
from mohs.text import Example
from tests.toys import Instant, WordCount, now

EXAMPLE = Example.of("a good film", 1, id="7")


def target(answer: object = (0.25, 0.75), **options: object) -> Target:
    service = Instant(lambda item: answer)
    return Target(WordCount({}), service, service, 2, **options)  # type: ignore[arg-type]


def test_what_a_search_fills_in_is_recorded() -> None:
    async def search(draft: Draft) -> Outcome:
        await draft.probe(target(), EXAMPLE)
        draft.queries, draft.positions = 5, 2
        return Outcome.FAILED

    record = now(attempt("toy", EXAMPLE, 3, search))
    assert (record.attack, record.example_id, record.outcome, record.seed) == ("toy", "7", Outcome.FAILED, 3)
    assert (record.scores_before, record.queries, record.positions, record.words) == ((0.25, 0.75), 5, 2, 3)
    assert record.error is record.traceback is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(ValueError("two\nlines"), "ValueError: two lines"), (VictimError("It is ill."), "It is ill.")],
)
def test_what_it_raises_is_an_error_that_keeps_what_was_known(error: Exception, sentence: str) -> None:
    async def search(draft: Draft) -> Outcome:
        await draft.probe(target(), EXAMPLE)
        draft.queries = 9
        raise error

    record = now(attempt("toy", EXAMPLE, 0, search))
    assert record.outcome is Outcome.ERROR
    assert record.error == sentence
    assert record.traceback is not None
    assert type(error).__name__ in record.traceback
    assert (record.queries, record.scores_before) == (9, (0.25, 0.75))


def test_words_out_of_sight() -> None:
    class Short(WordCount):
        def visible(self, fields: tuple[str, ...]) -> tuple[int, ...] | None:
            return (6,)

    service = Instant(lambda item: (0.5, 0.5))
    short = Target(Short({}), service, service, 2)
    draft = Draft()
    assert draft.look(short, EXAMPLE) == (0, 1)
    assert draft.beyond_window == 1
    assert Draft().look(target(), EXAMPLE) == (0, 1, 2)


def test_the_column_that_rejects() -> None:
    class Guard(WordCount):
        rejects = True

    service = Instant(lambda item: (0.0, 0.0, 1.0))
    assert Target(Guard({}), service, service, 2).refusal == 2
    assert target().refusal is None
