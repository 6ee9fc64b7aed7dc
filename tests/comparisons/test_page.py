"""The page, the terminal and the costs of a comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import mohs
from mohs.comparisons.charts import scatters
from mohs.comparisons.page import comparison_page
from mohs.comparisons.training_time import training_time
from mohs.training.folder import TrainingFolder
from tests.comparisons.toys import ATTACK, attempt, run_of
from tests.report.made import EVIL, Parsed, needs_nothing_else


def made(first: str = "ffffwwmf", other: str = "fwwlwfme", **more: str) -> mohs.comparisons.Comparison:
    return mohs.compare(run_of(first), run_of(other, victim="hard"), **{"judge": "none", **more})


def printed(comparison: mohs.comparisons.Comparison, width: int = 80, diffs: int = 2) -> str:
    console = Console(width=width, record=True, file=Path("/dev/null").open("w"), markup=False)  # noqa: SIM115
    comparison.show(console, diffs)
    console.file.close()
    return console.export_text()


def trained(folder: Path, seconds: list[float]) -> Path:
    """A finished training, as `mohs train` notes it."""
    place = TrainingFolder.open(folder, {"arch": "bow"}, {"arch": "bow"})
    place.finish({"seconds": seconds, "device": "cpu"})
    place.close()
    return folder


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    records = [attempt(0, "f", EVIL, example_id=EVIL), *(attempt(n, "w", EVIL) for n in range(1, 7))]
    other = [attempt(0, "w", EVIL, example_id=EVIL), *(attempt(n, "w", EVIL) for n in range(1, 7))]
    run_of(records, tmp_path / "one", victim=EVIL, labels=[EVIL, "b"]).close()
    run_of(other, tmp_path / "other", victim=f"{EVIL}2", labels=[EVIL, "b"]).close()
    with mohs.compare(tmp_path / "one", tmp_path / "other", judge="none") as found:
        assert found.page() == tmp_path / "other" / "compare.html"
        page = Parsed(found.page(tmp_path / "x.html").read_text("utf-8"))
        assert needs_nothing_else(page)
        assert EVIL in page.text
        (row,) = page.data()["rows"]
        assert (row["id"], row["by"]) == (EVIL, "A, not B")
        assert "<script>" not in found._repr_html_()


def test_the_page_has_figures_charts_and_the_texts_fooled_in_one_run() -> None:
    page = Parsed(comparison_page(made()))
    for said in ("B against A", "Only A", "Holm", "accuracy under attack, textfooler", "texts asked"):
        assert said in page.text.replace("\u200b", ""), said
    rows = page.data()["rows"]
    assert [(row["id"], row["by"]) for row in rows] == [("e1", "A, not B"), ("e2", "A, not B"), ("e5", "B, not A")]
    assert len([tag for tag, _ in page.tags if tag == "circle"]) == 2


def test_points_lie_where_the_shares_are() -> None:
    (chart,) = scatters(made("ffffffffww", "fwwwwwwwww"))
    first, other = chart["points"]
    assert first["x"] == other["x"]
    assert first["y"] == pytest.approx(180 - 168 * 0.2)
    assert other["y"] == pytest.approx(180 - 168 * 0.9)
    assert first["tall"][0] > first["y"] > first["tall"][1]
    (left, low), (right, high) = chart["line"]
    assert left < right
    assert low > high


def test_no_chart_without_an_accuracy() -> None:
    goal: dict[str, Any] = {"goal": "reduced:1"}
    found = mohs.compare(
        run_of("fw", identity=goal, **goal), run_of("wf", victim="b", identity=goal, **goal), judge="none"
    )
    assert scatters(found) == []
    assert comparison_page(found)


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_fits_and_says_what_is_counted(width: int) -> None:
    said = printed(made("ffffwwmf" * 3, "fwwlwfme" * 3), width)
    assert max(map(len, said.splitlines())) <= width
    flat = " ".join(said.split())
    assert "accuracy under attack" in flat
    assert "only A, only B: examples that count in one run alone" in flat
    assert "errors hid what lowers it most" in flat
    assert "errors 6" in flat
    assert f"{ATTACK}, e1: fools A and not B" in flat
    assert "film→movie" in flat
    assert ("<0.001" in flat) or "0." in flat


def test_without_diffs_no_text_is_printed() -> None:
    assert "→" not in printed(made(), diffs=0)


def test_nothing_attacked_has_a_headline() -> None:
    for first, other in (("mmm", "mmm"), ("eee", "eee"), ("lll", "wff")):
        assert comparison_page(made(first, other))


def test_training_time_comes_from_the_folder_of_the_victim(tmp_path: Path) -> None:
    folder = trained(tmp_path / "m", [2.0, 4.0])
    plain = run_of("fwfwfw", victim=f"mohs:{folder}")
    inside = run_of("fwfwff", victim=f"ensemble(mohs:{folder}, n=8)")
    found = mohs.compare(plain, inside, run_of("fwfwff", victim="pocket"), judge="none")
    times = [side.training for side in found.sides]
    assert [None if one is None else one.an_epoch for one in times] == [3, 3, None]
    assert "3.00 s" in printed(found, 140)
    assert found.to_json()["runs"][0]["training"] == {
        "folder": str(folder),
        "device": "cpu",
        "an_epoch": 3,
        "seconds": [2, 4],
    }
    page = Parsed(comparison_page(found))
    assert "3.00 s, 2 epochs, cpu" in page.text
    assert len([tag for tag, _ in page.tags if tag == "rect"]) == 2
    assert training_time(f"mean(mohs:{folder}, hf:{folder})") is None  # of several models there is no one time
    assert training_time("hf:nowhere/model") is None
    (folder / "training.json").write_text("{}")
    assert training_time(f"mohs:{folder}") is None


def test_json_is_json() -> None:
    found = json.loads(json.dumps(made().to_json(), allow_nan=False))
    assert [side["name"] for side in found["runs"]] == ["A", "B"]
    (one,) = found["against"]
    assert one["fooled_only"] == {ATTACK: {"first": ["e1", "e2"], "second": ["e5"]}}
    assert {row["question"] for row in one["rows"]} == {"accuracy before", "accuracy under attack", "attack success"}
    assert repr(made()) == "<Comparison of run A, run B>"
