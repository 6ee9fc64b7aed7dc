"""What a verb is, and what it plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from mohs.tasks.subject import Subject
    from mohs.text import Example


class Task(Protocol):
    """One way to treat an example, by name: called with one, it is a search that ends with a record."""

    @property
    def name(self) -> str:
        """What its records are filed under."""
        ...

    def __call__(self, example: Example) -> Any:
        """The search: a coroutine that gives a Record."""
        ...


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a verb is going to do with a subject."""

    tasks: Sequence[Task]
    resolved: Mapping[str, Any] = field(default_factory=dict)  # options as this run has them, where they say less
    identity: Mapping[str, Any] = field(default_factory=dict)  # what else must be the same for a run to be resumed
    facts: Mapping[str, Any] = field(default_factory=dict)  # for the manifest and the report
    notes: Sequence[str] = ()  # sentences that a reader of the figures should know
    at_once: int | None = None  # searches alive at a time, if not as many as the victim likes


class Verb:
    """A kind of run. A subclass is a frozen dataclass whose fields are its options (see `mohs.tasks.option`).

    Its docstring is the help of the command and of the function; command lines stand in it under "Examples:".
    """

    command: ClassVar[str]
    function: ClassVar[str]
    short: ClassVar[str]
    doing: ClassVar[str]
    third: ClassVar[str | None]

    def __init_subclass__(
        cls, *, command: str, function: str = "", short: str = "", doing: str = "working", third: str | None = None
    ) -> None:
        """Name a verb.

        command: what is typed, as in second-order. function: its name in Python. short: one line for the list of
        commands, where the docstring's first is too long. doing: a word beside the progress bar. third: the option
        that may follow victim and examples without its name.
        """
        cls.command, cls.function, cls.short = command, function or command.replace("-", "_"), short
        cls.doing, cls.third = doing, third

    @classmethod
    def finding(cls) -> type | None:
        """What its records hold beside what all records do: a frozen dataclass, see `mohs.records.finding`."""
        return None

    def check(self) -> None:
        """Refuse mistakes that show before anything is loaded."""

    def needs(self, subject: Subject) -> Iterable[str]:
        """The kinds of services it asks, once the subject is known to fit."""
        return ()

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """The tasks, made ready."""
        raise NotImplementedError
