from __future__ import annotations

import pickle
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mohs.text.text import Edit, Text, brief, like, split_words, words_of

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])

PIECES = [
    *"aZé1½ß'’-_*@.,!?\"()[]/#$&\t\n\r漢ي",
    " ",
    " ",
    "  ",
    "\r\n",
    "\u00a0",
    "\u2028",
    "\u0301",
    "\u0304",
    "\u200c",
    "\u200d",
    "\ufe0f",
    "\u20e3",
    "\u00ad",
    "\ufeff",
    "\x00",
    "❤️",
    "👩‍❤️‍👨",
    "👍🏽",
    "🇩🇪",
    "1️⃣",
    "don't",
    "well-made",
    "שלום",
    "مرحبا",
    "می‌خواهم",
    "র‍্যাব",
    "नमस्ते",
    "e\u0301te\u0301",
    "İstanbul",
    "word",
    "Word",
]
strings = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
fields = st.lists(st.one_of(strings, st.sampled_from(["", " ", "!", "a"])), min_size=1, max_size=3).map(tuple)
texts = fields.map(lambda parts: Text(*parts))
# `regex` knows a newer Unicode than the standard library, so what the latter takes for unassigned is left out.
assigned = strings.filter(lambda string: all(unicodedata.category(char) != "Cn" for char in string))
JOINERS = "'’-_*@\u200c\u200d"


@st.composite
def text_and_position(draw: st.DrawFn) -> tuple[Text, int]:
    text = draw(texts.filter(lambda text: len(text) > 0))
    return text, draw(st.integers(0, len(text) - 1))


# Texts with so many words that shortcuts are taken; the words at the ends and at the border of a block matter most.
LENGTHS = (63, 64, 65, 128, 129, 150)


@st.composite
def long_texts(draw: st.DrawFn) -> Text:
    count = draw(st.sampled_from(LENGTHS))
    gaps = draw(st.lists(st.sampled_from([" ", ", ", " (", ") ", "\n", ". ", "/"]), min_size=count, max_size=count))
    words = [f"{draw(st.sampled_from(['w', 'Ab', 'é']))}{number}" for number in range(count)]
    string = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
    other = draw(st.sampled_from([(), ("one two",)]))
    return Text(*draw(st.permutations([string, *other])))


