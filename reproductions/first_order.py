"""All first-order attacks on victims trained here, beside what their papers print.

    python reproductions/first_order.py --assets DIR [--quick] [--data mr sst2 ag_news imdb] [--victims cnn minilm]

DIR holds data/, lexical/ and models/ (see --help). Victims are trained on first use and kept under --out, as are the
runs, so a second call goes on where the first stopped. --quick: MR, a CNN, 15 examples, every attack that needs no
language model; about two minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELS = {
    "mr": ("negative", "positive"),
    "sst2": ("negative", "positive"),
    "imdb": ("negative", "positive"),
    "ag_news": ("world", "sports", "business", "sci-tech"),
    "yelp": ("negative", "positive"),
}
MOST_WORDS = {"yelp": 80}  # Hauser et al. 2021 use reviews of at most 80 words
TRAIN_ROWS = {"ag_news": 12_000, "sst2": 12_000, "imdb": 8_000}  # of the training file: enough for a victim to attack
LONG = ("imdb",)  # half as many examples, and never without a budget
# Beside the default preset of every attack in the catalogue.
PRESETS = (
    "textfooler:released textfooler:textattack textfooler:cv50 textfooler:cv50-use88 textfooler:cv70-use85 "
    "textfooler:cv70-use90 textfooler:cv80-use90 textfooler:adjusted pwws:released pwws:textattack pwws:cos50 "
    "bert-attack:released bert-attack:released-sentiment bert-attack:textattack bert-attack:cos50 bae:cos50 "
    "bae:paper-i bae:paper-r-or-i bae:paper-r-and-i bae:textattack deepwordbug:textattack textbugger:textattack "
    "iga:textattack genetic:textattack sememe-pso:neighbours pruthi:textattack"
).split()
SLOW = ("genetic", "faster-genetic", "iga", "sememe-pso", "kuleshov", "clare", "pruthi", "greedy", "beam")
HAUSER, YANG, ZHANG, WANG = "Hauser 2021", "Yang 2022", "Zhang 2021", "Wang 2021"
# Success rates that papers print, in percent: (data, attack) -> what, by whom. Their victims, vectors, encoders and
# examples differ from ours; docs/reproductions.md says how.
PRINTED = {
    ("mr", "textfooler"): f"55.0 BiLSTM, 33.8 BERT ({YANG})",
    ("mr", "sememe-pso"): f"72.3 BiLSTM, 60.7 BERT ({YANG})",
    ("imdb", "textfooler"): f"98.2 BERT ({HAUSER}); 85.4 BiLSTM, 71.4 BERT ({YANG})",
    ("imdb", "pwws"): f"98.7 BERT ({HAUSER})",
    ("imdb", "bert-attack"): f"99.0 BERT ({HAUSER})",
    ("imdb", "bae"): f"57.1 BERT ({HAUSER})",
    ("imdb", "sememe-pso"): f"94.7 BiLSTM, 87.1 BERT ({YANG})",
    ("imdb", "textfooler:cv50"): f"98.4 BERT ({HAUSER})",
    ("imdb", "textfooler:cv50-use88"): f"82.5 BERT ({HAUSER})",
    ("imdb", "textfooler:cv70-use85"): f"79.2 BERT ({HAUSER})",
    ("imdb", "textfooler:cv70-use90"): f"61.8 BERT ({HAUSER})",
    ("imdb", "textfooler:cv80-use90"): f"42.8 BERT ({HAUSER})",
    ("imdb", "pwws:cos50"): f"65.8 BERT ({HAUSER})",
    ("imdb", "bert-attack:cos50"): f"88.4 BERT ({HAUSER})",
    ("ag_news", "textfooler"): f"85.0 BERT ({HAUSER})",
    ("ag_news", "pwws"): f"65.0 BERT ({HAUSER})",
    ("ag_news", "bert-attack"): f"79.4 BERT ({HAUSER})",
    ("ag_news", "bae"): f"14.3 BERT ({HAUSER})",
    ("ag_news", "textfooler:cv50"): f"88.8 BERT ({HAUSER})",
    ("ag_news", "textfooler:cv50-use88"): f"25.0 BERT ({HAUSER})",
    ("ag_news", "textfooler:cv70-use85"): f"22.5 BERT ({HAUSER})",
    ("ag_news", "textfooler:cv70-use90"): f"11.6 BERT ({HAUSER})",
    ("ag_news", "textfooler:cv80-use90"): f"7.5 BERT ({HAUSER})",
    ("ag_news", "pwws:cos50"): f"16.4 BERT ({HAUSER})",
    ("ag_news", "bert-attack:cos50"): f"20.7 BERT ({HAUSER})",
    ("imdb", "pwws:textattack"): f"98.7 BERT ({HAUSER})",
    ("imdb", "bert-attack:textattack"): f"99.0 BERT ({HAUSER})",
    ("imdb", "bae:textattack"): f"57.1 BERT ({HAUSER})",
    ("imdb", "textfooler:textattack"): f"98.2 BERT ({HAUSER})",
    ("imdb", "bae:cos50"): f"3.1 BERT ({HAUSER})",
    ("ag_news", "pwws:textattack"): f"65.0 BERT ({HAUSER})",
    ("ag_news", "bert-attack:textattack"): f"79.4 BERT ({HAUSER})",
    ("ag_news", "bae:textattack"): f"14.3 BERT ({HAUSER})",
    ("ag_news", "textfooler:textattack"): f"85.0 BERT ({HAUSER})",
    ("ag_news", "bae:cos50"): f"0.3 BERT ({HAUSER})",
    ("yelp", "textfooler:textattack"): f"90.5 BERT ({HAUSER})",
    ("yelp", "pwws:textattack"): f"92.2 BERT ({HAUSER})",
    ("yelp", "bert-attack:textattack"): f"93.5 BERT ({HAUSER})",
    ("yelp", "bae:textattack"): f"31.5 BERT ({HAUSER})",
    ("yelp", "textfooler:cv50"): f"91.4 BERT ({HAUSER})",
    ("yelp", "textfooler:cv50-use88"): f"49.2 BERT ({HAUSER})",
    ("yelp", "textfooler:cv70-use85"): f"42.6 BERT ({HAUSER})",
    ("yelp", "textfooler:cv70-use90"): f"25.2 BERT ({HAUSER})",
    ("yelp", "textfooler:cv80-use90"): f"11.1 BERT ({HAUSER})",
    ("yelp", "pwws:cos50"): f"33.3 BERT ({HAUSER})",
    ("yelp", "bert-attack:cos50"): f"49.5 BERT ({HAUSER})",
    ("yelp", "bae:cos50"): f"0.4 BERT ({HAUSER})",
    ("sst2", "bert-attack:released-sentiment"): f"39.8 mean of three surrogates ({WANG})",
    ("sst2", "genetic"): f"62.0 CNN, 60.0 LSTM, 41.0 BERT ({ZHANG})",
    ("sst2", "bae"): f"71.0 CNN, 68.3 LSTM, 61.5 BERT ({ZHANG})",
    ("sst2", "textfooler"): f"95.4 mean of three surrogates ({WANG})",
    ("sst2", "textbugger"): f"88.1 mean of three surrogates ({WANG})",
    ("sst2", "sememe-pso"): f"89.1 mean of three surrogates ({WANG})",
    ("sst2", "bert-attack"): f"39.8 mean of three surrogates ({WANG})",
}


@dataclass(frozen=True)
class Setting:
    """Where things are and how much of them to take."""

    assets: Path
    out: Path
    n: int
    budget: int | None
    encoder: str
    lm: str | None
    base: str
    device: str
    quick: bool
    rows: int | None = None  # to train on, if not as many as TRAIN_ROWS says
    tested: int | None = None  # test rows for the accuracy; by default all

    def services(self) -> dict[str, Any]:
        """The models and word books of every run."""
        lexical = self.assets / "lexical"
        return {
            "vectors": str(lexical / "counter-fitted-glove-100d"),
            "wordnet": str(lexical / "wordnet-3.0.tar.gz"),
            "sememes": str(lexical / "hownet-substitutes.json.gz"),
            "masked_lm": f"hf:{self.assets / 'models' / 'minilm-mlm'}",
            "encoder": self.encoder,
            "tagger": "pocket",
            "lm": self.lm,
        }

    def test(self, data: str, n: int | None, sample: int = 0) -> Any:
        """Examples to attack; SST-2's test labels are not public, so its dev part serves."""
        from mohs.text.dataset import Dataset

        file = self.assets / "data" / data / ("dev.jsonl.gz" if data == "sst2" else "test.jsonl.gz")
        return Dataset(str(file), n=n, sample=sample, most_words=MOST_WORDS.get(data))


