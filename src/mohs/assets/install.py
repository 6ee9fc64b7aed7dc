"""Installs an asset into the folder, completely or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from mohs.assets.asset import Archive, Asset
from mohs.assets.bundle import choose, opened, unpack
from mohs.assets.fetch import Watch, fetch
from mohs.assets.folder import NOTE, Note, damage, read_note, sha256_of
from mohs.assets.status import fetched, megabytes
from mohs.errors import BadInput, MohsError


@dataclass(frozen=True)
class Bundle:
    """Something to unpack: its path, its source, and whether it is the archive with the known hash."""

    path: Path
    source: str
    known: bool


def install(
    asset: Asset,
    root: Path,
    *,
    source: Path | None = None,
    force: bool = False,
    watch: Watch | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Path:
    """Fetch an asset, or take it from a local folder or file. Returns its folder.

    An asset that is already installed is left alone. A kill leaves nothing, a partial download that the next call
    resumes, or the complete asset.
    """
    watch = watch or Watch()
    if not force and _whole(asset, root):
        return root / asset.name
    if source is None:
        archive = _pinned(asset)
    with _writing(asset, root), _locked(asset, root):
        _tidy(asset, root)
        if not force and _whole(asset, root):
            return root / asset.name
        if source is not None:
            _unpack(asset, root, _local(asset, source))
        else:
            part = archive.part(root)
            url = fetch(archive, part, watch=watch, pause=pause)
            try:
                _unpack(asset, root, Bundle(part, url, known=True))
            except BadInput as error:  # the right archive, but unusable: a mistake in the table
                raise MohsError(f"{error} (This is a mistake in mohs's table of assets; please report it.)") from error
            part.unlink()
    return root / asset.name


def _whole(asset: Asset, root: Path) -> bool:
    note = read_note(asset, root)
    return note is not None and damage(asset, root, note) is None


def _pinned(asset: Asset) -> Archive:
    if asset.archive is not None and asset.pullable:
        return asset.archive
    if asset.archive is not None:
        raise BadInput(
            f"No checksum is known for {asset.name}, so mohs does not download it; download {asset.archive.urls[0]} "
            f"yourself and install it with `{asset.command}`."
        )
    if asset.hub is not None:
        raise BadInput(
            f"{asset.name} is a model on the hub, which transformers downloads when you name it as "
            f"hf:{asset.hub}; to install a copy, use `{asset.command}`."
        )
    raise BadInput(
        f"{asset.name} has no public address; install it with `{asset.command}`, where DIR holds {asset.wanted}."
    )


def _local(asset: Asset, source: Path) -> Bundle:
    """The bundle the user named: unpacked files, an archive, or a folder that holds the archive."""
    source = source.expanduser().absolute()
    archive = asset.archive
    if archive is not None and source.is_dir() and (source / archive.file).is_file():
        with opened(source, asset) as entries:
            unpacked = choose(asset, source, [entry.name for entry in entries]) is not None
        if not unpacked:
            source = source / archive.file
    if archive is None or archive.sha256 is None or not source.is_file() or (source.name,) in asset.forms:
        return Bundle(source, str(source), known=False)
    try:
        known = sha256_of(source) == archive.sha256
    except OSError as error:
        raise BadInput(f"{source} cannot be read ({error.strerror}); correct --from.") from error
    if not known and source.name == archive.file:
        raise BadInput(
            f"{source} is not the published {archive.file}: its sha256 is not {archive.sha256}; download it again."
        )
    return Bundle(source, str(source), known)


def _unpack(asset: Asset, root: Path, bundle: Bundle) -> None:
    """Unpack into a temporary folder, check it, write the note, and rename it into place."""
    beside = _beside(asset, root)
    with ExitStack() as undo:
        undo.callback(_remove, beside)
        beside.mkdir()
        with opened(bundle.path, asset) as entries:
            chosen = choose(asset, bundle.path, [entry.name for entry in entries])
            if chosen is None:
                raise BadInput(f"{bundle.path} does not hold {asset.name}; name a place that holds {asset.wanted}.")
            files = unpack(entries, chosen, beside)
        for name in sorted(asset.sums.keys() & files.keys()):
            if files[name].sha256 != asset.sums[name]:
                raise BadInput(
                    f"{name} in {bundle.path} is not the published file of {asset.name} (sha256 {files[name].sha256} "
                    f"instead of {asset.sums[name]}); download it again."
                )
        checked = files.keys() if bundle.known else asset.sums.keys() & files.keys()
        note = Note(asset.name, bundle.source, tuple(sorted(checked)), dict(sorted(files.items())))
        with (beside / NOTE).open("w", encoding="utf-8") as file:
            file.write(note.to_json())
            file.flush()
            os.fsync(file.fileno())
        _swap(asset, root)


def _swap(asset: Asset, root: Path) -> None:
    place, old = root / asset.name, _old(asset, root)
    if os.path.lexists(place):
        place.rename(old)  # _tidy repairs a kill before the next line
    _beside(asset, root).rename(place)
    _remove(old)


def _tidy(asset: Asset, root: Path) -> None:
    """Remove what a killed pull left. We hold the lock, so no other process uses it."""
    place, old = root / asset.name, _old(asset, root)
    if os.path.lexists(old) and not os.path.lexists(place):
        old.rename(place)
    _remove(old)
    _remove(_beside(asset, root))


def _beside(asset: Asset, root: Path) -> Path:
    return root / f".{asset.name}.new"


def _old(asset: Asset, root: Path) -> Path:
    return root / f".{asset.name}.old"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _locked(asset: Asset, root: Path) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True)
    with (root / f".{asset.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"Another process is pulling {asset.name} into {root}; wait for it.") from None
        yield


@contextmanager
def _writing(asset: Asset, root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise BadInput(
                f"The assets folder {root} cannot be written ({error.strerror}); choose another with MOHS_ASSETS."
            ) from error
        kept = fetched(asset, root)
        keeping = f"; {megabytes(kept)} are kept" if kept else ""
        raise MohsError(
            f"There is no room in {root} for {asset.name}{keeping}; make room, or choose another folder with "
            "MOHS_ASSETS, and run the same command again."
        ) from error
