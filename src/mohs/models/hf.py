"""`hf:PATH_OR_ID`: a Hugging Face sequence classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mohs.errors import BadInput, VictimError
from mohs.models.batch_shapes import FEWEST_ROWS, FEWEST_ROWS_ON_CUDA
from mohs.models.pretrained import in_memory, load_hf
from mohs.models.token_rows import Laid, keep
from mohs.models.transformer import Ticket, Transformer
from mohs.models.victim import Fields, Output, Scores, in_order, scores

_TEXT_SIDE = {
    *("name", "fingerprint", "labels", "exact", "together", "crowd", "few", "in_flight", "composer"),
    *("_special_tokens", "_types", "_padded", "_tokens", "_untried", "_asked", "_row_step", "_late", "_device"),
}


class HfVictim(Transformer):
    """A classifier with its tokenizer. Loading tests whether a text's scores depend on its batch, and sets `exact`.

    With several threads on a CPU a model never counts as exact.
    """

    hard = False
    _filling = False

    def __init__(
        self,
        model: Any,  # a folder, a name on the hub, or the model itself, which is not changed
        tokenizer: Any = None,  # needed if `model` is the model itself
        *,
        device: str = "auto",
        dtype: str = "auto",  # fp32, or bf16 on CUDA; auto is fp32, or the dtype of a model object
        labels: Sequence[str] = (),
        tokens: int = 0,  # tokens per batch; 0: a constant on CUDA, measured on a CPU
        trust_code: bool = False,
    ) -> None:
        if isinstance(model, str):
            name = f"hf:{model}"
            load: Callable[[], tuple[Any, Any]] = partial(
                load_hf, model, "AutoModelForSequenceClassification", trust_code
            )
        else:
            own, device, dtype = in_memory(model, tokenizer, device, dtype)
            name, load = f"hf:{model.config.name_or_path or type(model).__name__}", lambda: (tokenizer, own)
        super().__init__(
            name,
            load,
            lambda outputs, real: outputs.logits.float(),
            device=device,
            dtype=dtype,
            tokens=tokens,
        )
        config = self._model.config
        if config.num_labels < 2:
            raise BadInput(f"{self.name} has one output, so it is a regression model; use a classifier with classes.")
        names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
        self.labels = tuple(labels) or tuple(names)
        if len(self.labels) != config.num_labels:
            raise BadInput(
                f"{self.name} has {config.num_labels} classes ({', '.join(names)}), "
                f"but --labels names {len(self.labels)}."
            )
        in_order(self.name, names, self.labels)
        try:
            sound = self._is_batch_independent_filled_late() or self._is_batch_independent()
            if not sound and not self._padded:
                self._row_step = FEWEST_ROWS
                sound = self._is_batch_independent()
        except VictimError:
            raise
        except Exception as error:  # a model that needs inputs which a tokenizer does not give
            raise self._unfit(error) from error

        # Several threads divide the work by the shape of a batch, and no trial covers all shapes.
        self.exact = sound and not self._padded and self._torch.get_num_threads() == 1
        # Up to this batch size all batches have one shape, so the other texts do not matter.
        self.together = FEWEST_ROWS_ON_CUDA if sound and self._padded else 1
        self.crowd = 1024 if self._padded else 256
        self.few = 1 if self._padded else FEWEST_ROWS
        self.lends = self._padded  # to other processes; on a CPU each process should load its own
        # A bf16 model is judged in fp32.
        coarse = self._dtype.itemsize < 4
        self.verdict = (
            HfVictim(model, tokenizer, device=device, dtype="fp32", labels=labels, tokens=tokens, trust_code=trust_code)
            if coarse
            else self
        )

    def collect(self, ticket: Ticket) -> list[Scores]:
        """Wait for the logits and check them."""
        return scores(self.name, self.answers(ticket), ticket[0], Output.LOGITS, len(self.labels))

    def _forward(self, laid: Sequence[Laid]) -> Any:
        self._filling = True  # not for other callers of the model
        try:
            return super()._forward(laid)
        finally:
            self._filling = False

    def text_side(self) -> dict[str, Any]:
        """The parts needed to turn texts into rows, without the network; see `mohs.models.lending`."""
        return {name: value for name, value in vars(self).items() if name in _TEXT_SIDE} | {"_rows": {}}

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """The number of characters inside the window, for each field; None if everything fits."""
        lengths = [len(ids) for ids in self.composer.ids(fields)]
        kept = keep(lengths, self._room(len(fields)))
        if kept == lengths:
            return None
        return tuple(self.composer.ends(field, size) for field, size in zip(fields, kept, strict=True))

    def _is_batch_independent_filled_late(self) -> bool:
        """Try to fill up small batches only after the layers, where the head has one row per text."""
        base = self._model.base_model
        layers = getattr(base, "encoder", None) or getattr(base, "transformer", None)
        if self._padded or layers is None:
            return False

        def fill(module: Any, given: Any, output: Any) -> Any:
            states = output[0]
            if len(states) >= FEWEST_ROWS or not self._filling:
                return output
            more = self._torch.cat([states, states[-1:].expand(FEWEST_ROWS - len(states), -1, -1)])
            if isinstance(output, tuple):
                return (more, *output[1:])
            output.last_hidden_state = more
            return output

        hook = layers.register_forward_hook(fill)
        self._late = True
        try:
            if self._is_batch_independent():
                return True
        except Exception:  # a model may raise anything at more rows than it was given
            pass
        hook.remove()
        self._late = False
        return False

    def _is_batch_independent(self) -> bool:
        words = ["good", "film", "a", "bad", "the", "very"]
        for length in (1, 2, 11):
            texts: list[Fields] = [
                (" ".join(words[(i // 6 + j * j * i) % 6] for j in range(length)),) for i in range(29)
            ]
            for batch in self.plan(list(dict.fromkeys(texts))):
                alone = [self.collect(self.launch([text]))[0] for text in batch[:4]]
                for size in (len(batch), 13, 9, 7, 6, 5, 2):
                    if self.collect(self.launch(batch[:size]))[:4] != alone[:size]:
                        return False
        return True
