"""The folder of installed assets: one folder an asset, with a note of what is in it."""

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
    """What `asset.json` says: where the files came from, their hashes, and which were compared with a known one."""

    name: str
    source: str
    checked: tuple[str, ...]
    files: Mapping[str, File]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files.values())

    @property
    def fingerprint(self) -> str:
        """A hash of names and contents; not of where they came from."""
        lines = "".join(f"{file.sha256}  {name}\n" for name, file in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    def to_json(self) -> str:
        """As the file's text."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def assets_folder() -> Path:
    """`$MOHS_ASSETS`, or a folder in the user's cache."""
    if chosen := os.environ.get("MOHS_ASSETS"):
        return Path(chosen).expanduser().absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():  # unset, or to be ignored by the XDG specification
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            raise BadInput("There is no home folder to keep assets in; name a folder in MOHS_ASSETS.") from None
    return cache / "mohs" / "assets"


def read_note(asset: Asset, root: Path) -> Note | None:
    """The note of an installed asset; None if it is not there, or its note cannot be read."""
    try:
        found = json.loads((root / asset.name / NOTE).read_text("utf-8"))
        files = {str(name): File(int(file["size"]), str(file["sha256"])) for name, file in found["files"].items()}
        return Note(str(found["name"]), str(found["source"]), tuple(map(str, found["checked"])), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def damage(asset: Asset, root: Path, note: Note) -> str | None:
    """The first file that is not there as noted, by its size: a look that costs nothing."""
    for name, file in note.files.items():
        try:
            if (root / asset.name / name).stat().st_size != file.size:
                return f"{name} has another size than noted"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return None


def rotten(asset: Asset, root: Path, note: Note) -> str | None:
    """The first file whose content is not as noted: every byte is read."""
    if problem := damage(asset, root, note):
        return problem
    for name, file in note.files.items():
        try:
            if sha256_of(root / asset.name / name) != file.sha256:
                return f"{name} has another sha256 than noted"
        except OSError as error:
            return f"{name}: {error.strerror}"
    return None


def sha256_of(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require(asset: Asset, root: Path) -> tuple[Path, Note]:
    """An asset's folder and note, or the sentence that says how to get it."""
    note = read_note(asset, root)
    if note is None:
        if asset.hub:
            remedy = (
                f"transformers fetches it by itself where it is named hf:{asset.hub}, or install a copy with "
                f"`{asset.command}`"
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
