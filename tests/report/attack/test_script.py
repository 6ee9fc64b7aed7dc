"""The page's script, in a browser. Skipped if none is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mohs.records import Outcome
from mohs.report.attack.view import AttackView
from mohs.text import Edit
from tests.report.attack.test_page import record, run_of
from tests.report.made import EVIL, Parsed

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
pytestmark = pytest.mark.skipif(not BROWSER, reason="needs chromium")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six attempts of two attacks, e0 to e5: classes alternate, the later ones are accepted more."""
    share = {f"e{n}": n / 10 for n in range(1, 6)}
    monkeypatch.setattr(AttackView, "accepted", lambda self, record: share.get(record.example_id))
    outcomes = [Outcome.FAILED, *[Outcome.SUCCESS] * 5]
    records = [
        record(
            n,
            attack=f"a & b={n // 3}",
            outcome=outcomes[n],
            label=n % 2,
            by=EVIL if n > 2 else "",
            edits=(Edit(2, "good", "b\u0430d" if n == 3 else f"bad{n}"),),
        )
        for n in range(6)
    ]
    with run_of(*records) as run:
        return run.report(tmp_path / "report.html")


def shown(page: Path, fragment: str = "", then: str = "") -> tuple[list[str], str, str]:
    """The ids of the rows, the address after running a script of ours, and the whole document."""
    tried = page.with_name("tried.html")
    own = f"<script>{then}; document.body.dataset.address = location.hash</script></body>"
    tried.write_text(page.read_text("utf-8").replace("</body>", own), "utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}"]
    address = f"{tried.as_uri()}{fragment}"
    asked = subprocess.run([*command, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True)
    (found,) = [attrs.get("data-address") or "" for tag, attrs in Parsed(asked.stdout).tags if tag == "body"]
    body = asked.stdout.partition('<tbody id="body">')[2].partition("</tbody>")[0]
    return re.findall(r'<tr><td class="num">(e\d)</td>', body), found, asked.stdout


def test_the_address_chooses_and_orders_the_rows(page: Path) -> None:
    fragment = "#outcome=success&accepted=0.3&label=positive&sort=-accepted&q=GOOD%20film"
    assert shown(page, fragment)[0] == ["e5", "e3"]


def test_what_the_page_does_not_know_is_ignored(page: Path) -> None:
    fragment = "#outcome=bogus&accepted=lots&label=%E0%A4%A&sort=-constructor&attack=none&q=&x=1&__proto__=2"
    assert shown(page, fragment)[0] == [f"e{n}" for n in range(6)]


def test_what_is_chosen_stands_in_the_address_and_comes_back(page: Path) -> None:
    steps = """
      const set = (node, value, kind) => { node.value = value; node.dispatchEvent(new Event(kind)); };
      const find = place => document.querySelector(place);
      set(find("[data-filter=attack]"), "a & b=1", "change");
      set(find("#accepted"), "40", "input");
      set(find("#search"), " film #&=% ", "input");
      set(find("#search"), "film", "input");
      find("[data-outcome=success]").click();
      find("#heads [data-key=id]").click();
    """
    assert shown(page)[0][0] == "e5"  # at first by what people would accept
    rows, address, _ = shown(page, then=steps)
    assert rows == ["e4", "e5"]
    assert address == "#outcome=success&attack=a%20%26%20b%3D1&accepted=0.4&sort=id&q=film"
    assert shown(page, address)[:2] == (rows, address)


def test_odd_characters_are_boxed_and_texts_stay_texts(page: Path) -> None:
    _, _, document = shown(page, "#q=e3")
    assert '<span class="odd seen" data-code="U+0430" title="U+0430 CYRILLIC SMALL LETTER A">\u0430</span>' in document
    assert document.count("<script") == 3  # the rows, the page's own, and ours
    assert "<img" not in document.partition('id="list"')[2].partition("<script")[0]
