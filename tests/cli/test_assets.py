"""`mohs assets`, as a user types it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mohs.assets import registry
from mohs.assets.asset import Asset
from mohs.assets.fetch import Watch
from mohs.cli.assets import app, pull
from mohs.errors import BadInput
from tests.assets.conftest import CONTENT, WORDS, Server, root, running, server, toy, whole

__all__ = ["root", "running", "server", "toy"]


REAL = registry.ASSETS


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch, toy: Asset, root: Path) -> None:
    own = Asset("own", "sememes", "Ours", "research", "--own", (("own.json",),))
    monkeypatch.setattr(registry, "ASSETS", (toy, own))
    monkeypatch.setenv("MOHS_ASSETS", str(root))
    monkeypatch.setenv("COLUMNS", "120")


def run(*arguments: object, code: int = 0) -> Result:
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == code, ended.output
    return ended


def refused(*arguments: object) -> str:
    """The sentence that `main` prints, with exit code 2."""
    ended = run(*arguments, code=1)
    assert isinstance(ended.exception, BadInput), ended.exception
    return str(ended.exception)


@pytest.mark.parametrize("command", ["list", "pull", "path", "check"])
def test_help_has_examples(command: str) -> None:
    shown = run(command, "--help").stdout
    assert f"Examples:\n    mohs assets {command}" in shown


def test_from_nothing_to_installed(root: Path) -> None:
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "toy", "own"]
    assert "  not installed  " in lines[1]
    assert "  only with --from  " in lines[2]
    pulled = run("pull", "toy")
    assert pulled.stdout == f"toy: installed in {root / 'toy'} (2 files, 0.4 MB)\n"
    assert pulled.stderr == ""
    assert run("pull", "toy", "toy").stdout.startswith("toy: was already installed in ")
    assert run("path", "toy").stdout == f"{root / 'toy'}\n"
    _, there, absent = run("list").stdout.splitlines()
    assert "installed" in there
    assert "not installed" not in there
    assert "  only with --from  " in absent


def test_names_are_whole_in_a_narrow_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ASSETS", REAL)
    monkeypatch.setenv("COLUMNS", "70")
    shown = {line.split("  ")[0] for line in run("list").stdout.splitlines()}
    assert {asset.name for asset in REAL} <= shown
    assert run("list").stdout.count("installed") == len([asset for asset in REAL if asset.pullable])


def test_more_words(root: Path, server: Server) -> None:
    assert f"used by --toy\n  `mohs assets pull toy`\n  {server.address}/0" in run("list", "--verbose").stdout
    assert run("pull", "toy", "-v").stdout.count("\n  ") == 2
    assert "source: " + server.address in run("path", "toy", "-v").stdout


def test_the_folder(root: Path) -> None:
    assert run("path").stdout == f"{root}\n"
    assert json.loads(run("path", "--json").stdout) == {"path": str(root)}
    assert not root.exists()


def test_what_is_not_there() -> None:
    assert refused("path", "toy").endswith("; get it with `mohs assets pull toy`.")
    assert refused("path", "tyo") == "There is no asset 'tyo'; did you mean toy?"
    assert refused("pull", "own").endswith("`mohs assets pull own --from DIR`, where DIR holds own.json.")
    assert refused("check", "toy").endswith("; get it with `mohs assets pull toy`.")


def test_all_names_are_looked_up_before_any_is_fetched(server: Server) -> None:
    assert "There is no asset 'other'" in refused("pull", "toy", "other")
    assert server.asked == []


def test_json(root: Path) -> None:
    (pulled,) = json.loads(run("pull", "toy", "--json").stdout)
    assert pulled["already"] is False
    (again,) = json.loads(run("pull", "toy", "--json").stdout)
    assert again["already"] is True
    listed = json.loads(run("list", "--json").stdout)
    assert {**listed[0], "already": False} == pulled
    assert [row["installed"] for row in listed] == [True, False]
    assert listed[0]["bytes"] == len(WORDS) + 2
    found = json.loads(run("path", "toy", "--json").stdout)
    assert found["fingerprint"] == listed[0]["fingerprint"]
    assert json.loads(run("check", "--json").stdout) == [
        {"name": "toy", "files": 2, "fingerprint": found["fingerprint"]}
    ]


def test_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text("{}")
    assert run("pull", "own", "--from", tmp_path / "own.json").stdout.endswith(
        "(1 file, 0.0 MB; no checksum is known to compare it with)\n"
    )
    assert refused("pull", "own", "toy", "--from", tmp_path) == "--from installs one asset at a time; 2 are named."


def test_check_reads_every_byte(root: Path) -> None:
    assert run("check").stdout == ""
    run("pull", "toy")
    assert run("check").stdout == "toy: whole\n"
    (root / "toy" / "words.bin").write_bytes(bytes(len(WORDS)))
    assert (
        "is damaged (words.bin does not have the sha256 noted at installation); "
        "get it again with `mohs assets pull toy --force`"
    ) in refused("check")
    run("pull", "toy", "--force")
    assert run("check", "toy").stdout == "toy: whole\n"


def test_what_happens_on_the_way_goes_to_standard_error(server: Server, root: Path) -> None:
    root.mkdir()
    (root / "pack-1.zip.part").write_bytes(CONTENT[:10])
    server.ways["/0"] = whole(CONTENT)
    ended = run("pull", "toy", "--json")
    assert "cannot resume a download; starting over." in ended.stderr
    assert json.loads(ended.stdout)[0]["installed"]


def test_an_interruption_says_what_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Watch, done: int, total: int | None) -> None:
        if done >= 100_000:
            raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "moved", stop)
    ended = run("pull", "toy", code=130)
    kept = (root / "pack-1.zip.part").stat().st_size
    assert ended.stderr.startswith(f"mohs: {kept / 1e6:.1f} MB of toy are kept; run again to resume.\n")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    root.mkdir()
    (root / "pack-1.zip.part").write_bytes(CONTENT + b"!")
    pull(["toy"])
    assert "was longer than the file should be" in terminal.getvalue()
    assert "400.4/400.4 kB" in terminal.getvalue()
