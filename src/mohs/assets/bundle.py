"""Reads an asset's files out of an archive, a folder or a single file."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import IO

from mohs.assets.asset import Asset
from mohs.assets.folder import NOTE, File
from mohs.assets.limits import most, too_much, unpacked
from mohs.errors import BadInput

BLOCK = 1 << 20
MANY = 100_000  # files; a larger folder is probably a home folder, not an asset

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,  # unknown compression
    RuntimeError,  # password-protected
)


@dataclass(frozen=True)
class Entry:
    """A file in a bundle: its path there, and how to read it."""

    bundle: Path
    name: str
    open: Callable[[], IO[bytes]]

    def blocks(self) -> Iterator[bytes]:
        """The content in blocks. Read errors become BadInput, so callers can tell them from write errors."""
        try:
            with self.open() as file:
                while block := file.read(BLOCK):
                    yield block
        except (OSError, *_BROKEN) as error:
            raise _unreadable(self.bundle, error) from error


@contextmanager
def opened(bundle: Path, asset: Asset) -> Iterator[list[Entry]]:
    """The files in a folder or an archive; the file itself if the asset is a single file with this name."""
    with ExitStack() as open_files:
        try:
            entries = _entries(bundle, asset, open_files)
        except (OSError, *_BROKEN) as error:
            raise _unreadable(bundle, error) from error
        yield entries


def _entries(bundle: Path, asset: Asset, open_files: ExitStack) -> list[Entry]:
    if bundle.is_dir():
        return _folder(bundle)
    if not bundle.exists():
        raise BadInput(f"There is no file or folder {bundle} to take {asset.name} from; correct --from.")
    if (bundle.name,) in asset.forms:
        return [Entry(bundle, bundle.name, partial(_read, bundle))]
    if zipfile.is_zipfile(bundle):
        return _zipped(bundle, open_files.enter_context(zipfile.ZipFile(bundle)))
    file = open_files.enter_context(unpacked(bundle))
    if tarfile.is_tarfile(file):
        file.seek(0)
        return _tarred(bundle, open_files.enter_context(tarfile.open(fileobj=file, mode="r:")))
    raise BadInput(f"{bundle} is neither an archive nor a file of {asset.name}; name a folder with {asset.wanted}.")


def choose(asset: Asset, bundle: Path, names: Sequence[str]) -> dict[str, str] | None:
    """The entries to take, with their new names. They come from the topmost folder that holds a complete set."""
    known = set(names)
    for form in asset.forms:
        tops = {name.removesuffix(form[0]) for name in names if name == form[0] or name.endswith(f"/{form[0]}")}
        whole = [top for top in tops if all(top + file in known for file in form)]
        if whole:
            top = _uppermost(asset, bundle, whole)
            inside = {name: name.removeprefix(top) for name in names if name.startswith(top)}
            return {name: short for name, short in inside.items() if _wanted(short, form, asset.also)}
    return None


def _uppermost(asset: Asset, bundle: Path, tops: Sequence[str]) -> str:
    depth = min(top.count("/") for top in tops)
    upper = sorted(top for top in tops if top.count("/") == depth)
    if len(upper) > 1:  # a folder of several assets, perhaps from another machine
        upper = [top for top in upper if f"/{top}".endswith(f"/{asset.name}/")] or upper
    if len(upper) > 1:
        raise BadInput(
            f"{bundle} could hold {asset.name} in {upper[0]} or in {upper[1]}; name one of them with --from."
        )
    return upper[0]


def unpack(entries: Sequence[Entry], chosen: dict[str, str], into: Path) -> dict[str, File]:
    """Write the chosen entries into a folder. Returns the size and hash of each file."""
    written: dict[str, File] = {}
    total = 0
    for entry in entries:  # in the bundle's order: seeking back in a compressed file is slow
        if entry.name not in chosen:
            continue
        target = into / chosen[entry.name]
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with target.open("wb") as file:
            for block in entry.blocks():
                file.write(block)
                digest.update(block)
                size += len(block)
                total += len(block)
                if entry.bundle.is_file() and total > most(entry.bundle):
                    raise too_much(entry.bundle)
            file.flush()
            os.fsync(file.fileno())
        written[chosen[entry.name]] = File(size, digest.hexdigest())
    return written


def _wanted(name: str, form: Sequence[str], also: Sequence[str]) -> bool:
    return name in form or (name != NOTE and any(fnmatchcase(name, pattern) for pattern in also))


def _read(path: Path) -> IO[bytes]:
    return path.open("rb")


def _folder(folder: Path) -> list[Entry]:
    found = []
    for place, folders, files in os.walk(folder):  # follows links to files (the hub's cache has them), not to folders
        folders.sort()
        for name in sorted(files):
            path = Path(place, name)
            if path.is_file():
                found.append(Entry(folder, path.relative_to(folder).as_posix(), partial(_read, path)))
        if len(found) > MANY:
            raise BadInput(f"{folder} holds more than {MANY:,} files; name the folder that holds the asset itself.")
    return found


def _zipped(bundle: Path, zipped: zipfile.ZipFile) -> list[Entry]:
    members = [member for member in zipped.infolist() if not member.is_dir()]
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        _refuse_unsafe(bundle, member.filename, plain=kind in (0, stat.S_IFREG))
    return _distinct([Entry(bundle, _plain(member.filename), partial(zipped.open, member)) for member in members])


def _tarred(bundle: Path, tarred: tarfile.TarFile) -> list[Entry]:
    members = [member for member in tarred.getmembers() if not member.isdir()]
    for member in members:
        _refuse_unsafe(bundle, member.name, plain=member.isfile())

    def read(member: tarfile.TarInfo) -> IO[bytes]:
        file = tarred.extractfile(member)
        assert file is not None, "only plain files are entries"
        return file

    return _distinct([Entry(bundle, _plain(member.name), partial(read, member)) for member in members])


def _plain(name: str) -> str:
    return name.removeprefix("./")


def _refuse_unsafe(bundle: Path, name: str, *, plain: bool) -> None:
    if not plain:
        raise BadInput(f"{bundle} is not a safe archive: {name!r} in it is a link or a device.")
    parts = _plain(name).split("/")
    if "\\" in name or "\0" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise BadInput(f"{bundle} is not a safe archive: {name!r} in it leads out of its folder.")


def _distinct(entries: list[Entry]) -> list[Entry]:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise BadInput(f"{entry.bundle} is not a safe archive: {entry.name!r} is in it twice.")
        seen.add(entry.name)
    return entries


def _unreadable(bundle: Path, error: BaseException) -> BadInput:
    fault = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return BadInput(f"{bundle} cannot be read ({fault}); fetch it again or name another file with --from.")
