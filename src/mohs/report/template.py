"""How a page is made: templates here and in the folders, text that cannot become markup, one file at the end."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mohs.errors import MohsError


def rendered(name: str, **values: Any) -> str:
    """A template filled in, by its path in the folder of reports; whatever is not a template's own is escaped."""
    folder = resources.files("mohs.report")
    page = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda template: folder.joinpath(template).read_text("utf-8")),
    )
    return page.get_template(name).render(values)


def embedded(value: Any) -> Markup:
    """JSON that no HTML parser can take for markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}))


def written(page: str, path: Path) -> Path:
    """The page on disk; what stood there before stays until all of it is written."""
    special = path.exists() and not path.is_file()  # a pipe or a device cannot be renamed onto
    target = path if special else path.parent / f"{path.name}.part"
    try:
        target.write_bytes(page.encode("utf-8", "backslashreplace"))
        if not special:
            target.replace(path)
    except OSError as error:
        if not special and target.is_file():
            target.unlink(missing_ok=True)
        raise MohsError(
            f"{path} cannot be written ({error.strerror or error}); the run itself is untouched."
        ) from error
    return path
