from __future__ import annotations

import gzip
import io
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from mohs.errors import BadInput
from mohs.text.wordnet import WordNet

LETTER = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
EXCEPTIONS = {"noun": "children child\n", "verb": "found find\nwent go\n", "adj": "better good\n", "adv": ""}


@dataclass(frozen=True)
class Synset:
    part: str
    words: tuple[str, ...]
    antonyms: tuple[tuple[int, int, int], ...] = ()  # own word, number of the other synset, its word
    head: int | None = None  # the synset that an adjective is a satellite of


SYNSETS = (
    Synset("noun", ("movie", "film", "moving_picture", "flick")),  # 0
    Synset("noun", ("film", "coating")),  # 1
    Synset("verb", ("film", "shoot")),  # 2
    Synset("adj", ("good",), ((1, 4, 1),)),  # 3
    Synset("adj", ("bad",), ((1, 3, 1),)),  # 4
    Synset("adj", ("dandy(p)", "Bang-up"), head=3),  # 5
    Synset("noun", ("child", "kid")),  # 6
    Synset("verb", ("found", "establish")),  # 7
    Synset("verb", ("find", "detect"), ((1, 9, 1),)),  # 8
    Synset("verb", ("lose",), ((1, 8, 1),)),  # 9
    Synset("noun", ("Paris", "City_of_Light")),  # 10
    Synset("adv", ("well", "good")),  # 11
    Synset("verb", ("go", "travel")),  # 12
)


def line_of(synset: Synset, offset: dict[int, int], own: int) -> str:
    letter = "s" if synset.head is not None else LETTER[synset.part]
    words = "".join(f"{word} 0 " for word in synset.words)
    pointers = [
        f"! {offset[other]:08d} {LETTER[SYNSETS[other].part]} {word:02x}{target:02x} "
        for word, other, target in synset.antonyms
    ]
    if synset.head is not None:
        pointers.append(f"& {offset[synset.head]:08d} a 0000 ")
    frames = "00 " if synset.part == "verb" else ""
    return (
        f"{offset[own]:08d} 03 {letter} {len(synset.words):02x} {words}{len(pointers):03d} "
        f'{"".join(pointers)}{frames}| a gloss; "an example"  \n'
    )


def write_database(folder: Path) -> Path:
    """A database in the format of wndb(5WN): a synset's name is where its line starts in its file."""
    folder.mkdir(parents=True)
    header = "  1 a tiny database for tests  \n"
    nowhere = dict.fromkeys(range(len(SYNSETS)), 0)
    offset: dict[int, int] = {}
    for part in LETTER:
        at = len(header)
        for number, synset in enumerate(SYNSETS):
            if synset.part == part:
                offset[number] = at
                at += len(line_of(synset, nowhere, number))
    for part, letter in LETTER.items():
        members = [number for number, synset in enumerate(SYNSETS) if synset.part == part]
        (folder / f"data.{part}").write_text(header + "".join(line_of(SYNSETS[n], offset, n) for n in members))
        senses: dict[str, list[int]] = {}
        for number in members:
            for word in SYNSETS[number].words:
                senses.setdefault(word.split("(")[0].lower(), []).append(offset[number])
        lines = [
            f"{word} {letter} {len(found)} 1 ! {len(found)} 0 {' '.join(f'{at:08d}' for at in found)}  \n"
            for word, found in sorted(senses.items())
        ]
        (folder / f"index.{part}").write_text(header + "".join(lines))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_database(tmp_path_factory.mktemp("wordnet") / "tiny")


@pytest.fixture(scope="module")
def wordnet(folder: Path) -> WordNet:
    return WordNet(folder)


def test_synonyms_in_the_order_of_senses(wordnet: WordNet) -> None:
    assert wordnet.synonyms("film") == ["movie", "flick", "coating", "shoot"]
    assert wordnet.synonyms("film", "n") == ["movie", "flick", "coating"]
    assert wordnet.synonyms("film", "v") == ["shoot"]
    assert wordnet.synonyms("film", "a") == []
    assert wordnet.synonyms("FILM", "v") == ["shoot"]
    assert wordnet.synonyms("unknown") == []
    assert wordnet.synonyms("") == []


def test_heads_of_the_commonest_part_of_speech(wordnet: WordNet) -> None:
    assert wordnet.heads("film") == ["movie"]  # two nouns and one verb; the head of the second noun is film itself
    assert wordnet.heads("shoot") == ["film"]
    assert (
        wordnet.heads("good") == []
    )  # as often an adjective as an adverb; adjectives come first, and it is their head
    assert wordnet.heads("kid") == ["child"]
    assert wordnet.heads("unheard") == []


def test_words_of_several_parts_are_left_out_unless_wanted(wordnet: WordNet) -> None:
    assert wordnet.synonyms("movie") == ["film", "flick"]
    assert wordnet.synonyms("movie", several_words=True) == ["film", "moving picture", "flick"]
    assert wordnet.synonyms("moving picture") == ["movie", "film", "flick"]
    assert wordnet.synonyms("city of light") == ["Paris"]


def test_an_inflected_word_stands_for_its_base_forms(wordnet: WordNet) -> None:
    assert wordnet.synonyms("films") == ["movie", "film", "flick", "coating", "shoot"]
    assert wordnet.synonyms("children") == ["child", "kid"]
    assert wordnet.synonyms("found") == ["establish", "find", "detect"]
    assert wordnet.synonyms("went", "v") == ["go", "travel"]
    assert wordnet.synonyms("went", "n") == []


