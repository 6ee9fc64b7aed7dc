"""An asset: a published resource that the package does not ship, and how to recognise it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["vectors", "wordnet", "sememes", "thesaurus", "encoder", "masked-lm", "lm", "tagger-model"]


@dataclass(frozen=True)
class Archive:
    """A published file: its addresses, and the size and hash that identify it."""

    file: str
    urls: tuple[str, ...]  # all serve the same bytes; tried in order
    size: int | None  # None: unknown
    sha256: str | None  # None: unknown, so the file is never fetched, only installed from the user's copy

    def part(self, root: Path) -> Path:
        """The partial download. It is named after the archive, so another version starts a new one."""
        return root / f"{self.file}.part"


@dataclass(frozen=True)
class Asset:
    """One resource: its name, its files and where to get them."""

    name: str
    kind: Kind
    about: str
    licence: str
    used_by: str
    forms: tuple[tuple[str, ...], ...]  # sets of required files; any one set is enough
    also: tuple[str, ...] = ()  # patterns of optional files, installed if present
    archive: Archive | None = None
    hub: str | None = None  # the model's name on the Hugging Face hub; transformers downloads it
    size: int | None = None  # approximate download size from the hub
    sums: Mapping[str, str] = field(default_factory=dict)  # sha256 of its files, where known

    @property
    def pullable(self) -> bool:
        """Whether it can be fetched and checked without the user's help."""
        return self.archive is not None and self.archive.sha256 is not None

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"mohs assets pull {self.name}" + ("" if self.pullable else " --from DIR")

    @property
    def bytes(self) -> int | None:
        """The download size, if known."""
        return self.archive.size if self.archive else self.size

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it is published."""
        if self.archive:
            return self.archive.urls
        return (f"https://huggingface.co/{self.hub}",) if self.hub else ()

    @property
    def wanted(self) -> str:
        """The required files, in words."""
        return ", or ".join(" and ".join(form) if len(form) < 3 else ", ".join(form) for form in self.forms)
