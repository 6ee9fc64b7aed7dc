"""Robustness radii (Yang et al. 2022) of victims trained here: tables 2 and 3, figures 3 to 5, beside what they print.

    python reproductions/radius.py --assets DIR [--quick] [--data mr snli imdb] [--victims bilstm cnn minilm] [--n 100]
    python reproductions/radius.py --assets DIR --full --n 200 --encoder FOLDER --device cuda      (one GPU)

DIR holds data/ and lexical/ (see --help). Victims are trained on first use and kept under --out, as are the runs, so a
second call goes on where the first stopped. An encoder (in the tables: minilm) is fine-tuned on each data set from the
model in --encoder; --minilm names one that is fine-tuned on MR already. For each victim there are three runs over the
same examples and the same space, the five nearest words of equal sememes: the attacks, the prover, the share of the
space that holds. Examples are drawn at random, fewer of IMDB and for an encoder.
--quick: MR and SNLI, less to learn from, 40 examples; within five minutes on two cores, training included.
--full: as many examples everywhere, all training data, and levels as far as the paper goes.
--draw independent, --r, --symmetric: other ways to draw texts, other radii and other candidates for the share.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from mohs.bounds import Share
from mohs.text import Text

LABELS = {
    "mr": ("negative", "positive"),
    "snli": ("entailment", "neutral", "contradiction"),
    "imdb": ("negative", "positive"),
}
TRAIN_ROWS = {"imdb": 4_000}  # of the training file, drawn at random
ENCODER_ROWS = 4_000  # for an encoder, unless --full
ENCODER_EPOCHS = 2
QUICK_ROWS = {"mr": 4_000, "snli": 10_000}
EPOCHS = {"mr": 8, "snli": 5, "imdb": 4}
FEWER = {"imdb": 0.3, "minilm": 0.2}  # examples, of --n
LEVELS = {"mr": 3, "snli": 4, "imdb": 1}  # how far is proven; encoders to 2 at most
FULL_LEVELS = {"mr": 4, "snli": 4, "imdb": 3}  # as in table 3
PARTS = ("attacks", "proof", "share")
METHODS = {"sememe-pso": "SememePSO", "textfooler": "TextFooler", "pdp": "PDP"}
SHARE_VALID = 0.25  # more words changed than this is no success
HIGH = 0.9  # a share of the space that figure 5 is about
# Table 2: success, #Win, %S of SememePSO, TextFooler, PDP. Their BERT stands beside our MiniLM, as everywhere below.
ATTACKS = {
    ("mr", "bilstm"): ((72.27, 0, 10.64), (55.00, 0, 12.09), (74.43, 33, 10.44)),
    ("mr", "minilm"): ((60.67, 0, 12.10), (33.79, 0, 13.96), (64.96, 30, 11.80)),
    ("imdb", "bilstm"): ((94.7, 0, 4.58), (85.4, 0, 6.78), (98.9, 599, 3.11)),
    ("imdb", "minilm"): ((87.1, 0, 4.31), (71.4, 0, 8.47), (89.9, 498, 2.87)),
    ("snli", "bilstm"): ((50.5, 0, 15.99), (59.2, 0, 15.76), (76.4, 31, 14.91)),
    ("snli", "minilm"): ((58.7, 0, 16.10), (63.6, 0, 15.83), (84.5, 30, 15.09)),
}
# Table 3: certified in percent for r = 1, 2 ..., and the seconds of a proof that held.
CERTIFIED = {
    ("mr", "bilstm"): ((64.00, 0.02), (42.00, 0.05), (28.00, 0.27), (22.00, 2.26)),
    ("mr", "minilm"): ((80.00, 0.24), (60.00, 2.49), (43.50, 20.95), (32.50, 46.23)),
    ("imdb", "bilstm"): ((84.41, 0.13), (68.01, 2.89), (54.50, 953.19)),
    ("imdb", "minilm"): ((87.34, 3.11), (74.09, 246.54), (61.52, 6448.39)),
    ("snli", "bilstm"): ((43.10, 0.01), (23.13, 0.07), (17.48, 0.11), (15.37, 0.23)),
    ("snli", "minilm"): ((28.57, 0.01), (11.99, 0.06), (7.63, 0.07), (6.42, 0.04)),
}
# Figure 5: examples whose share is above 0.9, in percent, where the text or the figure says so.
HIGH_SHARES = {("mr", "bilstm"): "79.22", ("mr", "minilm"): "90.97", ("imdb", "minilm"): "90.66"}


@dataclass(frozen=True)
class Setting:
    """Where things are and how much of them to take."""

    assets: Path
    out: Path
    n: int
    max_r: int | None
    most: int
    interval: str
    ready: dict[tuple[str, str], str]
    parts: list[str]
    device: str
    quick: bool
    encoder: str | None = None
    full: bool = False
    draw: str = "uniform"
    r: str = "25%"
    symmetric: bool = False

    def examples(self, data: str, arch: str) -> int:
        """How many are drawn: fewer where texts are long or the victim is slow."""
        if self.full:
            return self.n
        return max(1, round(self.n * min(FEWER.get(data, 1.0), FEWER.get(arch, 1.0))))

    def levels(self, data: str, arch: str) -> int:
        """How many substitutions are proven."""
        if self.full:
            return self.max_r or FULL_LEVELS[data]
        return self.max_r or min(LEVELS[data], 2 if arch == "minilm" or (self.quick and data == "mr") else 9)


def length(fields: Sequence[str]) -> int:
    """The words of the text that changes."""
    return len(Text(fields[-1]))


def trained(data: str, arch: str, setting: Setting) -> tuple[str, str]:
    """The name of a victim, trained now if it is not there yet, and a line about it."""
    from mohs.text.dataset import Dataset
    from mohs.training.train import train

    if (data, arch) in setting.ready:
        folder = setting.ready[data, arch]
        return f"{'hf' if arch == 'minilm' else 'mohs'}:{folder}", f"{data} {arch}: the one at {folder}"
    source = setting.assets / "data" / data
    rows = None if setting.full else (QUICK_ROWS if setting.quick else TRAIN_ROWS).get(data)
    made: dict[str, Any] = {"vectors": str(setting.assets / "lexical" / "glove-100d")}
    made["epochs"] = 3 if setting.quick else EPOCHS[data]
    kind = arch
    if arch == "minilm":
        kind, made = f"hf:{setting.encoder}", {"epochs": ENCODER_EPOCHS}
        rows = None if setting.full else ENCODER_ROWS
    options: dict[str, Any] = {"dev": str(source / "dev.jsonl.gz")} if (source / "dev.jsonl.gz").exists() else {}
    started = time.perf_counter()
    done = train(
        kind,
        Dataset(str(source / "train.jsonl.gz"), n=rows, sample=0),
        setting.out / "victims" / f"{data}-{arch}{'-quick' * setting.quick}{'-full' * setting.full}",
        labels=LABELS[data],
        test=Dataset(str(source / "test.jsonl.gz"), n=1_000, sample=1),
        device=setting.device,
        **made,
        **options,
    )
    test, seconds = done.metrics["test"], time.perf_counter() - started
    return done.victim, f"{data} {arch}: {test['right']} of {test['of']} test examples right ({seconds:.0f} s)"


@dataclass(frozen=True)
class Part:
    """One run: what it found of each example read right, and what it took."""

    rows: list[dict[str, Any]]
    misread: int
    errors: int
    queries: int
    seconds: float | None  # None where an earlier call made it and did not get to note it

    @property
    def pace(self) -> str:
        """Texts asked and seconds, an example."""
        n = max(1, len(self.rows))
        return f"{self.queries / n:,.0f} texts, " + (f"{self.seconds / n:.2f} s" if self.seconds else "- s")


def measured(data: str, arch: str, victim: str, part: str, setting: Setting, **what: Any) -> Part:
    """A radius run over the examples of a data set, from its folder where it is done."""
    import mohs
    from mohs.records import Outcome
    from mohs.space import Sememes
    from mohs.text.dataset import Dataset

    n, lexical = setting.examples(data, arch), setting.assets / "lexical"
    name = f"{data}-{arch}{'-quick' * setting.quick}{'-full' * setting.full}-{part}-{n}"
    name += "-symmetric" * setting.symmetric
    folder, clock = setting.out / "runs" / name, setting.out / "seconds" / name
    started = time.perf_counter()
    with mohs.radius(
        victim,
        Dataset(str(setting.assets / "data" / data / "test.jsonl.gz"), n=n, sample=0),
        source=Sememes(k=5, symmetric=setting.symmetric),
        stopwords=(),
        change_placeholders=True,  # IMDB has <br />, which the authors' code changes like any word
        vectors=str(lexical / "glove-100d"),
        sememes=str(lexical / "hownet-substitutes.json.gz"),
        tagger="pocket",
        labels=LABELS[data],
        device=setting.device,
        out=folder,
        **what,
    ) as run:
        records = list(run.records())
    if not clock.exists():
        clock.parent.mkdir(parents=True, exist_ok=True)
        clock.write_text(json.dumps(time.perf_counter() - started))
    right = [record for record in records if record.outcome is Outcome.MEASURED]
    rows = [
        {"id": r.example_id, "words": length(r.original), "positions": r.positions, **r.to_row()["details"]}
        for r in right
    ]
    misread = sum(record.outcome is Outcome.SKIPPED for record in records)
    queries, errors = sum(record.queries for record in right), len(records) - len(right) - misread
    done = Part(rows, misread, errors, queries, json.loads(clock.read_text()))
    print(
        f"{name}: {len(rows)} examples read right, {misread} not, {errors} errors; {done.pace} an example", flush=True
    )
    return done


def uppers(part: Part) -> list[list[int | None]]:
    """For each example the substitutions of each method, None where it failed or changed over a quarter of the words.

    The searches themselves know no such limit.
    """
    return [
        [edits if edits and edits <= SHARE_VALID * row["words"] else None for edits in row["attacks"].values()]
        for row in part.rows
    ]


def attack_lines(data: str, arch: str, part: Part, proof: Part) -> list[str]:
    """Table 2, and of figures 3 and 4 what fits beside it."""
    edits, lines = uppers(part), []
    least = {
        row["id"]: row["upper"] for row in proof.rows if row["upper"] is not None
    }  # the prover goes level by level
    total, printed = len(edits), ATTACKS.get((data, arch))
    for number, method in enumerate(METHODS.values()):
        mine = [(row[number], [e for i, e in enumerate(row) if i != number and e is not None]) for row in edits]
        won = [(e, others) for e, others in mine if e is not None]
        words = [e / row["words"] for row, (e, _) in zip(part.rows, mine, strict=True) if e is not None]
        wins = sum(e < min(others) for e, others in won if others)
        alone = sum(not others for _, others in won)
        more = sum(e > min(others) for e, others in won if others)
        tight = sum(list(row["attacks"].values())[number] == least.get(row["id"], 0) for row in part.rows)
        holds = [percent(sum(e is None or e > r for e, _ in mine), total) for r in (1, 2, 4, 8)]
        theirs = "{:.1f}; {}; {:.2f}".format(*printed[number]) if printed else "-"
        lines.append(
            f"| {data} | {arch} | {method} | {percent(len(won), total)} ({len(won)}/{total}) | {wins}, {alone}, {more} "
            f"| {100 * mean(words):.2f} | {mean(e for e, _ in won):.2f} | {tight} of {len(least)} "
            f"| {' / '.join(holds)} | {theirs} |"
        )
    return lines


def diagonal_lines(data: str, arch: str, part: Part) -> list[str]:
    """Figure 3 in numbers: where PDP and another attack both succeed, whose text has more words changed."""
    names, lines = list(METHODS.values()), []
    for other in names[:-1]:
        pairs = [(row[-1], row[names.index(other)]) for row in uppers(part)]
        both = [(x, y) for x, y in pairs if x is not None and y is not None]
        over, on, under = (sum(test(y - x) for x, y in both) for test in _SIDES)
        apart = mean(y - x for x, y in both)
        most = max((max(pair) for pair in both), default=0)
        lines.append(f"| {data} | {arch} | {other} | {len(both)} | {over} | {on} | {under} | {apart:.2f} | {most} |")
    return lines


_SIDES = (lambda d: d > 0, lambda d: d == 0, lambda d: d < 0)


def proof_lines(data: str, arch: str, part: Part, attacks: Part, levels: int) -> list[str]:
    """Table 3: what withstands r substitutions, what does not, and what the prover did not get to."""
    total, printed = len(part.rows), CERTIFIED.get((data, arch), ())
    cells = []
    for r in range(1, levels + 1):
        held = sum(row["whole"] or row["lower"] >= r for row in part.rows)
        found = sum(row["upper"] is not None and row["upper"] <= r for row in part.rows)
        left = f", {total - held - found} open" if held + found < total else ""
        theirs = f" [{printed[r - 1][0]:.1f}]" if r <= len(printed) else ""
        cells.append(f"{percent(held, total)} ({held}/{total}{left}){theirs}")
    fewest = {row["id"]: min((e for e in row["attacks"].values() if e), default=None) for row in attacks.rows}
    exact = whole = 0
    for row in part.rows:
        bounds = [e for e in (row["upper"], fewest.get(row["id"])) if e is not None]
        whole += row["whole"]
        exact += not row["whole"] and bool(bounds) and min(bounds) == row["lower"] + 1
    seconds = printed[levels - 1][1] if levels <= len(printed) else "-"
    mean_space = mean(row["positions"] for row in part.rows)
    return [
        f"| {data} | {arch} | {', '.join(cells)} | {exact} + {whole} of {total} | {mean_space:.1f} | {part.pace} "
        f"| {seconds} |"
    ]


def share_lines(data: str, arch: str, part: Part, how: str) -> list[str]:
    """Figure 5 in numbers."""
    shares = [row["share"] for row in part.rows]
    values = sorted(share["value"] for share in shares)
    above = sum(value > HIGH for value in values)
    sure = sum(share["low"] > HIGH for share in shares)
    counted = sum(share["method"] == "counted" for share in shares)
    quantiles = " / ".join(f"{values[int(q * (len(values) - 1))]:.3f}" for q in (0, 0.1, 0.5)) if values else "-"
    return [
        f"| {data} | {arch} | {how} | {percent(above, len(values))} ({above}/{len(values)}, {sure} beyond doubt) "
        f"| {quantiles} | {counted} | {part.pace} | {HIGH_SHARES.get((data, arch), '-')} |"
    ]


def percent(hits: int, total: int) -> str:
    """A share in percent."""
    return f"{100 * hits / total:.1f}" if total else "-"


def mean(values: Iterable[float | None]) -> float:
    """Of what there is; not a number for nothing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else float("nan")


