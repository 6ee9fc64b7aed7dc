"""What the three tools share in benchmarks/versus.py: a job read from a file, a victim that counts, and an answer.

Runs inside each tool's own environment, with this package's source on the path, so the victim is the same object
everywhere. Only CPU seconds of this process are compared: the machine may be shared.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One attack by one tool on one victim."""

    attack: str
    victim: str  # as mohs loads it
    examples: list[Row]  # id, text, label: all of them read correctly by the victim
    warm: list[Row]  # others, attacked first and not measured
    stopwords: list[str]
    candidates: dict[str, list[str]]  # word -> what may stand in its place, where that does not depend on the text
    vectors: str
    neighbours: str  # .npy: for each row of the vectors itself and its 50 nearest
    wordnet: str
    masked_lm: str
    encoder: str  # of sentences, as mohs loads it
    seconds: float  # begin no example after so long
    answer: str  # where to write

    @classmethod
    def read(cls) -> Job:
        """From the file named on the command line."""
        return cls(**json.loads(Path(sys.argv[1]).read_text("utf-8")))


@dataclass
class Figures:
    """What was measured."""

    wall: float = 0.0
    cpu: float = 0.0
    forwards: int = 0  # texts through the victim
    in_victim: float = 0.0  # CPU seconds
    encodings: int = 0  # texts through the sentence encoder
    in_encoder: float = 0.0
    rows: list[Row] = field(default_factory=list)  # id, success, text, queries
    limits: dict[str, Any] = field(default_factory=dict)
    not_run: str = ""


class Counted:
    """A model of this package, asked directly: texts in, answers out, each text and CPU second counted."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.texts = 0
        self.seconds = 0.0
        self.asked: set[str] = set()  # since last emptied

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        started = time.process_time()
        items = [(text,) for text in texts]
        answers: dict[Any, Any] = {}
        for batch in self.model.plan(items):  # a text asked twice goes through twice, as the tool would have it
            answers.update(zip(batch, self.model.collect(self.model.launch(batch)), strict=True))
        self.seconds += time.process_time() - started
        self.texts += len(texts)
        self.asked.update(texts)
        return [answers[item] for item in items]


def one_thread() -> None:
    """As every figure here is meant."""
    import torch

    torch.set_num_threads(1)


def victim_of(job: Job) -> Counted:
    """The victim, loaded by this package."""
    from mohs.models.load import load_victim

    return Counted(load_victim(job.victim, device="cpu"))


def encoder_of(job: Job) -> Counted:
    """The sentence encoder, loaded by this package."""
    from mohs.models.encoder import load_encoder

    return Counted(load_encoder(job.encoder, "cpu"))


def measured(job: Job, attack: Callable[[Row], tuple[bool, str]], victim: Counted, encoder: Counted | None) -> Figures:
    """Attack the examples one after the other, as the peers do, after a few others to warm up."""
    for row in job.warm:
        attack(row)
    found = Figures()
    before = victim.texts, victim.seconds, encoder.texts if encoder else 0, encoder.seconds if encoder else 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    for row in _until(job, wall):
        victim.asked = set()
        success, text = attack(row)
        found.rows.append({"id": row["id"], "success": success, "text": text, "queries": len(victim.asked)})
    found.wall, found.cpu = time.perf_counter() - wall, time.process_time() - cpu
    found.forwards, found.in_victim = victim.texts - before[0], victim.seconds - before[1]
    if encoder is not None:
        found.encodings, found.in_encoder = encoder.texts - before[2], encoder.seconds - before[3]
    return found


def _until(job: Job, started: float) -> Iterator[Row]:
    for row in job.examples:
        if time.perf_counter() - started > job.seconds:
            return
        yield row


def answer(run: Callable[[Job], Figures]) -> None:
    """Do the job and write what was found, or in one sentence why there is nothing."""
    job = Job.read()
    one_thread()
    try:
        found = run(job)
    except Exception as error:
        traceback.print_exc()
        found = Figures(not_run=" ".join(f"{type(error).__name__}: {error}".split())[:200])
    Path(job.answer).write_text(json.dumps(asdict(found)), "utf-8")
