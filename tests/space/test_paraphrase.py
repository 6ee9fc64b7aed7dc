"""Rewrites by a model, which a table of answers stands for here."""

from __future__ import annotations

from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.space import Paraphrase, Scpn, parse_source
from mohs.space.paraphrase import control, recased
from mohs.space.syntax import TEMPLATES
from mohs.text import Text
from mohs.text.questions import Rephrasing
from tests.toys import now, services


def test_a_paraphrase_asks_with_its_settings() -> None:
    wanted = Rephrasing("say: He left.", 3, 4, 20, True)
    ask = services(paraphraser={wanted: ("he went away.", "HE  LEFT.", "away he went.")}.__getitem__)
    made = now(Paraphrase(k=3, beams=4, most=20, sampled=True, prefix="say:").rewrite(Text("A.", "He left."), 1, ask))
    assert made == {"He went away.": "paraphrase", "Away he went.": "paraphrase"}  # the second says nothing new


def test_without_a_prefix_the_text_stands_alone() -> None:
    ask = services(paraphraser={Rephrasing("he left", 5, 5, 60): ("he went",)}.__getitem__)
    assert now(Paraphrase().rewrite(Text("he left"), 0, ask)) == {"he went": "paraphrase"}


def test_scpn_asks_for_each_structure_and_names_it() -> None:
    asked: list[Any] = []

    def answer(question: Rephrasing) -> tuple[str, ...]:
        asked.append(question)
        if question.text.startswith("[S(PP , NP VP .)]"):
            return ("in paris , he left .",)
        return ("he left in paris .",) if question.text.startswith("[S(NP VP .)]") else ()

    made = now(Scpn().rewrite(Text("he left in Paris ."), 0, services(paraphraser=answer)))
    assert made == {"in Paris , he left .": "S(PP , NP VP .)"}  # what only repeats the text is left out
    assert asked == [Rephrasing(f"[{template}] he left in Paris .", 1, 3, 40) for template in TEMPLATES]
    assert control("S(VP .)") == "[S(VP .)] "


@pytest.mark.parametrize("source", [Paraphrase(), Scpn()])
def test_an_empty_field_is_not_asked(source: Any) -> None:
    assert now(source.rewrite(Text("  "), 0, services(paraphraser=lambda question: ("words",)))) == {}


@pytest.mark.parametrize(
    ("made", "original", "wanted"),
    [
        ("in paris , he saw john .", "He saw John in Paris .", "In Paris , he saw John ."),
        ("why did john leave ?", "John left.", "Why did John leave ?"),
        ("but i left", "I left", "But I left"),
        ("the us won", "the US won", "the US won"),
        ("In Paris", "in paris", "In Paris"),  # it writes capitals itself
        ("", "He left", ""),
        ("...", "He left", "..."),
    ],
)
def test_words_get_their_capitals_back(made: str, original: str, wanted: str) -> None:
    assert recased(made, original) == wanted


def test_they_are_written_like_other_sources() -> None:
    assert parse_source("scpn:most=20") == Scpn(most=20)
    assert parse_source("paraphrase:k=3,sampled=yes") == Paraphrase(k=3, sampled=True)
    with pytest.raises(BadInput, match="k=0 does not fit"):
        parse_source("paraphrase:k=0")
