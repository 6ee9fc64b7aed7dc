"""Finds and reads the files of a word book, plain or gzipped. Every problem becomes a one-sentence error."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mohs.assets.limits import gunzipped
from mohs.errors import BadInput

_NOT_BOOKS = ("asset.json",)  # other files in the folder of an installed asset


def only_file(path: Path, endings: tuple[str, ...]) -> Path:
    """The path itself; for a folder, the only file in it with one of these endings."""
    try:
        if path.is_dir():
            found = sorted(file for file in path.iterdir() if file.name.lower().endswith(endings))
            found = [file for file in found if file.is_file() and file.name not in _NOT_BOOKS]
            if len(found) != 1:
                names = ", ".join(file.name for file in found[:4]) or "none"
                raise BadInput(
                    f"The folder {path} must hold one file that ends in {' or '.join(endings)}, but holds {names}."
                )
            return found[0]
        if not path.is_file():
            raise BadInput(f"There is no file {path}; correct its name.")
    except OSError as error:  # for example a name that is too long, or no permission
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); check its name and permissions.") from error
    return path


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, which may be gzipped."""
    try:
        if path.suffix.lower() == ".gz":
            with gunzipped(path) as stream:
                return stream.read().decode("utf-8-sig")
        return path.read_bytes().decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path} is not a complete gzip file ({error}); copy or compress it again.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 (byte {error.start}); convert it to UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); check its permissions.") from error


def parse_json(path: Path, text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The JSON value of a text; `pairs` is the object_pairs_hook of json.loads."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON ({error}); fix it there or write it again.") from error


def kind_of(path: Path) -> str:
    """A file's ending in lower case, without .gz."""
    inner = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()
