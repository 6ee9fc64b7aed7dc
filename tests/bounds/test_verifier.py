"""The second verifier: what it shares with mohs, and that it comes to the same results."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import mohs
from mohs import verifier
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.function import FunctionVictim
from mohs.text.text import split_words
from tests.bounds.conftest import holds
from tests.bounds.misbehaving import right, victim_of
from tests.bounds.test_misbehaving import GIVEN, rows
from tests.bounds.test_radius import FORGED
from tests.toys import Table


def test_it_imports_the_standard_library_alone() -> None:
    tree = ast.parse(Path(verifier.__file__).read_text("utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert names
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@given(st.text(st.sampled_from("aZé9 '’-_*@\u200c\u200d\u0301.,\n☺️ब्"), max_size=12))
def test_it_finds_the_same_words(string: str) -> None:
    words, gaps = split_words(string)
    parts = verifier.pieces(string)
    assert (parts[1::2], parts[0::2]) == (words, gaps)


@pytest.mark.parametrize("kind", ["right", "raises at some texts", "another release after a while"])
def test_certificates_hold_for_it_too(kind: str) -> None:
    with mohs.radius(victim_of(kind), rows(), at_once=1, **GIVEN) as run:
        certified = [row["certificate"] for row in run.radii() if "certificate" in row]
    assert certified
    assert [holds(json.dumps(one), right) for one in certified] == [True] * len(certified)


def test_certificates_in_closed_form_hold_for_it_too() -> None:
    bag = pocket_victim()
    with mohs.radius("pocket", [("a wonderful film", 1), ("a dull and boring story", 0)]) as run:
        certified = [row["certificate"] for row in run.radii() if "certificate" in row]
    assert certified
    for one in certified:
        assert one["by"] == "closed form"
        assert holds(json.dumps(one), lambda texts: bag.collect(bag.launch([(text,) for text in texts])))


ONE = Table(tuple((word, ("x",)) for word in "abc"))


def predict(texts: list[str]) -> list[list[float]]:
    return [[0.1, 0.9] if text.count("x") > 2 else [0.9, 0.1] for text in texts]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    source = Table(tuple((word, ("x", "y")) for word in "abc"))
    with mohs.radius(FunctionVictim(predict), [("a b c", 0)], source=source, stopwords="none", max_r=2) as run:
        found: dict[str, Any] = run.radii()[0]["certificate"]
    return found


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_certificates_do_not_hold(forge: Any, certificate: dict[str, Any]) -> None:
    row = json.loads(json.dumps(certificate))
    assert holds(json.dumps(row), predict)
    forge(row)
    assert holds(json.dumps(row), predict) is False


@pytest.mark.parametrize(
    "odd",
    [
        {"margin": None},
        {"margin": [0.5]},
        {"size": "6"},
        {"size": 6.0},
        {"pruned": False},
        {"digest": ["0"] * 32},
        {"where": 7},
        {"where": [7]},
        {"where": [[0, "x", 1]]},
        {"where": [["0", "x"]]},
        {"where": [[0, "x"], [0, "x"]]},
        {"where": {"0": "x"}},
    ],
    ids=str,
)
def test_a_level_with_odd_values_is_broken(odd: dict[str, Any], certificate: dict[str, Any]) -> None:
    row = json.loads(json.dumps(certificate))
    row["levels"][1].update(odd)
    assert holds(json.dumps(row), predict) is False


@pytest.mark.parametrize("space", [None, 5, [], {}, {"size": "19"}], ids=str)
def test_an_odd_space_is_broken(space: Any, certificate: dict[str, Any]) -> None:
    assert holds(json.dumps({**certificate, "space": space}), predict) is False


def moody(texts: list[str]) -> list[list[float]]:
    raise OSError("no memory")


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a certificate."""
    yield path
    for key in part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ():
        yield from places(part[key], (*path, key))


def others(value: Any) -> list[Any]:
    """What may stand there instead of a value."""
    if isinstance(value, str):
        return ["", None, 5, f"{value}x", value.upper(), [value]]
    if isinstance(value, list):
        return [[], None, "x", {}, value + value, value[:-1], value[::-1]]
    if isinstance(value, dict):
        return [{}, None, [], {**value, "more": 1}, dict(list(value.items())[1:])]
    return [
        None,
        -1,
        0.5,
        1e300,
        10**30,
        str(value),
        True,
        [value],
        *([] if value is None else [value + 1, value * 1.5]),
    ]


