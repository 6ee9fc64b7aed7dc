"""Makes a write of this process fail, stop half-way, or be the last thing it does.

Every write, creation, renaming, deletion and flush below a folder is counted: Python's own, and SQLite's system calls.
SQLite lets a program replace those for tests. What is not counted: flushes by SQLite, and the writes of libraries in
other languages, except that saving tensors counts as one. A limit on the size of files (RLIMIT_FSIZE) reaches all.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}
ACTIONS = (*ERRORS, "short")  # short: half is written, and then the disk is full
KILL = "kill"  # half is written, and then the process ends


@dataclass
class Sabotage:
    """Counts writes, and spoils the one with a given number: alone, or also all that follow."""

    folder: str
    at: int = 0  # from 1; 0: none
    action: str = "ENOSPC"
    lasting: bool = False
    count: int = 0
    log: int = -1  # a file descriptor: gets the number of writes and their kinds

    def fault(self, kind: str, half: Callable[[], object] | None = None) -> int:
        """Called before each write: the error number to fail with, 0 to go on, -1 for a write of one half."""
        self.count += 1
        if self.log >= 0:
            os.write(self.log, f"{kind}\n".encode())
        if not self.at or self.count < self.at:
            return 0
        if self.count == self.at:
            if self.action == KILL:
                if half is not None:
                    half()
                os.kill(os.getpid(), signal.SIGKILL)
            if self.action == "short" and half is not None:
                half()
                return -1
        over = self.count - self.at
        again = self.lasting or (self.action == "short" and over == 1)
        return ERRORS.get(self.action, errno.ENOSPC) if over == 0 or again else 0

    def check(self, kind: str, half: Callable[[], object] | None = None) -> None:
        """Raise the error if this write is to fail."""
        if (number := self.fault(kind, half)) > 0:
            raise OSError(number, os.strerror(number))

    def ours(self, path: Any) -> bool:
        """Whether a path lies below the folder."""
        if isinstance(path, int):
            return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.folder)

    def install(self) -> None:
        """From now on, count."""
        self._files()
        self._calls()
        self._tensors()
        self._sqlite()

    def _files(self) -> None:
        usual, own = io.open, self

        class Raw(io.FileIO):
            def write(self, content: Any) -> int:
                halved = 0

                def half() -> None:
                    nonlocal halved
                    halved = io.FileIO.write(self, bytes(content)[: len(content) // 2])

                number = own.fault("write", half)
                if number > 0:
                    raise OSError(number, os.strerror(number))
                return halved if number < 0 else io.FileIO.write(self, content)

        def opened(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            writes = any(sign in mode for sign in "wax") and "+" not in mode
            if not writes or not own.ours(file):
                return usual(file, mode, buffering, encoding, errors, newline, closefd, opener)
            own.check("open")
            with_raw: Any = Raw(file, mode.replace("b", "").replace("t", ""), opener=opener)
            whole = io.BufferedWriter(with_raw)
            return whole if "b" in mode else io.TextIOWrapper(whole, encoding, errors, newline)

        io.open = builtins.open = opened

    def _calls(self) -> None:
        system: Any = os
        for name in ("rename", "replace", "mkdir", "unlink", "rmdir", "fsync"):
            usual = getattr(system, name)

            def call(path: Any, *rest: Any, _name: str = name, _usual: Any = usual, **more: Any) -> Any:
                if _name == "fsync" or more.get("dir_fd") is not None or self.ours(path):
                    self.check(_name)
                return _usual(path, *rest, **more)

            setattr(system, name, call)

    def _tensors(self) -> None:
        import safetensors.torch
        from safetensors import SafetensorError

        usual = safetensors.torch.save_file

        def save_file(tensors: Any, filename: Any, metadata: Any = None) -> None:
            def half() -> None:
                usual(tensors, filename, metadata)
                os.truncate(filename, Path(filename).stat().st_size // 2)

            if number := self.fault("tensors", half):
                reason = os.strerror(number if number > 0 else errno.ENOSPC)
                raise SafetensorError(f"Error while serializing: I/O error: {reason}")
            usual(tensors, filename, metadata)

        safetensors.torch.save_file = save_file

    def _sqlite(self) -> None:
        library, vfs = _unix_vfs()
        kept: list[Any] = [library]
        for name, (kind, arguments) in _CALLS.items():
            address = vfs.get(vfs.own, name.encode())
            if not address:
                continue
            signature = ctypes.CFUNCTYPE(kind, *arguments, use_errno=True)
            usual = signature(address)
            replaced = signature(self._replacement(name, usual))
            if vfs.set(vfs.own, name.encode(), replaced) == 0:
                kept += [usual, replaced]
        _KEPT.extend(kept)

    def _replacement(self, name: str, usual: Any) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            if name == "open" and not arguments[1] & os.O_CREAT:
                return int(usual(*arguments))
            halved = 0
            writes = name in ("write", "pwrite", "pwrite64")

            def half() -> None:
                nonlocal halved
                file, content, size, *offset = arguments
                halved = usual(file, content, max(1, size // 2), *offset)

            number = self.fault(f"sqlite {name}", half if writes else None)
            if number > 0:
                ctypes.set_errno(number)
                return -1
            return halved if number < 0 else int(usual(*arguments))

        return call


_KEPT: list[Any] = []  # SQLite holds their addresses
_INT, _SIZE, _LONG, _POINTER = ctypes.c_int, ctypes.c_size_t, ctypes.c_long, ctypes.c_void_p
_CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "open": (_INT, (ctypes.c_char_p, _INT, _INT)),
    "write": (_LONG, (_INT, _POINTER, _SIZE)),
    "pwrite": (_LONG, (_INT, _POINTER, _SIZE, _LONG)),
    "pwrite64": (_LONG, (_INT, _POINTER, _SIZE, _LONG)),
    "ftruncate": (_INT, (_INT, _LONG)),
    "unlink": (_INT, (ctypes.c_char_p,)),
}


class _Vfs(ctypes.Structure):
    """SQLite's table of functions for files; here only the last ones are used."""

    _fields_ = (
        *((name, _INT) for name in ("version", "size", "longest")),
        *((name, _POINTER) for name in ("next", "name", "data")),
        *((f"call{number}", _POINTER) for number in range(13)),
        *((name, _POINTER) for name in ("set_call", "get_call", "next_call")),
    )


@dataclass
class _Unix:
    own: Any
    set: Any
    get: Any


def _unix_vfs() -> tuple[Any, _Unix]:
    import _sqlite3

    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    found = library.sqlite3_vfs_find(None)
    table = found.contents
    setting = ctypes.CFUNCTYPE(_INT, ctypes.POINTER(_Vfs), ctypes.c_char_p, _POINTER)(table.set_call)
    getting = ctypes.CFUNCTYPE(_POINTER, ctypes.POINTER(_Vfs), ctypes.c_char_p)(table.get_call)
    return library, _Unix(found, lambda own, name, call: setting(own, name, ctypes.cast(call, _POINTER)), getting)


def limit_files(size: int) -> None:
    """No file of this process may grow beyond this size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
