"""What the pages tell programs, as JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why there is no answer."""

    error: str


class Choice(BaseModel):
    """An answer that can be given."""

    value: int
    label: str


class Asked(BaseModel):
    """An item as an annotator sees it."""

    number: int
    place: int
    of: int
    texts: list[str]
    statement: str
    answers: list[Choice]
    answer: int | None = None


class Shown(BaseModel):
    """Where an annotator is. csrf: the code for the forms. right: whether the last training item was answered right."""

    phase: str
    state: str
    csrf: str
    done: int
    item: Asked | None = None
    back: int | None = None
    right: bool | None = None
    code: str = ""


class Answered(BaseModel):
    """What became of an answer: kept, changed, repeated, gone or refused."""

    taken: str
    item: int


def _problem(description: str) -> dict[str, Any]:
    return {"model": Problem, "content": {"text/html": {}}, "description": description}


ERRORS: dict[int | str, dict[str, Any]] = {
    404: _problem("No such link"),
    422: _problem("A value is missing or has another form"),
    429: _problem("Too many requests"),
    503: _problem("The database does not answer"),
}
FORM_ERRORS: dict[int | str, dict[str, Any]] = {
    **ERRORS,
    400: _problem("The form cannot be read"),
    403: _problem("The form is not from this site, or too old"),
    413: {"description": "The request is too large"},
}
