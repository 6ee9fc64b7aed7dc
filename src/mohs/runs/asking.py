"""Asks a victim about finished texts, as a judge does: no answer depends on the other texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mohs.models.victim import Fields, Scores, Victim, service_of, traits_of

_AT_ONCE = 256  # texts between two reports of progress, if the victim's scores do not depend on the batch


def asked(model: Victim, texts: Sequence[Fields]) -> Iterator[dict[Fields, Scores | str]]:
    """The scores of distinct texts, or the error that the victim raised, a part of the texts at a time."""
    traits = traits_of(model)
    final = traits.verdict or model
    service = service_of(final, judge=True)
    step = _AT_ONCE if traits_of(final).exact else traits_of(final).together
    for start in range(0, len(texts), step):
        some = list(texts[start : start + step])
        yield {
            text: _error(final, text) if scores is None else tuple(scores)
            for text, scores in zip(some, service.again(some), strict=True)
        }


def _error(model: Victim, text: Fields) -> str:
    """What the victim says about a text that it cannot read."""
    try:
        model.collect(model.launch([text]))
    except Exception as error:  # a victim's own
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return "The victim raised an error once, and none when it was asked again."
