"""A study served by a process of its own, and people who judge over HTTP until there is nothing left for them.

The server can be killed in the middle. People then do what a person does who sees an error: they wait until it is back
and send the same answer again.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from mohs.studies.study import Invitation, Study
from tests.studies.toys import POSTGRES

_PATIENCE = 1000  # lost connections of one person


def address(study: Study) -> str:
    """Where another process finds the study; the place that is shown has no password."""
    return f"{POSTGRES}?study={study.place.partition('?study=')[2]}" if study.database.postgres else study.place


class Server:
    """`mohs study serve` as a process. The port is another one after each start."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._process: subprocess.Popen[str] | None = None
        self._errors = TemporaryFile("w+")  # noqa: SIM115 (closed by __exit__)
        self.port = 0

    def start(self) -> None:
        """Start it; at the end of this it can be asked."""
        command = [sys.executable, "-m", "mohs", "study", "serve", self._place, "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            raise RuntimeError(f"the server did not start: {line}{self.said()}")
        self.port = int(found[1])

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def said(self) -> str:
        """What it wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def end(self, how: signal.Signals) -> int:
        """End it with a signal; returns the exit code."""
        assert self._process is not None
        self._process.send_signal(how)
        code = self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.runs:
            self.end(signal.SIGKILL)
        self._errors.close()


@dataclass
class Crowd:
    """All people together. kills: after how many acknowledged answers the server is killed and started again."""

    server: Server
    kills: Sequence[int] = ()
    acknowledged: int = 0
    killed: int = 0
    limited: int = 0  # requests that were told to wait
    odd: list[str] = field(default_factory=list)  # answers that nobody should get
    seconds: dict[str, list[float]] = field(default_factory=dict)  # by what was asked
    _up: asyncio.Event = field(default_factory=asyncio.Event)

    async def judge(self, people: Sequence[Invitation], pause: float = 0.0) -> list[Person]:
        """Everybody judges until they find nothing. pause: seconds before an answer, on average."""
        self._up.set()
        crowd = [Person(self, one, pause) for one in people]
        await asyncio.gather(*(one.judge() for one in crowd))
        return crowd

    async def back(self) -> int:
        """Wait until the server is there; its port."""
        await self._up.wait()
        if not self.server.runs:
            raise RuntimeError(f"the server ended by itself: {self.server.said()}")
        return self.server.port

    async def count(self) -> None:
        """One more answer was acknowledged."""
        self.acknowledged += 1
        if self.killed < len(self.kills) and self.acknowledged >= self.kills[self.killed]:
            self.killed += 1
            self._up.clear()
            self.server.end(signal.SIGKILL)
            await asyncio.to_thread(self.server.start)
            self._up.set()


@dataclass
class Person:
    """One person with one connection. kept: the answers that the server has acknowledged, by the item's number."""

    crowd: Crowd
    invited: Invitation
    pause: float = 0.0
    kept: dict[int, int] = field(default_factory=dict)
    _lost: int = 0
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def judge(self) -> None:
        """Judge until there is nothing more."""
        shown = await self._asked("look", "GET", "")
        while shown["phase"] in ("consent", "rest", "task"):
            form = {"csrf": shown["csrf"]}
            if shown["phase"] == "task":
                await self._answer(shown["item"], form)
                shown = await self._asked("look", "GET", "")
            else:
                step = "agree" if shown["phase"] == "consent" else "more"
                shown = await self._asked(step, "POST", f"/{step}", form)
        self._close()

    async def _answer(self, item: dict[str, Any], form: dict[str, Any]) -> None:
        number, values = item["number"], [one["value"] for one in item["answers"]]
        chance = crc32(f"{self.invited.name}/{number}".encode())
        if self.pause:
            await asyncio.sleep(self.pause * (0.5 + chance / 2**32))
        value = values[chance % len(values)]
        form |= {"item": number, "value": value}
        told = await self._asked("answer", "POST", "/answer", form)
        if told["taken"] not in ("kept", "repeated"):
            self.crowd.odd.append(f"{self.invited.name} about {number}: {told['taken']}")
            return
        self.kept[number] = value
        await self.crowd.count()
        if number % 20 == 0:  # a double click
            again = await self._asked("answer", "POST", "/answer", form)
            if again["taken"] != "repeated":
                self.crowd.odd.append(f"{self.invited.name} about {number} again: {again['taken']}")

    async def _asked(self, what: str, method: str, path: str, form: dict[str, Any] | None = None) -> dict[str, Any]:
        """An answer of the server, whatever happens to it in the meantime."""
        body = urlencode(form or {}).encode()
        head = (
            f"{method} /a/{self.invited.token}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        while True:
            try:
                began = time.perf_counter()
                status, headers, text = await self._sent(head.encode() + body)
            except (OSError, EOFError) as error:
                self._close()
                self._lost += 1
                if self._lost > _PATIENCE:
                    raise RuntimeError(f"{self.invited.name} gave up: {error!r}") from error
                continue
            if status == 429:
                self.crowd.limited += 1
                await asyncio.sleep(float(headers["retry-after"]))
                continue
            if status not in (200, 409):
                raise RuntimeError(f"{method} {path}: {status} {text!r}; {self.crowd.server.said()}")
            self.crowd.seconds.setdefault(what, []).append(time.perf_counter() - began)
            found: dict[str, Any] = json.loads(text)
            return found

    async def _sent(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", await self.crowd.back())
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        text = await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self._close()
        return int(head[0].split()[1]), headers, text

    def _close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def faults(study: Study, crowd: Crowd, people: Sequence[Person]) -> list[str]:
    """What is wrong: acknowledged answers that are not there, others, and items with too many or too few."""
    rows = study.database.read(
        lambda c: c.all(
            "SELECT a.name, j.item, j.answer FROM judgements j JOIN annotators a ON a.number = j.annotator "
            "WHERE j.answer IS NOT NULL"
        )
    )
    there = {(name, item): answer for name, item, answer in rows}
    told = {(one.invited.name, item): value for one in people for item, value in one.kept.items()}
    found = list(crowd.odd)
    found += [f"{key} was acknowledged and is lost" for key in told.keys() - there.keys()]
    found += [f"{key} was never acknowledged" for key in there.keys() - told.keys()]
    found += [
        f"{key} is {there[key]}, not {told[key]}" for key in told.keys() & there.keys() if told[key] != there[key]
    ]
    judges = study.design.judges
    counts = study.database.read(
        lambda c: c.all(
            "SELECT i.number, i.room, count(j.item) FROM items i LEFT JOIN judgements j ON j.item = i.number "
            "GROUP BY i.number, i.room"
        )
    )
    found += [f"item {number} has {count} of {judges}" for number, _, count in counts if count != judges]
    return found + [f"item {number} has room for {room} more" for number, room, _ in counts if room]
