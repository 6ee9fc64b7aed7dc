"""Options that several commands share, and reading them from a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mohs.errors import BadInput


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take defaults from a YAML file, or from the manifest of a run; flags on the command line win."""
    if path is None or context.resilient_parsing:
        return path
    import yaml

    try:
        found: Any = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The config file {path} cannot be read ({getattr(error, 'strerror', None) or error})."
        ) from error
    except yaml.YAMLError as error:
        raise BadInput(f"{path} is not YAML ({' '.join(str(error).split())}).") from error
    if isinstance(found, dict) and isinstance(found.get("config"), dict):
        found = found["config"]  # a run's manifest
    if not isinstance(found, dict):
        raise BadInput(f"{path} must hold options as `name: value` lines.")
    known = {parameter.name: parameter for parameter in context.command.params if parameter.name != "config"}
    defaults: dict[str, Any] = {}
    for raw, value in found.items():
        name = str(raw).replace("-", "_")
        if name not in known:
            raise BadInput(f"{path} has the unknown option {raw!r}; known are {', '.join(sorted(map(str, known)))}.")
        if value is None:
            continue
        several = bool(getattr(known[name], "multiple", False))
        if isinstance(value, dict):
            value = [f"{key}={part}" for key, part in value.items()]
        if isinstance(value, list):
            defaults[name] = [str(part) for part in value] if several else ",".join(map(str, value))
        else:
            defaults[name] = [str(value)] if several else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        metavar="FILE",
        help="Take options from a YAML file or a run's manifest; flags override it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more about what happened.")]


def comma(value: str | None) -> tuple[str, ...]:
    """`a,b` as a tuple."""
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


def pairs(values: list[str] | None) -> dict[str, str]:
    """`NAME=VALUE` options as a dict."""
    found = {}
    for value in values or []:
        name, equals, rest = value.partition("=")
        if not equals or not name:
            raise BadInput(f"Victim option {value!r} is not of the form NAME=VALUE.")
        found[name.strip()] = rest
    return found
