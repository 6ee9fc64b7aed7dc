"""Training for smoothing: the copies are drawn as the smoothed victims draw their versions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mohs.defences.smoothing import Safer
from mohs.errors import BadInput
from mohs.text import Text
from mohs.text.dataset import Dataset
from mohs.text.vectors import read_vectors
from mohs.training.hardening import Batch, hardenings
from mohs.training.masking import Mask, SaferWords
from mohs.training.train import train
from tests.training.test_hardening import words


def drawn(method: Any, fields: tuple[str, ...], times: int) -> Counter[tuple[str, ...]]:
    batch = Batch([None] * times, [0] * times, [fields] * times)
    return Counter(method.texts(words(), batch, None, Random(1)))


def test_every_set_of_masks_is_as_likely() -> None:
    """Of five words three are hidden: ten texts, each with a tenth of 4,000 draws within four deviations."""
    text = Text("one two", "three, four five")
    found = drawn(Mask(rate=0.6), text.fields, 4000)
    expected = {text.replace_all(dict.fromkeys(own, "[MASK]")).fields for own in combinations(range(5), 3)}
    assert set(found) == expected
    assert all(abs(count - 400) < 4 * (4000 * 0.1 * 0.9) ** 0.5 for count in found.values())


def test_every_word_of_a_perturbation_set_is_as_likely() -> None:
    (method,) = hardenings(["safer:k=3,cosine=0.5"])
    assert method == SaferWords(k=3, cosine=0.5)
    sets = Safer(k=3, cosine=0.5, books={"vectors": read_vectors("pocket")}).sets(Text("a good film"))
    found = drawn(method, ("a good film",), 3200)
    assert len(found) == len(sets[1]) * len(sets[2]) == 16
    assert ("a good film",) in found  # the word itself is one of its set
    assert all(abs(count - 200) < 4 * (3200 / 16 * 15 / 16) ** 0.5 for count in found.values())


def test_a_training_on_masks_repeats(tmp_path: Path) -> None:
    rows = [(f"{one} {other} here today", label) for label, one in ((1, "good"), (0, "bad")) for other in "abcdefgh"]
    file = tmp_path / "data.csv"
    file.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows), "utf-8")
    settings: dict[str, Any] = {"epochs": 1, "dev": str(file), "dim": 4, "vectors": "none", "min_count": 1}

    def fingerprint(name: str, *harden: str) -> str:
        return train("bow", Dataset(str(file)), tmp_path / name, harden=harden, **settings).fingerprint

    one, again, plain = fingerprint("m", "mask:rate=0.5"), fingerprint("n", "mask:rate=0.5"), fingerprint("p")
    assert one == again != plain


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mask:rate=1", "The masking rate=1.0 must be a share above 0 and below 1"),
        ("mask:share=1", "mask takes NAME=VALUE with rate, mask"),
        ("safer:words=magic", "takes its words from neighbours or wordnet, not from 'magic'"),
    ],
)
def test_what_does_not_fit_is_refused(spec: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        hardenings([spec])


def test_texts_without_words_stay() -> None:
    assert drawn(Mask(), ("...",), 2) == {("...",): 2}
    assert drawn(Mask(), ("word",), 2) == {("word",): 2}  # at least one word is shown
