"""Token ids put together from pieces are the tokenizer's own, for any string."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, normalizers, pre_tokenizers

from mohs.models import tokens
from mohs.models.tokens import Composer
from mohs.text import Text
from tests.models.conftest import COMPOSED, WHOLE, byte_bpe, corpus, tiny_composer, tiny_tokenizer, wordpiece

SPACES = [" "] * 12 + "  |\t|\n|\r\n|\x0b|\x0c|\x1c|\x85|\u00a0|\u1680|\u2003|\u2028|\u202f|\u3000|\u200b|\u200c".split(
    "|"
)
HIDDEN = "\u200d|\u2060|\ufeff|\u00ad|\u202e|\x00|\x07|\ufffd|\u2581|\U000e0041".split("|")
MARKS = "\u0301|\u0308|\u0345|\u20e3|\ufe0f|´|¨|\u0600|\u0d4e|\uff9e|\u0e33|\ufdfa".split("|")
WORDS = "a|The|don't|well-made|é|e\u0301|naïve|ﬁne|½|3,000|x²|ß|İ|ǅ|.|?!|(|\"|—|_|##s|Ġ|``".split("|")
SCRIPTS = "你好|世|שלום|नमस्ते|한|👍🏽|👨‍👩‍👧|🇫🇷".split("|")
ADDED = "[SEP]|[MASK]|[UNK]|<mask>|<s>|</s>|<unk>|<turn>|new york".split("|")

tricky = st.lists(st.sampled_from([*SPACES, *HIDDEN, *MARKS, *WORDS, *WORDS, *SCRIPTS, *ADDED]), max_size=14).map(
    "".join
)
spaced = st.lists(st.text(max_size=4), max_size=6).map(" ".join)
strings = st.one_of(st.text(), tricky, spaced)


def plainly(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


@pytest.mark.parametrize("kind", [*COMPOSED, *WHOLE])
@settings(max_examples=250, deadline=None)
@given(texts=st.lists(strings, min_size=1, max_size=4))
@example(texts=["\ufffd b", "a \u0301 b", "a ´ b", "´ é", "a\x1cb", "a\x0b b", "x <turn> y", "x <mask> y", " ", ""])
@example(texts=["a\ufffd b", "a \uff9e b", "a▁ b", "a ▁ b", "a \u3164 b", "x\u200b y", "a ¨b", "\u0301 a", "a\u0301 b"])
@example(texts=["new york", "a new  york b", "a\u00a0b", "\u3000a \u3000 b", "tab\there \r\n end ", "ൎ a"])
def test_any_strings(kind: str, texts: list[str]) -> None:
    wanted = [plainly(tiny_tokenizer(kind), text) for text in texts]
    assert tiny_composer(kind).ids(texts) == wanted
    assert tiny_composer(kind).ids(texts) == wanted  # and again, from the tables


@pytest.mark.parametrize("kind", [*COMPOSED, *WHOLE])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_replaced_words(kind: str, data: st.DataObject) -> None:
    text = Text(data.draw(st.sampled_from(corpus())))
    places = st.integers(0, len(text) - 1)
    words = st.one_of(st.sampled_from(WORDS + SCRIPTS), st.text(max_size=6))
    changed = text.replace_all(data.draw(st.dictionaries(places, words, max_size=4)))
    (string,) = changed.fields
    assert tiny_composer(kind).ids([string]) == [plainly(tiny_tokenizer(kind), string)]


@pytest.mark.parametrize("kind", COMPOSED)
def test_composes(kind: str) -> None:
    fresh = Composer(tiny_tokenizer(kind))
    assert fresh.composable
    wanted = [plainly(tiny_tokenizer(kind), text) for text in corpus()]
    assert fresh.ids(corpus()) == wanted
    assert fresh.fallbacks == 0


@pytest.mark.parametrize("kind", WHOLE)
def test_not_composable(kind: str) -> None:
    fresh = Composer(tiny_tokenizer(kind))
    assert not fresh.composable
    assert fresh.ids(["a b", "c"]) == [plainly(tiny_tokenizer(kind), text) for text in ("a b", "c")]
    assert fresh.fallbacks == 2


def test_only_new_pieces_are_tokenised() -> None:
    fresh = Composer(tiny_tokenizer("wordpiece"))
    asked: list[str] = []
    backend: Any = fresh._backend

    class Watched:
        def encode_batch(self, texts: list[str], add_special_tokens: bool) -> Any:
            asked.extend(texts)
            return backend.encode_batch(texts, add_special_tokens=add_special_tokens)

    watched: Any = Watched()
    fresh._backend = watched
    fresh.ids(["one zebra walks"])
    asked.clear()
    fresh.ids(["one giraffe walks", "one zebra walks"])
    assert asked == [" giraffe"]


def test_known_words_are_found_by_a_plain_split(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = Composer(tiny_tokenizer("byte-bpe"))
    wanted = fresh.ids(["one zebra, e\u0301 walks", "walks zebra, one"])
    monkeypatch.setattr(tokens, "_CUT", None)
    assert fresh.ids(["one zebra, e\u0301 walks"]) == wanted[:1]
    with pytest.raises(AttributeError):
        fresh.ids(["one  zebra, walks"])  # two spaces need a closer look


def test_tables_start_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MOST_PIECES", 3)
    fresh = Composer(tiny_tokenizer("byte-bpe"))
    for text in corpus()[:20]:
        assert fresh.ids([text]) == [plainly(tiny_tokenizer("byte-bpe"), text)]
    fresh.ids(["short"])
    assert len(fresh._heads) + len(fresh._tails) < 10 + len(corpus()[19].split())


def test_added_tokens_are_counted() -> None:
    fresh = Composer(tiny_tokenizer("byte-bpe"))
    text = "say <turn> something"
    assert fresh.ids([text, "say something"]) == [
        plainly(tiny_tokenizer("byte-bpe"), text),
        plainly(tiny_tokenizer("byte-bpe"), "say something"),
    ]
    assert fresh.fallbacks == 1


def test_unknown_words_still_compose() -> None:
    fresh = Composer(tiny_tokenizer("wordpiece"))
    assert tiny_tokenizer("wordpiece").unk_token_id in fresh.ids(["a ௵ b"])[0]
    assert fresh.fallbacks == 0


def test_special_tokens_split_on_request() -> None:
    tokenizer = wordpiece(True)
    tokenizer.split_special_tokens = True
    tokenizer.backend_tokenizer.encode_special_tokens = True
    assert Composer(tokenizer).ids(["a [SEP] b"]) == [plainly(tokenizer, "a [SEP] b")]
    assert tokenizer.sep_token_id not in Composer(tokenizer).ids(["a [SEP] b"])[0]


def test_a_vocabulary_that_hides_the_difference() -> None:
    """Nothing in the vocabulary spans a space, so ids agree on every string; yet the layout is refused."""
    tokenizer = byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert not Composer(tokenizer).composable


@pytest.mark.parametrize(
    ("step", "fine"),
    [
        (normalizers.Replace("``", '"'), True),
        (normalizers.Replace(Regex(" {2,}"), " "), True),
        (normalizers.Replace(Regex(r"\s+"), " "), True),
        (normalizers.Replace(Regex(r"\s+"), ""), False),
        (normalizers.Replace("of course", "sure"), False),
        (normalizers.Replace(Regex("(?<=very )good"), "fine"), False),
        (normalizers.Strip(left=False, right=True), True),
        (normalizers.Prepend("x"), False),
    ],
)
def test_normalisers(step: Any, fine: bool) -> None:
    tokenizer = wordpiece(True)
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Sequence([step]), normalizers.BertNormalizer()]
    )
    found = Composer(tokenizer)
    assert found.composable is fine
    for text in ("a very good  film, of course", " of course ``x`` \n"):
        assert found.ids([text]) == [plainly(tokenizer, text)]


@pytest.mark.parametrize("kind", COMPOSED)
@settings(max_examples=40, deadline=None)
@given(text=strings, tokens=st.integers(0, 12))
def test_where_tokens_end(kind: str, text: str, tokens: int) -> None:
    whole = tiny_tokenizer(kind)(text, add_special_tokens=False, return_offsets_mapping=True)
    if tokens >= len(whole["input_ids"]):
        assert tiny_composer(kind).ends(text, tokens) == len(text)
    else:
        assert tiny_composer(kind).ends(text, tokens) == max(
            (e for _, e in whole["offset_mapping"][:tokens]), default=0
        )
