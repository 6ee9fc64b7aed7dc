"""Questions and answers as sentences. The parses are spaCy's, with its mistakes."""

from __future__ import annotations

import pytest

from mohs.curation.crafted.declarative import declarative
from tests.curation.crafted.parses import parse_of

SAID = [
    ("Who/WP/nsubj/1 founded/VBD/ROOT/1 Brindle/NNP/dobj/1/PERSON ?/./punct/1", "Tom Fox", "Tom Fox founded Brindle."),
    (
        "Where/WRB/advmod/1 was/VBD/auxpass/4 Marie/NNP/compound/3 Curie/NNP/nsubj/4 born/VBN/ROOT/4 ?/./punct/4"
        .replace("Where/WRB/advmod/1", "Where/WRB/advmod/4"), "Rome", "Marie Curie was born in Rome."
    ),
    (
        "When/WRB/advmod/4 was/VBD/auxpass/4 Marie/NNP/compound/3 Curie/NNP/nsubj/4 born/VBN/ROOT/4 ?/./punct/4",
        "18 May 1842", "Marie Curie was born on 18 May 1842."
    ),
    (
        "When/WRB/advmod/4 did/VBD/aux/4 the/DT/det/3 firm/NN/nsubj/4 move/VBP/ROOT/4 its/PRP$/poss/6 "
        "offices/NNS/dobj/4 to/IN/prep/4 Rome/NNP/pobj/7 ?/./punct/4",
        "May 1973", "The firm moved its offices to Rome in May 1973."
    ),
    (
        "In/IN/prep/5 what/WDT/det/2 year/NN/pcomp/0 was/VBD/auxpass/5 Brindle/NNP/nsubj/5 founded/VBN/ROOT/5 "
        "?/./punct/5",
        "1317", "Brindle was founded in 1317."
    ),
    (
        "In/IN/prep/5 what/WDT/det/2 year/NN/pcomp/0 was/VBD/auxpass/5 Brindle/NNP/nsubj/5 founded/VBN/ROOT/5 "
        "?/./punct/5",
        "after 1317", "Brindle was founded after 1317."
    ),
    (
        "What/WDT/det/1 river/NN/attr/2 is/VBZ/ROOT/2 Brindle/NNP/nsubj/2 on/IN/prep/3 ?/./punct/2",
        "Oder", "Brindle is on the river Oder."
    ),
    (
        "What/WP/det/1 city/NN/attr/2 is/VBZ/ROOT/2 the/DT/det/5 Victoria/NNP/compound/5 line/NN/attr/2 in/IN/prep/5 "
        "?/./punct/2",
        "Rome", "The Victoria line is in the city Rome."
    ),
    (
        "What/WP/det/1 kind/NN/dobj/6 of/IN/prep/1 trains/NNS/pobj/2 did/VBD/aux/6 it/PRP/nsubj/6 have/VB/ROOT/6 "
        "first/RB/advmod/6 ?/./punct/6",
        "purple", "It had purple trains first."
    ),
    (
        "What/WP/det/1 kind/NN/dobj/6 of/IN/prep/1 trains/NNS/pobj/2 did/VBD/aux/6 it/PRP/nsubj/6 have/VB/ROOT/6 "
        "first/RB/advmod/6 ?/./punct/6",
        "lanterns", "It had lanterns first."
    ),
    (
        "How/WRB/advmod/1 many/JJ/amod/2 yards/NNS/dobj/6 did/VBD/aux/6 Tom/NNP/compound/5 Fox/NNP/nsubj/6 "
        "throw/VB/ROOT/6 for/IN/prep/6 ?/./punct/6",
        "787", "Tom Fox threw for 787 yards."
    ),
    (
        "What/WP/attr/1 is/VBZ/ROOT/1 the/DT/det/3 name/NN/nsubj/1 of/IN/prep/3 Ann/NNP/poss/7 's/POS/case/5 "
        "son/NN/pobj/4 ?/./punct/1",
        "Tom Fox", "The name of Ann's son is Tom Fox."
    ),
    (
        "Which/WDT/det/1 son/NN/nsubj/4 of/IN/prep/1 Ann/NNP/pobj/2 won/VBD/ROOT/4 a/DT/det/6 prize/NN/dobj/4 "
        "?/./punct/4",
        "Tom Fox", "Tom Fox, the son of Ann, won a prize."
    ),
    (
        "What/WDT/det/1 prize/NN/nsubj/2 did/VBD/aux/4 Ann/NNP/nsubj/4 win/VB/ROOT/4 in/IN/prep/4 1903/CD/pobj/5 "
        "?/./punct/4",
        "Saturn", "Ann won the prize Saturn in 1903."
    ),
    (
        "At/IN/prep/3 what/WDT/det/2 temperature/NN/pcomp/0 is/VBZ/ROOT/3 the/DT/det/6 highest/JJS/amod/6 "
        "rate/NN/attr/3 reached/VBN/acl/6 ?/./punct/3",
        "75 degrees", "The highest rate is reached at 75 degrees."
    ),
    (
        "Where/WRB/advmod/1 was/VBD/ROOT/1 the/DT/det/3 cup/NN/nsubj/1 played/VBN/acl/3 ?/./punct/1",
        "Rome", "The cup was played in Rome."
    ),
    (
        "Why/WRB/advmod/3 did/VBD/aux/3 crime/NN/nsubj/3 rise/VB/ROOT/3 in/IN/prep/3 1991/CD/pobj/4 ?/./punct/3",
        "granite", "Crime rose in 1991 because of granite."
    ),
    (
        "What/WP/attr/1 are/VBP/auxpass/4 the/DT/det/3 pores/NNS/nsubjpass/4 called/VBN/ROOT/4 ?/./punct/4",
        "lanterns", "The pores are called lanterns."
    ),
    (
        "Whose/WP$/poss/1 office/NN/nsubj/2 designed/VBD/ROOT/2 the/DT/det/4 line/NN/dobj/2 ?/./punct/2",
        "Tom Fox", "Tom Fox's office designed the line."
    ),
    (
        "Where/WRB/pobj/4 did/VBD/aux/3 Tom/NNP/nsubj/3 come/VB/ROOT/3 from/IN/prep/3 ?/./punct/3",
        "Rome", "Tom came from Rome."
    ),
    (
        "What/WDT/det/1 percent/NN/nsubj/5 of/IN/prep/1 the/DT/det/4 forest/NN/pobj/2 lies/VBZ/ROOT/5 in/IN/prep/5 "
        "Brazil/NNP/pobj/6 ?/./punct/5",
        "10", "10 percent of the forest lies in Brazil."
    ),
    (
        "How/WRB/advmod/1 old/JJ/acomp/2 is/VBZ/ROOT/2 the/DT/det/5 oldest/JJS/amod/5 bridge/NN/nsubj/2 ?/./punct/2",
        "80", "The oldest bridge is 80 years old."
    ),
    (
        "How/WRB/advmod/1 tall/JJ/acomp/2 is/VBZ/ROOT/2 the/DT/det/4 bridge/NN/nsubj/2 ?/./punct/2",
        "80 feet", "The bridge is 80 feet tall."
    ),
    (
        "How/WRB/advmod/1 long/RB/advmod/5 did/VBD/aux/5 the/DT/det/4 war/NN/nsubj/5 rage/VB/ROOT/5 ?/./punct/5",
        "fifteen years", "The war raged for fifteen years."
    ),
    (
        "How/WRB/advmod/1 long/RB/advmod/5 did/VBD/aux/5 the/DT/det/4 war/NN/nsubj/5 rage/VB/ROOT/5 ?/./punct/5",
        "until 1893", "The war raged until 1893."
    ),
    (
        "Which/WDT/nsubj/4 of/IN/prep/0 the/DT/det/3 teams/NNS/pobj/1 won/VBD/ROOT/4 ?/./punct/4",
        "Northwind", "Northwind, one of the teams, won."
    ),
    (
        "Which/WDT/det/1 company/NN/nsubj/2 is/VBZ/ROOT/2 the/DT/det/4 gallery/NN/attr/2 named/VBN/acl/4 "
        "after/IN/prep/5 ?/./punct/2",
        "Northwind", "The gallery is named after the company Northwind."
    ),
    (
        "A/DT/det/1 problem/NN/nsubj/2 is/VBZ/ROOT/2 an/DT/det/4 example/NN/attr/2 of/IN/prep/4 what/WP/pobj/5 "
        "?/./punct/2",
        "granite", "A problem is an example of granite."
    ),
    (
        "What/WP/attr/1 is/VBZ/ROOT/1 the/DT/det/3 name/NN/nsubj/1 given/VBN/acl/3 to/IN/prep/4 it/PRP/pobj/5 "
        "?/./punct/1",
        "Saturn", "The name given to it is Saturn."
    ),
    (
        "What/WP/dobj/5 did/VBD/aux/5 the/DT/det/3 bear/NN/nsubj/5 never/RB/neg/5 give/VB/ROOT/5 up/RP/prt/5 "
        "?/./punct/5",
        "granite", "The bear never gave up granite."
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "found"), SAID, ids=[found for _, _, found in SAID])
def test_sentences(question: str, answer: str, found: str) -> None:
    assert declarative(parse_of(question), answer, lambda word: word in ("raged", "moved", "rose")) == found


