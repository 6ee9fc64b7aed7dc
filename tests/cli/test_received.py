"""Run folders, configs and working folders that come from others."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from mohs.cli.saying import Terminal
from mohs.report.template import written
from mohs.report.terminal import SafeConsole
from tests.cli.conftest import ROOT, Mohs

PRECIOUS = "precious\n"


@pytest.mark.parametrize(
    ("link", "command"),
    [
        ("lock", ["attack", "--n", 3, "--attack", "textfooler", "--out", "run"]),
        ("journal.sqlite-wal", ["attack", "--n", 3, "--attack", "textfooler", "--out", "run"]),
        ("report.html.part", ["report", "run"]),
        ("adversarial.jsonl.part", ["attack", "--n", 3, "--attack", "textfooler", "--out", "run"]),
        ("audit.jsonl", ["audit", "run"]),
        ("audit.html.part", ["audit", "run"]),
    ],
)
def test_nothing_is_written_through_a_link(tmp_path: Path, mohs: Mohs, link: str, command: list[object]) -> None:
    made = mohs("attack", "--n", 3, "--attack", "textfooler", "--out", "run")
    assert made.returncode == 0, made.stderr
    (tmp_path / "mine.txt").write_text(PRECIOUS)
    (tmp_path / "run" / link).unlink(missing_ok=True)
    (tmp_path / "run" / link).symlink_to(tmp_path / "mine.txt")
    told = mohs(*command)
    assert (tmp_path / "mine.txt").read_text() == PRECIOUS
    assert told.returncode == 2
    assert told.stderr == f"mohs: run/{link} is a symbolic link, through which mohs does not write; delete it.\n"


def test_a_linked_journal_is_read_and_not_written(tmp_path: Path, mohs: Mohs) -> None:
    command = ["attack", "--n", 3, "--attack", "textfooler", "--out", "run"]
    mohs(*command)
    figures = mohs("report", "run", "--no-page").stdout
    journal = tmp_path / "run" / "journal.sqlite"
    journal.rename(tmp_path / "elsewhere")
    journal.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    assert mohs("report", "run", "--no-page").stdout == figures
    assert "run/journal.sqlite is a symbolic link" in mohs(*command).stderr
    assert (tmp_path / "elsewhere").read_bytes() == before
    (tmp_path / "empty").touch()
    journal.unlink()
    journal.symlink_to(tmp_path / "empty")
    assert mohs("report", "run", "--no-page").returncode == 2
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_linked_page_is_replaced(tmp_path: Path, mohs: Mohs) -> None:
    mohs("attack", "--n", 3, "--attack", "textfooler", "--out", "run")
    (tmp_path / "mine.txt").write_text(PRECIOUS)
    (tmp_path / "run" / "report.html").unlink()
    (tmp_path / "run" / "report.html").symlink_to(tmp_path / "mine.txt")
    assert mohs("report", "run").returncode == 0
    assert (tmp_path / "mine.txt").read_text() == PRECIOUS
    assert not (tmp_path / "run" / "report.html").is_symlink()


def test_what_lies_below_dev_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If standard output is a file, /dev/stdout leads to one, but a rename would replace the link itself.

    A folder of the test's own stands in for /dev: the real one belongs to the whole machine.
    """
    (tmp_path / "out.txt").write_text("")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "stdout").symlink_to(tmp_path / "out.txt")
    monkeypatch.setattr("mohs.assets.writing._NO_FILES", (tmp_path / "dev",))
    assert written("a page", tmp_path / "dev" / "stdout")
    assert (tmp_path / "dev" / "stdout").is_symlink()
    assert (tmp_path / "out.txt").read_text() == "a page"
    assert [path.name for path in (tmp_path / "dev").iterdir()] == ["stdout"]


@pytest.mark.parametrize("start", [["-m", "mohs"], ["-P", "-c", "from mohs.cli import main; main()"]])
@pytest.mark.parametrize("victim", ["pocket", "python:mine:predict"])
def test_modules_of_the_current_folder_take_no_place(tmp_path: Path, start: list[str], victim: str) -> None:
    """Not in the first process, nor in workers, which Python starts with `-c`. A victim there is found all the same."""
    names = ["json", "multiprocessing", "sqlite3", "selectors", "csv"]
    for name in names if victim != "pocket" else [*names, "lazy_loader", "typer", "yaml", "numpy"]:
        (tmp_path / f"{name}.py").write_text(f"open('sprung-{name}', 'w')\nraise SystemExit(77)\n")
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "assert os.environ.get('PYTHONSAFEPATH') is None\n"
        "def predict(texts):\n"
        "    return [[0.2, 0.8] if 'good' in text else [0.8, 0.2] for text in texts]\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    ended = subprocess.run(
        [sys.executable, *start, "attack", "--victim", victim, "--n", "4", "--attack", "random", "--workers", "2"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [path.name for path in tmp_path.glob("sprung*")] == []
    assert ended.returncode == 0, ended.stderr


ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r"


def test_no_escape_code_reaches_the_terminal(tmp_path: Path, mohs: Mohs) -> None:
    """Whether it comes from ids, names of classes, texts, a victim's errors, or a config."""
    rows = [{"id": f"{ESCAPE}{n}", "text": f"good film {n}{ESCAPE}", "label": f"plus{ESCAPE[:-1]}"} for n in range(4)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "loud.py").write_text(
        f"E = {ESCAPE!r}\n"
        "def predict(texts):\n"
        "    if any('2' in text for text in texts):\n"
        "        raise ValueError(E)\n"
        "    return [[0.1, 0.9] if 'good' in text else [0.9, 0.1] for text in texts]\n"
    )
    labels = f"minus{ESCAPE[:-1]},plus{ESCAPE[:-1]}"
    command = ["attack", "--victim", "python:loud:predict", "--data", "d.jsonl", "--labels", labels, "--out", "run"]
    ended = mohs(*command, "-v")
    assert ended.returncode == 3, ended.stderr
    assert "\ufffd" in ended.stderr
    (tmp_path / "c.yaml").write_text(json.dumps({"victim": ESCAPE}))
    (tmp_path / "d2.jsonl").write_text(json.dumps({"text": "x", "label": ESCAPE}))
    for said in (
        ended,
        mohs("report", "run", "-v"),
        mohs("report", "run", "--json"),
        mohs("audit", "run"),
        mohs("attack", "--config", "c.yaml"),
        mohs("attack", "--data", "d2.jsonl"),
        mohs("export", "run", "--outcome", f"x{ESCAPE}"),
    ):
        assert said.stdout + said.stderr
        assert not re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said.stdout + said.stderr)


def test_a_table_on_a_terminal_has_no_escape_codes() -> None:
    class Shown(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, expected in ((Shown(), "a\ufffd[2J\n"), (io.StringIO(), "a\x1b[2J\r\n")):
        Terminal(stream).write("a\x1b[2J\r\n")
        assert stream.getvalue() == expected


def test_a_console_keeps_its_own_codes_alone() -> None:
    console = SafeConsole(file=io.StringIO(), force_terminal=True, color_system="standard", width=60)
    table = Table("name\x1b[2J")
    table.add_row(Text("cell\x1b]0;x\x07", style="bold"))
    console.print(table, "plain\x9b2J")
    found = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1m" in found
    assert not [code for code in ("\x1b[2J", "\x1b]", "\x07", "\x9b") if code in found]
