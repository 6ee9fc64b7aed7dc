"""Verbs, the kinds of runs, and their plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from mohs.tasks.subject import Subject
    from mohs.text import Example


class Task(Protocol):
    """A named treatment of examples. Calling it with an example gives a search that ends with a record."""

    @property
    def name(self) -> str:
        """The name of the task in its records."""
        ...

    def __call__(self, example: Example) -> Any:
        """The search: a coroutine that gives a Record."""
        ...


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a verb will do with a subject."""

    tasks: Sequence[Task]
    resolved: Mapping[str, Any] = field(default_factory=dict)  # option values with defaults filled in
    identity: Mapping[str, Any] = field(default_factory=dict)  # what else must be the same to resume a run
    facts: Mapping[str, Any] = field(default_factory=dict)  # for the manifest and the report
    notes: Sequence[str] = ()  # sentences for readers of the figures
    at_once: int | None = None  # concurrent searches; by default as many as suit the victim


class Verb:
    """A kind of run. A subclass is a frozen dataclass whose fields are its options (see `mohs.tasks.option`).

    Its docstring is the help of the command and of the function. Example command lines follow under "Examples:".
    """

    command: ClassVar[str]
    function: ClassVar[str]
    short: ClassVar[str]
    doing: ClassVar[str]
    third: ClassVar[str | None]

    def __init_subclass__(
        cls, *, command: str, function: str = "", short: str = "", doing: str = "working", third: str | None = None
    ) -> None:
        """Set the names of a verb.

        command: its name on the command line, such as second-order. function: its name in Python. short: one line for
        the list of commands, if the docstring's first line is too long. doing: a word next to the progress bar. third:
        the option that may be the third positional argument in Python.
        """
        cls.command, cls.function, cls.short = command, function or command.replace("-", "_"), short
        cls.doing, cls.third = doing, third

    @classmethod
    def finding(cls) -> type | None:
        """What its records add to every record: a frozen dataclass, see `mohs.records.finding`."""
        return None

    def check(self) -> None:
        """Refuse mistakes that can be found before anything is loaded."""

    def needs(self, subject: Subject) -> Iterable[str]:
        """The kinds of services it uses. Refuses a subject that does not fit."""
        return ()

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """The tasks, ready to run."""
        raise NotImplementedError
