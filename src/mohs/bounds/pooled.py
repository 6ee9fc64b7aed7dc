"""Bounds on what a verifiable network averages over a text (mohs.models.verifiable), for a budget of changed words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from mohs.bounds.boxes import FLOAT32, Box, affine, lost, meeting, moved, relu, summed
from mohs.bounds.lstm_steps import Steps, summed_states
from mohs.bounds.word_numbers import WordNumbers

Layer = Callable[[Box], Box]
Means = Callable[[int | None], Box]  # for a budget


@dataclass(frozen=True)
class Choices:
    """The vectors of a text's words and of the words that may replace them."""

    row: Tensor  # a row a word
    others: tuple[tuple[int, Tensor], ...]  # for each place that may change, the vectors of its choices

    @classmethod
    def of(cls, vectors: Tensor, text: WordNumbers) -> Choices:
        """From the table of word vectors."""

        def found(numbers: object) -> Tensor:
            return vectors[torch.as_tensor(numbers)].cpu().double()

        spots = zip(text.spots.tolist(), text.words, strict=True)
        return cls(found(text.row), tuple((spot, found(words)) for spot, words in spots if spot >= 0))

    @property
    def places(self) -> list[int]:
        """The places that may change."""
        return [place for place, _ in self.others]

    def through(self, layer: Layer) -> tuple[Box, Box]:
        """What a layer for single words gives for each word as it is, and for any word that may stand in its place."""
        own = layer(Box(self.row, self.row))
        low, high = own.low.clone(), own.high.clone()
        for place, vectors in self.others:
            found = layer(Box(vectors, vectors))
            low[place] = torch.minimum(low[place], found.low.amin(0))
            high[place] = torch.maximum(high[place], found.high.amax(0))
        return own, Box(low, high)


def of_bag(weights: Mapping[str, Tensor], choices: Choices) -> Means:
    """The mean of the words."""
    own, changed = choices.through(_words(weights))
    return lambda budget: _mean(summed(own, changed, budget), changed.largest)


def of_windows(weights: Mapping[str, Tensor], choices: Choices) -> Means:
    """The mean of the filters' heights over windows of three words.

    A filter adds up what each word gives at its place in the window, so words go through its three parts one by one.
    """
    word, weight, bias = _words(weights), weights["filters.weight"], weights["filters.bias"]
    parts = [choices.through(_then(word, part)) for part in weight.chunk(3, 1)]
    own, changed = (_beside([part[number] for part in parts]) for number in (0, 1))
    largest = _beside([choices.through(word)[1]] * 3).largest
    sizes = sum((one @ part.abs().T for one, part in zip(largest, weight.chunk(3, 1), strict=True)), bias.abs())
    slack = sizes * lost(weight.shape[1] + 1, FLOAT32)

    def heights(budget: int | None) -> Box:
        found = summed(own, changed, budget)
        return relu(Box(found.low + bias, found.high + bias).wider(slack))

    still = heights(0)

    def means(budget: int | None) -> Box:
        all_changed = heights(None)
        found = summed(still, all_changed, None)
        if budget is not None:
            some = heights(budget)
            falls, rises = still.low - some.low, some.high - still.high
            found = meeting(found, summed(still, some, 3 * budget))  # a word is in three windows
            at = torch.tensor(choices.places, dtype=torch.long)
            found = meeting(found, moved(still, _of_three(falls)[at], _of_three(rises)[at], budget))
        return _mean(found, all_changed.largest)

    return means


def of_states(weights: Mapping[str, Tensor], choices: Choices) -> Means:
    """The mean of an LSTM's states, in one direction or in both."""
    lstm = {name.removeprefix("lstm."): tensor for name, tensor in weights.items() if name.startswith("lstm.")}
    word = _words(weights)
    directions = [
        Steps.of(lstm, backwards=backwards, unit=FLOAT32)
        for backwards in (False, True)
        if not backwards or "weight_ih_l0_reverse" in lstm
    ]
    words = [choices.through(_entering(word, steps)) for steps in directions]

    def means(budget: int | None) -> Box:
        sums = [
            summed_states(steps, _sides(own, number), _sides(changed, number), budget)
            for number, (steps, (own, changed)) in enumerate(zip(directions, words, strict=True))
        ]
        found = Box(torch.cat([one.low for one in sums]), torch.cat([one.high for one in sums]))
        return _mean(found, torch.ones(len(choices.row), len(found.low), dtype=torch.float64))  # states are below one

    return means


def _words(weights: Mapping[str, Tensor]) -> Layer:
    """The layer for single words."""
    return lambda box: relu(affine(box, weights["word.weight"], weights["word.bias"], FLOAT32))


def _then(layer: Layer, weight: Tensor) -> Layer:
    return lambda box: affine(layer(box), weight)


def _beside(parts: list[Box]) -> Box:
    """For each place of a window, what the word there gives: place x word x filter. Nothing beyond the text."""

    def moved_to(table: Tensor, number: int) -> Tensor:
        return pad(table, (0, 0, 1, 1))[number : number + len(table)]

    low = torch.stack([moved_to(part.low, number) for number, part in enumerate(parts)])
    return Box(low, torch.stack([moved_to(part.high, number) for number, part in enumerate(parts)]))


def _of_three(table: Tensor) -> Tensor:
    """For each word the sum over the three windows that it is in."""
    around = pad(table, (0, 0, 1, 1))
    return around[:-2] + around[1:-1] + around[2:]


def _entering(word: Layer, steps: Steps) -> Layer:
    """A layer for single words: what they add to the gates."""

    def layer(box: Box) -> Box:
        sides = steps.entering(word(box))
        return Box(-sides[:, 0], sides[:, 1])

    return layer


def _sides(box: Box, backwards: int) -> Tensor:
    sides = torch.stack([-box.low, box.high], 1)
    return sides.flip(0) if backwards else sides


def _mean(total: Box, largest: Tensor) -> Box:
    """The mean, from the sum, as the network computes it; `largest` are the absolute values of what it adds up."""
    found = total.wider(largest.sum(0) * lost(len(largest) + 1, FLOAT32))
    return Box(found.low / len(largest), found.high / len(largest))
