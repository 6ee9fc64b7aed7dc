"""A folder with toy victims and data, and one small command for every verb."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.cli.damages import command as typed
from tests.models.conftest import save, small_masked, tiny_tokenizer

VICTIM = """
from tests.toys import WordCount

MODEL = WordCount({"good": 2.0, "great": 3.0, "fine": 1.0, "bad": -2.0, "awful": -3.0, "poor": -1.0, "dull": -1.5})

def predict(texts):
    return [list(MODEL.scores((text,) if isinstance(text, str) else tuple(text))) for text in texts]
"""
WORDS = "good great fine bad awful poor film story actors music ending really quite honest was very".split()
ATTACKED = "attacked"  # the folder of a finished attack, for audits
SYNONYMS = {"film": ["movie"], "a": ["the"], "was": ["is"], "good": ["great", "fine"], "bad": ["poor", "dull"]}


@dataclass(frozen=True)
class Command:
    """A command, the folder it writes to, and how to see what it has finished."""

    name: str
    arguments: tuple[str, ...]

    @property
    def workers(self) -> bool:
        """Whether it has several processes."""
        return "--workers" in self.arguments

    def words(self, out: str) -> list[str]:
        """What is typed."""
        verb = self.arguments[0]
        return [verb, out, *self.arguments[1:]] if verb == "audit" else [*self.arguments, "--out", out]

    def begin(self, scene: Path, out: Path) -> None:
        """What must be there before the command."""
        if self.arguments[0] == "audit":
            shutil.copytree(scene / ATTACKED, out)

    def finished(self, out: Path) -> dict[str, Any]:
        """What the command has finished in a folder, each under its name. Raises Unreadable."""
        return _FINISHED.get(self.arguments[0], _records)(out)

    def whole(self, out: Path) -> list[str]:
        """What is wrong with the files of a finished command."""
        page = {"train": None, "audit": "audit.html"}.get(self.arguments[0], "report.html")
        if page is None or (out / page).read_text("utf-8").rstrip().endswith("</html>"):
            return []
        return [f"{page} is not complete"]


class Unreadable(Exception):
    """A folder that mohs cannot read, with what it says."""


def _records(out: Path) -> dict[str, Any]:
    code, lines, said = typed("export", out)
    if code == 2 and "no records to export yet" in said:
        return {}
    if code:
        raise Unreadable(said)
    rows = [json.loads(line) for line in lines]
    return {f"{row['attack']} {row['example_id']}": row for row in rows}


def _measured(out: Path) -> dict[str, Any]:
    file, found = out / "audit.jsonl", {}
    for line in file.read_text("utf-8").split("\n")[:-1] if file.exists() else []:
        with suppress(ValueError):  # half a line of a process that was killed
            row = json.loads(line)
            for name, value in row["measures"].items():
                found[f"{row['attack']} {row['example_id']} {name}"] = value
    return found


def _trained(out: Path) -> dict[str, Any]:
    """Checkpoints are finished steps; the last is the model."""
    record = out / "training.json"
    if not record.exists() or (finished := json.loads(record.read_text("utf-8"))["finished"]) is None:
        return _checkpoint(out)
    digest = hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()
    return _Steps(10**6, model=digest, metrics=finished["metrics"])


def _checkpoint(out: Path) -> dict[str, Any]:
    from safetensors import safe_open

    state = out / "checkpoint" / "state.safetensors"
    if not state.exists():
        return {}
    with safe_open(state, "pt") as file:
        place = json.loads(file.metadata()["place"])
    return _Steps(place["epoch"] * 1000 + place["batch"])


class _Steps(dict[str, Any]):
    """All steps up to the last one are finished, without a list of them."""

    def __init__(self, last: int, **more: Any) -> None:
        super().__init__(last=last, **more)

    def __contains__(self, name: object) -> bool:
        text = str(name)
        return int(text.partition(" ")[2]) <= self["last"] if text.startswith("step ") else super().__contains__(name)


_FINISHED = {"audit": _measured, "train": _trained}


def _toy(verb: str, *more: str) -> tuple[str, ...]:
    return (verb, "--victim", "python:toy:predict", "--data", "rows.jsonl", "--seed", "1", *more)


_MASKED = ("--masked-lm", "hf:mlm", "-k", "1", "--device", "cpu")
COMMANDS = [
    Command("attack", _toy("attack", "--attack", "textfooler", "--attack", "random", "--budget", "60")),
    Command("attack cached", _toy("attack", "--attack", "random", "--budget", "60", "--cache", "answers.sqlite")),
    Command("attack workers", _toy("attack", "--attack", "random", "--budget", "60", "--workers", "2")),
    Command("radius", _toy("radius", "--max-r", "2")),
    Command("radius workers", _toy("radius", "--max-r", "1", "--workers", "2")),
    Command(
        "second-order", _toy("second-order", *_MASKED, "--method", "so-enum", "--synonyms", "thesaurus:pairs.json")
    ),
    Command("bias", _toy("bias", *_MASKED)),
    Command("bias workers", _toy("bias", *_MASKED, "--workers", "2")),
    Command("audit", ("audit", "--tagger", "pocket")),
    Command(
        "train",
        (
            *("train", "--arch", "bow", "--data", "rows.jsonl", "--vectors", "none", "--dim", "8", "--hidden", "8"),
            *("--epochs", "3", "--batch", "4", "--save-every", "1", "--dev-share", "0.2", "--device", "cpu"),
        ),
    ),
]


def make(scene: Path, rows: int = 12) -> None:
    """Write the victim, the data and the models."""
    chance = Random(5)
    (scene / "toy.py").write_text(VICTIM)
    (scene / "pairs.json").write_text(json.dumps(SYNONYMS))
    lines = []
    for number in range(rows):
        words = [chance.choice(["he", "his", "a"]), *chance.choices(WORDS, k=6)]
        lines.append(json.dumps({"id": f"r{number}", "text": " ".join(words), "label": number % 2}))
    (scene / "rows.jsonl").write_text("\n".join(lines) + "\n")
    tokenizer = tiny_tokenizer("wordpiece")
    save(scene / "mlm", "", tokenizer, small_masked("Bert", tokenizer))
