"""Mutated certificates, caches, manifests and records: the same result as before, or one sentence."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import mohs
from mohs import verifier
from mohs.engine import AnswerCache
from mohs.errors import MohsError
from mohs.models.function import FunctionVictim
from mohs.models.victim import is_scores
from mohs.text import Text
from tests.cli.damages import JOURNAL, MANIFEST, command
from tests.faults.mutation import mutate, mutated_text
from tests.faults.tally import Tally
from tests.toys import Table

BEFORE = Path(__file__).parents[1] / "before"
_SECONDS = 30  # for one case; more is a hang
_MOST = 20_000  # texts of a certificate


class Hung(Exception):
    """A case that took too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise Hung if the time is over."""

    def late(number: int, frame: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def predict(texts: list[Any]) -> list[list[float]]:
    """The victim of the certificates: two x flip it."""
    return [[0.3, 0.7] if text.count("x") > 1 else [0.9, 0.1] for text in texts]


def certificates() -> list[dict[str, Any]]:
    """Some good certificates of this victim."""
    source = Table((("a", ("x", "y")), ("b", ("x", "u")), ("c", ("v", "w"))))
    rows = [("a b c", 0), ("b c", 0), ("c c a", 0), ("x y x", 1)]
    with mohs.radius(FunctionVictim(predict), rows, source=source, stopwords="none", max_r=2) as run:
        return [row["certificate"] for row in run.radii() if "certificate" in row]


def true(row: dict[str, Any]) -> bool:
    """Whether what a certificate claims is so, by asking about every text."""
    text = Text(*row["text"])
    choices = dict(row["choices"])
    for r in range(row["radius"] + 1):
        for chosen in itertools.combinations(choices, r):
            for words in itertools.product(*(choices[place] for place in chosen)):
                fields = text.replace_all(dict(zip(chosen, words, strict=True))).fields
                scores = predict([fields[0] if len(fields) == 1 else fields])[0]
                if scores[row["label"]] <= max(s for number, s in enumerate(scores) if number != row["label"]):
                    return False
    return True


def fuzz_certificates(count: int, seed: int) -> Tally:
    """Both verifiers on mutated certificates: what is false never holds."""
    tally, good, model = Tally("fuzzed certificate"), certificates(), FunctionVictim(predict)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "c.json"
        for number in range(count):
            chance = Random(f"certificates/{seed}/{number}")
            row = chance.choice(good)
            whole = json.dumps(mutate(row, chance)) if chance.random() < 0.7 else mutated_text(json.dumps(row), chance)
            file.write_text(whole, "utf-8", "surrogatepass")
            tally.cases += 1
            for name, holds in (("verifier", _second), ("mohs verify", _first)):
                _try(tally, f"{name} {seed}/{number}", partial(_judge, tally, holds, file, model))
    return tally


def _first(file: Path, model: Any) -> bool:
    try:
        ((_, checked),) = mohs.verify(file, model, seed=0)
    except MohsError as error:
        _one_line(error)
        return False
    return checked.sound


def _second(file: Path, model: Any) -> bool:
    try:
        verifier.verify(verifier.read(file.read_text("utf-8", "surrogatepass")), predict, _MOST)
    except (verifier.Broken, verifier.TooLarge):
        return False
    return True


def _judge(tally: Tally, holds: Callable[[Path, Any], bool], file: Path, model: Any) -> None:
    if holds(file, model) and not true(json.loads(file.read_text("utf-8", "surrogatepass"))):
        tally.note("wrong", f"a false certificate holds: {file.read_text('utf-8', 'surrogatepass')}")


def _one_line(error: MohsError) -> None:
    if len(str(error).splitlines()) != 1:
        raise AssertionError(f"several lines: {error}")


def _try(tally: Tally, what: str, act: Callable[[], object]) -> None:
    try:
        with limited():
            act()
    except Hung:
        tally.note("hangs", what)
    except Exception as error:
        tally.note("tracebacks", f"{what}: {type(error).__name__}: {error}")


def fuzz_cache(count: int, seed: int) -> Tally:
    """Answers and samples of a cache with other JSON in them: never what cannot be an answer, and never another one."""
    tally = Tally("fuzzed cache")
    items = [(f"text {number}",) for number in range(8)]
    right = {item: (number / 10, 1 - number / 10) for number, item in enumerate(items)}

    def settled(path: Path) -> AnswerCache:
        cache = AnswerCache(path)
        same: Callable[[Any, Any], bool] = lambda one, other: one == other  # noqa: E731
        valid: Callable[[Any], bool] = lambda answer: is_scores(answer, 2)  # noqa: E731
        cache.settle("model", items[:2], lambda asked: [right.get(item) for item in asked], same, valid)
        return cache

    def look(path: Path) -> None:
        try:
            cache = settled(path)
            found = cache.get("model", items)
            cache.close()
        except MohsError as error:
            _one_line(error)
            return
        if any(right[item] != answer for item, answer in found.items()):
            tally.note("wrong", f"another answer is read back: {found}")

    with tempfile.TemporaryDirectory() as place:
        whole, path = Path(place) / "whole.sqlite", Path(place) / "c.sqlite"
        cache = settled(whole)
        cache.put("model", right)
        cache.close()
        for number in range(count):
            chance = Random(f"cache/{seed}/{number}")
            shutil.copyfile(whole, path)
            table, column = chance.choice([("answers", "answer"), ("samples", "answer"), ("samples", "item")])
            with sqlite3.connect(path) as db:
                rows = db.execute(f"SELECT key, {column} FROM {table}").fetchall()
                key, old = chance.choice(rows)
                new = mutated_text(old, chance) if chance.random() < 0.5 else chance.choice(rows)[1]
                db.execute(f"UPDATE {table} SET {column} = ? WHERE key = ?", (new, key))
            db.close()
            tally.cases += 1
            _try(tally, f"cache {seed}/{number}: {table} {new!r}", partial(look, path))
            for left in Path(place).glob("c.sqlite*"):
                left.unlink()
    return tally


def fuzz_manifests(count: int, seed: int) -> Tally:
    """Manifests of run folders with and without checksums, changed as text."""
    return _folders("fuzzed manifest", count, seed, _spoil_manifest)


def fuzz_records(count: int, seed: int) -> Tally:
    """Records of folders without checksums, changed as JSON, in every verb."""
    return _folders("fuzzed record", count, seed, _spoil_record)


def _spoil_manifest(folder: Path, chance: Random) -> None:
    text = (folder / MANIFEST).read_text("utf-8")
    (folder / MANIFEST).write_text(mutated_text(text, chance), "utf-8", "surrogatepass")


def _spoil_record(folder: Path, chance: Random) -> None:
    with sqlite3.connect(folder / JOURNAL) as db:
        rows = db.execute("SELECT attack, example, record FROM records").fetchall()
        attack, example, record = chance.choice(rows)
        new = json.dumps(mutate(json.loads(record), chance)) if chance.random() < 0.8 else mutated_text(record, chance)
        db.execute("UPDATE records SET record = ? WHERE attack = ? AND example = ?", (new, attack, example))
    db.close()


def _folders(kind: str, count: int, seed: int, spoil: Callable[[Path, Random], None]) -> Tally:
    tally = Tally(kind)
    folders = sorted(path.parent for path in BEFORE.glob(f"*/{MANIFEST}"))
    for number in range(count):
        chance = Random(f"{kind}/{seed}/{number}")
        whole = folders[number % len(folders)]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(shutil.copytree(whole, Path(place) / "run"))
            spoil(folder, chance)
            tally.cases += 1
            for arguments in (["export", folder], ["report", folder, "--no-judge", "--page", Path(place) / "p.html"]):
                what = f"{arguments[0]} {whole.name} {seed}/{number}"
                _try(tally, what, partial(_look, tally, arguments, what))
    return tally


def _look(tally: Tally, arguments: list[Any], what: str) -> None:
    code, _, said = command(*arguments)
    if code == 1:
        tally.note("tracebacks", f"{what}: {said}")
    elif code == 2 and len(said.splitlines()) != 1:
        tally.note("wrong", f"{what}: {said!r}")


def fuzz(count: int, seed: int) -> list[Tally]:
    """All kinds: most cases are certificates, which matter most."""
    return [
        fuzz_certificates(count // 2, seed),
        fuzz_cache(count // 4, seed),
        fuzz_manifests(count // 8, seed),
        fuzz_records(count // 8, seed),
    ]
