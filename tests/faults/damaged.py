"""Damaged files: journals and manifests, caches, audit.jsonl, checkpoints and the record of a training."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.cli.damages import make, tried
from tests.faults.sabotage import KILL
from tests.faults.scene import Unreadable
from tests.faults.tally import Tally
from tests.faults.undisturbed import Undisturbed

_BLOCK = 512


def journals(seeds: range) -> list[Tally]:
    """Journals and manifests: exports, salvage and reports of damaged run folders, one for each seed."""
    tally = Tally("damaged journal or manifest")
    with tempfile.TemporaryDirectory() as place:
        lines = make(Path(place) / "run")
        for number in seeds:
            tally.cases += 1
            for fault in tried(Path(place) / "run", lines, number):
                tally.note("tracebacks" if "Traceback" in fault else "wrong", fault)
    return [tally]


def flip(content: bytearray, chance: Random) -> bytes:
    for _ in range(chance.choice([1, 1, 1, 2, 8])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def cut(content: bytearray, chance: Random) -> bytes:
    return bytes(content[: chance.randrange(len(content))])


def blank(content: bytearray, chance: Random) -> bytes:
    at = chance.randrange(len(content))
    size = min(chance.choice([16, _BLOCK, 4096]), len(content) - at)
    content[at : at + size] = bytes(size)
    return bytes(content)


def swap(content: bytearray, chance: Random) -> bytes:
    blocks = [bytes(content[at : at + _BLOCK]) for at in range(0, len(content), _BLOCK)]
    one, other = chance.randrange(len(blocks)), chance.randrange(len(blocks))
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks)


def repeat(content: bytearray, chance: Random) -> bytes:
    at = chance.randrange(len(content))
    return bytes(content[: at + _BLOCK] + content[at:])


def garbage(content: bytearray, chance: Random) -> bytes:
    return chance.randbytes(chance.choice([0, 1, 100, len(content)]))


BYTES: list[Callable[[bytearray, Random], bytes]] = [flip, flip, flip, cut, blank, swap, repeat, garbage]
POISON = [
    "UPDATE answers SET answer = '[NaN, NaN]'",
    "UPDATE answers SET answer = '[0.5]'",
    "UPDATE answers SET answer = '\"x\"'",
    "UPDATE answers SET answer = x'00ff'",
    "UPDATE answers SET answer = NULL",
    "UPDATE answers SET answer = '[0.9, 0.1]'",
    "UPDATE answers SET answer = replace(answer, '0.1', '0.8')",
    "UPDATE answers SET answer = (SELECT answer FROM answers ORDER BY key LIMIT 1)",
    "UPDATE samples SET answer = '[0.9, 0.1]'",
    "UPDATE samples SET item = '[\"x\"]'",
    "UPDATE samples SET part = 'x'",
    "DROP TABLE answers",
    "DROP TABLE samples",
    "ALTER TABLE answers DROP COLUMN answer",
]


def damage(path: Path, chance: Random) -> str:
    """Damage a file; says how."""
    if path.suffix == ".sqlite" and chance.random() < 0.4:
        statement = chance.choice(POISON)
        with contextlib.suppress(sqlite3.Error), sqlite3.connect(path) as db:
            db.execute(statement)
        db.close()
        return f"{path.name}: {statement}"
    way = chance.choice(BYTES)
    content = bytearray(path.read_bytes())
    if content:
        path.write_bytes(way(content, chance))
    return f"{path.name}: {way.__name__}"


def _copied(kept: Path, place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    if kept.is_dir():
        shutil.copytree(kept, place)
    else:
        place.parent.mkdir(exist_ok=True)
        shutil.copyfile(kept, place)


class Damage:
    """A command that finds a damaged file, again and again."""

    def __init__(self, kind: str, whole: Undisturbed, files: Sequence[str], *, kept: str = "", fresh: bool = True):
        self.tally, self.whole, self.files = Tally(f"damaged {kind}"), whole, files
        self.fresh = fresh  # whether the command begins a new folder, and only the file is old
        self.scene = whole.nurse.scene
        self.out = self.scene / "damaged"
        self.kept = self.scene / f"kept-{kind.replace(' ', '-')}"
        self._keep(kept)

    def _keep(self, interrupted: str) -> None:
        """Let the command make the files, wholly or up to a kill at a write of this kind."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.whole.command.begin(self.scene, self.out)
        job = {}
        if interrupted:
            places = [number for number, kind in enumerate(self.whole.writes, 1) if kind == interrupted]
            at = places[len(places) * 2 // 3]
            job["sabotage"] = {"folder": str(self.scene), "at": at, "action": KILL}
        ended = self.whole.nurse(*self.whole.command.words(str(self.out)), **job)
        assert ended.status == (-9 if interrupted else 0), ended.stderr
        if self.fresh:
            self.kept.mkdir()
            for file in self.files:
                shutil.copyfile(self.scene / file, self.kept / Path(file).name)
        else:
            shutil.copytree(self.out, self.kept)
        shutil.rmtree(self.out)

    def once(self, chance: Random) -> None:
        """Damage a file, run the command, and compare."""
        name = chance.choice(self.files)
        if self.fresh:
            self.whole.command.begin(self.scene, self.out)
            for file in self.files:
                for log in ("-wal", "-shm"):
                    (self.scene / f"{file}{log}").unlink(missing_ok=True)
                _copied(self.kept / Path(file).name, self.scene / file)
            path = self.scene / name
        else:
            _copied(self.kept, self.out)
            path = self.out / name
        how = damage(path, chance)
        self.tally.cases += 1
        ended = self.whole.nurse(*self.whole.command.words(str(self.out)))
        self.tally.ended(ended, how)
        self.tally.said(ended, how)
        if ended.status == 0:
            self._compare(how)
        elif path.name not in ended.sentence and not ended.traceback and not ended.hung:
            self.tally.note("wrong", f"{how}: the file is not named: {ended.stderr[-300:]}")
        shutil.rmtree(self.out, ignore_errors=True)

    def _compare(self, how: str) -> None:
        try:
            found, expected = self.whole.command.finished(self.out), self.whole.expected
        except (Unreadable, ValueError) as error:
            self.tally.note("wrong", f"{how}: {error}")
            return
        if found != expected:
            odd = [name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)]
            self.tally.note("wrong", f"{how}: exit code 0 and other results: {sorted(odd)[:3]}")


def damages(commands: Sequence[Undisturbed], count: int, seed: int) -> list[Tally]:
    """Damage the files that commands read again."""
    by_name = {whole.command.name: whole for whole in commands}
    attack, audit, train = by_name["attack"], by_name["audit"], by_name["train"]
    second = by_name["second-order"]
    checkpoint = ["checkpoint/state.safetensors", "checkpoint/best-0.safetensors", "training.json"]
    kinds = [
        Damage("run, resumed", attack, ["journal.sqlite", "manifest.yaml"], fresh=False),
        Damage("answer cache", by_name["attack cached"], ["answers.sqlite"]),
        Damage("patch words", second, ["cache/patch-words.sqlite"]),
        Damage("audit.jsonl", audit, ["audit.jsonl"], fresh=False),
        Damage("checkpoint", train, checkpoint, kept="tensors", fresh=False),
        Damage("trained model", train, ["training.json"], fresh=False),
    ]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        kind.once(Random(f"damages/{seed}/{number}"))
    return [kind.tally for kind in kinds]
