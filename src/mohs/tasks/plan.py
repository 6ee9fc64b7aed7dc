"""Verbs, the kinds of runs, and their plans."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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

    Its docstring is the help of the command and of the function. The first line also stands in the list of commands.
    Example command lines follow under "Examples:".
    """

    command: ClassVar[str]
    function: ClassVar[str]
    doing: ClassVar[str]
    third: ClassVar[str | None]
    finds: ClassVar[type | str | None] = (
        None  # what its records add to every record: a frozen dataclass, or module:NAME
    )

    def __init_subclass__(
        cls, *, command: str, function: str = "", doing: str = "working", third: str | None = None
    ) -> None:
        """Set the names of a verb.

        command: its name on the command line, such as second-order. function: its name in Python. doing: a word next
        to the progress bar. third: the option that may be the third positional argument in Python.
        """
        cls.command, cls.function = command, function or command.replace("-", "_")
        cls.doing, cls.third = doing, third

    @classmethod
    def finding(cls) -> type | None:
        """The class of its findings, see `mohs.records.finding`; imported when first needed."""
        return pkgutil.resolve_name(cls.finds) if isinstance(cls.finds, str) else cls.finds

    def check(self) -> None:
        """Refuse mistakes that can be found before anything is loaded."""

    def needs(self, subject: Subject) -> Iterable[str]:
        """The kinds of services it uses. Refuses a subject that does not fit."""
        return ()

    def resumes(self, folder: Path, identity: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
        """Refuse a folder whose run an earlier version made in a way that is no more, and say what replaced it."""

    def view(self, run: Any) -> Any:
        """The view of a run of this verb, as the options ask for it."""
        return run.view()

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """The tasks, ready to run."""
        raise NotImplementedError
