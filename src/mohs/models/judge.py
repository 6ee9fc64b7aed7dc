"""Judges of substitutions: would people accept one word for another where it stands?

`pocket` is bundled (mohs.text.judge). `hf:PATH` is a cross-encoder that `mohs train --task acceptability` made: it
reads the original and the changed stretch of text as a pair. Beside its weights lies judge.json with the form of its
input and its calibration. `refit:FOLDER` is the bundled judge with probabilities fitted to a study (mohs.models.refit).
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput, ServiceFailed
from mohs.models.hub import quiet_hub, unreachable
from mohs.models.pretrained import load_hf, place_of
from mohs.models.refit import load_refit
from mohs.models.transformer import LOGIT_DECIMALS, Ticket, Transformer
from mohs.models.victim import Fields
from mohs.text import Text
from mohs.text.calibration import Calibration
from mohs.text.judge import Judge, bundled
from mohs.text.questions import Substitution

FILE = "judge.json"
FORMAT = "mohs-judge-1"
LABELS = ("refused", "accepted")  # the classes of the network, in this order
BESIDE = 6  # words on each side that a new judge reads
FORMS = ("words", "texts")  # how a question is written; a new judge has the first

Probabilities = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JudgeForm:
    """What judge.json holds: how a question is written for the network, and what its answers mean.

    The score of a substitution is the network's log-odds of "accepted". `scores` and `probabilities` are points of the
    calibration curve, joined by straight lines; beyond its ends the curve is flat.
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    calibration: Calibration
    ceiling: float = 1.0  # the most that an antonym gets
    beside: int = BESIDE  # words on each side that the network reads
    form: str = FORMS[0]

    def __post_init__(self) -> None:
        """Refuse curves that do not rise."""
        numbers = [*self.scores, *self.probabilities, self.ceiling]
        if not self.scores or len(self.scores) != len(self.probabilities) or not np.isfinite(numbers).all():
            raise ValueError("the calibration curve is not a list of points")
        if (np.diff(self.scores) <= 0).any() or (np.diff(self.probabilities) < 0).any():
            raise ValueError("the calibration curve does not rise")
        if not (self.probabilities[0] >= 0 and self.probabilities[-1] <= 1 and 0 <= self.ceiling <= 1):
            raise ValueError("a probability lies outside of 0 to 1")
        if self.form not in FORMS:
            raise ValueError(f"its form is {self.form!r}, not {' or '.join(FORMS)}")
        if self.beside < 1 or not self.calibration.independence:
            raise ValueError("a number is out of range")

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> JudgeForm:
        """The form in the content of judge.json."""
        if parts["format"] != FORMAT:
            raise ValueError(f"its format is {parts['format']!r}, not {FORMAT!r}")
        return cls(
            tuple(map(float, parts["scores"])),
            tuple(map(float, parts["probabilities"])),
            Calibration.of(parts["calibration"]),
            float(parts["ceiling"]),
            int(parts["beside"]),
            str(parts["form"]),
        )

    def parts(self) -> dict[str, Any]:
        """The content of judge.json."""
        return {"format": FORMAT, **asdict(self)}

    def pair(self, question: Substitution) -> Fields:
        """The two texts that the network reads.

        The second is the changed stretch, with the new word between asterisks. The first is the original stretch,
        marked alike (form `texts`), or the old and the new word alone (form `words`), which is shorter.
        """
        left, old, right = window(question.text, question.start, question.end, self.beside)
        first = f"{old} * {question.word}" if self.form == "words" else f"{left}* {old} *{right}"
        return first, f"{left}* {question.word} *{right}"

    def probability(self, scores: Any) -> Probabilities:
        """The calibrated probability of each score."""
        found: Probabilities = np.interp(np.asarray(scores, np.float64), self.scores, self.probabilities)
        return found


def window(text: str, start: int, end: int, beside: int) -> tuple[str, str, str]:
    """The string before, in and after a span, with so many words on each side."""
    spans = [(first, last) for _, first, last in Text(text).spans()]
    before = [first for first, last in spans if last <= start][-beside:]
    after = [last for first, last in spans if first >= end][:beside]
    left = before[0] if before else start
    right = after[-1] if len(after) == beside else len(text)
    return text[left:start], text[start:end], text[end : max(end, right)].rstrip()


