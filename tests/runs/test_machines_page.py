"""The examples of docs/machines.md do what the page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import mohs
from tests.before.cases import ROWS
from tests.cli.conftest import environment

PAGE = (Path(__file__).parents[2] / "docs" / "machines.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS = {
    found[1]: body for kind, body in BLOCKS if kind == "bash" and (found := re.search(r"^# (\w+\.sh)\b", body, re.M))
}
# Notes what it was asked, and leaves a folder as a run does.
STAND_IN = """#!/bin/bash
printf '%s\\n' "$*" >> asked.txt
while [ "$1" != --out ]; do shift; done
echo done > "$2/journal"
"""
# Says that it has begun and waits for its end; if it has begun before, it ends by itself.
WAITING = """#!/bin/bash
while [ "$1" != --out ]; do shift; done
[ -e "$2/begun" ] && exit 7
touch "$2/begun"
echo begun > said
read < never
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scripts of the page."""
    for name, body in SCRIPTS.items():
        (tmp_path / name).write_text(body, "utf-8")
    (tmp_path / "parts").mkdir()
    (tmp_path / "tmp").mkdir()
    return tmp_path


def command(place: Path, body: str) -> dict[str, str]:
    """An environment in which `mohs` is this script."""
    program = place / "bin" / "mohs"
    program.parent.mkdir()
    program.write_text(body, "utf-8")
    program.chmod(0o755)
    more = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(place / "tmp")}
    return environment(place, **more)


def bash(place: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", *arguments], cwd=place, env=environment, capture_output=True, text=True, check=False)


def shards(place: Path) -> list[str]:
    """What the stand-in was given as --shard."""
    asked = map(shlex.split, (place / "asked.txt").read_text("utf-8").splitlines())
    return [words[words.index("--shard") + 1] for words in asked]


def all_of(count: int) -> list[str]:
    return [f"{number}/{count}" for number in range(1, count + 1)]


def test_every_script_is_bash(place: Path) -> None:
    assert set(SCRIPTS) == {"loop.sh", "part.sh", "join.sh", "array.sh"}
    for kind, body in BLOCKS:
        if kind == "bash":
            (place / "any.sh").write_text(body, "utf-8")
            assert bash(place, dict(os.environ), "-n", "any.sh").stderr == ""


def test_the_loop_gives_the_run_of_one_machine(place: Path) -> None:
    rows = [{"id": f"row-{number}", "text": text, "label": label} for number, (text, label) in enumerate(ROWS)]
    (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    real = command(place, f'#!/bin/bash\nexec {shlex.quote(sys.executable)} -m mohs "$@"\n')
    done = bash(place, real, "loop.sh")
    assert done.returncode == 0, done.stderr
    assert len(list(place.glob("part-*"))) == 4
    with mohs.attack("pocket", str(place / "test.jsonl")) as one, mohs.Run.open(place / "whole") as joined:
        assert [record.to_json() for record in joined.records()] == [record.to_json() for record in one.records()]


def test_the_array_has_every_part_once(place: Path) -> None:
    script, stand_in = SCRIPTS["array.sh"], command(place, STAND_IN)
    first, last = map(int, re.findall(r"^#SBATCH --array=(\d+)-(\d+)$", script, re.MULTILINE)[0])
    for task in range(first, last + 1):
        told = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "2"}
        done = bash(place, {**stand_in, **told}, "array.sh")
        assert (done.returncode, done.stderr) == (0, "")
    assert shards(place) == all_of(last)
    assert sorted(path.name for path in (place / "parts").iterdir()) == sorted(f"{n}.tar" for n in range(1, last + 1))
    assert not any((place / "tmp").iterdir())


def test_the_indexed_job_has_every_part_once(place: Path) -> None:
    (job,) = (yaml.safe_load(body) for kind, body in BLOCKS if kind == "yaml")
    spec: Any = job["spec"]
    assert spec["completionMode"] == "Indexed"
    (container,) = spec["template"]["spec"]["containers"]
    stand_in = command(place, STAND_IN)
    for index in range(spec["completions"]):
        program, *arguments = container["command"]
        assert program == "bash"
        done = bash(place, {**stand_in, "JOB_COMPLETION_INDEX": str(index)}, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
    assert shards(place) == all_of(spec["completions"])
    assert len(list((place / "parts").glob("*.tar"))) == spec["completions"]


def test_the_indexed_job_mounts_what_it_names() -> None:
    (job,) = (yaml.safe_load(body) for kind, body in BLOCKS if kind == "yaml")
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert set(mounts) == {volume["name"] for volume in pod["volumes"]}
    assert container["workingDir"] == mounts["shared"]
    assert container["env"] == [{"name": "TMPDIR", "value": mounts["scratch"]}]
    assert pod["restartPolicy"] == "Never"  # which a limit for each index and rules for failures ask for


def test_tar_files_are_unpacked_and_joined(place: Path) -> None:
    stand_in = command(place, STAND_IN)
    for number in (1, 2):
        bash(place, stand_in, "part.sh", f"parts/{number}.tar", "mohs", "attack", "--shard", f"{number}/2")
    (place / "whole").mkdir()
    assert bash(place, stand_in, "join.sh").returncode == 0
    last = (place / "asked.txt").read_text("utf-8").splitlines()[-1]
    assert last == "merge joining/1 joining/2 --out whole"
    assert (place / "joining" / "2" / "journal").exists()


def test_a_part_that_is_told_to_end_is_packed_and_goes_on(place: Path) -> None:
    waiting = command(place, WAITING)
    for name in ("said", "never"):
        os.mkfifo(place / name)
    words = ["bash", "part.sh", "parts/1.tar", "mohs", "attack", "--shard", "1/2"]
    with subprocess.Popen(words, cwd=place, env=waiting, stderr=subprocess.DEVNULL) as process:
        assert (place / "said").read_text("utf-8") == "begun\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM
    with tarfile.open(place / "parts" / "1.tar") as kept:
        assert "./begun" in kept.getnames()
    assert bash(place, waiting, *words[1:]).returncode == 7  # it found what the first one left
    assert not any((place / "tmp").iterdir())


def test_a_damaged_tar_file_is_not_overwritten(place: Path) -> None:
    kept = place / "parts" / "1.tar"
    kept.write_text("no tar", "utf-8")
    done = bash(place, command(place, STAND_IN), "part.sh", str(kept), "mohs", "--shard", "1/2")
    assert done.returncode == 1
    assert kept.read_text("utf-8") == "no tar"
    assert not (place / "asked.txt").exists()
