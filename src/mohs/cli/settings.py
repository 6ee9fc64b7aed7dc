"""Turns settings classes into the options of a command, and the values typed into settings objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Annotated, Any

import typer

from mohs.cli.options import Config, Json, TrustConfig, Verbose, refuse_code
from mohs.tasks.option import Option, options_of

_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "Path": Path}

Found = tuple[Field[Any], Option]


def command(classes: Iterable[type], run: Callable[..., None], about: str, first: Iterable[str] = ()) -> Any:
    """A function for typer whose parameters are the options of settings classes; those in `first` come first.

    It calls `run` with one object of each class, and with json and verbose.
    """
    classes = list(classes)
    found: dict[str, Found] = {f.name: (f, told) for kind in classes for f, told in options_of(kind) if told.command}
    names = [*first, *(name for name in found if name not in first)]
    parameters = [_parameter(*found[name]) for name in names]
    shared = (("config", Config), ("trust_config", TrustConfig), ("json", Json), ("verbose", Verbose))
    parameters += [_shared(name, kind) for name, kind in shared]
    parameters.append(_made("context", typer.Context, inspect.Parameter.empty))

    def call(
        *, context: typer.Context, config: Path | None, trust_config: bool, json: bool, verbose: bool, **values: Any
    ) -> None:
        if config is not None and not trust_config:
            refuse_code(context)
        run(*(object_of(kind, values) for kind in classes), json=json, verbose=verbose)

    call.__doc__ = about
    call.__name__ = run.__name__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def object_of(kind: type, values: dict[str, Any]) -> Any:
    """An object of a settings class, from the values typed."""
    return kind(**{f.name: _read(f, told, values[f.name]) for f, told in options_of(kind) if f.name in values})


def help_of(docstring: str | None) -> str:
    """The help of a command: a docstring up to its Python code. Lines under "Examples:" are not rewrapped."""
    text = inspect.cleandoc(docstring or "").partition(">>>")[0].rstrip()
    return text.replace("\n\nExamples:\n", "\n\n\b\nExamples:\n")


def _parameter(f: Field[Any], told: Option) -> inspect.Parameter:
    kinds = str(f.type).split(" | ")
    kind: Any = str if "str" in kinds else next((_TYPES[part] for part in kinds if part in _TYPES), str)
    default = None if f.default is MISSING else f.default
    if told.read is not None:
        kind = str
    settings: dict[str, Any] = {"help": told.help, "metavar": told.metavar}
    if told.argument and told.many:
        return _made(f.name, Annotated[list[str], typer.Argument(**settings)], inspect.Parameter.empty)
    if told.argument:
        return _made(f.name, Annotated[kind, typer.Argument(**settings)], inspect.Parameter.empty)
    if told.least is not None:
        settings["min"] = told.least
    if told.shown is not None:
        settings["show_default"] = told.shown
    flags = told.flags or (f"--{f.name.replace('_', '-')}",)
    if told.many:
        kind = list[str]
        default = list(default) if default else None
    elif isinstance(default, tuple):
        default = None
    if default is None and not told.many:
        kind = kind | None
    elif default is None:
        kind = list[str] | None
    return _made(f.name, Annotated[kind, typer.Option(*flags, **settings)], default)


def _shared(name: str, annotation: Any) -> inspect.Parameter:
    return _made(name, annotation, None if name == "config" else False)


def _made(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _read(f: Field[Any], told: Option, value: Any) -> Any:
    if value is None:
        return f.default
    if told.read is not None:
        return told.read(value)
    return tuple(value) if told.many else value