def pair_lines(data: str, arch: str, setting: Setting) -> tuple[list[str], ...]:
    """All rows of one victim on one data set."""
    from mohs.attacks.pdp import PDP

    victim, about = trained(data, arch, setting)
    print(about, flush=True)
    slow = (data == "imdb", arch == "minilm")
    small = all(slow) if setting.full else any(slow)  # as the authors do for BERT on IMDB
    methods = [PDP(memory=32, drawn=1) if small and method == "pdp" else method for method in METHODS]
    levels = setting.levels(data, arch)
    share = Share(setting.r, method=setting.interval, draw=setting.draw)
    told = "" if (setting.draw, setting.r) == ("uniform", "25%") else f"-{setting.draw}-{setting.r}"
    how = f"{setting.draw}, {setting.r}{', symmetric' * setting.symmetric}"
    runs: dict[str, tuple[str, dict[str, Any]]] = {
        "attacks": ("attacks", {"attacks": methods, "max_r": 0}),
        "proof": (f"proof{levels}", {"max_r": levels, "most": setting.most}),
        "share": (f"share-{setting.interval}{told}", {"max_r": 0, "share": share}),
    }
    done = {part: measured(data, arch, victim, runs[part][0], setting, **runs[part][1]) for part in setting.parts}
    nothing = Part([], 0, 0, 0, None)
    attacks, proof = done.get("attacks", nothing), done.get("proof", nothing)
    return (
        attack_lines(data, arch, attacks, proof) if "attacks" in done else [],
        diagonal_lines(data, arch, attacks) if "attacks" in done else [],
        proof_lines(data, arch, proof, attacks, levels) if "proof" in done else [],
        share_lines(data, arch, done["share"], how) if "share" in done else [],
    )


