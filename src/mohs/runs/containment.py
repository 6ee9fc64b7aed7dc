"""Keeps a victim's code from ending the process, from writing into its output, and from outliving its parent."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any

from mohs.errors import VictimError

_SECONDS_BETWEEN_LOOKS = 1.0
_end = os._exit  # the real one


@contextmanager
def no_sudden_end() -> Iterator[None]:
    """Turn `os._exit` in this process into an error of whoever calls it. Forked processes may still end with it."""
    own = os.getpid()

    def refuse(status: int) -> None:
        if os.getpid() != own:
            _end(status)
        raise VictimError(f"The victim called os._exit({status}), which would end the run; let it raise an error.")

    usual, os._exit = os._exit, refuse  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = usual


@contextmanager
def own_output() -> Iterator[None]:
    """Whatever is written to standard output inside goes to standard error, also by C code.

    File descriptor 1 stays standard error afterwards, because a victim's threads and buffers may outlive the run.
    `sys.stdout` then writes to a copy of the real standard output.
    """
    with suppress(OSError, ValueError, AttributeError):  # no standard output, or one that is not a file
        sys.stdout.flush()
        if sys.stdout.fileno() == 1:
            _set_aside(sys.stdout)
    with redirect_stdout(sys.stderr):
        yield


def _set_aside(stdout: Any) -> None:
    kept = os.dup(1)
    copy = os.fdopen(kept, "w", 1 if stdout.isatty() else -1, encoding=stdout.encoding, errors=stdout.errors)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = copy


def end_with_parent() -> None:
    """End this worker process as soon as its parent is gone, whatever it does at that moment."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        while not wait([parent.sentinel], _SECONDS_BETWEEN_LOOKS) and os.getppid() == parent.pid:
            pass
        _end(1)

    threading.Thread(target=watch, daemon=True, name="mohs-parent").start()
