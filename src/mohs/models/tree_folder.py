"""A tree auto-encoder on the disk: model.safetensors, lexicon.json and trees.json, without pickles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mohs.errors import BadInput
from mohs.models.device import choose_device
from mohs.models.tree_autoencoder import Shape, TreeAutoencoder
from mohs.models.tree_rows import Lexicon
from mohs.models.victim import Victim

if TYPE_CHECKING:
    from mohs.models.tree_search import TreeSearch

SETTINGS, WEIGHTS, LEXICON = "trees.json", "model.safetensors", "lexicon.json"


@dataclass(frozen=True)
class Trees:
    """A trained tree auto-encoder."""

    name: str
    lexicon: Lexicon
    module: TreeAutoencoder
    reconstruction: float  # share of the tokens of held-out short sentences that it gives back
    device: str = "cpu"

    @property
    def fingerprint(self) -> str:
        """A hash of its words, relations and weights."""
        digest = hashlib.sha256(self.lexicon.digest.encode())
        for name, tensor in sorted(self.module.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def against(self, victim: Victim) -> TreeSearch:
        """The search for rewrites that fool a victim, which must have gradients."""
        from mohs.models.tree_search import TreeSearch

        return TreeSearch(self, victim)


def save_trees(folder: Path, lexicon: Lexicon, module: TreeAutoencoder) -> None:
    """Write the weights and the lexicon into a folder."""
    from safetensors.torch import save_file

    save_file(
        {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}, folder / WEIGHTS
    )
    told = {"words": list(lexicon.words), "relations": list(lexicon.relations)}
    (folder / LEXICON).write_text(json.dumps(told, ensure_ascii=False) + "\n", "utf-8")


def save_settings(folder: Path, lexicon: Lexicon, module: TreeAutoencoder, reconstruction: Mapping[str, int]) -> None:
    """Write the sizes, and how much of held-out sentences was given back (right, of)."""
    told = {"shape": module.shape.told(), "lexicon_hash": lexicon.digest, "reconstruction": dict(reconstruction)}
    (folder / SETTINGS).write_text(json.dumps(told, indent=2) + "\n", "utf-8")


def load_trees(spec: str, device: str = "auto", trust_code: bool = False) -> Trees:
    """Load what `mohs train --task t3` wrote into a folder."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(spec).expanduser()
    if not (folder / SETTINGS).is_file():
        raise BadInput(f"{spec} holds no tree auto-encoder; train one with mohs train --task t3 --out {spec}.")
    try:
        told = json.loads((folder / SETTINGS).read_text("utf-8"))
        known = json.loads((folder / LEXICON).read_text("utf-8"))
        lexicon = Lexicon(tuple(map(str, known["words"])), tuple(map(str, known["relations"])))
        right, of = (told["reconstruction"][name] for name in ("right", "of"))
        if not (type(right) is int and type(of) is int and 0 <= right <= of and of > 0):
            raise ValueError(f"it says that {right!r} of {of!r} tokens were given back")
        tensors = load_file(folder / WEIGHTS)
        module = _filled(_shape(told["shape"], lexicon), tensors)
        if told["lexicon_hash"] != lexicon.digest:
            raise ValueError(f"{LEXICON} is not the file it was trained with")
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadInput(f"{spec} is not a complete tree auto-encoder ({reason}); train it again.") from error
    where = choose_device(device)
    return Trees(f"t3:{spec}", lexicon, module.to(where).eval().requires_grad_(False), right / of, where)


def _shape(told: Any, lexicon: Lexicon) -> Shape:
    shape = Shape(**told)
    if type(shape.hidden) is not int or shape.hidden < 1:
        raise ValueError(f"{SETTINGS} has hidden={shape.hidden!r}")
    if (shape.words, shape.relations) != (len(lexicon.words), len(lexicon.relations)):
        raise ValueError(f"{SETTINGS} is not that of {LEXICON}")
    return shape


def _filled(shape: Shape, tensors: Mapping[str, Any]) -> TreeAutoencoder:
    """A module with these weights. Sizes are compared before any memory is taken: the folder may be anyone's."""
    with torch.device("meta"):
        wanted = {name: tensor.shape for name, tensor in TreeAutoencoder(shape).state_dict().items()}
    if wanted != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ValueError(f"{SETTINGS} is not that of {WEIGHTS}")
    if not all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("it holds a number that is not finite or not 32-bit")
    with torch.random.fork_rng(devices=[]):  # initial weights are drawn at random, then replaced
        module = TreeAutoencoder(shape)
    module.load_state_dict(dict(tensors))
    return module
