"""Makes a page from templates: all inserted text is escaped, and the result is one file."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mohs.assets.writing import is_special, opened_for_writing
from mohs.errors import MohsError
from mohs.report.names import breakable, unbroken


def rendered(name: str, **values: Any) -> str:
    """Fill in a template, named by its path inside `mohs/report`. All values are escaped."""
    folder = resources.files("mohs.report")
    page = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda template: folder.joinpath(template).read_text("utf-8")),
    )
    page.filters |= {"breakable": breakable, "unbroken": unbroken}
    return page.get_template(name).render(values)


def embedded(value: Any) -> Markup:
    """JSON that no HTML parser can mistake for markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}))


def written(page: str, path: Path) -> Path:
    """Write the page to disk. An older file stays until the new one is complete."""
    special = is_special(path)
    target = path if special else path.parent / f"{path.name}.part"
    try:
        with opened_for_writing(target, "wb", special=special) as file:
            file.write(page.encode("utf-8", "backslashreplace"))
        if not special:
            target.replace(path)
    except OSError as error:
        if not special and target.is_file():
            target.unlink(missing_ok=True)
        raise MohsError(
            f"{path} cannot be written ({error.strerror or error}); the run itself is untouched."
        ) from error
    return path
