"""Files that hold a word book: found in a folder, read plain or gzipped, with one sentence for what is wrong."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

_NOT_BOOKS = ("asset.json",)  # what comes along in the folder of an installed asset


def only_file(path: Path, endings: tuple[str, ...]) -> Path:
    """The path itself; for a folder, the one file in it with such an ending."""
    try:
        if path.is_dir():
            found = sorted(file for file in path.iterdir() if file.name.lower().endswith(endings))
            found = [file for file in found if file.is_file() and file.name not in _NOT_BOOKS]
            if len(found) != 1:
                names = ", ".join(file.name for file in found[:4]) or "none"
                raise BadInput(
                    f"The folder {path} should hold one file with {' or '.join(endings)}, and holds {names}."
                )
            return found[0]
        if not path.is_file():
            raise BadInput(f"There is no file {path}; correct its name.")
    except OSError as error:  # for example a name that is too long to be one, or a folder of somebody else's
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); check its name and permissions.") from error
    return path


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, which may be gzipped."""
    try:
        content = path.read_bytes()
        if path.suffix.lower() == ".gz":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path} is not a whole gzip file ({error}); copy or pack it again.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 (byte {error.start}); convert it to UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); check its permissions.") from error


def parse_json(path: Path, text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The JSON value of a text; `pairs` makes something of each object, as in json.loads."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON ({error}); mend it there or write it again.") from error


def kind_of(path: Path) -> str:
    """A file's ending in lower case, that of .gz left off."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()
