"""A study's design: what people see and are asked, how often, and what makes an item valid. It is data (YAML)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from mohs.errors import BadInput
from mohs.records.limited_yaml import read_yaml
from mohs.studies.reading import Fault, Reader
from mohs.studies.sense import idle_setting, rule_fault

SOURCES = ("pairs", "words", "fragments", "texts", "versions", "labels")  # what can be drawn from a run
FROM_LABELS = "labels"  # as `answers`: the classes of the run
_MOST_JUDGES, _MOST_ITEMS = 1000, 1_000_000


@dataclass(frozen=True)
class Statement:
    """A question, or a statement to agree with. negated: to agree says the opposite."""

    text: str
    negated: bool = False


@dataclass(frozen=True)
class Answer:
    """One answer that can be given. group: answers of one group count as the same, such as `positive` for 4 and 5."""

    value: int
    label: str
    group: str = ""


@dataclass(frozen=True)
class Question:
    """What is asked about an item. agree: whether `high` or `low` values agree; empty if there is nothing to agree."""

    name: str
    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    agree: str = ""
    statistic: str = "mean"  # of an item's judgements: mean, median, share or majority

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the answers, in the order shown."""
        return tuple(answer.value for answer in self.answers)

    def label(self, value: int) -> str:
        """The label of an answer."""
        return next((answer.label for answer in self.answers if answer.value == value), str(value))

    def group(self, value: int) -> str:
        """The group of an answer; its label if it has none."""
        return next((answer.group or answer.label for answer in self.answers if answer.value == value), str(value))

    def mirrored(self, value: int) -> int:
        """The answer that says the same of the opposite statement."""
        return min(self.values) + max(self.values) - value

    def said(self, value: int, statement: int) -> int:
        """An answer as if the plain statement had been shown."""
        return self.mirrored(value) if self.statements[statement].negated else value


@dataclass(frozen=True)
class Valid:
    """When an item counts as valid: its statistic compared with one number, or a consensus on the expected answer."""

    question: str
    statistic: str  # mean, median, share or consensus
    at_most: float | None = None
    at_least: float | None = None
    below: float | None = None
    answer: int | None = None  # for share: the answer whose share is meant
    least_agreeing: int | None = None  # for consensus: so many judges give the same answer, and it is the expected one

    def __str__(self) -> str:
        if self.statistic == "consensus":
            return f"at least {self.least_agreeing} judges agree, and on the original label"
        for name, sign in (("at_most", "<="), ("at_least", ">="), ("below", "<")):
            if (limit := getattr(self, name)) is not None:
                return f"{self.statistic} {sign} {limit:g}"
        return self.statistic

    def with_limit(self, limit: float) -> Valid:
        """The rule with another threshold."""
        name = next(name for name in ("at_most", "at_least", "below") if getattr(self, name) is not None)
        changed: dict[str, Any] = {name: limit}
        return replace(self, **changed)


@dataclass(frozen=True)
class Control:
    """An item with a known answer. expected: the answers to the plain statement that count as right."""

    texts: tuple[str, ...]
    expected: tuple[int, ...]


@dataclass(frozen=True)
class Training:
    """Items with feedback, before the real ones; who answers too few of them right does not go on."""

    items: int = 20
    least: float = 0.85


@dataclass(frozen=True)
class Design:
    """A whole design."""

    name: str
    title: str
    about: str
    items: str  # one of SOURCES
    questions: tuple[Question, ...]
    judges: int  # for each item
    paper: str = ""
    n: int = 100  # what is drawn for each attack
    batch: int = 10  # items that an annotator gets at a time, from one attack if `same_group`
    same_group: bool = True
    shuffled: bool = False  # whether the two texts stand in random order
    highlight: str = "none"  # characters, words or none
    window: int = 11  # words of a fragment
    minutes: float = 30.0  # after so long an item that was not answered goes to somebody else
    least_seconds: float = 0.0  # for a whole batch; who is faster is flagged
    controls: tuple[Control, ...] = ()
    controls_a_batch: int = 1
    most_wrong_controls: int = 0  # who answers more of them wrong is flagged
    training: Training | None = None
    accuracy: int = 0  # further unchanged items, to measure people's accuracy
    valid: Valid | None = None
    instructions: str = ""
    consent: str = ""
    examples: int = 0  # unchanged examples of each class that the instructions show

    def question(self, name: str) -> Question:
        """A question by its name."""
        return next(question for question in self.questions if question.name == name)

    def with_labels(self, labels: tuple[str, ...]) -> Design:
        """The design with the classes of a run as answers, where it says `answers: labels`."""
        if all(question.answers for question in self.questions):
            return self
        if len(labels) < 2:
            raise BadInput(
                f"The design {self.name} asks for the label, and the run does not name its classes; attack with "
                "--labels A,B."
            )
        answers = tuple(Answer(number, label) for number, label in enumerate(labels))
        return replace(self, questions=tuple(q if q.answers else replace(q, answers=answers) for q in self.questions))

    def to_yaml(self) -> str:
        """The design as YAML, which `design_of` reads back."""
        return yaml.safe_dump(_plain(self), sort_keys=False, allow_unicode=True, width=100)


