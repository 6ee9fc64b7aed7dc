from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mohs.bias.pairs import GROUPS, Pairs, read_pairs
from mohs.errors import BadInput
from mohs.space.masked import one_word


@pytest.mark.parametrize("name", GROUPS)
def test_a_bundled_list_is_of_pairs_of_different_single_words(name: str) -> None:
    found = read_pairs(name)
    assert found.name == name
    words = [word for pair in found.pairs for word in pair]
    assert all(one_word(word) and word == word.lower() for word in [*words, *found.blacklist])
    assert len(set(found.pairs)) == len(found.pairs)
    assert all(a != b and (b, a) not in found.pairs for a, b in found.pairs)
    assert found.blacklist >= set(words)
    if name == "gender":
        assert len(found.pairs) >= 60
        assert len(found.blacklist - set(words)) >= 150
    else:
        assert 10 <= len(found.pairs) <= 60
        assert found.blacklist == set(words)


def test_gender_pairs_go_from_male_to_female() -> None:
    pairs = read_pairs("gender").pairs
    firsts, seconds = {a for a, _ in pairs}, {b for _, b in pairs}
    assert not firsts & seconds
    assert {"he", "his", "him", "man", "father", "actor", "king"} <= firsts
    assert {"she", "her", "woman", "mother", "actress", "queen"} <= seconds
    assert {("he", "she"), ("his", "her"), ("him", "her"), ("actor", "actress"), ("men", "women")} <= set(pairs)
    assert not any(word.endswith(("woman", "women", "ess", "girl", "mother", "sister")) for word in firsts)


def test_her_leads_back_to_two_words() -> None:
    found = read_pairs("gender")
    assert set(found.pairs) - found.undoable == {("his", "her"), ("him", "her")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.csv", "He,She\nman, woman\n"),
        ("own.tsv", "# ours\nhe\tshe\n\nman\twoman\n"),
        ("own.txt", "he she\r\nman  woman\r\n"),
        ("own.json", '[["he", "she"], ["man", "woman"]]'),
        ("own.jsonl", '["he", "she"]\n["man", "woman"]\n'),
    ],
)
def test_a_file_of_ones_own(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    for file in (name, f"{name}.gz"):
        found = read_pairs(tmp_path / file)
        assert found == Pairs("own", (("he", "she"), ("man", "woman")), frozenset("he she man woman".split()))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "", "{file} has no pairs; write two words per row, as in he,she."),
        ("a.csv", "he\n", "{file}, line 1 has 1 entry; write two words, as in he,she."),
        ("a.csv", "he,she\na,b,c\n", "{file}, line 2 has 3 entries; write two words, as in he,she."),
        ("a.tsv", "old man\twoman\n", "{file}, line 1 has the entry 'old man'; each entry must be one word."),
        ("a.csv", "he,\n", "{file}, line 1 has the entry ''; each entry must be one word."),
        ("a.csv", "he,He\n", "{file}, line 1 has 'he' twice; a pair needs two different words."),
        ("a.csv", "he,she\nHE,she\n", "{file}, line 2 has he and she, as line 1 does; remove one."),
        (
            "a.csv",
            "he,she\nshe,he\n",
            "{file}, line 2 has she and he, as line 1 does, the other way round; remove one.",
        ),
        ("a.json", "[[1, 2]]", "{file}, row 1 has the entry 1; each entry must be one word."),
        ("a.json", '"he"', '{file} is not a list; write [["he", "she"], ...].'),
        (
            "a.json",
            '{"he": "she"}',
            '{file}: the group he is not a list of words; write [["he", "she"], ...] for pairs, '
            '{{"he": ["word", ...]}} for a group.',
        ),
        (
            "a.json",
            '{"name": [{"he": 1}], "faith": ["jew", "sikh"]}',
            '{file}: the group name is not a list of words; write [["he", "she"], ...] for pairs, '
            '{{"name": ["word", ...]}} for a group, or take another group, as in a.json:faith.',
        ),
        ("a.json", '{"faith": ["jew", "Jew"]}', "{file}: the group faith has fewer than two entries of one word; "),
        (
            "a.jsonl",
            '{"he": "she"}',
            '{file}, line 1 is {{"he": "she"}}; write two words, as in ["he", "she"].',
        ),
        ("a.xls", "he,she", "{file}: unknown kind of file for pairs; use .csv, .tsv, .json, .jsonl, .txt, each also "),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(BadInput) as caught:
        read_pairs(file)
    assert str(caught.value).startswith(sentence.format(file=file))


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(BadInput, match=r"Unknown pairs 'genders'; use gender, nationality.* a file that exists"):
        read_pairs("genders")
    with pytest.raises(BadInput, match="Unknown pairs"):
        read_pairs("x" * 5000)


