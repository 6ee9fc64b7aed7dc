"""The Hugging Face hub: where named models come from."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TIMEOUT_SECONDS = 10.0  # for the single request


def unreachable(place: str) -> str:
    """Why the hub cannot be reached; empty if it can, or if it is not needed.

    On its own the library retries six times, over half a minute, before it reports the failure.
    """
    library: Any = importlib.import_module("huggingface_hub")
    if Path(place).is_dir() or library.constants.HF_HUB_OFFLINE:
        return ""
    try:
        library.get_hf_file_metadata(library.hf_hub_url(place, "config.json"), timeout=_TIMEOUT_SECONDS)
    except (library.utils.HfHubHTTPError, ValueError):  # it answered, or the name is invalid: transformers explains it
        return ""
    except Exception as error:  # the exception's library depends on the version
        return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


@contextmanager
def quiet_hub() -> Iterator[None]:
    """Silence the hub library's warnings: whatever matters comes as an exception."""
    logging: Any = importlib.import_module("huggingface_hub.utils.logging")
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def not_fetched(name: str, fault: str) -> str:
    """The message for a model that is neither on this machine nor reachable."""
    return (
        f"{name} is neither a local folder, nor an installed asset (`mohs assets list`), nor complete in the Hugging "
        f"Face cache, and the hub cannot be reached ({fault}); give a model folder, or go online."
    )
