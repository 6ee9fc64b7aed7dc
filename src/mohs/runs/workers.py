"""A run shared between processes, each with its own copy of the models.

A search is Python code and uses one core, so a fast device or a fast victim waits for it. With workers, several
processes search. All send their records to the main process, which writes the run folder. Which worker gets an example
depends on their speed; the results do not.
"""

from __future__ import annotations

import gc
import os
import pickle
import selectors
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from mohs.errors import BadInput, MohsError, ServiceFailed
from mohs.models.lending import Borrowed, Desk, Lender, Posted
from mohs.records import Record
from mohs.runs.containment import end_with_parent, no_sudden_end
from mohs.runs.job import job_of
from mohs.runs.settings import Settings
from mohs.tasks.plan import Verb
from mohs.tasks.subject import Survey

_NAP = 1e-4  # seconds between two polls of a busy device
_SECONDS_STOPPED = 5.0  # a worker that is stopped for longer is given up; Ctrl-Z stops all, and then nobody looks
_SECONDS_TO_END = 5.0  # for a worker that was told to end
_THREADS = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS")  # for arrays and networks, and for tokenizers
_SAFE_PATH, _OURS = "PYTHONSAFEPATH", "mohs"  # any value turns it on
_PROCESSES = get_context("spawn")  # CUDA and some libraries' threads do not work in a forked process


@dataclass(frozen=True)
class Order:
    """What a worker needs to make the same job."""

    settings: Settings  # its victim is None if the network is lent
    verb: Verb
    survey: Survey  # large data are read once, not once for each worker

    def on(self, device: str, workers: int) -> Order:
        """The order for one of some workers, on a device."""
        return replace(self, settings=replace(self.settings, device=device, workers=workers))

    def checked(self) -> Order:
        """Itself, if everything can be sent to another process."""
        victim = self.settings.victim
        if not (victim is None or isinstance(victim, str)):
            raise BadInput(
                "Several workers need a victim that each can load by name; use one such as python:module:function."
            )
        try:
            pickle.dumps(self)
        except Exception as error:  # an object's own pickling code may raise anything
            raise BadInput(
                f"Several workers need attacks and models that can be sent to another process ({error}); give their "
                "names, or use one worker."
            ) from error
        return self


