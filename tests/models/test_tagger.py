"""Part-of-speech taggers."""

from __future__ import annotations

import builtins
import io
import re
import shutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.engine.service import Service
from mohs.errors import BadInput
from mohs.models import tagger as taggers
from mohs.models.tag_features import quote, shape, tokens
from mohs.models.tagger import PocketTagger, SpacyTagger, core, cut, load_tagger, mark, universal
from mohs.text.pocket import reviews
from mohs.text.questions import Spot, Tag
from mohs.text.text import Text

spacy: Any = import_module("spacy")


@pytest.fixture(scope="module")
def pocket() -> PocketTagger:
    return PocketTagger()


def ask(tagger: PocketTagger | SpacyTagger, spots: list[Spot]) -> list[Tag]:
    found: dict[Spot, Tag] = {}
    for batch in tagger.plan(spots):
        found.update(zip(batch, tagger.collect(tagger.launch(batch)), strict=True))
    return [found[spot] for spot in spots]


def spots_of(text: str) -> list[Spot]:
    return [Spot(text, start, end) for _, start, end in Text(text).spans()]


def tagged(tagger: PocketTagger | SpacyTagger, text: str) -> str:
    return " ".join(answer.tag for answer in ask(tagger, spots_of(text)))


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("The film was good.", "DT NN VBD JJ"),
        ("I film the film.", "PRP VBP DT NN"),
        ("They play a great play.", "PRP VBP DT JJ NN"),
        ("the acting is bad , and it does n't end .", "DT NN VBZ JJ CC PRP VBZ RB VB"),
        ("She quickly left London with three friends.", "PRP RB VBD NNP IN CD NNS"),
        ("I don't think it's the film's fault", "PRP VBP VB PRP DT NN NN"),  # a word with a clitic as its first part
        ("Great actors' plays", "JJ NNS NNS"),
        ("Awesome laptop!", "JJ NN"),  # not in the training corpus, nor of its time
        ("", ""),
    ],
)
def test_obvious_sentences(pocket: PocketTagger, text: str, tags: str) -> None:
    assert tagged(pocket, text) == tags


def test_answers_carry_both_tag_sets(pocket: PocketTagger) -> None:
    assert ask(pocket, [Spot("I film the film.", 2, 6)]) == [Tag("VERB", "VBP")]
    assert ask(pocket, [Spot("I film the film.", 11, 15)]) == [Tag("NOUN", "NN")]


def test_edges_of_the_text(pocket: PocketTagger) -> None:
    assert ask(pocket, [Spot("good", 0, 4)]) == [Tag("ADJ", "JJ")]
    long = "The film was good. " * 200
    first, last = Spot(long, 4, 8), Spot(long, len(long) - 6, len(long) - 2)
    assert [a.tag for a in ask(pocket, [first, last])] == ["NN", "JJ"]


def test_a_span_is_one_question_whatever_it_holds(pocket: PocketTagger) -> None:
    very_good = "The film was very good today."
    assert ask(pocket, [Spot(very_good, 13, 22)]) == ask(pocket, [Spot(very_good, 18, 22)]) == [Tag("ADJ", "JJ")]
    assert ask(pocket, [Spot("Mr. Smith", 0, 3)]) == ask(pocket, [Spot("Mr. Smith", 0, 2)]) == [Tag("PROPN", "NNP")]
    assert ask(pocket, [Spot("It was (good).", 7, 13)]) == [Tag("ADJ", "JJ")]
    assert ask(pocket, [Spot("a  b", 1, 3), Spot("a  b", 2, 2), Spot("", 0, 0)]) == [Tag("X", "XX")] * 3
    assert ask(pocket, [Spot("so 😀 good", 3, 4), Spot("so good 😀", 3, 7)]) == [Tag("SYM", "SYM"), Tag("ADJ", "JJ")]


def test_a_lone_surrogate_is_only_an_odd_character(pocket: PocketTagger) -> None:
    assert ask(pocket, [Spot("The film \ud83d was good", 4, 8)]) == [Tag("NOUN", "NN")]