def trained(data: str, arch: str, setting: Setting) -> tuple[str, str]:
    """The name of a victim, trained now if it is not there yet, and a line about it."""
    from mohs.text.dataset import Dataset
    from mohs.training.train import train

    source = setting.assets / "data" / data
    rows = 2_000 if setting.quick else setting.rows or TRAIN_ROWS.get(data)
    most = MOST_WORDS.get(data)
    # IMDB's files are sorted by label.
    examples = Dataset(str(source / "train.jsonl.gz"), n=rows, sample=0, most_words=most)
    options: dict[str, Any] = {"labels": LABELS[data], "test": setting.test(data, setting.tested, sample=1)}
    if (source / "dev.jsonl.gz").exists():
        options["dev"] = str(source / "dev.jsonl.gz")
    if arch == "minilm":
        kind = f"hf:{setting.base}"
        options |= {"lr": 1e-4, "epochs": 2}
    else:
        kind = arch
        options |= {"vectors": str(setting.assets / "lexical" / "glove-100d"), "epochs": 3 if setting.quick else None}
    started = time.perf_counter()
    size = "-quick" if setting.quick else f"-{setting.rows}" if setting.rows else ""
    folder = setting.out / "victims" / f"{data}-{arch}{size}"
    done = train(kind, examples, folder, device=setting.device, **options)
    test, seconds = done.metrics["test"], time.perf_counter() - started
    return done.victim, f"{data} {arch}: {test['right']} of {test['of']} test examples right ({seconds:.0f} s)"


