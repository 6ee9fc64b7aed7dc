"""A process that forks itself for each command, lets it run into a fault, and says how it ended.

A command may be killed after some time, or one of its workers, or at one of its writes. What it saves it also notes in
a file (`acknowledged`), so that whoever looks at the folder afterwards knows what must be there.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import time
from contextlib import redirect_stdout, suppress
from functools import cache
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tests.cli.nursery import run
from tests.faults.sabotage import Sabotage, limit_files

_SUBREAPER = 36  # prctl: orphans below come to this process
_SECONDS_FOR_ORPHANS = 20.0
_LOOK = 0.002


def warm_up(scene: Path, names: list[str]) -> None:
    """Carry out commands once, so that all is imported and loaded: those of these names, or all.

    A command with workers asks for what the same command without them does.
    """
    wanted = {name.removesuffix(" workers") for name in names}
    wanted |= {"attack"} if "audit" in wanted else set()
    import torch._dynamo

    from mohs.cli.main import app
    from mohs.report import template
    from mohs.tasks import services
    from tests.faults.scene import ATTACKED, COMMANDS
    from tests.toys import bundled

    torch.set_num_threads(1)
    bundled()
    load = services._load
    known = cache(load)  # a fork finds models and templates loaded, but the checker of grammar has threads
    services._load = lambda kind, *rest: (load if kind == "grammar" else known)(kind, *rest)
    pages: Any = template
    pages.Environment = _Once(pages.Environment)
    kept, folder, path = os.dup(1), Path.cwd(), list(sys.path)
    os.dup2(2, 1)
    os.chdir(scene)
    sys.path.insert(0, str(scene))
    for number, command in enumerate(COMMANDS):
        out = scene / (f"warm-{number}" if number else ATTACKED)
        if command.workers or out.exists() or (wanted and command.name not in wanted):
            continue
        command.begin(scene, out)
        with redirect_stdout(StringIO()):
            app([*command.words(str(out)), "--json"], standalone_mode=False)
    gc.collect()
    gc.freeze()
    os.dup2(kept, 1)
    os.chdir(folder)
    sys.path[:], sys.stdout = path, sys.__stdout__


class _Once:
    """Makes an object at its first call and gives it from then on."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.made = kind, None

    def __call__(self, **settings: Any) -> Any:
        self.made = self.made or self.kind(**settings)
        return self.made


def acknowledge(path: str) -> None:
    """Note every finished thing after it is saved."""
    from mohs.audits.journal import Journal
    from mohs.records.store import RunStore
    from mohs.training.folder import TrainingFolder

    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    began = time.monotonic()

    def note(*names: str) -> None:
        os.write(file, "".join(f"{time.monotonic() - began:.4f} {name}\n" for name in names).encode())

    add, write, save = RunStore.add_line, Journal.write, TrainingFolder.save

    def add_line(self: RunStore, line: Any) -> None:
        add(self, line)
        if self.folder is not None:
            note(f"{line[0]} {line[1]}")

    def write_line(self: Journal, key: Any, taken: Any, made_by: str) -> None:
        write(self, key, taken, made_by)
        note(*(f"{key[0]} {key[1]} {name}" for name in taken.values))

    def saved(self: TrainingFolder, tensors: Any, place: Any) -> None:
        save(self, tensors, place)
        note(f"step {place['epoch'] * 1000 + place['batch']}")

    RunStore.add_line, Journal.write, TrainingFolder.save = add_line, write_line, saved  # type: ignore[method-assign]


def _forget_signals() -> None:
    """A process started anew does not know what its parent does with signals."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def live(job: dict[str, Any]) -> None:
    """The life of a forked process."""
    os.setpgid(0, 0)
    acknowledge(job["acknowledged"])
    if job.get("forked", True):  # importing all in a new process would take most of the time
        import mohs.runs.workers as workers

        workers._PROCESSES = get_context("fork")  # type: ignore[assignment]
        os.register_at_fork(after_in_child=_forget_signals)
    if (told := job.get("sabotage")) is not None:
        log = os.open(told.pop("log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if "log" in told else -1
        Sabotage(**told, log=log).install()
    if (size := job.get("limit")) is not None:
        limit_files(size)
    run(job)


def children(pid: int) -> list[int]:
    """The workers that a process has started. Python's own tracker of resources is none."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            own = int(place.read_text().rpartition(")")[2].split()[1]) == pid
            if own and b"resource_tracker" not in (place.parent / "cmdline").read_bytes():
                found.append(int(place.parent.name))
    return sorted(found)


def alive(group: int) -> bool:
    """Whether any process of a group is left; ends those that are over."""
    with suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def watch(child: int, job: dict[str, Any]) -> dict[str, Any]:
    """Wait for a command, and kill it if that is asked."""
    began, after, killed, status = time.monotonic(), job.get("kill_after"), False, None
    chance = Random(job.get("seed", 0))
    while status is None and time.monotonic() - began < job.get("timeout", 120):
        if after is not None and not killed and time.monotonic() - began >= after:
            targets = children(child) if job.get("kill_worker") else [child]
            if targets:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(targets), signal.SIGKILL)
                    killed = True
        found, how = os.waitpid(child, os.WNOHANG)
        if found:
            status = os.waitstatus_to_exitcode(how)
        else:
            time.sleep(_LOOK)
    seconds, hung = time.monotonic() - began, status is None
    ends = time.monotonic() + (0.0 if hung else _SECONDS_FOR_ORPHANS)
    while (left := alive(child)) and time.monotonic() < ends:
        time.sleep(_LOOK)
    if left:
        os.killpg(child, signal.SIGKILL)
        while alive(child):
            time.sleep(_LOOK)
    return {"status": status, "seconds": seconds, "hung": hung, "orphans": left and not hung, "killed": killed}


if __name__ == "__main__":
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    warm_up(Path(sys.argv[1]), sys.argv[2:])
    print("ready", flush=True)
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        child = os.fork()
        if not child:
            live(asked)
        with suppress(OSError):  # the process does so itself, but perhaps too late to be killed with its group
            os.setpgid(child, child)
        print(json.dumps(watch(child, asked)), flush=True)
