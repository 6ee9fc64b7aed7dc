from __future__ import annotations

import pytest

from mohs.text.kinds import in_words, kind_of


@pytest.mark.parametrize(
    ("labels", "names", "kind"),
    [
        (["negative", "positive"], ["text"], "sentiment"),
        (["negative", "neutral", "positive"], ["sentence"], "sentiment"),
        (["negative", "positive"], ["one", "two"], None),
        (["entailment", "neutral", "contradiction"], ["premise", "hypothesis"], "nli"),
        (["entailment", "not_entailment"], ["sentence1", "sentence2"], "nli"),
        (["entailment", "not_entailment"], ["question", "sentence"], "qnli"),
        (["0", "1"], ["question", "sentence"], "qnli"),
        (["0", "1"], ["question1", "question2"], "paraphrase"),
        (["not_duplicate", "duplicate"], ["first", "second"], "paraphrase"),
        (["0", "1", "2"], ["premise", "hypothesis"], "nli"),
        (["World", "Sports"], ["premise", "hypothesis"], None),
        (["0", "1"], ["text"], None),
        (["0", "1"], ["sentence1", "sentence2"], None),
        (["neutral"], ["text"], None),
    ],
)
def test_by_names(labels: list[str], names: list[str], kind: str | None) -> None:
    assert kind_of(labels, names) == kind


def test_in_words() -> None:
    assert in_words({"qnli", "sentiment"}) == "sentiment, whether a sentence answers a question"
    assert in_words(()) == "no kind of task"
