"""What every command comes to when nothing happens to it, and the comparison with a disturbed one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.faults.nurse import Ended, Nurse
from tests.faults.scene import COMMANDS, Command, Unreadable, make
from tests.faults.tally import Tally


@dataclass
class Undisturbed:
    """A command's own results, its time, and its writes."""

    command: Command
    nurse: Nurse

    @cached_property
    def ended(self) -> Ended:
        """How it ends in a folder of its own, for its times. Its writes are noted."""
        self.command.begin(self.nurse.scene, self._out)
        told = {"folder": str(self.nurse.scene), "log": str(self._log)}
        ended = self.nurse(*self.command.words(str(self._out)), sabotage=told)
        assert ended.status == 0, ended.stderr
        return ended

    @cached_property
    def expected(self) -> dict[str, Any]:
        """What it finishes."""
        assert self.ended.status == 0
        return self.command.finished(self._out)

    @cached_property
    def writes(self) -> list[str]:
        """The kinds of its writes, in their order."""
        assert self.ended.status == 0
        return self._log.read_text("utf-8").splitlines()

    @property
    def _out(self) -> Path:
        return self.nurse.scene / f"whole-{self.command.name.replace(' ', '-')}"

    @property
    def _log(self) -> Path:
        return self._out.with_suffix(".writes")


@dataclass
class Attempt:
    """One folder in which a command meets faults, until it is finished."""

    whole: Undisturbed
    out: Path
    tally: Tally
    saved: set[str] = field(default_factory=set)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.whole.command.begin(self.whole.nurse.scene, self.out)

    def __str__(self) -> str:
        return f"{self.whole.command.name} after {', '.join(self.story)}"

    def run(self, story: str, **job: Any) -> Ended:
        """Run the command once, and see that nothing finished is lost."""
        self.story.append(story)
        ended = self.whole.nurse(*self.whole.command.words(str(self.out)), **job)
        self.tally.ended(ended, str(self))
        self.saved |= set(ended.saved)
        self.compare()
        return ended

    def finish(self) -> None:
        """Run the command undisturbed: it must come to the same results."""
        ended = self.run("nothing")
        if ended.status != 0:
            if not ended.traceback:
                self.tally.note("wrong", f"{self}: cannot be finished: {ended.stderr[-500:]}")
        else:
            self.compare_whole()
        shutil.rmtree(self.out, ignore_errors=True)

    def compare_whole(self) -> None:
        """Compare all results of a finished command."""
        try:
            found = self.whole.command.finished(self.out)
        except Unreadable as error:
            self.tally.note("lost", f"{self}: {error}")
            return
        if found != self.whole.expected:
            odd = {k for k in found.keys() | self.whole.expected.keys() if found.get(k) != self.whole.expected.get(k)}
            self.tally.note("wrong", f"{self}: other results: {sorted(odd)[:5]}")
        for problem in self.whole.command.whole(self.out):
            self.tally.note("wrong", f"{self}: {problem}")

    def compare(self) -> None:
        """Compare what there is with what was said to be saved, and with the undisturbed results."""
        with tempfile.TemporaryDirectory() as place:  # opening a journal tidies it up
            copy = Path(place) / "run"
            if self.out.exists():
                shutil.copytree(self.out, copy)
            try:
                found = self.whole.command.finished(copy) if copy.exists() else {}
            except Unreadable as error:
                if "Traceback" in str(error):
                    self.tally.note("tracebacks", f"{self}: {error}")
                elif self.saved or ("never started" not in str(error) and "is not a run" not in str(error)):
                    self.tally.note("lost", f"{self}: {error}")
                return
        lost = [name for name in self.saved if name not in found]
        if lost:
            self.tally.note("lost", f"{self}: {len(lost)}, as {lost[0]!r}")
        odd = [name for name, value in found.items() if name != "last" and self.whole.expected.get(name) != value]
        if odd:
            self.tally.note("wrong", f"{self}: {len(odd)} other than undisturbed, as {odd[0]!r}")


@contextmanager
def stage(*names: str, rows: int = 12) -> Iterator[tuple[Nurse, list[Undisturbed]]]:
    """A nursery in a temporary folder, with the commands of these names, or all."""
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        make(Path(place), rows)
        with Nurse(Path(place), *names) as nurse:
            yield nurse, [Undisturbed(command, nurse) for command in COMMANDS if not names or command.name in names]
