"""The folder of a build: only a new one or that of a benchmark is written to, by one build at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mohs.assets.writing import opened_for_writing, refuse_link
from mohs.errors import BadInput, MohsError

_LOCK = ".lock"


@contextmanager
def alone_in(out: Path, stages: Path) -> Iterator[None]:
    """Make the folder if need be, and keep other builds out. stages: the folder by which a build knows its own."""
    try:
        if out.exists() and not out.is_dir():
            raise BadInput(f"{out} is a file; name a folder with --out.")
        if out.is_dir() and not stages.is_dir() and (foreign := sorted(path.name for path in out.iterdir())):
            raise BadInput(f"{out} holds other files ({foreign[0]}) and no benchmark; name a new folder with --out.")
        refuse_link(stages)
        stages.mkdir(parents=True, exist_ok=True)
        lock = opened_for_writing(stages / _LOCK)
    except OSError as error:
        raise MohsError(f"{out} cannot be written ({error.strerror or error}); name another with --out.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"Another build is writing to {out}; wait for it or name another folder.") from None
        yield
