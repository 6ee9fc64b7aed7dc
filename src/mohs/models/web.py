"""One request to an endpoint that may be slow, broken or hostile: it ends at a deadline, and its answer has a limit."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import httpx

MEGABYTE = 1_000_000
MAX_BODY = 32.0  # megabytes of an answer, unpacked
PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})  # worth a retry; other errors are final
LONGEST_PAUSE = 300.0  # seconds; even if Retry-After asks for longer

_STEP = 1 << 16  # bytes unpacked at a time
_ZIPPED = ("gzip", "x-gzip", "deflate")


class TooLarge(Exception):
    """The answer is longer than allowed."""


@dataclass(frozen=True)
class Answer:
    """What an endpoint answered."""

    status: int
    body: bytes
    after: str = ""  # the header Retry-After

    @property
    def pause(self) -> float:
        """The seconds it asks to wait before the next try."""
        return min(float(self.after), LONGEST_PAUSE) if self.after.isdecimal() else 0.0

    def said(self, most: int) -> str:
        """How it begins, for a message."""
        return repr(self.body[: 4 * most].decode("utf-8", "replace")[:most])

    def json(self) -> Any:
        """The value in it. Raises ValueError if it is not JSON, as the page of a proxy is not."""
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error


def deadline_of(deadline: float, timeout: float) -> float:
    """The seconds for a whole request: as given, or four times the seconds for a single read."""
    return deadline or 4 * timeout


def post(client: httpx.Client, url: Any, *, deadline: float, max_body: float, **content: Any) -> Answer:
    """Send a request and read the answer, in `deadline` seconds at most and up to `max_body` megabytes.

    The timeouts of httpx hold for single reads, and a server that sends a byte now and then never meets one. So a
    thread of its own waits for the answer, and is left behind if it takes too long.
    """
    found: Future[Answer] = Future()
    ends = time.monotonic() + deadline

    def fulfil() -> None:
        try:
            found.set_result(_sent(client, url, ends, int(max_body * MEGABYTE), content))
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=fulfil, name="mohs-request", daemon=True).start()
    try:
        return found.result(deadline)
    except TimeoutError:
        raise _late(deadline) from None


def _sent(client: httpx.Client, url: Any, ends: float, most: int, content: dict[str, Any]) -> Answer:
    with client.stream("POST", url, headers={"Accept-Encoding": "gzip"}, **content) as response:
        body = bytearray()
        for part in _unpacked(response):
            body += part
            if len(body) > most:
                raise TooLarge
            if time.monotonic() > ends:  # nobody waits for it any more
                raise _late(0.0)
        return Answer(response.status_code, bytes(body), response.headers.get("Retry-After", ""))


def _unpacked(response: httpx.Response) -> Iterator[bytes]:
    """The body in small parts. A few bytes can unpack to gigabytes, so each step has a limit."""
    packed = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packed not in (*_ZIPPED, "identity", ""):
        raise httpx.DecodingError(f"the answer is packed as {packed[:40]!r}, which was not asked for")
    if packed not in _ZIPPED or response.is_stream_consumed:
        yield from response.iter_raw(_STEP) if not response.is_stream_consumed else [response.content]
        return
    unpack = zlib.decompressobj(47)  # gzip or zlib, as the first bytes say
    try:
        for raw in response.iter_raw():
            yield unpack.decompress(raw, _STEP)
            while unpack.unconsumed_tail:
                yield unpack.decompress(unpack.unconsumed_tail, _STEP)
        while rest := unpack.decompress(b"", _STEP):
            yield rest
    except zlib.error as error:
        raise httpx.DecodingError(f"the answer cannot be unpacked ({error})") from error


def _late(deadline: float) -> httpx.TimeoutException:
    return httpx.ReadTimeout(f"no whole answer in {deadline:g} s")
