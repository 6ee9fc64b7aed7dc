"""Second-order attacks and counterfactual bias (Zhang et al. 2021) on victims trained here, beside what they print.

    python reproductions/second_order.py --assets DIR [--quick | --full] [--parts ...] [--victims bow cnn lstm ...]

DIR holds data/sst2, lexical/, bias/ and models/minilm-mlm (see --help). Victims are trained on SST-2 on first use and
kept under --out, as are the runs, so a second call goes on where the first stopped. Examples are the first of SST-2's
dev part, fewer for slower methods. All runs of one call share the answers of the masked language model, which do not
depend on the victim: `rows` counts what a run asked for, `seconds` what it took with the answers that were there.

Parts: second-order (Tables 2, 3 and 6), first-order (Genetic and BAE; Tables 2 and 8), restart (Genetic from the
vulnerable neighbours, 3.3.2), perplexity (paired ratios over all runs that are there, Tables 3 and 8; needs --lm),
bias (Figures 5, 6 and 8, Table 5), groups (Figure 7 and Table 7).

--full: every row as in the paper, on one GPU: 872 examples (Genetic 100), breadth 800.
--quick: two victims, few examples, bias at k = 0 and 1; about a minute on two free cores, training included.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import first_order_rows
import fluency
from gender_bias import bias
from groups import groups
from sst2 import DEV, LABELS, PRETRAINED, VICTIMS, Remembered, Setting, finished, keep, share, table, trained

if TYPE_CHECKING:
    from mohs.report.second_order.figures import SecondOrderSummary

METHODS = {"so-beam": 1.0, "so-enum": 0.3, "random": 1.5}  # how many examples, of --n
FEWER = (
    0.25  # of these for a MiniLM on a CPU: it is asked thousands of texts an example, and reads some hundred a second
)
PARTS = ("second-order", "first-order", "restart", "perplexity", "bias", "groups")
# Table 2 (base models): success in percent of SO-Enum, SO-Beam. The bottom row is bert-base.
PRINTED = {
    "bow": (95.3, 99.7),
    "cnn": (95.3, 99.8),
    "lstm": (95.8, 99.5),
    "transformer": (95.4, 98.0),
    "minilm": (94.3, 98.7),
    "sbert": (94.3, 98.7),
}
# Table 3: perplexity before and after, words changed; Table 6: seconds. For SO-Enum, SO-Beam.
QUALITY = {
    "bow": (("168 → 202", 1.1, 6.2), ("166 → 202", 1.2, 1.8)),
    "cnn": (("170 → 204", 1.1, 5.9), ("166 → 201", 1.2, 1.7)),
    "lstm": (("168 → 204", 1.1, 7.0), ("166 → 204", 1.2, 1.9)),
    "transformer": (("165 → 193", 1.0, 6.5), ("165 → 195", 1.1, 2.5)),
    "minilm": (("170 → 229", 1.3, 35.4), ("168 → 222", 1.4, 7.1)),
    "sbert": (("170 → 229", 1.3, 35.4), ("168 → 222", 1.4, 7.1)),
}
HEADS = (
    "victim,method,found (% of all) [95%],of those with a pair,paper (% of 872),original itself,l0,paper,queries,"
    "masked-LM rows,seconds,paper"
).split(",")
FLUENT = "victim,method,found,as written,detokenised,detokenised (changed texts),paper (GPT-2)".split(",")


def folder(arch: str, method: str, n: int, k: int | None, setting: Setting) -> Path:
    """The folder of a run of second-order."""
    return setting.run(f"{arch}-{method}-{n}{'' if k is None else f'-k{k}'}")


def searched(
    arch: str, victim: str, method: str, n: int, k: int | None, models: dict[str, Any], setting: Setting
) -> str:
    """The row of one method on one victim."""
    import mohs
    from mohs.report.second_order.figures import summarise_second_order

    before, started = models["masked_lm"].asked, time.perf_counter()
    with mohs.second_order_attack(
        victim,
        setting.dev,
        method,
        n=n,
        k=k,
        synonyms=setting.synonyms,
        patch_stopwords=True,  # as in the paper
        labels=LABELS,
        out=folder(arch, method, n, k, setting),
        device=setting.device_of(arch),
        masked_lm=models["masked_lm"],
    ) as run:
        (summary,) = summarise_second_order(run.records())
    rows, seconds = (models["masked_lm"].asked - before) / n, time.perf_counter() - started
    return " | ".join(line(arch, method if k is None else f"{method} k={k}", summary, rows, seconds))


def line(arch: str, method: str, summary: SecondOrderSummary, rows: float, seconds: float) -> list[str]:
    """A row of the table of second-order attacks; seconds of the whole run."""
    found, judged = summary.vulnerable, summary.with_pair.total
    place = ("so-enum", "so-beam").index(method) if method in ("so-enum", "so-beam") else None
    printed = QUALITY[arch][place] if place is not None else ("", "", "")
    return [
        arch,
        method,
        share(found.hits, judged),
        f"{100 * found.hits / found.total:.1f} ({found.hits}/{found.total})" if found.total else "-",
        f"{PRINTED[arch][place]:.1f}" if place is not None else "",
        str(summary.unchanged),
        f"{summary.l0.value:.2f}" if summary.l0.value is not None else "-",
        str(printed[1]),
        f"{summary.queries.value:.0f}" if summary.queries.value is not None else "-",
        f"{rows:.0f}",
        f"{seconds / judged:.1f}" if judged else "-",
        str(printed[2]),
    ]


def counted(arch: str, method: str, options: argparse.Namespace) -> int:
    """How many examples a method takes."""
    whole = {"so-enum": options.n_enum}.get(method) or options.n * METHODS[method]
    part = FEWER if arch in PRETRAINED and not options.device.startswith("cuda") and not options.full else 1.0
    return min(DEV, max(1, round(whole * part)))


def second_order(
    names: dict[str, str],
    counts: dict[tuple[str, str], int],
    k: int | None,
    models: dict[str, Any],
    setting: Setting,
) -> None:
    """Methods on victims, one table."""
    rows: dict[tuple[Any, ...], list[str]] = {}
    for (arch, method), n in counts.items():
        key = ("second-order", arch, method, n, setting.mark, *([] if k is None else [k]))
        if key not in finished(setting.out):
            keep(setting.out, key, searched(arch, names[arch], method, n, k, models, setting))
        rows[key] = finished(setting.out)[key].split(" | ")
        print(" | ".join(rows[key]), flush=True)
    print(f"\n{table(HEADS, [row for arch in names for key, row in rows.items() if key[1] == arch])}")


def perplexity(runs: Sequence[tuple[str, str, Path, str]], lm: Any) -> None:
    """Perplexities of the successes of runs. runs: victim, method, folder, what the paper prints."""
    import mohs

    rows = []
    for arch, method, place, printed in runs:
        if not place.exists():
            continue
        with mohs.Run.open(place) as run:
            records = list(run.records())
        plain, written = fluency.compared(records, lm)
        _, changed = fluency.compared(records, lm, changed=True)
        total = str(0 if plain is None else plain.total)
        rows.append([arch, method, total, str(plain), str(written), str(changed), with_ratio(printed)])
        print(" | ".join(rows[-1]), flush=True)
    print(f"\nPerplexity: medians, and the median of the ratios [95%]:\n\n{table(FLUENT, rows)}")


def with_ratio(printed: str) -> str:
    """What the paper prints, and the ratio of its medians."""
    if not printed:
        return ""
    before, after = map(float, printed.split(" → "))
    return f"{printed}; ×{after / before:.2f}"


def fluent_runs(
    counts: dict[tuple[str, str], int], attacks: dict[str, tuple[str, int]], k: int | None, setting: Setting
) -> list[tuple[str, str, Path, str]]:
    """Every run of these options, with the perplexities that the paper prints."""
    found = []
    for (arch, method), n in counts.items():
        place = {"so-enum": 0, "so-beam": 1}.get(method)
        printed = QUALITY[arch][place][0] if place is not None else ""
        found.append((arch, method, folder(arch, method, n, k, setting), printed))
    for kind, (name, n) in attacks.items():
        for arch in dict.fromkeys(arch for arch, _ in counts):
            printed = first_order_rows.PRINTED[arch][first_order_rows.FIRST.index(kind)][1]
            found.append((arch, name, setting.run(f"{arch}-{name.replace(':', '-')}-{n}"), printed))
    return found


def arguments() -> argparse.Namespace:
    """The options, with those that --quick and --full imply."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/, bias/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions"))
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="by default second-order and bias; with --full all")
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, help="by default all; sbert needs --base")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--n", type=int, default=40, help="examples for so-beam; so-enum 0.3, random 1.5 times as many")
    parser.add_argument("--n-enum", type=int, help="examples for so-enum")
    parser.add_argument("--n-genetic", type=int, default=100, help="examples for Genetic; the paper has 100")
    parser.add_argument("--n-bae", type=int, default=100, help="examples for BAE; the paper has 872")
    parser.add_argument("--distance", type=int, help="k of second-order, if not the method's own")
    parser.add_argument(
        "--genetic",
        default=first_order_rows.WITHOUT_LM,
        help=f"by default {first_order_rows.WITHOUT_LM}, TextAttack's search without its language model; "
        "genetic:textattack needs --lm",
    )
    parser.add_argument("--bae", default="bae:textattack", help="with its preset")
    parser.add_argument("--encoder", help="for BAE, such as hf:FOLDER; by default the bundled one")
    parser.add_argument("--rows", type=int, default=20_000, help="training examples drawn; a quarter for MiniLMs")
    parser.add_argument("--epochs", type=int, default=6, help="of the victims that read words")
    parser.add_argument(
        "--minilm", help="a folder with a classifier for SST-2 that is not trained on MR, which overlaps"
    )
    parser.add_argument("--base", help="the encoder that sbert is fine-tuned from, such as all-MiniLM-L6-v2's folder")
    parser.add_argument("--masked-lm", help="by default models/minilm-mlm of the assets")
    parser.add_argument("--lm", help="a causal language model for perplexities, such as gguf:FILE")
    parser.add_argument("--k", type=int, default=3, help="of bias")
    parser.add_argument("--breadth", type=int, default=8, help="of bias: texts a level is sampled from; released: 800")
    parser.add_argument("--groups", nargs="+", help="groups of the CheckList file; by default those of Figure 7")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--bias-device", default="cpu", help="of the LSTM whose bias is measured; cuda for breadth 800")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    if options.parts is None:
        options.parts = [part for part in PARTS if options.full or part in ("second-order", "bias")]
        if not options.lm:
            options.parts = [part for part in options.parts if part != "perplexity"]
    if options.full:
        options.n = options.n_enum = options.n_bae = DEV
        options.breadth = 800
    if options.quick:
        options.victims, options.n, options.rows, options.epochs, options.k = ["cnn", "lstm"], 10, 4_000, 3, 1
        options.n_genetic, options.n_bae = 5, 5
    if options.victims is None:
        options.victims = [arch for arch in VICTIMS if arch != "sbert" or options.base]
    if "sbert" in options.victims and not options.base:
        parser.error("sbert needs --base FOLDER, the encoder that it is fine-tuned from")
    if "perplexity" in options.parts and not options.lm:
        parser.error("the part perplexity needs --lm")
    return options


