"""Loads a class from the user's own Python file: an attack, a source or a measure."""

from __future__ import annotations

import hashlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from mohs.errors import BadInput, instead


def named_in(place: str, name: str, what: str) -> Any:
    """The object with this name in a Python file. Runs the file, as an import would."""
    path = Path(place).expanduser()
    if not path.is_file():
        raise BadInput(f"There is no file {place}; name {what} of your own as path/to/file.py:CLASS.")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    module_name = f"mohs_own_{digest}"  # dataclasses look up their module by name
    if module_name not in sys.modules:
        found = spec_from_file_location(module_name, path)
        assert found is not None
        assert found.loader is not None
        sys.modules[module_name] = module_from_spec(found)
        try:
            found.loader.exec_module(sys.modules[module_name])
        except (Exception, SystemExit) as error:  # the user's file may raise anything
            del sys.modules[module_name]
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise BadInput(f"{place} cannot be read as Python: {reason}") from error
    module = sys.modules[module_name]
    if not hasattr(module, name):
        raise BadInput(f"{place} has no class {name!r}{instead(name, module)}.")
    return getattr(module, name)
