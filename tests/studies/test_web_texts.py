"""Texts and names may hold anything: pages show it and it does nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mohs.studies.item import Item
from tests.studies.toys import design
from tests.studies.visiting import Seen, Visited

NASTY = (
    "<script>alert(1)</script>",
    "</div><img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp; <b>bold</b>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202eright to left, never closed",
    "\u2066isolate, never closed",
    "bell \a, escape \x1b[31m, delete \x7f",
    "zero\u200bwidth and soft\u00adhyphen",
    "half \ud800 a pair",
    "  two  spaces\nand a line",
    "'\"><svg/onload=alert(1)>",
)
ELEMENTS = {  # of the page on which a pair is judged
    *("html", "head", "meta", "title", "link", "script", "body", "a", "header", "main", "footer", "section", "h1"),
    *("div", "p", "span", "mark", "bdi", "details", "summary", "progress", "kbd"),
    *("form", "fieldset", "legend", "label", "input", "button"),
}


def test_pages_load_nothing_from_elsewhere_and_have_no_inline_code(tmp_path: Path) -> None:
    site = Visited.labels(tmp_path)
    ada = site.visitor()
    client = site.signed_in()
    pages = [ada.page(), ada.step("agree"), ada.judge(0), ada.step("pause")]
    pages += [Seen(client.get(path).text) for path in ("/", "/organiser", "/organiser/annotator/1")]
    pages.append(Seen(site.client().get("/organiser").text))
    for page in pages:
        for tag, found in page.elements:
            assert tag != "style"
            assert tag != "script" or str(found.get("src")).startswith("/static/")
            assert not [name for name in found if name.startswith("on") or name == "style"]
            for name in ("src", "href", "action"):
                assert found.get(name, "/") is None or str(found.get(name, "/"))[0] in "/#"
    for name in ("judge.js", "organiser.js", "style.css", "icon.svg"):
        answer = client.get(f"/static/{name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("highlight", ["none", "characters", "words"])
def test_texts_are_shown_as_they_are_and_do_nothing(tmp_path: Path, text: str, highlight: str) -> None:
    pair = Item("nasty", "same", ("a plain text", text), "attack", facts={"source": "s"})
    site = Visited.of(tmp_path, design(highlight=highlight, shuffled=False), [pair])
    ada = site.visitor()
    page = ada.step("agree")
    assert page.shown[0] == "a plain text"
    shown = re.sub(r"U\+([0-9A-F]{4})", lambda code: chr(int(code[1], 16)), page.shown[1])  # unseen signs that differ
    assert shown.replace("\ud800", "?") == text.replace("\ud800", "?")
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    assert [found for tag, found in page.elements if tag == "script" and "src" not in found] == []
    assert ada.told()["item"]["texts"][1] == text.replace("\ud800", "?")


def test_a_name_with_html_is_shown_as_it_is(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    site.study.invite(["<script>alert(1)</script>"])
    client = site.signed_in()
    for path in ("/organiser", "/organiser/annotator/1"):
        page = Seen(client.get(path).text)
        assert "<script>alert(1)</script>" in page.words
        assert all("src" in found for tag, found in page.elements if tag == "script")
