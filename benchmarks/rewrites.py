"""How many sentences a rewriter rewrites, and how near in meaning a sentence encoder finds the rewrites.

python benchmarks/rewrites.py --data sst2/dev.jsonl.gz --parser spacy:en_core_web_sm --encoder minilm
python benchmarks/rewrites.py --data rte/dev.jsonl.gz --text-field hypothesis --rewriter scpn --paraphraser hf:MODEL
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from mohs import engine
from mohs.engine import Service
from mohs.space import Services
from mohs.space.fever import Fever
from mohs.space.paraphrase import Paraphrase, Scpn
from mohs.space.syntax import Syntax
from mohs.tasks.services import load_services
from mohs.text import Text
from mohs.text.dataset import Dataset

REWRITERS: dict[str, Any] = {"syntax": Syntax(), "fever": Fever(), "scpn": Scpn(), "paraphrase": Paraphrase()}


def main() -> None:
    """Rewrite every sentence, measure, print."""
    asked = _asked()
    texts = list(_texts(asked))
    rewriter = REWRITERS[asked.rewriter]
    given = {"parser": asked.parser, "paraphraser": asked.paraphraser, "encoder": asked.encoder}
    parts = load_services((*rewriter.needs, "encoder"), given)
    ask = Services(parts, Random(0))

    async def rewritten(text: Text) -> list[tuple[str, float]]:
        found: dict[str, str] = await rewriter.rewrite(text, 0, ask)
        vectors = await ask.encoder([text.fields[0], *found])
        return [
            (rule, float(np.dot(vectors[0], vector))) for rule, vector in zip(found.values(), vectors[1:], strict=True)
        ]

    services = [part for part in parts.values() if isinstance(part, Service)]
    cosines: dict[str, list[float]] = defaultdict(list)
    sentences: dict[str, int] = defaultdict(int)
    reached = 0
    for finished in engine.run([(n, rewritten(text)) for n, text in enumerate(texts)], services):
        if finished.error is not None:
            raise finished.error
        found = finished.result or []
        reached += bool(found)
        for rule in {rule for rule, _ in found}:
            sentences[rule] += 1
        for rule, cosine in found:
            cosines[rule].append(cosine)
    print(f"{reached} of {len(texts)} texts have a rewrite")
    print(f"{'rule':44} {'texts':>6} {'rewrites':>8} {'mean cosine':>11} {'at least 0.8':>12}")
    everything = [value for values in cosines.values() for value in values]
    for rule, values in [*sorted(cosines.items(), key=lambda row: -len(row[1])), ("all", everything)]:
        if values:
            high = sum(value >= 0.8 for value in values) / len(values)
            number = reached if rule == "all" else sentences[rule]
            print(f"{rule:44} {number:6} {len(values):8} {np.mean(values):11.3f} {high:12.1%}")


def _texts(asked: argparse.Namespace) -> Iterator[Text]:
    """One text of one field each."""
    fields = (asked.text_field,) if asked.text_field else ()
    for example in Dataset(asked.data, fields=fields, n=asked.n):
        yield Text(example.text.fields[0])


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--text-field")
    parser.add_argument("--n", type=int)
    parser.add_argument("--rewriter", choices=sorted(REWRITERS), default="syntax")
    parser.add_argument("--parser", default="auto")
    parser.add_argument("--paraphraser")
    parser.add_argument("--encoder", default="minilm")
    return parser.parse_args()


if __name__ == "__main__":
    main()
