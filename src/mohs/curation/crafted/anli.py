"""ANLI, sentences that people wrote to fool models (Nie et al. 2020): its own files, and those of its analysis."""

from __future__ import annotations

from collections.abc import Iterator

from mohs.curation.crafted.columns import numbered_rows, text_of
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.errors import BadInput
from mohs.studies.reading import Fault, Reader

LICENCE = "CC-BY-NC-4.0"
_CLASSES = ("entailment", "neutral", "contradiction")
_NAMES = {  # letters in ANLI's files, numbers where the Hub has it
    **{name: name for name in _CLASSES},
    **{name[0]: name for name in _CLASSES},
    **{str(number): name for number, name in enumerate(_CLASSES)},
}


def anli(order: Order) -> Iterator[CraftedExample]:
    """Premise and hypothesis with the label on which people agreed.

    The files are those of a round (`context`, `hypothesis`, `label`), of the annotated development sets (`context`,
    `statement`, `gold_label`; the guess that the model made, `adversary_pred`, is no label) or of the Hub (`premise`,
    `hypothesis`, `label`). A folder stands for all tables in it.
    """
    order.only_for("nli")
    Reader(dict(order.options), "options").end()
    if len(order.fields) not in (0, 2):
        raise Fault(f"fields names {len(order.fields)} columns; ANLI has a premise and a hypothesis")
    first, second = order.fields or ("", "")
    seen: set[str] = set()
    for file, number, row in numbered_rows(order.file):
        where = f"{file}, row {number}"
        premise = text_of(row, (first,) if first else ("context", "premise"), where)
        hypothesis = text_of(row, (second,) if second else ("statement", "hypothesis"), where)
        given = row.get("gold_label", row.get("label"))
        label = _NAMES.get(str(given))
        if label is None:
            raise BadInput(f"{where}: the label is {given!r}; ANLI has e, n and c, or 0, 1 and 2.")
        own = str(row.get("uid") or f"{file}-{number}")
        own = own if own not in seen else f"{own}-{file}-{number}"
        seen.add(own)
        yield CraftedExample(own, (premise, hypothesis), label, f"anli: {file}", order.licence or LICENCE)
