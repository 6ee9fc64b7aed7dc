"""Files in SQuAD's format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mohs.curation.crafted.squad import Asked, read_squad
from mohs.errors import BadInput

ASKED = {"id": 7, "question": " Who? ", "answers": [{"text": "Ann"}, {"text": "Ann"}, {"text": "She"}]}


def whole(*asked: Any) -> dict[str, Any]:
    return {"data": [{"title": "T", "paragraphs": [{"context": "Ann ran.", "qas": list(asked)}]}]}


def test_questions_with_their_answers(tmp_path: Path) -> None:
    unanswered = {"id": "8", "question": "Why?", "answers": [], "is_impossible": True, "plausible_answers": []}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(whole(ASKED, unanswered)))
    expected = [Asked("7", "Who?", "Ann ran.", ("Ann", "She")), Asked("8", "Why?", "Ann ran.", ())]
    assert list(read_squad(str(path))) == expected
    (tmp_path / "squad.json.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_squad(str(tmp_path / "squad.json.gz"))) == expected


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([], "TypeError"),
        ({"rows": []}, "KeyError: 'data'"),
        ({"data": [{"title": "T"}]}, "KeyError: 'paragraphs'"),
        (whole({"id": 1}), "KeyError: 'question'"),
        (whole({"id": 1, "question": "Who?", "answers": ["Ann"]}), "TypeError"),
        (whole("Who?"), "AttributeError"),
    ],
)
def test_what_is_not_squad(content: Any, fault: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(BadInput) as refused:
        list(read_squad(str(tmp_path / "x.json")))
    said = str(refused.value)
    assert f"x.json is not in SQuAD's format ({fault}" in said
    assert said.endswith("it has `data`, a list of articles with `paragraphs`, each with a `context` and its `qas`.")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no file .*none\.json; correct its name"):
        list(read_squad(str(tmp_path / "none.json")))
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(BadInput, match=r"x\.json is not JSON"):
        list(read_squad(str(tmp_path / "x.json")))
    (tmp_path / "y.json").write_text("{}")
    with pytest.raises(BadInput, match=r"must hold one file that ends in \.json or \.json\.gz, but holds"):
        list(read_squad(str(tmp_path)))
