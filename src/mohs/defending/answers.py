"""defend.jsonl: what defended victims said about texts. A second reading, or one after a kill, takes it from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from mohs.assets.writing import opened_for_writing, refuse_special
from mohs.errors import MohsError
from mohs.models.victim import Fields, Scores, Victim, is_scores, traits_of
from mohs.records.integrity import checksum_of
from mohs.runs.asking import asked

JOURNAL = "defend.jsonl"


def digest_of(fields: Fields) -> str:
    """Under what a text is kept."""
    return hashlib.sha256(json.dumps(fields, ensure_ascii=True).encode()).hexdigest()[:24]


class Answers:
    """The answers of victims with fixed keys, by victim and text. In memory, and in a file if there is a folder.

    Errors are not kept: a text that could not be read is asked about again the next time.
    """

    def __init__(self, folder: Path | None) -> None:
        self.broken = 0  # lines that could not be read
        self._known: dict[tuple[str, str], Scores] = {}
        self._path = folder / JOURNAL if folder else None
        self._file: IO[str] | None = None
        self._cut = False  # the last line has no end
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def _read(self, path: Path) -> None:
        refuse_special(path)
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError as error:
            raise MohsError(f"{path} cannot be read ({error.strerror}); move it away to ask again.") from error
        self._cut = bool(text) and not text.endswith("\n")
        for line in text.split("\n"):
            if not line.strip():
                continue
            try:
                victim, digest, scores, checksum = json.loads(line)
                found = tuple(scores)
                if checksum != checksum_of(victim, digest, json.dumps(scores)) or not is_scores(found, len(found)):
                    raise ValueError
            except (ValueError, TypeError, RecursionError):
                self.broken += 1
                continue
            self._known[str(victim), str(digest)] = found

    def of(self, victim: Victim, texts: Iterable[Fields], tell: Callable[[int], None]) -> dict[Fields, Scores | str]:
        """A victim's scores for texts, or its error. What is not known is asked, and kept at once.

        tell: called with the number of texts after each part.
        """
        final = traits_of(victim).verdict or victim
        found: dict[Fields, Scores | str] = {}
        missing = []
        for text in dict.fromkeys(texts):
            if (known := self._known.get((final.fingerprint, digest_of(text)))) is not None:
                found[text] = known
            else:
                missing.append(text)
        tell(len(found))
        for some in asked(victim, missing):
            found |= some
            self._keep(final.fingerprint, some)
            tell(len(some))
        return found

    def _keep(self, victim: str, answers: dict[Fields, Scores | str]) -> None:
        good = {digest_of(text): scores for text, scores in answers.items() if not isinstance(scores, str)}
        self._known |= {(victim, digest): scores for digest, scores in good.items()}
        if self._path is None or not good:
            return
        try:
            if self._file is None:
                self._file = opened_for_writing(self._path, "a", encoding="utf-8")
                if self._cut:
                    self._file.write("\n")
            for digest, scores in good.items():
                told = json.dumps(scores)
                self._file.write(json.dumps([victim, digest, scores, checksum_of(victim, digest, told)]) + "\n")
            self._file.flush()
        except OSError as error:
            raise MohsError(
                f"{self._path} cannot be written ({error.strerror}); make room, then run the same command again."
            ) from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