class CrossEncoderJudge:
    """A network that reads the original and the changed text; answers Substitution with a probability.

    The rule for antonyms is that of the bundled judge, since people were hardly ever asked about them: the new word
    gets at most `form.ceiling` if it is an antonym of the old one, or near in meaning to one.
    """

    def __init__(self, spec: str, *, device: str = "auto", tokens: int = 0, trust_code: bool = False) -> None:
        self.name = f"hf:{spec}"
        self.form, content = _read(spec)
        self._network = Transformer(
            self.name,
            lambda: load_hf(spec, "AutoModelForSequenceClassification", trust_code),
            _log_odds,
            device=device,
            tokens=tokens,
        )
        classes = self._network._model.config.num_labels
        if classes != len(LABELS):
            raise BadInput(f"{self.name} has {classes} classes, and a judge has two; train a judge again.")
        self.in_flight = self._network.in_flight
        book = hashlib.sha256(content + self._book.fingerprint.encode()).hexdigest()[:16]
        self.fingerprint = f"{self._network.fingerprint}-{book}"
        self._pairs: dict[Substitution, Fields] = {}

    @property
    def calibration(self) -> Calibration:
        """How its probabilities add up, and what is not known about them."""
        return self.form.calibration

    def opposite(self, old: str, new: str) -> int:
        """2 for antonyms, 1 for words near in meaning to one, 0 for others, by the bundled tables."""
        return self._book.opposite(old, new)

    def _turned(self, old: str, new: str) -> bool:
        """Whether a word reverses another, or states another fact of its kind."""
        return bool(self.opposite(old, new)) or self._book.other_fact(old, new)

    @cached_property
    def _book(self) -> Judge:
        return bundled()

    def plan(self, items: list[Substitution]) -> list[list[Substitution]]:
        """Batches of one length. Substitutions that read the same are one row."""
        asked: dict[Fields, list[Substitution]] = {}
        for item in sorted(items):
            asked.setdefault(self._pair(item), []).append(item)
        self._pairs = {item: pair for pair, group in asked.items() for item in group}
        return [[item for pair in batch for item in asked[pair]] for batch in self._network.plan(list(asked))]

    def launch(self, batch: list[Substitution]) -> tuple[list[Substitution], list[int], Ticket]:
        """Send a batch to the device; on CUDA this does not wait for the answers."""
        pairs = [self._pair(item) for item in batch]
        rows = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
        return batch, [rows[pair] for pair in pairs], self._network.launch(list(rows))

    def collect(self, ticket: tuple[list[Substitution], list[int], Ticket]) -> list[float]:
        """Wait for the scores, and make probabilities of them."""
        batch, rows, sent = ticket
        scores = self._network.answers(sent)
        if not np.isfinite(scores).all():
            raise ServiceFailed(f"{self.name} gave a score that is not finite; use another judge.")
        found = self.form.probability(np.round(scores.astype(np.float64), LOGIT_DECIMALS))[rows].tolist()
        return [self._capped(item, value) for item, value in zip(batch, found, strict=True)]

    def _pair(self, item: Substitution) -> Fields:
        return self._pairs.get(item) or self.form.pair(item)

    def _capped(self, item: Substitution, value: float) -> float:
        if value > self.form.ceiling and self._turned(item.text[item.start : item.end], item.word):
            return self.form.ceiling
        return value


def scores_of(network: Transformer, pairs: Sequence[Fields]) -> npt.NDArray[np.float64]:
    """The score of each pair, asked in batches."""
    answers: dict[Fields, float] = {}
    for batch in network.plan(list(dict.fromkeys(pairs))):
        answers.update(zip(batch, network.answers(network.launch(batch)).tolist(), strict=True))
    found: npt.NDArray[np.float64] = np.array([answers[pair] for pair in pairs], np.float64).round(LOGIT_DECIMALS)
    return found


def load_network(spec: str, device: str = "auto") -> Transformer:
    """The network of a judge alone, which gives scores."""
    return Transformer(
        f"hf:{spec}", lambda: load_hf(spec, "AutoModelForSequenceClassification", False), _log_odds, device=device
    )


def _log_odds(outputs: Any, real: Any) -> Any:
    return (outputs.logits[:, 1] - outputs.logits[:, 0]).float()


@quiet_hub()
def _read(spec: str) -> tuple[JudgeForm, bytes]:
    """The form in a model folder, or in a repository on the hub, and the bytes of the file."""
    place = place_of(spec)
    path = Path(place) / FILE if Path(place).is_dir() else _fetched(place)
    try:
        if path is None:
            raise BadInput(
                f"There is no judge hf:{spec}: no such folder, and no {FILE} under that name on the hub; name another "
                "judge, or leave out fair success with --no-judge."
            )
        if not path.is_file():
            raise BadInput(
                f"hf:{spec} has no {FILE}, so it was not trained as a judge; train one with "
                f"`mohs train --task acceptability --arch hf:{spec} --data FILE --out FOLDER`."
            )
        content = path.read_bytes()
        return JudgeForm.of(json.loads(content)), content
    except (OSError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, LookupError) else " ".join(str(error).split())
        raise BadInput(f"{path} cannot be read ({reason[:200]}); restore it, or train the judge again.") from error


def _fetched(place: str) -> Path | None:
    hub: Any = importlib.import_module("transformers.utils")
    try:
        found = hub.cached_file(place, FILE, local_files_only=bool(unreachable(place)))
    except OSError:  # no such repository or file, or no connection: loading the weights explains the former
        return None
    return None if found is None else Path(found)


def load_judge(spec: str, device: str = "auto", trust_code: bool = False) -> Judge | CrossEncoderJudge:
    """Load the judge named on the command line."""
    if spec == "pocket":
        return bundled()
    if spec.startswith("hf:"):
        return CrossEncoderJudge(spec[3:], device=device, trust_code=trust_code)
    if spec.startswith("refit:"):
        return load_refit(spec.removeprefix("refit:"))
    raise BadInput(f"Unknown judge {spec!r}; use pocket, refit:FOLDER or hf:PATH_OR_ID.")
