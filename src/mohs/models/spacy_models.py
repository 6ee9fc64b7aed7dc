"""Opens spaCy models, and says what is in them.

Models are opened with `spacy.load` only. An installed model is imported as a package. A folder is read as data, and its
configuration can only name components that installed packages register.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

SMALL_ENGLISH = "en_core_web_sm"


def open_spacy(model: str, what: str) -> Any:
    """The spaCy pipeline of this name or folder; `what` names it in a message (`tagger`)."""
    try:
        import spacy
    except ImportError as error:
        raise BadInput(
            f"The {what} spacy:{model} needs spaCy: pip install 'mohs[spacy]', "
            f"then python -m spacy download {SMALL_ENGLISH}."
        ) from error
    try:
        return spacy.load(model)
    except OSError as error:
        if "E050" in str(error):
            raise BadInput(
                f"spaCy has no model {model!r}: python -m spacy download {SMALL_ENGLISH}, "
                "or name a folder that holds one."
            ) from error
        raise BadInput(
            f"spaCy cannot open {model!r} ({_sentence(error)}); name a folder that holds a model."
        ) from error
    except Exception as error:  # a model for another version, or a missing component
        raise BadInput(f"spaCy cannot open {model!r} ({_sentence(error)}); use a model for this spaCy.") from error


def keep_only(nlp: Any, factories: frozenset[str]) -> list[str]:
    """Switch off every component that is not made by one of these factories. Returns the factories that are left."""
    kept = [pipe for pipe in nlp.pipe_names if nlp.get_pipe_meta(pipe).factory in factories]
    nlp.select_pipes(enable=kept)
    return [nlp.get_pipe_meta(pipe).factory for pipe in kept]


def fingerprint_of(nlp: Any) -> str:
    """The versions of spaCy and of a model, and a hash of the model's files."""
    title = f"{nlp.meta['lang']}_{nlp.meta['name']}-{nlp.meta['version']}"
    return f"spacy-{version('spacy')}/{title}/{_content(Path(nlp.path))}"


def _content(folder: Path) -> str:
    """A hash of every file in a model folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        found.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()).rstrip('.')}"
