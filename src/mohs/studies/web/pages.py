"""Makes pages from templates. All inserted text is escaped."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from fastapi.responses import Response
from jinja2 import Environment, FunctionLoader, StrictUndefined

from mohs.studies.marking import pieces
from mohs.studies.platforms import paragraphs

_FOLDER = resources.files("mohs.studies.web")
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


class Pages:
    """The templates and static files. prefix: what stands before all paths, if the app is not at the site's root."""

    def __init__(self, prefix: str, **known: Any) -> None:
        folder = _FOLDER / "static"
        self.static = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.split(".")[-1] in _TYPES}
        version = hashlib.sha256(b"".join(self.static[name] for name in sorted(self.static))).hexdigest()[:12]
        self._environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            loader=FunctionLoader(lambda name: (_FOLDER / "templates" / name).read_text("utf-8")),
        )
        self._environment.filters["paragraphs"] = paragraphs
        self._environment.globals.update(known, prefix=prefix, version=version, pieces=pieces)

    def page(self, name: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any) -> Response:
        """A page, named by its template."""
        text = self._environment.get_template(f"{name}.html.j2").render(values)
        # Texts may hold half of a surrogate pair, which has no encoding.
        return Response(text.encode("utf-8", "replace"), status, headers, "text/html; charset=utf-8")

    def file(self, name: str) -> Response | None:
        """A static file. Its address changes with its content, so it may be kept."""
        if name not in self.static:
            return None
        media = f"{_TYPES[name.split('.')[-1]]}; charset=utf-8"
        return Response(self.static[name], 200, {"cache-control": "public, max-age=31536000, immutable"}, media)
