"""What kind of task a data set looks like: some changes keep the labels of one kind and not of another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

# Each kind, in words.
KINDS: Mapping[str, str] = {
    "sentiment": "sentiment",
    "nli": "natural language inference",
    "paraphrase": "paraphrases",
    "qnli": "whether a sentence answers a question",
}
_LABELS: Mapping[str, frozenset[str]] = {
    "sentiment": frozenset({"negative", "neutral", "positive"}),
    "nli": frozenset({"entailment", "neutral", "contradiction", "notentailment"}),
    "paraphrase": frozenset({"duplicate", "notduplicate", "different", "paraphrase", "notparaphrase"}),
}
_FIELDS: Mapping[frozenset[str], str] = {
    frozenset({"question", "sentence"}): "qnli",
    frozenset({"question1", "question2"}): "paraphrase",
    frozenset({"premise", "hypothesis"}): "nli",
}


def kind_of(labels: Sequence[str], names: Sequence[str]) -> str | None:
    """The kind of a task, by the names of its labels and fields; None if they do not tell.

    Names of fields are believed first if labels are numbers or agree with them: `entailment` may be qnli or nli.
    """
    plain = {_plain(label) for label in labels}
    said = next((kind for kind, known in _LABELS.items() if len(plain) > 1 and plain <= known), None)
    by_fields = _FIELDS.get(frozenset(map(_plain, names)))
    if by_fields is None:
        return said if said is None or (said == "sentiment") == (len(names) == 1) else None
    agrees = said is None or said == by_fields or (by_fields, said) == ("qnli", "nli")
    unnamed = said is not None or all(label.isdigit() for label in plain)
    return by_fields if agrees and unnamed else None


def in_words(kinds: Collection[str]) -> str:
    """Some kinds as a list for readers."""
    return ", ".join(said for kind, said in KINDS.items() if kind in kinds) or "no kind of task"


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