def attacked(data: str, arch: str, victim: str, attack: str, setting: Setting) -> str:
    """The row of one attack on one victim."""
    import torch

    import mohs

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    long = data in LONG
    n = setting.n // 2 if long else setting.n
    budget = setting.budget or (5_000 if long else None)
    folder = setting.out / "runs" / f"{data}-{arch}-{attack.replace(':', '-')}-{n}"
    started = time.perf_counter()
    with mohs.attack(
        victim,
        setting.test(data, n),
        attack,
        labels=LABELS[data],
        measures=["similarity:angular=no"],
        out=folder,
        budget=budget,
        change_placeholders=True,  # IMDB has <br />, which the papers' code attacks like any word
        device=setting.device,
        **setting.services(),
    ) as run:
        (summary,) = run.summary()
    row = line(data, arch, attack, summary)
    with (setting.out / "rows.jsonl").open("a") as file:
        seconds = round(time.perf_counter() - started, 1)
        print(json.dumps({"data": data, "victim": arch, "attack": attack, "seconds": seconds, "row": row}), file=file)
    return f"{row}  {seconds:.0f} s"


def line(data: str, arch: str, attack: str, summary: Any) -> str:
    """A row of the table."""
    success = summary.success
    share = f"{success.value:.1%}" if success.value is not None else "-"
    words = f"{summary.share_changed.value:.1%}" if summary.share_changed.value is not None else "-"
    queries = f"{summary.queries.value:.0f}" if summary.queries.value is not None else "-"
    cosine = summary.measures.get("sentence cosine")
    alike = f"{cosine.value:.3f}" if cosine is not None and cosine.value is not None else "-"
    spent = f", {summary.outcomes['exhausted']} out of budget" if summary.outcomes["exhausted"] else ""
    errors = f", {summary.outcomes['error']} errors" if summary.outcomes["error"] else ""
    return (
        f"| {data} | {arch} | {attack} | {share} ({success.hits}/{success.total}{spent}{errors}) | {words} | {queries} "
        f"| {alike} | {PRINTED.get((data, attack), '')} |"
    )


