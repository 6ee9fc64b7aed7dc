"""What all pages of one study share."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request

from mohs.errors import BadInput
from mohs.studies.desk import Desk
from mohs.studies.item import Annotator, Role, State
from mohs.studies.study import Study, hash_of
from mohs.studies.web.limits import Limit
from mohs.studies.web.pages import Pages
from mohs.studies.web.refusal import forged, too_often, unknown
from mohs.studies.web.sessions import Sessions

_SHORTEST = 12  # characters of an organiser's token
_UNFINISHED = {State.WITHDRAWN: "LEFT-", State.FAILED: "PRACTICE-"}  # what their codes at the end begin with


@dataclass(frozen=True)
class Limits:
    """How often things may happen. They protect the server: links are too long to be guessed at any speed."""

    link: Limit = field(default_factory=lambda: Limit(120, 10.0))  # requests with one link
    stranger: Limit = field(default_factory=lambda: Limit(30, 0.5))  # unknown links, for each client
    sign_in: Limit = field(default_factory=lambda: Limit(10, 0.1))  # for each client


@dataclass(frozen=True)
class Site:
    """One study on the web. public: its address as people see it, if that is not the one they ask for."""

    study: Study
    desk: Desk
    pages: Pages
    organiser: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    sessions: Sessions = field(default_factory=Sessions)
    public: str = ""
    practice: int = 0  # texts for practice that everybody gets
    clock: Callable[[], float] = time.time

    @classmethod
    def of(
        cls,
        study: Study,
        organiser: str | None,
        public: str = "",
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Site:
        """For a study. organiser: the secret of the organiser's page; by default the one that belongs to the study."""
        secret = study.code("organiser") if organiser is None else organiser
        if len(secret) < _SHORTEST:
            raise BadInput(
                f"The organiser's token has {len(secret)} characters; use at least {_SHORTEST} (MOHS_ORGANISER)."
            )
        prefix = prefix_of(public)
        pages = Pages(prefix, title=study.design.title)
        wanted = study.design.training.items if study.design.training else 0
        practice = min(wanted, sum(item.role is Role.TRAINING for item in study.items()))  # there may be fewer
        return cls(
            study,
            Desk(study, clock),
            pages,
            secret,
            limits or Limits(),
            Sessions(clock),
            public.rstrip("/"),
            practice,
            clock,
        )

    @property
    def prefix(self) -> str:
        """What stands before all paths."""
        return prefix_of(self.public)

    def person(self, request: Request, token: str) -> Annotator:
        """Who has this link. All unknown links are refused alike, after the same work."""
        found = self.study.annotator(token)
        if found is None:
            if wait := self.limits.stranger.take(_client(request)):
                raise too_often(wait)
            raise unknown()
        if wait := self.limits.link.take(str(found.number)):
            raise too_often(wait)
        return found

    def seal(self, token: str) -> str:
        """The code in every form of a link's pages; other sites cannot know it."""
        return self.study.code(f"form/{hash_of(token)}")

    def check(self, seal: str, token: str) -> None:
        """Refuse a form without the code."""
        if not same(seal, self.seal(token)):
            raise forged()

    def is_organiser(self, request: Request, token: str) -> bool:
        """Whether this is the organiser's token."""
        if wait := self.limits.sign_in.take(_client(request)):
            raise too_often(wait)
        return same(token, self.organiser)

    def address(self, request: Request) -> str:
        """The address of the site as people see it, without a slash at the end."""
        return self.public or f"{request.url.scheme}://{request.url.netloc}"

    def end_code(self, person: Annotator) -> str:
        """The code that shows the organiser how it ended for an annotator: who did not finish gets another one."""
        how = _UNFINISHED.get(person.state, "")
        return how + self.study.code(f"end/{how}{person.number}")[:10].upper()


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(hash_of(one), hash_of(other))


def prefix_of(public: str) -> str:
    """The path of an address, without a slash at the end."""
    return urlsplit(public).path.rstrip("/")


def _client(request: Request) -> str:
    return request.client.host if request.client else ""
