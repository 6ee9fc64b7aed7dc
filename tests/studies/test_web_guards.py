"""Who gets in, and what other sites can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mohs.studies.web.shield import HEADERS, MOST_BYTES
from tests.studies.visiting import HOST, Seen, Visited


def test_unknown_links_are_all_refused_alike(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    client = site.client()
    assert client.get(f"/a/{ada.token}").status_code == 200
    wrong = ("x", ada.token[:-1], ada.token + "x", ada.token.swapcase(), "0", "%00", "a" * 200, "a" * 5000, "é")
    answers = [client.get(f"/a/{token}") for token in wrong]
    form = {"csrf": ada.told()["csrf"], "item": 1, "value": 1}
    answers += [client.post("/a/x/answer", data=form), client.get("/a/x/item/1"), client.get("/a/x/item/one")]
    answers += [client.post(f"/a/x/{step}", data=form) for step in ("agree", "more", "pause", "withdraw")]
    answers += [client.get("/nowhere"), client.get("/static/../site.py"), client.get("/docs"), client.get("/a")]
    assert {one.status_code for one in answers} == {404}
    assert len({one.text for one in answers}) == 1
    page = Seen(answers[0].text)
    assert "There is nothing here" in page.words
    assert site.study.design.title not in page.words, "strangers do not learn what the study is about"
    assert client.get("/").status_code == 200
    assert site.study.design.title not in client.get("/").text


def test_a_link_that_was_replaced_leads_nowhere(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    again = site.study.link_again("ada").token
    assert site.client().get(f"/a/{ada.token}").status_code == 404
    assert site.client().get(f"/a/{again}").status_code == 200


@pytest.mark.parametrize("step", ["agree", "more", "answer", "pause", "withdraw"])
def test_forms_need_the_code_of_their_own_page(tmp_path: Path, step: str) -> None:
    site = Visited.of(tmp_path)
    ada, bob = site.visitor(), site.visitor("bob")
    item = ada.step("agree").fields["item"]
    bob.step("agree")
    for csrf in ("x", bob.told()["csrf"], ada.token):
        answer = ada.client.post(f"/a/{ada.token}/{step}", data={"csrf": csrf, "item": item, "value": 1})
        assert answer.status_code == 403
    for csrf in ({}, {"csrf": ""}):
        answer = ada.client.post(f"/a/{ada.token}/{step}", data=csrf | {"item": item, "value": 1})
        assert answer.status_code == 422
    assert site.study.judgements() == []
    assert str(site.study.annotators()[0].state) == "working"


def test_every_form_has_the_code(tmp_path: Path) -> None:
    site = Visited.labels(tmp_path)
    ada = site.visitor()
    pages = [ada.page(), ada.step("agree"), ada.judge(0)]
    pages.append(Seen(site.signed_in().get("/organiser").text))
    for page in pages:
        forms = [found for tag, found in page.elements if tag == "form"]
        codes = [found for tag, found in page.elements if tag == "input" and found.get("name") == "csrf"]
        assert forms
        assert len(codes) == len(forms)
        assert {found["method"] for found in forms} == {"post"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": HOST}, 200),
        ({"origin": "null"}, 200),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:9000"}, 403),
        ({"origin": "http://[oops"}, 403),
        ({"origin": "file://"}, 403),
    ],
)
def test_forms_sent_by_other_sites_are_refused(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    answer = ada.client.post(f"/a/{ada.token}/agree", data={"csrf": ada.told()["csrf"]}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost:1234", 200),
        ("LOCALHOST", 200),
        ("study.localhost", 200),
        ("[::1]:8000", 200),
        ("192.168.1.7", 200),
        ("study.example.org", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example:8000", 421),
        ("[::1", 421),
        ("study.example.org@evil.example", 421),
    ],
)
def test_only_names_of_this_server_are_answered(tmp_path: Path, host: str, status: int) -> None:
    """A site whose name leads to this machine would be the same site for a browser."""
    client = Visited.of(tmp_path, public="https://study.example.org").client()
    assert client.get("/health", headers={"host": host}).status_code == status


def test_every_answer_has_the_security_headers(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    client = site.signed_in()
    answers = [
        client.get("/"),
        client.get("/nowhere"),
        client.get("/organiser"),
        client.get("/organiser/export.csv"),
        client.get("/organiser/progress.json"),
        client.get("/openapi.json"),
        client.get(f"/a/{ada.token}"),
        client.post(f"/a/{ada.token}/agree", data={"csrf": "wrong"}),
        client.post("/", content=b"x" * (MOST_BYTES + 1)),
        client.get("/", headers={"host": "evil.example"}),
    ]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert answer.headers["cache-control"] == "no-store"
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert HEADERS["referrer-policy"] == "no-referrer"
