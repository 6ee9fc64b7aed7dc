"""Files in SQuAD's JSON format: paragraphs with questions and their answers (Rajpurkar et al. 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mohs.errors import BadInput
from mohs.text.book_files import only_file, parse_json, read_text


class Asked(NamedTuple):
    """A question about a paragraph."""

    id: str
    question: str
    context: str
    answers: tuple[str, ...]  # what people marked in the paragraph; empty if nothing answers the question


def read_squad(place: str) -> Iterator[Asked]:
    """The questions of a file, plain or gzipped."""
    path = only_file(Path(place).expanduser(), (".json", ".json.gz"))
    whole = parse_json(path, read_text(path))
    try:
        for article in whole["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    yield _asked(asked, str(paragraph["context"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path} is not in SQuAD's format ({type(error).__name__}: {error}); it has `data`, a list of articles "
            "with `paragraphs`, each with a `context` and its `qas`."
        ) from error


def _asked(found: Any, context: str) -> Asked:
    answers = tuple(dict.fromkeys(str(answer["text"]) for answer in found.get("answers", ())))
    return Asked(str(found["id"]), str(found["question"]).strip(), context, answers)
