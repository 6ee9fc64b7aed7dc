"""Parts of a run's examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.tasks.shard import Shard


@given(st.text(), st.integers(1, 40))
def test_every_example_is_in_exactly_one_part(example_id: str, of: int) -> None:
    assert sum(Shard(number, of).holds(example_id) for number in range(1, of + 1)) == 1


def test_parts_are_alike_on_all_machines_and_about_equally_large() -> None:
    sizes = [sum(Shard(number, 4).holds(f"test-{n}") for n in range(4000)) for number in (1, 2, 3, 4)]
    assert sizes == [1019, 976, 1011, 994]  # another hash would give others


@pytest.mark.parametrize("written", ["0/3", "4/3", "3", "a/b", "1/0", "-1/2", "1/2/3", "1/10000000", "١/٢"])
def test_what_is_no_part_is_refused(written: str) -> None:
    with pytest.raises(BadInput, match="--shard"):
        Shard.read(written)


def test_it_reads_what_it_writes() -> None:
    assert str(Shard.read(" 3/16 ")) == "3/16"
    assert Shard.read("3/16") == Shard(3, 16)
