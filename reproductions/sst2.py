"""Victims trained on SST-2 for second_order.py and its parts, what their runs share, and how finished rows are kept."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELS = ("negative", "positive")
# The sizes of section 3.3.1; the LSTM whose bias is measured (4.2.1) has 75 numbers a direction.
SIZES: dict[str, dict[str, Any]] = {
    "bow": {"hidden": 100},
    "cnn": {"hidden": 100},
    "lstm": {"hidden": 100},
    "transformer": {"hidden": 64, "layers": 3, "heads": 4},
    "bilstm": {"hidden": 150},
}
# minilm is fine-tuned from the encoder of the masked language model that writes the neighbours, sbert from --base,
# which never saw that model's training texts.
VICTIMS = ("bow", "cnn", "lstm", "transformer", "minilm", "sbert")
PRETRAINED = ("minilm", "sbert")
DEV = 872  # examples
REMEMBERED = 200_000  # answers of a model that are kept; some 3 kB each


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where things are and how much of them to take."""

    assets: Path
    out: Path
    rows: int = 20_000
    epochs: int = 6
    k: int = 3
    breadth: int = 8
    minilm: str | None = None
    base: str | None = None
    device: str = "cpu"
    bias_device: str = "cpu"
    quick: bool = False

    @property
    def data(self) -> Path:
        """The folder of SST-2, whose test labels are not public: its dev part serves."""
        return self.assets / "data" / "sst2"

    @property
    def train(self) -> str:
        """All training examples."""
        return str(self.data / "train.jsonl.gz")

    @property
    def dev(self) -> str:
        """The examples."""
        return str(self.data / "dev.jsonl.gz")

    @property
    def synonyms(self) -> str:
        """The list of Jia et al. 2019."""
        return f"thesaurus:{self.assets / 'lexical' / 'jia-2019-neighbours.json.gz'}"

    @property
    def mark(self) -> str:
        """What tells folders of a short run from those of a long one."""
        return "-quick" * self.quick

    def device_of(self, arch: str) -> str:
        """Victims that read words are too small for anything but a CPU."""
        return self.device if arch in PRETRAINED else "cpu"

    def run(self, name: str) -> Path:
        """The folder of a run."""
        return self.out / "runs" / f"{name}{self.mark}"


class Remembered:
    """A model that answers a question once, whichever run asks it."""

    def __init__(self, model: Any, most: int = REMEMBERED) -> None:
        self.model = model
        self.most = most
        self.asked = 0
        self.known: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def plan(self, items: list[Any]) -> list[list[Any]]:
        """What is known in one batch, the rest as the model wants it."""
        self.asked += len(items)
        old = [item for item in items if item in self.known]
        new = [item for item in items if item not in self.known]
        return ([old] if old else []) + (self.model.plan(new) if new else [])

    def launch(self, batch: list[Any]) -> tuple[list[Any], Any]:
        """A batch is known as a whole or not at all."""
        if all(item in self.known for item in batch):
            return batch, None
        return batch, (self.model.launch(batch),)

    def collect(self, ticket: tuple[list[Any], Any]) -> list[Any]:
        """The answers, now known."""
        batch, asked = ticket
        if asked is None:
            return [self.known[item] for item in batch]
        answers = list(self.model.collect(*asked))
        if len(self.known) < self.most:
            self.known.update(zip(batch, answers, strict=True))
        return answers


def trained(arch: str, setting: Setting, *, debiased: bool = False) -> str:
    """The name of a victim, trained now if it is not there yet; says how good it is."""
    from mohs.bias import read_pairs
    from mohs.text.dataset import Dataset
    from mohs.training.swap import Whole
    from mohs.training.train import train

    if arch == "minilm" and setting.minilm:
        return f"hf:{setting.minilm}"
    rows, options = setting.rows, dict[str, Any]()
    if arch in PRETRAINED:
        base = setting.assets / "models" / "minilm-mlm" if arch == "minilm" else setting.base
        kind, rows = f"hf:{base}", rows // 4
        options = {"lr": 1e-4, "epochs": 2, "max_words": 64}
    else:
        kind, options = arch, {"vectors": str(setting.assets / "lexical" / "glove-100d"), "epochs": setting.epochs}
        options |= SIZES[arch]
    if debiased:
        options["swap"] = Whole(read_pairs("gender").pairs, "gender")
    started = time.perf_counter()
    done = train(
        kind,
        Dataset(setting.train, n=rows, sample=0),
        setting.out / "victims" / f"{arch}{'-debiased' * debiased}{setting.mark}",
        test=setting.dev,
        labels=LABELS,
        device=setting.device_of(arch),
        **options,
    )
    test, seconds = done.metrics["test"], time.perf_counter() - started
    print(
        f"{arch}{', debiased' * debiased}: trained on {rows:,} of SST-2, {test['right']} of {test['of']} dev examples "
        f"right ({test['right'] / test['of']:.1%}; {seconds:.0f} s)",
        flush=True,
    )
    return done.victim


def finished(out: Path) -> dict[tuple[Any, ...], str]:
    """The rows that an earlier call made."""
    if not (out / "second-order.jsonl").exists():
        return {}
    rows = [json.loads(line) for line in (out / "second-order.jsonl").read_text().splitlines()]
    return {tuple(row["key"]): row["row"] for row in rows}


def keep(out: Path, key: tuple[Any, ...], row: str) -> None:
    """Note a finished row."""
    with (out / "second-order.jsonl").open("a") as file:
        print(json.dumps({"key": key, "row": row}), file=file)


def share(hits: int, total: int) -> str:
    """A share in percent with its numbers and its 95% interval."""
    from mohs.report.rates import Rate

    low, high = Rate(hits, total, "").interval or (0.0, 1.0)
    return f"{100 * hits / total:.1f} ({hits}/{total}) [{100 * low:.0f}, {100 * high:.0f}]" if total else "-"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table as documentation writes it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" if cells[0] != "---" else "|---" * len(cells) + "|" for cells in lines)