def read_design(name: str | Path) -> Design:
    """A bundled design by its name, or one in a YAML file."""
    if str(name) in bundled_names():
        text, place = bundled_text(str(name)), str(name)
    else:
        path = Path(name).expanduser()
        if not path.is_file():
            raise BadInput(
                f"There is no design {str(name)!r}: neither a file nor one of {', '.join(bundled_names())} "
                "(`mohs study designs`)."
            )
        place = str(path)
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    found = design_of(text, place)
    if fault := idle_setting(found) or rule_fault(found):
        raise BadInput(f"The design {place}: {fault}.")
    return found


def design_of(text: str, place: str) -> Design:
    """The design in a YAML text, which may be of a study that is there already. place: its origin, for messages."""
    try:
        found = read_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{place} is not YAML ({' '.join(str(error).split())[:200]}); `mohs study designs meaning` prints a design "
            "to compare it with."
        ) from error
    try:
        return _design(Reader(found, ""))
    except Fault as fault:
        raise BadInput(f"The design {place}: {fault}.") from fault


@cache
def bundled_names() -> tuple[str, ...]:
    """The names of the bundled designs."""
    folder = files("mohs.studies") / "designs"
    return tuple(sorted(one.name.removesuffix(".yaml") for one in folder.iterdir() if one.name.endswith(".yaml")))


def bundled_text(name: str) -> str:
    """A bundled design as it was written."""
    return (files("mohs.studies") / "designs" / f"{name}.yaml").read_text("utf-8")


def _design(read: Reader) -> Design:
    values: dict[str, Any] = {
        "name": read.text("name"),
        "title": read.text("title"),
        "about": read.text("about", ""),
        "paper": read.text("paper", ""),
        "items": read.choice("items", SOURCES),
        "judges": read.whole("judges", 1, _MOST_JUDGES),
        "n": read.whole("n", 1, _MOST_ITEMS, 100),
        "batch": read.whole("batch", 1, 1000, 10),
        "same_group": read.flag("same_group", True),
        "shuffled": read.flag("shuffled", False),
        "highlight": read.choice("highlight", ("none", "characters", "words"), "none"),
        "window": read.whole("window", 3, 101, 11),
        "minutes": read.number("minutes", 0.1, 60 * 24 * 30, 30.0),
        "least_seconds": read.number("least_seconds", 0, 86400, 0.0),
        "controls_a_batch": read.whole("controls_a_batch", 0, 100, 1),
        "most_wrong_controls": read.whole("most_wrong_controls", 0, 1000, 0),
        "accuracy": read.whole("accuracy", 0, _MOST_ITEMS, 0),
        "examples": read.whole("examples", 0, 10, 0),
        "instructions": read.text("instructions", ""),
        "consent": read.text("consent", ""),
    }
    questions = tuple(_question(one) for one in read.parts("questions"))
    if not questions:
        raise Fault("it has no questions; give a list under questions")
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        raise Fault(f"two questions are called {max(names, key=names.count)!r}")
    training = read.part("training")
    valid = read.part("valid")
    values |= {
        "questions": questions,
        "controls": tuple(_control(one, values["items"], questions) for one in read.parts("controls")),
        "training": None if training is None else _training(training),
        "valid": None if valid is None else _valid(valid, questions),
    }
    read.end()
    if values["training"] is not None and values["items"] != "labels":
        raise Fault("training needs items with known labels, so it goes with `items: labels` only")
    return Design(**values)


