"""The cells, the plan and the tables of the reproduction of defences."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mohs.defences.written import is_defended
from mohs.text import pocket
from mohs.text.dataset import Dataset

FOLDER = Path(__file__).parents[2] / "reproductions"
PARTS = ("defences", "defence_cells", "defence_plan", "defence_printed", "defence_tables", "sst2")


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The script, which imports its parts as a command does: from its own folder."""
    before, known = list(sys.path), set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("defences")
    finally:
        sys.path[:] = before
        for name in set(PARTS) - known:
            sys.modules.pop(name, None)


def part(script: ModuleType, name: str) -> Any:
    """A file that the script imports."""
    assert script.__file__
    return sys.modules[name]


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of assets with the bundled reviews and vectors."""
    root = tmp_path_factory.mktemp("assets")
    lexicon = pocket.lexicon()
    for name in ("counter-fitted-glove-100d", "glove-100d"):
        folder = root / "lexical" / name
        folder.mkdir(parents=True)
        np.save(folder / "vectors.npy", lexicon.vectors)
        (folder / "words.txt").write_text("\n".join(lexicon.words), "utf-8")
    (root / "data" / "yelp").mkdir(parents=True)
    for name, source in (("train", "pocket:train"), ("test", "pocket")):
        with gzip.open(root / "data" / "yelp" / f"{name}.jsonl.gz", "wt") as file:
            for one in Dataset(source):
                print(json.dumps({"id": one.id, "text": str(one.text), "label": one.label}), file=file)
    return root


def setting(script: ModuleType, assets: Path, out: Path) -> Any:
    """A small one."""
    return part(script, "defence_cells").Setting(
        assets=assets, models=assets, out=out, device="cpu", n=8, tested=30, rows=400, keys=4, quick=True
    )


def test_cells_of_a_whole_defence_and_their_tables(
    script: ModuleType, assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MOHS_ASSETS", str(tmp_path / "none"))
    cells, plan = part(script, "defence_cells"), part(script, "defence_plan")
    here = setting(script, assets, tmp_path / "out")
    script.prepared(here, ["yelp"])
    assert all(len(one.text) <= 80 for one in Dataset(str(here.file("yelp", "test"))))
    model, attack = plan.normal("yelp", "bow"), "textfooler:cv50"
    run, black = cells.Attack(model, attack), cells.Attack(model, attack, "PP4")
    for cell in (cells.Lexicon(), cells.Train(model), run, black):
        script.carried_out(cell, here)
    found = here.result(run.name)
    assert 0 < found["successes"] <= found["attacked"] <= found["of"] == 8
    for asked, of in ((cells.Ask(run, "PP4"), found), (cells.Ask(black, "PP4"), here.result(black.name))):
        result = script.carried_out(asked, here)
        assert (result["attacked"], result["successes"]) == (of["attacked"], of["successes"])
        assert len(result["fooled"]) == 4
        assert max(result["fooled"]) <= result["any"] <= result["successes"]
        assert sum(result["fooled"]) == pytest.approx(4 * result["successes"] * (result["share"] or 0))
        assert result["most"] <= result["any"]
        assert script.carried_out(asked, here) == {**result, "took": pytest.approx(0, abs=60)}
    clean = script.carried_out(cells.Clean(model, "PP4"), here)
    assert len(clean["right"]) == 3
    assert max(clean["right"]) <= clean["of"] == 30
    words = script.carried_out(cells.Analyse(run), here)
    assert words["frequencies"]["old_median"]["total"] > 0
    other = replace(here, n=9)
    with pytest.raises(SystemExit, match="another size"):
        script.prepared(other, ["yelp"])


def test_a_cell_waits_for_what_it_needs_and_runs_once(script: ModuleType, assets: Path, tmp_path: Path) -> None:
    here, cells = setting(script, assets, tmp_path), part(script, "defence_plan").plan(["8.1"], ["yelp"])
    assert script.ready(cells, here).name == "lexicon"
    left = [cell for cell in cells if cell.name != "lexicon"]
    assert script.ready(left, here).name == "train-yelp-minilm-N"
    assert script.ready([cell for cell in left if not cell.name.startswith("train")], here) is None
    here.kept("x").parent.mkdir()
    for name in ("lexicon", "train-yelp-minilm-DA"):
        here.kept(name).write_text("{}")
    assert (
        script.ready(left[1:], here).name == "train-yelp-minilm-DA"
    )  # its needs are there; `work` leaves out done ones
    script.work([cells[0]], here, 1, 1.0)  # nothing is left to do


@pytest.mark.parametrize("quick", [False, True])
def test_the_plan_has_every_cell_once_after_what_it_needs(script: ModuleType, quick: bool) -> None:
    plan = part(script, "defence_plan")
    cells = plan.plan(plan.TABLES, ["ag_news", "yelp", "imdb", "sst2"], "cnn" if quick else "minilm")
    if quick:
        cells = [cell for cell in cells if script.quick(cell)]
    names = [cell.name for cell in cells]
    assert len(set(names)) == len(names)
    assert {need for cell in cells for need in cell.needs} <= set(names)
    assert names[0] == "lexicon"


@pytest.mark.parametrize("defence", ["PP", "PP32", "PP-cv70", "MA5", "MA30"])
def test_defences_are_written_as_mohs_reads_them(
    script: ModuleType, assets: Path, tmp_path: Path, defence: str
) -> None:
    from mohs.defences.versions import Versions
    from mohs.runs.settings import VictimSettings
    from mohs.runs.subject import victim_of

    here, wrapped = setting(script, assets, tmp_path), part(script, "defence_cells").wrapped
    spec = wrapped("pocket", defence, 3, here)
    assert is_defended(spec)
    victim = victim_of(VictimSettings(victim=spec))
    assert isinstance(victim, Versions)
    settings = victim.defence
    expected = {
        "PP": ("n", 8),
        "PP32": ("n", 32),
        "PP-cv70": ("cosine", 0.7),
        "MA5": ("rate", 0.05),
        "MA30": ("rate", 0.3),
    }[defence]
    assert getattr(settings, expected[0]) == expected[1]
    assert victim.key == 3
    assert wrapped("pocket", "", 0, here) == "pocket"


def run_of(successes: int, attacked: int = 100) -> dict[str, Any]:
    """What an attack gives."""
    return {"successes": successes, "attacked": attacked, "queries": 9.0, "words": 0.1, "few": 1}


def test_claims_say_what_was_found(script: ModuleType) -> None:
    cells, plan, tables = (part(script, f"defence_{name}") for name in ("cells", "plan", "tables"))
    n, da, attack = plan.normal("yelp"), plan.augmented("yelp"), plan.PRIMED[0]
    plain, hard, black = cells.Attack(n, attack), cells.Attack(da, attack), cells.Attack(da, attack, "PP")
    found = {
        cells.Train(n).name: {"right": 950, "of": 1000, "seconds": [2.0, 4.0]},
        cells.Train(da).name: {"right": 955, "of": 1000, "seconds": [9.0]},
        plain.name: run_of(90),
        hard.name: run_of(40),
        black.name: run_of(35),
        cells.Ask(hard, "PP").name: {"attacked": 100, "successes": 40, "fooled": [4, 6], "most": 5},
        cells.Ask(black, "PP").name: {"attacked": 100, "successes": 35, "fooled": [8, 9], "most": 60},
    }
    rows = [line.strip("| ").split(" | ") for line in tables.claims(found, ["yelp"], "minilm").splitlines()[2:]]
    said = {row[1].partition(": ")[2] or row[1]: row[-1] for row in rows}
    assert said["augmentation lowers success"] == "holds"
    assert said["augmentation does not cost clean accuracy (at most 2 points)"] == "holds"
    assert said["the ensemble lowers it further, on finished texts"] == "holds"
    assert said["the ensemble lowers it further, adaptively"] == "open"  # 35 and 40 of 100
    assert said["the same, if a success must fool most fresh draws"] == "the other way"
    assert said["finished texts flatter the ensemble: fewer successes than adaptively"] == "holds"
    made = dict(tables.tables(found, ["yelp"], "minilm"))
    for title, body in made.items():
        assert len({line.count(" | ") for line in body.splitlines() if not line.startswith("|---")}) == 1, title
    rows = made["Tables 8.1 and the adaptive columns: success, %"].splitlines()
    (row,) = (line for line in rows if "| DA+PP |" in line)
    assert "| 5.00 ± 1.41 (of 100) | 4.37 ± 0.39 | 35.0 (35/100) [26, 45] | 60.0 (60/100) [50, 69] |" in row
    assert "| 3.0 × 2 | 0:32 / 2 |" in made["Table 8.3: augmentation and adversarial training: success, %"]
    assert tables.claims({}, ["yelp"], "minilm") == "None can be checked yet."


def test_newcombe_interval_of_a_difference(script: ModuleType) -> None:
    """The example of Newcombe 1998: 56/70 and 48/80 give 0.2000 [0.0524, 0.3339]."""
    (low, high), change = part(script, "defence_tables").difference(56, 70, 48, 80)
    assert (low, high, change) == pytest.approx((0.0524, 0.3339, 0.2), abs=5e-5)


def test_examples_at_equal_steps_and_first_words(script: ModuleType) -> None:
    cells = part(script, "defence_cells")
    assert cells.spread(list(range(10)), 5) == [0, 2, 4, 6, 8]
    assert cells.spread([1, 2], 5) == [1, 2]
    assert cells.cut("a  b\nc d", 3) == "a b c"
    assert cells.cut("a  b", None) == "a  b"
