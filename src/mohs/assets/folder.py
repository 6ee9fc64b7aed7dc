"""The folder of installed assets: one subfolder per asset, with a note of its files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from mohs.assets.asset import Asset
from mohs.errors import BadInput

NOTE = "asset.json"


@dataclass(frozen=True)
class File:
    """One installed file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Note:
    """The content of `asset.json`: the source of the files, their hashes, and which hashes were checked."""

    name: str
    source: str
    checked: tuple[str, ...]
    files: Mapping[str, File]

    @property
    def size(self) -> int:
        """The total size of all files in bytes."""
        return sum(file.size for file in self.files.values())

    @property
    def fingerprint(self) -> str:
        """A hash of names and contents. It does not depend on the source."""
        lines = "".join(f"{file.sha256}  {name}\n" for name, file in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    def to_json(self) -> str:
        """The text of `asset.json`."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def assets_folder() -> Path:
    """`$MOHS_ASSETS`, or a folder in the user's cache."""
    if chosen := os.environ.get("MOHS_ASSETS"):
        return Path(chosen).expanduser().absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():  # unset, or relative, which the XDG specification says to ignore
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            raise BadInput("There is no home folder to keep assets in; name a folder in MOHS_ASSETS.") from None
    return cache / "mohs" / "assets"


def read_note(asset: Asset, root: Path) -> Note | None:
    """The note of an installed asset; None if it is not installed or its note cannot be read."""
    try:
        found = json.loads((root / asset.name / NOTE).read_text("utf-8"))
        files = {str(name): File(int(file["size"]), str(file["sha256"])) for name, file in found["files"].items()}
        return Note(str(found["name"]), str(found["source"]), tuple(map(str, found["checked"])), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def damage(asset: Asset, root: Path, note: Note) -> str | None:
    """The first file that is missing or has the wrong size. Fast: no file is read."""
    for name, file in note.files.items():
        try:
            if (root / asset.name / name).stat().st_size != file.size:
                return f"{name} does not have the size noted at installation"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return None


def rotten(asset: Asset, root: Path, note: Note) -> str | None:
    """The first file whose content has changed. Slow: every byte is read."""
    if problem := damage(asset, root, note):
        return problem
    for name, file in note.files.items():
        try:
            if sha256_of(root / asset.name / name) != file.sha256:
                return f"{name} does not have the sha256 noted at installation"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return None


def sha256_of(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(asset: Asset, root: Path) -> tuple[Path, Note]:
    """An asset's folder and note. BadInput says how to get an asset that is missing or damaged."""
    note = read_note(asset, root)
    if note is None:
        if asset.hub:
            remedy = (
                f"name it as hf:{asset.hub} and transformers downloads it, or install a copy with `{asset.command}`"
            )
        elif asset.pullable:
            remedy = f"get it with `{asset.command}`"
        else:
            remedy = f"get it with `{asset.command}`, where DIR holds {asset.wanted}"
        raise BadInput(f"The asset {asset.name} is not in {root}; {remedy}.")
    if problem := damage(asset, root, note):
        raise BadInput(
            f"The asset {asset.name} in {root} is damaged ({problem}); get it again with `{asset.command} --force`."
        )
    return root / asset.name, note
