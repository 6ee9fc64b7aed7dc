"""Questions that ask for something else."""

from __future__ import annotations

import pytest

from mohs.curation.crafted.altered import Words, altered
from mohs.curation.crafted.sentences import said
from tests.curation.crafted.parses import parse_of

ANTONYMS = {("big", "a"): ["small"], ("victory", "n"): ["defeat"], ("war", "n"): ["peace"]}
NEAR = {
    "paris": ["parisian", "france", "lyon", "london"],
    "holland": ["netherlands", "belgium"],
    "curie": ["boulanger"],
    "three": ["3", "four"],
    "french": ["france", "belgian"],
    "apollo": ["gemini"],
    "cat": ["dog"],
    "alps": ["mountain", "andes"],
}
TAGS = {"France": "NNP", "Lyon": "NN", "Belgian": "JJ", "Andes": "NNPS", "Gemini": "NN", "Mountain": "NN"}
WORDS = Words(
    lambda word, pos: ANTONYMS.get((word, pos), []),
    lambda word: ["netherlands"] if word == "holland" else [],
    lambda word: NEAR.get(word, []),
    lambda word: TAGS.get(word, "NNP"),
    lambda word: word[:3] if word.startswith("par") else word,
)


@pytest.mark.parametrize(
    ("question", "found", "rules"),
    [
        ("largest/JJS/amod/1 cat/NN/ROOT/1", "smallest cat", ["special"]),
        ("big/JJ/amod/1 cat/NN/ROOT/1", "small cat", ["antonym"]),
        ("Big/JJ/amod/1 victory/NN/ROOT/1", "Small defeat", ["antonym", "antonym"]),
        ("Paris/NNP/ROOT/0/GPE", "France", ["name"]),  # not Parisian, which is the same word
        ("Holland/NNP/ROOT/0/GPE", "Belgium", ["name"]),  # not the Netherlands, which is the same country
        ("Alps/NNPS/ROOT/0/LOC", "Andes", ["name"]),  # of the same tag first
        ("three/CD/ROOT/0", "four", ["number"]),  # a word, as it was
        ("1820/CD/ROOT/0/DATE", "1832", ["number"]),  # vectors without numbers in digits
        ("7/CD/ROOT/0/DATE", "10", ["number"]),
        ("31/CD/ROOT/0/DATE", "28", ["number"]),
        ("French/NNP/ROOT/0/NORP", "Belgian", ["name"]),  # not France
        ("Apollo/NN/ROOT/0/ORG", "Gemini", ["entity"]),
        ("Brindle/NNP/ROOT/0/PERSON", "Holloway", ["type"]),
        ("Oss/NNP/ROOT/0/GPE", "Lisbon", ["type"]),
        ("Xy/NNPS/ROOT/0/NORP", "Martians", ["type"]),
        ("Xy/NNP/ROOT/0/EVENT", "Meridian", ["type"]),
        ("Curie/NNP/ROOT/0/PERSON Curie/NNP/dep/0/PERSON", "Boulanger Holloway", ["name", "type"]),  # never twice
    ],
)
def test_rules(question: str, found: str, rules: list[str]) -> None:
    other, used = altered(parse_of(question), WORDS)
    assert said(other) == found
    assert used == rules


@pytest.mark.parametrize(
    "question",
    ["cat/NN/ROOT/0", "war/NN/ROOT/0", "What/WP/ROOT/0", "ran/VBD/ROOT/0", "xy/CD/ROOT/0", "Xy/NNP/ROOT/0"],
)
def test_what_stays(question: str) -> None:
    parse = parse_of(question)
    assert altered(parse, WORDS) == (parse, [])


def test_tokens_keep_their_places() -> None:
    parse = parse_of("big/JJ/amod/1 Paris/NNP/ROOT/1/GPE ?/./punct/1")
    other, _ = altered(parse, WORDS)
    assert [token._replace(text="") for token in other] == [token._replace(text="") for token in parse]
    assert said(other) == "small France?"
