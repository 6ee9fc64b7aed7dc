"""The verbs as functions, made from their options: `mohs.attack(victim, examples, ...)` and the others.

Type checkers read api.pyi, which `scripts/build_stubs.py` writes from the same options.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from mohs.runs.carry_out import Progress, carry_out
from mohs.runs.run import Run
from mohs.runs.settings import Settings
from mohs.runs.verbs import verb_of
from mohs.tasks.option import options_of
from mohs.tasks.plan import Verb

_OWN = {
    "out": ("str | Path | None", "A run folder; the run can then be resumed. By default the run stays in memory."),
    "progress": ("Progress | None", "Called with the newest record, the number finished, and the total."),
    "said": (
        "Callable[[str], None] | None",
        "Called with each note of the run before the first search, and with the number of workers that auto took.",
    ),
}


def function_of(verb: type[Verb]) -> Callable[..., Run]:
    """A verb as a function of a victim, examples, and its options by name."""

    def call(*args: Any, **options: Any) -> Run:
        given = signature.bind(*args, **_known(options)).arguments
        own = {name: given.pop(name) for name in _OWN if name in given}
        given["data"] = given.pop("examples")
        shared = {f.name for f, _ in options_of(Settings)}
        settings = Settings(**{name: value for name, value in given.items() if name in shared})
        return carry_out(settings, verb(**{k: v for k, v in given.items() if k not in shared}), **own)

    def _known(options: dict[str, Any]) -> dict[str, Any]:
        for name in options:
            if name not in signature.parameters:
                near = difflib.get_close_matches(name, signature.parameters, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{verb.function}() has no argument {name!r}{hint}")
        return options

    signature = signature_of(verb)
    call.__name__ = call.__qualname__ = verb.function
    call.__doc__ = docstring_of(verb)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _positional(verb: type[Verb]) -> list[str]:
    """The names of the positional arguments."""
    return ["victim", "examples", *([verb.third] if verb.third else [])]


def signature_of(verb: type[Verb]) -> inspect.Signature:
    """The signature: victim, examples and perhaps one option are positional, the others keyword-only."""
    positional = _positional(verb)
    found = {f.name: (f.type, f.default) for kind in (verb, Settings) for f, _ in options_of(kind)}
    found["victim"] = (found["victim"][0], inspect.Parameter.empty)
    found["examples"] = (found.pop("data")[0], inspect.Parameter.empty)
    found |= {name: (kind, None) for name, (kind, _) in _OWN.items()}
    names = [*positional, *(name for name in found if name not in positional)]
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if name in positional else inspect.Parameter.KEYWORD_ONLY,
                default=found[name][1],
                annotation=found[name][0],
            )
            for name in names
        ],
        return_annotation="Run",
    )


def docstring_of(verb: type[Verb]) -> str:
    """The verb's docstring, and every option with its help."""
    text, code, example = inspect.cleandoc(verb.__doc__ or "").partition(">>>")
    about = text.partition("Examples:\n")[0]
    told = {
        f.name: option.help
        for kind in (verb, Settings)
        for f, option in options_of(kind)
        if f.name not in ("victim", "data")
    }
    told |= {name: help for name, (_, help) in _OWN.items()}
    lines = [
        "victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from "
        "texts to probabilities.",
        "examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.",
        *(f"{name}: {help}" for name, help in told.items()),
    ]
    wrapped = "\n".join(textwrap.fill(line, 116, subsequent_indent="    ") for line in lines)
    return "\n\n".join(filter(None, [about.strip(), wrapped, f"{code}{example}".strip()])) + "\n"


attack = function_of(verb_of("attack"))
second_order_attack = function_of(verb_of("second-order"))
token_bias = function_of(verb_of("bias"))
radius = function_of(verb_of("radius"))
certify = function_of(verb_of("certify"))

__all__ = ["Progress", "attack", "certify", "function_of", "radius", "second_order_attack", "token_bias"]
