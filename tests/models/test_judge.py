"""A cross-encoder as the judge: the form of its input, its curve, batches, the measure, and folders that are none."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mohs
from mohs.engine import Service, run
from mohs.errors import BadInput
from mohs.models.hf import HfVictim
from mohs.models.judge import FILE, CrossEncoderJudge, JudgeForm, load_judge, window
from mohs.report.judged import word_values
from mohs.space import Acceptable, Antonyms, Services
from mohs.text import Text, judge
from mohs.text.calibration import Calibration
from mohs.text.questions import Substitution
from tests.models.conftest import save, tiny_tokenizer
from tests.toys import bundled, services

FORM = JudgeForm((-40.0, 0.0, 40.0), (0.1, 0.3, 0.9), Calibration(offset=0.2), ceiling=0.04, beside=3)


def made(folder: Path, form: JudgeForm = FORM, **options: Any) -> Path:
    save(folder, "bert", tiny_tokenizer("wordpiece"), **{"classes": 2, **options})
    (folder / FILE).write_text(json.dumps(form.parts()))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def cross(folder: Path) -> CrossEncoderJudge:
    found = load_judge(f"hf:{folder}", "cpu")
    assert isinstance(found, CrossEncoderJudge)
    return found


def asked(model: CrossEncoderJudge, *questions: Substitution) -> list[float]:
    answers: dict[Substitution, float] = {}
    for batch in model.plan(list(dict.fromkeys(questions))):
        answers.update(zip(batch, model.collect(model.launch(batch)), strict=True))
    return [answers[question] for question in questions]


def searched(measure: Acceptable, cases: list[tuple[Text, list[Text]]], model: CrossEncoderJudge) -> list[list[float]]:
    """The measure of several texts at once, in the engine."""
    parts = {"judge": Service(model), "tagger": Service(bundled()["tagger"])}
    ask = Services(parts, services().random)
    found = run(((n, measure.against(x, ys, ask)) for n, (x, ys) in enumerate(cases)), list(parts.values()))
    ended = sorted(found, key=lambda one: one.key)
    for one in ended:
        assert one.error is None
    return [one.result or [] for one in ended]


def test_the_window() -> None:
    text = '"One two, three four five six seven."'
    at = text.index("four")
    assert window(text, at, at + 4, 2) == ("two, three ", "four", " five six")
    assert window(text, at, at + 4, 9) == ("One two, three ", "four", ' five six seven."')
    assert window(text, 1, 4, 1) == ("", "One", " two")
    assert window("a - b", 2, 3, 5) == ("a ", "-", " b")


def test_the_network_sees_which_word_changed() -> None:
    pair = FORM.pair(Substitution("one two three four, five six seven eight", 14, 18, "for"))
    assert pair == ("four * for", "one two three * for *, five six seven")
    long = replace(FORM, form="texts").pair(Substitution("one two three four, five", 14, 18, "for"))
    assert long == ("one two three * four *, five", "one two three * for *, five")


def test_values_are_those_of_the_network_through_the_curve(folder: Path, cross: CrossEncoderJudge) -> None:
    """The same folder loaded as a plain pair classifier gives the log-odds."""
    victim = HfVictim(str(folder), device="cpu")
    questions = [Substitution("the film was long and slow", 4, 8, word) for word in ("movie", "xqz", "long", "was")]
    scores = []
    for question in questions:
        (given,) = victim.collect(victim.launch([FORM.pair(question)]))
        scores.append(math.log(given[1]) - math.log(given[0]))
    assert np.ptp(scores) > 0.5
    wanted = np.interp(scores, FORM.scores, FORM.probabilities)
    assert asked(cross, *questions) == pytest.approx(wanted.tolist(), abs=1e-3)


def test_values_rise_with_the_scores(cross: CrossEncoderJudge) -> None:
    scores = np.linspace(-60, 60, 200)
    values = FORM.probability(scores)
    assert (np.diff(values) >= 0).all()
    assert values[0] == 0.1
    assert values[-1] == 0.9
    inside = np.abs(scores) < 40
    assert (np.diff(values[inside]) > 0).all()


def test_the_same_alone_and_together(cross: CrossEncoderJudge) -> None:
    """Also questions that differ only beyond what the network reads, which are one row."""
    far = [
        Substitution(f"{word} one two three film one two three", len(word) + 15, len(word) + 19, "tale")
        for word in ("left", "right")
    ]
    assert len({FORM.pair(question) for question in far}) == 1
    more = [Substitution("the film was long", 4, 8, word) for word in "movie tale plot was a long-winded one".split()]
    together = asked(cross, *far, *more)
    assert together[0] == together[1]
    assert together == pytest.approx([asked(cross, one)[0] for one in (*far, *more)], abs=1e-4)


def test_antonyms_get_at_most_the_ceiling(cross: CrossEncoderJudge) -> None:
    questions = [Substitution("a good film", 2, 6, word) for word in ("bad", "film")]
    values = asked(cross, *questions)
    assert values[0] == FORM.ceiling
    assert values[1] >= 0.1
    assert cross.opposite("Good", "bad") == 2
    asks = Services({"judge": Service(cross)}, services().random)
    assert Antonyms().of_words("good", ["bad", "film"], asks) == [1.0, 0.0]


def test_the_measure_equals_direct_calls(cross: CrossEncoderJudge) -> None:
    x, y = Text("the film was long and the end was slow"), Text("a long story, a short plot", "and so on")
    cases = [(x, [x.replace(1, "movie"), x, x.replace(1, "FILM"), x.replace(1, "")]), (y, [y.replace(2, "tale")])]
    found = searched(Acceptable(), cases, cross)
    direct = asked(cross, Substitution(x.fields[0], 4, 8, "movie"), Substitution(y.fields[0], 7, 12, "tale"))
    assert found[0][:3] == [pytest.approx(direct[0], abs=1e-4), 1.0, 1.0]
    assert math.isnan(found[0][3])
    assert found[1] == [pytest.approx(direct[1], abs=1e-4)]
    asks = Services({"judge": Service(cross)}, services().random)
    assert asks.judge is cross
    assert cross.calibration == FORM.calibration


def test_the_form_with_models_is_for_the_bundled_judge(cross: CrossEncoderJudge) -> None:
    x = Text("a film")
    ask = Services({"judge": Service(cross)}, services().random)
    with pytest.raises(BadInput, match="acceptable:models=yes is for the bundled judge"):
        Acceptable(models=True).of_changes(x, {1: ["movie"]}, ask).send(None)


def test_word_values(cross: CrossEncoderJudge, folder: Path) -> None:
    x = Text("the film was long and slow")
    pairs = [
        (x, x.replace(1, "movie").replace(3, "dull")),
        (x, x),
        (x, Text("another number of words")),
        (x, x.replace(1, "")),
        (Text("the film was long and slow"), x.replace(1, "movie")),
    ]
    first, second = (Substitution(x.fields[0], 4, 8, "movie"), Substitution(x.fields[0], 13, 17, "dull"))
    rows: list[int] = []
    launch = cross.launch

    def counted(batch: list[Substitution]) -> Any:
        rows.append(len(batch))
        return launch(batch)

    cross.launch = counted  # type: ignore[method-assign]
    try:
        found = word_values(pairs, cross)
    finally:
        del cross.launch
    assert sum(rows) == 2  # each distinct change once
    direct = asked(cross, first, second)
    assert found[0] == pytest.approx(direct, abs=1e-4)
    assert found[1:3] == [[], None]
    assert found[3] is not None
    assert np.isnan(found[3]).all()
    assert found[4] == pytest.approx(direct[:1], abs=1e-4)
    assert word_values(pairs, f"hf:{folder}", "cpu") == found


def test_word_values_of_the_bundled_judge() -> None:
    x = Text("The movie was quickly made")
    place = judge.Place(x.words, 1, "NN")
    wanted = float(judge.bundled()(place, ["film"])[0])

    async def inside() -> Any:
        return word_values([(x, x.replace(1, "film"))])

    assert word_values([(x, x.replace(1, "film"))]) == [[wanted]]
    assert asyncio.run(inside()) == [[wanted]]  # in a running loop, as in a notebook
    assert word_values([]) == []


def test_as_a_measure_of_an_attack(folder: Path, cross: CrossEncoderJudge) -> None:
    with mohs.attack(
        "pocket", "pocket", "random", n=8, measures=["acceptable"], judge=f"hf:{folder}", device="cpu", tagger="pocket"
    ) as ended:
        noted = ended.manifest["identity"]["services"]["judge"]
        records = list(ended.records())
    assert noted == f"hf:{folder} {cross.fingerprint}"
    values = [record.measures["acceptable"] for record in records if "acceptable" in record.measures]
    assert values
    assert all(0 <= value <= 1 for value in values)


def test_the_fingerprint_follows_weights_and_curve(tmp_path: Path, cross: CrossEncoderJudge) -> None:
    other = replace(FORM, probabilities=(0.1, 0.3, 0.8))
    seen = {cross.fingerprint}
    seen.add(CrossEncoderJudge(str(made(tmp_path / "curve", other)), device="cpu").fingerprint)
    seen.add(CrossEncoderJudge(str(made(tmp_path / "weights", seed=1)), device="cpu").fingerprint)
    assert len(seen) == 3
    assert CrossEncoderJudge(str(made(tmp_path / "same")), device="cpu").fingerprint == cross.fingerprint


def test_judge_json_comes_back(folder: Path) -> None:
    assert JudgeForm.of(json.loads((folder / FILE).read_text())) == FORM


def changed(**parts: Any) -> Callable[[dict[str, Any]], str]:
    return lambda content: json.dumps({**content, **parts})


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda content: "{", "Expecting property name"),
        (lambda content: "[]", ""),
        (changed(format="other"), "its format is 'other'"),
        (changed(probabilities=[0.3, 0.1, 0.9]), "the calibration curve does not rise"),
        (changed(probabilities=[0.1, 0.3, 1.9]), "a probability lies outside of 0 to 1"),
        (changed(scores=[0, 1]), "the calibration curve is not a list of points"),
        (changed(scores=["a", 1, 2]), "could not convert"),
        (changed(calibration={"offset": "wide"}), "could not convert"),
        (changed(form="letters"), "its form is 'letters', not words or texts"),
        (changed(beside=0), "a number is out of range"),
        (lambda content: json.dumps({k: v for k, v in content.items() if k != "scores"}), "'scores' is missing"),
    ],
)
def test_a_broken_file(folder: Path, tmp_path: Path, write: Callable[[dict[str, Any]], str], reason: str) -> None:
    shutil.copytree(folder, tmp_path / "m")
    path = tmp_path / "m" / FILE
    path.write_text(write(json.loads(path.read_text())))
    with pytest.raises(BadInput) as caught:
        CrossEncoderJudge(str(tmp_path / "m"), device="cpu")
    said = str(caught.value)
    assert said.startswith(f"{path} cannot be read ({reason}")
    assert said.endswith("); restore it, or train the judge again.")


def test_what_is_no_judge(folder: Path, tmp_path: Path, bert_folder: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load_judge(f"hf:{bert_folder}", "cpu")
    assert str(caught.value) == (
        f"hf:{bert_folder} has no judge.json, so it was not trained as a judge; train one with "
        f"`mohs train --task acceptability --arch hf:{bert_folder} --data FILE --out FOLDER`."
    )
    three = made(tmp_path / "three", classes=3)
    with pytest.raises(BadInput, match=r"has 3 classes, and a judge has two; train a judge again\."):
        load_judge(f"hf:{three}", "cpu")
    code = made(tmp_path / "code")
    config = json.loads((code / "config.json").read_text())
    (code / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoConfig": "own.Config"}}))
    with pytest.raises(BadInput, match="brings its own code; if you trust it, add --trust-code"):
        load_judge(f"hf:{code}", "cpu")
    with pytest.raises(BadInput, match=r"Unknown judge 'mine'; use pocket, refit:FOLDER or hf:PATH_OR_ID\."):
        load_judge("mine")
    with pytest.raises(BadInput, match="There is no folder"):
        load_judge(f"hf:{tmp_path / 'none'}")
    assert load_judge("pocket") is judge.bundled()
