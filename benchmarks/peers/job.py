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
from importlib import import_module
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
    ours: dict[str, str]  # id -> what this package made of it, for those who look why theirs differs
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
    masked_rows: int = 0  # through the masked language model
    masked_tokens: int = 0  # in them, padding left out
    in_masked: float = 0.0
    rows: list[Row] = field(default_factory=list)  # id, success, text, queries
    limits: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # id -> why the text differs from this package's
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


class CountedRows:
    """Notes on a torch module, a masked language model: rows and tokens that go through it, and CPU seconds."""

    def __init__(self, module: Any) -> None:
        self.rows = self.tokens = 0
        self.seconds = self._started = 0.0
        module.register_forward_pre_hook(self._before, with_kwargs=True)
        module.register_forward_hook(self._after)

    def _before(self, module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        ids, mask = named.get("input_ids", *given[:1]), named.get("attention_mask")
        self.rows += len(ids)
        self.tokens += int(ids.numel() if mask is None else mask.sum())
        self._started = time.process_time()

    def _after(self, module: Any, given: Any, answer: Any) -> None:
        self.seconds += time.process_time() - self._started


def one_thread() -> None:
    """As every figure here is meant."""
    import torch

    torch.set_num_threads(1)


class Network:
    """A model as users would have it elsewhere: its tokenizer, and the torch module on rows of one length.

    This package's own way of asking it may do less than all of the work; that is no gift to the others.
    """

    def __init__(self, model: Any, spec: str) -> None:
        self.module = module_of(model)
        self.rows_of = rows_of(model, spec)
        self.rows: dict[Any, Any] = {}

    def plan(self, items: list[Any]) -> list[list[Any]]:
        self.rows = dict(zip(items, self.rows_of(items), strict=True))
        groups: dict[int, list[Any]] = {}
        for item in items:
            groups.setdefault(len(self.rows[item]), []).append(item)
        return [group[start : start + 64] for group in groups.values() for start in range(0, len(group), 64)]

    def launch(self, batch: list[Any]) -> Any:
        import torch

        with torch.inference_mode():
            answers = self.module(torch.tensor([self.rows[item] for item in batch]))
            if hasattr(answers, "last_hidden_state"):
                return torch.nn.functional.normalize(answers.last_hidden_state.mean(1)).numpy()
            return getattr(answers, "logits", answers).double().softmax(1).tolist()

    def collect(self, ticket: Any) -> Any:
        return ticket


def module_of(model: Any) -> Any:
    """The network inside a model of this package."""
    import torch

    return next(part for part in vars(model).values() if isinstance(part, torch.nn.Module))


def rows_of(model: Any, spec: str) -> Callable[[Sequence[tuple[str, ...]]], list[Any]]:
    """From texts to the numbers that the network reads."""
    if hasattr(model, "vocabulary"):
        return lambda texts: [model.vocabulary.row(text) for text in texts]
    tokenizer = import_module("transformers").AutoTokenizer.from_pretrained(spec.partition(":")[2])
    return lambda texts: list(tokenizer([text for (text,) in texts])["input_ids"])


def victim_of(job: Job) -> Counted:
    """The victim, loaded by this package."""
    from mohs.models.load import load_victim

    return Counted(Network(load_victim(job.victim, device="cpu"), job.victim))


def encoder_of(job: Job) -> Counted:
    """The sentence encoder, loaded by this package."""
    from mohs.models.encoder import load_encoder

    encoder: Any = load_encoder(job.encoder, "cpu")
    return Counted(Network(encoder, job.encoder) if job.encoder.startswith("hf:") else encoder)


def measured(
    job: Job,
    attack: Callable[[Row], tuple[bool, str]],
    victim: Counted,
    encoder: Counted | None,
    masked: CountedRows | None = None,
) -> Figures:
    """Attack the examples one after the other, as the peers do, after a few others to warm up."""
    for row in job.warm:
        attack(row)
    found = Figures()
    victim.texts, victim.seconds = 0, 0.0
    if encoder is not None:
        encoder.texts, encoder.seconds = 0, 0.0
    if masked is not None:
        masked.rows, masked.tokens, masked.seconds = 0, 0, 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    for row in _until(job, wall):
        victim.asked = set()
        success, text = attack(row)
        found.rows.append({"id": row["id"], "success": success, "text": text, "queries": len(victim.asked)})
    found.wall, found.cpu = time.perf_counter() - wall, time.process_time() - cpu
    found.forwards, found.in_victim = victim.texts, victim.seconds
    if encoder is not None:
        found.encodings, found.in_encoder = encoder.texts, encoder.seconds
    if masked is not None:
        found.masked_rows, found.masked_tokens, found.in_masked = masked.rows, masked.tokens, masked.seconds
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
