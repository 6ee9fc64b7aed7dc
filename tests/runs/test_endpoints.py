"""Runs against an endpoint whose address holds credentials: they are sent, and stored nowhere."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import mohs
from mohs.attacks.verb import AttackVerb
from mohs.records.store import MANIFEST
from mohs.runs.carry_out import Unnamed
from mohs.runs.settings import Settings
from mohs.text.addresses import endpoint_fingerprint
from tests.models.test_http import Server

ROWS = [("a good film", 1), ("a bad film, it was", 1)]
PASSWORD, KEY = "hunter2", "S3CRET"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    found = Server()
    yield found
    found.close()


def address(server: Server, password: str = PASSWORD) -> str:
    return server.url.replace("//", f"//ann:{password}@") + f"?api_key={KEY}&model=small"


def test_credentials_are_stored_nowhere(server: Server, tmp_path: Path) -> None:
    with mohs.attack(address(server), ROWS, ["random"], out=tmp_path / "run") as run:
        first = list(run.records())
        run.report(tmp_path / "run" / "report.html")
    assert server.headers[0]["Authorization"] == "Basic " + base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
    stored = b"".join(path.read_bytes() for path in sorted((tmp_path / "run").iterdir()))
    assert b"***@127.0.0.1" in stored
    assert PASSWORD.encode() not in stored
    assert KEY.encode() not in stored
    with mohs.attack(address(server, "changed"), ROWS, ["random"], out=tmp_path / "run") as run:
        assert list(run.records()) == first


def test_a_folder_that_holds_credentials_is_resumed_and_shown_without(server: Server, tmp_path: Path) -> None:
    """Earlier versions stored the address as it was given."""
    with mohs.attack(address(server), ROWS, ["random"], out=tmp_path / "run") as run:
        first, shown = list(run.records()), run.manifest["config"]["victim"]
    manifest = yaml.safe_load((tmp_path / "run" / MANIFEST).read_text())
    manifest["config"]["victim"] = manifest["identity"]["victim"] = address(server)
    manifest["identity"]["victim_fingerprint"] = endpoint_fingerprint(address(server), "probabilities")
    (tmp_path / "run" / MANIFEST).write_text(yaml.safe_dump(manifest))
    with mohs.attack(address(server), ROWS, ["random"], out=tmp_path / "run") as run:
        assert list(run.records()) == first
        assert run.manifest["config"]["victim"] == shown


def test_the_name_of_a_folder_tells_no_secret() -> None:
    def folder(victim: str) -> str:
        return Unnamed.of(Settings(victim=victim), AttackVerb()).path.name

    assert folder("http://h/p?api_key=one") == folder("http://h/p?api_key=two")
    assert folder("http://h/p?model=one") != folder("http://h/p?model=two")
    assert "one" not in folder("http://h/p?api_key=one")
