"""Downloads a published file into a partial file, which the next attempt resumes."""

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

TRIES = 4  # attempts in a row that each bring less than PROGRESS bytes
PROGRESS = 1 << 20
TIMEOUT = 30.0
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class Watch:
    """Receives the progress and the notes of a download. This one ignores them."""

    def moved(self, done: int, total: int | None) -> None:
        """`done` bytes have arrived, out of `total` if known."""

    def note(self, sentence: str) -> None:
        """Tell the user something in one sentence."""


class _Refused(Exception):
    """The address refuses the file; trying again will not help."""


class _Interrupted(Exception):
    """The download broke off; trying again may help."""


def fetch(archive: Archive, part: Path, *, watch: Watch, pause: Callable[[float], None]) -> str:
    """Download the file to `part`, resuming what is there, and check its hash. Returns the address it came from."""
    begun = _length(part) > 0
    if archive.size is not None and _length(part) > archive.size:
        watch.note(f"{part.name} was longer than the file should be; it was deleted and is fetched again.")
        part.unlink()
        begun = False
    url = _from_any(archive, part, watch, pause)
    if (found := sha256_of(part)) == archive.sha256:
        return url
    part.unlink()
    if begun:
        watch.note(f"{part.name}, resumed from an earlier download, has the wrong hash; it is fetched again in full.")
        return fetch(archive, part, watch=watch, pause=pause)
    raise MohsError(
        f"The file at {url} is not the expected {archive.file} (sha256 {found} instead of {archive.sha256}) and was "
        "deleted; get the file from elsewhere and name it with --from."
    )


def _from_any(archive: Archive, part: Path, watch: Watch, pause: Callable[[float], None]) -> str:
    import httpx

    if archive.size is not None and _length(part) == archive.size:  # interrupted after the download, before unpacking
        return archive.urls[0]
    problems = []
    try:
        client = httpx.Client(follow_redirects=True, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    except (OSError, ValueError, ImportError) as error:  # an invalid proxy or certificate setting
        raise MohsError(f"The network settings of the environment cannot be used ({error}); correct them.") from error
    with client:
        for url in archive.urls:
            try:
                _persist(client, url, archive, part, watch, pause)
                return url
            except (_Refused, _Interrupted) as problem:
                problems.append(f"{url} {problem}")
    kept = _length(part)
    resume = f"; {megabytes(kept)} are kept, and the same command resumes from there" if kept else ""
    raise MohsError(f"{archive.file} could not be fetched: {' and '.join(problems)}{resume}.")


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
    """Send one request for the missing bytes."""
    import httpx

    done = _length(part)
    try:
        with client.stream("GET", url, headers={"Range": f"bytes={done}-"} if done else {}) as answer:
            if answer.status_code == 416 and done:  # no bytes are left: the part is complete, or is another file
                if _total(answer) in (None, done):
                    return
                part.unlink()
                raise _Interrupted("cannot resume the part on disk")
            if answer.status_code in PASSING:
                raise _Interrupted(f"answered {answer.status_code}")
            if answer.status_code not in (200, 206):
                raise _Refused(f"answered {answer.status_code}")
            start = _start(answer) if answer.status_code == 206 else 0
            if start not in (0, done):
                part.unlink(missing_ok=True)
                raise _Interrupted(f"sent bytes from {start} when asked for bytes from {done}")
            if done and not start:
                watch.note(f"{url} cannot resume a download; starting over.")
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
    """The length of the whole file, if the response gives it."""
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
