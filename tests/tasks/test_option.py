"""Options as fields: what they say, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.tasks.described import describe, named, word_list, written
from mohs.tasks.option import check_numbers, given, model, models_of, option, options_of
from mohs.tasks.reading import Reading, comma, joined


@dataclass(frozen=True, kw_only=True)
class Toy:
    """Some options."""

    times: int = option("How often.", default=1, least=1)
    name: str | None = option("Who.", "--name", "-n", metavar="N")
    workers: int = option("How many.", default=1, counts=False)
    secret: dict[str, str] | None = option("Hush.", secret=lambda value: {k: v for k, v in value.items() if k != "key"})
    tagger: Any = model("tagger")
    inner: int = 5  # no option


def test_what_is_an_option() -> None:
    assert [f.name for f, _ in options_of(Toy)] == ["times", "name", "workers", "secret", "tagger"]
    assert models_of(Toy(tagger="pocket")) == {"tagger": "pocket"}


def test_what_was_given() -> None:
    assert given(Toy()) == {}
    toy = Toy(times=2, workers=9, secret={"key": "hunter2", "rate": "3"}, inner=7)
    assert given(toy) == {"times": 2, "secret": {"rate": "3"}}


@pytest.mark.parametrize("times", [0, -1])
def test_small_numbers_are_refused(times: int) -> None:
    with pytest.raises(BadInput, match=f"times is {times}; it must be at least 1."):
        check_numbers(Toy(times=times))
    check_numbers(Toy())


def test_names_with_commas() -> None:
    assert comma('bad, "so, so",good') == ("bad", "so, so", "good")
    assert comma(None) == comma("") == ()
    assert comma(["a", "b"]) == ("a", "b")
    assert comma(joined(["a,b", "c"])) == ("a,b", "c")


def test_reading_makes_a_dataset() -> None:
    data = Reading(n=3, fields=["review"], label_field="kind").dataset("d.csv", labels=("no", "yes"))
    assert (data.source, data.n, data.fields, data.label_field, data.labels) == (
        "d.csv",
        3,
        ("review",),
        "kind",
        ("no", "yes"),
    )


def test_descriptions() -> None:
    assert written(None) is None
    assert written("wordnet") == "wordnet"
    assert written(Toy(times=3)) == "Toy(times=3)"
    assert word_list(["a"]) == "given"
    assert (word_list(None), word_list("none")) == (None, "none")
    assert named("pocket") == "pocket"
    assert describe(frozenset({"a", "b"})).startswith("<2 words ")
    with pytest.raises(BadInput, match="object has no name that is the same in every process"):
        describe(object())
