"""How long does a second-order search take, and how much of that is the models' own?

    python benchmarks/second_order.py --masked-lm hf:FOLDER --data dev.jsonl.gz --synonyms thesaurus:FILE [--n 200]

The victim has the size of BERT-base (`--size minilm`: of MiniLM-L6) and the tokenizer of the masked language model. Its
weights are set by hand so that it reads texts as the bundled bag of words does, through one layer that looks at all
tokens alike: its work is that of any other such network, and its answers tip over as a real classifier's do. Printed
for each method: seconds an example over all examples, how many had a pair of synonyms and how many of those a
vulnerable example, changed words, what went through both networks, and the share of the time in which the device (on a
CPU: the process) worked on forwards. Zhang et al. 2021, Table 6, have 35.4 s (SO-Enum) and 7.1 s (SO-Beam) for
BERT-base on an RTX 3090.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from pathlib import Path
from typing import Any

from gpu import SIZES

import mohs
from mohs.models.bag import pocket_victim
from mohs.models.hf import HfVictim
from mohs.models.masked_lm import MaskedLm
from mohs.records import Outcome


class Clock:
    """How long a device, or this process, works on forwards."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._spans: list[tuple[Any, Any]] = []
        self._seconds = 0.0
        self.rows = 0

    def over(self, work: Any, *given: Any, rows: int) -> Any:
        """Do some work, and note how long it took."""
        self.rows += rows
        if self._device == "cpu":
            started = time.perf_counter()
            found = work(*given)
            self._seconds += time.perf_counter() - started
            return found
        import torch

        event: Any = torch.cuda.Event
        start, end = event(enable_timing=True), event(enable_timing=True)
        start.record()
        found = work(*given)
        end.record()
        self._spans.append((start, end))
        return found

    def take(self) -> tuple[float, int]:
        """Seconds and rows since the last time."""
        if self._spans:
            import torch

            torch.cuda.synchronize()
        seconds = self._seconds + sum(float(a.elapsed_time(b)) for a, b in self._spans) / 1e3
        rows, self.rows, self._seconds = self.rows, 0, 0.0
        self._spans.clear()
        return seconds, rows


class WatchedVictim(HfVictim):
    """A victim with a clock."""

    def __init__(self, folder: str, clock: Clock, **options: Any) -> None:
        self.clock = clock
        super().__init__(folder, **options)

    def _forward(self, laid: Any) -> Any:
        return self.clock.over(super()._forward, laid, rows=sum(part.rows for part in laid))


class WatchedLm(MaskedLm):
    """A masked language model with a clock."""

    def __init__(self, folder: str, clock: Clock, **options: Any) -> None:
        self.clock = clock
        super().__init__(folder, **options)

    def _scores(self, readings: Any) -> Any:
        return self.clock.over(super()._scores, readings, rows=len(readings))


def planted(folder: Path, tokenizer: str, sizes: dict[str, int]) -> None:
    """A classifier whose [CLS] sees the mean of one dimension of the words, which holds their scores."""
    import torch

    library: Any = importlib.import_module("transformers")
    library.logging.disable_progress_bar()
    torch.manual_seed(0)
    known = library.AutoTokenizer.from_pretrained(tokenizer)
    known.save_pretrained(folder)
    model = library.BertForSequenceClassification(library.BertConfig(vocab_size=len(known), **sizes))
    scores = pocket_victim().word_scores
    with torch.no_grad():
        words = model.bert.embeddings.word_embeddings.weight
        words[:, :2] = 0
        for name, number in known.get_vocab().items():
            words[number, 0] = 0.2 * scores.get(name, 0.0)
        for table in (model.bert.embeddings.position_embeddings, model.bert.embeddings.token_type_embeddings):
            table.weight[:, :2] = 0
        for layer in model.bert.encoder.layer:
            layer.attention.output.dense.weight.zero_()
            layer.output.dense.weight.zero_()
        first = model.bert.encoder.layer[0].attention
        first.self.query.weight.zero_()
        first.self.value.weight.zero_()
        first.self.value.weight[0, 0] = 1
        first.output.dense.weight[1, 0] = 5
        model.bert.pooler.dense.weight.zero_()
        model.bert.pooler.dense.weight[0, 1] = 0.5
        model.classifier.weight.zero_()
        model.classifier.weight[0, 0], model.classifier.weight[1, 0] = -2, 2
        for module in model.modules():
            if isinstance(module, torch.nn.Linear) and module.bias is not None:
                module.bias.zero_()
    model.save_pretrained(folder)


def measure(method: str, n: int, victim: WatchedVictim, masked_lm: WatchedLm, options: argparse.Namespace) -> None:
    """The line of one method."""
    given = {"masked_lm": masked_lm, "synonyms": options.synonyms, "device": options.device}
    mohs.second_order_attack(victim, options.data, method, n=max(4, n // 20), **given)  # shapes that later recur
    victim.clock.take(), masked_lm.clock.take()
    started = time.perf_counter()
    run = mohs.second_order_attack(victim, options.data, method, n=n, **given)
    wall = time.perf_counter() - started  # with what goes before the first search, as the clocks have it
    (victim_seconds, victim_rows), (lm_seconds, lm_rows) = victim.clock.take(), masked_lm.clock.take()
    records = list(run.records())
    seconds = run.effort()["seconds"]
    found = [record for record in records if record.outcome is Outcome.SUCCESS]
    tried = [record for record in records if record.outcome is not Outcome.SKIPPED]
    words = sum(len(record.edits) for record in found) / max(1, len(found))
    print(
        f"{method}: {seconds / len(records):.3f} s an example ({len(records)} examples, {len(tried)} with a pair, "
        f"{len(found)} vulnerable, {words:.2f} words changed); {victim_rows / len(records):,.0f} texts and "
        f"{lm_rows / len(records):,.0f} masked rows an example; in forwards "
        f"{(victim_seconds + lm_seconds) / wall:.0%} of the time (victim {victim_seconds / wall:.0%}, "
        f"masked model {lm_seconds / wall:.0%})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--masked-lm", required=True, metavar="hf:FOLDER")
    parser.add_argument("--data", required=True)
    parser.add_argument("--synonyms", default=None)
    parser.add_argument("--methods", nargs="+", default=["so-beam", "so-enum"])
    parser.add_argument("--size", default="base", choices=SIZES)
    parser.add_argument("--n", nargs="+", type=int, default=[200], help="examples, for all methods or for each")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bf16")
    options = parser.parse_args()
    spec = options.masked_lm.removeprefix("hf:")
    with tempfile.TemporaryDirectory() as folder:
        planted(Path(folder), spec, SIZES[options.size])
        victim = WatchedVictim(folder, Clock(options.device), device=options.device, dtype=options.dtype)
        masked_lm = WatchedLm(spec, Clock(options.device), device=options.device)
        for place, method in enumerate(options.methods):
            measure(method, options.n[min(place, len(options.n) - 1)], victim, masked_lm, options)


if __name__ == "__main__":
    main()
