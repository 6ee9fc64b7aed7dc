"""Where a mask goes, and which tokens around it are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.models.mask_questions import sides, starts_bare
from mohs.models.special_tokens import SpecialTokens
from mohs.models.token_rows import around
from tests.models.conftest import tiny_tokenizer

texts = st.text(st.sampled_from("ab1é 你.,(\"'“\u0301\n"), max_size=12)


@given(text=texts, data=st.data())
def test_sides(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    left, right, bare = sides(text, start, end)
    assert left == text[:start].rstrip()
    assert right in (text[end:], " " + text[end:])
    assert not right[:1].isalnum()  # never joined to the mask
    if not text[end:] or text[end].isspace():
        assert right == text[end:]
    if not left:
        assert bare
    elif text[start - 1].isspace() or text[start - 1].isalnum():
        assert not bare
    if start < end:
        assert bare is starts_bare(text[:start])


@given(lengths=st.lists(st.integers(0, 30), min_size=1, max_size=2), data=st.data())
def test_around(lengths: list[int], data: st.DataObject) -> None:
    field = data.draw(st.integers(0, len(lengths) - 1))
    lengths[field] += 1
    start = data.draw(st.integers(0, lengths[field] - 1))
    end = data.draw(st.integers(start + 1, lengths[field]))
    room = data.draw(st.integers(len(lengths), 40))
    kept = around(lengths, field, start, end, room)
    sizes = [last - first for first, last in kept]
    assert sum(sizes) == min(room, sum(lengths))
    assert all(0 <= first <= last <= length for (first, last), length in zip(kept, lengths, strict=True))
    first, last = kept[field]
    assert sizes[field] == min(lengths[field], room)
    assert all(begin == 0 for number, (begin, _) in enumerate(kept) if number != field)
    if end - start <= room:
        assert first <= start
        assert end <= last
        before, behind = start - first, last - end
        if first > 0 and last < lengths[field]:
            assert 0 <= behind - before <= 1
        elif first > 0:
            assert before >= behind
        elif last < lengths[field]:
            assert behind >= before
    else:
        assert first == start


@pytest.mark.parametrize("kind", ["wordpiece", "byte-bpe", "unigram"])
@pytest.mark.parametrize("fields", [1, 2])
def test_before(kind: str, fields: int) -> None:
    special_tokens = SpecialTokens(tiny_tokenizer(kind), 64)
    parts = [[-1 - field] * 3 for field in range(fields)]
    row, _ = special_tokens.row(parts)
    for field in range(fields):
        assert row.index(-1 - field) == special_tokens.before(fields, field) + 3 * field
