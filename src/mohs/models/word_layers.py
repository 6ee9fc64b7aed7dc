"""The vectors of single words in every layer of a Hugging Face classifier."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.models.hf import HfVictim
from mohs.models.token_rows import keep
from mohs.text import Text

Layers = npt.NDArray[np.float32]  # one row a layer; the first is the input of the first layer


class WordLayers:
    """Gives each word of a text as the mean of its tokens' vectors, in the input embedding and after every layer.

    The input embedding is what the network passes to its first layer. In a BERT that is the sum of word, position and
    segment embedding after its normalisation.
    """

    def __init__(self, victim: HfVictim) -> None:
        self.name = victim.name
        self.mask: int | None = victim._tokenizer.mask_token_id
        self._victim = victim

    def of_words(self, text: Text, masked: Collection[int] = ()) -> dict[int, Layers]:
        """The vectors of each word by its position, a row a layer.

        masked: positions whose words are replaced by one mask token each. Words that the window cuts are left out.
        """
        victim = self._victim
        torch = victim._torch
        placed = victim.composer.placed(text.fields)
        ids = [list(found) for found, _ in placed]
        words: list[dict[int, list[int]]] = [{} for _ in placed]  # by field: the places of each word's tokens
        for position, (field, start, end) in enumerate(text.spans()):
            offsets = placed[field][1]
            own = [n for n, (first, last) in enumerate(offsets) if first < end and last > start]
            if own:
                words[field][position] = own
        for field, found in enumerate(words):
            ids[field], words[field] = self._with_masks(ids[field], found, masked)
        kept = keep([len(part) for part in ids], victim._room(len(ids)))
        row, types = victim._special_tokens.row([part[:size] for part, size in zip(ids, kept, strict=True)])
        inputs = {"input_ids": torch.tensor([row], device=victim._device)}
        if victim._types and types is not None:
            inputs["token_type_ids"] = torch.tensor([types], device=victim._device)
        with torch.inference_mode():
            states = victim._model(**inputs, output_hidden_states=True).hidden_states
            table: Layers = torch.stack([state[0] for state in states]).float().cpu().numpy()
        answer = {}
        for field, found in enumerate(words):
            before = victim._special_tokens.before(len(ids), field) + sum(kept[:field])
            for position, own in found.items():
                if own[-1] < kept[field]:
                    answer[position] = table[:, [before + place for place in own]].mean(1)
        return answer

    def _with_masks(
        self, ids: list[int], words: dict[int, list[int]], masked: Collection[int]
    ) -> tuple[list[int], dict[int, list[int]]]:
        """The tokens of a field with one mask for each masked word, and where the words' tokens are then."""
        hidden = {place: position for position in masked for place in words.get(position, ())}
        moved: dict[int, int] = {}  # from old places to new ones
        row: list[int] = []
        for place, token in enumerate(ids):
            if place not in hidden:
                moved[place] = len(row)
                row.append(token)
                continue
            assert self.mask is not None, "callers ask for masks only if there is one"
            if place == words[hidden[place]][0]:
                row.append(self.mask)
            moved[place] = len(row) - 1
        return row, {position: sorted({moved[place] for place in own}) for position, own in words.items()}


def word_layers(victim: Any) -> WordLayers | str:
    """The layers of a victim, or in a few words why it has none."""
    if not isinstance(victim, HfVictim):
        return f"{victim.name} is no Hugging Face model; name one with hf:PATH_OR_ID"
    found = WordLayers(victim)
    try:
        states = found.of_words(Text("It was a good day."))
    except Exception as error:  # a network of another kind, such as one with two stacks
        return f"{victim.name} shows no hidden states ({type(error).__name__}: {' '.join(str(error).split())[:120]})"
    return found if states else f"{victim.name} shows no hidden states"


def cosines(one: Layers, other: Layers) -> npt.NDArray[np.float64]:
    """The cosine in each layer; nan where a vector is zero."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: npt.NDArray[np.float64] = np.clip((a * b).sum(1) / lengths, -1, 1)
    return found