def spread(
    order: Order,
    workers: int,
    done: AbstractSet[tuple[str, str]],
    at_once: int,
    spent: dict[str, float],
    lenders: Sequence[Lender] = (),
    devices: Sequence[str] = (),
) -> Generator[tuple[int, Record], None, None]:
    """The records of a job as its workers finish them. Their effort is added to `spent` at the end.

    lenders: have the network that the workers query; without one, each worker loads its own. devices: for what workers
    load; by default that of the order. Workers go to lenders and devices in turn.
    """
    began = time.perf_counter()
    kind = order.verb.finding()
    with own_modules():
        turn = _PROCESSES.Value("q", 0)  # starts a process that keeps track of it
    lines: dict[Connection, Any] = {}
    orders = [order.on(device, workers) for device in devices or [order.settings.device]]
    desks: dict[Connection, Lender] = {}
    some = -(-at_once // workers)
    with selectors.DefaultSelector() as inbox, _Watch() as watch:
        try:
            for _ in range(workers):
                ours, theirs = _PROCESSES.Pipe()
                process = _PROCESSES.Process(target=_work, args=(theirs, turn), daemon=True)
                with cores_shared(workers), no_interrupts(), own_modules():
                    process.start()
                theirs.close()
                lines[ours] = process
                watch.over(process)
                inbox.register(ours, selectors.EVENT_READ, process)
            desks.update(zip(lines, cycle(lenders), strict=False))
            for each, own in zip(lines, cycle(orders), strict=False):
                # After all have started, or each would wait for the imports of the one before.
                loan = desks[each].loan() if lenders else None
                _send(each, (own, frozenset(done), some, loan), lines[each], watch)
            loading = working = len(lines)
            gc.freeze()  # loaded objects stay, so scanning them again only takes time
            while working:
                idle = True
                for key, _ in inbox.select(0 if any(desk.busy for desk in lenders) else None):
                    line = key.fileobj
                    assert isinstance(line, Connection)
                    message = _received(line, key.data, watch)
                    idle = False
                    if isinstance(message, Posted):
                        desks[line].take(partial(_send, line, process=key.data, watch=watch), message)
                    elif isinstance(message, dict):
                        inbox.unregister(line)
                        working -= 1
                        for name, value in message.items():
                            spent[name] = spent.get(name, 0.0) + value
                    elif message is None:
                        loading -= 1
                        if not loading:
                            loading_took = time.perf_counter() - began
                            spent["seconds"] = spent.get("seconds", 0.0) - loading_took  # it does not count
                            for each in lines:
                                _send(each, None, lines[each], watch)
                    else:
                        number, record = message
                        yield number, Record.from_json(record, kind)
                for desk in lenders:
                    desk.launch()
                answered = [desk.collect() for desk in lenders]
                if idle and not any(answered) and any(desk.busy for desk in lenders):
                    time.sleep(_NAP)
        finally:
            gc.unfreeze()
            for line, process in lines.items():
                line.close()
                process.terminate()
            for process in lines.values():
                process.join(_SECONDS_TO_END)
                process.kill()  # a stopped process, or one that handles the signal itself, has not ended yet
                process.join()


def _received(line: Connection, process: Any, watch: _Watch) -> Any:
    try:
        message = line.recv()
    except (EOFError, OSError):
        raise _lost(process, watch) from None
    if isinstance(message, Exception):
        raise message
    return message


def _send(line: Connection, message: Any, process: Any, watch: _Watch) -> None:
    try:
        line.send(message)
    except OSError:
        raise _lost(process, watch) from None


def _lost(process: Any, watch: _Watch) -> ServiceFailed:
    """What to say of a worker that does not answer any more."""
    process.join(_SECONDS_TO_END)
    if process.pid in watch.given_up:
        return ServiceFailed(
            f"A worker process ({process.pid}) was stopped by a signal for over {_SECONDS_STOPPED:.0f} s and was ended."
        )
    return ServiceFailed(f"A worker process died (exit code {process.exitcode}); if memory ran out, use fewer workers.")


class _Watch:
    """Ends workers that somebody has stopped (SIGSTOP): nobody would notice, and all would wait for them."""

    def __init__(self) -> None:
        self.given_up: set[int] = set()
        self._since: dict[Any, float | None] = {}
        self._over = threading.Event()

    def __enter__(self) -> _Watch:
        if hasattr(os, "waitid"):
            threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def over(self, process: Any) -> None:
        """Watch this process too."""
        self._since[process] = None

    def _look(self) -> None:
        while not self._over.wait(1.0):
            for process, since in list(self._since.items()):
                if not _stopped(process.pid):
                    self._since[process] = None
                elif since is None:
                    self._since[process] = time.monotonic()
                elif time.monotonic() - since > _SECONDS_STOPPED:
                    self.given_up.add(process.pid)
                    os.kill(process.pid, signal.SIGKILL)


def _stopped(pid: int) -> bool:
    try:
        found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except OSError:  # it has ended
        return False
    return found is not None and found.si_code == os.CLD_STOPPED


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Processes started inside this context hold back Ctrl-C until they can say that they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Heard:
    """A connection whose messages are always received, by a thread.

    Messages may be larger than a pipe's buffer. Without the thread, two processes that both send would deadlock.
    """

    def __init__(self, line: Connection) -> None:
        self.send = line.send
        self._inbox: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()
        threading.Thread(target=self._listen, args=(line,), daemon=True).start()

    def _listen(self, line: Connection) -> None:
        while True:
            try:
                self._inbox.put((line.recv(), None))
            except Exception as error:  # raised again in recv
                self._inbox.put((None, error))
                return

    def recv(self) -> Any:
        """The next message; raises if the connection ended."""
        message, error = self._inbox.get()
        if error is not None:
            raise error
        return message


def begin_worker() -> None:
    """The first thing that a process does which works for another one."""
    if os.environ.get(_SAFE_PATH) == _OURS:  # not for programs that the victim may start
        del os.environ[_SAFE_PATH]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but the main process handles it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_parent()


def _work(line: Connection, turn: Any) -> None:
    """The whole life of a worker."""
    begin_worker()
    with no_sudden_end():
        _search(line, turn)


def _search(line: Connection, turn: Any) -> None:
    """Make the job, take examples from the shared counter, and send their records."""

    def claim() -> int:
        with turn.get_lock():
            turn.value += 1
            return int(turn.value) - 1

    try:
        order, done, at_once, loan = line.recv()
        heard = Heard(line)
        settings = order.settings if loan is None else replace(order.settings, victim=Borrowed(loan, Desk(heard)))
        job = job_of(settings, order.verb, order.survey)
        before = job.effort()
        line.send(None)
        heard.recv()
        cpu = time.process_time()
        for number, record in job.records(done, claim, at_once):
            line.send((number, record.to_json()))
        spent = {name: value - before.get(name, 0) for name, value in job.effort().items()}
        line.send({**spent, "cpu_seconds": time.process_time() - cpu})
        job.close()
    except (BrokenPipeError, ConnectionResetError, EOFError):
        return  # the main process is gone
    except MohsError as error:
        line.send(error)
    except Exception as error:
        line.send(ServiceFailed(f"A worker process failed: {type(error).__name__}: {error}"))


@contextmanager
def own_modules() -> Iterator[None]:
    """Processes started in this context do not look for Python's own modules in the current folder.

    A spawned process begins with `python -c`, which would import a multiprocessing.py that lies there.
    """
    if os.environ.get(_SAFE_PATH):
        yield
        return
    os.environ[_SAFE_PATH] = _OURS
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]


@contextmanager
def cores_shared(workers: int) -> Iterator[None]:
    """Divide the cores among the processes started inside this context: libraries read these variables when loaded."""
    own = {name: str(max(1, (os.cpu_count() or 1) // workers)) for name in _THREADS if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            del os.environ[name]
