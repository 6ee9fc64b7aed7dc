"""The Hugging Face hub, from which models come that are named and not folders here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TIMEOUT_SECONDS = 10.0  # of the one answer


def unreachable(place: str) -> str:
    """Why the hub cannot be asked for a model; empty if it can, or need not be.

    Left to itself the library asks six times, over half a minute, before it says so.
    """
    library: Any = importlib.import_module("huggingface_hub")
    if Path(place).is_dir() or library.constants.HF_HUB_OFFLINE:
        return ""
    try:
        library.get_hf_file_metadata(library.hf_hub_url(place, "config.json"), timeout=_TIMEOUT_SECONDS)
    except (library.utils.HfHubHTTPError, ValueError):  # it answered, or the name is none: transformers says more
        return ""
    except Exception as error:  # of one library or another, by the version
        return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


@contextmanager
def quiet_hub() -> Iterator[None]:
    """No warnings of the hub's library meanwhile: what matters comes as an exception."""
    logging: Any = importlib.import_module("huggingface_hub.utils.logging")
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def not_fetched(name: str, fault: str) -> str:
    """A sentence about a model that is neither here nor to be had."""
    return (
        f"{name} is neither a folder here nor wholly in the Hugging Face cache, and the hub cannot be reached "
        f"({fault}); give a model folder, or connect."
    )
