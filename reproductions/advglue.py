"""AdvGLUE (Wang et al. 2021) again in small: a benchmark built end to end, and models scored on it and on the original.

    python reproductions/advglue.py --assets DIR --quick     # two cores, some minutes: word CNNs
    python reproductions/advglue.py --assets DIR --jobs 8    # one GPU: MiniLM-size models; goes on where it stopped
    python reproductions/advglue.py --assets DIR --show      # only the tables of what is there
    python reproductions/advglue.py --assets DIR --write-parses FILE   # for --parser parses:FILE, without spaCy

DIR holds data/, lexical/ and models/minilm-mlm. Each of SST-2, RTE, QQP and SNLI has three surrogates: two seeds of
one model, and the mean of both (the ensemble). Every text must fool all three. The judges are simulated, and labelled
as such everywhere: their figures show the pipeline and say nothing about people. There is no training data for QNLI
here, so it is scored only, by the models of RTE; MNLI is scored by those of SNLI.

Six victims are scored: a third seed, three hardened ones (SMART, FreeLB, InfoBERT), one with augmentation, and the
randomised ensemble around the third seed. The tables stand beside the paper's (1, 3, 4 and 5).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advglue_tables import tables

LABELS = {
    "sst2": ("negative", "positive"),
    "rte": ("entailment", "not_entailment"),
    "qqp": ("not_duplicate", "duplicate"),
    "snli": ("entailment", "neutral", "contradiction"),
}
KINDS = {"sst2": "sentiment", "rte": "nli", "qqp": "paraphrase", "snli": "nli"}
SOURCES = {"sst2": "dev", "rte": "dev", "qqp": "test", "snli": "test"}
ON_ADVGLUE = {"sst2": "sst2", "qqp": "qqp", "mnli": "snli", "mnli-mm": "snli", "qnli": "rte", "rte": "rte"}
SEEDS = (1, 2, 7)  # of the two surrogates, and of the victim
HARDENED = {"smart": ("smart",), "freelb": ("freelb",), "infobert": ("infobert",), "augmented": ("augment",)}
VICTIMS = ("plain", *HARDENED, "ensemble")


@dataclass(frozen=True)
class Setting:
    """Where things are, and how much of them."""

    assets: Path
    out: Path
    minilm: str  # what is fine-tuned; empty: word CNNs
    rows: int  # training examples of a task
    epochs: int
    n: int  # sources of a task
    device: str
    quick: bool
    parser: str
    trees: str  # a folder of `mohs train --task t3`; empty: without T3
    jobs: int
    without: tuple[str, ...]  # attacks left out

    @property
    def arch(self) -> str:
        """What is trained."""
        return self.minilm or "cnn"

    def data(self, task: str, part: str) -> Path:
        """A file of the assets."""
        return self.assets / "data" / task / f"{part}.jsonl.gz"

    def model(self, task: str, name: str) -> Path:
        """The folder of a model."""
        return self.out / "models" / f"{task}-{name}"

    def victim(self, task: str, name: str) -> str:
        """A victim by its name."""
        if name == "ensemble":
            return f"ensemble({self.victim(task, 'plain')}, n=8)"
        return f"{'hf' if self.minilm else 'mohs'}:{self.model(task, name)}"


def trained(setting: Setting, task: str, name: str, seed: int, harden: tuple[str, ...]) -> None:
    """Train a model, or find it there. Accuracy is that on the sources of the benchmark."""
    from mohs.training.train import train

    kept = setting.model(task, name) / "accuracy.json"
    if kept.exists():
        return
    options: dict[str, Any] = {"epochs": setting.epochs, "seed": seed, "patience": setting.epochs}
    if not setting.minilm:
        options["vectors"] = str(setting.assets / "lexical" / "glove-100d")
    else:
        options |= {"lr": 5e-5 if task == "snli" else 1e-4, "max_words": 96}
    start = time.perf_counter()
    done = train(
        setting.arch,
        rows_of(setting, task, "train", setting.rows, seed),
        setting.model(task, name),
        test=rows_of(setting, task, SOURCES[task], 400, 0),
        labels=LABELS[task],
        harden=harden,
        device=setting.device,
        **options,
    )
    found = {**done.metrics["test"], "seconds": round(time.perf_counter() - start)}
    kept.write_text(json.dumps(found))
    print(f"{task}-{name}: {found}", flush=True)


def rows_of(setting: Setting, task: str, part: str, n: int, seed: int) -> Any:
    """Labelled texts."""
    from mohs.text.dataset import Dataset

    fields = {"sst2": ("text",), "qqp": ("question1", "question2")}.get(task, ("premise", "hypothesis"))
    return Dataset(str(setting.data(task, part)), fields=fields, labels=LABELS[task], n=n, sample=seed)


def models(setting: Setting, tasks: list[str]) -> None:
    """All models: first the surrogates, then what takes longest."""
    wanted: list[tuple[Any, ...]] = [
        (setting, task, f"surrogate-{seed}", seed, ()) for seed in SEEDS[:2] for task in tasks
    ]
    longest_first = sorted(hardened(setting).items(), key=lambda one: one[0] != "infobert")
    wanted += [(setting, task, name, SEEDS[2], harden) for name, harden in longest_first for task in tasks]
    wanted += [(setting, task, "plain", SEEDS[2], ()) for task in tasks]
    in_processes(setting, trained, wanted)


def in_processes(setting: Setting, work: Callable[..., None], calls: Sequence[tuple[Any, ...]]) -> None:
    """Call a function with each of the arguments, some at once."""
    if setting.jobs == 1:
        for one in calls:
            work(*one)
        return
    with ProcessPoolExecutor(setting.jobs, multiprocessing.get_context("spawn")) as pool:
        for ended in [pool.submit(work, *one) for one in calls]:
            ended.result()


def hardened(setting: Setting) -> dict[str, tuple[str, ...]]:
    """How the hardened victims are trained. InfoBERT needs a transformer encoder; word CNNs take random words."""
    return HARDENED if setting.minilm else {**HARDENED, "infobert": ("random",)}


def config(setting: Setting, tasks: list[str]) -> dict[str, Any]:
    """The configuration of the benchmark."""
    return {
        "name": "advglue-again",
        "about": "AdvGLUE's pipeline in small. The judges are simulated: nothing here says what people think.",
        "licence": "other",
        "seed": 0,
        "tasks": {task: task_of(setting, task) for task in tasks},
        "attacks": attacks(setting),
        "crafted": crafted(setting, tasks),
        "filters": {"word_change": 0.15, "similarity": "encoder"},
        "judging": {"by": "simulated"},
        "limits": {"budget": 500 if setting.quick else 2000, "least_words": 4, "most_words": 60},
        "split": 0.1,
        "device": setting.device,
    }


def task_of(setting: Setting, task: str) -> dict[str, Any]:
    """One task."""
    first, second = (setting.victim(task, f"surrogate-{seed}") for seed in SEEDS[:2])
    found: dict[str, Any] = {
        "kind": KINDS[task],
        "data": str(setting.data(task, SOURCES[task])),
        "labels": list(LABELS[task]),
        "n": setting.n,
        "sample": 0,
        "surrogates": {"first": first, "second": second, "both": f"mean({first}, {second})"},
        "licence": "research only",
    }
    if task == "qqp":
        unfit = [name for name in ("stresstest", "links") if name not in setting.without]
        found |= {"metrics": ["accuracy", "f1"], "without": unfit}
    return found


def attacks(setting: Setting) -> list[dict[str, Any]]:
    """The attacks of the paper that can be had here."""
    lexical = setting.assets / "lexical"
    found: list[dict[str, Any]] = [
        {"attack": "textfooler", "name": "textfooler", "class": "word", "family": "embedding"},
        {"attack": "textbugger:textattack", "name": "textbugger", "class": "word", "family": "typo"},
        {
            "attack": "sememe-pso",
            "name": "sememe-pso",
            "class": "word",
            "family": "knowledge",
            "options": {"sememes": str(lexical / "hownet-substitutes.json.gz")},
        },
        {
            "attack": "comp-attack:typo",
            "name": "comp-attack",
            "class": "word",
            "family": "compositional",
            "on": ["first", "second"],
        },
        {"attack": "adv-fever", "name": "adv-fever", "class": "sentence", "family": "syntactic"},
        {
            "attack": "distraction:stresstest",
            "name": "stresstest",
            "class": "sentence",
            "family": "distraction",
            "by_definition": True,
        },
        {
            "attack": "distraction:checklist",
            "name": "links",
            "class": "sentence",
            "family": "distraction",
            "by_definition": True,
        },
    ]
    if setting.parser:
        found.append(
            {
                "attack": "scpn:rules",
                "name": "scpn",
                "class": "sentence",
                "family": "syntactic",
                "options": {"parser": setting.parser},
            }
        )
    if setting.trees:
        options = {"parser": setting.parser, "autoencoder": setting.trees}
        found.append({"attack": "t3", "name": "t3", "class": "sentence", "family": "syntactic", "options": options})
        found[-1]["on"] = ["first", "second"]
    if not setting.quick:
        masked = f"hf:{setting.assets / 'models' / 'minilm-mlm'}"
        unpacked = lexical / "wordnet"
        wordnet = str(unpacked if unpacked.is_dir() else lexical / "wordnet-3.0.tar.gz")
        found[3] |= {"attack": "comp-attack", "options": {"masked_lm": masked, "wordnet": wordnet}}
        found.append(
            {
                "attack": "bert-attack",
                "name": "bert-attack",
                "class": "word",
                "family": "context",
                "options": {"masked_lm": masked},
            }
        )
    return [one for one in found if one["name"] not in setting.without]


def crafted(setting: Setting, tasks: list[str]) -> list[dict[str, Any]]:
    """Sets that people made, or made templates for. AdvSQuAD's are not here, as there are no surrogates for QNLI."""
    found: list[dict[str, Any]] = []
    for task in tasks:
        if task in ("sst2", "qqp"):
            found.append({"name": f"checklist-{task}", "task": task, "format": "checklist", "family": "checklist"})
        else:
            anli = {"name": f"anli-{task}", "file": str(setting.assets / "data" / "anli"), "format": "anli"}
            numbers = {"name": f"numbers-{task}", "file": str(setting.data(task, "train")), "format": "stresstest"}
            found.append({**anli, "task": task, "family": "anli"})
            found.append({**numbers, "task": task, "family": "stresstest"})
    return found