def test_satellites_are_adjectives_without_their_markers(wordnet: WordNet) -> None:
    assert wordnet.synonyms("bang-up", "a") == ["dandy"]
    assert wordnet.synonyms("dandy") == ["Bang-up"]


def test_antonyms(wordnet: WordNet) -> None:
    assert wordnet.antonyms("good") == ["bad"]
    assert wordnet.antonyms("better", "a") == ["bad"]
    assert wordnet.antonyms("good", "r") == []
    assert wordnet.antonyms("found") == ["lose"]
    assert wordnet.antonyms("detect") == []  # of the same synset, but not set against lose
    assert wordnet.antonyms("unknown") == []


def test_base_forms_and_parts_of_speech(wordnet: WordNet) -> None:
    assert wordnet.lemma("films") == "film"
    assert wordnet.lemma("Children", "n") == "child"
    assert wordnet.lemma("children", "v") == "children"
    assert wordnet.lemma("found", "v") == "found"
    assert wordnet.lemma("Unknown") == "unknown"
    assert wordnet.lemmas_with_pos("found") == [("found", "v"), ("find", "v")]
    assert wordnet.lemmas_with_pos("films") == [("film", "n"), ("film", "v")]
    assert wordnet.lemmas_with_pos("unknown") == []
    assert wordnet.parts_of_speech("good") == ("a", "r")
    assert wordnet.parts_of_speech("films") == ("n", "v")
    assert wordnet.parts_of_speech("dandy") == ("a",)
    assert wordnet.parts_of_speech("unknown") == ()


def test_a_folder_above_it_and_an_archive_are_the_same(folder: Path, wordnet: WordNet, tmp_path: Path) -> None:
    write_database(tmp_path / "WordNet-3.0" / "dict")
    above = WordNet(tmp_path / "WordNet-3.0")
    with tarfile.open(tmp_path / "tiny.tar.gz", "w:gz") as archive:
        archive.add(folder, "tiny")
    packed = WordNet(str(tmp_path / "tiny.tar.gz"))
    assert above.fingerprint == packed.fingerprint == wordnet.fingerprint
    assert above.synonyms("film") == packed.synonyms("film") == wordnet.synonyms("film")
    assert (above.name, packed.name, wordnet.name) == ("WordNet-3.0", "tiny", "tiny")


def test_nothing_is_written_and_lexnames_are_used_if_there(folder: Path, tmp_path: Path) -> None:
    before = sorted(file.name for file in folder.iterdir())
    assert "lexnames" not in before
    copy = write_database(tmp_path / "copy")
    names = "".join(f"{number:02d}\tnoun.{number}\t1\n" for number in range(5))
    (copy / "lexnames").write_text(names)
    assert WordNet(copy).synonyms("film", "v") == ["shoot"]
    assert sorted(file.name for file in folder.iterdir()) == before
    assert sorted(file.name for file in copy.iterdir()) == sorted([*before, "lexnames"])


def test_the_fingerprint_is_of_the_content(wordnet: WordNet, tmp_path: Path) -> None:
    copy = write_database(tmp_path / "copy")
    (copy / "README").write_text("not part of it")
    assert WordNet(copy).fingerprint == wordnet.fingerprint
    (copy / "verb.exc").write_text("went go\n")
    assert WordNet(copy).fingerprint != wordnet.fingerprint


def sentence(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        WordNet(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def test_what_is_no_database(tmp_path: Path) -> None:
    assert "There is no WordNet at" in sentence(tmp_path / "none")
    assert "lacks data.noun, index.noun, noun.exc" in sentence(tmp_path)
    lacking = write_database(tmp_path / "lacking")
    (lacking / "data.adv").unlink()
    assert "it lacks data.adv;" in sentence(lacking)
    file = tmp_path / "file.tar.gz"
    file.write_bytes(b"no archive")
    assert "cannot be read" in sentence(file)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(lacking, "x")
    file.write_bytes(gzip.compress(content.getvalue()))
    assert "it lacks data.adv;" in sentence(file)
    file.write_bytes(gzip.compress(content.getvalue())[:100])
    assert "cannot be read" in sentence(file)


def test_a_damaged_database(tmp_path: Path) -> None:
    copy = write_database(tmp_path / "copy")
    index = (copy / "index.noun").read_text()
    (copy / "index.noun").write_text(index.replace(" 2 1 !", " two 1 !"))
    assert "is damaged" in sentence(copy)
    (copy / "index.noun").write_text(index)
    data = (copy / "data.noun").read_text()
    (copy / "data.noun").write_text(" " + data)  # every offset is off by one
    shifted = WordNet(copy)
    with pytest.raises(BadInput, match="is damaged"):
        shifted.synonyms("film", "n")
    assert shifted.synonyms("film", "v") == ["shoot"]
    (copy / "data.noun").write_text(data[:200])
    with pytest.raises(BadInput, match="is damaged"):
        WordNet(copy).synonyms("child")


def test_without_nltk_there_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk.corpus.reader.wordnet", None)
    assert sentence(folder) == "WordNet needs the package nltk: pip install 'mohs[wordnet]'."
