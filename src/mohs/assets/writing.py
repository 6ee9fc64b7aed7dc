"""Writing files into folders that may come from others: never through a symbolic link."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Any

from mohs.errors import BadInput

_NO_FILES = (Path("/dev"), Path("/proc"))  # here links such as /dev/stdout are what the user means


def _below_dev(path: Path) -> bool:
    return any(place in path.absolute().parents for place in _NO_FILES)


def refuse_link(*paths: Path) -> None:
    """Refuse to write where a symbolic link stands: the file it leads to may be any file of the user's."""
    for path in paths:
        if path.is_symlink() and not _below_dev(path):
            raise BadInput(f"{path} is a symbolic link, through which mohs does not write; delete it.")


def is_special(path: Path) -> bool:
    """Whether this is a pipe or a device, which no rename may replace.

    That is anything below /dev, also if /dev/stdout leads to a file: root would replace the link of the whole machine.
    Elsewhere a link is not one, wherever it leads.
    """
    if _below_dev(path):
        return path.exists()
    return path.exists() and not path.is_file() and not path.is_symlink()


def refuse_special(path: Path) -> None:
    """Refuse a pipe or a device in the place of a file: reading or writing it may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadInput(f"{path} is a pipe or a device and not a file; delete it.")


def opened_for_writing(path: Path, mode: str = "w", *, special: bool = False, **settings: Any) -> IO[Any]:
    """Open a file for writing or appending, but not through a link. special: a pipe or a device will do."""
    refuse_link(path)
    if not special:
        refuse_special(path)
    follow = _below_dev(path)

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags if follow else flags | os.O_NOFOLLOW, 0o666)

    try:
        return open(path, mode, opener=opener, **settings)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link since the look above
            raise BadInput(f"{path} is a symbolic link, through which mohs does not write; delete it.") from error
        raise
