"""Make a victim from its name or from a Python object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mohs.errors import BadInput
from mohs.models.victim import Output, Victim, declared
from mohs.text.addresses import without_credentials


class Estimator(Protocol):
    """The interface of a fitted scikit-learn estimator."""

    def predict(self, X: Any, /) -> Any:
        """The class of each text."""
        ...


# A name, a victim, a function or pipeline, a model with its tokenizer, or a fitted estimator.
AnyVictim = str | Victim | Callable[[list[Any]], Any] | tuple[Any, Any] | Estimator

KINDS = (
    "pocket, hf:PATH_OR_ID, python:module:function, sklearn:PATH, http://URL, mohs:PATH, a defence such as ensemble(V)"
)


def load_victim(
    spec: str,
    *,
    device: str = "auto",
    labels: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
) -> Victim:
    """Load the victim that a name stands for; `options` are the options of its kind, as strings."""
    from mohs.models import bag

    given = dict(options or {})
    kind, _, rest = spec.partition(":")
    if spec == "pocket":
        _refuse(spec, given)
        return bag.pocket_victim()
    if kind == "mohs" and rest:
        from mohs.models.own import load_own

        _refuse(spec, given)
        return load_own(rest, device=device, labels=labels)
    if kind == "hf" and rest:
        from mohs.models.hf import HfVictim

        return HfVictim(rest, device=device, labels=labels, trust_code=trust_code, **_typed(HfVictim, given, spec))
    if kind == "python" and rest:
        from mohs.models.function import FunctionVictim, load_function

        return load_function(rest, labels=labels, **_typed(FunctionVictim, given, spec))
    if kind == "sklearn" and rest:
        from mohs.models.sklearn import load_sklearn

        typed = _typed(load_sklearn, given, spec)
        return load_sklearn(rest, trust_pickle=trust_pickle, labels=labels, **typed)
    if kind in ("http", "https") and rest:
        from mohs.models.http import HttpVictim

        return HttpVictim(spec, labels=labels, **_typed(HttpVictim, given, without_credentials(spec)))
    raise BadInput(f"Unknown victim {without_credentials(spec)!r}; use one of {KINDS}.")


_NOT_OPTIONS = {
    "spec",
    "model",
    "tokenizer",
    "place",
    "url",
    "function",
    "name",
    "labels",
    "fingerprint",
    "device",
    "trust_code",
    "trust_pickle",
    "transport",
}


def _refuse(spec: str, given: Mapping[str, str]) -> None:
    if given:
        raise BadInput(f"{spec} takes no victim options, but {', '.join(given)} was given.")


def _typed(kind: Callable[..., Any], given: Mapping[str, str], spec: str) -> dict[str, Any]:
    """Convert options to the types of their defaults; reject unknown names and values that do not fit."""
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(kind).parameters.items()
        if name not in _NOT_OPTIONS
    }
    typed: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise BadInput(f"{spec} has no option {name!r}; it takes {', '.join(known) or 'none'}.")
        if isinstance(known[name], Output):
            typed[name] = declared(value)
            continue
        try:
            read = _yes if isinstance(known[name], bool) else type(known[name])
            typed[name] = read(value)
        except ValueError:
            raise BadInput(f"Victim option {name}={value} does not fit; the default is {known[name]!s}.") from None
    return typed


def _yes(value: str | bool) -> bool:
    """Parse yes, no, true or false."""
    if str(value).lower() not in ("yes", "no", "true", "false"):
        raise ValueError(value)
    return str(value).lower() in ("yes", "true")


def victim_from(
    victim: Any,
    *,
    device: str = "auto",
    labels: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
) -> Victim:
    """Make a victim from whatever the user has.

    That can be a name as on the command line, a Victim, a Hugging Face model and its tokenizer as a pair, a
    `transformers` pipeline with both, a fitted scikit-learn estimator that takes texts, or a function from texts to
    probabilities.
    """
    if isinstance(victim, str):
        return load_victim(
            victim,
            device=device,
            labels=labels,
            options=options,
            trust_pickle=trust_pickle,
            trust_code=trust_code,
        )
    if hasattr(victim, "launch") and hasattr(victim, "collect"):
        found: Victim = victim
        return found
    pair = _model_and_tokenizer(victim)
    if pair is not None:
        from mohs.models.hf import HfVictim

        return HfVictim(*pair, device=device, labels=labels, **_typed(HfVictim, options or {}, "The model"))
    if hasattr(victim, "predict") and hasattr(victim, "get_params"):
        from mohs.models.sklearn import sklearn_victim

        return sklearn_victim(victim, labels=labels, **_typed(sklearn_victim, options or {}, "The estimator"))
    if callable(victim):
        from mohs.models.function import FunctionVictim

        return FunctionVictim(victim, labels=labels, **_typed(FunctionVictim, options or {}, "The function"))
    raise BadInput(
        f"A {type(victim).__name__} is not a victim; give a name, a victim, a model with its tokenizer, a fitted "
        "estimator, or a function from texts to probabilities."
    )


def _model_and_tokenizer(victim: Any) -> tuple[Any, Any] | None:
    """A Hugging Face model and its tokenizer, given as a pair in either order or inside a pipeline."""
    parts = victim if isinstance(victim, tuple | list) else (_part(victim, "model"), _part(victim, "tokenizer"))
    if len(parts) != 2:
        return None
    for model, tokenizer in (parts, parts[::-1]):
        if hasattr(model, "state_dict") and hasattr(model, "config") and callable(tokenizer):
            return model, tokenizer
    return None


def _part(victim: Any, name: str) -> Any:
    return getattr(victim, name, None)
