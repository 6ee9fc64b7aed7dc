"""The organiser's pages, without a browser."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mohs.studies.item import Item, Judgement, Kind, Role
from mohs.studies.web.sessions import HOURS
from tests.studies.toys import controls, design, items
from tests.studies.visiting import SECRET, Seen, Visited

PRIVATE = ("/organiser/annotator/1", "/organiser/progress.json", "/organiser/export.csv", "/organiser/export.jsonl")
STEPS = ("sign-out", "invite", "link-again", "set-aside")


def page(client: TestClient) -> Seen:
    answer = client.get("/organiser")
    assert answer.status_code == 200
    return Seen(answer.text)


def step(client: TestClient, name: str, **fields: Any) -> Seen:
    answer = client.post(f"/organiser/{name}", data={"csrf": page(client).fields["csrf"], **fields})
    assert answer.status_code in (200, 400)
    return Seen(answer.text)


def figure(seen: Seen, name: str) -> str:
    found = re.search(rf'data-live="{name}">([^<]*)<', seen.html)
    assert found, name
    return found[1]


def test_nothing_is_told_without_the_token(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    site.visitor()
    client = site.client()
    client.cookies.set("mohs_organiser", SECRET)
    own = next(iter(site.signed_in().cookies.keys()))
    for value in ("", SECRET, "x", "x" * 200, site.study.code("organiser")):
        client.cookies.set(own, value, path="/organiser")
        assert "Sign in" in page(client).words
        assert {client.get(path).status_code for path in PRIVATE} == {401}
        assert {
            client.post(f"/organiser/{one}", data={"csrf": "x", "number": 1, "n": 1}).status_code for one in STEPS
        } == {401}
    assert len(site.study.annotators()) == 1


@pytest.mark.parametrize("token", ["x", SECRET[:-1], f"{SECRET}x", SECRET.upper(), "é", "a" * 1000])
def test_another_token_does_not_sign_in(tmp_path: Path, token: str) -> None:
    client = Visited.of(tmp_path).client()
    answer = client.post("/organiser/sign-in", data={"token": token})
    assert answer.status_code == 403
    assert "That is not the token of this study." in answer.text
    assert "set-cookie" not in answer.headers


def test_signing_in_and_out(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    client = site.client()
    answer = client.post("/organiser/sign-in", data={"token": f" {SECRET}\n"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/organiser")
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name.startswith("mohs_organiser_")
    assert {part.strip().lower() for part in rest.split(";")[1:]} == {
        *("httponly", "samesite=strict", "path=/organiser", f"max-age={HOURS * 3600}")
    }
    assert SECRET not in rest
    copy = site.client()
    copy.cookies.set(name, rest.partition(";")[0], path="/organiser")
    assert copy.get("/organiser/progress.json").status_code == 200
    step(client, "sign-out")
    assert "Sign in" in page(client).words
    assert copy.get("/organiser/progress.json").status_code == 401, "the secret of the cookie has ended too"


def test_the_study_has_a_token_of_its_own(tmp_path: Path) -> None:
    site = Visited.of(tmp_path, organiser=None)
    token = site.study.code("organiser")
    assert len(token) == 20
    assert site.client().post("/organiser/sign-in", data={"token": token}).status_code == 200


@pytest.mark.parametrize("name", STEPS)
def test_forms_of_the_organiser_need_the_code_of_the_page(tmp_path: Path, name: str) -> None:
    site = Visited.of(tmp_path)
    site.visitor()
    client, other = site.signed_in(), site.signed_in()
    for csrf in ("x", SECRET, page(other).fields["csrf"]):
        answer = client.post(f"/organiser/{name}", data={"csrf": csrf, "number": 1, "n": 1})
        assert answer.status_code == 403
    assert [str(one.state) for one in site.study.annotators()] == ["invited"]
    assert "Sign out" in page(client).words


def test_invitations_give_links_that_work_and_are_shown_once(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    client = site.signed_in()
    shown = step(client, "invite", n=1, names="ada\n\n  bob ").words
    links = dict(re.findall(r"([a-z0-9-]+)\thttp://127\.0\.0\.1:8000/a/([\w-]+)", shown))
    assert list(links) == ["ada", "bob", "annotator-3"]
    for name, token in links.items():
        found = site.study.annotator(token)
        assert found is not None
        assert found.name == name
        assert site.client().get(f"/a/{token}").status_code == 200
    assert "/a/" not in page(client).words


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"n": 0}, "Say how many to invite, or give names."),
        ({"names": "ada"}, "There is an annotator 'ada' already"),
        ({"names": "x" * 81}, "An annotator cannot be called"),
        ({"names": "\n".join(map(str, range(501)))}, "501 names were given; invite 500 at once at most."),
    ],
)
def test_invitations_that_cannot_be_made(tmp_path: Path, fields: dict[str, Any], problem: str) -> None:
    site = Visited.of(tmp_path)
    site.visitor("ada")
    seen = step(site.signed_in(), "invite", **fields)
    assert problem in seen.words
    assert ("div", {"class": "notice bad", "role": "alert"}) in seen.elements
    assert len(site.study.annotators()) == 1


def test_a_new_link_for_somebody_who_lost_theirs(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    client = site.signed_in()
    assert "A new link" in client.get("/organiser/annotator/1").text
    (token,) = re.findall(r"/a/([\w-]+)", step(client, "link-again", number=1).words)
    assert token != ada.token
    assert site.client().get(f"/a/{ada.token}").status_code == 404
    assert site.client().get(f"/a/{token}").status_code == 200


def test_who_judges_elsewhere_has_no_link(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    site.study.add([Judgement(items(7)[0].key, "gpt", 1, 0)], Kind.MODEL)
    client = site.signed_in()
    assert "A new link" not in client.get("/organiser/annotator/1").text
    assert "gpt does not judge on these pages" in step(client, "link-again", number=1).words
    assert "Models and simulated judges" in page(client).words


def test_setting_somebody_aside(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    ada.step("agree")
    ada.judge(1)
    client = site.signed_in()
    assert figure(page(client), "judgements") == "1 of 14"
    seen = step(client, "set-aside", number=1)
    assert figure(seen, "judgements") == "0 of 14"
    assert figure(seen, "state-1") == "set aside"
    assert "The organiser has ended your part." in ada.page().words
    assert "is set aside" in client.get("/organiser/annotator/1").text


@pytest.mark.parametrize("number", [2, 0, -1, 2**31, "x"])
def test_annotators_who_are_not_there(tmp_path: Path, number: object) -> None:
    site = Visited.of(tmp_path)
    site.visitor()
    client = site.signed_in()
    assert client.get(f"/organiser/annotator/{number}").status_code == 404
    csrf = page(client).fields["csrf"]
    for name in ("set-aside", "link-again"):
        answer = client.post(f"/organiser/{name}", data={"csrf": csrf, "number": number})
        assert answer.status_code in (404, 422)


def test_the_figures_follow_the_study(tmp_path: Path) -> None:
    """Two people judge two items: alpha of their answers and the median time, worked out by hand."""
    site = Visited.of(tmp_path, design(judges=2, batch=2, shuffled=False), items(2))
    client = site.signed_in()
    assert figure(page(client), "agreement-0") == "not yet known"
    answers = {"ada": {"one 0": 1, "one 1": 3}, "bob": {"one 0": 1, "one 1": 3}}
    for name, seconds in (("ada", 4), ("bob", 8)):
        who = site.visitor(name)
        who.step("agree")
        for _ in range(2):
            shown = who.told()["item"]
            said = answers[name][shown["texts"][0]]
            site.clock.now += seconds
            who.judge(4 - said if "changes" in shown["statement"] else said)
    told = client.get("/organiser/progress.json").json()
    assert (told["judgements"], told["wanted"], told["complete"], told["items"]) == (4, 4, 2, 2)
    assert told["seconds"] == 6.0, "the median of 4, 4, 8 and 8"
    assert [(one["name"], one["answered"], one["seconds"]) for one in told["people"]] == [("ada", 2, 4), ("bob", 2, 8)]
    assert told["agreement"][0]["value"] == 1.0
    shown = page(client)
    for name, text in told["shown"].items():
        assert figure(shown, name) == text


def test_who_fails_controls_is_flagged(tmp_path: Path) -> None:
    of = design(controls_a_batch=2, most_wrong_controls=1)
    site = Visited.of(tmp_path, of, [*items(3), *controls(of)])
    ada = site.visitor()
    ada.step("agree")
    expected = {one.texts: one.expected[0] for one in controls(of)}
    for _ in range(5):
        shown = ada.told()["item"]
        right = expected.get(tuple(sorted(shown["texts"])), 2)
        said = 4 - right if right != 2 else 2
        ada.judge(4 - said if "changes" in shown["statement"] else said)
    seen = page(site.signed_in())
    assert figure(seen, "controls-1") == "2 of 2"
    assert "2 of 2 controls answered wrong; 1 may be." in figure(seen, "flags-1")
    assert figure(seen, "flagged") == "1"


def test_exports_hold_all_judgements(tmp_path: Path) -> None:
    nasty = Item("nasty", "same", ("=1+1 <b>", "half \ud800 a pair"), "attack", Role.MAIN)
    site = Visited.of(tmp_path, design(name='a toy/../"x"', shuffled=False), [nasty])
    ada = site.visitor()
    ada.step("agree")
    ada.judge(2)
    client = site.signed_in()
    answer = client.get("/organiser/export.jsonl")
    (row,) = map(json.loads, answer.text.splitlines())
    assert (row["item"], row["annotator"], row["value"], row["text_1"]) == ("nasty", "ada", 2, "=1+1 <b>")
    assert answer.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="a_toy_..__x_.jsonl"'
    answer = client.get("/organiser/export.csv")
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["annotator"], row["value"], row["text_1"]) == ("ada", "2", "'=1+1 <b>")
    for path in PRIVATE:
        assert ada.token not in client.get(path).text, "links are in no export"
