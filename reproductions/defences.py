"""Defences: Hauser et al. 2021 and the robust models of Zhang et al. 2021, beside what they print, and under attack.

    python reproductions/defences.py --assets DIR --quick              # two cores, some minutes
    python reproductions/defences.py --assets DIR --jobs 12            # one GPU; goes on where it stopped
    python reproductions/defences.py --assets DIR --show               # only the tables of what is there

DIR holds data/, lexical/ and models/minilm-mlm. MiniLM is trained normally (N) and with augmentation (DA) on AG News,
Yelp (reviews of at most 80 words) and IMDB (cut to the first --words words), and attacked; word victims on SST-2 are
trained as they are and robustly. A defence at answer time (PP, the ensemble; MA5, masking) is judged three ways: on
finished adversarial examples, as the thesis does; with the defended system as the black box of the attack (adaptive);
and by whether an adaptive success fools most of fresh draws of its randomness.

The work is cut into cells (defence_cells.py) in order of importance (defence_plan.py). Each is done once and kept under
--out; --minutes begins no more cells after so long and stops those under way, which go on in the next call.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

from defence_cells import LABELS, Cell, Result, Setting, Train, carried_out, write_data
from defence_plan import LONG, TABLES, model_of, plan
from defence_tables import claims, tables

WAIT = 2.0  # seconds between two looks at the clock


def prepared(setting: Setting, sets: list[str]) -> None:
    """Write the examples, and install WordNet where training looks for it."""
    import mohs.assets

    setting.out.mkdir(parents=True, exist_ok=True)
    kept, now = setting.out / "setting.json", json.dumps(sizes(setting), indent=1)
    if kept.exists() and kept.read_text() != now:
        raise SystemExit(f"{setting.out} holds results of another size ({kept}); give another --out.")
    kept.write_text(now)
    for data in sets:
        write_data(data, setting)
    os.environ["MOHS_ASSETS"] = str((setting.out / "assets").resolve())
    if Path(setting.wordnet).exists() and not mohs.assets.installed("wordnet"):
        mohs.assets.pull("wordnet", source=Path(setting.wordnet))


def sizes(setting: Setting) -> dict[str, Any]:
    """The part of a setting that figures depend on."""
    places = ("assets", "models", "out", "device")
    return {name: value for name, value in asdict(setting).items() if name not in places}


def possible(cell: Cell) -> bool:
    """Whether this version of mohs has the method that its victim is trained with."""
    from dataclasses import fields

    from mohs.training.hardening import methods
    from mohs.training.recipe import Recipe

    model = model_of(cell)
    if model is None:
        return True
    if model.verifiable and "verifiable" not in {field.name for field in fields(Recipe)}:
        return False
    return all(one.partition(":")[0] in methods() for one in model.harden)


def begun(cell: Cell, setting: Setting) -> Result:
    """A cell in a process of its own."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    return carried_out(cell, setting)


def ready(cells: list[Cell], setting: Setting) -> Cell | None:
    """The first cell whose needs are there."""
    return next((cell for cell in cells if all(setting.kept(name).exists() for name in cell.needs)), None)


def work(cells: list[Cell], setting: Setting, jobs: int, minutes: float) -> None:
    """Do the cells that are not done yet, so many at a time."""
    left = [cell for cell in cells if not setting.kept(cell.name).exists()]
    total, started, under_way = len(left), time.perf_counter(), dict[Future[Result], Cell]()
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
    finished = 0
    while left or under_way:
        passed = time.perf_counter() - started
        if passed > 60 * minutes:
            stop(pool)
            print(f"stopped after {passed / 60:.1f} minutes: {finished} of {total} cells", flush=True)
            return
        while len(under_way) < jobs and (cell := ready(left, setting)) is not None:
            left.remove(cell)
            under_way[pool.submit(begun, cell, setting)] = cell
        if not under_way:
            print(f"{len(left)} cells miss what they need: {', '.join(cell.name for cell in left[:5])} ...", flush=True)
            break
        for future in wait(under_way, timeout=WAIT, return_when=FIRST_COMPLETED).done:
            cell = under_way.pop(future)
            finished += 1
            error = future.exception()
            told = f"{type(error).__name__}: {error}" if error is not None else brief(future.result())
            clock = f"{(time.perf_counter() - started) / 60:5.1f} min {finished}/{total}"
            print(f"{clock} {cell.name}: {told}", flush=True)
    pool.shutdown()


