"""AdvFever's rules that keep the label, each by hand."""

from __future__ import annotations

import pytest

from mohs.space.fever import FAMILIES, Fever, said_otherwise
from mohs.text import Text
from mohs.text.parses import ParsedToken
from tests.toys import now, services

FILM = "Chinatown is a film."
CLAIMS = {
    FILM: {
        "there.exists.a.called": "There exists a film called Chinatown.",
        "there.is.a.called": "There is a film called Chinatown.",
        "there.exists.a.that.goes.by.name.of": "There exists a film that goes by the name of Chinatown.",
        "there.exists.a.called.prn": "There exists a film, it is called Chinatown.",
        "there.exists.a.that.goes.by.name.of.prn": "There exists a film, it goes by the name of Chinatown.",
        "there.is.a.called.prn": "There is a film, it is called Chinatown.",
    },
    "Greg Page was an able boxer.": {
        "there.existed.a.called": "There existed an able boxer called Greg Page.",
        "there.was.a.called": "There was an able boxer called Greg Page.",
        "there.existed.a.that.went.by.name.of": "There existed an able boxer that went by the name of Greg Page.",
        "there.existed.a.called.prn": "There existed an able boxer, they were called Greg Page.",
        "there.existed.a.that.went.by.name.of.prn": "There existed an able boxer, they went by the name of Greg Page.",
        "there.was.a.called.prn": "There was an able boxer, they were called Greg Page.",
    },
    "Annie was directed by Will Gluck.": {
        "directedby1": "There is a movie called Annie which is directed by Will Gluck.",
        "directedby2": "There is a director, Will Gluck, who was involved in the production of Annie.",
        "directedby3": "There is a person involved in the movie industry, Will Gluck, who was the director of Annie.",
        "directedby4": "Will Gluck is the director of Annie.",
        "directedby5": "Will Gluck was the director of Annie.",
    },
    "Uma Thurman starred in Pulp Fiction.": {
        "starredin1": "There is a person, Uma Thurman, that starred in Pulp Fiction.",
        "starredin2": "There is a person, Uma Thurman, that took a leading acting role in Pulp Fiction.",
    },
    "Fox broadcast an American opera.": {"american": "Fox broadcast an opera that originated from the United States."},
    "Prince William was born in London.": {
        "birth1": "There exists a place, London, that is the birthplace of the person Prince William.",
        "birth2": "There exists a place, London, that is where the person Prince William started living.",
    },
    "B. R. Ambedkar was born in the 19th century.": {
        "birth1": "The 19th century is the approximate time at which the person B. R. Ambedkar was born.",
        "birth2": "The 19th century is the approximate time at which the person B. R. Ambedkar started living.",
    },
    "Babur died in Asia": {
        "death1": "There exists a place, Asia, that is the place where the person Babur became deceased.",
        "death2": "There exists a place, Asia, that is the place where the person Babur died.",
        "death3": "There exists a place, Asia, that is the place where the person Babur took their final breath.",
    },
    "Amy Winehouse died on 23 July 2011.": {
        "death1": "23 July 2011 is the approximate time at which the person Amy Winehouse became deceased.",
        "death2": "23 July 2011 is the approximate time at which the person Amy Winehouse died.",
        "death3": "23 July 2011 is the approximate time at which the person Amy Winehouse took their final breath.",
    },
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_family_by_hand(claim: str) -> None:
    assert {rule: made for made, rule in said_otherwise(claim).items()} == CLAIMS[claim]


def test_every_rule_has_a_claim_here() -> None:
    assert {rule.name for family in FAMILIES for rule in family.rules} == {r for made in CLAIMS.values() for r in made}


def test_no_rule_negates() -> None:
    for family in FAMILIES:
        for rule in family.rules:
            assert not {"no", "not", "never"} & set(f"{rule.sentence} {rule.place} {rule.time}".lower().split())


def test_small_letters_and_the_end_are_kept() -> None:
    made = said_otherwise("the film is a hit .")
    assert next(iter(made)) == "there exists a hit called the film ."
    assert all(one.endswith(" .") and one[0].islower() for one in made)


def test_an_american_is_a_person_and_keeps_the_article() -> None:
    made = {rule: one for one, rule in said_otherwise("Jerome Flynn is an American singer.").items()}
    assert made["american"] == "Jerome Flynn is a singer that originated from the United States."
    assert made["there.is.a.called.prn"] == "There is an American singer, they are called Jerome Flynn."
    assert len(made) == 7


@pytest.mark.parametrize(
    "claim",
    [
        "it is a film .",  # a pronoun names nothing
        "Fox is owned by Disney and it is a company.",  # the subject would be a clause
        "Paris, France is a town.",
        "Is it a film?",
        "It rained. Chinatown is a film.",  # more than the claim
        "Dr. Dre is a rapper. He is old.",
        "Ann was born in May 1955 in a cabin.",  # a time and a place
        "Ann was born in poverty.",  # neither
        "They walked home.",
        "",
        " . ",
    ],
)
def test_what_the_rules_leave_alone(claim: str) -> None:
    assert said_otherwise(claim) == {}


def entity(text: str, start: int, kind: str) -> ParsedToken:
    return ParsedToken(text, start, start + len(text), 0, "dep", "PROPN", "NNP", text, kind)


def test_with_entities_the_parser_says_what_is_what() -> None:
    claim = "  Zadie was born in may."
    kinds = {"person and time": ("PERSON", "DATE"), "person and place": ("PERSON", "GPE"), "nothing": ("", "")}
    found = {}
    for name, (first, last) in kinds.items():
        parse = (entity("Zadie", 2, first), entity("may", 20, last))
        ask = services(parser={claim: parse}.__getitem__)
        found[name] = now(Fever(entities=True).rewrite(Text(claim), 0, ask))
    assert list(found["person and time"]) == [
        "May is the approximate time at which the person Zadie was born.",
        "May is the approximate time at which the person Zadie started living.",
    ]
    assert next(iter(found["person and place"])) == (
        "There exists a place, may, that is the birthplace of the person Zadie."
    )
    assert found["nothing"] == {}


def test_with_entities_a_person_is_they() -> None:
    claim = "Zadie is a star."
    for kind, said in (("PERSON", "they are"), ("ORG", "it is")):
        ask = services(parser={claim: (entity("Zadie", 0, kind),)}.__getitem__)
        assert f"There is a star, {said} called Zadie." in now(Fever(entities=True).rewrite(Text(claim), 0, ask))


def test_it_needs_a_parser_for_entities_only() -> None:
    assert Fever().needs == ()
    assert Fever(entities=True).needs == ("parser",)
    assert now(Fever().rewrite(Text("A premise.", FILM), 1, services())) == said_otherwise(FILM)
