"""The page of a second-order run."""

from __future__ import annotations

from pathlib import Path

from mohs.report.second_order.figures import second_order_lines, summarise_second_order
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch
from mohs.text import Edit
from tests.report.made import EVIL, needs_nothing_else
from tests.report.second_order.made import mixed, parsed, run_of, vulnerable


def test_the_page_has_the_same_figures_and_the_texts_in_two_levels(tmp_path: Path) -> None:
    found = parsed(run_of(*mixed(), synonyms="neighbours", budget=100), tmp_path)
    assert "so-beam found a vulnerable example near 3 of 5 examples with a patch pair." in found.text
    for name, value, note in second_order_lines(summarise_second_order(mixed())[0]):
        assert name in found.text
        assert value in found.text
        assert note in found.text
    data = found.data()
    row = data["rows"][0]
    assert row["text"] == [["A good, ", ["good", "dull", "masked"], " ", {"old": "Film", "new": "movie"}, "."]]
    assert row["patch"] == "film|movie"
    assert row["predictions"][1] == ["vulnerable", ["film", "good", 0.9], ["movie", "bad", 0.6]]
    assert (row["changed"], row["steps"], row["queries"]) == (1, 2, 5)
    assert data["only"] == ["success"]
    assert "predictions" not in data["rows"][5]
    assert "no pair 2" in found.text
    braces = "Braces hold the share of all examples if every error had been a miss"
    assert braces in found.text
    assert braces not in parsed(run_of(vulnerable()), tmp_path).text, "there is no error, so there are no braces"
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg"]
    assert "vulnerable 60.0% (3/5)" in charts[0]
    assert "1 with 0; 2 with 1;" in charts[1]
    assert needs_nothing_else(found)


def test_an_edit_at_the_place_of_the_pair_is_shown_before_it(tmp_path: Path) -> None:
    odd = vulnerable(edits=(Edit(3, "Film", "Show", "masked"),))
    (row,) = parsed(run_of(odd), tmp_path).data()["rows"]
    assert row["text"] == [["A good, good ", ["Film", "Show", "masked"], {"old": "Show", "new": "movie"}, "."]]


def test_texts_never_become_markup(tmp_path: Path) -> None:
    nasty = vulnerable(
        attack=EVIL,
        example_id=EVIL,
        original=(f"{EVIL} film",),
        edits=(Edit(0, "script", EVIL, "masked"),),
        error=EVIL,
        finding=SecondOrderFinding(Patch(1, EVIL, EVIL, 0.0), (0, 1), (1, 0)),
    )
    config = {"labels": [EVIL, EVIL], "victim": EVIL, "data": EVIL, "synonyms": EVIL, "masked_lm": EVIL}
    found = parsed(run_of(nasty, **config), tmp_path)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert needs_nothing_else(found)
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])
    assert "alert(1)" not in found.scripts[1]
    assert found.data()["rows"][0]["text"][0][3] == {"old": "script", "new": EVIL}


def test_nothing_yet_and_only_errors(tmp_path: Path) -> None:
    assert "Nothing has been searched yet." in parsed(run_of(), tmp_path).text
    assert "Every search ended in an error." in parsed(run_of(mixed()[-1]), tmp_path).text


def test_a_small_budget_is_pointed_out(tmp_path: Path) -> None:
    said = parsed(run_of(*mixed()), tmp_path).text
    assert "so-beam ran out of queries on 1 of 5 examples with a patch pair: a larger --budget may find more." in said
    assert "ran out of queries" not in parsed(run_of(vulnerable()), tmp_path).text
