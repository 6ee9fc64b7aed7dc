"""`mohs:PATH`: a model folder written by this package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mohs.errors import BadInput
from mohs.models import bag
from mohs.models.victim import Victim


def load_own(spec: str, *, device: str = "auto", labels: Sequence[str] = ()) -> Victim:
    """Load the victim in a folder; its config.json names the architecture."""
    folder = Path(spec).expanduser()
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"mohs:{spec} is not a mohs model folder: it has no readable config.json.") from error
    config = config if isinstance(config, dict) else {}
    found = config.get("architecture")
    if found == bag.ARCHITECTURE:
        return bag.load_bag(folder, f"mohs:{spec}", config)
    if found is None and "model_type" in config:
        raise BadInput(f"mohs:{spec} is in the Hugging Face layout; name it hf:{spec}.")
    from mohs.models.architectures import ARCHITECTURES
    from mohs.models.neural import load_neural

    if not isinstance(found, str) or found not in ARCHITECTURES:
        raise BadInput(f"mohs:{spec} has the unknown architecture {found!r}; train it again with `mohs train`.")
    return load_neural(folder, f"mohs:{spec}", config, device=device, labels=labels)
