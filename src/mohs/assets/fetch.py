"""Fetching a published file: streamed into a part that the next attempt goes on with."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mohs.assets.asset import Archive
from mohs.assets.folder import sha256_of
from mohs.assets.status import megabytes
from mohs.errors import MohsError

if TYPE_CHECKING:
    import httpx

TRIES = 4  # in a row that bring less than PROGRESS bytes
PROGRESS = 1 << 20
TIMEOUT = 30.0
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class Watch:
    """Is told how far a download is, and what happens on the way; this one keeps quiet."""

    def moved(self, done: int, total: int | None) -> None:
        """So many bytes are there."""

    def note(self, sentence: str) -> None:
        """Something that the user may want to know."""


class _Refused(Exception):
    """An address that will not give the file, however often it is asked."""


class _Interrupted(Exception):
    """An address that may give the rest when asked again."""


def fetch(archive: Archive, part: Path, *, watch: Watch, pause: Callable[[float], None]) -> str:
    """Have the whole, right file at `part`, going on with what is there; the address it came from."""
    begun = _length(part) > 0
    if archive.size is not None and _length(part) > archive.size:
        watch.note(f"{part.name} was longer than the file should be; it is deleted and fetched anew.")
        part.unlink()
        begun = False
    url = _from_any(archive, part, watch, pause)
    if (found := sha256_of(part)) == archive.sha256:
        return url
    part.unlink()
    if begun:
        watch.note(f"{part.name}, begun earlier, did not become the right file; it is deleted and fetched anew.")
        return fetch(archive, part, watch=watch, pause=pause)
    raise MohsError(
        f"What {url} sends is not the known {archive.file} (sha256 {found} instead of {archive.sha256}); it is "
        "deleted: get the file from elsewhere and name it with --from."
    )


def _from_any(archive: Archive, part: Path, watch: Watch, pause: Callable[[float], None]) -> str:
    import httpx

    if archive.size is not None and _length(part) == archive.size:  # stopped between fetching and unpacking
        return archive.urls[0]
    problems = []
    try:
        client = httpx.Client(follow_redirects=True, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    except (OSError, ValueError, ImportError) as error:  # a proxy or a certificate that makes no sense
        raise MohsError(f"The network settings of the environment cannot be used ({error}); correct them.") from error
    with client:
        for url in archive.urls:
            try:
                _persist(client, url, archive, part, watch, pause)
                return url
            except (_Refused, _Interrupted) as problem:
                problems.append(f"{url} {problem}")
    kept = _length(part)
    going_on = f"; {megabytes(kept)} are kept, and the same command goes on from there" if kept else ""
    raise MohsError(f"{archive.file} could not be fetched: {' and '.join(problems)}{going_on}.")


def _persist(
    client: httpx.Client, url: str, archive: Archive, part: Path, watch: Watch, pause: Callable[[float], None]
) -> None:
    tries = 0
    while True:
        before = _length(part)
        try:
            return _receive(client, url, archive, part, watch)
        except _Interrupted:
            tries = 1 if _length(part) - before >= PROGRESS else tries + 1
            if tries == TRIES:
                raise
            pause(2.0 ** (tries - 1))


def _receive(client: httpx.Client, url: str, archive: Archive, part: Path, watch: Watch) -> None:
    """One request for what is missing."""
    import httpx

    done = _length(part)
    try:
        with client.stream("GET", url, headers={"Range": f"bytes={done}-"} if done else {}) as answer:
            if answer.status_code == 416 and done:  # nothing after what is there: whole, or not this file at all
                if _total(answer) in (None, done):
                    return
                part.unlink()
                raise _Interrupted("does not know the part that is there")
            if answer.status_code in PASSING:
                raise _Interrupted(f"answered {answer.status_code}")
            if answer.status_code not in (200, 206):
                raise _Refused(f"answered {answer.status_code}")
            start = _start(answer) if answer.status_code == 206 else 0
            if start not in (0, done):
                part.unlink(missing_ok=True)
                raise _Interrupted(f"sent from byte {start} on when asked for {done}")
            if done and not start:
                watch.note(f"{url} does not go on from the middle; starting anew.")
            total = _total(answer)
            if None not in (archive.size, total) and total != archive.size:
                raise _Refused(f"offers {total:,} bytes instead of {archive.size:,}")
            done = start
            with part.open("ab" if done else "wb") as file:
                for chunk in answer.iter_raw():
                    file.write(chunk)
                    done += len(chunk)
                    if archive.size is not None and done > archive.size:
                        break
                    watch.moved(done, archive.size or total)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        fault = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise _Interrupted(f"could not be read ({fault})") from error
    expected = archive.size if archive.size is not None else total
    if expected is not None and done > expected:
        part.unlink()
        raise _Refused(f"sends more than the expected {expected:,} bytes")
    if expected is not None and done < expected:
        raise _Interrupted("broke off")


def _start(answer: httpx.Response) -> int:
    found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    return int(found[1]) if found else -1


def _total(answer: httpx.Response) -> int | None:
    """The length of the whole file, if the answer tells it."""
    if answer.status_code == 200:
        length = answer.headers.get("Content-Length", "")
        return int(length) if length.isdecimal() else None
    found = re.search(r"/(\d+)$", answer.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _length(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0
