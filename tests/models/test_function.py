"""`python:module:function` and callables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mohs.engine import Service
from mohs.errors import BadInput, MohsError, ServiceFailed, VictimError
from mohs.models.function import FunctionVictim, load_function
from mohs.models.victim import Fields, Scores


def by_length(texts: list[str]) -> Any:
    return [[1 / (1 + len(text)), len(text) / (1 + len(text))] for text in texts]


def ask(victim: FunctionVictim, *items: Fields) -> dict[Fields, Scores]:
    found: dict[Fields, Scores] = {}
    for batch in victim.plan(list(items)):
        found.update(zip(batch, victim.collect(victim.launch(batch)), strict=True))
    return found


def test_probabilities() -> None:
    victim = FunctionVictim(by_length)
    assert ask(victim, ("a",), ("abc",)) == {("a",): (0.5, 0.5), ("abc",): (0.25, 0.75)}
    assert not victim.hard
    assert victim.visible(("a" * 10_000,)) is None


def test_logits() -> None:
    victim = FunctionVictim(lambda texts: np.zeros((len(texts), 4)), output="logits")
    assert ask(victim, ("a",)) == {("a",): (0.25,) * 4}


def test_labels() -> None:
    victim = FunctionVictim(lambda texts: [len(text) % 2 for text in texts], output="labels", labels=("even", "odd"))
    assert victim.hard
    assert ask(victim, ("a",), ("ab",)) == {("a",): (0, 1), ("ab",): (1, 0)}
    with pytest.raises(BadInput, match="name its classes"):
        FunctionVictim(by_length, output="labels")


def test_pairs_are_tuples() -> None:
    seen: list[Any] = []

    def record(texts: list[Any]) -> Any:
        seen.extend(texts)
        return [[0.5, 0.5]] * len(texts)

    ask(FunctionVictim(record), ("premise", "hypothesis"))
    ask(FunctionVictim(record), ("single",))
    assert seen == [("premise", "hypothesis"), "single"]


def test_a_function_for_texts_that_is_given_pairs() -> None:
    victim = FunctionVictim(lambda texts: [[0.5, 0.5] for text in texts if text.split()], name="python:m:f")
    with pytest.raises(VictimError) as caught:
        ask(victim, ("premise", "hypothesis"))
    assert str(caught.value) == (
        "python:m:f raised AttributeError: 'tuple' object has no attribute 'split'; the data are pairs, so the "
        "function gets tuples of texts: if it reads single texts, name one column with --text-field."
    )
    with pytest.raises(VictimError, match=r"division by zero$"):
        ask(FunctionVictim(lambda texts: 1 / 0), ("premise", "hypothesis"))


def test_a_name_that_the_module_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = "from json import dumps\n_hidden = len\nsize = 3\n" + "".join(f"def f{i}(t): pass\n" for i in range(7))
    (tmp_path / "lacks_one.py").write_text(code + "def predict(texts): pass\nclass Kind:\n    def ask(self): pass\n")
    (tmp_path / "lacks_all.py").write_text("size = 3\n")
    for spec, sentence in {
        "lacks_one:predic": "no 'predic' (did you mean 'predict'?); it defines f0, f1, f2, f3, f4, f5 and 3 more.",
        "lacks_one:other": "the module lacks_one has no 'other'; it defines f0, f1, f2, f3, f4, f5 and 3 more.",
        "lacks_one:Kind.asks": "has no 'Kind.asks' (did you mean 'ask'?); it defines ask.",
        "lacks_one:size.x": "has no 'size.x'; it defines nothing that can be called.",
        "lacks_all:predict": "the module lacks_all has no 'predict'; it defines nothing that can be called.",
    }.items():
        with pytest.raises(BadInput) as caught:
            load_function(spec)
        assert str(caught.value).endswith(sentence)


def test_batches() -> None:
    sizes: list[int] = []

    def count(texts: list[str]) -> Any:
        sizes.append(len(texts))
        return by_length(texts)

    found = ask(FunctionVictim(count, batch=3), *[("x" * size,) for size in range(1, 8)])
    assert sizes == [3, 3, 1]
    assert found[("xx",)] == (1 / 3, 2 / 3)


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (lambda texts: [[0.5, 0.5]], "gave 1 rows for 2 texts"),
        (lambda texts: [[0.5, 0.5], [float("nan"), 0.5]], "in row 1, which is not finite"),
        (lambda texts: [[3.0, -1.0], [0.5, 0.5]], "in row 0"),
        (lambda texts: "positive", "not a table of numbers"),
        (lambda texts: None, "0 dimensions"),
        (lambda texts: {}[texts[0]], "raised KeyError: 'bb'"),
        (lambda texts: 1 / 0, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_broken(function: Any, word: str) -> None:
    with pytest.raises(VictimError) as caught:
        ask(FunctionVictim(function, name="python:m:f"), ("a",), ("bb",))
    assert str(caught.value).startswith("python:m:f ")
    assert word in str(caught.value)


def test_own_errors_pass_through() -> None:
    def refuse(texts: list[str]) -> Any:
        raise ServiceFailed("The licence ran out.")

    with pytest.raises(ServiceFailed, match="The licence ran out"):
        ask(FunctionVictim(refuse), ("a",))


def test_width_may_not_change() -> None:
    widths = iter([2, 3])
    victim = FunctionVictim(lambda texts: np.full((len(texts), next(widths)), 0.5), output="logits")
    ask(victim, ("a",))
    with pytest.raises(VictimError, match="gave 3 scores in row 0; 2 are expected"):
        ask(victim, ("b",))


def test_one_bad_text_costs_only_itself() -> None:
    def picky(texts: list[str]) -> Any:
        if any("bad" in text for text in texts):
            raise RuntimeError("cannot read this")
        return by_length(texts)

    service: Service[Fields, Scores] = Service(FunctionVictim(picky, name="f"))
    good, bad = service.ask([("a",), ("abc",)]), service.ask([("bad",)])
    list(service.launch())
    list(service.collect())
    assert good.answers == [(0.5, 0.5), (0.25, 0.75)]
    assert bad.failure is not None
    assert str(bad.failure[1]) == "f raised RuntimeError: cannot read this"


def test_bad_settings() -> None:
    with pytest.raises(BadInput, match="Unknown output 'x'"):
        FunctionVictim(by_length, output="x")
    with pytest.raises(BadInput, match="batch=0"):
        FunctionVictim(by_length, batch=0)


def test_fingerprints() -> None:
    one, two = [lambda texts: by_length(texts), lambda texts: by_length(texts)]
    assert FunctionVictim(one).fingerprint == FunctionVictim(one).fingerprint
    assert FunctionVictim(one).fingerprint != FunctionVictim(two).fingerprint
    assert FunctionVictim(by_length).fingerprint != FunctionVictim(by_length, output="logits").fingerprint
    assert FunctionVictim(by_length, fingerprint="mine").fingerprint == "mine"


class Callable:
    def __call__(self, texts: list[str]) -> Any:
        return by_length(texts)


def test_objects_and_builtins() -> None:
    assert ask(FunctionVictim(Callable()), ("a",)) == {("a",): (0.5, 0.5)}
    with pytest.raises(MohsError, match="builtins:len gave an answer with 0 dimensions"):
        ask(FunctionVictim(len), ("a",))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))  # puts the search path back afterwards
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_named_function(module: Path) -> None:
    (module / "mine_ok.py").write_text(
        "def f(texts): return [[0.25, 0.75] for _ in texts]\nclass Box:\n    f = staticmethod(f)\nnumber = 3\n"
    )
    victim = load_function("mine_ok:f", batch=7)
    assert victim.name == "python:mine_ok:f"
    assert ask(victim, ("a",)) == {("a",): (0.25, 0.75)}
    assert ask(load_function("mine_ok:Box.f"), ("a",)) == {("a",): (0.25, 0.75)}
    with pytest.raises(BadInput, match="python:mine_ok:number is a int, not a function"):
        load_function("mine_ok:number")
    with pytest.raises(BadInput, match=r"the module mine_ok has no 'Box\.g'"):
        load_function("mine_ok:Box.g")


@pytest.mark.parametrize(
    ("spec", "text", "word"),
    [
        ("mine_absent:f", None, "No module named 'mine_absent'"),
        ("mine_needs:f", "import nowhere_at_all", "No module named 'nowhere_at_all'"),
        ("mine_syntax:f", "def f(:", "importing mine_syntax failed with SyntaxError"),
        ("mine_raises:f", "[][1]", "importing mine_raises failed with IndexError"),
        ("mine_attribute:f", "import os\nos.nothing", "importing mine_attribute failed with AttributeError"),
        ("mine_plain", None, "write python:module:function"),
        (":f", None, "write python:module:function"),
        ("mine_plain:", None, "write python:module:function"),
    ],
)
def test_bad_modules(module: Path, spec: str, text: str | None, word: str) -> None:
    if text is not None:
        (module / f"{spec.split(':')[0]}.py").write_text(text)
    with pytest.raises(BadInput) as caught:
        load_function(spec)
    assert f"python:{spec}" in str(caught.value)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_closure_or_an_object_carries_is_never_taken_for_the_same() -> None:
    def make(share: float) -> Any:
        return lambda texts: [[1 - share, share] for _ in texts]

    class Model:
        def predict(self, texts: list[str]) -> Any:
            return [[0.5, 0.5] for _ in texts]

    victims = [FunctionVictim(f) for f in (make(0.1), make(0.2), Model().predict, Model().predict)]
    assert len({victim.fingerprint for victim in victims}) == 4
    assert FunctionVictim(by_length).fingerprint == FunctionVictim(by_length).fingerprint
