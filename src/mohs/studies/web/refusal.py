"""When a request cannot be answered: what people read instead, or what a program gets."""

from __future__ import annotations

from starlette.requests import Request


class Refusal(Exception):
    """Ends a request. wait: seconds after which it may be tried again."""

    def __init__(self, status: int, title: str, text: str, wait: int = 0) -> None:
        super().__init__(text)
        self.status = status
        self.title = title
        self.text = text
        self.wait = wait


def unknown() -> Refusal:
    """The same words for every address that leads nowhere, so that nobody learns which links exist."""
    return Refusal(404, "There is nothing here", "Please check the link: every part of it counts.")


def forged() -> Refusal:
    """A form without the code of its page."""
    return Refusal(403, "This page is too old", "Please open your link again, and repeat the last step there.")


def too_often(wait: int) -> Refusal:
    """Over a limit."""
    return Refusal(
        429, "Too many requests", f"Please try again in {wait} {'second' if wait == 1 else 'seconds'}.", wait
    )


def unavailable() -> Refusal:
    """The database is full, locked or gone."""
    return Refusal(
        503,
        "This could not be kept",
        "The study's database does not answer at the moment, so your last step was not kept. Please try again in a "
        "minute: what was kept before is safe.",
        60,
    )


def wants_json(request: Request) -> bool:
    """Whether a program asks, rather than a browser."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted
