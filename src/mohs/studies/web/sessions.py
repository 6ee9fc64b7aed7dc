"""Who is signed in as the organiser. Sessions live in memory, so a restart ends them."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from mohs.studies.study import Invitation, hash_of
from mohs.studies.web.limits import Clock

HOURS = 8
_MOST = 100


@dataclass
class Session:
    """One sign-in. links: invitations to show once."""

    ends: float
    links: list[Invitation] = field(default_factory=list)


class Sessions:
    """All sign-ins, by the hash of their secret."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._all: dict[str, Session] = {}
        self._gate = threading.Lock()

    def start(self) -> str:
        """A new session; returns its secret for the cookie."""
        secret = secrets.token_urlsafe(32)
        with self._gate:
            self._all = {key: one for key, one in self._all.items() if one.ends > self._clock()}
            while len(self._all) >= _MOST:
                self._all.pop(next(iter(self._all)))
            self._all[hash_of(secret)] = Session(self._clock() + HOURS * 3600)
        return secret

    def runs(self, secret: str) -> bool:
        """Whether this session was started and has not ended."""
        with self._gate:
            found = self._all.get(hash_of(secret))
            return found is not None and found.ends > self._clock()

    def end(self, secret: str) -> None:
        """Sign out."""
        with self._gate:
            self._all.pop(hash_of(secret), None)

    def keep(self, secret: str, links: Sequence[Invitation]) -> None:
        """Keep new links for the next page."""
        with self._gate:
            if (found := self._all.get(hash_of(secret))) is not None:
                found.links += links

    def shown(self, secret: str) -> list[Invitation]:
        """The new links, once."""
        with self._gate:
            found = self._all.get(hash_of(secret))
            links = [] if found is None else found.links[:]
            if found is not None:
                found.links.clear()
            return links
