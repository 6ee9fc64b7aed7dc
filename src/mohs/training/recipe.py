"""The training recipe: every setting that affects the weights, with defaults for each architecture."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from mohs.assets.registry import is_asset
from mohs.errors import BadInput

WORD_ARCHITECTURES = ("bow", "cnn", "lstm", "bilstm", "transformer")
VERIFIABLE = ("bow", "cnn", "lstm", "bilstm", "transformer")  # the architectures with a verifiable shape
_TRAINED = {"ibp": VERIFIABLE[:-1], "lirpa": ("transformer",)}  # by the methods that train bounds
KINDS = f"{', '.join(WORD_ARCHITECTURES)} or hf:PATH_OR_ID"


@dataclass(frozen=True)
class Recipe:
    """The settings of a training. With hf: those that the pre-trained model fixes are None."""

    arch: str
    vectors: str | None = "pocket"  # where word vectors come from: pocket, a folder, or none
    all_vectors: bool | None = False  # also add words that have a vector but are not in the data
    freeze: bool | None = False  # do not train the word vectors; words without one keep their random vector
    dim: int | None = None  # size of the word vectors if none are given
    hidden: int | None = 100
    layers: int | None = None  # of the transformer
    heads: int | None = None
    dropout: float | None = 0.3
    min_count: int | None = 2  # rarer words count as unknown, unless they have a vector
    max_words: int = 256  # for hf: tokens, including special tokens
    epochs: int = 15
    batch: int = 32
    lr: float = 1e-3
    warmup: float = 0.0  # share of steps over which the rate rises, then it falls to zero; 0: constant rate
    decay: float = 0.0  # AdamW's weight decay, for matrices only
    clip: float = 1.0  # maximum gradient norm
    patience: int = 5  # stop after this many epochs without a better dev accuracy
    swap: str | None = None  # pairs of words to swap in copies of the training texts; see swap.py
    harden: str | None = None  # methods that make the model harder to fool, joined by +; see hardening.py
    verifiable: bool | None = None  # the shape whose bounds are known; see models/verifiable.py
    seed: int = 0

    def settings(self) -> dict[str, Any]:
        """The settings that apply to this architecture, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step; the first step is 0."""
        rising = self.warmup * steps
        if not rising:
            return self.lr
        return self.lr * min(1, (step + 1) / rising, (steps - step) / (steps - rising))


# hidden: its meaning depends on the architecture, see Shape. The LSTM's 150 and 0.3 are those of the
# classifiers that papers attack most.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "bow": {"epochs": 20},
    "cnn": {"dropout": 0.5},  # with 100 filters of each width, as in Kim 2014
    "lstm": {"hidden": 150},
    "bilstm": {"hidden": 150},
    "transformer": {"hidden": 128, "layers": 2, "heads": 4, "dropout": 0.1, "lr": 5e-4, "warmup": 0.1, "epochs": 20},
    "hf": {"lr": 5e-5, "warmup": 0.1, "decay": 0.01, "epochs": 3, "patience": 2},
}
_SCPN: dict[str, Any] = {"hidden": 256, "layers": 3, "heads": 4, "dropout": 0.1, "batch": 64, "warmup": 0.05}
# As in T3, but for the rate: 2e-3 falling to zero. Sentences of more than 40 tokens are left out.
_TREES: dict[str, Any] = {"hidden": 300, "batch": 128, "lr": 2e-3, "warmup": 0.05, "epochs": 4, "max_words": 40}
_AUGMENTED: dict[str, Any] = {"epochs": 12, "patience": 12}  # Hauser et al. 2021: 12 epochs instead of 2
# Jia et al. 2019: given vectors are not trained, and words that are in no training text can be read.
_AS_JIA: dict[str, Any] = {"hidden": 100, "dropout": 0.2, "decay": 1e-4, "clip": 0.25, "epochs": 20}
_VERIFIABLE: dict[str, dict[str, Any]] = dict.fromkeys(("bow", "cnn", "lstm", "bilstm"), _AS_JIA)
# Xu et al. 2020: three layers are the most that Shi et al. 2020 verify, and vectors are trained. Their batches have 32
# texts at a constant rate of 1e-4; larger ones need fewer steps, whose many small operations take the same time.
_AS_XU: dict[str, Any] = {"hidden": 64, "layers": 3, "dropout": 0.1, "max_words": 128, "epochs": 25, "patience": 25}
_VERIFIABLE["transformer"] = {**_AS_XU, "lr": 2e-3, "batch": 256, "freeze": False}
_RISING: dict[str, Any] = {"epochs": 60, "patience": 60}  # with the worst case in full in the last third
_CERTIFIED = re.compile(r"(?:^|\+)(ibp|lirpa)\b", re.IGNORECASE)  # methods that train bounds
_NOT_FOR_HF = (
    "verifiable",
    "vectors",
    "all_vectors",
    "freeze",
    "dim",
    "hidden",
    "layers",
    "heads",
    "dropout",
    "min_count",
)
_LEAST: dict[str, int] = {
    "dim": 1,
    "hidden": 1,
    "layers": 1,
    "heads": 1,
    "min_count": 1,
    "max_words": 5,  # the widest CNN filter, and a pair with its separators
    "epochs": 1,
    "batch": 1,
    "patience": 1,
}


def written_in_full(arch: str) -> str:
    """The architecture; the name of an asset stands for hf:NAME."""
    return f"hf:{arch}" if arch not in WORD_ARCHITECTURES and is_asset(arch) else arch


def recipe_for(arch: str, given: Mapping[str, Any]) -> Recipe:
    """The defaults of an architecture, overridden by the given settings. Refuses settings that do not fit."""
    arch = written_in_full(arch)
    hf = arch.startswith("hf:") and len(arch) > 3
    if not hf and arch not in WORD_ARCHITECTURES:
        raise BadInput(f"Unknown architecture {arch!r}; use {KINDS}.")
    known = {field.name for field in fields(Recipe)} - {"arch"}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in known:
            raise BadInput(f"Training has no setting {name!r}; it takes {', '.join(sorted(known))}.")
        if hf and name in _NOT_FOR_HF and chosen[name] is not False:
            raise BadInput(f"{_flag(name)} does not apply to {arch}, which has its own; leave it out.")
        if name in ("layers", "heads") and arch != "transformer":
            raise BadInput(f"{_flag(name)} applies to the transformer, not to {arch}; leave it out.")
    recipe = replace(Recipe(arch), **_DEFAULTS["hf" if hf else arch])
    methods = str(chosen.get("harden")).split("+")
    if chosen.get("verifiable") or _CERTIFIED.search(str(chosen.get("harden", ""))):
        recipe = _verifiable(recipe, chosen)
    if hf and any(method.startswith(("augment", "Augment(")) for method in methods):
        recipe = replace(recipe, **_AUGMENTED)
    if hf:
        return _checked(replace(recipe, **{**chosen, **dict.fromkeys(_NOT_FOR_HF)}))
    recipe = replace(recipe, **chosen)
    if recipe.vectors == "none":
        if recipe.freeze or recipe.all_vectors:
            raise BadInput("--freeze and --all-vectors need word vectors; name some with --vectors.")
        recipe = replace(recipe, dim=recipe.dim or 100)
    elif recipe.dim is not None:
        raise BadInput(f"--dim needs --vectors none, because {recipe.vectors} vectors have a fixed size; leave it out.")
    return _checked(recipe)


def paraphrasing_recipe(arch: str, given: Mapping[str, Any]) -> Recipe:
    """The settings of `--task scpn`: those of a new transformer, or of a model to go on with."""
    hf = arch.startswith("hf:") and len(arch) > 3
    if not hf and arch != "scpn":
        raise BadInput(f"Unknown architecture {arch!r} for --task scpn; use scpn or hf:PATH_OR_ID.")
    own = {"epochs", "batch", "lr", "warmup", "decay", "clip", "max_words", "patience", "seed"}
    own |= set() if hf else {"hidden", "layers", "heads", "dropout"}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in own:
            raise BadInput(f"{_flag(name)} does not apply to --task scpn with --arch {arch}; leave it out.")
    unused: dict[str, Any] = dict.fromkeys(_NOT_FOR_HF)
    recipe = replace(Recipe(arch, **unused), **(_DEFAULTS["hf"] if hf else _SCPN), max_words=60)
    return _checked(replace(recipe, **chosen))


def trees_recipe(given: Mapping[str, Any]) -> Recipe:
    """The settings of `--task t3`."""
    own = {"hidden", "min_count", "max_words", "epochs", "batch", "lr", "warmup", "decay", "clip", "patience", "seed"}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in own:
            raise BadInput(f"{_flag(name)} does not apply to --task t3; leave it out.")
    unused: dict[str, Any] = dict.fromkeys(set(_NOT_FOR_HF) - own)
    return _checked(replace(Recipe("t3", **unused), **{**_TREES, **chosen}))


def _verifiable(recipe: Recipe, chosen: Mapping[str, Any]) -> Recipe:
    """The defaults of a verifiable shape."""
    method = _CERTIFIED.search(str(chosen.get("harden", "")))
    able = _TRAINED[method[1].lower()] if method else VERIFIABLE
    if recipe.arch not in able:
        raise BadInput(
            f"{f'--harden {method[1].lower()}' if method else '--verifiable'} needs a network whose bounds it knows, "
            f"and --arch {recipe.arch} is none; use {', '.join(able)}."
        )
    given = chosen.get("vectors", recipe.vectors) != "none"
    vectors = {"freeze": given, "all_vectors": given}
    recipe = replace(recipe, **{**vectors, **_VERIFIABLE.get(recipe.arch, {})}, verifiable=True)
    return replace(recipe, **_RISING) if method and method[1].lower() == "ibp" else recipe


def _checked(recipe: Recipe) -> Recipe:
    for name, value in recipe.settings().items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{_flag(name)} is {value}; give a finite number.")
        if name in _LEAST and value < _LEAST[name]:
            raise BadInput(f"{_flag(name)} is {value}; it must be at least {_LEAST[name]}.")
        if name in ("lr", "clip") and value <= 0:
            raise BadInput(f"{_flag(name)} is {value}; it must be above 0.")
        if name in ("dropout", "warmup") and not 0 <= value < 1:
            raise BadInput(f"{_flag(name)} is {value}; it must be at least 0 and below 1.")
    if recipe.decay < 0:
        raise BadInput(f"{_flag('decay')} is {recipe.decay}; it must be at least 0.")
    hidden, heads = recipe.hidden or 0, recipe.heads or 1
    if hidden % heads or (recipe.arch == "bilstm" and hidden % 2):
        parts = f"{heads} heads" if recipe.arch == "transformer" else "two directions"
        raise BadInput(f"--hidden {hidden} cannot be divided among {parts}; give a multiple.")
    return recipe


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