def _question(read: Reader) -> Question:
    name = read.text("name")
    statements = tuple(_statement(one) for one in read.parts("statements", "text"))
    if not statements:
        raise Fault(f"the question {name} has no statements")
    if all(statement.negated for statement in statements):
        raise Fault(f"the question {name} has negated statements only; one must be plain")
    answers = () if read.given("answers") == FROM_LABELS else _answers(read)
    if read.given("answers") == FROM_LABELS:
        read.text("answers")
    found = Question(
        name,
        statements,
        answers,
        read.choice("agree", ("", "high", "low"), ""),
        read.choice("statistic", ("mean", "median", "share", "majority"), "mean"),
    )
    read.end()
    if any(statement.negated for statement in statements) and not found.agree:
        raise Fault(f"the question {name} has a negated statement, so it must say whether high or low values agree")
    return found


def _statement(read: Reader) -> Statement:
    found = Statement(read.text("text"), read.flag("negated", False))
    read.end()
    return found


def _answers(read: Reader) -> tuple[Answer, ...]:
    first = read.whole("first", -1000, 1000, 1)
    found = []
    for number, one in enumerate(read.parts("answers", "label")):
        found.append(Answer(one.whole("value", -1000, 1000, first + number), one.text("label"), one.text("group", "")))
        one.end()
    if len(found) < 2:
        raise Fault("a question needs at least two answers")
    for what in ("value", "label"):
        values = [str(getattr(answer, what)) for answer in found]
        if len(set(values)) < len(values):
            raise Fault(f"two answers have the {what} {max(values, key=values.count)!r}")
    return tuple(found)


def _control(read: Reader, items: str, questions: tuple[Question, ...]) -> Control:
    texts = tuple(read.texts("texts"))
    wanted = 1 if items in ("texts", "versions", "labels") else 2
    if len(texts) != wanted:
        raise Fault(f"a control has {len(texts)} texts, and items of this design have {wanted}")
    expected = tuple(read.wholes("expected"))
    read.end()
    if len(questions) > 1:
        raise Fault("controls are for designs with one question")
    known = questions[0].values
    if not expected or (known and not set(expected) <= set(known)):
        raise Fault(f"a control expects {list(expected)}, and the answers are {list(known)}")
    return Control(texts, expected)


def _training(read: Reader) -> Training:
    found = Training(read.whole("items", 1, 1000, 20), read.number("least", 0, 1, 0.85))
    read.end()
    return found


def _valid(read: Reader, questions: tuple[Question, ...]) -> Valid:
    names = tuple(question.name for question in questions)
    limits = {name: read.maybe_number(name) for name in ("at_most", "at_least", "below")}
    found = Valid(
        read.choice("question", names, names[0]),
        read.choice("statistic", ("mean", "median", "share", "consensus")),
        **limits,
        answer=read.maybe_whole("answer"),
        least_agreeing=read.maybe_whole("least_agreeing"),
    )
    read.end()
    given = [name for name, limit in limits.items() if limit is not None]
    if found.statistic == "consensus":
        if given or found.least_agreeing is None:
            raise Fault("valid by consensus needs least_agreeing and no other limit")
    elif len(given) != 1 or found.least_agreeing is not None:
        raise Fault(f"valid by {found.statistic} needs exactly one of at_most, at_least and below")
    if (found.statistic == "share") != (found.answer is not None):
        raise Fault("valid needs `answer` if its statistic is share, and only then")
    return found


def _plain(design: Design) -> dict[str, Any]:
    """The design as plain values, without what is at its default."""

    def stripped(value: Any, kind: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: part for key, part in value.items() if part not in (None, "", ())}
        return value

    found: dict[str, Any] = {}
    defaults = {f.name: f.default for f in fields(Design)}
    for name, value in asdict(design).items():
        if value == defaults.get(name, ...) or value is None:
            continue
        if name == "questions":
            value = [
                {
                    **stripped(question, Question),
                    "statements": [dict(one) for one in question["statements"]],
                    "answers": [stripped(one, Answer) for one in question["answers"]] or FROM_LABELS,
                }
                for question in value
            ]
        elif name == "controls":
            value = [{"texts": list(one["texts"]), "expected": list(one["expected"])} for one in value]
        elif isinstance(value, Mapping):
            value = stripped(value, None)
        found[name] = value
    return found