def write_parses(setting: Setting, tasks: list[str], path: Path) -> None:
    """The parses of all sources, for a machine without a parser."""
    from mohs.curation.reading import config_from
    from mohs.curation.suite import data_of
    from mohs.models.parser import load_parser
    from mohs.models.written_parses import write_parses

    found = config_from(config(setting, tasks), "advglue.py")
    texts = [field for task in found.tasks for example in data_of(found, task) for field in example.text.fields]
    print(f"{write_parses(load_parser(setting.parser), texts, path)} parses in {path}")


def built(setting: Setting, tasks: list[str]) -> Path:
    """The benchmark's folder."""
    import mohs

    folder = setting.out / "benchmark"
    start = time.perf_counter()
    mohs.build_benchmark(
        config(setting, tasks), folder, runs_at_once=setting.jobs, said=lambda text: print(text, flush=True)
    )
    print(f"built in {time.perf_counter() - start:.0f} s", flush=True)
    return folder


def scored(setting: Setting, folder: Path, tasks: list[str]) -> None:
    """Score files of all victims, on this benchmark and on the published dev set of AdvGLUE."""
    in_processes(
        setting, score, [(setting, folder, tasks, where, name) for where in ("own", "advglue") for name in VICTIMS]
    )


def score(setting: Setting, folder: Path, tasks: list[str], where: str, name: str) -> None:
    """The score file of one victim."""
    from mohs.curation.score_api import score_benchmark, write_score

    path = setting.out / "scores" / f"{where}-{name}.json"
    if path.exists():
        return
    left = json.loads((folder / "benchmark.json").read_text())["tasks"]
    victims = {task: setting.victim(task, name) for task in tasks if task in left}  # some may have no text left
    place = str(folder)
    if where == "advglue":
        place = f"advglue:{setting.assets / 'data' / 'advglue' / 'dev.json'}"
        victims = {theirs: setting.victim(own, name) for theirs, own in ON_ADVGLUE.items() if own in tasks}
    path.parent.mkdir(parents=True, exist_ok=True)
    found = score_benchmark(place, victims, name=name, device=setting.device)
    write_score(found, path)
    print(f"{where} {name}: {found.average.value:.1%}", flush=True)


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument(
        "--minilm", default="", help="a MiniLM-size encoder to fine-tune; by default that of the assets"
    )
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions/advglue"))
    parser.add_argument("--tasks", nargs="+", default=list(LABELS), choices=LABELS)
    parser.add_argument("--rows", type=int, default=8_000, help="training examples of a task")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--n", type=int, default=250, help="sources of a task")
    parser.add_argument("--parser", default="spacy:en_core_web_sm", help="for scpn and t3; none: without them")
    parser.add_argument("--trees", default="", help="a tree auto-encoder (`mohs train --task t3`), for t3")
    parser.add_argument("--jobs", type=int, default=1, help="trainings, attacks and scorings at once")
    parser.add_argument("--without", nargs="*", default=[], metavar="ATTACK", help="attacks to leave out")
    parser.add_argument("--until", choices=["models", "benchmark"], help="stop before the next part")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--write-parses", type=Path, metavar="FILE", help="parse the sources and do nothing else")
    parser.add_argument("--show", action="store_true", help="do nothing, show what is there")
    parser.add_argument("--quick", action="store_true", help="word CNNs, few examples: minutes on two cores")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    setting = Setting(
        assets=options.assets,
        out=options.out / "quick" if options.quick else options.out,
        minilm="" if options.quick else options.minilm or f"hf:{options.assets / 'models' / 'minilm-mlm'}",
        rows=2_500 if options.quick else options.rows,
        epochs=3 if options.quick else options.epochs,
        n=60 if options.quick else options.n,
        device="cpu" if options.quick else options.device,
        quick=options.quick,
        parser="" if options.parser == "none" else options.parser,
        trees=options.trees,
        jobs=options.jobs,
        without=tuple(options.without),
    )
    folder = setting.out / "benchmark"
    if options.write_parses:
        write_parses(setting, options.tasks, options.write_parses)
        return
    if not options.show:
        setting.out.mkdir(parents=True, exist_ok=True)
        models(setting, options.tasks)
        if options.until != "models":
            built(setting, options.tasks)
        if options.until is None:
            scored(setting, folder, options.tasks)
    if not (folder / "benchmark.json").exists():
        return
    text = tables(folder, setting.out / "scores", VICTIMS)
    print(f"\n{text}")
    (setting.out / "tables.md").write_text(f"{text}\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
