"""What a masked language model and a sentence encoder say about the substitutes of SWORDS, kept in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.space.acceptable import Asked
from mohs.text import Text
from mohs.text.judge import ASKED, bundled
from mohs.text.questions import Blank
from scripts import swords

CHUNK = 40  # targets at a time

Data = dict[str, tuple[list[swords.Target], list[swords.Row]]]


def asked(data: Data, folder: Path, encoder: str, path: Path | None) -> dict[str, npt.NDArray[np.float32]]:
    """A row of ASKED for each substitute of each part."""
    if path is not None and path.exists():
        with np.load(path) as file:
            return {part: file[part] for part in data}
    from mohs.models.encoder import load_encoder
    from mohs.models.masked_lm import load_masked_lm

    models = load_masked_lm(f"hf:{folder}/models/minilm-mlm", "auto", False), load_encoder(encoder, "auto", False)
    found = {part: _part(*pair, *models) for part, pair in data.items()}
    if path is not None:
        np.savez_compressed(path, **found)  # type: ignore[arg-type]
    return found


def _part(targets: list[swords.Target], rows: list[swords.Row], masked: Any, encoder: Any) -> npt.NDArray[np.float32]:
    by_target: list[list[int]] = [[] for _ in targets]
    for number, row in enumerate(rows):
        by_target[row.target].append(number)
    found, judge = np.full((len(rows), len(ASKED)), np.nan, np.float32), bundled()  # for the base forms
    for first in range(0, len(targets), CHUNK):
        asked_of, groups = [], by_target[first : first + CHUNK]
        for target, numbers in zip(targets[first : first + CHUNK], groups, strict=True):
            text = Text(target.context)
            position = next(n for n, (_, _, end) in enumerate(text.spans()) if end > target.start)
            blank = Blank((target.context,), 0, target.start, target.end)
            text = text.replace(position, target.word)  # a part of a word with hyphens stands for all of it
            words = [rows[number].word for number in numbers]
            asked_of.append(Asked.about(text, position, blank, words, judge))
        filled = _answers(masked, [blank for one in asked_of for blank in one.blanks])
        strings = list(dict.fromkeys((string,) for one in asked_of for group in one.strings for string in group))
        vectors = {string: vector for (string,), vector in zip(strings, _answers(encoder, strings), strict=True)}
        for numbers, one, pair in zip(groups, asked_of, zip(filled[::2], filled[1::2], strict=True), strict=True):
            found[numbers] = one.rows(pair, vectors, judge)
    return found


def _answers(model: Any, questions: list[Any]) -> list[Any]:
    answers = {}
    for batch in model.plan(list(dict.fromkeys(questions))):
        answers.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return [answers[question] for question in questions]
