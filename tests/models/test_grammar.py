"""Harper on clear cases, and the names of checkers."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.engine import Service, run
from mohs.errors import BadInput
from mohs.models.grammar import NOT_GRAMMAR, HarperChecker, load_grammar
from mohs.models.languagetool import Problems
from mohs.text import pocket

LONG = (
    "We walked along the river and over the bridge and past the old mill and through the market where she go to buy "
    "bread and cheese and wine and flowers and paper and string and candles and matches and soap for the winter."
)


@pytest.fixture(scope="module")
def harper() -> HarperChecker:
    return HarperChecker(workers=2)


def ask(checker: Any, *texts: str) -> list[Problems]:
    found: list[Problems] = checker.collect(checker.launch(list(texts)))
    return found


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("She go to school.", ("PronounVerbAgreement",)),
        ("They was late.", ("PronounInflectionBe",)),
        ("He ate a apple.", ("AnA",)),
        ("An dog barked.", ("AnA",)),
        ("I saw the the dog.", ("RepeatedWords",)),
        ("I want go home.", ("MissingTo",)),
        ("He ate a apple and she go to school.", ("AnA", "PronounVerbAgreement")),
        ("She goes to school every morning.", ()),
        ("He ate an apple, and then I saw the dog.", ()),
        ("", ()),
        (" \n\t", ()),
    ],
)
def test_clear_cases(harper: HarperChecker, text: str, problems: Problems) -> None:
    assert ask(harper, text) == [problems]


@pytest.mark.parametrize(
    "text",
    [
        "We ate lasagne with our neighbours in the grey room .",  # spelling, spacing
        "i do n't think kahlo ca n't paint , and it 's fun",  # a tokeniser's cuts, capitals, a name
        "The room was small, dark and cold...",  # Oxford comma, ellipsis
        "He gives um the best speech of december.",  # fillers, months
        LONG.replace("she go", "she goes"),  # long sentences
    ],
)
def test_what_is_not_grammar_does_not_count(harper: HarperChecker, text: str) -> None:
    assert ask(harper, text) == [()]
    assert ask(HarperChecker(kinds_left_out=(), rules_left_out=(), workers=1), text) != [()]


def test_a_long_sentence_does_not_hide_what_is_in_it(harper: HarperChecker) -> None:
    assert ask(harper, LONG) == [("PronounVerbAgreement",)]


def test_two_rules_at_one_place_count_once(harper: HarperChecker) -> None:
    assert ask(harper, "Their is a problem.") == [("TheirToThere",)]
    alone = HarperChecker(rules_left_out=["TheirToThere"], workers=1)
    assert ask(alone, "Their is a problem.") == [("TheirToTheyre",)]


def test_the_choice_is_a_field() -> None:
    spelling = HarperChecker(kinds_left_out=set(NOT_GRAMMAR) - {"Spelling"}, rules_left_out=(), workers=1)
    assert ask(spelling, "A perfectly kromulent word.") == [("SpellCheck",)]
    articles = HarperChecker(rules_left_out=["AnA"], workers=1)
    assert ask(articles, "He ate a apple.") == [()]


def test_unknown_rule() -> None:
    with pytest.raises(
        BadInput, match=r"^Harper has no rule 'AnAn'; harper.get_default_lint_config\(\) lists all rules"
    ):
        HarperChecker(rules_left_out=["AnA", "AnAn"])


def test_text_is_not_markup(harper: HarperChecker) -> None:
    assert ask(harper, "`She go to school.`", "# She go to school.") == [("PronounVerbAgreement",)] * 2


def test_many_sentences(harper: HarperChecker) -> None:
    assert ask(harper, "She go to school. " * 300) == [("PronounVerbAgreement",) * 300]


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=30), max_size=5))
@settings(max_examples=60, deadline=None)
def test_any_characters(harper: HarperChecker, texts: list[str]) -> None:
    """Halves of characters too; whatever stands before a sentence, the problem in it is found."""
    found = ask(harper, *texts, *(f"{text}\n\nThey was late." for text in texts))
    assert len(found) == 2 * len(texts)
    assert all(problems[-1] == "PronounInflectionBe" for problems in found[len(texts) :])


def faulty_texts() -> list[str]:
    """Reviews with a word doubled or moved, so that there is something to find."""
    chance, texts = Random(0), []
    for row in islice(pocket.reviews("train"), 60):
        words = row["text"].split()
        words.insert(chance.randrange(len(words)), chance.choice([*words, "a", "the"]))
        texts.append(" ".join(words))
    return texts


def test_company_and_order_do_not_matter(harper: HarperChecker) -> None:
    texts = faulty_texts()
    together = ask(harper, *texts)
    assert sum(map(len, together)) > 5
    backwards = HarperChecker(workers=1)
    assert ask(backwards, *reversed(texts)) == together[::-1]
    assert [ask(harper, text)[0] for text in texts] == together


def test_through_a_service(harper: HarperChecker) -> None:
    texts = faulty_texts()
    expected = dict(zip(texts, ask(harper, *texts), strict=True))
    service: Service[str, Problems] = Service(harper)

    async def search(number: int) -> list[Problems]:
        return await service.ask(texts[number : number + 5])

    ended = list(run(((number, search(number)) for number in range(0, 60, 2)), [service]))
    assert len(ended) == 30
    for end in ended:
        assert end.result == [expected[text] for text in texts[end.key : end.key + 5]]


def test_plan_is_a_function_of_the_items(harper: HarperChecker) -> None:
    items = [f"text {number}" for number in range(600)]
    batches = harper.plan(items)
    assert batches == harper.plan(items[::-1])
    assert sorted(text for batch in batches for text in batch) == sorted(items)
    assert max(map(len, batches)) == 256


def test_fingerprint() -> None:
    one = HarperChecker()
    assert one.fingerprint == HarperChecker(workers=3).fingerprint
    assert one.fingerprint == HarperChecker(kinds_left_out=reversed(NOT_GRAMMAR)).fingerprint
    assert one.fingerprint.startswith("harper-py 0.")
    assert (
        len(
            {
                one.fingerprint,
                HarperChecker(kinds_left_out=()).fingerprint,
                HarperChecker(rules_left_out=()).fingerprint,
            }
        )
        == 3
    )


def test_workers_go_with_their_checker() -> None:
    checker = HarperChecker(workers=1)
    before = set(threading.enumerate())
    ask(checker, "They was late.")
    (worker,) = set(threading.enumerate()) - before
    gone = weakref.ref(checker)
    del checker
    gc.collect()
    worker.join(30)
    assert gone() is None
    assert not worker.is_alive()


def test_load() -> None:
    assert isinstance(load_grammar(), HarperChecker)
    assert isinstance(load_grammar("harper"), HarperChecker)


@pytest.mark.parametrize("spec", ["", "Harper", "harper:x", "lt", "http://localhost:8081"])
def test_unknown_checker(spec: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_grammar(spec)
    assert str(caught.value) == f"Unknown grammar checker {spec!r}; use harper, languagetool or languagetool:URL."


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "harper", None)
    with pytest.raises(BadInput) as caught:
        load_grammar("harper")
    assert str(caught.value) == "The grammar checker harper needs harper-py: pip install harper-py."
