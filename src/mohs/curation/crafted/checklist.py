"""CheckList's minimum functionality tests: templates whose labels are known (Ribeiro et al. 2020).

The bundled templates test temporal awareness and negation, the two capabilities that AdvGLUE takes. A user's own YAML
file has the same form: `slots`, and `tests` with a name, a capability, a label and texts.

Differs from AdvGLUE: its sentences come from the suites that CheckList released; those here are the project's own, and
questions whose answer can be argued about (such as "What is not Ron's profession?") have no counterpart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.crafted.templates import Slots, Template, Value
from mohs.errors import BadInput
from mohs.records.limited_yaml import read_yaml
from mohs.studies.reading import Fault, Reader
from mohs.text.book_files import only_file, read_text

BUNDLED = ("sentiment", "paraphrase", "qnli")
EACH = 50  # examples of each template


class Test(NamedTuple):
    """Templates that test the same, with one label."""

    name: str
    capability: str
    label: str
    templates: tuple[Template, ...]


class Suite(NamedTuple):
    """The tests of a file."""

    tests: tuple[Test, ...]
    slots: Slots
    licence: str


def checklist(order: Order) -> Iterator[CraftedExample]:
    """Examples from the user's file, or from the bundled templates of a kind of task.

    Options: `each`, the most examples that are drawn from one template; `capabilities` and `tests`, names of those
    that are wanted.
    """
    options = Reader(dict(order.options), "options")
    each = options.whole("each", 1, 1_000_000, EACH)
    capabilities, names = _listed(options, "capabilities"), _listed(options, "tests")
    options.end()
    suite = suite_of(order.file, order.kind)
    _refuse_unknown("capability", capabilities, [test.capability for test in suite.tests])
    _refuse_unknown("test", names, [test.name for test in suite.tests])
    for number, test in enumerate(suite.tests, 1):
        if test.capability in (capabilities or [test.capability]) and test.name in (names or [test.name]):
            yield from _examples(suite, test, number, order, each)


def _examples(suite: Suite, test: Test, number: int, order: Order, each: int) -> Iterator[CraftedExample]:
    for place, template in enumerate(test.templates, 1):
        random = Random(f"{order.seed}/{test.name}/{'/'.join(template.texts)}")
        for count, texts in enumerate(template.filled(suite.slots, each, random), 1):
            yield CraftedExample(
                f"{number}.{place}.{count}",
                texts,
                test.label,
                f"checklist: {test.capability}: {test.name}",
                order.licence or suite.licence,
            )


def suite_of(file: str, kind: str) -> Suite:
    """The tests in a user's file; without one, those that are bundled for a kind of task."""
    if file:
        return _read(read_text(only_file(Path(file).expanduser(), (".yaml", ".yml"))), file)
    if kind not in BUNDLED:
        raise Fault(f"there are bundled templates for {', '.join(BUNDLED)}, not for {kind}; name a file with your own")
    return _read((files("mohs.curation.crafted") / f"{kind}.yaml").read_text("utf-8"), f"{kind}.yaml")


def _read(text: str, place: str) -> Suite:
    try:
        read = Reader(read_yaml(text), "")
        read.text("kind", "")
        suite = Suite(tuple(_test(one, place) for one in read.parts("tests")), _slots(read), read.text("licence", ""))
        read.end()
    except Fault as fault:
        raise BadInput(f"The templates {place}: {fault}.") from fault
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{place} is not YAML ({' '.join(str(error).split())[:200]}).") from error
    if not suite.tests:
        raise BadInput(f"The templates {place} have no tests; give a list with name, label and texts.")
    for test in suite.tests:
        for template in test.templates:
            template.check(suite.slots)
    return suite


def _test(read: Reader, place: str) -> Test:
    name, given = read.text("name"), _any(read, "texts")
    texts = [[one] if isinstance(one, str) else one for one in given] if isinstance(given, list) else []
    if not texts or not all(isinstance(one, list) and _are_texts(one) for one in texts):
        raise Fault(f"the test {name} needs texts: a list of templates, or of lists with a template for each field")
    templates = tuple(Template(tuple(one), f"{place}: the template {' / '.join(one)!r}") for one in texts)
    found = Test(name, read.text("capability", "other"), read.text("label"), templates)
    read.end()
    return found


def _slots(read: Reader) -> dict[str, Sequence[Value]]:
    given = _any(read, "slots") or {}
    if not isinstance(given, dict):
        raise Fault("slots must be lists of values by name, as in `job: [nurse, pilot]`")
    for name, values in given.items():
        if not isinstance(values, list) or not values:
            raise Fault(f"the slot {name} must be a list of values")
        for value in values:
            if not isinstance(value, str) and not (isinstance(value, list) and _are_texts(value)):
                raise Fault(
                    f"the slot {name} has {value!r}; each value is a text in quotation marks, or a list of them"
                )
        if len({str(value) for value in values}) < len(values):
            raise Fault(f"the slot {name} has a value twice")
    return {str(name): values for name, values in given.items()}


def _are_texts(values: Sequence[object]) -> bool:
    return bool(values) and all(isinstance(one, str) for one in values)


def _listed(read: Reader, name: str) -> list[str]:
    """A list of names; empty if there is none."""
    return read.texts(name) if _any(read, name) is not None else []


def _any(read: Reader, name: str) -> Any:
    """A value of any form."""
    with suppress(Fault):
        read.texts(name)  # from here on it counts as read
    return read.given(name)


def _refuse_unknown(what: str, wanted: Sequence[str], there: Sequence[str]) -> None:
    for one in wanted:
        if one not in there:
            raise BadInput(
                f"There is no {what} {one!r} among the templates; there are {', '.join(sorted(set(there)))}."
            )
