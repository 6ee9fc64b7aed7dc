"""The classes of crafted examples by name, as numbers of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Names of one class. A task with two classes of inference calls both neutral and contradiction "not entailment".
_SAME = (
    frozenset({"positive", "pos"}),
    frozenset({"negative", "neg"}),
    frozenset({"duplicate", "paraphrase", "equivalent"}),
    frozenset({"notduplicate", "different", "notparaphrase", "notequivalent"}),
    frozenset({"entailment", "entailed"}),
    frozenset({"notentailment", "notentailed"}),
)
_WIDER = {"neutral": "notentailment", "contradiction": "notentailment"}


def class_of(name: str, labels: Sequence[str], called: Mapping[str, str]) -> int | None:
    """The number of a class among a task's labels; None if they have no such class.

    called: the task's names for classes of the set, where these cannot be guessed.
    """
    if name in called:
        return list(labels).index(called[name]) if called[name] in labels else None
    plain = [_plain(label) for label in labels]
    own = _plain(name)
    for wanted in (own, *([_WIDER[own]] if own in _WIDER else [])):
        same = next((names for names in _SAME if wanted in names), frozenset({wanted}))
        found = [number for number, label in enumerate(plain) if label in same]
        if found:
            return found[0]
    return None


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
