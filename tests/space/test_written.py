from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from mohs.errors import BadInput
from mohs.space import (
    Constraint,
    Listed,
    Neighbours,
    SentenceSimilarity,
    Synonyms,
    Union,
    WordsBeyond,
    parse_constraint,
    parse_measure,
    parse_source,
)
from mohs.space.listed import table
from mohs.space.written import MEASURES, SOURCES, limits_of
from mohs.tasks.described import describe


def test_sources() -> None:
    assert parse_source("neighbours") == Neighbours()
    assert parse_source("neighbours:k=8,min_cosine=0.7") == Neighbours(k=8, min_cosine=0.7)
    assert parse_source("wordnet:same_pos=yes + neighbours:k=3") == Union((Synonyms(same_pos=True), Neighbours(k=3)))


def test_a_thesaurus_is_read_and_known_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("good\tfine\tnice\n", "utf-8")
    first = parse_source(f"thesaurus:{file}")
    assert isinstance(first, Listed)
    shown = describe(first)
    assert first.fingerprint in shown
    assert "nice" not in shown
    file.write_text("good\tfine\n", "utf-8")
    assert describe(parse_source(f"thesaurus:{file}")) != shown


def test_constraints_and_measures() -> None:
    assert parse_measure("similarity:window=15,angular=no") == SentenceSimilarity(angular=False, window=15)
    assert parse_measure("similarity:window=none") == SentenceSimilarity()
    assert parse_constraint("similarity>=0.9") == Constraint(SentenceSimilarity(), at_least=0.9)
    assert parse_constraint("words-beyond:share=0.4,up=yes<=0") == Constraint(WordsBeyond(0.4, up=True), at_most=0)


def test_short_texts_and_file_names_with_a_plus(tmp_path: Path) -> None:
    spec = "similarity>=0.7,short=15,at_least_short=0.1"
    assert parse_constraint(spec) == Constraint(SentenceSimilarity(), at_least=0.7, short=15, at_least_short=0.1)
    file = tmp_path / "c++" / "t.tsv"
    file.parent.mkdir()
    file.write_text("good\tfine\n", "utf-8")
    union = parse_source(f"thesaurus:{file}+neighbours:k=3")
    assert isinstance(union, Union)
    assert union.sources[1] == Neighbours(k=3)


@pytest.mark.parametrize(
    "spec",
    ["neighbours:k=0", "sememes:k=-1", "masked:k=-2", "masked:min_probability=2", "unmasked:products=-1"],
)
def test_a_source_that_could_offer_nothing_is_refused(spec: str) -> None:
    with pytest.raises(BadInput, match=r"does not fit; it must be at (least|most)"):
        parse_source(spec)


@pytest.mark.parametrize(
    "spec",
    ["similarity:window=0>=0.9", "pos:before=-2>=1", "words-beyond:share=-1<=0", "log-prob-drop:window=-1<=2"],
)
def test_a_constraint_that_would_judge_nothing_is_refused(spec: str) -> None:
    with pytest.raises(BadInput, match="does not fit; it must be at least"):
        parse_constraint(spec)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("similarity>=nan", "A threshold of sentence similarity is nan; give a number."),
        ("similarity>=0.5,long=3", "has the part 'long=3'; only short=WORDS or at_least_short=NUMBER may stand there."),
        ("similarity", "has no threshold; write it as MEASURE>=NUMBER or MEASURE<=NUMBER."),
        ("similarity>=high", "has the threshold 'high', which is not a number."),
        ("likeness>=1", "Unknown measure 'likeness'; use word-cosine, "),
        ("similarity:k=3>=1", "has the part 'k=3'; similarity takes NAME=VALUE with angular, window, previous."),
        ("edit-distance:k=3<=1", "has the part 'k=3'; edit-distance takes no settings."),
        ("similarity:window=wide>=1", "the value of window is 'wide', which does not fit; give a whole number."),
        ("similarity:angular=maybe>=1", "the value of angular is 'maybe', which does not fit; give yes or no."),
        ("words-beyond<=0", "lacks share; write words-beyond:share=VALUE."),
    ],
)
def test_what_does_not_fit_is_one_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_constraint(spec)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("magic", "Unknown source 'magic'; use neighbours, "),
        ("neighbours:8", "has the part '8'"),
        ("thesaurus", "A thesaurus needs its file; write thesaurus:FILE."),
        ("neighbours+", "Unknown source 'neighbours+'"),
        ("neighbours+magic", "Unknown source 'neighbours+magic'"),
    ],
)
def test_sources_that_do_not_fit(spec: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_source(spec)
    assert sentence in str(caught.value)


def test_the_table_shows_everything() -> None:
    rows = {(row["kind"], row["name"]): row for row in table()}
    assert len(rows) == len(SOURCES) + len(MEASURES)
    assert rows["source", "wordnet"]["needs"] == ["wordnet", "tagger"]
    assert rows["measure", "similarity"]["family"] == "semantics"
    assert rows["source", "neighbours"]["settings"].startswith("k=50, min_cosine=0.5")
    assert all(row["about"] for row in rows.values())


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("similarity>=2", "sentence similarity>=2, because it lies between 0 and 1"),
        ("similarity<=-0.1", "sentence similarity<=-0.1, because it lies between 0 and 1"),
        ("similarity:angular=no<=-2", "sentence cosine<=-2, because it lies between -1 and 1"),
        ("similarity>=0.7,short=15,at_least_short=70", "sentence similarity>=70, because it lies between 0 and 1"),
        ("word-cosine>=1.5", "word cosine>=1.5, because it lies between -1 and 1"),
        ("acceptable>=50", "acceptable>=50, because it lies between 0 and 1"),
        ("bertscore>=90", "BERTScore>=90, because it lies between 0 and 1"),
        ("pos>=2", "part of speech>=2, because it lies between 0 and 1"),
        ("no-antonyms<=-1", "antonyms<=-1, because it lies between 0 and 1"),
        ("share-changed<=-0.25", "share of words changed<=-0.25, because it is at least 0"),
        ("words-changed<=-1", "words changed<=-1, because it is at least 0"),
        ("perplexity<=0", "perplexity<=0, because it is at least 1"),
    ],
)
def test_a_constraint_that_no_text_passes_is_refused(spec: str, said: str) -> None:
    with pytest.raises(BadInput, match=f"No text passes {re.escape(said)}; give a threshold in that range"):
        parse_constraint(spec)


@pytest.mark.parametrize("spec", ["similarity>=1", "similarity:angular=no>=-1", "pos>=1", "no-antonyms<=0"])
def test_the_limits_themselves_may_be_asked_for(spec: str) -> None:
    parse_constraint(spec)


def test_limits_by_name() -> None:
    assert limits_of("sentence similarity") == (0, 1)
    assert limits_of("sentence cosine") == limits_of("word cosine") == (-1, 1)
    assert limits_of("perplexity") == (1, math.inf)
    assert limits_of("unknown") == limits_of("grammar errors introduced") == (-math.inf, math.inf)