def stop(pool: ProcessPoolExecutor) -> None:
    """End the processes; what they were at goes on in the next call."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.terminate()


def brief(result: Result) -> str:
    """A result in a line."""
    known = ("right", "of", "successes", "attacked", "queries", "fooled", "most", "took")
    return json.dumps({name: result[name] for name in known if name in result})


def show(cells: list[Cell], setting: Setting, missing: list[Cell], sets: list[str], arch: str) -> None:
    """Print the tables of what is there, and write them with all results."""
    found = {cell.name: result for cell in cells if (result := setting.result(cell.name)) is not None}
    parts = tables(found, sets, arch)
    said = claims(found, sets, arch)
    text = "\n\n".join([*(f"**{title}**\n\n{body}" for title, body in parts), "**Claims**\n\n" + said])
    if missing:
        names = sorted({cell.model.name for cell in missing if isinstance(cell, Train)})
        text += f"\n\nNot in this version of mohs: {', '.join(names)}."
    print(f"\n{text}")
    (setting.out / "tables.md").write_text(f"{text}\n")
    (setting.out / "results.json").write_text(json.dumps({"setting": sizes(setting), "cells": found}, indent=1))


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/ and lexical/")
    parser.add_argument("--models", type=Path, help="folder with minilm-mlm/; by default models/ of the assets")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions/defences"))
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--data", nargs="+", default=[*LONG, "sst2"], choices=LABELS)
    parser.add_argument("--arch", default="minilm", help="the victim of AG News, Yelp and IMDB: minilm, cnn, lstm ...")
    parser.add_argument("--n", type=int, default=200, help="attacked examples; of SST-2 twice as many, half for slow")
    parser.add_argument("--n-long", type=int, default=100, help="attacked examples of IMDB")
    parser.add_argument("--tested", type=int, default=500, help="examples for clean accuracy")
    parser.add_argument("--rows", type=int, default=8_000, help="training examples; 0: all")
    parser.add_argument("--sentences", type=int, default=0, help="training examples of SST-2; 0: all")
    parser.add_argument("--words", type=int, default=100, help="IMDB's reviews are cut to so many words; 0: not at all")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--augmented", type=int, default=12, help="epochs of augmented training")
    parser.add_argument("--keys", type=int, default=10, help="draws of a defence's randomness")
    parser.add_argument("--budget", type=int, default=3_000, help="queries an example of IMDB; 0: no limit")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", help="of MiniLM while it is attacked: auto, fp32 or bf16")
    parser.add_argument("--jobs", type=int, default=1, help="cells at the same time")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--show", action="store_true", help="do nothing, show what is there")
    parser.add_argument("--quick", action="store_true", help="word CNNs, few examples: minutes on two cores")
    options = parser.parse_args()
    if options.quick:
        options.arch, options.data, options.tables = "cnn", ["ag_news", "sst2"], ["8.1", "adaptive", "2", "4.2"]
        options.n, options.tested, options.rows, options.sentences, options.keys = 24, 200, 1_500, 10_000, 5
        options.jobs, options.device = min(2, os.cpu_count() or 1), "cpu"
    return options


def setting_of(options: argparse.Namespace) -> Setting:
    """Where things are, and how much of them."""
    return Setting(
        assets=options.assets,
        models=options.models or options.assets / "models",
        out=options.out / "quick" if options.quick else options.out,
        device=options.device,
        dtype=options.dtype,
        n=options.n,
        n_long=options.n_long,
        tested=options.tested,
        rows=options.rows or None,
        sentences=options.sentences or None,
        words=options.words or None,
        epochs=options.epochs,
        augmented=options.augmented,
        keys=options.keys,
        budget=options.budget or None,
        quick=options.quick,
    )


def main() -> None:
    options = arguments()
    setting = setting_of(options)
    cells = plan(options.tables, options.data, options.arch)
    if options.quick:
        cells = [cell for cell in cells if quick(cell)]
    missing = [cell for cell in cells if not possible(cell)]
    cells = [cell for cell in cells if cell not in missing]
    if not options.show:
        prepared(setting, options.data)
        work(cells, setting, options.jobs, options.minutes)
    show(cells, setting, missing, options.data, options.arch)


def quick(cell: Cell) -> bool:
    """Whether a cell is for two cores: no masked language model on word victims but for one second-order attack."""
    if any(part in cell.name for part in ("bert-attack", "bae", "so-enum", "genetic")):
        return False
    model = model_of(cell)
    return model is None or model.arch == ("bow" if model.data == "sst2" else "cnn")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