def test_whatever_is_changed_both_verifiers_end_in_a_sentence_and_agree(
    certificate: dict[str, Any], tmp_path: Path
) -> None:
    names_only = {("victim",), ("example",), ("fingerprint",), ("tolerance",)}  # the second verifier cannot check them
    changes = [(path, new) for path in places(certificate) if path for new in others(at(certificate, path))]
    held = 0
    for path, new in Random(0).sample(changes, 200):
        row = json.loads(json.dumps(certificate))
        at(row, path[:-1])[path[-1]] = new
        if row == certificate:
            continue
        (tmp_path / "c.json").write_text(json.dumps(row), "utf-8")
        second = holds(json.dumps(row), predict)
        try:
            ((_, checked),) = mohs.verify(tmp_path / "c.json", FunctionVictim(predict))
            first = checked.sound
        except BadInput:
            first = False
        held += first
        if path[0] != "space" and path not in names_only:
            assert first == second, (path, new)
    assert held < 40  # other words, other names: true of another space, which --rebuild finds


def at(part: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        part = part[key]
    return part


def test_a_victim_that_raises_breaks_a_certificate(certificate: dict[str, Any]) -> None:
    def raising(texts: list[str]) -> list[list[float]]:
        raise OSError("gone")

    with pytest.raises(verifier.Broken, match="the victim raised OSError: gone"):
        verifier.verify(verifier.read(json.dumps(certificate)), raising, 100)


def test_what_is_no_certificate() -> None:
    for written in ('{"radius": 1, "radius": 2}', '{"tolerance": Infinity}', "[" * 100_000, "[]", "7", "{}", "{"):
        with pytest.raises(verifier.Broken):
            verifier.read(written)


def test_a_certificate_that_hides_how_its_space_was_built_does_not_pass(
    certificate: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The statement can be dropped by calling a certificate an old one: neither verifier lets that pass."""
    few = [[place, words[:1]] for place, words in certificate["choices"]]
    with mohs.radius(FunctionVictim(predict, name="v"), [("a b c", 0)], source=ONE, stopwords="none", max_r=2) as run:
        other: dict[str, Any] = run.radii()[0]["certificate"]
    assert other["choices"] == few
    old = {**{name: other[name] for name in other if name != "space"}, "format": "mohs-certificate-2"}
    (tmp_path / "c.jsonl").write_text(json.dumps(old), "utf-8")
    victim = FunctionVictim(predict, name="v")
    ((_, checked),) = mohs.verify(tmp_path / "c.jsonl", victim)
    assert (checked.sound, checked.unstated) == (False, True)
    assert "does not say how its space was built" in checked.why
    ((_, checked),) = mohs.verify(tmp_path / "c.jsonl", victim, sample=1)
    assert (checked.sound, checked.unstated) == (False, True)
    ((_, checked),) = mohs.verify(tmp_path / "c.jsonl", victim, accept_old=True)
    assert (checked.sound, checked.unstated) == (True, False)
    asked = [str(tmp_path / "c.jsonl"), "--victim", "tests.bounds.test_verifier:predict"]
    assert verifier.main(asked) == 3
    assert "but does not say how its space was built" in capsys.readouterr().out
    assert verifier.main([*asked, "--accept-old"]) == 0
    (tmp_path / "c.jsonl").write_text(json.dumps({**old, "label": 1}), "utf-8")
    ((_, checked),) = mohs.verify(tmp_path / "c.jsonl", victim)
    assert (checked.sound, checked.unstated) == (False, False)  # broken is more than unstated
    assert verifier.main(asked) == 1


def test_its_command(certificate: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, wide = json.dumps(certificate), json.dumps({**certificate, "label": 1})
    cases = [(good, [], 0, "1: holds in all 19 texts."), (good, ["--most", "5"], 3, "1: not checked: it speaks of 19")]
    for told, more, code, said in [*cases, (f"{good}\n{wide}", [], 1, "2: broken: the label does not hold")]:
        (tmp_path / "c.jsonl").write_text(told, "utf-8")
        victim = "tests.bounds.test_verifier:predict"
        assert verifier.main([str(tmp_path / "c.jsonl"), "--victim", victim, *more]) == code
        assert said in capsys.readouterr().out
    assert verifier.main([str(tmp_path / "none.jsonl"), "--victim", "tests.toys:predict"]) == 2
    assert verifier.main([str(tmp_path / "c.jsonl"), "--victim", "tests.bounds.test_verifier:moody"]) == 1
    assert "1: broken: the victim raised OSError: no memory." in capsys.readouterr().out
