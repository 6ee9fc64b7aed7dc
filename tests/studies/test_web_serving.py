"""The command that serves a study, as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from mohs.errors import BadInput
from mohs.studies.study import Study
from mohs.studies.web import serve
from tests.studies.toys import design, items


@contextmanager
def served(place: Path, *more: str, ends_by: int = signal.SIGINT, **environment: str) -> Iterator[list[str]]:
    """`mohs study serve`. What it says is in the list: its first lines at once, and the others when it has ended."""
    command = [sys.executable, "-m", "mohs", "study", "serve", str(place), "--port", "0", *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | environment
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while not (lines and lines[-1].startswith("Links for")):
            line = process.stdout.readline()
            assert line, lines
            lines.append(line.rstrip("\n"))
        yield lines
        process.send_signal(ends_by)
        rest, _ = process.communicate(timeout=60)
        lines += rest.splitlines()
        lines.append(f"exit {process.returncode}")
    finally:
        process.kill()
        process.communicate()


def made(folder: Path) -> tuple[Path, str]:
    """A study, and somebody's token."""
    with Study.create(folder / "study", design(), items(7)) as study:
        return folder / "study", study.invite(["ada"])[0].token


@pytest.mark.parametrize("ends_by", [signal.SIGINT, signal.SIGTERM])
def test_serving_until_it_is_ended(tmp_path: Path, ends_by: int) -> None:
    place, token = made(tmp_path)
    with served(place, ends_by=ends_by) as lines:
        found = re.fullmatch(
            rf"Serving {re.escape(str(place))} on (http://127\.0\.0\.1:\d+); Ctrl-C ends it\.", lines[0]
        )
        assert found
        address = found[1]
        with Study.open(place) as study:
            secret = study.code("organiser")
        assert lines[1:] == [
            f"Organiser: {address}/organiser",
            f"Token: {secret}",
            f"Links for annotators: mohs study invite {place} --n 5 --url {address}",
        ]
        said = list(lines)
        with httpx.Client(base_url=address) as client:
            assert client.get("/health").json() == {"ok": True}
            assert client.get(f"/a/{token}").status_code == 200
            assert client.get(f"/a/{token}x").status_code == 404
            assert client.get("/organiser", params={"token": secret}).status_code == 200
            assert "server" not in client.get("/").headers
            assert client.get("/", headers={"host": "evil.example"}).status_code == 421
            forwarded = {"x-forwarded-proto": "https"}  # there is no proxy whose word counts
            answer = client.post("/organiser/sign-in", data={"token": secret}, headers=forwarded)
            assert answer.status_code == 303
            assert "Secure" not in answer.headers["set-cookie"]
    assert lines[len(said) :] == ["Ended. Every answer that was given is kept.", "exit 0"], "nothing else was logged"


def test_the_organisers_own_token_is_not_printed(tmp_path: Path) -> None:
    place, _ = made(tmp_path)
    secret = "a token of their own"
    with served(place, "--url", "https://study.example.org/first/", MOHS_ORGANISER=secret) as lines:
        port = re.findall(r":(\d+);", lines[0])[0]
        answer = httpx.post(
            f"http://127.0.0.1:{port}/organiser/sign-in",
            data={"token": secret},
            headers={"host": "study.example.org"},
        )
        assert answer.status_code == 303
        assert "Path=/first/organiser" in answer.headers["set-cookie"]
    assert "Organiser: https://study.example.org/first/organiser" in lines
    assert "Token: the value of MOHS_ORGANISER" in lines
    assert secret not in "\n".join(lines)


@pytest.mark.parametrize(
    "url", ["study.example.org", "ftp://example.org", "https://", "https://a:b@c", "https://x.org/?a", "http://[x"]
)
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    place, _ = made(tmp_path)
    with (
        Study.open(place) as study,
        pytest.raises(BadInput, match="is not the address of a site; write it as https://"),
    ):
        serve(study, port=0, public=url)


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    place, _ = made(tmp_path)
    with socket.socket() as other, Study.open(place) as study:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=rf"^Port {port} of 127.0.0.1 cannot be used .* choose another --port"):
            serve(study, port=port)


def test_a_host_that_is_none(tmp_path: Path) -> None:
    place, _ = made(tmp_path)
    with Study.open(place) as study, pytest.raises(BadInput, match="is no address of this machine"):
        serve(study, host="no host at all", port=0)
