"""Printing for people and for machines: names, ids and errors come from data and victims, and may hold escape codes."""

from __future__ import annotations

import sys
from json import dumps
from typing import Any


def say(text: object, *, error: bool = False) -> None:
    """Print a line without control characters, on standard output or standard error."""
    from mohs.report.terminal import printable

    print(printable(str(text)), file=sys.stderr if error else sys.stdout)


def say_json(value: Any) -> None:
    """Print JSON on standard output, in ASCII: all control characters are escaped, and every terminal can show it."""
    print(dumps(value).replace("\x7f", "\\u007f"))


class Terminal:
    """Standard output for a table of records: on a terminal without control characters, elsewhere as it is."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._shown = stream.isatty()

    def write(self, text: str) -> int:
        """Write a part of the table."""
        from mohs.report.terminal import printable

        self._stream.write(printable(text.replace("\r\n", "\n")) if self._shown else text)
        return len(text)

    def flush(self) -> None:
        """Write what is left."""
        self._stream.flush()
