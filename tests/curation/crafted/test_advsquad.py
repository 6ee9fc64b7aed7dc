"""AdvSQuAD, with its added sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mohs.curation.crafted.advsquad import added, advsquad
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.crafted.squad import Asked
from mohs.errors import BadInput
from mohs.studies.reading import Fault

CONTEXT = "Ann ran. Bob sat."


def paragraph(context: str, identity: str) -> dict[str, Any]:
    return {"context": context, "qas": [{"id": identity, "question": "Who ran?", "answers": [{"text": "Ann"}]}]}


def read(folder: Path, *paragraphs: dict[str, Any], **more: Any) -> list[CraftedExample]:
    (folder / "adv.json").write_text(json.dumps({"data": [{"title": "T", "paragraphs": paragraphs}]}))
    return list(advsquad(Order(str(folder / "adv.json"), "qnli", **more)))


def test_a_question_with_the_sentence_that_was_added(tmp_path: Path) -> None:
    paragraphs = [
        paragraph(CONTEXT, "q1"),
        paragraph(f"{CONTEXT} Dr. Eve walked.", "q1-high-conf-turk0"),
        paragraph(f"Eve walked. {CONTEXT}", "q1-high-conf-turk1"),
        paragraph(CONTEXT, "q1-high-conf-turk2"),  # nothing was added
        paragraph("Tim sat. Mr. T. Fox walked.", "q2-turk3"),  # without the question as it was
        paragraph(CONTEXT, "q3"),
    ]
    found = read(tmp_path, *paragraphs)
    assert [(one.id, one.fields, one.method) for one in found] == [
        ("q1-high-conf-turk0", ("Who ran?", "Dr. Eve walked."), "advsquad: high-conf-turk"),
        ("q1-high-conf-turk1", ("Who ran?", "Eve walked."), "advsquad: high-conf-turk"),
        ("q2-turk3", ("Who ran?", "Mr. T. Fox walked."), "advsquad: turk"),
    ]
    assert {one.label for one in found} == {"not_entailment"}
    assert {one.licence for one in found} == {"CC-BY-SA-4.0 (questions), MIT (sentences)"}
    assert read(tmp_path, *paragraphs, licence="mine")[0].licence == "mine"


@pytest.mark.parametrize(
    ("context", "before", "found"),
    [
        (f"{CONTEXT} Eve sat.", CONTEXT, "Eve sat."),
        (f"{CONTEXT} Eve sat. And sang.", CONTEXT, "Eve sat. And sang."),
        (f" {CONTEXT}\n", CONTEXT, ""),
        (f"{CONTEXT} Eve sat.", "Ann  ran. Bob sat.", "Eve sat."),  # the paragraph was changed besides
        ("", None, ""),
    ],
)
def test_what_was_added(context: str, before: str | None, found: str) -> None:
    assert added(Asked("q-turk0", "Who?", context, ()), before) == found


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="for tasks of the kind qnli, not nli"):
        list(advsquad(Order("any", "nli")))
    with pytest.raises(Fault, match=r"options\.rule is unknown"):
        list(advsquad(Order("any", "qnli", options={"rule": "x"})))
    with pytest.raises(BadInput, match=r"There is no file .*none\.json"):
        list(advsquad(Order(str(tmp_path / "none.json"), "qnli")))
