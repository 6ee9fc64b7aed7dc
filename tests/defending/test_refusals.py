"""What does not fit is refused in one sentence, before anything is asked."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.defences import Mean, Safer, Versions
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from tests.defending.toys import ROWS, Dropped, attacked, run, victim
from tests.toys import WordCount, bundled

REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ([], {}, "No defence was given; name one with --defence"),
    ("shield(n=3)", {}, "'shield(n=3)' is no defence; write one of ensemble, masking, encoding, safer, ranmask,"),
    ("masking(n=3", {}, "The defence 'masking(n=3' has no closing bracket at its end; write masking(NAME=VALUE)."),
    ("masking(n=3))", {}, "The brackets of the victim 'masking(n=3))' do not match."),
    ("masking(key=3)", {}, "The defence 'masking(key=3)' has a key, but it is judged with several; leave key= out."),
    ("masking(m=3)", {}, "masking(...) has no setting 'm'"),
    (["masking", "masking"], {}, "The defence masking is given twice; give it once."),
    (5, {}, "5 is no defence; give a name such as 'ensemble(n=8)', a defence of mohs.defences, or a victim."),
    (
        "masking(pocket)",
        {},
        "masking(pocket) does not stand around the victim that the run attacked, word count; attack",
    ),
    ("masking", {"victim": WordCount({"good": 1.0})}, "masking does not stand around the victim that the run attacked"),
    ("masking", {"victim": None}, "Unknown victim 'word count'"),
    ("masking", {"victim": None}, "The run attacked word count; if that was an object, give it as `victim`."),
    ("masking", {"keys": 0}, "keys is 0; it must be at least 1."),
    ("masking", {"keys": 1001}, "Keys from 1000 on are for fresh draws; use at most 1000 keys."),
    ("masking", {"again": {"atacks": "pwws"}}, "'atacks' is no option of an attack"),
]


@pytest.mark.parametrize(("defences", "more", "message"), REFUSED)
def test_what_is_wrong_is_said(defences: Any, more: dict[str, Any], message: str) -> None:
    asked: list[int] = []
    options = {"victim": victim(), "again": bundled(), "progress": lambda *told: asked.append(1), **more}
    with pytest.raises(BadInput) as error:
        mohs.defend(run(), defences, **options)
    assert message in str(error.value)
    assert not asked


def test_what_is_no_attack() -> None:
    with mohs.radius(victim(), ROWS[:2], max_r=1) as other, pytest.raises(BadInput, match="is a run of `mohs radius`"):
        mohs.defend(other, "masking", victim=victim())
    with pytest.raises(BadInput, match="No run was given"):
        mohs.defend([], "masking")


def test_folders(tmp_path: Path) -> None:
    attacked(tmp_path / "run").close()
    with pytest.raises(BadInput, match="run is given twice; give it once"):
        mohs.defend([tmp_path / "run", str(tmp_path / "run")], "masking")


def test_data_that_changed(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    lines = [f'"{text}",{label}\n' for text, label in ROWS]
    data.write_text("".join(["text,label\n", *lines]))
    with mohs.attack(victim(), data, "random") as found:
        data.write_text("".join(["text,label\n", *lines[1:]]))
        with pytest.raises(BadInput, match=re.escape(f"The data {data} is not what the run attacked; restore")):
            mohs.defend(found, "masking", victim=victim())
        one = mohs.defend(found, "masking", victim=victim(), adaptive_keys=0, keys=1)
    assert one.parts[0].defences[0].clean.rates[0].total == len(ROWS)


def test_labels_alone() -> None:
    model = FunctionVictim(lambda texts: [int("good" in t) for t in texts], output="labels", labels=("a", "b"))
    with mohs.attack(model, ROWS, "random") as found:
        with pytest.raises(BadInput, match=r"adds up scores, but .* gives labels only; use safer"):
            mohs.defend(found, "ensemble", victim=model)
        safer = Safer(n=3, cosine=0.5, books={"vectors": bundled()["vectors"]})
        one = mohs.defend(found, safer, victim=model, keys=2, draws=2)
    assert one.parts[0].defences[0].adaptive is not None


def test_attacks_that_need_gradients_are_left_out() -> None:
    with mohs.attack(victim(), ROWS[:3], ["hotflip", "random"]) as found:
        one = mohs.defend(found, Dropped(), victim=victim(), keys=1, draws=1)
    white, black = (part.defences[0] for part in one.parts)
    assert white.adaptive is None
    assert white.left.value is not None
    assert black.adaptive is not None
    assert sum("needs gradients, which a defended victim does not give" in note for note in one.notes) == 1


def test_what_keeps_the_label_is_left_out() -> None:
    with mohs.attack(victim(), ROWS[:3], ["input-reduction", "random"]) as found:
        one = mohs.defend(found, Dropped(), victim=victim(), keys=1, draws=1)
    assert [part.attack for part in one.parts] == ["random:baseline"]
    assert any("keeps the label" in note for note in one.notes)
    alone = mohs.attack(victim(), ROWS[:3], "input-reduction")
    with alone, pytest.raises(BadInput, match="has nothing to defend against"):
        mohs.defend(alone, Dropped(), victim=victim())


def test_another_victim_is_allowed_with_a_flag() -> None:
    other = WordCount({"good": 1.0, "bad": -1.0})
    one = mohs.defend(run(), "masking(n=2)", victim=other, other_victim=True, keys=1, adaptive_keys=0)
    assert any("(1) is mostly about transfer" in note for note in one.notes)
    mixed = Mean(other, victim())  # holds the run's victim
    assert not any("transfer" in n for n in mohs.defend(run(), mixed, victim=victim(), adaptive_keys=0).notes)
    wide = FunctionVictim(lambda texts: [[0.2, 0.3, 0.5] for _ in texts])
    with pytest.raises(BadInput, match="has 3 classes, but the run's victim has 2; they cannot be compared"):
        mohs.defend(run(), Versions(wide, Dropped(), "mine"), victim=victim(), other_victim=True, adaptive_keys=0)


CODE = """
from pathlib import Path
from mohs.attacks.textfooler import TextFooler
Path("ran").write_text("x")
class Own(TextFooler): ...
def scores(texts): return [[0.3, 0.7] if "good" in text else [0.6, 0.4] for text in texts]
"""


@pytest.mark.parametrize(
    ("victim", "attack", "named"),
    [("python:evil_a:scores", "random", "python:evil_a:scores"), ("pocket", "evil_b.py:Own", "evil_b.py:Own")],
)
def test_code_that_a_run_names_runs_only_if_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: str, attack: str, named: str
) -> None:
    """A run folder may be someone else's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("evil_a.py", "evil_b.py"):
        (tmp_path / name).write_text(CODE)
    mohs.attack(victim, ROWS, attack, out="run", no_judge=True, **bundled()).close()
    (tmp_path / "ran").unlink()
    sys.modules.pop("evil_a", None)
    refused = re.escape(f"The run run names code to run ({named}); if you trust it, add --trust-code.")
    with pytest.raises(BadInput, match=refused):
        mohs.defend("run", "masking", keys=1)
    if victim != "pocket":
        with pytest.raises(BadInput, match=refused):
            mohs.detect("run", "fgws", train="pocket:train")
    assert not (tmp_path / "ran").exists()
    if victim == "pocket":
        mohs.defend("run", "masking", keys=1, adaptive_keys=0)  # does not attack
        assert not (tmp_path / "ran").exists()
    (one,) = mohs.defend("run", "masking", keys=1, draws=0, trust_code=True, again=bundled()).parts[0].defences
    assert one.adaptive is not None


def test_nothing_is_written_through_a_link_in_a_run(tmp_path: Path) -> None:
    attacked(tmp_path / "run").close()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run" / "defended").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match=r"defended is a symbolic link, through which mohs does not write; delete it"):
        mohs.defend(tmp_path / "run", Dropped(), victim=victim(), again=bundled())
    assert not list((tmp_path / "elsewhere").iterdir())
