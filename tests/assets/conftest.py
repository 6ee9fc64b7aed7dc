"""A small public server on this machine, and an asset that it publishes."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mohs.assets.asset import Archive, Asset
from mohs.assets.fetch import Watch

WORDS = Random(7).randbytes(400_000)  # many times what a socket brings at once
FILES = {"pack-1/model/config.json": b"{}", "pack-1/model/words.bin": WORDS, "pack-1/setup.py": b"raise SystemExit"}


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip file; equal for equal files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


CONTENT = zipped(FILES)


class Request(BaseHTTPRequestHandler):
    """What the ways of answering below have at hand."""

    def reply(self, status: int, body: bytes = b"", *, stop: int | None = None, **headers: str) -> None:
        """Send an answer, or only the first `stop` bytes of its body."""
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body[:stop])

    def log_message(self, format: str, *args: Any) -> None:
        pass


Way = Callable[[Request], None]


def ranged(content: bytes, *, stop: int | None = None) -> Way:
    """A server that can go on from the middle, or breaks off after so many bytes."""

    def answer(request: Request) -> None:
        found = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        if found is None:
            return request.reply(200, content, stop=stop)
        start = int(found[1])
        if start >= len(content):
            return request.reply(416, Content_Range=f"bytes */{len(content)}")
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return request.reply(206, content[start:], stop=stop, Content_Range=span)

    return answer


def whole(content: bytes) -> Way:
    """A server that ignores ranges."""
    return lambda request: request.reply(200, content)


def unmeasured(content: bytes) -> Way:
    """A server that does not say how much it will send."""
    return lambda request: request.reply(200, content, Content_Length="")


def status(number: int) -> Way:
    return lambda request: request.reply(number, b"sorry")


def moved(path: str) -> Way:
    return lambda request: request.reply(302, Location=path)


def in_turn(*ways: Way) -> Way:
    """One way after the other; the last for ever."""
    left = list(ways)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


class Server:
    """Answers each path in its own way and remembers what was asked."""

    def __init__(self) -> None:
        self.ways: dict[str, Way] = {}
        self.asked: list[tuple[str, str | None]] = []  # path and Range
        server = self

        class Handler(Request):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers.get("Range")))
                server.ways[self.path](self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def publishes(self, *ways: Way, content: bytes = CONTENT, size: int | None = -1) -> Archive:
        """An archive with an address for each way of answering."""
        paths = [f"/{number}" for number in range(len(ways))]
        self.ways.update(zip(paths, ways, strict=True))
        return Archive(
            "pack-1.zip",
            tuple(self.address + path for path in paths),
            len(content) if size == -1 else size,
            hashlib.sha256(content).hexdigest(),
        )

    @property
    def ranges(self) -> list[str | None]:
        return [found for _, found in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    running.ways.clear()
    running.asked.clear()
    return running


class Ear(Watch):
    """Remembers what it is told, and may be a user who has had enough."""

    def __init__(self, *, patience: int | None = None) -> None:
        self.heard: list[str] = []
        self.steps: list[tuple[int, int | None]] = []
        self.patience = patience

    def moved(self, done: int, total: int | None) -> None:
        self.steps.append((done, total))
        if self.patience is not None and done >= self.patience:
            raise KeyboardInterrupt

    def note(self, sentence: str) -> None:
        self.heard.append(sentence)


TOY = Asset(
    name="toy",
    kind="vectors",
    about="A toy",
    licence="MIT",
    used_by="--toy",
    forms=(("config.json", "words.bin"),),
    also=("README",),
)


@pytest.fixture
def toy(server: Server) -> Asset:
    return replace(TOY, archive=server.publishes(ranged(CONTENT)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "assets"