def finished(out: Path) -> dict[tuple[str, ...], str]:
    """The rows that an earlier call made, by data, victim and attack."""
    if not (out / "rows.jsonl").exists():
        return {}
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    return {(row["data"], row["victim"], row["attack"]): row["row"] for row in rows}


def chosen(setting: Setting, names: list[str] | None) -> list[str]:
    """The attacks that can run with the models at hand, the quick ones first."""
    from mohs.attacks.catalogue import BATTERIES, CATALOGUE, find_attack
    from mohs.attacks.method import needs

    def possible(attack: str) -> bool:
        asked = () if attack in BATTERIES else needs(find_attack(attack)[1])
        return not (("lm" in asked and not setting.lm) or (setting.quick and "masked_lm" in asked))

    # Input reduction keeps the label: its successes do not compare with those of the others.
    wanted = names or [*(name for name in CATALOGUE if name != "input-reduction"), *PRESETS, *BATTERIES]
    return sorted(filter(possible, wanted), key=lambda attack: attack.partition(":")[0] in SLOW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions"))
    parser.add_argument("--data", nargs="+", default=["mr", "sst2", "ag_news", "imdb"], choices=LABELS)
    parser.add_argument("--victims", nargs="+", default=["cnn", "minilm"])
    parser.add_argument("--attacks", nargs="+", help="names; by default all, with some presets")
    parser.add_argument("--n", type=int, default=100, help="examples; half as many of IMDB")
    parser.add_argument("--budget", type=int, help="queries an example; 5,000 on IMDB where not given")
    parser.add_argument("--encoder", default="minilm", help="for similarity: an asset, hf:PATH or pocket")
    parser.add_argument("--base", help="folder of the encoder that becomes the victim minilm; by default the asset")
    parser.add_argument("--lm", help="a causal language model, for the attacks that need one")
    parser.add_argument("--rows", type=int, help="to train on; by default 8,000 to 12,000, or all")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=1, help="attacks at the same time")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no attack after so long")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.data, options.victims, options.n = ["mr"], ["cnn"], 15
        options.encoder, options.budget = "pocket", 1_000
    if options.base is None and "minilm" in options.victims:
        import mohs.assets

        options.base = str(mohs.assets.path("minilm"))
    setting = Setting(
        options.assets,
        options.out,
        options.n,
        options.budget,
        options.encoder,
        options.lm,
        options.base,
        options.device,
        options.quick,
        options.rows,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    rows: list[tuple[int, str]] = []
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        pairs = [(data, arch) for data in options.data for arch in options.victims]
        victims = {pair: pool.submit(trained, *pair, setting) for pair in pairs}
        for future in as_completed(victims.values()):
            print(future.result()[1], flush=True)
        known = finished(options.out)
        tasks = [
            (data, arch, victims[data, arch].result()[0], attack)
            for attack in chosen(setting, options.attacks)
            for data, arch in pairs
        ]
        rows += [(n, known[task[0], task[1], task[3]]) for n, task in enumerate(tasks) if task[:2] + task[3:] in known]
        waiting: dict[Any, int] = {}
        left = [(number, task) for number, task in enumerate(tasks) if task[:2] + task[3:] not in known]
        while left or waiting:
            while left and len(waiting) < options.jobs and time.perf_counter() - started < 60 * options.minutes:
                number, task = left.pop(0)
                waiting[pool.submit(attacked, *task, setting)] = number
            if not waiting:
                print(f"{len(left)} of {len(tasks)} attacks were not begun in {options.minutes:g} minutes", flush=True)
                break
            done = next(as_completed(waiting))
            number = waiting.pop(done)
            if done.exception() is not None:
                print(f"{' '.join(tasks[number][:2])} {tasks[number][3]}: {done.exception()}", flush=True)
                continue
            print(done.result(), flush=True)
            rows.append((number, done.result().rpartition("|")[0] + "|"))
    print()
    print("| data | victim | attack | success | words changed | queries | sentence cosine | printed success, % |")
    print("|---|---|---|---|---|---|---|---|")
    for _, row in sorted(rows):
        print(row)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
