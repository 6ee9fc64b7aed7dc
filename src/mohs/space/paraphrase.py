"""Rewrites by a trained model: plain paraphrases, and SCPN's paraphrases with a given structure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mohs.space.rewrites import Rewritten
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.space.syntax import TEMPLATES
from mohs.text import Text
from mohs.text.questions import Rephrasing
from mohs.text.stopwords import ENGLISH
from mohs.text.text import split_words

_KEEPS = frozenset({"sentiment", "nli", "qnli", "paraphrase"})


@dataclass(frozen=True)
class Paraphrase:
    """The `k` best paraphrases of a field by a sequence-to-sequence model.

    `prefix` is put before the field, with a space, for models that are told what to do ("paraphrase:"). `sampled`
    draws the paraphrases instead of searching for the likeliest; the draw depends on the text alone. What the model
    says is not checked: add a constraint, such as similarity, to keep the meaning.
    """

    k: int = 5
    beams: int = 5  # at least k are used
    most: int = 60  # tokens of a paraphrase; one that is not finished by then is left out
    sampled: bool = False
    prefix: str = ""

    def __post_init__(self) -> None:
        at_least(1, k=self.k, beams=self.beams, most=self.most)

    needs: ClassVar[tuple[str, ...]] = ("paraphraser",)
    keeps_label_of: ClassVar[frozenset[str]] = _KEEPS

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """The paraphrases, likeliest first."""
        string = text.fields[number]
        if not string.strip():
            return {}
        told = f"{self.prefix.rstrip()} {string}" if self.prefix else string
        question = Rephrasing(told, self.k, self.beams, self.most, self.sampled)
        (answers,) = await ask.paraphraser([question])
        return _rewritten(string, ((answer, "paraphrase") for answer in answers))


@dataclass(frozen=True)
class Scpn:
    """A field in SCPN's ten target structures, by a model that was trained to write them (`mohs train --task scpn`).

    The model is told the structure before the text, as in "[S(PP , NP VP .)] he left in 1990 .". As in SCPN (Iyyer et
    al. 2018), beams are 3 and an answer has at most 40 tokens.

    Differs from SCPN:
    - one network reads the structure and the text; SCPN first writes a whole parse for the structure;
    - a text that is not finished after 40 tokens is left out, where SCPN cuts it off;
    - words that the model writes small get back the capitals they have in the text.
    """

    beams: int = 3
    most: int = 40

    def __post_init__(self) -> None:
        at_least(1, beams=self.beams, most=self.most)

    needs: ClassVar[tuple[str, ...]] = ("paraphraser",)
    keeps_label_of: ClassVar[frozenset[str]] = _KEEPS

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """One rewrite for each structure, in their order."""
        string = text.fields[number]
        if not string.strip():
            return {}
        questions = [Rephrasing(control(template) + string, 1, self.beams, self.most) for template in TEMPLATES]
        answers = await ask.paraphraser(questions)
        return _rewritten(string, zip((answer[0] if answer else "" for answer in answers), TEMPLATES, strict=True))


def control(template: str) -> str:
    """What tells a model the structure it shall write."""
    return f"[{template}] "


def recased(made: str, original: str) -> str:
    """A text in small letters with the capitals that its words have in another one.

    A function word with which the other one starts has its capital from its place there, and so loses it elsewhere.
    """
    words, gaps = split_words(made)
    before = split_words(original)[0]
    if not words or not before or made != made.lower():
        return made
    known = {word.lower(): word for word in reversed(before)}
    if before[0] != "I" and before[0].lower() in ENGLISH and before[0] not in before[1:]:
        known[before[0].lower()] = before[0].lower()
    words = [known.get(word, word) for word in words]
    if before[0][:1].isupper():
        words[0] = words[0][:1].upper() + words[0][1:]
    return "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=True))


def _rewritten(string: str, answers: Iterable[tuple[str, str]]) -> Rewritten:
    """Answers with their rules, without those that say nothing new."""
    found: Rewritten = {}
    for answer, rule in answers:
        made = recased(answer, string)
        if made and made.lower().split() != string.lower().split():
            found.setdefault(made, rule)
    return found
