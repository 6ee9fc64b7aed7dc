"""Options that all commands share, and reading options from a YAML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mohs.errors import BadInput
from mohs.tasks.reading import joined

_CODE = "mohs.cli.code"  # where a context keeps what a config names as code, by option


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read defaults from a YAML file or a run's manifest; flags on the command line override them."""
    if path is None or context.resilient_parsing:
        return path
    import yaml

    from mohs.records.limited_yaml import read_yaml
    from mohs.runs.trust import runs_code

    try:
        found: Any = read_yaml(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The config file {path} cannot be read ({getattr(error, 'strerror', None) or error})."
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not YAML ({' '.join(str(error).split())}).") from error
    if isinstance(found, dict) and isinstance(found.get("config"), dict):
        made = str(found.get("command", context.info_name))  # a run's manifest
        if made != context.info_name:
            raise BadInput(f"{path} is the manifest of a `mohs {made}` run; use it with `mohs {made}`.")
        from mohs.records.store import current

        found = current(found)["config"]
    if found is None:
        found = {}
    if not isinstance(found, dict):
        raise BadInput(f"{path} must have options as `name: value` lines.")
    known = {}
    for parameter in context.command.params:
        if parameter.name not in ("config", "trust_config"):
            flags = [option.lstrip("-").replace("-", "_") for option in parameter.opts if option.startswith("--")]
            known.update(dict.fromkeys([str(parameter.name), *flags], parameter))
    defaults: dict[str, Any] = {}
    for raw, value in found.items():
        name = "on" if raw is True else str(raw).replace("-", "_")  # YAML reads a bare `on` as true
        if name.startswith("trust_") and value:
            raise BadInput(
                f"{path} sets {str(raw)!r}, but only the command line can say what is trusted; take it out of the file "
                f"and add --{name.replace('_', '-')} if you trust it."
            )
        if name not in known:
            raise BadInput(f"{path} has the unknown option {raw!r}; known are {', '.join(sorted(map(str, known)))}.")
        if value is None:
            continue
        parameter = known[name]
        several = bool(getattr(parameter, "multiple", False))
        if isinstance(value, bool) and not getattr(parameter, "is_flag", False):
            raise BadInput(f"{path} sets {raw!r} to {value}; if you mean a word, put it in quotation marks.")
        if isinstance(value, list) and any(isinstance(part, bool) for part in value):
            raise BadInput(f"{path} has a bare yes, no, true or false in {raw!r}; put such names in quotation marks.")
        if isinstance(value, dict):
            value = [f"{key}={part}" for key, part in value.items()]
        named = [str(part) for part in (value if isinstance(value, list) else [value]) if runs_code(str(part))]
        if named:
            context.meta.setdefault(_CODE, {})[str(parameter.name)] = (path, named[0])
        if isinstance(value, list):
            parts = [str(part) for part in value]
            defaults[str(parameter.name)] = parts if several else joined(parts)
        else:
            defaults[str(parameter.name)] = [str(value)] if several else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def refuse_code(context: typer.Context) -> None:
    """Refuse a config that names code to run, unless the command line overrides that option."""
    for name, (path, value) in context.meta.get(_CODE, {}).items():
        source = context.get_parameter_source(name)
        if source is not None and source.name != "COMMANDLINE":
            raise BadInput(
                f"{path} names code to run ({value}); if you trust it, add --trust-config, or give that option on the "
                "command line."
            )


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        metavar="FILE",
        help="Read options from a YAML file or a run's manifest; flags override them.",
    ),
]
TrustConfig = Annotated[
    bool, typer.Option("--trust-config", help="Run code that --config names: python: victims, FILE.py:CLASS.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more details.")]