@pytest.mark.parametrize(
    "question",
    [
        "Is/VBZ/ROOT/0 this/DT/nsubj/0 a/DT/det/3 question/NN/attr/0 ?/./punct/0",
        "How/WRB/advmod/1 is/VBZ/ROOT/1 the/DT/det/3 king/NN/nsubj/1 ?/./punct/1",
        "How/WRB/advmod/1 often/RB/advmod/4 had/VBD/aux/4 he/PRP/nsubj/4 lost/VBD/ROOT/4 ?/./punct/4",
        "What/WP/attr/1 were/VBD/ROOT/1 the/DT/det/3 men/NNS/nsubj/1 doing/VBG/acl/3 ?/./punct/1",
        "What/WP/dobj/3 did/VBD/aux/3 they/PRP/nsubj/3 moving/VBG/ROOT/3 ?/./punct/3",
        "Who/WP/nsubj/1 ran/VBD/ROOT/1 ?/./punct/1 Who/WP/nsubj/4 sat/VBD/ROOT/4 ?/./punct/4",
        "Where/WRB/ROOT/0 he/PRP/dep/0 ?/./punct/0",
    ],
)
def test_questions_that_no_rule_fits(question: str) -> None:
    assert declarative(parse_of(question), "granite", lambda _: False) is None
