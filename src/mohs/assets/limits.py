"""A limit on what a compressed file unpacks to: a small one can hold gigabytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from pathlib import Path
from typing import IO, Any

from mohs.errors import BadInput

TIMES = 100  # times its own size; text shrinks to a third or a tenth
ALWAYS = 256 << 20  # bytes that any file may unpack to
_STEP = 1 << 16


def most(path: Path) -> int:
    """The most bytes that a compressed file may unpack to."""
    return ALWAYS + TIMES * os.stat(path).st_size


def too_much(path: Path) -> BadInput:
    """The error about a file that unpacks to more."""
    return BadInput(
        f"{path} unpacks to more than {most(path) >> 20:,} MB, far more than its size suggests; if that is right, "
        "unpack it yourself and name what is in it."
    )


class _Limited(io.RawIOBase):
    """A stream of unpacked bytes that ends in an error where there are too many."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path, self._most = stream, path, most(path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read(min(len(buffer), _STEP))
        if self._stream.tell() > self._most:
            raise too_much(self._path)
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._stream.close()
        super().close()


def unpacked(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked if it is a gzip, bzip2 or xz file, as its first bytes say."""
    with path.open("rb") as file:
        start = file.read(6)
    for sign, opened in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open)):
        if start.startswith(sign):
            return limited(opened(path, "rb"), path)
    return path.open("rb")


def gunzipped(path: Path) -> IO[bytes]:
    """The bytes of a gzip file, unpacked."""
    return limited(gzip.open(path, "rb"), path)


def limited(stream: Any, path: Path) -> IO[bytes]:
    """A stream of what is unpacked from a file, up to the limit."""
    return io.BufferedReader(_Limited(stream, path), _STEP)
