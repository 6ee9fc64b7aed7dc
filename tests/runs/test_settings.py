"""An option is written once: the command, the keyword, the manifest, the folder and the identity agree on it."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

import mohs
from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.report.view import View
from mohs.runs import verbs
from mohs.runs.carry_out import Unnamed
from mohs.runs.settings import Settings
from mohs.tasks.option import given, options_of
from tests.before.cases import ROWS
from tests.cli.conftest import Mohs
from tests.toys import predict

ROOT = Path(__file__).parents[2]
COMMANDS = ("attack", "second-order", "bias", "radius", "certify")
each_command = pytest.mark.parametrize("command", COMMANDS)


def flags_of(command: str) -> set[str]:
    group: Any = typer.main.get_command(app)
    return {flag for parameter in group.commands[command].params for flag in parameter.opts}


@each_command
def test_every_field_is_an_option_and_a_keyword(command: str) -> None:
    verb = verbs.verb_of(command)
    flags, keywords = flags_of(command), inspect.signature(getattr(mohs, verb.function)).parameters
    for kind in (verb, Settings):
        for f, told in options_of(kind):
            assert told.help.endswith((".", "...")), f.name
            assert ("examples" if f.name == "data" else f.name) in keywords
            if told.command:
                first = told.flags[0].partition("/")[0] if told.flags else f"--{f.name.replace('_', '-')}"
                assert first in flags


@each_command
def test_every_option_that_counts_names_the_folder(command: str) -> None:
    """So that no changed option lands in the default folder of another run: --most of second-order once did."""
    verb = verbs.verb_of(command)
    usual = Unnamed.of(Settings(), verb()).path
    for kind in (verb, Settings):
        for f, told in options_of(kind):
            if f.name in ("victim", "data"):
                continue
            value: Any = {"rate": "9"} if told.secret else "another"
            other: Any = {f.name: not f.default if isinstance(f.default, bool) else value}
            settings, asked = (Settings(**other), verb()) if kind is Settings else (Settings(), verb(**other))
            assert (Unnamed.of(settings, asked).path != usual) == told.counts, f.name


def test_secrets_do_not_name_a_folder() -> None:
    options = {"header": "Authorization: Bearer hunter2", "rate": "2"}
    assert given(Settings(victim_options=options))["victim_options"] == {"rate": "2"}


def test_a_changed_most_has_a_folder_of_its_own(mohs: Mohs, tmp_path: Path) -> None:
    for most in (50_000, 60_000):
        ended = mohs("bias", "-k", 0, "--n", 60, "--most", most)
        assert ended.returncode == 0, ended.stderr
    assert len(list((tmp_path / "mohs-runs").iterdir())) == 2


def test_a_default_folder_of_another_version_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mohs: Mohs
) -> None:
    """0.1.0 had other hashes in its names; what is in the folder decides."""
    assert mohs("attack", "--n", 3, "--attack", "random").returncode == 0
    (folder,) = (tmp_path / "mohs-runs").iterdir()
    folder.rename(folder.with_name("pocket-pocket-0ld0ld00"))
    ended = mohs("attack", "--n", 3, "--attack", "random")
    assert "In mohs-runs/pocket-pocket-0ld0ld00" in ended.stdout
    assert mohs("attack", "--n", 4, "--attack", "random").returncode == 0
    assert len(list((tmp_path / "mohs-runs").iterdir())) == 2


def test_the_help_promises_no_number_that_the_verb_decides() -> None:
    """--at-once of radius once promised 4, and took 16."""
    for kind in (Settings, *map(verbs.verb_of, COMMANDS)):
        for f, told in options_of(kind):
            if f.name == "at_once":
                assert not any(letter.isdigit() for letter in told.help)


@each_command
def test_one_name_from_the_keyword_to_the_manifest(command: str, tmp_path: Path) -> None:
    verb = verbs.verb_of(command)
    of_verb: dict[str, dict[str, Any]] = {"bias": {"k": 0}, "radius": {"time_limit": 60.0, "share": ["25%", "1"]}}
    options = of_verb.get(command, {})
    if command == "second-order":
        from tests.toys import Wordlike

        options = {"masked_lm": Wordlike(), "k": 1}
    if command == "radius":
        options |= {"together": True}
    victim: Any = "pocket" if command == "certify" else predict  # which can be certified
    with getattr(mohs, verb.function)(victim, ROWS, out=tmp_path / "run", **options) as run:
        config = yaml.safe_load((tmp_path / "run" / "manifest.yaml").read_text("utf-8"))["config"]
        assert run.manifest["tasks"] == sorted({record.attack for record in run.records()})
    known = {f.name for kind in (verb, Settings) for f, _ in options_of(kind)}
    assert set(config) <= known
    if command == "radius":
        assert (config["time_limit"], config["together"], config["attacks"]) == (60.0, True, [])
    elif command not in ("attack", "certify"):
        assert "attacks" not in config


@each_command
def test_only_texts_of_some_lengths(command: str, tmp_path: Path) -> None:
    verb = verbs.verb_of(command)
    of_verb: dict[str, dict[str, Any]] = {"attack": {"attacks": ["random"]}, "bias": {"k": 0}}
    options = of_verb.get(command, {})
    if command == "second-order":
        from tests.toys import Wordlike

        options = {"masked_lm": Wordlike(), "k": 1}
    short = ROWS[0][0]  # five words or six
    rows = [(short, 1), (f"{short} {short}", 1), (f"{short} {short} {short}", 1)]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    words = len(mohs.Text(short))
    for examples in (rows, str(file), mohs.Dataset(str(file))):
        told = {"least_words": 1, "most_words": 2 * words - 1}
        victim: Any = "pocket" if command == "certify" else predict
        with getattr(mohs, verb.function)(victim, examples, **told, **options) as run:
            assert [record.words for record in run.records()] == [words]
            assert {name: run.manifest["config"][name] for name in told} == told


def test_no_function_has_more_than_fifteen_parameters() -> None:
    long = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
                if count > 15:
                    long.append(f"{path.name}: {node.name} has {count}")
    assert long == []


def test_the_stub_is_up_to_date() -> None:
    build = importlib.import_module("scripts.build_stubs")
    assert build.STUB.read_text("utf-8") == build.stub(), "run python scripts/build_stubs.py"


def test_the_python_face() -> None:
    shown = dir(mohs)
    names = ["attack", "radius", "second_order_attack", "token_bias", "verify", "Run", "HfVictim", "Wrapper"]
    for name in [*names, "build_benchmark", "open_benchmark", "score_benchmark", "leaderboard"]:
        assert name in shown
        assert getattr(mohs, name).__doc__
    for room in ("attacks", "bounds", "bias", "models", "report", "runs", "space", "text", "training", "second_order"):
        assert room in shown
        assert inspect.ismodule(getattr(mohs, room))
    with pytest.raises(AttributeError):
        _ = mohs.nothing  # type: ignore[attr-defined]


def test_every_attack_is_importable() -> None:
    from mohs import attacks
    from mohs.attacks.catalogue import CATALOGUE

    for presets in CATALOGUE.values():
        for make in presets.values():
            kind = type(make())
            assert getattr(attacks, kind.__name__) is kind
            assert kind.__name__ in dir(attacks)


def test_what_a_run_offers_is_declared_for_type_checkers() -> None:
    """Run declares what the views offer; the one cannot grow without the other."""
    source = inspect.getsource(mohs.Run)
    for command in COMMANDS:
        view: type[View] = verbs.view_of(command)
        for name in view.offers:
            assert hasattr(view, name)
            assert f"def {name}(" in source
            assert name in (mohs.Run.__doc__ or "")


def test_reading_options_are_keywords_too(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("review,kind\na good film,1\na bad film,0\n")
    with mohs.attack(predict, tmp_path / "d.csv", "random", fields=["review"], label_field="kind", n=1) as run:
        assert [record.label for record in run.records()] == [1]
        assert run.manifest["config"]["fields"] == ["review"]
    with pytest.raises(BadInput, match="label_field is for reading a file, but the examples are not from a file"):
        mohs.attack(predict, ROWS, "random", label_field="kind")


def test_settings_are_values() -> None:
    kinds: list[Any] = [Settings, *map(verbs.verb_of, COMMANDS)]
    for kind in kinds:
        assert kind() == kind()
        assert len({f.name for f in fields(kind)}) == len(fields(kind))