@pytest.mark.parametrize(
    ("text", "start", "tag"),
    [
        ("so, what", 2, ","),
        ("what?!", 4, "."),
        ("well -- no", 5, ":"),
        ("(what)", 0, "-LRB-"),
        ("(what)", 5, "-RRB-"),
        ('"what" he', 0, "``"),
        ('"what" he', 5, "''"),
        ("he “saw” it", 3, "``"),
        ("he “saw” it", 7, "''"),
        ("5 % of", 2, "NN"),
        ("a → b", 2, "SYM"),
    ],
)
def test_marks(pocket: PocketTagger, text: str, start: int, tag: str) -> None:
    spot = Spot(text, start, start + 1)
    assert ask(pocket, [spot]) == [Tag(universal(tag), tag)]
    assert mark(spot) == tag


SPOTS = [spot for number, row in enumerate(reviews("test")) if number < 40 for spot in spots_of(row["text"])]


def test_answers_do_not_depend_on_company_or_order(pocket: PocketTagger) -> None:
    alone = {spot: ask(PocketTagger(), [spot])[0] for spot in SPOTS[:6]}
    shuffled = Random(3).sample(SPOTS, len(SPOTS))
    one = dict(zip(SPOTS, pocket.collect(SPOTS), strict=True))
    assert dict(zip(shuffled, PocketTagger().collect(shuffled), strict=True)) == one
    assert {spot: one[spot] for spot in alone} == alone
    assert len(set(one.values())) > 20


words = st.sampled_from(
    "the film was good They play plays don't U.S. 3.5 \" ( 😀 , . well-made é 他 f*ck ' naïve -- ".split(" ")
)


@given(st.lists(words, max_size=12), st.data())
def test_any_span_of_any_text_gets_the_same_answer_in_any_batch(parts: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([" ", "", "\n"])).join(parts)
    ends = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(ends, ends).map(sorted), min_size=1, max_size=6))
    spots = [Spot(text, *span) for span in spans]
    together = SHARED.collect(spots)
    assert together == [SHARED.collect([spot])[0] for spot in spots]
    assert all(answer.pos == universal(answer.tag) for answer in together)


SHARED = PocketTagger()


