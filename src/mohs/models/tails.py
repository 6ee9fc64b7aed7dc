"""The layers of an encoder that read the first token's last state and give the logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mohs.errors import BadInput

_TOLERANCE = 1e-3  # of logits


def tail_of(name: str, model: Any, inputs: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The logits as a function of the first token's last state. Raises BadInput if the model reads something else.

    Encoders differ in what follows: a pooler or none, inside the base or outside, and one layer or two. Each way is
    tried on some inputs, and the one that gives the model's own logits is taken.
    """
    import torch

    with torch.inference_mode():
        wanted = model(**inputs).logits
        state = model.base_model(**inputs).last_hidden_state[:, 0]
        for tail in _ways(model):
            try:
                found = tail(state)
            except Exception:  # layers that expect another shape may raise anything
                continue
            if found.shape == wanted.shape and torch.allclose(found, wanted, atol=_TOLERANCE):
                return tail
    raise BadInput(
        f"{name} decides by more than the first token's last state, so it has no sentence vector; "
        "use another attack or an encoder such as BERT."
    )


def _ways(model: Any) -> list[Callable[[Any], Any]]:
    head = getattr(model, "classifier", None)
    if head is None:
        return []
    base, before = model.base_model, getattr(model, "pre_classifier", None)
    ways: list[Callable[[Any], Any]] = [lambda state: head(state[:, None]), head]  # RoBERTa, ELECTRA; no more layers
    for pooler in (getattr(owner, "pooler", None) for owner in (base, model)):  # BERT; DeBERTa
        if pooler is not None:
            ways.append(partial(_pooled, head, pooler))
            ways.append(partial(_activated, head, pooler, getattr(base, "pooler_activation", None)))  # ALBERT
    if before is not None:
        ways.append(lambda state: head(before(state).relu()))  # DistilBERT
    return ways


def _pooled(head: Any, pooler: Any, state: Any) -> Any:
    return head(pooler(state[:, None]))


def _activated(head: Any, pooler: Any, activation: Any, state: Any) -> Any:
    return head(activation(pooler(state)))
