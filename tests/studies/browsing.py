"""A study on a free port, and a real browser. Both are there only where a Chromium and playwright are installed."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.studies.visiting import SECRET, Visited, good

CHROMIUM = os.environ.get("MOHS_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
AXE = os.environ.get("MOHS_AXE", "")
_CONTRAST = "{runOnly: ['color-contrast']}"  # what depends on the colours
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser for the tests of a file."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (mohs[pages])")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; MOHS_CHROMIUM can name one")
    with playwright.sync_playwright() as found:
        browser = found.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def on_a_port(site: Visited) -> Iterator[str]:
    """Serve a study; gives its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(site.app, log_level="error", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@dataclass
class Window:
    """A page of a browser that keeps what went wrong in it."""

    page: Any
    problems: list[str]

    @property
    def heading(self) -> str:
        """The heading of the page."""
        return str(self.page.text_content("h1")).strip()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, selector: str) -> None:
        """Click on what leads to another page, and wait for that page."""
        with self.page.expect_navigation():
            self.page.click(selector)

    def judge(self, value: int) -> None:
        """Choose an answer and save it."""
        self.page.check(f"[type=radio][value='{value}']")
        self.go("button.main")

    def practise(self, wrong: bool = False) -> None:
        """Answer a text for practice."""
        self.judge((1 - self.right) if wrong else self.right)

    @property
    def right(self) -> int:
        """The right answer to the text for practice that is shown."""
        return good(str(self.page.text_content("main > .texts .text")))

    def tab_to(self, selector: str) -> None:
        """Press Tab until an element has the focus."""
        for _ in range(40):
            if self.page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def then(self, heading: str) -> None:
        """Wait for the page with this heading."""
        self.page.wait_for_function(
            "wanted => document.readyState == 'complete' && document.querySelector('h1').textContent.trim() == wanted",
            arg=heading,
        )

    def is_too_wide(self) -> bool:
        """Whether the page has to be scrolled sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def complaints(self) -> list[str]:
        """What axe-core finds that is serious or critical, each with its first element, also in other colours."""
        self.page.evaluate(Path(AXE).read_text("utf-8"))
        found = []
        for scheme, contrast, rules in (
            ("light", "no-preference", "{}"),
            ("dark", "no-preference", _CONTRAST),
            ("light", "more", _CONTRAST),
            ("dark", "more", _CONTRAST),
        ):
            self.page.emulate_media(color_scheme=scheme, contrast=contrast)
            told = self.page.evaluate(f"axe.run({rules})")
            assert told["passes"], "axe-core looked at the page"
            found += [
                f"{scheme}, {contrast}: {one['id']}: {one['nodes'][0]['html']}"
                for one in told["violations"]
                if one["impact"] in ("serious", "critical")
            ]
        return found


@contextmanager
def window(chromium: Any, size: dict[str, int] = WIDE, **more: Any) -> Iterator[Window]:
    """A new window without cookies. What its pages complain about fails the test."""
    phone = size is PHONE
    context = chromium.new_context(viewport=size, is_mobile=phone, has_touch=phone, **more)
    problems: list[str] = []
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    yield Window(page, problems)
    context.close()
    assert problems == []


def sign_in(at: Window, address: str) -> None:
    """To the organiser's page."""
    at.page.goto(f"{address}/organiser")
    at.page.fill("#token", SECRET)
    at.page.keyboard.press("Enter")
    at.page.wait_for_selector("#progress-heading")
