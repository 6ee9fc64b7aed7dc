from __future__ import annotations

import pytest

from mohs.text.inflection import INFLECTED, bases, forms


def anything(_: str) -> bool:
    return True


FORMS = """
NNS film films, box boxes, bus buses, church churches, story stories, boy boys, hero heroes, video videos, knife knives,
    child children, foot feet, person people, species species, woman women, quiz quizes, day days, belief beliefs
VBZ walk walks, pass passes, try tries, go goes, have has, be is, play plays
VBG make making, see seeing, die dying, stop stopping, run running, visit visiting, play playing, panic panicking,
    be being, dye dyeing, quit quitting, fix fixing, sing singing, singe singeing, show showing, agree agreeing
VBD love loved, stop stopped, try tried, play played, walk walked, go went, find found, put put, visit visited,
    panic panicked, lay laid, fix fixed, know knew, be was
VBN go gone, know known, love loved, put put, find found, write written, be been
JJR big bigger, fine finer, happy happier, good better, tall taller, new newer
JJS big biggest, fine finest, happy happiest, good best, bad worst
RBR fast faster, well better
RBS early earliest, far furthest
NN film film
VB go go
VBP go go
JJ good good
DT the the
"""


def rows() -> list[tuple[str, str, str]]:
    found = []
    tag = ""
    for entry in FORMS.replace("\n", " ").replace(",", " ").split():
        if entry.isupper():
            tag, pending = entry, ""
        elif pending:
            found.append((tag, pending, entry))
            pending = ""
        else:
            pending = entry
    return found


@pytest.mark.parametrize(("tag", "base", "form"), rows())
def test_the_likeliest_form(tag: str, base: str, form: str) -> None:
    assert forms(base, tag, anything)[0] == form


@pytest.mark.parametrize(("tag", "base", "form"), rows())
def test_the_way_back(tag: str, base: str, form: str) -> None:
    assert base in bases(form, tag, anything, lambda word: word == form)


def test_a_vocabulary_decides_between_guesses() -> None:
    assert forms("admit", "VBD", {"admitted"}.__contains__) == ["admitted"]
    assert forms("admit", "VBD", {"admitted", "admited"}.__contains__) == ["admited"]
    assert forms("photo", "NNS", {"photos"}.__contains__) == ["photos"]
    assert forms("basis", "NNS", {"bases"}.__contains__) == ["bases"]
    assert forms("german", "NNS", {"germans"}.__contains__) == ["germans"]
    assert forms("walk", "VBD", {"walks"}.__contains__) == []
    assert forms("film", "NN", set[str]().__contains__) == []


def test_all_listed_forms_that_exist() -> None:
    assert forms("burn", "VBD", anything) == ["burned", "burnt"]
    assert forms("burn", "VBN", {"burnt"}.__contains__) == ["burnt"]
    assert forms("get", "VBN", anything) == ["gotten", "got"]


def test_a_word_in_the_way_of_a_guess() -> None:
    known = {"hop", "hope"}.__contains__
    assert bases("hoping", "VBG", known, {"hopping", "hoping"}.__contains__) == ["hope"]
    assert bases("hopping", "VBG", known, {"hopping", "hoping"}.__contains__) == ["hop"]


def test_only_base_forms_that_are_known_and_fit() -> None:
    known = {"find", "found", "fin"}.__contains__
    assert bases("found", "VBD", known, anything) == ["find"]
    assert bases("founded", "VBD", known, anything) == ["found"]
    assert bases("found", "NNS", known, anything) == []
    assert bases("saw", "VBD", {"see", "saw"}.__contains__, anything) == ["see"]
    assert bases("axes", "NNS", {"axe", "axis", "ax"}.__contains__, {"axes"}.__contains__) == ["axe", "ax", "axis"]
    assert bases("", "NNS", anything, anything) == []
    assert bases("filmed", "VBD", {"film"}.__contains__, set[str]().__contains__) == ["film"]  # exists, being asked for


def test_every_inflected_class_has_an_ending_or_a_list() -> None:
    for tags in INFLECTED.values():
        for tag in tags:
            assert forms("blick", tag, anything) != ["blick"]
