"""`hf:PATH_OR_ID`: a sequence-to-sequence model that says a text in other words.

A batch has questions of one token length and one way of searching, so there is no padding in front of the encoder, and
an answer does not depend on what else is asked, but for the last bits of its scores. Sampled answers are drawn one
question at a time, from a seed made of the question.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, NamedTuple

from mohs.engine import by_length
from mohs.errors import BadInput
from mohs.models.device import choose_device
from mohs.models.hub import quiet_hub
from mohs.models.pretrained import hash_of, load_hf, window_of
from mohs.text.questions import Rephrasing

_ROWS_AT_ONCE = 64  # beams of all questions of a batch
_FEWEST_QUESTIONS = 4  # a smaller batch is filled up, so that its numbers are those of larger ones
_LONGEST = 512  # tokens of a question, for models that state no limit


class Paraphraser:
    """Answers Rephrasing with the texts that the model generates.

    A question that is longer than the model reads gets no answer: the rest of it would be lost. So does a text that is
    not finished after the tokens it may have.
    """

    def __init__(self, spec: str, *, device: str = "auto", trust_code: bool = False) -> None:
        import torch

        self.name = f"hf:{spec}"
        self._torch = torch
        self._device = choose_device(device)
        self._tokenizer, model = load_hf(spec, "AutoModelForSeq2SeqLM", trust_code)
        if self._tokenizer.eos_token_id is None:
            raise BadInput(f"{self.name} has a tokenizer without a token for the end of a text; give one that has it.")
        self._model = model.to(self._device).float().eval()
        self._window = min(window_of(self._tokenizer, model.config), _LONGEST)
        self.in_flight = 1
        self.fingerprint = hash_of(self._tokenizer, model)
        self._ids: dict[str, list[int]] = {}

    def plan(self, items: list[Rephrasing]) -> list[list[Rephrasing]]:
        """Batches of one length and one way of searching, sorted so that the order of arrival does not matter."""
        ways: dict[_Way, list[Rephrasing]] = {}
        for item in sorted(items):
            ways.setdefault(_way(item), []).append(item)
        batches: list[list[Rephrasing]] = []
        for way in sorted(ways):
            rows = 1 if way.sampled else max(1, _ROWS_AT_ONCE // way.beams)
            batches += by_length(ways[way], self._length, partial(_rows, rows))
        return batches

    def launch(self, batch: list[Rephrasing]) -> list[Rephrasing]:
        """Nothing to start: generating takes many steps."""
        return batch

    def collect(self, ticket: list[Rephrasing]) -> list[tuple[str, ...]]:
        """The generated texts."""
        rows = [self._encoded(item.text) for item in ticket]
        for item in ticket:
            self._ids.pop(item.text, None)
        if len(rows[0]) > self._window:
            return [()] * len(ticket)
        way = _way(ticket[0])
        filled = rows if way.sampled else rows + rows[-1:] * (_FEWEST_QUESTIONS - len(rows))
        inputs = self._torch.tensor(filled, device=self._device)
        with self._torch.inference_mode(), self._torch.random.fork_rng(devices=self._forked()):
            self._torch.manual_seed(_seed(ticket[0]))
            made = self._generated(inputs, way)
        return [self._texts(made[n * way.k : (n + 1) * way.k]) for n in range(len(ticket))]

    @quiet_hub()
    def _generated(self, inputs: Any, way: _Way) -> list[list[int]]:
        """The token numbers of `k` answers to each row, best first."""
        how: dict[str, Any] = {"do_sample": way.sampled, "num_beams": 1 if way.sampled else way.beams}
        if way.sampled:
            how |= {"top_p": 0.95, "top_k": 0, "temperature": 1.0}
        found = self._model.generate(
            input_ids=inputs,
            attention_mask=self._torch.ones_like(inputs),
            num_return_sequences=way.k,
            max_new_tokens=way.most,
            **how,
        )
        rows: list[list[int]] = found.cpu().tolist()
        return rows

    def _texts(self, rows: list[list[int]]) -> tuple[str, ...]:
        """The finished answers among some rows, each once, without surplus spaces."""
        end = self._tokenizer.eos_token_id
        # The first token starts the answer; some models start it with the token that also ends it.
        finished = [row for row in rows if end in row[1:]]
        said = self._tokenizer.batch_decode(finished, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return tuple(dict.fromkeys(text for one in said if (text := " ".join(one.split()))))

    def _encoded(self, text: str) -> list[int]:
        """The tokens of a question, with those that the model wants around it."""
        if text not in self._ids:
            self._ids[text] = self._tokenizer(text)["input_ids"]
        return self._ids[text]

    def _length(self, item: Rephrasing) -> int:
        return len(self._encoded(item.text))

    def _forked(self) -> list[str]:
        """The devices whose random numbers are put back after a draw."""
        return [self._device] if self._device.startswith("cuda") else []


class _Way(NamedTuple):
    """How answers are searched."""

    k: int
    beams: int
    most: int
    sampled: bool


def _way(item: Rephrasing) -> _Way:
    return _Way(item.k, max(item.beams, item.k), item.most, item.sampled)


def _rows(rows: int, length: int) -> int:
    """How many questions of a length make a batch: so many, whatever the length."""
    return rows


def _seed(item: Rephrasing) -> int:
    """A seed made of the question."""
    return int.from_bytes(hashlib.sha256(repr(tuple(item)).encode("utf-8", "backslashreplace")).digest()[:7], "big")


def load_paraphraser(spec: str, device: str = "auto", trust_code: bool = False) -> Paraphraser:
    """Load the paraphraser named on the command line."""
    if spec.startswith("hf:") and spec != "hf:":
        return Paraphraser(spec[3:], device=device, trust_code=trust_code)
    raise BadInput(f"Unknown paraphraser {spec!r}; none is bundled, so use hf:PATH_OR_ID.")
