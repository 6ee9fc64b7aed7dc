"""The annotators' pages, without a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mohs.studies.item import State
from tests.studies.toys import design, items
from tests.studies.visiting import LABELS, Seen, Visited, Visitor, good, labels


def heading(page: Seen) -> str:
    return page.html.partition("<h1")[2].partition(">")[2].partition("</h1>")[0].strip()


def test_from_the_consent_to_the_end(tmp_path: Path) -> None:
    site = Visited.labels(tmp_path)
    ada = site.visitor()
    page = ada.page()
    assert heading(page) == "Good or bad?"
    assert "You can stop at any time." in page.words
    assert "First come 4 texts for practice" in page.words
    assert "75%" in page.words
    page = ada.step("agree")
    assert heading(page) == "Practice 1 of 4"
    for place in (2, 3, 4):
        page = ada.judge(good)
        assert heading(page) == f"Practice {place} of 4"
        assert "Right. The answer is" in page.words
    page = ada.judge(good)
    assert heading(page) == "You are through"
    assert "You got 4 of 4 right" in page.words
    for size, following in ((3, "This batch is done"), (3, "This batch is done"), (1, "Thank you, that was all")):
        page = ada.step("more")
        for place in range(1, size + 1):
            assert heading(page) == f"Text {place} of {size}"
            assert "The answer is" not in page.words, "nobody is told what is right after the practice"
            page = ada.judge(1)
        assert heading(page) == following
    assert "You have judged 7 texts" in page.words
    assert len([one for one in site.study.judgements() if one.item.startswith("main/")]) == 7
    assert ada.told()["state"] == "finished"
    assert ada.told()["code"].isalnum()


def test_who_fails_the_practice_does_not_go_on(tmp_path: Path) -> None:
    site = Visited.labels(tmp_path)
    ada = site.visitor()
    ada.step("agree")
    page = ada.judge(lambda text: 1 - good(text))
    assert "Not quite. You answered" in page.words
    assert page.shown[0].startswith("a "), "the text of the practice is shown again"
    for _ in range(2):
        ada.judge(good)
    page = ada.judge(lambda text: 1 - good(text))
    assert heading(page) == "Thank you for your time"
    assert "You got 2 of 4 practice texts right. The main part needs 75%" in page.words
    assert heading(ada.step("more")) == "Thank you for your time"
    assert ada.told()["code"].startswith("PRACTICE-")
    assert ada.told()["phase"] == "end"
    assert site.study.annotators()[0].state is State.FAILED


def test_the_number_of_practice_texts_is_that_of_the_study(tmp_path: Path) -> None:
    site = Visited.of(tmp_path, LABELS, labels(3, 1))
    assert "First comes one text for practice" in site.visitor().page().words


def test_a_double_submit_counts_once_and_says_so(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    fields = ada.step("agree").fields
    ada.judge(1)
    page = ada.step("answer", item=fields["item"], value=1)
    assert "It counts once." in page.words
    assert len(site.study.judgements()) == 1


def test_an_answer_can_be_changed_by_going_back(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    first = ada.step("agree").fields["item"]
    assert "Back" not in ada.page().words.split()
    ada.judge(1)
    page = ada.page(f"/item/{first}")
    assert [found["value"] for _, found in page.elements if "checked" in found] == ["1"]
    page = ada.step("answer", item=first, value=3)
    assert "Your answer was changed." in page.words
    assert [one.value for one in site.study.judgements()] == [3]


def test_what_cannot_be_changed_any_more(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada, bob = site.visitor(), site.visitor("bob")
    first = ada.step("agree").fields["item"]
    for _ in range(3):
        ada.judge(1)
    ada.step("more")
    assert "can no longer be changed" in ada.page(f"/item/{first}").words
    bob.step("agree")
    foreign, nobody = (bob.client.get(f"/a/{bob.token}/item/{item}") for item in (first, 999))
    assert foreign.text == nobody.text, "an item of somebody else looks like one that does not exist"
    refused = [
        bob.client.post(
            f"/a/{bob.token}/answer",
            data={"csrf": bob.page().fields["csrf"], "item": item, "value": 1},
            headers={"accept": "application/json"},
        )
        for item in (int(first) if int(first) != int(bob.page().fields["item"]) else 998, 999)
    ]
    assert [one.status_code for one in refused] == [409, 409]
    assert {one.json()["taken"] for one in refused} == {"refused"}


def test_an_item_that_went_to_somebody_else(tmp_path: Path) -> None:
    site = Visited.of(tmp_path, design(judges=1), items(3))
    ada, bob = site.visitor(), site.visitor("bob")
    late = ada.step("agree").fields["item"]
    assert heading(bob.step("agree")) == "Nothing to judge right now"
    site.clock.now += 61
    assert heading(bob.step("more")) == "Text 1 of 3"
    for _ in range(3):
        bob.judge(2)
    page = ada.step("answer", item=late, value=1)
    assert "it went to somebody else" in page.words
    assert [one.annotator for one in site.study.judgements()] == ["bob"] * 3


def test_a_pause_stops_the_clock_until_the_next_visit(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    ada.step("agree")
    site.clock.now += 5
    page = ada.step("pause")
    assert heading(page) == "Paused"
    site.clock.now += 20
    assert heading(ada.page()) == "Text 1 of 3"
    site.clock.now += 2
    ada.judge(1)
    assert [one.seconds for one in site.study.judgements()] == [7.0]


def test_leaving_ends_it(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    ada.step("agree")
    ada.judge(1)
    page = ada.step("withdraw")
    assert heading(page) == "You have left the study"
    code = ada.told()["code"]
    assert code.startswith("LEFT-"), "the code of those who left is not that of those who finished"
    assert code in page.words
    board = site.signed_in().get("/organiser/progress.json").json()
    assert code in board["shown"].values(), "the organiser sees the same"
    refused = ada.client.post(
        f"/a/{ada.token}/answer",
        data={"csrf": ada.told()["csrf"], "item": 1, "value": 1},
        headers={"accept": "application/json"},
    )
    assert refused.status_code == 409
    assert len(site.study.judgements()) == 1


def test_a_program_can_judge(tmp_path: Path) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    json = {"accept": "application/json"}
    told = ada.told()
    assert (told["phase"], told["item"]) == ("consent", None)
    told = ada.client.post(f"/a/{ada.token}/agree", data={"csrf": told["csrf"]}, headers=json).json()
    asked = told["item"]
    assert (asked["place"], asked["of"]) == (1, 3)
    assert sorted(asked["texts"]) == sorted(items(7)[int(asked["texts"][0].split()[1])].texts)
    assert [one["label"] for one in asked["answers"]] == ["Yes indeed", "Perhaps", "Not at all"]
    form = {"csrf": told["csrf"], "item": asked["number"], "value": 2}
    answers = [ada.client.post(f"/a/{ada.token}/answer", data=form, headers=json) for _ in range(2)]
    assert [(one.status_code, one.json()["taken"]) for one in answers] == [(200, "kept"), (200, "repeated")]
    assert ada.client.post(f"/a/{ada.token}/pause", data={"csrf": told["csrf"]}, headers=json).json() == {
        "paused": True
    }


@pytest.mark.parametrize("value", ["", "two", "99999999999999999999", "1001"])
def test_an_answer_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    site = Visited.of(tmp_path)
    ada = site.visitor()
    fields = ada.step("agree").fields
    answer = ada.client.post(f"/a/{ada.token}/answer", data=fields | {"value": value})
    assert answer.status_code == 422
    assert "The form is incomplete" in answer.text
    assert site.study.judgements() == []


def test_two_people_never_give_more_than_the_design_wants(tmp_path: Path) -> None:
    """All keep going in turns, and each item ends with exactly its two judges."""
    site = Visited.of(tmp_path, design(judges=2), items(5))
    people = [site.visitor(name) for name in ("ada", "bob", "eve")]
    for one in people:
        one.step("agree")
    for _ in range(30):
        for one in people:
            _go_on(one)
    assert sorted(one.item for one in site.study.judgements()) == sorted(2 * [item.key for item in items(5)])


def _go_on(who: Visitor) -> None:
    told = who.told()
    if told["phase"] == "task":
        who.judge(2)
    elif told["phase"] in ("rest", "wait"):
        who.step("more")


def test_a_design_without_instructions_has_no_empty_fold(tmp_path: Path) -> None:
    for told, folds in ((LABELS.instructions, 1), ("", 0)):
        ada = Visited.of(tmp_path / str(folds), replace(LABELS, instructions=told), labels()).visitor()
        assert ada.step("agree").html.count("<summary>Instructions</summary>") == folds
