"""Ray, which carries processes to other machines: joining a cluster, or starting one on this machine.

Nothing else in mohs imports ray. Tested with the version in constraints.txt.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, chdir, contextmanager, nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import Any

from mohs.errors import BadInput, ServiceFailed
from mohs.models.device import devices_of
from mohs.runs.settings import Settings

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})")
_SECONDS_TO_ANSWER = 5.0  # for whatever listens at the address
_OBJECTS = 256_000_000  # bytes of shared memory for the examples, on this machine; what does not fit goes to its disk
_QUIET = {  # read by Ray when it is imported, when it connects, and by the processes that it starts
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_server_port_wait_time_s": "1",  # how often it tries an address; each time takes up to 40 s
}
_MODE = "RAY_AUTH_MODE"  # whether Ray's processes ask for a token
_NO_MODULES = Path(__file__).parents[1] / "pocket" / "bias"  # a folder of ours, without any
_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # "0" on any system: Ray listens on 127.0.0.1 and nowhere else


def check(settings: Settings) -> None:
    """Refuse what cannot work before anything is loaded."""
    place = settings.on
    if place is None:
        return
    if place not in ("ray", "ray:auto") and not _ADDRESS.fullmatch(place.removeprefix("ray:")):
        raise BadInput(f"--on {place!r} is no cluster; use ray:HOST:PORT, ray:auto, or ray for one on this machine.")
    if settings.cache is not None and place != "ray":
        raise BadInput(
            f"--cache {settings.cache} is a file of one machine, and --on {place} uses several; leave --cache out."
        )
    if len(devices_of(settings.device)) > 1:
        raise BadInput(
            f"--device {settings.device} names devices of one machine; with --on each worker takes one of its own: use "
            "--device cuda."
        )
    if find_spec("ray") is None:
        raise BadInput(f"--on {place} needs Ray: pip install 'mohs[ray]'.")


@contextmanager
def joined(place: str, workers: int | None) -> Iterator[Any]:
    """The module ray, connected. What was started for it ends with the context.

    A program that is connected already stays so, to the cluster of its choice.
    """
    with ExitStack() as undo:
        undo.enter_context(_environment(_QUIET))
        ray: Any = import_module("ray")
        if not ray.is_initialized():
            undo.enter_context(_tokens({_MODE: "token", "RAY_AUTH_TOKEN": token_hex(32)} if place == "ray" else {}))
            undo.enter_context(_signals())
            undo.enter_context(_muted())
            folder = undo.enter_context(_folder()) if place == "ray" else None
            undo.callback(ray.shutdown, wait_for_processes=True)
            with chdir(_NO_MODULES):  # Ray lets those of the current folder take the place of Python's own
                if folder is None:
                    _join(ray, place)
                else:
                    _start(ray, workers, folder)
        yield ray


def _start(ray: Any, workers: int | None, folder: str) -> None:
    with _loopback():
        try:
            ray.init(
                address="local",
                num_cpus=workers or _cores(),
                include_dashboard=False,
                object_store_memory=_OBJECTS,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                _temp_dir=folder,
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise ServiceFailed(f"Ray could not be started on this machine ({_first_line(error)}).") from error
    if not ray.util.get_node_ip_address().startswith("127."):  # another version of Ray may know no such setting
        raise ServiceFailed(
            "Ray does not keep to the loopback address here; start it with `ray start --head` and use --on ray:auto."
        )


def _join(ray: Any, place: str) -> None:
    address = place.removeprefix("ray:")
    unknown = f"No Ray cluster answers at {address}; `ray status --address {address}` shows one that does."
    if address == "auto":
        unknown = "No Ray cluster runs on this machine; start one with `ray start --head`, or use --on ray."
    inside: AbstractContextManager[None] = nullcontext()
    if found := _ADDRESS.fullmatch(address):
        host, port = found["host"].strip("[]"), int(found["port"])
        if not _answers(host, port):
            raise ServiceFailed(unknown)
        # Ray puts the outer address of this machine in the place of a local one; the cluster may not listen there.
        if (host == "localhost" or host.startswith("127.")) and not _answers(ray.util.get_node_ip_address(), port):
            inside = _loopback()
    try:
        with inside:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
    except ConnectionError as error:
        if "AuthenticationError" in str(error.__cause__):
            unknown = (
                f"The Ray cluster at {address} asks for a token; copy ~/.ray/auth_token from its head to this machine, "
                "and set RAY_AUTH_MODE=token."
            )
        raise ServiceFailed(unknown) from error
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ServiceFailed(f"The Ray cluster at {address} cannot be joined ({_first_line(error)}).") from error


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError):
        return False
    return True


def _first_line(error: BaseException) -> str:
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Variables for this process and those that it starts, unless the user has set them."""
    own = {name: value for name, value in more.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


@contextmanager
def _tokens(more: Mapping[str, str]) -> Iterator[None]:
    """A Ray started inside this context is only for who has its token; afterwards Ray has forgotten it.

    Ray would write one into the user's home folder, and go on with it in this process.
    """
    before = os.environ.get(_MODE)
    with _environment(more):
        _read_again()
        try:
            yield
        finally:
            os.environ.pop(_MODE, None)
            if before is not None:
                os.environ[_MODE] = before
    _read_again()


def _read_again() -> None:
    """Let Ray read its variables again, which it does once otherwise."""
    inside: Any = import_module("ray._raylet")
    inside.Config.initialize("")
    inside.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _loopback() -> Iterator[None]:
    """A Ray that is started inside this context listens on the loopback address only."""
    constants: Any = import_module("ray._private.ray_constants")
    before, variable = constants.ENABLE_RAY_CLUSTER, os.environ.get(_LOOPBACK)
    constants.ENABLE_RAY_CLUSTER, os.environ[_LOOPBACK] = False, "0"
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        del os.environ[_LOOPBACK]
        if variable is not None:
            os.environ[_LOOPBACK] = variable


@contextmanager
def _muted() -> Iterator[None]:
    """Ray prints what its processes report, such as the death of one, to standard output; here it does not."""
    worker: Any = import_module("ray._private.worker")
    before = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False
    try:
        yield
    finally:
        worker._worker_logs_enabled = before


@contextmanager
def _signals() -> Iterator[None]:
    """Ray sets a handler for SIGTERM; afterwards the one from before is back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _folder() -> Iterator[str]:
    """A folder for Ray's logs and sockets. The paths of sockets must be short, so it does not follow TMPDIR."""
    folder = tempfile.mkdtemp(prefix="mohs-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
    try:
        yield folder
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)