def test_forgetting_changes_no_answer(pocket: PocketTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory is emptied between batches when it is full."""
    small = PocketTagger()
    monkeypatch.setattr(taggers, "MOST_WORDS_KEPT", 10)
    assert [answer for spot in SPOTS for answer in small.collect([spot])] == pocket.collect(SPOTS)
    assert len(small._cores) <= 11
    assert all(len(rows._index) <= 11 for rows in (small._word, small._before, small._behind))


def test_a_service_can_ask_it(pocket: PocketTagger) -> None:
    service: Service[Spot, Tag] = Service(pocket)
    ask = service.ask(SPOTS[:50])
    assert list(service.launch()) == []
    assert list(service.collect()) == [ask]
    assert ask.answers == pocket.collect(SPOTS[:50])


def test_the_sum_is_the_weights(pocket: PocketTagger) -> None:
    """Against a slow reading of the file: every feature's weights looked up and added one by one."""
    from importlib.resources import files

    from mohs.models.tag_features import Features

    data = (files("mohs.pocket") / "tagger.npz").read_bytes()
    assert len(data) < 2_500_000
    with np.load(io.BytesIO(data), allow_pickle=False) as parts:
        file = dict(parts)

    def keys(name: str) -> list[int]:
        steps = [sum(int(byte) << 8 * place for place, byte in enumerate(column)) for column in file[name].T]
        return [int(total) for total in np.cumsum(np.array(steps, np.int64))]

    tags = bytes(file["tags"]).decode().split()
    kinds = bytes(file["classes"]).decode().split("\n")
    features = Features(
        dict(zip(keys("words"), (kinds[n] for n in file["kinds"]), strict=True)),
        dict(zip(keys("senses"), file["bits"].tolist(), strict=True)),
    )
    ends = np.cumsum(file["counts"], dtype=np.int64).tolist()
    starts = dict(zip(keys("features"), zip([0, *ends], ends, strict=False), strict=True))
    answers = pocket.collect(SPOTS)
    for spot, answer in zip(SPOTS, answers, strict=True):
        place = cut(spot)
        before = features.before(place.before)
        score = dict.fromkeys(tags, 0)
        for key in [*features.word(place.word, before.opens), *before.keys, *features.behind(place.behind).keys]:
            start, end = starts.get(key, (0, 0))
            for column, value in zip(file["columns"][start:end], file["values"][start:end], strict=True):
                score[tags[column]] += int(value)
        assert answer.tag == max(tags, key=score.__getitem__)


def test_reading() -> None:
    assert tokens('Mr. Lee said "it\'s 3.5, U.S. made" -- ok... 😀') == [
        *("Mr.", "Lee", "said", "``", "it's", "3.5", ",", "U.S.", "made", "''", "--", "ok", "...", "😀"),
    ]
    assert tokens("do n't , it 's") == ["do", "n't", ",", "it", "'s"]
    assert [shape(word) for word in ("Film", "USA", "well-made", "1990s", "")] == ["Xx", "X", "x-x", "0x", ""]
    assert [quote('a "b" c', at) for at in (2, 4)] == ["``", "''"]
    assert [tokens('", he', edge)[0] for edge in ("", "x", " ")] == ["``", "''", "``"]
    assert [core(span) for span in ("good", "very good!", " Mr. ", "...", "")] == [
        (0, 4),
        (5, 9),
        (1, 3),
        (0, 0),
        (0, 0),
    ]


@given(st.text(max_size=60))
def test_words_are_cut_as_texts_cut_them(text: str) -> None:
    """A word of a text is its own core: nothing of it is trimmed."""
    for _, start, end in Text(text).spans():
        assert cut(Spot(text, start, end)).word == text[start:end]


def test_universal() -> None:
    penn = "VB VBD MD NN NNP JJ RB PRP DT IN CD CC TO UH , $ FW nonsense".split()
    upos = "VERB VERB VERB NOUN PROPN ADJ ADV PRON DET ADP NUM CCONJ PART INTJ PUNCT SYM X X".split()
    assert [universal(tag) for tag in penn] == upos


# --- spaCy ---------------------------------------------------------------------------------------------------------


def pipeline() -> Any:
    """An English tokenizer and rules: what each word is tagged as, XX for the rest."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add(patterns=[[{"LOWER": {"NOT_IN": list(TABLE)}}]], attrs={"TAG": "XX", "POS": "X"})
    for word, (pos, tag) in TABLE.items():
        ruler.add(patterns=[[{"LOWER": word}]], attrs={"TAG": tag, "POS": pos})
    nlp.add_pipe("sentencizer")
    return nlp


TABLE = {
    "the": ("DET", "DT"),
    "film": ("NOUN", "NN"),
    "was": ("AUX", "VBD"),
    "good": ("ADJ", "JJ"),
    "do": ("AUX", "VBP"),
    "n't": ("PART", "RB"),
    "well": ("ADV", "RB"),
    "made": ("VERB", "VBN"),
    "'s": ("PART", "POS"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spacy") / "model"
    pipeline().to_disk(path)
    return path


@pytest.fixture(scope="module")
def ruled(folder: Path) -> SpacyTagger:
    return SpacyTagger(str(folder))


def test_spacy_tokens_are_found_by_their_characters(ruled: SpacyTagger) -> None:
    text = "The film's well-made; don't 😀 say GOOD"
    assert dict(zip(Text(text).words, ask(ruled, spots_of(text)), strict=True)) == {
        "The": Tag("DET", "DT"),
        "film's": Tag("NOUN", "NN"),
        "well-made": Tag("VERB", "VBN"),
        "don't": Tag("VERB", "VBP"),  # AUX counts as VERB
        "say": Tag("X", "XX"),
        "GOOD": Tag("ADJ", "JJ"),
    }
    assert ask(ruled, [Spot(text, 3, 4), Spot(text, 5, 5), Spot("", 0, 0)]) == [Tag("X", "XX")] * 3
    assert ask(ruled, [Spot(text, 4, 20), Spot(text, 6, 8)]) == [Tag("VERB", "VBN"), Tag("NOUN", "NN")]
    assert ask(ruled, [Spot("it n't", 3, 6), Spot("film !", 4, 6)]) == [Tag("PART", "RB"), Tag("X", "XX")]


def test_spacy_reads_each_text_once(ruled: SpacyTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    pipe = ruled.nlp.pipe

    def watched(texts: Iterable[str]) -> Any:
        read.extend(texts)
        return pipe(texts)

    monkeypatch.setattr(ruled.nlp, "pipe", watched)
    some = [*spots_of("The film was good"), *spots_of("The film was made")]
    mixed = Random(1).sample(some, len(some))
    by_spot = {spot: ask(ruled, [spot])[0] for spot in some}
    read.clear()
    assert ask(ruled, mixed) == [by_spot[spot] for spot in mixed]
    assert sorted(read) == ["The film was good", "The film was made"]


def test_spacy_runs_only_what_tags(ruled: SpacyTagger) -> None:
    assert ruled.nlp.pipe_names == ["attribute_ruler"]


def test_spacy_name_and_fingerprint(ruled: SpacyTagger, folder: Path, tmp_path: Path) -> None:
    assert ruled.name == f"spacy:{folder}"
    assert ruled.fingerprint.startswith(f"spacy-{spacy.__version__}/en_")
    assert SpacyTagger(str(folder)).fingerprint == ruled.fingerprint
    found = {ruled.fingerprint}
    for number, note in enumerate(["a", "b"]):
        copy = shutil.copytree(folder, tmp_path / f"{number}")
        (copy / "notes.txt").write_text(note, "utf-8")
        found.add(SpacyTagger(str(copy)).fingerprint)
    assert len(found) == 3


def test_spacy_parts_of_speech_from_tags_alone(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler").add(patterns=[[{"LOWER": "film"}]], attrs={"TAG": "NN"})
    nlp.to_disk(tmp_path / "model")
    assert ask(SpacyTagger(str(tmp_path / "model")), [Spot("film", 0, 4)]) == [Tag("NOUN", "NN")]


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_spacy_without_a_tagger(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "model")
    with pytest.raises(BadInput, match="has no tagger; use one with a tagger, such as en_core_web_sm") as error:
        SpacyTagger(str(tmp_path / "model"))
    one_sentence(error.value)


def test_no_such_spacy_model(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"spaCy has no model 'en_nothing'.*python -m spacy download") as error:
        SpacyTagger("en_nothing")
    one_sentence(error.value)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="spaCy cannot open") as error:
        SpacyTagger(str(tmp_path / "empty"))
    one_sentence(error.value)


def test_spacy_config_with_an_unknown_component(folder: Path, tmp_path: Path) -> None:
    nlp = pipeline()
    nlp.to_disk(tmp_path / "model")
    config = tmp_path / "model" / "config.cfg"
    config.write_text(config.read_text("utf-8").replace('factory = "sentencizer"', 'factory = "elsewhere"'), "utf-8")
    with pytest.raises(BadInput, match=r"spaCy cannot open .* use a model for this spaCy") as error:
        SpacyTagger(str(tmp_path / "model"))
    one_sentence(error.value)


def test_without_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "spacy":
            raise ModuleNotFoundError("No module named 'spacy'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(BadInput, match=re.escape("pip install 'mohs[spacy]', then python -m spacy download")) as error:
        load_tagger("spacy")
    one_sentence(error.value)


# --- the choice ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("installed", [(), ("spacy",), ("en_core_web_sm",), ("spacy", "en_core_web_sm")])
def test_auto(monkeypatch: pytest.MonkeyPatch, folder: Path, installed: tuple[str, ...]) -> None:
    monkeypatch.setattr(taggers, "find_spec", lambda name: name if name in installed else None)
    load = spacy.load
    monkeypatch.setattr(spacy, "load", lambda name: load(folder if name == "en_core_web_sm" else name))
    found = load_tagger()
    if len(installed) == 2:
        assert isinstance(found, SpacyTagger)
        assert found.name == "spacy:en_core_web_sm"
    else:
        assert isinstance(found, PocketTagger)
        assert (found.name, found.fingerprint[:16]) == ("pocket tagger", "pocket-tagger-1-")


def test_named(folder: Path) -> None:
    assert isinstance(load_tagger("pocket"), PocketTagger)
    assert load_tagger(f"spacy:{folder}").name == f"spacy:{folder}"
    for wrong in ("", "spacy:", "nltk", "Pocket"):
        with pytest.raises(BadInput, match=re.escape(f"Unknown tagger {wrong!r}; use auto, pocket or spacy")) as error:
            load_tagger(wrong)
        one_sentence(error.value)
