"""`python:module:function`, and Python callables: functions from texts to class scores."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import sysconfig
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mohs.engine import AtOnce, by_size
from mohs.errors import BadInput, MohsError, VictimError, instead
from mohs.models.victim import Fields, Output, Scores, at_least, declared, scores

Function = Callable[[list[Any]], Any]
_WRONG_KIND_ERRORS = (AttributeError, TypeError, ValueError)  # typical errors of code that gets the wrong type


class FunctionVictim(AtOnce):
    """A victim made of a Python function from a list of texts (tuples for pairs) to class scores."""

    exact = False

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        output: Output | str = Output.PROBABILITIES,
        labels: Sequence[str] = (),
        batch: int = 256,
        rejects: bool = False,  # whether its last score means that it rejects the text
        fingerprint: str | None = None,
    ) -> None:
        called = getattr(function, "__qualname__", type(function).__name__)
        self.name = name or f"python:{getattr(function, '__module__', '?')}:{called}"
        self.output = declared(output)
        at_least(1, batch=batch)
        self.labels = tuple(labels)
        self.hard = self.output is Output.LABELS
        self.rejects = rejects
        self.fingerprint = fingerprint or _fingerprint(function, self.name, self.output, named=name is not None)
        self._function = function
        self.made_of: Any = function  # and `module`: where its code comes from, see mohs.models.origin
        known_by_place = _plain(function) and name is None and fingerprint is None
        self.module: str | None = function.__module__ if known_by_place else None
        self._batch = batch
        self._classes: int | None = len(self.labels) + rejects if self.labels else None
        if self.hard and not self.labels:
            raise BadInput(f"{self.name} gives labels only; name its classes, as in --labels negative,positive.")

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Batches of at most `batch` texts, longest first."""
        return by_size(items, lambda fields: sum(map(len, fields)), self._batch)

    def collect(self, ticket: list[Fields]) -> list[Scores]:
        """Call the function and check its answers."""
        texts = [fields[0] if len(fields) == 1 else fields for fields in ticket]
        try:
            raw = self._function(texts)
        except MohsError:
            raise
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            if isinstance(error, _WRONG_KIND_ERRORS) and any(isinstance(text, tuple) for text in texts):
                reason += (
                    "; the data are pairs, so the function gets tuples of texts: "
                    "if it reads single texts, name one column with --text-field."
                )
            raise VictimError(f"{self.name} raised {reason}") from error
        answers = scores(self.name, raw, len(ticket), self.output, self._classes)
        self._classes = len(answers[0])
        return answers

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """None: a function reads the whole text."""
        return None


def load_function(spec: str, **options: Any) -> FunctionVictim:
    """Load the victim named by `module:function`; modules in the current folder are found too."""
    module, _, attribute = spec.partition(":")
    if not module or not attribute:
        raise BadInput(f"python:{spec} names no function; write python:module:function.")
    _find_here()
    try:
        function: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        found = not module.startswith(error.name or "?")
        remedy = "install it" if found else "run from the folder that holds it, or install it"
        raise BadInput(f"python:{spec}: {error}; {remedy}.") from error
    except (Exception, SystemExit) as error:  # importing a module may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(f"python:{spec}: importing {module} failed with {reason}") from error
    for part in attribute.split("."):
        if not hasattr(function, part):
            raise BadInput(f"python:{spec}: the module {module} has no {attribute!r}{instead(part, function)}.")
        function = getattr(function, part)
    if not callable(function):
        raise BadInput(f"python:{spec} is a {type(function).__name__}, not a function.")
    made = FunctionVictim(function, name=f"python:{spec}", **options)
    made.module = module
    return made


def _plain(function: Function) -> bool:
    return inspect.isfunction(function) and not function.__closure__


def _find_here() -> None:
    """Let modules in the current folder be found: before installed packages, but after the standard library.

    A file there called json.py or multiprocessing.py must not take the place of Python's own.
    """
    here = str(Path.cwd())
    first = sys.path.index(here) if here in sys.path else len(sys.path)
    own = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")}
    own |= {f"{place}/lib-dynload" for place in own}
    after = max((at + 1 for at, place in enumerate(sys.path) if place in own), default=0)
    if here in sys.path and first >= after:
        sys.path.remove(here)
    if here not in sys.path:
        sys.path.insert(after, here)


def _fingerprint(function: Function, name: str, output: Output, named: bool) -> str:
    """A hash of the function's source file and its place there.

    The data inside a closure or an object are not visible. So unless the user names it, each one gets a random
    fingerprint, and neither a cache nor a resumed run can mix two of them up.
    """
    if not _plain(function) and not named:
        return uuid.uuid4().hex[:16]
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        source = Path(file).read_bytes() if file else b""
    except (TypeError, OSError):  # built-ins, objects with __call__, code typed at a prompt
        source = b""
    code = getattr(function, "__code__", None)
    place = list(code.co_positions()) if code else []  # tells apart the lambdas of one file
    return hashlib.sha256(source + f"{name}/{output}/{place}".encode()).hexdigest()[:16]