TITLES = (
    (
        "Attacks in the same space, valid up to 25% of the words (table 2; figure 4: examples not fooled with r words)",
        "data|victim|attack|success, %|wins, alone, beaten|%S|words|fewest possible|not fooled, %, r = 1 / 2 / 4 / 8"
        "|printed: success; #Win; %S",
    ),
    (
        "Words changed by PDP (x) and by another attack (y) where both succeed (figure 3)",
        "data|victim|other attack|both succeed|y > x|y = x|y < x|mean y - x|most words",
    ),
    (
        "Certified, % for r = 1, 2 ... [printed] (table 3)",
        "data|victim|certified|exact + withstands all|positions|the prover asked, an example"
        "|printed s, certified, last r",
    ),
    (
        "PR, the share of the texts with up to 25% of the words changed that keep the label (figure 5)",
        "data|victim|drawn|PR > 0.9, % of examples|least / 10% / median|counted|asked, an example|printed PR > 0.9, %",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/ and lexical/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions/radius"))
    parser.add_argument("--data", nargs="+", default=["mr", "snli", "imdb"], choices=LABELS)
    parser.add_argument("--victims", nargs="+", default=["bilstm", "minilm"], choices=["bilstm", "cnn", "minilm"])
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--bilstm", help="folder of a BiLSTM trained on MR, to train none")
    parser.add_argument("--minilm", help="folder of an encoder fine-tuned on MR, to train none")
    parser.add_argument("--encoder", help="folder of an encoder to fine-tune; without it and --minilm none is measured")
    parser.add_argument("--n", type=int, default=100, help="examples; 30%% of it for IMDB, 20%% for encoders")
    parser.add_argument("--full", action="store_true", help="--n examples of everything, levels as in the paper")
    parser.add_argument("--max-r", type=int, help="prove so many substitutions; by default 3, 4, 1 and for encoders 2")
    parser.add_argument("--draw", default="uniform", help="of the share: uniform or independent (not uniform)")
    parser.add_argument("--r", default="25%", help="of the share; a number, or a share of the words")
    parser.add_argument("--symmetric", action="store_true", help="candidates with reverse neighbours")
    parser.add_argument("--most", type=int, default=200_000, help="texts an example that the prover may ask")
    parser.add_argument("--interval", default="sequential", help="of the share; hoeffding is the paper's")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.data, options.victims, options.n = ["mr", "snli"], ["bilstm"], 40
    given = {("mr", "bilstm"): options.bilstm, ("mr", "minilm"): options.minilm}
    setting = Setting(
        options.assets,
        options.out,
        options.n,
        options.max_r,
        options.most,
        options.interval,
        {pair: folder for pair, folder in given.items() if folder},
        options.parts,
        options.device,
        options.quick,
        options.encoder,
        options.full,
        options.draw,
        options.r,
        options.symmetric,
    )
    pairs = [(data, arch) for data in options.data for arch in options.victims]
    pairs = [pair for pair in pairs if pair[1] != "minilm" or pair in setting.ready or setting.encoder]
    tables = list(zip(*(pair_lines(*pair, setting) for pair in pairs), strict=True))
    for (title, columns), blocks in zip(TITLES, tables, strict=True):
        if not any(blocks):
            continue
        print(f"\n{title}:\n\n| {columns.replace('|', ' | ')} |\n|{'---|' * (columns.count('|') + 1)}")
        for line in chain.from_iterable(blocks):
            print(line)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