def main() -> None:
    options = arguments()
    from mohs.models.causal_lm import load_lm
    from mohs.models.masked_lm import load_masked_lm

    setting = Setting(
        assets=options.assets,
        out=options.out,
        rows=options.rows,
        epochs=options.epochs,
        k=options.k,
        breadth=options.breadth,
        minilm=options.minilm,
        base=options.base,
        device=options.device,
        bias_device=options.bias_device,
        quick=options.quick,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    spec = options.masked_lm or f"hf:{options.assets / 'models' / 'minilm-mlm'}"
    models: dict[str, Any] = {"masked_lm": Remembered(load_masked_lm(spec, options.device))}
    if options.lm is not None:
        models["lm"] = Remembered(load_lm(options.lm, options.device))
    if options.encoder is not None:
        models["encoder"] = options.encoder
    parts = set(options.parts)
    needed = parts & {"second-order", "first-order", "restart"}
    names = {arch: trained(arch, setting) for arch in options.victims} if needed else {}
    counts = {(a, m): counted(a, m, options) for m in options.methods for a in options.victims}
    attacks = {"genetic": (options.genetic, options.n_genetic), "bae": (options.bae, options.n_bae)}
    if "second-order" in parts:
        second_order(names, counts, options.distance, models, setting)
    if "first-order" in parts:
        first_order_rows.first_order(names, attacks, models, setting)
    if "restart" in parts:
        counts |= {(arch, "so-beam"): counted(arch, "so-beam", options) for arch in names}
        beams = {arch: folder(arch, "so-beam", counts[arch, "so-beam"], options.distance, setting) for arch in names}
        first_order_rows.restarted(names, beams, options.genetic, options.n_genetic, models, setting)
    if "perplexity" in parts:
        perplexity(fluent_runs(counts, attacks, options.distance, setting), models["lm"])
    if "bias" in parts:
        bias(setting, models["masked_lm"])
    if "groups" in parts:
        groups(setting, models["masked_lm"], options.groups)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
