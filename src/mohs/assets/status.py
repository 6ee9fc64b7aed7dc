"""The status of an asset on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mohs.assets.asset import Asset
from mohs.assets.folder import Note, damage, read_note


@dataclass(frozen=True)
class Status:
    """An asset's entry in the table and what is installed, as printed by `mohs assets list --json`."""

    name: str
    kind: str
    about: str
    licence: str
    used_by: str
    bytes: int | None  # installed size, or else the download size if known
    sha256: str | None
    urls: tuple[str, ...]
    command: str
    state: str  # in words
    path: str | None = None
    checked: tuple[str, ...] = ()
    fingerprint: str | None = None

    @property
    def installed(self) -> bool:
        """Whether it is installed and undamaged."""
        return self.path is not None


def status(asset: Asset, root: Path) -> Status:
    """The status of this asset in this folder."""
    note = read_note(asset, root)
    whole = note if note and damage(asset, root, note) is None else None
    return Status(
        name=asset.name,
        kind=asset.kind,
        about=asset.about,
        licence=asset.licence,
        used_by=asset.used_by,
        bytes=whole.size if whole else asset.bytes,
        sha256=asset.archive.sha256 if asset.archive else None,
        urls=asset.addresses,
        command=asset.command,
        state=_words(asset, root, note, whole),
        path=str(root / asset.name) if whole else None,
        checked=whole.checked if whole else (),
        fingerprint=whole.fingerprint if whole else None,
    )


def _words(asset: Asset, root: Path, note: Note | None, whole: Note | None) -> str:
    if whole:
        return "installed"
    if note:
        return "damaged"
    if asset.archive is None:
        return "fetched by transformers" if asset.hub else "only with --from"
    if asset.archive.sha256 is None:
        return "no checksum known: only with --from"
    kept = fetched(asset, root)
    return f"{megabytes(kept)} fetched" if kept else "not installed"


def fetched(asset: Asset, root: Path) -> int:
    """The size of an interrupted download in bytes."""
    try:
        return asset.archive.part(root).stat().st_size if asset.archive else 0
    except OSError:
        return 0


def megabytes(size: int) -> str:
    """A size in megabytes, for people."""
    return f"{size / 1e6:,.1f} MB"
