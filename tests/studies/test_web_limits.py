"""How often things may happen on the pages, and how large requests may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mohs.studies.web.limits import Limit
from mohs.studies.web.shield import MOST_BYTES
from mohs.studies.web.site import Limits
from tests.studies.toys import Clock
from tests.studies.visiting import SECRET, Visited

JSON = {"accept": "application/json"}


def few(clock: Clock) -> Limits:
    return Limits(Limit(3, 1.0, clock), Limit(2, 0.5, clock), Limit(2, 0.1, clock))


def test_a_link_cannot_be_used_too_often(tmp_path: Path) -> None:
    clock = Clock()
    site = Visited.of(tmp_path, limits=few(clock))
    ada, bob = site.visitor(), site.visitor("bob")
    path = f"/a/{ada.token}"
    assert [ada.client.get(path).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    answer = ada.client.get(path)
    assert answer.headers["retry-after"] == "1"
    assert "Please try again in 1 second." in answer.text
    assert bob.client.get(f"/a/{bob.token}").status_code == 200
    clock.now += 2
    assert [ada.client.get(path).status_code for _ in range(3)] == [200, 200, 429]


def test_links_cannot_be_guessed_quickly(tmp_path: Path) -> None:
    clock = Clock()
    site = Visited.of(tmp_path, limits=few(clock))
    ada = site.visitor()
    assert [ada.client.get(f"/a/{n}").status_code for n in range(4)] == [404, 404, 429, 429]
    assert ada.client.get(f"/a/{ada.token}").status_code == 200, "a known link works from the same place"
    clock.now += 2
    assert ada.client.get("/a/9").status_code == 404


def test_tokens_cannot_be_tried_quickly(tmp_path: Path) -> None:
    clock = Clock()
    client = Visited.of(tmp_path, limits=few(clock)).client()
    tries = [client.post("/organiser/sign-in", data={"token": "wrong"}).status_code for _ in range(3)]
    assert tries == [403, 403, 429]
    answer = client.post("/organiser/sign-in", data={"token": SECRET}, headers=JSON)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "10"
    clock.now += 10
    assert client.post("/organiser/sign-in", data={"token": SECRET}).status_code == 200


def test_a_limit_forgets_keys_that_were_not_used_for_long() -> None:
    clock = Clock()
    limit = Limit(1, 1.0, clock, most_keys=2)
    assert [limit.take(key) for key in "aab"] == [0, 1, 0]
    assert limit.wait("a") == 1
    assert limit.take("c") == 0
    assert limit.wait("a") == 0
    assert limit.wait("b") == 1
    clock.now += 100
    assert [limit.take("b"), limit.take("b")] == [0, 1], "no more than the burst comes together"


@pytest.mark.parametrize("length", [None, "70000", "-1", "x", "9" * 30])
def test_large_requests_are_refused(tmp_path: Path, length: str | None) -> None:
    client = Visited.of(tmp_path).client()
    body = b"token=" + b"x" * MOST_BYTES

    def parts() -> Any:  # without an announced length
        yield body

    headers = {"content-type": "application/x-www-form-urlencoded"}
    if length is None:
        answer = client.post("/organiser/sign-in", content=parts(), headers=headers)
    else:
        answer = client.post("/organiser/sign-in", content=b"", headers=headers | {"content-length": length})
    assert answer.status_code == 413
