"""The folder a training writes to, safe against a kill at any moment.

training.json holds the settings and, once the model is finished, the results. Until then checkpoint/ holds
state.safetensors (weights, optimizer and, in its header, the position in the training) and best-N.safetensors (the
weights after the best epoch so far), and made-N.json the texts that methods of --harden made before this epoch. Each
file is written under a temporary name and renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from mohs.assets.writing import opened_for_writing, refuse_link
from mohs.errors import BadInput, MohsError
from mohs.records.integrity import checksum_of

RECORD, WORKSHOP, LOCK, STATE = "training.json", "checkpoint", "lock", "state.safetensors"
_NEW = ".new"
_PARTS = {"command", "config", "identity", "finished"}  # of training.json, besides its checksum


class TrainingFolder:
    """An open training folder. It is locked against other processes until closed."""

    def __init__(self, path: Path, record: dict[str, Any], lock: IO[str]) -> None:
        self.path = path
        self.record = record
        self._lock = lock

    @classmethod
    def open(cls, path: Path, config: Mapping[str, Any], identity: Mapping[str, Any]) -> TrainingFolder:
        """Start a training, or resume the one in the folder if its settings are the same."""
        try:
            if path.exists() and not path.is_dir():
                raise BadInput(f"{path} is a file; --out names a folder for the model.")
            if path.is_dir() and not (path / RECORD).exists():
                _refuse_foreign(path)
            (path / WORKSHOP).mkdir(parents=True, exist_ok=True)
            refuse_link(path / WORKSHOP)
            lock = opened_for_writing(path / WORKSHOP / LOCK)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not (path / RECORD).exists():
                record = {"command": "train", "config": dict(config), "identity": dict(identity), "finished": None}
                found = cls(path, record, lock)
                found._write_record(record)
                return found
            found = cls(path, read_record(path), lock)
        except BlockingIOError:
            lock.close()
            raise BadInput(f"Another process is training in {path}; wait for it or choose another --out.") from None
        except OSError as error:
            lock.close()
            raise _unwritable(path, error) from error
        except BaseException:
            lock.close()
            raise
        try:
            _refuse_changes(path, found.record["identity"], identity)
        except BadInput:
            found.close()
            raise
        return found

    @property
    def finished(self) -> dict[str, Any] | None:
        """The results, if the training is finished."""
        found: dict[str, Any] | None = self.record["finished"]
        return found

    def save(self, tensors: Mapping[str, Any], place: Mapping[str, Any]) -> None:
        """Replace the checkpoint: the tensors and the position in the training."""
        self._write_tensors(STATE, tensors, place)
        keep = {f"best-{place['best_epoch']}.safetensors", STATE, LOCK, _made(place["epoch"])}
        for path in (self.path / WORKSHOP).iterdir():  # files that the checkpoint no longer needs
            if path.name not in keep and path.is_file():
                path.unlink(missing_ok=True)

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The checkpoint's tensors and position; None before the first checkpoint."""
        return self._read(STATE) if (self.path / WORKSHOP / STATE).exists() else None

    def save_best(self, epoch: int, tensors: Mapping[str, Any]) -> None:
        """Keep the weights after an epoch. The next checkpoint names this epoch as the best."""
        self._write_tensors(f"best-{epoch}.safetensors", tensors, {})

    def saved_best(self, epoch: int) -> dict[str, Any]:
        """The weights after an epoch."""
        return self._read(f"best-{epoch}.safetensors")[0]

    def save_made(self, epoch: int, made: Sequence[tuple[int, tuple[str, ...]]]) -> None:
        """Keep the texts made before an epoch, each with the number of its original, until the epoch is over."""
        path = self.path / WORKSHOP / _made(epoch)
        beside = path.with_name(path.name + _NEW)
        try:
            content = [[number, list(text)] for number, text in made]
            with opened_for_writing(beside, encoding="utf-8") as file:
                json.dump({"made": content, "checksum": checksum_of(json.dumps(content))}, file)
            _settle(beside, path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise _unsaved(self.path, error) from error

    def made(self, epoch: int) -> list[tuple[int, tuple[str, ...]]] | None:
        """The texts made before an epoch; None if they were not kept."""
        path = self.path / WORKSHOP / _made(epoch)
        if not path.exists():
            return None
        try:
            told = json.loads(path.read_text("utf-8"))
            if told["checksum"] != checksum_of(json.dumps(told["made"])):
                raise ValueError("it is not what was written")
            return [(int(number), tuple(map(str, text))) for number, text in told["made"]]
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise BadInput(
                f"The file {path} cannot be read ({error}); delete the folder {path.parent} to start over."
            ) from error

    def publish(self, write: Callable[[Path], None]) -> None:
        """Let `write` fill a temporary folder, then move its files into place."""
        from safetensors import SafetensorError

        beside = self.path / WORKSHOP / f"model{_NEW}"
        try:
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir()
            mode = beside.stat().st_mode & 0o666  # follows the umask; safetensors makes files private
            write(beside)
            for part in sorted(beside.iterdir()):
                target = self.path / part.name
                if part.is_dir():
                    shutil.rmtree(target, ignore_errors=True)
                    part.replace(target)
                else:
                    part.chmod(mode)
                    _settle(part, target)
            beside.rmdir()
        except (OSError, SafetensorError) as error:
            raise _unsaved(self.path, error) from error

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Record that the model is finished, and delete the checkpoint."""
        self._write_record({**self.record, "finished": dict(facts)})
        shutil.rmtree(self.path / WORKSHOP, ignore_errors=True)

    def close(self) -> None:
        """Release the lock."""
        if self.finished is not None:
            shutil.rmtree(self.path / WORKSHOP, ignore_errors=True)
        self._lock.close()

    def _write_record(self, record: Mapping[str, Any]) -> None:
        """Write training.json. A training counts as finished only once that is on the disk."""
        beside = self.path / (RECORD + _NEW)
        try:
            with opened_for_writing(beside, encoding="utf-8") as file:
                json.dump({**record, "checksum": _checksum(record)}, file, indent=2, ensure_ascii=False)
                file.write("\n")
            _settle(beside, self.path / RECORD)
            self.record = dict(record)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise _unwritable(self.path, error) from error

    def _write_tensors(self, name: str, tensors: Mapping[str, Any], place: Mapping[str, Any]) -> None:
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        beside = self.path / WORKSHOP / (name + _NEW)
        refuse_link(beside)
        try:
            told = json.dumps(dict(place))
            save_file(dict(tensors), beside, metadata={"place": told, "checksum": _checksum_of_tensors(tensors, told)})
            _settle(beside, self.path / WORKSHOP / name)
        except (OSError, SafetensorError) as error:
            beside.unlink(missing_ok=True)
            raise _unsaved(self.path, error) from error

    def _read(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        from safetensors import SafetensorError, safe_open

        path = self.path / WORKSHOP / name
        try:
            with safe_open(path, "pt") as file:
                told = file.metadata()
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            fitting = told.get("checksum", "") == _checksum_of_tensors(tensors, told["place"])
            if not fitting and set(told) != {"place"}:  # earlier versions wrote no checksum
                raise ValueError("it is not what was written")
            return tensors, json.loads(told["place"])
        except (OSError, LookupError, TypeError, ValueError, SafetensorError) as error:
            raise BadInput(
                f"The checkpoint {path} cannot be read ({error}); delete the folder {path.parent} to start over."
            ) from error


def _made(epoch: int) -> str:
    """The name of the file with the texts made before an epoch."""
    return f"made-{epoch}.json"


def read_record(path: Path) -> dict[str, Any]:
    """The content of training.json."""
    try:
        record = json.loads((path / RECORD).read_text("utf-8"))
        whole = set(record) - {"checksum"} == _PARTS and record.get("checksum", "") in ("", _checksum(record))
        if not whole:
            fault = "it is not what the training wrote"
        elif isinstance(record["identity"], dict) and isinstance(record["config"], dict):
            found: dict[str, Any] = {name: value for name, value in record.items() if name != "checksum"}
            return found
        else:
            fault = "it is not the record of a training"
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        fault = " ".join(str(error).split())
    raise BadInput(f"{path / RECORD} cannot be read ({fault}); restore it from a copy or choose another --out.")


def seconds_of(path: Path) -> list[float]:
    """How long the steps of each epoch took, in seconds; empty for a folder that does not say.

    Time on dev data and on checkpoints is not in it. After a kill, steps that had to be taken again count once.
    """
    found = (read_record(path)["finished"] or {}).get("seconds") or []
    return [float(seconds) for seconds in found]


def _checksum(record: Mapping[str, Any]) -> str:
    return checksum_of(json.dumps({name: value for name, value in record.items() if name != "checksum"}))


def _checksum_of_tensors(tensors: Mapping[str, Any], place: str) -> str:
    """A checksum of a checkpoint's names, shapes and numbers, and of its place in the training."""
    import torch

    digest = hashlib.blake2b(place.encode(), digest_size=8)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _settle(beside: Path, place: Path) -> None:
    """Flush a file to disk, then rename it, so that a kill or a power cut leaves the old file or the new one."""
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(place)


def _refuse_foreign(path: Path) -> None:
    inside = {p.name for p in (path / WORKSHOP).iterdir()} if (path / WORKSHOP).is_dir() else set()
    foreign = sorted({p.name for p in path.iterdir()} - ({WORKSHOP} if inside <= {LOCK} else set()) - {RECORD + _NEW})
    if foreign:
        raise BadInput(f"{path} holds other files ({foreign[0]}) and no training; choose a new folder with --out.")


def _refuse_changes(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    lines = [
        f"  {key}: {old.get(key)!r} in the folder, {new.get(key)!r} asked for"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]
    if lines:
        difference = "\n".join(lines)
        raise BadInput(
            f"{path} holds a training with other settings or data:\n{difference}\n"
            "Use the same settings to resume it, or choose another --out."
        )


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"The folder {path} cannot be written ({error.strerror}); make room or choose another --out.")


def _unsaved(path: Path, error: Exception) -> MohsError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())
    return MohsError(
        f"{path} cannot be saved ({reason}), but the last checkpoint is kept; make room and run the same command again."
    )
