"""Everybody can use the pages: axe-core finds nothing serious, and no page must be scrolled sideways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.studies.browsing import AXE, PHONE, WIDE, Window, chromium, on_a_port, sign_in, window
from tests.studies.toys import controls, design, items
from tests.studies.visiting import LABELS, Visited, labels

__all__ = ["chromium"]

pytestmark = pytest.mark.skipif(not AXE, reason="axe-core is not there; MOHS_AXE can name its axe.min.js")


def look(at: Window, heading: str, found: list[str]) -> None:
    """Look at the page with this heading."""
    assert at.heading == heading
    found += [f"{heading}: {one}" for one in at.complaints()]
    if at.is_too_wide():
        found.append(f"{heading}: must be scrolled sideways")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_pages_of_the_practice(chromium: Any, tmp_path: Path, size: dict[str, int]) -> None:
    found: list[str] = []
    site = Visited.of(tmp_path, replace(LABELS, batch=10), labels(10))
    with on_a_port(site) as address, window(chromium, size) as at:
        ada, bob = (one.token for one in site.study.invite(["ada", "bob"]))
        at.page.goto(f"{address}/a/{ada}")
        look(at, "Good or bad?", found)
        at.go("button.main")
        look(at, "Practice 1 of 4", found)
        at.practise(wrong=True)
        at.page.click("main .notice summary")
        look(at, "Practice 2 of 4", found)
        for _ in range(3):
            at.practise()
        look(at, "You are through", found)
        at.page.goto(f"{address}/a/{bob}")
        at.go("button.main")
        for _ in range(4):
            at.practise(wrong=True)
        look(at, "Thank you for your time", found)
    assert found == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_pages_of_the_main_part(chromium: Any, tmp_path: Path, size: dict[str, int]) -> None:
    found: list[str] = []
    of = design(judges=1, highlight="characters", batch=2)
    site = Visited.of(tmp_path, of, [*items(2), *controls(of)])
    with on_a_port(site) as address, window(chromium, size) as at:
        ada, bob = (one.token for one in site.study.invite(["ada", "bob"]))
        at.page.goto(f"{address}/a/{ada}")
        at.go("button.main")
        at.page.check("[type=radio][value='1']")
        for details in at.page.locator("footer summary").all():
            details.click()
        look(at, "Text 1 of 3", found)
        at.go("button.main")
        at.go("text=Back")
        look(at, "Text 1 of 3: change your answer", found)
        at.go("text=Leave it as it was")
        at.go("[form=pause]")
        look(at, "Paused", found)
        at.page.goto(f"{address}/a/{bob}")
        at.go("button.main")
        look(at, "Nothing to judge right now", found)
        at.page.goto(f"{address}/a/{ada}")
        for _ in range(2):
            at.judge(1)
        look(at, "Thank you, that was all", found)
    assert found == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_pages_of_the_organiser(chromium: Any, tmp_path: Path, size: dict[str, int]) -> None:
    found: list[str] = []
    of = design(batch=7, controls_a_batch=2)
    site = Visited.of(tmp_path, of, [*items(7), *controls(of)])
    ada = site.visitor("ada of a name that is long and has no-place-to-break-" + "x" * 20)
    ada.step("agree")
    for _ in range(9):
        ada.judge(2)  # both controls wrong
    with on_a_port(site) as address, window(chromium, size) as at:
        at.page.goto(address)
        look(at, "A study", found)
        at.page.goto(f"{address}/organiser")
        look(at, "Organiser", found)
        sign_in(at, address)
        assert "controls answered wrong" in at.page.inner_text("main")
        at.page.fill("#n", "2")
        at.go("text=Make links")
        look(at, "Is it the same?", found)
        at.go("tbody a >> nth=0")
        look(at, site.study.annotators()[0].name, found)
    assert found == []
