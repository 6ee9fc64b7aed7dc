"""Parts of a run, made with --shard, and joined: equal to the run of one machine."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput
from mohs.records import RunStore
from mohs.records.export import export
from mohs.records.store import read_manifest
from mohs.runs import merge as merging
from mohs.runs.merge import merge
from mohs.tasks.shard import Shard
from tests.before.cases import ROWS
from tests.cli.conftest import Mohs
from tests.toys import Wordlike, bundled

EXAMPLES = [mohs.Example.of(text, label, id=f"row-{n}") for n, (text, label) in enumerate(ROWS)]


def known(how: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Models that are loaded already; workers load their own."""
    return {} if "workers" in how else {k: v for k, v in bundled().items() if not names or k in names}


Start = Callable[..., mohs.Run]
VERBS: Mapping[str, Start] = {
    "attack": lambda **how: mohs.attack("pocket", EXAMPLES, ["textfooler", "random"], **known(how), **how),
    "second-order": lambda **how: mohs.second_order_attack(
        "pocket", EXAMPLES, masked_lm=Wordlike(), k=2, **known(how, "vectors"), **how
    ),
    "bias": lambda **how: mohs.token_bias("pocket", EXAMPLES, masked_lm=Wordlike(), k=1, both_directions=True, **how),
    "radius": lambda **how: mohs.radius("pocket", EXAMPLES, attacks=["pdp"], share=["25%"], max_r=2, **how),
    "certify": lambda **how: mohs.certify("pocket", EXAMPLES, budget=["1"], **how),
}


def parts(start: Start, place: Path, of: int, **how: Any) -> list[Path]:
    """The folders of all parts, the last first."""
    found = []
    for number in range(of, 0, -1):
        start(shard=f"{number}/{of}", out=place / f"part-{number}", **how).close()
        found.append(place / f"part-{number}")
    return found


def written(run: mohs.Run, place: Path) -> tuple[dict[str, Any], bytes, bytes]:
    """All that a run says: its manifest, its records and its page."""
    with run:
        view = run.view()
        export(run.records(), "jsonl", place / "records.jsonl", sys.stdout, view.columns)
        return run.manifest, (place / "records.jsonl").read_bytes(), run.report(place / "page.html").read_bytes()


@pytest.mark.parametrize("of", [1, 2, 5])
@pytest.mark.parametrize("verb", list(VERBS))
def test_parts_joined_are_the_run_of_one_machine(verb: str, of: int, tmp_path: Path) -> None:
    whole = written(VERBS[verb](out=tmp_path / "whole"), tmp_path)
    found = parts(VERBS[verb], tmp_path, of)
    with merge(found, tmp_path / "joined") as run:
        assert written(run, tmp_path)[:2] == whole[:2]
    again = VERBS[verb](out=tmp_path / "joined")  # the folder is one that the whole command resumes
    assert written(again, tmp_path)[1] == whole[1]


@pytest.mark.parametrize("verb", list(VERBS))
def test_parts_of_several_workers(verb: str, tmp_path: Path) -> None:
    whole = written(VERBS[verb](), tmp_path)
    one, other = (tmp_path / name for name in ("one", "other"))
    VERBS[verb](shard="1/2", workers=2, out=one).close()
    VERBS[verb](shard="2/2", workers=1, out=other).close()
    assert written(merge([one, other], tmp_path / "joined"), tmp_path)[1] == whole[1]


def test_the_page_of_joined_parts_is_that_of_the_whole(tmp_path: Path) -> None:
    found = parts(VERBS["attack"], tmp_path, 3)
    with merge(found, tmp_path / "joined") as run:
        effort = run.effort()
        joined = run.report(tmp_path / "joined.html").read_text()
    with VERBS["attack"]() as run:
        assert set(effort) == set(run.effort())
        whole = run.report(tmp_path / "whole.html").read_text()
    assert "of part" not in joined
    assert joined.count("<tr") == whole.count("<tr")


def test_a_part_says_that_it_is_one(tmp_path: Path) -> None:
    with VERBS["attack"](shard="1/2", out=tmp_path / "part") as run:
        mine = [example for example in EXAMPLES if Shard(1, 2).holds(example.id)]
        assert 0 < len(mine) < len(EXAMPLES)
        assert run.planned == len(run) == 2 * len(mine)
        assert Shard(1, 2).note in run.manifest["facts"]["notes"]
        assert "part 1/2 only" in run.report().read_text()


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    return sorted(parts(simple, tmp_path, 3))


def simple(**how: Any) -> mohs.Run:
    return mohs.attack("pocket", EXAMPLES, "random", **how)


def refused(runs: list[Path], place: Path) -> str:
    with pytest.raises(BadInput) as caught:
        merge(runs, place / "joined")
    assert not (place / "joined").exists()
    return str(caught.value)


def test_gaps_and_overlaps_are_refused(three: list[Path], tmp_path: Path) -> None:
    one, two, last = three
    assert "Of 3 parts these are missing: 2/3;" in refused([one, last], tmp_path)
    twin = shutil.copytree(two, tmp_path / "twin")
    assert f"{two} and {twin} are both part 2/3" in refused([*three, twin], tmp_path)
    with merge([*three, two], tmp_path / "joined") as run:  # one folder named twice is one part
        assert len(run) == len(EXAMPLES)


