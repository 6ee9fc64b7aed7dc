"""Second-order attacks and counterfactual bias (Zhang et al. 2021) on victims trained here, beside what they print.

    python reproductions/second_order.py --assets DIR [--quick] [--parts second-order bias] [--victims bow cnn lstm ...]

DIR holds data/sst2, lexical/ and models/minilm-mlm (see --help). Victims are trained on SST-2 on first use and kept
under --out, as are the runs, so a second call goes on where the first stopped. Examples are the first of SST-2's dev
part, fewer for slower methods. All runs of one call share the answers of the masked language model, which do not depend
on the victim: `rows` counts what a run asked for, `seconds` what it took with the answers that were there already.
--quick: two victims, few examples, bias at k = 0 and 1; within five minutes on two cores, training included.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mohs.bias import PairBias
    from mohs.report.second_order.figures import SecondOrderSummary

LABELS = ("negative", "positive")
# The sizes of section 3.3.1; the LSTM whose bias is measured (4.2.1) has 75 numbers a direction.
SIZES: dict[str, dict[str, Any]] = {
    "bow": {"hidden": 100},
    "cnn": {"hidden": 100},
    "lstm": {"hidden": 100},
    "transformer": {"hidden": 64, "layers": 3, "heads": 4},
    "bilstm": {"hidden": 150},
}
VICTIMS = ("bow", "cnn", "lstm", "transformer", "minilm")
METHODS = {"so-beam": 1.0, "so-enum": 0.3, "random": 1.5}  # how many examples, of --n
FEWER = {"minilm": 0.25}  # on a CPU: asks for thousands of texts an example, and reads some hundred a second
DEV = 872  # examples
# Table 2 (base models): success in percent, for Genetic, BAE, SO-Enum, SO-Beam. The bottom row is bert-base.
PRINTED = {
    "bow": (57.0, 69.7, 95.3, 99.7),
    "cnn": (62.0, 71.0, 95.3, 99.8),
    "lstm": (60.0, 68.3, 95.8, 99.5),
    "transformer": (73.0, 74.3, 95.4, 98.0),
    "minilm": (41.0, 61.5, 94.3, 98.7),
}
# Table 3: perplexity before and after, words changed; Table 6: seconds. For SO-Enum, SO-Beam.
QUALITY = {
    "bow": (("168 → 202", 1.1, 6.2), ("166 → 202", 1.2, 1.8)),
    "cnn": (("170 → 204", 1.1, 5.9), ("166 → 201", 1.2, 1.7)),
    "lstm": (("168 → 204", 1.1, 7.0), ("166 → 204", 1.2, 1.9)),
    "transformer": (("165 → 193", 1.0, 6.5), ("165 → 195", 1.1, 2.5)),
    "minilm": (("170 → 229", 1.3, 35.4), ("168 → 222", 1.4, 7.1)),
}
# Table 5: sentences of the filtered set, and their neighbours at k = 3.
COUNTS = {
    ("he", "she"): (5, 325_401),
    ("his", "her"): (4, 255_245),
    ("him", "her"): (4, 233_803),
    ("men", "women"): (3, 192_504),
    ("man", "woman"): (3, 222_981),
    ("actor", "actress"): (2, 141_780),
}
REMEMBERED = 200_000  # answers of a model that are kept; some 3 kB each


@dataclass(frozen=True)
class Setting:
    """Where things are and how much of them to take."""

    assets: Path
    out: Path
    rows: int
    epochs: int
    k: int
    breadth: int
    minilm: str | None
    device: str
    quick: bool

    @property
    def data(self) -> Path:
        """The folder of SST-2, whose test labels are not public: its dev part serves."""
        return self.assets / "data" / "sst2"

    def device_of(self, arch: str) -> str:
        """Victims that read words are too small for anything but a CPU."""
        return self.device if arch == "minilm" else "cpu"

    @property
    def dev(self) -> str:
        """The examples."""
        return str(self.data / "dev.jsonl.gz")

    @property
    def mark(self) -> str:
        """What tells folders of a short run from those of a long one."""
        return "-quick" * self.quick


class Remembered:
    """A model that answers a question once, whichever run asks it."""

    def __init__(self, model: Any) -> None:
        self.model = model
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
        if len(self.known) < REMEMBERED:
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
    if arch == "minilm":
        kind, rows = f"hf:{setting.assets / 'models' / 'minilm-mlm'}", rows // 4
        options = {"lr": 1e-4, "epochs": 2, "max_words": 64}
    else:
        kind, options = arch, {"vectors": str(setting.assets / "lexical" / "glove-100d"), "epochs": setting.epochs}
        options |= SIZES[arch]
    if debiased:
        options["swap"] = Whole(read_pairs("gender").pairs, "gender")
    started = time.perf_counter()
    done = train(
        kind,
        Dataset(str(setting.data / "train.jsonl.gz"), n=rows, sample=0),
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


def searched(arch: str, victim: str, method: str, n: int, models: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """The figures of one method on one victim."""
    import mohs
    from mohs.report.second_order.figures import summarise_second_order

    before, started = models["masked_lm"].asked, time.perf_counter()
    with mohs.second_order_attack(
        victim,
        setting.dev,
        method,
        n=n,
        synonyms=f"thesaurus:{setting.assets / 'lexical' / 'jia-2019-neighbours.json.gz'}",
        labels=LABELS,
        out=setting.out / "runs" / f"{arch}-{method}-{n}{setting.mark}",
        device=setting.device_of(arch),
        **models,
    ) as run:
        (summary,) = summarise_second_order(run.records())
    return {
        "key": ["second-order", arch, method, n, setting.mark],
        "row": line(arch, method, summary, (models["masked_lm"].asked - before) / n, time.perf_counter() - started),
    }


def line(arch: str, method: str, summary: SecondOrderSummary, rows: float, seconds: float) -> str:
    """A row of the table of second-order attacks; seconds of the whole run."""
    found, judged = summary.vulnerable, summary.with_pair.total
    low, high = type(found)(found.hits, judged, "").interval or (0.0, 1.0)
    place = ("so-enum", "so-beam").index(method) if method != "random" else None
    printed = QUALITY[arch][place] if place is not None else ("", "", "")
    rate = f"{PRINTED[arch][2 + place]:.1f}" if place is not None else ""
    fluent = (
        f"{summary.perplexity_before:.0f} → {summary.perplexity:.0f}"
        if summary.perplexity is not None and summary.perplexity_before is not None
        else "-"
    )
    cells = [
        arch,
        method,
        f"{share(found.hits, judged)} [{100 * low:.0f}, {100 * high:.0f}]",
        share(found.hits, found.total),
        rate,
        str(summary.unchanged),
        f"{summary.l0.value:.2f}" if summary.l0.value is not None else "-",
        printed[1],
        fluent,
        printed[0],
        f"{summary.queries.value:.0f}" if summary.queries.value is not None else "-",
        f"{rows:.0f}",
        f"{seconds / judged:.1f}" if judged else "-",
        printed[2],
    ]
    return f"| {' | '.join(map(str, cells))} |"


def share(hits: int, total: int) -> str:
    """A share in percent with its numbers."""
    return f"{100 * hits / total:.1f} ({hits}/{total})" if total else "-"


HEAD = (
    "| victim | method | found, % of all | of those with a pair | paper, % of 872 | original itself | l0 | paper "
    "| perplexity | paper (GPT-2) | queries | masked-LM rows | seconds | paper |\n" + "|---" * 14 + "|"
)


def second_order(
    victims: Sequence[str], methods: Sequence[str], n: int, models: dict[str, Any], setting: Setting
) -> None:
    """Methods on victims, one table."""
    known = finished(setting.out)
    names = {arch: trained(arch, setting) for arch in victims}
    rows: dict[tuple[Any, ...], str] = {}
    for method in methods:
        for arch in victims:
            part = 1.0 if setting.device.startswith("cuda") else FEWER.get(arch, 1.0)
            count = min(DEV, max(1, round(n * METHODS[method] * part)))
            key = ("second-order", arch, method, count, setting.mark)
            if key not in known:
                keep(setting.out, searched(arch, names[arch], method, count, models, setting))
                known = finished(setting.out)
            rows[key] = known[key]
            print(rows[key], flush=True)
    print(f"\n{HEAD}")
    for arch in victims:
        for key, row in rows.items():
            if key[1] == arch:
                print(row)


def bias(setting: Setting, loaded: dict[str, Any]) -> None:
    """The base and the debiased LSTM over all of the dev part: two tables, and the page that sets them side by side."""
    import mohs
    from mohs.bias import pair_biases

    names = {"base": trained("bilstm", setting), "debiased": trained("bilstm", setting, debiased=True)}
    runs = {}
    for kind, victim in names.items():
        started = time.perf_counter()
        runs[kind] = mohs.token_bias(
            victim,
            setting.dev,
            "gender",
            k=setting.k,
            most=1_000 if setting.breadth < 800 else 1_000_000,
            breadth=setting.breadth,
            labels=LABELS,
            label="positive",
            out=setting.out / "runs" / f"bias-{kind}-{setting.k}-{setting.breadth}{setting.mark}",
            device="cpu",
            **loaded,
        )
        print(f"bias of the {kind} LSTM measured in {time.perf_counter() - started:.0f} s", flush=True)
    for epsilon, title in ((None, "all sentences"), (0.005, "sentences that the pair moves by less than 0.005")):
        print(f"\nBias, {title}:\n")
        print(bias_table({kind: pair_biases(run.records(), epsilon=epsilon) for kind, run in runs.items()}, setting.k))
    page = runs["debiased"].report(setting.out / f"bias{setting.mark}.html", against=runs["base"])
    print(f"\nFigures: {page}, as `mohs report {runs['debiased'].folder} --against {runs['base'].folder}` writes them.")
    for run in runs.values():
        run.close()


def bias_table(found: dict[str, list[PairBias]], k: int) -> str:
    """One row a pair with at least two sentences, and one for all pairs together."""
    heads = [f"{kind}, k={depth}" for kind in found for depth in range(k + 1)]
    lines = [
        f"| pair | sentences ({', '.join(found)}) | neighbours, k={k} | paper (filtered, k=3) | {' | '.join(heads)} |",
        "|---" * (4 + len(heads)) + "|",
    ]
    pairs = list(dict.fromkeys((one.old, one.new) for group in found.values() for one in group))
    cells = {
        (kind, pair): {one.k: one for one in group if (one.old, one.new) == pair}
        for kind, group in found.items()
        for pair in pairs
    }
    for pair in pairs:
        rows = [cells[kind, pair] for kind in found]
        if max(row[0].sentences if row else 0 for row in rows) < 2:
            continue
        lines.append(
            f"| {', '.join(pair)} | {', '.join(str(row[0].sentences) if row else '0' for row in rows)} "
            f"| {', '.join(f'{row[k].neighbours:,}' if k in row else '0' for row in rows)} "
            f"| {'{} → {:,}'.format(*COUNTS[pair]) if pair in COUNTS else ''} | "
            + " | ".join(signed(row.get(depth)) for row in rows for depth in range(k + 1))
            + " |"
        )
    lines.append(
        f"| all {len(pairs)} pairs | {', '.join(str(total(group, 0).sentences) for group in found.values())} "
        f"| {', '.join(f'{total(group, k).neighbours:,}' for group in found.values())} | 34 → 2,317,635 | "
        + " | ".join(f"{100 * total(group, d).bias:+.2f}" for group in found.values() for d in range(k + 1))
        + " |"
    )
    return "\n".join(lines)


@dataclass(frozen=True)
class Total:
    """All pairs at one distance."""

    sentences: int
    neighbours: int
    bias: float


def total(group: Iterable[PairBias], k: int) -> Total:
    """Pairs weigh by their neighbours, as sentences do in a pair."""
    level = [one for one in group if one.k == k]
    count = sum(one.neighbours for one in level)
    sizes = [one.size or one.neighbours for one in level]
    pooled = sum(one.bias * size for one, size in zip(level, sizes, strict=True))
    return Total(sum(one.sentences for one in level), count, pooled / sum(sizes) if count else 0.0)


def signed(one: PairBias | None) -> str:
    """A bias in points of probability, its interval, and a star where it holds for all pairs together."""
    if one is None:
        return "-"
    spread = f" [{100 * one.low:+.2f}, {100 * one.high:+.2f}]" if one.low == one.low else ""  # nan: too few
    return f"{100 * one.bias:+.2f}{spread}{'*' if one.holm < 0.05 else ''}"


def finished(out: Path) -> dict[tuple[Any, ...], str]:
    """The rows that an earlier call made."""
    if not (out / "second-order.jsonl").exists():
        return {}
    rows = [json.loads(line) for line in (out / "second-order.jsonl").read_text().splitlines()]
    return {tuple(row["key"]): row["row"] for row in rows}


def keep(out: Path, row: dict[str, Any]) -> None:
    """Note a finished row."""
    with (out / "second-order.jsonl").open("a") as file:
        print(json.dumps(row), file=file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions"))
    parser.add_argument("--parts", nargs="+", default=["second-order", "bias"], choices=("second-order", "bias"))
    parser.add_argument("--victims", nargs="+", default=list(VICTIMS), choices=VICTIMS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--n", type=int, default=40, help="examples for so-beam; so-enum 0.3, random 1.5 times as many")
    parser.add_argument("--rows", type=int, default=20_000, help="training examples drawn; a quarter for minilm")
    parser.add_argument("--epochs", type=int, default=6, help="of the victims that read words")
    parser.add_argument(
        "--minilm", help="a folder with a classifier for SST-2 that is not trained on MR, which overlaps"
    )
    parser.add_argument("--masked-lm", help="by default models/minilm-mlm of the assets")
    parser.add_argument("--lm", help="a causal language model for perplexities, such as gguf:FILE")
    parser.add_argument("--k", type=int, default=3, help="of bias")
    parser.add_argument("--breadth", type=int, default=8, help="of bias: texts a level is sampled from; released: 800")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.victims, options.n, options.rows, options.epochs, options.k = ["cnn", "lstm"], 10, 4_000, 3, 1
    setting = Setting(
        options.assets,
        options.out,
        options.rows,
        options.epochs,
        options.k,
        options.breadth,
        options.minilm,
        options.device,
        options.quick,
    )
    from mohs.models.causal_lm import load_lm
    from mohs.models.masked_lm import load_masked_lm

    options.out.mkdir(parents=True, exist_ok=True)
    spec = options.masked_lm or f"hf:{options.assets / 'models' / 'minilm-mlm'}"
    loaded = {"masked_lm": Remembered(load_masked_lm(spec, options.device))}
    fluency = {} if options.lm is None else {"lm": Remembered(load_lm(options.lm, options.device))}
    if "second-order" in options.parts:
        second_order(options.victims, options.methods, options.n, loaded | fluency, setting)
    if "bias" in options.parts:
        bias(setting, loaded)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
