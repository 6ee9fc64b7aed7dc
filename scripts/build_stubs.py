"""Write src/mohs/runs/api.pyi: the functions of all verbs with their full signatures, for type checkers and editors.

    python scripts/build_stubs.py [--check]

The functions themselves are made from the options of the verbs when they are imported, which no type checker sees.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from mohs.runs.api import docstring_of, signature_of
from mohs.runs.verbs import commands, verb_of

STUB = Path(__file__).parents[1] / "src" / "mohs" / "runs" / "api.pyi"
_HEAD = """# Written by scripts/build_stubs.py from the options of the verbs; do not edit.
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.attacks.method import Attack
from mohs.attacks.named_entities import NamedEntities
from mohs.bias.pairs import Pairs
from mohs.bounds.share import Share
from mohs.models.load import AnyVictim
from mohs.runs.carry_out import Progress as Progress
from mohs.runs.run import Run
from mohs.second_order.searches import SecondOrder
from mohs.space import Constraint, Measure, Source
from mohs.tasks.plan import Verb
from mohs.text.dataset import AnyExamples

def function_of(verb: type[Verb]) -> Callable[..., Run]: ...
def signature_of(verb: type[Verb]) -> inspect.Signature: ...
def docstring_of(verb: type[Verb]) -> str: ...
"""


def stub() -> str:
    """The text of the stub."""
    found = []
    for verb in map(verb_of, commands()):
        if not verb.__module__.startswith("mohs."):  # somebody else's, registered in this process
            continue
        lines = [f"def {verb.function}("]
        star = False
        for name, parameter in signature_of(verb).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                lines.append("    *,")
                star = True
            default = "" if parameter.default is parameter.empty else f" = {_written(parameter.default)}"
            lines.append(f"    {name}: {parameter.annotation}{default},")
        lines.append(") -> Run:")
        about = docstring_of(verb).rstrip()
        lines.append(textwrap.indent(f'"""{about}\n"""', "    "))
        found.append("\n".join(lines) + "\n")
    return _HEAD + "\n".join(found)


def _written(default: object) -> str:
    return str(default).replace("'", '"') if isinstance(default, tuple) else repr(default).replace("'", '"')


if __name__ == "__main__":
    text = stub()
    if "--check" in sys.argv:
        sys.exit(0 if STUB.read_text("utf-8") == text else f"{STUB} is old; run python scripts/build_stubs.py.")
    STUB.write_text(text, "utf-8")
