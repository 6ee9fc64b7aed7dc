"""Fine-tuning a Hugging Face encoder into a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mohs.errors import BadInput
from mohs.models import batch_size
from mohs.models.hf import HfVictim
from mohs.models.hub import not_fetched, quiet_hub, unreachable
from mohs.models.pretrained import place_of, transformers, window_of
from mohs.models.victim import Victim
from mohs.text import Text
from mohs.training.learner import CRITIC, IN_TRAINING, Embedded, States, Texts
from mohs.training.recipe import Recipe


class HfLearner:
    """A pre-trained encoder with a classifier head, which may be new. Pairs are encoded as the tokenizer does."""

    prefix = "hf"

    def __init__(self, recipe: Recipe, texts: Texts, labels: tuple[str, ...]) -> None:
        spec = recipe.arch.removeprefix("hf:")
        self._tokenizer, self.module, new = _load(spec, labels)
        self.new = new
        self._tokenizer.model_max_length = min(recipe.max_words, window_of(self._tokenizer, self.module.config))

    def rows(self, texts: Texts) -> list[Any]:
        """Token ids, and segment ids if the model uses them."""
        if not texts:
            return []
        columns = map(list, zip(*texts, strict=True))
        encoded = self._tokenizer(*columns, truncation=True, return_attention_mask=False)
        return list(encoded.encodings)

    def logits(self, rows: Sequence[Any]) -> Tensor:
        """Logits of a batch of rows."""
        found = self.module(**self._inputs(rows))
        logits: Tensor = found.logits.float()
        return logits

    def embed(self, rows: Sequence[Any]) -> Embedded:
        """The token vectors of a batch, before positions are added, and how to go on from them."""
        try:
            table = self.module.get_input_embeddings()
        except NotImplementedError:
            table = None
        if table is None:
            raise BadInput(f"{type(self.module).__name__} has no input embeddings, which hardening needs.")
        inputs = self._inputs(rows)
        vectors = table(inputs.pop("input_ids"))

        def read(changed: Tensor) -> Tensor:
            logits: Tensor = self.module(inputs_embeds=changed, **inputs).logits.float()
            return logits

        def states(changed: Tensor) -> States:
            found = self.module(inputs_embeds=changed, output_hidden_states=True, **inputs)
            return States(found.logits.float(), found.hidden_states[0], found.hidden_states[-1])

        return Embedded(vectors, inputs["attention_mask"].bool(), read, states)

    def places(self, row: Any, text: Text) -> list[list[int]]:
        """The places of the tokens of each word of a text."""
        spans = text.spans()
        found: list[list[int]] = [[] for _ in spans]
        word = 0
        for place, (number, (start, end)) in enumerate(zip(row.sequence_ids, row.offsets, strict=True)):
            if number is None or start == end:
                continue
            while word < len(spans) and (spans[word][0], spans[word][2]) <= (number, start):
                word += 1
            if word < len(spans) and spans[word][0] == number and spans[word][1] < end:
                found[word].append(place)
        return found

    def _inputs(self, rows: Sequence[Any]) -> dict[str, Tensor]:
        longest = max(map(len, rows))
        inputs = {
            "input_ids": [row.ids + [self._tokenizer.pad_token_id] * (longest - len(row)) for row in rows],
            "attention_mask": [[1] * len(row) + [0] * (longest - len(row)) for row in rows],
        }
        if "token_type_ids" in self._tokenizer.model_input_names:
            inputs["token_type_ids"] = [row.type_ids + [0] * (longest - len(row)) for row in rows]
        device = self.module.device
        return {key: torch.tensor(value).to(device) for key, value in inputs.items()}

    def victim(self) -> Victim:
        """A victim with the weights of the moment, which follows them; for attacks in training."""
        device = self.module.device
        tokens = 0 if device.type == "cuda" else batch_size.DEFAULT_TOKENS  # not one that was timed
        found = HfVictim(self.module, self._tokenizer, device=str(device), dtype="fp32", tokens=tokens)
        assert next(found._model.parameters()) is next(self.module.parameters()), "it would not follow"
        found.name, found.labels = IN_TRAINING, tuple(self.module.config.id2label.values())
        return found

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in the Hugging Face layout."""
        own = {key: tensor for key, tensor in self.module.state_dict().items() if not key.startswith(f"{CRITIC}.")}
        self.module.save_pretrained(folder, state_dict=own)
        self._tokenizer.save_pretrained(folder)

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        own = [tensor for name, tensor in self.module.named_parameters() if not name.startswith(f"{CRITIC}.")]
        return {
            "started with random numbers": ", ".join(self.new) or "nothing",
            "numbers in the model": f"{sum(tensor.numel() for tensor in own):,}",
        }


@quiet_hub()
def _load(spec: str, labels: tuple[str, ...]) -> tuple[Any, Any, list[str]]:
    """A tokenizer, a model and the names of the weights that are new."""
    library, place = transformers(), place_of(spec)
    names = dict(enumerate(labels))
    fault = unreachable(place)
    options = {"local_files_only": bool(fault)}
    try:
        config = library.AutoConfig.from_pretrained(place, **options)
        if getattr(config, "auto_map", None):
            raise BadInput(f"hf:{spec} needs its own code, which mohs does not run; fine-tune it elsewhere.")
        config.num_labels, config.problem_type = len(labels), "single_label_classification"
        config.id2label, config.label2id = names, {name: number for number, name in names.items()}
        tokenizer = library.AutoTokenizer.from_pretrained(place, **options)
        model, report = library.AutoModelForSequenceClassification.from_pretrained(
            place, config=config, output_loading_info=True, ignore_mismatched_sizes=True, **options
        )
    except BadInput:
        raise
    except Exception as error:  # the library raises many types
        reason = " ".join(str(error).split())
        if fault and isinstance(error, OSError):
            raise BadInput(not_fetched(f"hf:{spec}", fault)) from error
        raise BadInput(f"hf:{spec} cannot be loaded: {reason[:300] or type(error).__name__}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise BadInput(f"hf:{spec} has no fast tokenizer; save a tokenizer.json with the model.")
    if tokenizer.pad_token_id is None:
        raise BadInput(f"hf:{spec} has a tokenizer without a padding token; set one and save it again.")
    if tokenizer.truncation_side != "right" or tokenizer.padding_side != "right":
        raise BadInput(f"hf:{spec} cuts or pads texts at the start; set both sides to right in its tokenizer.")
    read = tokenizer("It was a good day in the city.", add_special_tokens=False)["input_ids"]
    if not read or set(read) <= {tokenizer.unk_token_id}:
        raise BadInput(f"hf:{spec} has a tokenizer that knows no words; save the trained tokenizer with the model.")
    new = sorted({*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])})
    inside = [key for key in new if key.startswith(f"{model.base_model_prefix}.") and ".pooler." not in key]
    if inside:
        raise BadInput(f"hf:{spec} has no weights for {inside[0]}, a part of the encoder; give a complete encoder.")
    return tokenizer, model.float(), new
