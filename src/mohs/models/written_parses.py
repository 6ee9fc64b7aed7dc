"""Parses that were made elsewhere and written to a file: `parses:FILE`.

For machines without spaCy, and for parsers that mohs does not know. A line is a JSON object: `text`, and `tokens`, each
a list of what `ParsedToken` holds, in its order. A file may be gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mohs.engine import AtOnce
from mohs.errors import BadInput
from mohs.text.parses import Parse, ParsedToken, depths

_KINDS = (str, int, int, int, str, str, str, str, str)  # of the fields of a ParsedToken
_SHOWN = 60  # characters of a text in a message


class WrittenParser(AtOnce):
    """Looks parses up in a file. A text that is not in it is an error of its example."""

    def __init__(self, path: str | Path) -> None:
        content = _content(Path(path))
        self.name = f"parses:{path}"
        self.fingerprint = f"parses-{hashlib.sha256(content).hexdigest()[:16]}"
        self._path = path
        self._parses: Mapping[str, Parse] = dict(_read(content, path))
        if not self._parses:
            raise BadInput(f"{path} has no parses; write some.")
        self.known = next(iter(self._parses))  # a text that it answers

    def collect(self, ticket: list[str]) -> list[Parse]:
        """The parses of these strings."""
        return [self._parse(text) for text in ticket]

    def _parse(self, text: str) -> Parse:
        if text not in self._parses:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
            raise BadInput(f"{self._path} has no parse of {shown!r}; add it, or use another parser.")
        return self._parses[text]


def write_parses(parser: Any, texts: Iterable[str], path: str | Path) -> int:
    """Parse each text once and write a file for `parses:FILE`. Returns how many there are."""
    wanted = list(dict.fromkeys(texts))
    lines: dict[str, str] = {}
    for batch in parser.plan(wanted):
        for text, parse in zip(batch, parser.collect(parser.launch(batch)), strict=True):
            lines[text] = json.dumps({"text": text, "tokens": parse}, ensure_ascii=False)
    content = "".join(f"{lines[text]}\n" for text in wanted).encode("utf-8", "surrogatepass")
    Path(path).write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)
    return len(wanted)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"The parses {path} cannot be read ({reason}); name a file of parses.") from error


def _read(content: bytes, path: str | Path) -> Iterable[tuple[str, Parse]]:
    try:
        text = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BadInput(f"The parses {path} are not UTF-8 ({error}); name a file of parses.") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield row["text"], _checked(row["text"], row["tokens"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(
                f"Line {number} of {path} is no parse ({type(error).__name__}: {error}); a line is an object with "
                "`text` and `tokens`."
            ) from error


def _checked(text: str, tokens: Any) -> Parse:
    """The tokens of a line; raises ValueError if they do not fit the text."""
    found = []
    for one in tokens:
        if len(one) != len(_KINDS) or any(type(value) is not kind for value, kind in zip(one, _KINDS, strict=True)):
            raise ValueError(f"{one!r} is no token")
        token = ParsedToken(*one)
        if text[token.start : token.end] != token.text or not 0 <= token.start < token.end:
            raise ValueError(f"{token.text!r} does not stand at {token.start} to {token.end}")
        if not 0 <= token.head < len(tokens):
            raise ValueError(f"the head of {token.text!r} is {token.head}")
        found.append(token)
    depths(found)  # no heads that go round in a circle
    return tuple(found)