def test_the_fingerprint_is_of_the_content() -> None:
    one = Pairs("a", (("he", "she"),), frozenset({"he", "she"}))
    assert one.fingerprint == Pairs("b", (("he", "she"),), frozenset({"she", "he"})).fingerprint
    assert one.fingerprint != Pairs("a", (("she", "he"),), frozenset({"he", "she"})).fingerprint
    assert one.fingerprint != Pairs("a", (("he", "she"),), frozenset({"he", "she", "king"})).fingerprint


def test_what_looks_like_a_header() -> None:
    for pair, headed in (
        (("first", "second"), True),
        (("word_1", "word_2"), True),
        (("a", "b"), True),
        (("he", "she"), False),
        (("male", "female"), False),  # may be meant
        (("word1", "she"), False),
    ):
        assert Pairs("toy", (pair, ("first", "second")), frozenset()).headed is headed
    assert not any(read_pairs(group).headed for group in GROUPS)


def test_groups_of_words(tmp_path: Path) -> None:
    file = tmp_path / "lists.json"
    file.write_text('{"faith": ["Jew", "sikh", "Roman Catholic", "jew", "Shi\'a"], "food": ["rice", "bread"]}')
    found = read_pairs(file)
    assert found.groups == {"faith": ("jew", "sikh", "shi'a"), "food": ("rice", "bread")}
    assert found.pairs == (("jew", "sikh"), ("jew", "shi'a"), ("sikh", "shi'a"), ("rice", "bread"))
    assert found.blacklist == {"jew", "sikh", "shi'a", "rice", "bread"}
    assert found.left_out == ("roman catholic",)
    assert found.name == "lists"
    one = read_pairs(f"{file}:food")
    assert (one.name, one.pairs, one.left_out) == ("lists:food", (("rice", "bread"),), ())
    assert read_pairs(f"{file}:food,faith").groups.keys() == {"food", "faith"}
    same = Pairs("own", (("rice", "bread"),), frozenset({"rice", "bread"}))
    assert one.fingerprint != same.fingerprint  # pairs of a group are measured in both directions
    with pytest.raises(BadInput, match=r"has no group 'drink'; its groups are faith, food\.$"):
        read_pairs(f"{file}:drink")
    (tmp_path / "own.csv").write_text("he,she")
    with pytest.raises(BadInput, match=r"own\.csv has no groups, so 'drink' cannot be taken from it"):
        read_pairs(f"{tmp_path / 'own.csv'}:drink")
    with pytest.raises(BadInput, match=r"Unknown pairs '.*nowhere\.json:food'"):
        read_pairs(f"{tmp_path / 'nowhere.json'}:food")


def test_the_pairs_with_a_word_come_in_the_order_of_the_list() -> None:
    pairs = (("he", "she"), ("his", "her"), ("him", "her"), ("king", "queen"))
    found = Pairs("own", pairs, frozenset())
    assert found.holding(["her", "he", "the"]) == [*pairs[:3]]
    assert found.holding(["the"]) == []
