"""What a benchmark is made of: tasks, surrogates, attacks, sets made by people, filters and judges, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS: Mapping[str, tuple[str, ...]] = {  # the names of a task's texts in GLUE, by kind; `other` keeps its own
    "sentiment": ("sentence",),
    "nli": ("premise", "hypothesis"),
    "paraphrase": ("question1", "question2"),
    "qnli": ("question", "sentence"),
    "other": (),
}
METRICS = ("accuracy", "f1")
CLASSES = ("word", "sentence", "human")
FAMILIES: Mapping[str, tuple[str, ...]] = {  # as in Table 1 of the AdvGLUE paper (C1 to C11)
    "word": ("embedding", "typo", "context", "knowledge", "compositional"),
    "sentence": ("syntactic", "distraction"),
    "human": ("checklist", "stresstest", "anli", "advsquad"),
}
DISTRACTION = "distraction"  # valid by definition: true statements, links and handles say nothing about the text
JUDGING = ("none", "simulated", "study", "judgements")
SIMILARITIES = ("encoder", "bertscore")
ROWS = "rows"  # a file with the texts of the task and labels
FORMATS = (ROWS, "anli", "advsquad", "addsent", "checklist", "stresstest")  # of sets: modules of mohs.curation.crafted
BUNDLED = ("checklist",)  # formats that need no file
NOT_FOR: Mapping[str, tuple[str, ...]] = {  # what a set of a format cannot say
    ROWS: ("options", "called"),
    "anli": ("label_field", "id_field"),
    "stresstest": ("label_field", "id_field"),
    **dict.fromkeys(("advsquad", "addsent", "checklist"), ("fields", "label_field", "id_field")),
}


@dataclass(frozen=True)
class Task:
    """One task: labelled texts, and the victims that every adversarial text must fool."""

    name: str
    kind: str
    data: str
    fields: tuple[str, ...]  # columns of the data; empty: found by their usual names
    names: tuple[str, ...]  # what they are called in the benchmark; empty: as in the data
    label_field: str
    id_field: str
    labels: tuple[str, ...]
    surrogates: Mapping[str, str]  # name -> victim
    n: int | None = None
    sample: int | None = None
    change: tuple[str, ...] = ()  # columns that may change; by default the last
    metrics: tuple[str, ...] = ("accuracy",)
    group: str = ""  # tasks of one group count as one in an average, as MNLI matched and mismatched do
    licence: str = ""
    only: tuple[str, ...] = ()  # names of attacks and sets
    without: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether an attack or a set is for this task."""
        return (not self.only or name in self.only) and name not in self.without


@dataclass(frozen=True)
class AttackOn:
    """An attack of the suite. options: those of `mohs attack`, such as budget, encoder or masked_lm."""

    name: str
    attack: str
    of_class: str  # word or sentence
    family: str
    options: Mapping[str, Any] = field(default_factory=dict)
    by_definition: bool = False  # its texts keep the label for sure: neither filtered by fidelity nor judged
    on: tuple[str, ...] = ()  # the surrogates that it attacks, if not all; the others are asked about its texts


@dataclass(frozen=True)
class Crafted:
    """A set of examples made by people or by templates of people, for one task."""

    name: str
    task: str
    file: str
    family: str
    fields: tuple[str, ...] = ()
    label_field: str = "label"
    id_field: str = "id"
    format: str = ROWS
    options: Mapping[str, Any] = field(default_factory=dict)  # of the format
    called: Mapping[str, str] = field(default_factory=dict)  # classes of the set, and what the task calls them
    licence: str = ""  # by default what the format knows


@dataclass(frozen=True)
class Filters:
    """The automatic filters, after that of transfer."""

    word_change: float = 0.15  # the largest share of words that a word-level attack may change
    similarity: str = "encoder"  # encoder (cosine) or bertscore
    encoder: str = "pocket"
    token_encoder: str = "pocket"


@dataclass(frozen=True)
class Judging:
    """Who says whether a text keeps its label, and when that counts."""

    by: str = "none"
    judges: int = 5  # for each text
    agreeing: int = 4
    place: str = ""  # of studies: a PostgreSQL address; by default folders in the benchmark's own
    files: Mapping[str, str] = field(default_factory=dict)  # judgements by task
    training: Mapping[str, str] = field(default_factory=dict)  # labelled texts to train people with, by task
    pool: int = 20  # simulated judges, of which each text gets `judges`
    skill: float = 0.95  # how often a simulated judge is right about a text whose meaning is kept


@dataclass(frozen=True)
class Limits:
    """What bounds the work."""

    budget: int | None = None  # queries for each example
    least_words: int | None = None
    most_words: int | None = None
    most_judged: int | None = None  # texts of each task and attack that are judged; the others are dropped, by chance


@dataclass(frozen=True)
class Config:
    """A benchmark."""

    name: str
    about: str
    licence: str
    seed: int
    tasks: tuple[Task, ...]
    attacks: tuple[AttackOn, ...]
    crafted: tuple[Crafted, ...]
    filters: Filters
    judging: Judging
    limits: Limits
    split: float = 0.1  # the share of benign sources whose texts are the dev set
    average: str = "attack"  # what sets are sampled to: the mean count of an attack, or of a family of attacks
    hide_test: bool = False
    version: str = "1.0.0"
    url: str = ""
    creators: tuple[str, ...] = ()
    published: str = ""  # a date; a build writes none of its own, so that equal builds give equal files
    citation: str = ""
    device: str = "auto"

    @property
    def methods(self) -> list[AttackOn | Crafted]:
        """The attacks and the sets, in order."""
        return [*self.attacks, *self.crafted]

    def task(self, name: str) -> Task:
        """A task by its name."""
        return next(task for task in self.tasks if task.name == name)

    def of(self, task: Task) -> list[AttackOn]:
        """The attacks on a task, in order."""
        return [one for one in self.attacks if task.has(one.name)]

    def sets(self, task: Task) -> list[Crafted]:
        """The sets of a task that people made."""
        return [one for one in self.crafted if one.task == task.name and task.has(one.name)]
