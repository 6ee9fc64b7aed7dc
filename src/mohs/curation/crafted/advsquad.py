"""AdvSQuAD, paragraphs with a distracting sentence at their end (Jia and Liang 2017), as questions for QNLI.

AdvGLUE pairs each question with its distracting sentence, which looks like an answer and is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.crafted.sentences import sentences_of
from mohs.curation.crafted.squad import Asked, read_squad
from mohs.studies.reading import Reader

LICENCE = "CC-BY-SA-4.0 (questions), MIT (sentences)"
NOT_ANSWERED = "not_entailment"


def advsquad(order: Order) -> Iterator[CraftedExample]:
    """The questions of AddSent or AddOneSent, each with the sentence that was added.

    An id such as 56be4db0-high-conf-turk0 stands for the question 56be4db0 with an added sentence; the file also has
    the question as it was. If the paragraph as it was is missing, the last sentence counts as added.
    """
    order.only_for("qnli")
    Reader(dict(order.options), "options").end()
    everything = list(read_squad(order.file))
    before = {one.id: one.context for one in everything}
    for one in everything:
        original, _, rule = one.id.partition("-")
        if not rule:
            continue
        sentence = added(one, before.get(original))
        if sentence:
            method = f"advsquad: {re.sub(r'[0-9]+$', '', rule)}"
            yield CraftedExample(one.id, (one.question, sentence), NOT_ANSWERED, method, order.licence or LICENCE)


def added(one: Asked, before: str | None) -> str:
    """The sentence that was added to a paragraph, at its end or in front; empty if there is none."""
    context = one.context.strip()
    if before is None:
        return sentences_of(context)[-1] if context else ""
    before = before.strip()
    if context.startswith(before):
        return context[len(before) :].strip()
    return context.removesuffix(before).strip() if context.endswith(before) else added(one, None)
