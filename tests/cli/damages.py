"""Random damages of a run folder, and what the commands make of them.

`python -m tests.cli.damages 500` tries that many and prints what came out.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml

import mohs
from mohs.cli.main import app
from mohs.errors import MohsError
from tests.toys import WordCount, table

SOURCE = table(good="bad fine", fine="poor good", film="movie", number="count")
ROWS = [(f"a {word} film number {i} " + "and more of it " * 12, 1) for i, word in enumerate(["good", "fine"] * 15)]
JOURNAL, MANIFEST = "journal.sqlite", "manifest.yaml"


def make(folder: Path) -> list[str]:
    """A small run of two attacks. Gives the lines of its export."""
    victim = WordCount({"good": 2.0, "fine": 1.0, "bad": -2.0, "poor": -1.0})
    mohs.attack(victim, ROWS, ["random", "textfooler"], source=SOURCE, constraints=[], out=folder, budget=40).close()
    code, lines, error = command("export", folder)
    assert code == 0, error
    return lines


def command(*arguments: object) -> tuple[int, list[str], str]:
    """The exit code, the lines printed, and the message or the exception of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app([str(argument) for argument in arguments], standalone_mode=False)
        except MohsError as error:
            return 2, out.getvalue().splitlines(), str(error)
        except Exception as error:
            return 1, out.getvalue().splitlines(), f"Traceback: {type(error).__name__}: {error}"
    return 0, out.getvalue().splitlines(), err.getvalue()


def flip(folder: Path, random: Random, name: str = JOURNAL) -> None:
    content = bytearray((folder / name).read_bytes())
    for _ in range(random.choice([1, 1, 1, 2, 8])):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    (folder / name).write_bytes(content)


def flip_header(folder: Path, random: Random) -> None:
    content = bytearray((folder / JOURNAL).read_bytes())
    content[random.randrange(100)] = random.randrange(256)
    (folder / JOURNAL).write_bytes(content)


def flip_manifest(folder: Path, random: Random) -> None:
    flip(folder, random, MANIFEST)


def cut(folder: Path, random: Random, name: str = JOURNAL) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: random.randrange(len(content))])


def cut_manifest(folder: Path, random: Random) -> None:
    cut(folder, random, MANIFEST)


def zero_page(folder: Path, random: Random) -> None:
    content = bytearray((folder / JOURNAL).read_bytes())
    page = random.randrange(len(content) // 4096)
    content[page * 4096 : (page + 1) * 4096] = bytes(4096)
    (folder / JOURNAL).write_bytes(content)


def swap_pages(folder: Path, random: Random) -> None:
    content = bytearray((folder / JOURNAL).read_bytes())
    one, other = (page * 4096 for page in random.sample(range(len(content) // 4096), 2))
    content[one : one + 4096], content[other : other + 4096] = content[other : other + 4096], content[one : one + 4096]
    (folder / JOURNAL).write_bytes(content)


def sql(folder: Path, random: Random) -> None:
    statement = random.choice(
        [
            "DELETE FROM records WHERE number % 7 = {n}",
            "DELETE FROM records",
            "UPDATE records SET record = replace(record, 'film', 'fi1m') WHERE number = {n}",
            "UPDATE records SET number = number + 40 WHERE number = {n}",
            "UPDATE records SET example = example || 'x' WHERE number = {n}",
            "UPDATE records SET record = '{{}}' WHERE number = {n}",
            "UPDATE records SET record = x'00ff' WHERE number = {n}",
            "UPDATE records SET checksum = NULL WHERE number = {n}",
            "UPDATE effort SET value = value + 1",
            "DELETE FROM tally",
            "DROP TABLE tally",
            "DROP TABLE records",
            "DROP TABLE effort",
            "ALTER TABLE records DROP COLUMN checksum",
            "PRAGMA user_version = 0",
            "PRAGMA user_version = 7",
        ]
    )
    with contextlib.suppress(sqlite3.OperationalError), sqlite3.connect(folder / JOURNAL) as db:  # an old one has less
        db.execute(statement.format(n=random.randrange(7)))
    db.close()


ODD: list[Any] = [None, 5, -1.5, True, "text", [], [1, None], {}, {"a": [1]}, [["x"]], {"1": {}}]


def edit(folder: Path, random: Random) -> None:
    """Replace, remove or add a value somewhere in the manifest."""
    manifest = yaml.safe_load((folder / MANIFEST).read_text())
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key in list(part) if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(manifest)
    top = [(manifest, key) for key in manifest]
    part, key = random.choice(random.choice([places, top]))
    if random.random() < 0.4:
        del part[key]
    else:
        part[key] = random.choice(ODD)
    text = yaml.safe_dump(manifest) if random.random() < 0.7 else json.dumps(manifest)
    (folder / MANIFEST).write_text(text)


DAMAGES: list[Callable[[Path, Random], None]] = [
    flip,
    flip,
    flip,
    flip_header,
    cut,
    zero_page,
    zero_page,
    swap_pages,
    sql,
    sql,
    flip_manifest,
    cut_manifest,
    edit,
    edit,
    edit,
]


def tried(whole: Path, lines: list[str], seed: int, *, old: bool = False) -> list[str]:
    """What is wrong after one damage: nothing, it is to be hoped. Export, salvage and report are tried.

    old: a folder of an earlier version, which has no checksums: only its messages are looked at.
    """
    random = Random(f"damage/{seed}")
    damage = DAMAGES[seed % len(DAMAGES)]
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(whole, Path(place) / "run"))
        damage(folder, random)
        code, found, error = command("export", folder)
        if code == 0 and found != lines and not old:
            wrong.append(f"{damage.__name__} {seed}: wrong export with exit code 0")
        if code == 2 and (len(error.splitlines()) != 1 or str(folder) not in error):
            wrong.append(f"{damage.__name__} {seed}: {error!r}")
        codes = [(code, error)]
        code, rest, error = command("export", folder, "--salvage")
        known = {json.dumps(_plain(line)) for line in lines}
        if code == 0 and not old and any(json.dumps(_plain(line)) not in known for line in rest):
            wrong.append(f"{damage.__name__} {seed}: salvaged what was never written")
        codes += [(code, error), command("report", folder, "--no-page", "--no-judge")[::2]]
        wrong += [f"{damage.__name__} {seed}: {error}" for code, error in codes if code == 1]
    return wrong


def _plain(line: str) -> dict[str, Any]:
    """A line without the column that a judge adds, which hangs on the manifest."""
    return {key: value for key, value in json.loads(line).items() if key != "accepted"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        lines = make(Path(temporary) / "run")
        found = [fault for seed in range(int(sys.argv[1])) for fault in tried(Path(temporary) / "run", lines, seed)]
    print(*found, sep="\n")
    print(f"{sys.argv[1]} damages: {dict(Counter(fault.split()[0] for fault in found)) or 'nothing wrong'}")
