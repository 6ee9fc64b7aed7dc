"""`hf:PATH_OR_ID` or `gguf:PATH`: a causal language model. It gives the log-probability of each token of a string.

A batch has rows of one length, so there is no padding. Log-probabilities are rounded to LOGIT_DECIMALS, for the reasons
given in `mohs.models.masked_lm`.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

from mohs.engine import by_length
from mohs.errors import BadInput, ServiceFailed
from mohs.models.pretrained import load_gguf, load_hf
from mohs.models.token_rows import writable
from mohs.models.tokens import Placed
from mohs.models.transformer import LOGIT_DECIMALS, Network
from mohs.text.questions import Scored

_KIND = "AutoModelForCausalLM"
_STEPS: int = 10**LOGIT_DECIMALS


class CausalLm(Network):
    """Gives the log-probability of each token of a string, given the tokens before it.

    The first token is conditioned on the tokenizer's start-of-text token, or else on its end-of-text token (GPT-2's
    <|endoftext|>). If there is neither, the first token has no score and is left out. A string longer than the window
    is read in overlapping windows. Each starts half a window after the one before; the last ends where the string ends.
    A token is scored once, in the first window that holds it. So after the first window every token sees at least half
    a window of context. A string without tokens gets an empty answer.
    """

    def __init__(
        self,
        spec: str,  # PATH_OR_ID, or gguf:PATH
        *,
        device: str = "auto",
        tokens: int = 0,
        window: int = 1024,  # tokens read at once, or fewer if the model takes fewer; long rows cost memory
        trust_code: bool = False,
    ) -> None:
        if spec.startswith("gguf:"):
            super().__init__(spec, lambda: load_gguf(spec[5:], _KIND), device=device, tokens=tokens)
        else:
            super().__init__(f"hf:{spec}", lambda: load_hf(spec, _KIND, trust_code), device=device, tokens=tokens)
        self.window = min(window, self._special_tokens.window)
        if self.window < 2:
            raise BadInput(f"{self.name} has a window of {self.window} tokens; it needs at least 2.")
        first, last = self._tokenizer.bos_token_id, self._tokenizer.eos_token_id
        start = last if first is None else first
        self._start: list[int] = [] if start is None else [start]
        self._placed: dict[str, Placed] = {}
        self._options = {"use_cache": False} if "use_cache" in inspect.signature(self._model.forward).parameters else {}
        self._vocabulary = self._try_out()

    def _try_out(self) -> int:
        """The size of the vocabulary. Rejects a model that sees later tokens: its scores are no probabilities."""
        ids = [*self._start, *self.composer.ids(["It was a good day"])[0]][: self.window]
        other = [*ids[:-1], max(ids) if ids[-1] < max(ids) else min(ids)]
        try:
            one, two = self._logits(self._inputs([(ids, None), (other, None)]))[:2, :-1]
        except Exception as error:  # a model that needs inputs which a tokenizer does not give
            raise self._unfit(error) from error
        if not self._torch.allclose(one, two, 1e-3, 1e-3, equal_nan=True):
            raise BadInput(f"{self.name} sees later tokens, so it is not a causal language model; use one that is.")
        return int(one.shape[-1])

    def _logits(self, inputs: dict[str, Any]) -> Any:
        with self._torch.inference_mode():
            return self._model(**inputs, **self._options).logits.float()

    def plan(self, items: list[str]) -> list[list[str]]:
        """Groups of equal token length, longest first, cut to the batch size."""
        self._place([item for item in items if writable(item)])

        def rows(length: int) -> int:
            parts, row = len(windows(length, self.window)), max(1, min(length, self.window))
            return max(1, self._rows_at(row, row * self._vocabulary) // max(1, parts))

        ordered = sorted(items)
        readable = [item for item in ordered if item in self._placed]
        unreadable = [[item] for item in ordered if item not in self._placed]  # each fails at launch, alone
        return by_length(readable, lambda item: len(self._placed[item][0]), rows) + unreadable

    def _place(self, items: list[str]) -> None:
        for item, (ids, offsets) in zip(items, self.composer.placed(items), strict=True):
            self._placed[item] = ([*self._start, *ids], [(0, 0)] * len(self._start) + offsets)

    def launch(self, batch: list[str]) -> tuple[list[Placed], Any]:
        """Send a batch of one token length to the device; on CUDA this does not wait for the answers."""
        missing = [item for item in batch if item not in self._placed]
        for item in missing:
            item.encode()  # raises a clear error here if the text holds half a surrogate pair
        self._place(missing)
        placed = [self._placed[item] for item in batch]
        for item in batch:
            self._placed.pop(item, None)
        starts = [start for start, _ in windows(len(placed[0][0]), self.window)]
        if not starts:
            return placed, None
        inputs = self._inputs([(ids[start : start + self.window], None) for ids, _ in placed for start in starts])
        with self._torch.inference_mode():
            rows = zip(self._logits(inputs)[:, :-1], inputs["input_ids"][:, 1:, None], strict=True)
            # One row at a time: one long row has as many scores as a batch of short texts.
            found = [row.gather(-1, own).squeeze(-1) - row.logsumexp(-1) for row, own in rows]
            return placed, self._torch.stack(found[: len(placed) * len(starts)])

    def collect(self, ticket: tuple[list[Placed], Any]) -> list[Scored]:
        """Wait for the log-probabilities, and join the windows of each string."""
        placed, table = ticket
        if table is None:
            return [Scored((), (), ())] * len(placed)
        if not table.isfinite().all():
            raise ServiceFailed(f"{self.name} gave scores that are not finite; use another language model.")
        rows = iter((table.double() * _STEPS).round().tolist())
        answers = []
        for ids, offsets in placed:
            found: list[float] = []
            for start, fresh in windows(len(ids), self.window):
                found += next(rows)[fresh - start - 1 :]
            starts, ends = zip(*offsets[1:], strict=True)
            answers.append(Scored(starts, ends, tuple(step / _STEPS for step in found)))
        return answers


def windows(length: int, window: int) -> list[tuple[int, int]]:
    """The start of each window over `length` tokens, and the first token it scores; empty below two tokens."""
    if length < 2:
        return []
    found = [(0, 1)]
    while (end := found[-1][0] + window) < length:
        found.append((min(found[-1][0] + window // 2, length - window), end))
    return found


def perplexity(scored: Scored) -> float:
    """The perplexity, exp(-mean log-probability); nan without tokens."""
    if not scored.log_probs:
        return math.nan
    return math.exp(-math.fsum(scored.log_probs) / len(scored.log_probs))


def log_prob(scored: Scored, start: int, end: int) -> float:
    """The log-probability of a span: the sum over all tokens that overlap it."""
    tokens = zip(scored.starts, scored.ends, scored.log_probs, strict=True)
    return math.fsum(value for first, last, value in tokens if max(first, start) < min(last, end))


def load_lm(spec: str, device: str = "auto", trust_code: bool = False) -> CausalLm:
    """Load the causal language model named on the command line."""
    kind, _, rest = spec.partition(":")
    if kind in ("hf", "gguf") and rest:
        return CausalLm(rest if kind == "hf" else spec, device=device, trust_code=trust_code)
    raise BadInput(f"Unknown language model {spec!r}; none is bundled, so use hf:PATH_OR_ID or gguf:PATH.")
