"""The pages in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mohs.studies.item import Item, State
from tests.studies.browsing import PHONE, Window, chromium, on_a_port, sign_in, window
from tests.studies.toys import design
from tests.studies.visiting import LABELS, Visited, labels

__all__ = ["chromium"]


def ten(folder: Path) -> Visited:
    """Four texts for practice, then a batch of ten."""
    return Visited.of(folder, replace(LABELS, batch=10), labels(10))


def practise(at: Window) -> None:
    """Answer the text for practice with the keys."""
    at.press(str(1 + at.right), "Enter")


def test_an_annotator_by_keyboard_alone(chromium: Any, tmp_path: Path) -> None:
    """Qualify, judge ten texts with a pause between them, and finish."""
    site = ten(tmp_path)
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium) as at:
        at.page.goto(f"{address}/a/{token}")
        at.tab_to("button.main")
        at.press("Enter")
        for place in range(1, 5):
            at.then(f"Practice {place} of 4")
            practise(at)
        at.then("You are through")
        at.tab_to("button.main")
        at.press("Enter")
        for place in range(1, 11):
            at.then(f"Text {place} of 10")
            if place == 4:
                site.clock.now += 3
                at.tab_to("[form=pause]")
                at.press("Enter")
                at.then("Paused")
                site.clock.now += 40
                at.tab_to("a.main")
                at.press("Enter")
                at.then("Text 4 of 10")
            if place == 7:  # with Tab and the arrows instead of the numbers
                at.tab_to("input[type=radio]")
                at.press("ArrowDown")
                at.tab_to("button.main")
                at.press("Enter")
            else:
                at.press("1", "Enter")
        at.then("Thank you, that was all")
        assert "You have judged 10 texts" in at.page.inner_text("main")
    main = [one for one in site.study.judgements() if one.item.startswith("main/")]
    assert [one.value for one in sorted(main, key=lambda one: one.at or 0)].count(1) == 1
    assert len(main) == 10
    assert max(one.seconds or 0 for one in main) == 3.0, "the pause does not count"
    assert site.study.annotators()[0].state is State.FINISHED


def test_going_back_by_keyboard_and_a_double_submit(chromium: Any, tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium) as at:
        at.page.goto(f"{address}/a/{token}")
        at.tab_to("button.main")
        at.press("Enter")
        at.then("Text 1 of 3")
        at.press("2")
        allowed = at.page.evaluate("[1, 2, 3].map(() => form.dispatchEvent(new Event('submit', {cancelable: true})))")
        assert allowed == [True, False, False]
        at.page.evaluate("left = -Infinity")  # those were no real ones
        at.press("Enter")
        at.then("Text 2 of 3")
        at.tab_to("a.button")
        at.press("Enter")
        at.then("Text 1 of 3: change your answer")
        assert at.page.locator("input:checked").get_attribute("value") == "2"
        at.press("3", "Enter")
        at.then("Text 2 of 3")
        assert "Your answer was changed." in at.page.inner_text(".notice")
    assert [one.value for one in site.study.judgements()] == [3]


def test_a_page_that_is_hidden_stops_the_clock(chromium: Any, tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium) as at:
        page = at.page
        page.goto(f"{address}/a/{token}")
        at.go("button.main")
        at.then("Text 1 of 3")
        page.evaluate("left = -Infinity")  # the link was followed long ago
        site.clock.now += 5
        for state, path, spent in (("hidden", "/pause", 100), ("visible", f"/a/{token}", 2)):
            with page.expect_response(lambda answer, path=path: answer.url.endswith(path)):
                page.evaluate(
                    "state => { Object.defineProperty(document, 'visibilityState', {value: state, configurable: true});"
                    "document.dispatchEvent(new Event('visibilitychange')); }",
                    state,
                )
            site.clock.now += spent
        at.press("1", "Enter")
        at.then("Text 2 of 3")
    assert [one.seconds for one in site.study.judgements()] == [7.0]


def test_loading_a_page_again_does_not_stop_the_clock(chromium: Any, tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium) as at:
        page = at.page
        page.goto(f"{address}/a/{token}")
        at.go("button.main")
        at.then("Text 1 of 3")
        page.evaluate("left = -Infinity")
        site.clock.now += 5
        with page.expect_response(
            lambda answer: answer.request.resource_type == "fetch" and "/pause" not in answer.url
        ):
            page.reload()
        site.clock.now += 2
        at.press("1", "Enter")
        at.then("Text 2 of 3")
    assert [one.seconds for one in site.study.judgements()] == [7.0]


def test_without_javascript(chromium: Any, tmp_path: Path) -> None:
    site = ten(tmp_path)
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium, PHONE, java_script_enabled=False) as at:
        page = at.page
        page.goto(f"{address}/a/{token}")
        at.go("button.main")
        for _ in range(4):
            at.practise()
        assert at.heading == "You are through"
        at.go("button.main")
        at.go("[form=pause]")
        assert at.heading == "Paused"
        at.go("a.main")
        assert not page.locator(".keys").is_visible(), "keys need JavaScript"
        for _ in range(10):
            at.judge(1)
        assert at.heading == "Thank you, that was all"
        sign_in(at, address)
        assert page.text_content("[data-live=judgements]") == "10 of 20"
        page.fill("#n", "1")
        at.go("text=Make links")
        assert "/a/" in page.input_value("#all-links")
    assert len(site.study.judgements()) == 14


def test_the_organisers_page_follows_the_study(chromium: Any, tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    with on_a_port(site) as address, window(chromium) as at:
        at.page.clock.install()
        sign_in(at, address)
        at.tab_to("#n")
        at.press("ControlOrMeta+a")
        at.page.keyboard.type("1")
        at.tab_to("button.main")
        at.press("Enter")
        at.page.wait_for_selector("#all-links")
        name, link = at.page.input_value("#all-links").split()
        assert name == "annotator-1"
        with window(chromium, PHONE) as other:
            other.page.goto(link)
            other.go("button.main")
            other.then("Text 1 of 3")
            other.page.locator(".choice").first.click()
            other.go("button.main")
            other.then("Text 2 of 3")
        assert at.page.text_content("[data-live=judgements]") == "0 of 14"
        site.clock.now += 10
        at.page.clock.fast_forward(6000)
        at.page.wait_for_selector("[data-live=judgements]:text-is('1 of 14')")
        assert at.page.evaluate("document.querySelector('[data-bar]').value") == 1
        assert at.page.text_content("[data-live=state-1]") == "working"
        site.study.invite(["bob"])
        site.clock.now += 10
        at.page.clock.fast_forward(6000)
        at.page.wait_for_selector("#live:text('1 more joined since')")
        with at.page.expect_download() as download:
            at.page.click("text=JSON Lines")
        assert Path(download.value.path()).read_text("utf-8").count("\n") == 1


def test_nasty_texts_in_a_browser(chromium: Any, tmp_path: Path) -> None:
    nasty = "<script>document.title = 'broken'</script><img src=x onerror=alert(1)> \u202eturned"
    pair = Item("nasty", "same", ("plain", nasty), "attack", facts={"source": "s"})
    site = Visited.of(tmp_path, design(shuffled=False, highlight="characters"), [pair])
    token = site.study.invite(["ada"])[0].token
    with on_a_port(site) as address, window(chromium) as at:
        at.page.goto(f"{address}/a/{token}")
        at.go("button.main")
        at.then("Text 1 of 1")
        shown = at.page.locator("main .text").nth(1).text_content()
        assert shown.replace("U+202E", "\u202e") == nasty
        assert at.page.title().startswith("Text 1 of 1")
        assert at.page.locator("main img").count() == 0
