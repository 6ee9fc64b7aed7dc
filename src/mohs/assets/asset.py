"""What an asset is: a published resource that the package does not ship, and how to recognise it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["vectors", "wordnet", "sememes", "thesaurus", "encoder", "masked-lm", "lm", "tagger-model"]


@dataclass(frozen=True)
class Archive:
    """A file as its authors publish it: where it is, and how to know that it is the right one."""

    file: str
    urls: tuple[str, ...]  # the same bytes at each; tried in order
    size: int | None  # None: not known
    sha256: str | None  # None: not known, so that it is never fetched, only taken from the user

    def part(self, root: Path) -> Path:
        """Where a download grows; named after the archive, so that another version begins another part."""
        return root / f"{self.file}.part"


@dataclass(frozen=True)
class Asset:
    """A resource by name."""

    name: str
    kind: Kind
    about: str
    licence: str
    used_by: str
    forms: tuple[tuple[str, ...], ...]  # the files it needs; any one of these sets will do
    also: tuple[str, ...] = ()  # patterns of files that come along if they are there
    archive: Archive | None = None
    hub: str | None = None  # the model's name on the Hugging Face hub, from where transformers fetches it
    size: int | None = None  # about how much the hub will send
    sums: Mapping[str, str] = field(default_factory=dict)  # sha256 of files in it, where known

    @property
    def pullable(self) -> bool:
        """Whether it can be fetched and checked without the user's help."""
        return self.archive is not None and self.archive.sha256 is not None

    @property
    def command(self) -> str:
        """What to type to get it."""
        return f"mohs assets pull {self.name}" + ("" if self.pullable else " --from DIR")

    @property
    def bytes(self) -> int | None:
        """How much is fetched, where known."""
        return self.archive.size if self.archive else self.size

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it is published."""
        if self.archive:
            return self.archive.urls
        return (f"https://huggingface.co/{self.hub}",) if self.hub else ()

    @property
    def wanted(self) -> str:
        """The files it needs, in words."""
        return ", or ".join(" and ".join(form) if len(form) < 3 else ", ".join(form) for form in self.forms)