def test_parts_of_other_runs_are_refused(three: list[Path], tmp_path: Path) -> None:
    one, two, last = three
    simple(out=tmp_path / "whole").close()
    assert "it was made without --shard" in refused([tmp_path / "whole", two, last], tmp_path)
    simple(shard="3/3", seed=1, out=tmp_path / "seed").close()
    assert "seed is 0 in the first and 1 in the second" in refused([one, two, tmp_path / "seed"], tmp_path)
    mohs.attack("pocket", EXAMPLES[:-1], "random", shard="3/3", out=tmp_path / "data").close()
    assert "data_hash is" in refused([one, two, tmp_path / "data"], tmp_path)
    mohs.attack("pocket", EXAMPLES, "input-reduction", shard="3/3", out=tmp_path / "attack").close()
    assert "tasks is ['random:baseline'] in the first" in refused([one, two, tmp_path / "attack"], tmp_path)
    simple(shard="2/2", out=tmp_path / "halves").close()
    assert "is part 1/3 and" in refused([one, tmp_path / "halves"], tmp_path)


def test_an_unfinished_part_is_refused(three: list[Path], tmp_path: Path) -> None:
    def stop(record: Any, finished: int, total: int) -> None:
        if record is not None:
            raise KeyboardInterrupt

    part = next(f"{n}/3" for n in (1, 2, 3) if sum(Shard(n, 3).holds(e.id) for e in EXAMPLES) > 1)
    place = tmp_path / f"part-{part[0]}"
    shutil.rmtree(place)
    with pytest.raises(KeyboardInterrupt):
        simple(shard=part, out=place, progress=stop)
    assert f"{place} (part {part}) has 1 of " in refused(three, tmp_path)
    simple(shard=part, out=place).close()
    with merge(three, tmp_path / "joined") as run:
        assert len(run) == len(EXAMPLES)


def test_a_merge_that_was_stopped_is_done_again(
    three: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_AT_ONCE", 1)

    def stop(record: None, joined: int, total: int) -> None:
        if joined == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge(three, tmp_path / "joined", stop)
    with mohs.Run.open(tmp_path / "joined") as run:
        assert len(run) == 3
    monkeypatch.undo()
    with merge(three, tmp_path / "joined") as run, simple() as whole:
        effort = run.effort()
        assert [record.to_json() for record in run.records()] == [record.to_json() for record in whole.records()]
    with merge(three, tmp_path / "joined") as run:
        assert run.effort() == effort  # counted once


def test_more_parts_than_files_that_may_be_open(tmp_path: Path) -> None:
    """A part open for reading takes three files, and 1,024 are the usual limit."""
    found = [tmp_path / f"part-{number}" for number in range(1, 31)]
    for number, place in enumerate(found, 1):
        simple(shard=f"{number}/30", out=place).close()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 30, hard))
    try:
        with merge(found, tmp_path / "joined") as run:
            assert len(run) == len(EXAMPLES)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_records_of_another_part_are_refused(three: list[Path], tmp_path: Path) -> None:
    """As somebody might make them who edits a manifest of a folder without checksums."""
    place = tmp_path / "forged"
    with simple(shard="1/3") as run:
        manifest = run.manifest
    theirs = next(record for record in simple().records() if not Shard(1, 3).holds(record.example_id))
    store = RunStore.open(
        place, {**manifest, "facts": {**manifest["facts"], "shard_examples": 1}}, manifest["identity"]
    )
    store.add(0, theirs)
    store.close()
    assert "which is not in part 1/3" in refused([place, *three[1:]], tmp_path)


def test_parts_from_machines_that_differ_are_joined_with_a_note(three: list[Path], tmp_path: Path) -> None:
    manifest = read_manifest(three[1])
    facts = {**manifest["facts"], "versions": {"torch": "1.0"}}
    with simple(shard="2/3") as run:
        store = RunStore.open(tmp_path / "other", {**manifest, "facts": facts}, manifest["identity"])
        for number, example in enumerate(EXAMPLES):
            for record in run.records():
                if record.example_id == example.id:
                    store.add(number, record)
        store.close()
    with merge([three[0], tmp_path / "other", three[2]], tmp_path / "joined") as run:
        (note,) = (note for note in run.manifest["facts"]["notes"] if note.startswith("The parts"))
        assert note == "The parts differ in versions; what stands here is of part 1/3."


def test_the_commands(tmp_path: Path, mohs: Mohs) -> None:
    for number in (1, 2):
        part = ["--shard", f"{number}/2", "--out", str(tmp_path / f"part-{number}")]
        assert mohs("attack", "--attack", "random", "--n", "6", *part).returncode == 0
    assert mohs("attack", "--attack", "random", "--n", "6", "--out", str(tmp_path / "whole")).returncode == 0
    found = [str(tmp_path / name) for name in ("part-1", "part-2")]
    done = mohs("merge", *found, "--out", str(tmp_path / "joined"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finished"] == 6
    one, other = (mohs("export", str(tmp_path / name)).stdout for name in ("whole", "joined"))
    assert one == other
    assert (tmp_path / "joined" / "report.html").exists()
    assert "needs --out" in mohs("merge", *found).stderr
    assert "has the form K/N" in mohs("attack", "--shard", "half").stderr
