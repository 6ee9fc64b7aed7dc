"""What a masked language model and a sentence encoder say about the substitutes of SWORDS, kept in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.text import Text
from mohs.text.judge import ASKED
from mohs.text.questions import Blank
from scripts import swords

GUESSES = 200  # the log-probability of the last of so many says how open the place is
BESIDE = 8  # words on each side that the encoder reads

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
    found = np.full((len(rows), len(ASKED)), np.nan, np.float32)
    blanks, texts = [], []
    for target, numbers in zip(targets, by_target, strict=True):
        words = (target.word.lower(), *(rows[number].word for number in numbers))
        blanks.append(Blank((target.context,), 0, target.start, target.end, GUESSES, words))
        text = Text(target.context)
        position = next(n for n, (_, start, end) in enumerate(text.spans()) if end > target.start)
        string, start, end = text.stretch(position, BESIDE, BESIDE)
        texts.append([(string[:start] + word + string[end:],) for word in words])
    filled = _answers(masked, blanks)
    vectors = _answers(encoder, [text for group in texts for text in group])
    for numbers, answer, group in zip(by_target, filled, texts, strict=True):
        old = answer.log_probs[0]
        low = answer.guesses[-1].logit - answer.total
        here, vectors = vectors[: len(group)], vectors[len(group) :]
        for number, new, vector in zip(numbers, answer.log_probs[1:], here[1:], strict=True):
            found[number] = (old, new, new - old, low, float(np.dot(here[0], vector)))
    return np.round(found, 4)  # as the measure does


def _answers(model: Any, questions: list[Any]) -> list[Any]:
    answers = {}
    for batch in model.plan(list(dict.fromkeys(questions))):
        answers.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return [answers[question] for question in questions]
