"""What people read when the database or the program fails, and behind a proxy."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mohs.errors import BadInput
from mohs.studies import connecting
from mohs.studies.web import make_app
from tests.studies.toys import items
from tests.studies.visiting import SECRET, Seen, Visited

JSON = {"accept": "application/json"}


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """What the server logged; the client of the tests logs too."""
    return "\n".join(one.getMessage() for one in caplog.records if one.name.startswith(("mohs", "uvicorn")))


def test_a_locked_database_keeps_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connecting, "WAIT", 0.01)
    site = Visited.of(tmp_path)
    ada = site.visitor()
    fields = ada.step("agree").fields | {"value": "1"}
    other = sqlite3.connect(tmp_path / "study" / "study.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with caplog.at_level(logging.INFO):
        answers = [ada.client.post(f"/a/{ada.token}/answer", data=fields, headers=head) for head in ({}, JSON)]
    assert [one.status_code for one in answers] == [503, 503]
    assert "your last step was not kept" in answers[0].text
    assert "locked" not in answers[0].text
    assert answers[0].headers["retry-after"] == "60"
    assert "taken" not in answers[1].json()
    assert "locked" in logged(caplog)
    assert ada.token not in logged(caplog)
    other.execute("ROLLBACK")
    other.close()
    assert site.study.judgements() == []
    assert ada.client.post(f"/a/{ada.token}/answer", data=fields, headers=JSON).json()["taken"] == "kept"


def test_a_full_database_keeps_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = connecting.Folder.connect
    full = False

    def connect(folder: connecting.Folder) -> Any:
        found = plain(folder)
        (pages,) = found.execute("PRAGMA page_count").fetchone()
        found.execute(f"PRAGMA max_page_count = {pages if full else 1_000_000}")
        return found

    monkeypatch.setattr(connecting.Folder, "connect", connect)
    site = Visited.of(tmp_path, of_items=items(2000))
    client = site.signed_in()
    csrf = Seen(client.get("/organiser").text).fields["csrf"]
    full = True
    site.study.database._idle.clear()
    answer = client.post(
        "/organiser/invite", data={"csrf": csrf, "names": "\n".join("x" * 60 + str(n) for n in range(400))}
    )
    assert answer.status_code == 503
    assert site.study.annotators() == []
    assert client.get("/health").status_code == 200


def test_a_fault_inside_says_nothing_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    monkeypatch.setattr("mohs.studies.desk.Desk.at", lambda *_: 1 / 0)
    client = site.client(raise_server_exceptions=False)
    answer = client.get(f"/a/{ada.token}")
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert ada.token not in logged(caplog)


@pytest.mark.parametrize("before", ["", "/studies/first"])
def test_behind_a_proxy_with_a_path(tmp_path: Path, before: str) -> None:
    """Proxies take the path away, or leave it."""
    site = Visited.of(tmp_path, public="https://example.org/studies/first/")
    token = site.study.invite(["ada"])[0].token
    client = TestClient(site.app, base_url="https://example.org", follow_redirects=False)
    page = Seen(client.get(f"{before}/a/{token}").text)
    assert {str(found["action"]) for tag, found in page.elements if tag == "form"} == {
        f"/studies/first/a/{token}/agree"
    }
    for tag, found in page.elements:
        if tag == "script":
            assert client.get(before + str(found["src"]).removeprefix("/studies/first")).status_code == 200
    answer = client.post(f"{before}/a/{token}/agree", data=page.fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/studies/first/a/{token}")
    answer = client.post(f"{before}/organiser/sign-in", data={"token": SECRET})
    assert answer.headers["location"] == "/studies/first/organiser"
    cookie = answer.headers["set-cookie"]
    assert "Secure" in cookie
    assert "Path=/studies/first/organiser" in cookie
    assert client.get(f"{before}/").status_code == 200
    assert client.get(f"{before}/a/{token}/").status_code == 200, "a slash too many"


def test_the_organisers_token_is_not_short(tmp_path: Path) -> None:
    study = Visited.of(tmp_path).study
    with pytest.raises(BadInput, match="has 5 characters; use at least 12"):
        make_app(study, organiser="short")
