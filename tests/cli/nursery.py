"""A process that has imported what the commands need and forks itself for each one: importing is most of their time.

A fork has a folder, an environment, streams and an exit status of its own, like a command typed at a prompt. What it
does not show is that a command imports what it uses, and that nothing hangs on the hash of strings, which is the same
in all forks: tests about that start a process.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

import pyarrow.parquet  # noqa: F401
import scipy.stats  # noqa: F401
import torch  # noqa: F401

import mohs.report.attack.page
import mohs.report.attack.view
import mohs.report.template
import mohs.report.terminal
import mohs.runs  # noqa: F401
from mohs.cli import main
from mohs.models.bag import pocket_victim
from mohs.text import pocket


def become(job: dict[str, Any]) -> None:
    """Take the place of a command that has just been started."""
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.path[:0] = job["path"]
    sys.argv = ["mohs", *job["arguments"]]
    for number, name, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, job["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, job["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        os.dup2(os.open(name, flags), number)


def run(job: dict[str, Any]) -> None:
    """End with the status of a command; without tidying up, which for so many modules takes longer than most."""
    become(job)
    status: Any = 0
    try:
        main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    pocket_victim()
    pocket.lexicon()
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
