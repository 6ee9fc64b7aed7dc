"""SCPN's ten target structures by rules over a dependency parse (after Iyyer et al. 2018), without a trained model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from mohs.space import form_rules, moving_rules
from mohs.space.clauses import Sentence, sentences
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.parses import Parse

Rule = Callable[[Sentence], Iterator[str]]


def _statement(s: Sentence) -> Iterator[str]:
    yield from moving_rules.moved_back(s)
    yield from form_rules.whole_sentence(s)


# In the order of the templates of paper 002, from the most frequent of ParaNMT-50M on.
TEMPLATES: Mapping[str, Rule] = {
    "S(NP VP .)": _statement,
    "S(VP .)": form_rules.without_subject,
    "NP(NP .)": form_rules.noun_phrase,
    "FRAG(SBAR .)": form_rules.fragment,
    "S(S , CC S .)": moving_rules.swapped_clauses,
    "S(LST VP .)": form_rules.listed,
    "SBARQ(WHADVP SQ .)": form_rules.why_question,
    "S(PP , NP VP .)": moving_rules.fronted_phrase,
    "S(ADVP NP VP .)": moving_rules.fronted_adverb,
    "S(SBAR , NP VP .)": moving_rules.fronted_clause,
}
MOST_WORDS = 40  # of a sentence; parses of longer ones are too often wrong


@dataclass(frozen=True)
class Syntax:
    """Each sentence of a field in SCPN's ten target structures, one sentence changed at a time.

    For each structure there is a rule that moves parts of the sentence, or gives it another form. A rule applies to
    some sentences only, and gives at most one string. Relations are those of spaCy's English models.

    Differs from SCPN (Iyyer et al. 2018):
    - rules over a dependency parse take the place of two trained networks, so the words stay the same but for the
      function words that a structure asks for; preset `paper` of the attack asks a trained model instead;
    - a sentence that has no natural form in a structure gets none, where SCPN always writes something;
    - of several sentences one is rewritten; SCPN takes the text as one sentence.
    """

    needs: ClassVar[tuple[str, ...]] = ("parser",)
    keeps_label_of: ClassVar[frozenset[str]] = frozenset({"sentiment", "nli", "qnli", "paraphrase"})

    async def rewrite(self, text: Text, number: int, ask: Services) -> dict[str, str]:
        """The rewrites, sentence by sentence, in the order of the structures."""
        string = text.fields[number]
        (parse,) = await ask.parser([string])
        return rewrites(string, parse)


def rewrites(string: str, parse: Parse) -> dict[str, str]:
    """Every rewrite of a parsed string, with the name of its structure."""
    found: dict[str, str] = {}
    for start, end, sentence in sentences(string, parse):
        for template in TEMPLATES:
            made = rewritten(sentence, template)
            if made is not None:
                found.setdefault(string[:start] + made + string[end:], template)
    return found


def rewritten(sentence: Sentence, template: str) -> str | None:
    """A sentence in one of the structures; None if the rule does not apply, or changes nothing but capitals."""
    if len(sentence.tokens) > MOST_WORDS:
        return None
    before = sentence.string[sentence.tokens[0].start : sentence.tokens[-1].end]
    return next((made for made in TEMPLATES[template](sentence) if made.lower() != before.lower()), None)
