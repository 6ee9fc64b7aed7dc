"""A hostile endpoint on this machine: each way of answering badly, always, at first, or now and then."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from tests.faults.nurse import Nurse
from tests.faults.scene import Command, Unreadable
from tests.faults.tally import Tally
from tests.toys import predict

_LONGEST = 20.0  # seconds that a handler goes on sending
_BOMB = gzip.compress(bytes(64_000_000), 9)
OPTIONS = ("timeout=0.4", "deadline=0.8", "retries=2", "backoff=0.01", "max_body=1", "batch=16", "concurrency=2")
COMMAND = (
    "--attack",
    "random",
    "--budget",
    "30",
    "--data",
    "rows.jsonl",
    "--seed",
    "1",
    "--labels",
    "negative,positive",
)


class Handler(BaseHTTPRequestHandler):
    """Answers well or badly, as the server says."""

    protocol_version = "HTTP/1.1"
    server: Hostile

    def do_POST(self) -> None:
        self.close_connection = True
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
        bad = self.server.next_is_bad()
        with suppress(OSError):
            (BAD[self.server.kind] if bad else right)(self, texts)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def reply(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        told = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        for name, value in told.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def rows(self, rows: Any) -> None:
        self.reply(json.dumps({"probabilities": rows}).encode())

    def endless(self, part: bytes, pause: float) -> None:
        ends = time.monotonic() + _LONGEST
        while time.monotonic() < ends and not self.server.over.wait(pause):
            self.wfile.write(part)


def right(handler: Handler, texts: list[Any]) -> None:
    handler.rows(predict(texts))


def _drip(handler: Handler, texts: list[Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    handler.endless(b" ", 0.05)


def _never_ending(handler: Handler, texts: list[Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    handler.endless(b" " * 100_000, 0.0)


def _headers_for_ever(handler: Handler, texts: list[Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    handler.endless(b"X-More: " + b"x" * 1000 + b"\r\n", 0.0)


def _silence(handler: Handler, texts: list[Any]) -> None:
    handler.server.over.wait(_LONGEST)


def _half(handler: Handler, texts: list[Any]) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"probabilities": [[0.5, ')


def _raw(content: bytes) -> Callable[[Handler, list[Any]], None]:
    def answer(handler: Handler, texts: list[Any]) -> None:
        handler.wfile.write(content)

    return answer


def _body(content: bytes, status: int = 200, **headers: str) -> Callable[[Handler, list[Any]], None]:
    return lambda handler, texts: handler.reply(content, status, **headers)


def _each(row: Any) -> Callable[[Handler, list[Any]], None]:
    return lambda handler, texts: handler.rows([row for _ in texts])


_NAN, _HUGE = b'{"probabilities": [[NaN, NaN]]}', b'{"probabilities": [[1e999, 0.0]]}'
BAD: dict[str, Callable[[Handler, list[Any]], None]] = {
    "slow drip": _drip,
    "never-ending body": _never_ending,
    "never-ending headers": _headers_for_ever,
    "silence": _silence,
    "half an answer": _half,
    "closed connection": lambda handler, texts: None,
    "no HTTP": _raw(b"220 mail.example ready\r\n"),
    "impossible status": _raw(b"HTTP/1.1 999999 ?\r\n\r\n"),
    "interim answers": _raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
    "gzip bomb": _body(_BOMB, Content_Encoding="gzip"),
    "gzip that is none": _body(b"not gzip", Content_Encoding="gzip"),
    "another packing": _body(b"xx", Content_Encoding="br"),
    "broken JSON": _body(b'{"probabilities": [[0.5, 0.5]'),
    "deep JSON": _body(b"[" * 500_000),
    "long number": _body(b'{"probabilities": [[' + b"9" * 6000 + b", 0]]}"),
    "no UTF-8": _body(b'{"probabilities": "\xff\xfe"}'),
    "nothing": _body(b""),
    "HTML": _body(b"<html><body>Please log in</body></html>", Content_Type="text/html"),
    "JSON without rows": _body(b'{"error": "busy"}'),
    "a list": _body(b"[1, 2]"),
    "null": _body(b'{"probabilities": null}'),
    "a row too few": lambda handler, texts: handler.rows(predict(texts)[1:]),
    "a row too many": lambda handler, texts: handler.rows([*predict(texts), [0.5, 0.5]]),
    "NaN": lambda handler, texts: handler.reply(_NAN.replace(b"[NaN, NaN]", b", ".join([b"[NaN, NaN]"] * len(texts)))),
    "infinite": lambda handler, texts: handler.reply(
        _HUGE.replace(b"[1e999, 0.0]", b", ".join([b"[1e999, 0.0]"] * len(texts)))
    ),
    "negative": _each([-0.5, 1.5]),
    "not summing to one": _each([0.9, 0.9]),
    "strings": _each(["0.5", "0.5"]),
    "one number a text": _each(0.5),
    "another number of classes": _each([0.2, 0.3, 0.5]),
    "status 500": _body(b"oops", 500),
    "status 503": _body(b"busy", 503),
    "status 429": _body(b"slow down", 429, Retry_After="0"),
    "status 404": _body(b"not here", 404),
    "status 204": _raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "redirect": _body(b"", 302, Location="/elsewhere"),
    "redirect to a file": _body(b"", 307, Location="file:///etc/passwd"),
    "escape codes": _body(b"\x1b[2J\x1b]0;owned\x07", 400),
}
TIMES = ("always", "at first", "now and then")


class Hostile(ThreadingHTTPServer):
    """Answers badly in one way."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.when = "", "never"
        self.over = threading.Event()
        self._asked, self._lock, self._chance = 0, threading.Lock(), Random(0)

    def behave(self, kind: str, when: str) -> str:
        """Choose a way; gives the address."""
        self.over.set()
        self.over = threading.Event()
        self.kind, self.when, self._asked, self._chance = kind, when, 0, Random(kind)
        return f"http://127.0.0.1:{self.server_address[1]}/classify"

    def next_is_bad(self) -> bool:
        with self._lock:
            self._asked += 1
            often = {"always": 1.0, "at first": float(self._asked == 1), "now and then": 0.1, "never": 0.0}
            return self._chance.random() < often[self.when]

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def hostile() -> Iterator[Hostile]:
    """A server that runs."""
    server = Hostile()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def endpoints(nurse: Nurse, cases: Sequence[tuple[str, str]]) -> list[Tally]:
    """Attack an endpoint that answers badly: the right results, or one sentence."""
    tally = Tally("hostile endpoint")
    with hostile() as server:
        expected, ended = _attacked(nurse, server.behave("", "never"))
        assert ended.status == 0, ended.stderr
        for kind, when in cases:
            found, ended = _attacked(nurse, server.behave(kind, when))
            tally.cases += 1
            what = f"{kind} {when}"
            tally.ended(ended, what)
            tally.said(ended, what)
            if when == "always" and ended.status == 0:
                tally.note("wrong", f"{what}: exit code 0")
            odd = [key for key, row in found.items() if row["outcome"] != "error" and row != expected.get(key)]
            if odd:
                tally.note("wrong", f"{what}: other results: {odd[:3]}")
            if ended.status == 0 and found.keys() != expected.keys():
                tally.note("wrong", f"{what}: results are missing")
            if "\x1b" in ended.stderr + ended.stdout:
                tally.note("wrong", f"{what}: escape codes are printed")
    return [tally]


def _attacked(nurse: Nurse, address: str) -> tuple[dict[str, Any], Any]:
    out = nurse.scene / "asked"
    shutil.rmtree(out, ignore_errors=True)
    command = Command("http", ("attack", "--victim", address, *COMMAND))
    options = [part for option in OPTIONS for part in ("--victim-option", option)]
    quiet = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    ended = nurse(*command.words(str(out)), *options, environment=quiet, timeout=60)
    found: dict[str, Any] = {}
    with suppress(Unreadable):
        found = command.finished(out) if out.exists() else {}
    return found, ended


def all_cases() -> list[tuple[str, str]]:
    """Each way at each time."""
    return [(kind, when) for when in TIMES for kind in BAD]
