"""Several runs of a suite at once, in processes that each load their own models.

One run after the other leaves a fast device idle while models load and while the last searches end. A run may have
workers of its own. What is found does not depend on how many runs go on at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from mohs.curation.suite import Cell, How
from mohs.errors import MohsError
from mohs.models.device import first_device
from mohs.runs.containment import no_sudden_end, own_output
from mohs.runs.headcount import AUTO, divided, most_of
from mohs.runs.workers import begin_worker, cores_shared, no_interrupts, own_modules

_SECONDS_TO_END = 5.0
_PROCESSES = get_context("spawn")  # CUDA does not work in a forked process


def side_by_side(cells: Sequence[Cell], how: How) -> Iterator[Cell]:
    """Carry the runs out, and give each as it ends. The first error ends all; what is finished is in the folders."""
    at_once = min(how.runs_at_once, len(cells))
    left, busy = deque(cells), dict[Connection, Cell]()
    several = any(first_device(str(cell.settings["device"])) != cell.settings["device"] for cell in cells)
    workers = divided(how.workers or (AUTO if several else 1), at_once)
    alone = replace(how, bar=None, progress=None, said=None, workers=workers)
    processes: dict[Connection, BaseProcess] = {}
    try:
        with cores_shared(at_once * (most_of(workers) or 1)), no_interrupts(), own_modules():
            for _ in range(at_once):
                ours, theirs = _PROCESSES.Pipe()
                processes[ours] = _PROCESSES.Process(target=_work, args=(theirs, alone))
                processes[ours].start()
                theirs.close()
        for line in processes:
            busy[line] = _sent(line, left.popleft())
        while busy:
            for ready in wait(list(busy)):
                line = next(line for line in busy if line is ready)
                yield _ended(line, busy.pop(line))
                if left:
                    busy[line] = _sent(line, left.popleft())
    finally:
        for line, process in processes.items():
            line.close()
            process.terminate()
        for process in processes.values():
            process.join(_SECONDS_TO_END)
            process.kill()
            process.join()


def _sent(line: Connection, cell: Cell) -> Cell:
    line.send(cell)
    return cell


def _ended(line: Connection, cell: Cell) -> Cell:
    """The run, after its process said that it ended well."""
    try:
        error = line.recv()
    except (EOFError, OSError):
        raise MohsError(
            f"The process of the run {cell.folder} ended without a word (killed, or out of memory). What is finished "
            "is saved; build again, if need be with fewer runs at once."
        ) from None
    if error is not None:
        raise error
    return cell


def _work(line: Connection, how: How) -> None:
    """The life of a process: one run after the other."""
    begin_worker()
    with own_output(), no_sudden_end():
        while True:
            try:
                cell: Cell = line.recv()
            except (EOFError, OSError):
                return  # the main process has no more, or is gone
            error: Exception | None = None
            try:
                cell.carry_out(how, None)
            except MohsError as found:
                error = found
            except Exception as found:
                error = MohsError(f"The run {cell.folder} failed: {type(found).__name__}: {found}")
            line.send(error)
