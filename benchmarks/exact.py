"""Do a text's logits depend on how many rows are in its batch?

    python benchmarks/exact.py

For three sizes of a transformer with random weights and several lengths, without padding: which batch sizes give
other bits than a batch of 64. Batches are filled up (mohs.models.batch_shapes) because of the answer, which depends on
threads.
"""

from __future__ import annotations

import platform

import torch
from transformers import BertConfig, BertForSequenceClassification

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17, 20, 31, 32, 33)


def main() -> None:
    print(f"torch {torch.__version__}, {platform.machine()}, {torch.get_num_threads()} threads")
    torch.manual_seed(0)
    for width, layers, heads in ((32, 2, 2), (384, 6, 12), (768, 2, 12)):
        config = BertConfig(
            hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * width
        )
        model = BertForSequenceClassification(config).eval()
        for length in (3, 8, 24, 128):
            rows = torch.randint(1000, 30_000, (64, length))
            with torch.inference_mode():
                whole = model(input_ids=rows).logits
                other = [
                    size
                    for size in SIZES
                    for parts in [[model(input_ids=rows[i : i + size]).logits for i in range(0, 65 - size, size)]]
                    if not torch.equal(torch.cat(parts), whole[: sum(map(len, parts))])
                ]
            print(f"width {width:4} length {length:4}: other bits at {other or 'no size'}")


if __name__ == "__main__":
    main()
