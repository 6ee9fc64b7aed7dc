"""Special tokens, segment ids and truncation are the tokenizer's own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import processors

from mohs.models.special_tokens import SpecialTokens
from mohs.models.token_rows import keep
from tests.models.conftest import tiny_composer, tiny_tokenizer, wordpiece

KINDS = ["wordpiece", "byte-bpe", "unigram"]
texts = st.lists(st.sampled_from(["film", "a", "the", "very", "zzyzx", "don't", "👍"]), max_size=14).map(" ".join)


def ours(kind: str, fields: tuple[str, ...], window: int) -> tuple[list[int], list[int] | None]:
    special_tokens = SpecialTokens(tiny_tokenizer(kind), window)
    ids = tiny_composer(kind).ids(fields)
    kept = keep([len(part) for part in ids], special_tokens.room(len(fields)))
    return special_tokens.row([part[:size] for part, size in zip(ids, kept, strict=True)])


def theirs(kind: str, fields: tuple[str, ...], window: int) -> tuple[list[int], list[int] | None]:
    encoded = tiny_tokenizer(kind)(*([field] for field in fields), truncation=True, max_length=window)
    types = encoded.get("token_type_ids")
    return encoded["input_ids"][0], None if types is None else types[0]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(text=texts, window=st.integers(4, 40))
def test_one_text(kind: str, text: str, window: int) -> None:
    assert ours(kind, (text,), window) == theirs(kind, (text,), window)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=120, deadline=None)
@given(one=texts, other=texts, window=st.integers(6, 40))
def test_pairs(kind: str, one: str, other: str, window: int) -> None:
    assert ours(kind, (one, other), window) == theirs(kind, (one, other), window)


@pytest.mark.parametrize("kind", KINDS)
def test_every_length(kind: str) -> None:
    room = SpecialTokens(tiny_tokenizer(kind), 13).room(2)
    fields = [" ".join(["a"] * size) for size in range(14)]
    sizes = [len(ids) for ids in tiny_composer(kind).ids(fields)]
    assert max(sizes) > room
    for one, first in zip(fields, sizes, strict=True):
        for other, second in zip(fields, sizes, strict=True):
            cut = tiny_tokenizer(kind)([one], [other], truncation=True, max_length=13).encodings[0].sequence_ids
            assert keep([first, second], room) == [cut.count(0), cut.count(1)]


def test_segments_of_a_pair() -> None:
    row, types = SpecialTokens(tiny_tokenizer("wordpiece"), 20).row([[7, 8], [9]])
    first, last = tiny_tokenizer("wordpiece").cls_token_id, tiny_tokenizer("wordpiece").sep_token_id
    assert row == [first, 7, 8, last, 9, last]
    assert types == [0, 0, 0, 0, 1, 1]
    assert SpecialTokens(tiny_tokenizer("byte-bpe"), 20).row([[7, 8], [9]])[1] is None


def test_no_room() -> None:
    special_tokens = SpecialTokens(tiny_tokenizer("wordpiece"), 4)
    assert special_tokens.room(1) == 2
    assert special_tokens.accepts(1)
    assert not special_tokens.accepts(2)
    assert not special_tokens.accepts(3)


def test_an_order_that_cannot_be_taken_apart() -> None:
    tokenizer = wordpiece(True)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$B:1 [SEP] $A", special_tokens=[("[SEP]", tokenizer.sep_token_id)]
    )
    special_tokens = SpecialTokens(tokenizer, 20)
    assert special_tokens.row([[5]]) == ([5], [0])
    assert not special_tokens.accepts(2)
