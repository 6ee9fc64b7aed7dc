"""The shape of a batch: how many rows and how many tokens it has.

On a CPU, a batch has rows of one exact length, without padding or mask. A batch of fewer than four rows is filled up by
repeating one. On some machines a text's scores are then bit-identical in every batch. Other machines need a multiple of
four rows, and on some nothing helps; loading a victim tests this.

A CUDA device works best with few shapes. There, rows are padded to a multiple of eight tokens, which depends on the
text alone, and masked. Batches are filled up to one of a few row counts. Each shape is recorded once
(`mohs.models.graphs`).
"""

from __future__ import annotations

from typing import Any

FEWEST_ROWS = 4
FEWEST_ROWS_ON_CUDA = 64
TOKENS_PER_BATCH_ON_CUDA = 65_536  # on a CPU the number is measured

_TOKEN_STEP = 8
_ROW_COUNTS = (FEWEST_ROWS_ON_CUDA, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
_SCORES_PER_TOKEN = 4096  # limits vocabulary scores in a batch to 32 MB on a CPU, 1 GB on CUDA


def padded_length(tokens: Any) -> Any:
    """The length of a row after padding; takes a number of tokens, or an array of numbers."""
    return -(-tokens // _TOKEN_STEP) * _TOKEN_STEP


def full_batch(length: int, tokens: int, padded: bool, scores: int = 0) -> int:
    """The number of rows in a batch of `tokens` tokens; fewer if each row gives many scores."""
    rows = tokens // length
    if scores:
        rows = min(rows, tokens * _SCORES_PER_TOKEN // scores)
    if padded and not scores:
        return max((count for count in _ROW_COUNTS if count <= rows), default=_ROW_COUNTS[0])
    return max(FEWEST_ROWS, rows // FEWEST_ROWS * FEWEST_ROWS)


def without_filling(most: int, waiting: int) -> int:
    """How many of the waiting rows to send as a padded batch that needs no filling up; all, if they are few."""
    if waiting <= FEWEST_ROWS_ON_CUDA:
        return min(most, waiting)
    return min(most, max(count for count in _ROW_COUNTS if count <= waiting))


def filled_up(rows: int) -> int:
    """The number of rows that a padded batch is filled up to."""
    return next((count for count in _ROW_COUNTS if count >= rows), rows)


def takes_masks(tokenizer: Any, model: Any) -> bool:
    """Whether a model obeys an attention mask per row and token; most encoders do."""
    import torch

    if tokenizer.pad_token_id is None:
        return False
    ids = tokenizer("a good film")["input_ids"]
    row = torch.tensor([ids, ids])
    more = torch.nn.functional.pad(row, (0, 5), value=tokenizer.pad_token_id)
    mask = torch.arange(more.shape[1])[None, None, None].expand(2, 1, 1, -1) < len(ids)
    try:
        model.eval()
        with torch.inference_mode():
            plain, padded = model(input_ids=row)[0], model(input_ids=more, attention_mask=mask)[0]
        if plain.ndim == 3:
            padded = padded[:, : len(ids)]
        return bool(torch.allclose(plain, padded, 1e-3, 1e-3)) and plain.shape == padded.shape
    except Exception:  # a model may raise anything at a mask that it does not expect
        return False