def places(text: Text) -> st.SearchStrategy[int]:
    return st.sampled_from([0, 1, len(text) // 2, len(text) - 2, len(text) - 1]) | st.integers(0, len(text) - 1)


@settings(steady, max_examples=60)
@given(long_texts(), st.data())
def test_long_texts_are_as_if_they_were_read_anew(text: Text, data: st.DataObject) -> None:
    current, wanted = text, {}
    for _ in range(data.draw(st.integers(1, 4))):
        position, word = data.draw(places(text)), data.draw(st.sampled_from(["x", "longer word", "w0", ""]))
        before, current = current, current.replace(position, word)
        wanted[position] = word
        assert before.changes(current) == [position] * (before.words[position] != word)
        assert current.fields == text.replace_all(wanted).fields
        dropped = current.drop(position)
        assert dropped.words == current.words[:position] + current.words[position + 1 :]
        if all(wanted.values()):
            assert dropped.fields == current.replace(position, "").fields
    different = [p for p, (old, new) in enumerate(zip(text.words, current.words, strict=True)) if old != new]
    assert text.changes(current) == current.changes(text) == different
    assert pickle.loads(pickle.dumps(current)).replace(0, "y") == current.replace(0, "y")
    plain = [word.lower() for field in current.fields for word in split_words(field)[0]]
    assert words_of(current.fields) == plain


@steady
@given(text_and_position() | long_texts().flatmap(lambda text: st.tuples(st.just(text), places(text))), st.booleans())
def test_a_cut_field_ends_at_the_word_or_starts_there(found: tuple[Text, int], head: bool) -> None:
    text, position = found
    field, start, end = text.spans()[position]
    fields = list(text.fields)
    fields[field] = fields[field][:end] if head else fields[field][start:]
    made, expected = text.cut(position, head=head), Text(*fields)
    assert made.fields == expected.fields
    assert made.words == expected.words
    assert made.spans() == expected.spans()


def test_only_long_strings_are_known_by_a_digest() -> None:
    assert brief(("short", "pair")) == ("short", "pair")
    long = [("a" * 500,), ("a" * 499 + "b",), ("a" * 250, "a" * 250), ("a" * 249, "a" * 251), ("\ud800" * 500,)]
    assert len({brief(fields) for fields in long}) == len(long)
    assert all(len(brief(fields)) == 16 and brief(fields) == brief(tuple(fields)) for fields in long)  # type: ignore[arg-type]


def test_a_word_is_read_alike_in_short_and_long_strings() -> None:
    string = "It's well-made. Don't e.g. go... No. 5 a. 'b. c' ."
    for many in (1, 30):
        assert words_of((string * many,)) == [word.lower() for word in Text(string * many).words]
    alone = "word " * 400  # no sentence ends
    assert words_of((alone,)) == ["word"] * 400


@steady
@given(fields)
@example(("",))
@example(("one",))
@example(("\r\n",))
@example(("a\r\nb\r", "\n"))
def test_no_edit_keeps_every_byte(parts: tuple[str, ...]) -> None:
    text = Text(*parts)
    assert text.fields == parts
    assert text.replace_all({}).fields == parts
    assert text.replace_all(dict(enumerate(text.words))).fields == parts
    assert str(text) == "\n".join(parts)
    assert repr(text) == f"Text({', '.join(map(repr, parts))})"


@steady
@given(strings)
def test_split_gives_the_string_back(string: str) -> None:
    words, gaps = split_words(string)
    assert len(gaps) == len(words) + 1
    assert "".join(gap + word for gap, word in zip(gaps, [*words, ""], strict=True)) == string
    assert all(gaps[1:-1])  # two words never touch


@steady
@given(text_and_position())
def test_a_word_replaced_by_itself_changes_nothing(found: tuple[Text, int]) -> None:
    text, position = found
    same = text.replace(position, text.words[position])
    assert same == text
    assert same.fields == text.fields
    assert text.edits(same) == ()


@steady
@given(fields)
def test_spans_point_at_the_words(parts: tuple[str, ...]) -> None:
    text = Text(*parts)
    spans = text.spans()
    assert tuple(parts[field][start:end] for field, start, end in spans) == text.words
    assert spans == sorted(spans)
    assert [text.field_of(position) for position in range(len(text))] == [field for field, _, _ in spans]


@steady
@given(text_and_position(), st.sampled_from(["x", "two words", "é", "😀", "longer-than-before"]))
def test_replace_changes_only_its_span(found: tuple[Text, int], new: str) -> None:
    text, position = found
    changed = text.replace(position, new)
    field, start, end = text.spans()[position]
    old = text.fields[field]
    assert changed.fields[field] == old[:start] + new + old[end:]
    assert changed.fields[:field] + changed.fields[field + 1 :] == text.fields[:field] + text.fields[field + 1 :]
    assert changed.words == (*text.words[:position], new, *text.words[position + 1 :])
    assert changed.spans()[position] == (field, start, start + len(new))
    assert changed.same_shape(text)


@steady
@given(text_and_position())
def test_an_empty_word_reads_like_a_dropped_one_and_can_come_back(found: tuple[Text, int]) -> None:
    text, position = found
    emptied = text.replace(position, "")
    assert emptied.fields == text.drop(position).fields
    assert emptied.same_shape(text)
    assert text.edits(emptied) == (Edit(position, text.words[position], ""),)
    spans = emptied.spans()
    assert [emptied.fields[field][start:end] for field, start, end in spans] == list(emptied.words)
    assert emptied.replace(position, text.words[position]) == text


def test_several_empty_words() -> None:
    text = Text("one (two) three, four")
    assert str(text.replace_all({0: "", 1: ""})) == "() three, four"
    assert str(text.replace_all({2: "", 3: ""})) == "one (two),"
    assert str(text.replace_all({1: "", 2: "", 3: ""}).replace(2, "3")) == "one () 3,"
    assert str(text.replace_all(dict.fromkeys(range(4), ""))) == "(),"


@steady
@given(texts, st.data())
def test_replacing_all_is_replacing_one_by_one(text: Text, data: st.DataObject) -> None:
    positions = st.integers(0, max(len(text) - 1, 0))
    wanted = data.draw(st.dictionaries(positions, st.sampled_from(["x", "", "a b"]), max_size=3 if len(text) else 0))
    one_by_one = text
    for position, word in wanted.items():
        one_by_one = one_by_one.replace(position, word)
    at_once = text.replace_all(wanted)
    assert at_once.fields == one_by_one.fields
    assert at_once.words == one_by_one.words
    expected = [(p, text.words[p], wanted[p]) for p in sorted(wanted) if wanted[p] != text.words[p]]
    assert text.edits(at_once) == tuple(Edit(*edit) for edit in expected)


@steady
@given(text_and_position())
@example((Text("a b", "c"), 1))
@example((Text("a b", "c"), 2))
@example((Text("a", "", "b"), 1))
def test_drop_removes_the_word_and_at_most_one_space(found: tuple[Text, int]) -> None:
    text, position = found
    left = text.drop(position)
    field, start, end = text.spans()[position]
    old, new = text.fields[field], left.fields[field]
    bare = old[:start] + old[end:]
    possible = {bare}
    if old[:start].endswith(" "):
        possible = {old[: start - 1] + old[end:]}
    elif old[end:].startswith(" "):
        possible.add(old[:start] + old[end + 1 :])
    assert new in possible
    assert left.fields[:field] + left.fields[field + 1 :] == text.fields[:field] + text.fields[field + 1 :]
    assert left.words == (*text.words[:position], *text.words[position + 1 :])
    assert Text(*left.fields).words == left.words  # and whoever reads the string finds the same words
    assert [left.field_of(p) for p in range(len(left))] == [text.field_of(p) for p in range(len(text)) if p != position]
    assert [left.fields[f][a:b] for f, a, b in left.spans()] == list(left.words)


@pytest.mark.parametrize(
    ("string", "position", "left"),
    [
        ("a b c", 0, "b c"),
        ("a b c", 1, "a c"),
        ("a b c", 2, "a b"),
        ("a", 0, ""),
        ("a  b", 0, " b"),
        ("Good, really good.", 1, "Good, good."),
        ("Good, really good.", 2, "Good, really."),
        ("(very good)", 0, "(good)"),
        ('He said "very good"', 2, 'He said "good"'),
        ("yes/no maybe", 1, "yes/ maybe"),
        ("a\nb c", 1, "a\nc"),
        ("a\r\nb", 1, "a\r\n"),
        ("a\tb\tc", 1, "a\t\tc"),
    ],
)
def test_drop_leaves_no_space_over(string: str, position: int, left: str) -> None:
    assert Text(string).drop(position).fields == (left,)


def test_drop_in_a_pair_leaves_the_other_field_alone() -> None:
    pair = Text("a b ", " c d")
    assert pair.drop(1).fields == ("a ", " c d")
    assert pair.drop(2).fields == ("a b ", " d")
    alone = Text("one", "two").drop(0)
    assert alone.fields == ("", "two")
    assert alone.field_of(0) == 1
    assert alone.drop(0).fields == ("", "")


@steady
@given(texts, st.data())
def test_insert_sets_off_a_new_word(text: Text, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    more = text.insert(position, "xyz")
    assert more.words == (*text.words[:position], "xyz", *text.words[position:])
    assert Text(*more.fields).words == more.words
    added = [len(new) - len(old) for old, new in zip(text.fields, more.fields, strict=True)]
    assert sorted(added)[:-1] == [0] * (len(added) - 1)  # one field grows, by the word and a space at most
    assert max(added) in (3, 4)
    field, start, end = more.spans()[position]
    grown, old = more.fields[field], text.fields[field]
    assert old in (grown[:start] + grown[end:], grown[:start] + grown[end + 1 :], grown[: start - 1] + grown[end:])
    assert more.drop(position).words == text.words
    assert [more.drop(position).field_of(p) for p in range(len(text))] == [text.field_of(p) for p in range(len(text))]


@steady
@given(texts.filter(lambda text: len(text) > 0), st.data())
def test_insert_stays_beside_its_neighbour(text: Text, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    more = text.insert(position, "xyz")
    assert more.field_of(position) == text.field_of(min(position, len(text) - 1))


@pytest.mark.parametrize(
    ("parts", "position", "expected"),
    [
        (("",), 0, ("x",)),
        ((" ",), 0, ("x  ",)),
        (("😀",), 0, ("x 😀",)),
        (("\u0301",), 0, ("x \u0301",)),
        (("a",), 0, ("x a",)),
        (("a",), 1, ("a x",)),
        (("a b.",), 1, ("a x b.",)),
        (("a b.",), 2, ("a b x.",)),
        (("a", "b"), 1, ("a", "x b")),  # the border belongs to the word that follows
        (("a", "b"), 2, ("a", "b x")),
        (("a", "", "b"), 1, ("a", "", "x b")),
        (("a", "!"), 1, ("a x", "!")),
        (("", "a"), 0, ("", "x a")),
        (("", ""), 0, ("", "x")),
        (("?", "!"), 0, ("?", "x !")),
    ],
)
def test_insert_at_borders(parts: tuple[str, ...], position: int, expected: tuple[str, ...]) -> None:
    more = Text(*parts).insert(position, "x")
    assert more.fields == expected
    assert more.words[position] == "x"


@pytest.mark.parametrize("parts", [("",), (" ",), (" 😀 ",), ("a",), ("(a)",), ("a b", " c "), ("", " ")])
def test_insert_then_drop_restores_the_strings(parts: tuple[str, ...]) -> None:
    text = Text(*parts)
    for position in range(len(text) + 1):
        assert text.insert(position, "x").drop(position) == text


@pytest.mark.parametrize("position", [-1, 2, 99])
def test_positions_outside_are_refused(position: int) -> None:
    text = Text("a b", "", "")
    for call in (
        lambda: text.replace(position, "x"),
        lambda: text.replace_all({position: "x"}),
        lambda: text.drop(position),
        lambda: text.field_of(position),
        lambda: text.around(position, 3),
        lambda: text.insert(position + (position > 0), "x"),
    ):
        with pytest.raises(IndexError, match="there is no word"):
            call()


@steady
@given(st.lists(fields, min_size=2, max_size=5))
def test_order_hash_and_equality_are_those_of_the_strings(several: list[tuple[str, ...]]) -> None:
    made = [Text(*parts) for parts in several]
    assert [text.fields for text in sorted(made)] == sorted(several)
    for one, a in zip(made, several, strict=True):
        assert one == Text(*a)
        assert hash(one) == hash(Text(*a))
        assert one != a
        for other, b in zip(made, several, strict=True):
            assert (one == other) is (a == b)
            assert (one < other, one <= other, one > other, one >= other) == (a < b, a <= b, a > b, a >= b)


def test_equal_strings_are_equal_however_they_were_made() -> None:
    made = Text("a b").replace(1, "c d")
    assert made == Text("a c d")
    assert hash(made) == hash(Text("a c d"))
    assert not made.same_shape(Text("a c d"))
    assert Text("a", "b") != Text("a\nb")


@steady
@given(text_and_position(), st.integers(1, 6))
def test_around_is_a_window_in_the_field(found: tuple[Text, int], size: int) -> None:
    text, position = found
    field = text.field_of(position)
    own = [p for p in range(len(text)) if text.field_of(p) == field]
    window = text.around(position, size)
    assert window in text.fields[field]
    words = list(Text(window).words)
    assert len(words) == min(size, len(own))
    starts = [own[0] + at for at in range(len(own) - len(words) + 1)]
    matching = [s for s in starts if list(text.words[s : s + len(words)]) == words]
    assert any(s <= position < s + len(words) for s in matching)


def test_around_keeps_the_word_in_the_middle() -> None:
    text = Text("p q", "a b c d e, f.")
    assert text.around(4, 3) == "b c d "
    assert text.around(2, 3) == "a b c "
    assert text.around(7, 3) == "d e, f."
    assert text.around(7, 99) == "a b c d e, f."
    assert text.around(0, 5) == "p q"
    assert text.replace(4, "x").around(4, 1) == "x "


@steady
@given(assigned)
def test_words_hold_letters_digits_marks_and_inner_joiners(string: str) -> None:
    for word in Text(string).words:
        assert unicodedata.category(word[0])[0] in "LN"
        assert unicodedata.category(word[-1])[0] in "LMN"
        for left, inner in pairwise(word):
            assert unicodedata.category(inner)[0] in "LMN" or inner in JOINERS
            assert not (left in JOINERS and inner in JOINERS)


@steady
@given(assigned)
def test_every_letter_and_digit_is_in_a_word(string: str) -> None:
    text = Text(string)
    inside = {at for _, start, end in text.spans() for at in range(start, end)}
    assert all(at in inside for at, char in enumerate(string) if unicodedata.category(char)[0] in "LN")


@pytest.mark.parametrize(
    ("string", "words"),
    [
        ("", []),
        ("word", ["word"]),
        ("I don't, they’re 'quoted' dogs'", ["I", "don't", "they’re", "quoted", "dogs"]),
        ("a well-made--really -x- re-", ["a", "well-made", "really", "x", "re"]),
        ("rock_n_roll f*ck me@home.org __init__", ["rock_n_roll", "f*ck", "me@home", "org", "init"]),
        ("3.14 1,000 2nd", ["3", "14", "1", "000", "2nd"]),
        ("e\u0301te\u0301 naïve", ["e\u0301te\u0301", "naïve"]),
        ("שלום עולם!", ["שלום", "עולם"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("র‍্যাব", ["র‍্যাব"]),
        ("love ❤️ it", ["love", "it"]),
        ("👩‍❤️‍👨👍🏽🇩🇪", []),
        ("a*\ufe0f\u20e3", ["a"]),
        ("one\r\ntwo\rthree\n", ["one", "two", "three"]),
        ("\ufeffbom", ["bom"]),
    ],
)
def test_what_a_word_is(string: str, words: list[str]) -> None:
    assert list(Text(string).words) == words
    assert words_of([string]) == [word.lower() for word in words]


def test_empty_fields_keep_their_numbers() -> None:
    text = Text("", "a b", "", "c", "")
    assert text.words == ("a", "b", "c")
    assert [text.field_of(position) for position in range(3)] == [1, 1, 3]
    assert text.spans() == [(1, 0, 1), (1, 2, 3), (3, 0, 1)]
    assert text.replace(2, "z").fields == ("", "a b", "", "z", "")
    assert words_of(text.fields) == ["a", "b", "c"]


@given(st.lists(st.sampled_from(["a", "b", "A", ""]), min_size=4, max_size=4), st.integers(0, 3))
def test_changes_are_the_places_that_differ(new: list[str], other: int) -> None:
    text = Text("a b, A b").replace(other, "x")
    changed = text.replace_all(dict(enumerate(new)))
    places = [place for place in range(4) if text.words[place] != new[place]]
    assert text.changes(changed) == places == [edit.position for edit in text.edits(changed)]


def test_a_hash_does_not_leave_its_process() -> None:
    text = Text("a b")
    state = pickle.dumps(text)
    assert hash(text) == hash(Text("a b"))
    assert pickle.dumps(text) == state
    copied = pickle.loads(state)
    assert (copied, hash(copied), copied.words) == (text, hash(text), text.words)


def test_replacing_outside_the_text() -> None:
    for place in (-1, 2):
        with pytest.raises(IndexError, match=f"there is no word {place} in a text of 2 words"):
            Text("a b").replace_all({0: "c", place: "d"})
    assert Text("a b").replace_all({}) == Text("a b")


def test_edits_need_the_same_gaps() -> None:
    with pytest.raises(AssertionError, match="same gaps"):
        Text("a b").edits(Text("a  b"))
    assert not Text("a", "b").same_shape(Text("a b", ""))
    assert Text("a b").edits(Text("A b")) == (Edit(0, "a", "A"),)


def test_a_text_survives_pickling() -> None:
    text = Text("a b", "c").replace(1, "x")
    assert pickle.loads(pickle.dumps(text)) == text


@pytest.mark.parametrize(
    ("word", "pattern", "expected"),
    [
        ("film", "movie", "film"),
        ("film", "Movie", "Film"),
        ("film", "MOVIE", "FILM"),
        ("film", "I", "Film"),
        ("film", "DON'T", "FILM"),
        ("film", "iPhone", "film"),
        ("film", "McDonald", "Film"),
        ("USA", "movie", "USA"),
        ("iPhone", "Movie", "IPhone"),
        ("2nd", "Movie", "2nd"),
        ("film", "", "film"),
        ("", "Movie", ""),
        ("film", "漢", "film"),
        ("ǆep", "Movie", "ǅep"),
        ("straße", "MOVIE", "STRASSE"),
    ],
)
def test_like_takes_over_the_case(word: str, pattern: str, expected: str) -> None:
    assert like(word, pattern) == expected
