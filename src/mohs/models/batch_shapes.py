"""How many rows and tokens a batch has.

On a CPU a length is exact: there is no padding and no mask, and a batch of fewer than four rows is filled up by
repeating one, so that on some machines a text's numbers are the same bits in any company (on others it takes a multiple
of four, and on some nothing helps; loading a victim tries that out). A CUDA device wants few shapes instead: rows are
padded to a multiple of eight tokens, which is a property of the text alone, masked, and filled up to one of a few
counts, and each shape is recorded once (`mohs.models.graphs`).
"""

from __future__ import annotations

from typing import Any

FEWEST_ROWS = 4
FEWEST_ROWS_ON_CUDA = 64
TOKENS_PER_BATCH_ON_CUDA = 65_536  # on a CPU the number is tried out

_TOKEN_STEP = 8
_ROW_COUNTS = (FEWEST_ROWS_ON_CUDA, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
_SCORES_PER_TOKEN = 4096  # 32 MB of scores over a vocabulary in a batch on a CPU, 1 GB on CUDA


def padded_length(tokens: Any) -> Any:
    """How long a padded row of so many tokens is; takes a number or an array of them."""
    return -(-tokens // _TOKEN_STEP) * _TOKEN_STEP


def full_batch(length: int, tokens: int, padded: bool, scores: int = 0) -> int:
    """How many rows of one length make a batch of so many tokens, or fewer if each gives many scores."""
    rows = tokens // length
    if scores:
        rows = min(rows, tokens * _SCORES_PER_TOKEN // scores)
    if padded and not scores:
        return max((count for count in _ROW_COUNTS if count <= rows), default=_ROW_COUNTS[0])
    return max(FEWEST_ROWS, rows // FEWEST_ROWS * FEWEST_ROWS)


def without_filling(most: int, waiting: int) -> int:
    """How many of so many waiting rows make a padded batch that need not be filled up, or all if they are few."""
    if waiting <= FEWEST_ROWS_ON_CUDA:
        return min(most, waiting)
    return min(most, max(count for count in _ROW_COUNTS if count <= waiting))


def filled_up(rows: int) -> int:
    """How many rows a padded batch of so many is filled up to."""
    return next((count for count in _ROW_COUNTS if count >= rows), rows)


def takes_masks(tokenizer: Any, model: Any) -> bool:
    """Whether a model leaves out what a mask for each row and token tells it to; most encoders do."""
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
    except Exception:  # whatever a model makes of a mask that it does not expect
        return False
