"""The engine: asks, services, meters, the loop and the cache."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.engine import (
    AnswerCache,
    BudgetSpent,
    Finished,
    Memory,
    Meter,
    Service,
    by_size,
    others_first,
    run,
    together,
)
from mohs.errors import BadInput, ServiceFailed


class Doubler:
    """Answers 2x, and writes down the batches it saw."""

    name = "doubler"
    fingerprint = "doubler-1"

    def __init__(self, in_flight: int = 1, rows: int = 4, bad: frozenset[int] = frozenset()) -> None:
        self.in_flight = in_flight
        self.rows = rows
        self.bad = bad
        self.batches: list[list[int]] = []
        self.flying = 0
        self.most_flying = 0

    def plan(self, items: list[int]) -> list[list[int]]:
        return by_size(items, abs, self.rows)

    def launch(self, batch: list[int]) -> list[int]:
        self.batches.append(batch)
        self.flying += 1
        self.most_flying = max(self.flying, self.most_flying)
        return batch

    def collect(self, ticket: list[int]) -> Sequence[int]:
        self.flying -= 1
        if self.bad & set(ticket):
            raise RuntimeError(f"cannot double {sorted(self.bad & set(ticket))}")
        return [2 * item for item in ticket]


Search = Coroutine[Any, None, Any]


async def climb(service: Service[int, int], start: int, steps: int) -> int:
    value = start
    for _ in range(steps):
        (value,) = await service.ask([value])
    return value


def results(
    searches: list[tuple[int, Search]], services: list[Service[Any, Any]], at_once: int = 256
) -> dict[int, Any]:
    return {ended.key: ended.error or ended.result for ended in run(searches, services, at_once)}


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 5)), max_size=20),
    st.sampled_from([1, 3, 256]),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_every_search_gets_its_own_answers(
    jobs: list[tuple[int, int]], at_once: int, in_flight: int, rows: int
) -> None:
    service = Service(Doubler(in_flight, rows))
    found = results([(i, climb(service, *job)) for i, job in enumerate(jobs)], [service], at_once)
    assert found == {i: start * 2**steps for i, (start, steps) in enumerate(jobs)}


def test_equal_questions_share_a_row() -> None:
    model = Doubler(rows=100)
    service = Service(model)
    results([(i, climb(service, 7, 1)) for i in range(50)], [service])
    assert model.batches == [[7]]
    assert service.forwards == 1


def test_batches_do_not_depend_on_arrival() -> None:
    seen = []
    for order in ([1, 5, 3, 2, 4], [4, 3, 2, 1, 5]):
        model = Doubler(rows=2)
        service = Service(model)
        results([(i, climb(service, i, 1)) for i in order], [service])
        seen.append(model.batches)
    assert seen[0] == seen[1] == [[5, 4], [3, 2], [1]]


def test_at_most_at_once_searches_are_alive() -> None:
    alive = most = 0

    async def counted(service: Service[int, int]) -> None:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        await service.ask([1])
        alive -= 1

    service = Service(Doubler())
    assert len(results([(i, counted(service)) for i in range(30)], [service], at_once=7)) == 30
    assert most == 7


def test_launches_ahead_and_collects_in_order() -> None:
    model = Doubler(in_flight=3, rows=1)
    service = Service(model)

    async def many() -> list[int]:
        return await service.ask(list(range(10)))

    assert results([(0, many())], [service]) == {0: [2 * i for i in range(10)]}
    assert model.most_flying == 3
    assert model.batches == [[i] for i in reversed(range(10))]


def test_the_fullest_service_goes_first() -> None:
    one, two = Doubler(rows=100), Doubler(rows=100)
    small, large = Service(one), Service(two)
    order: list[str] = []

    async def ask(service: Service[int, int], name: str, item: int) -> None:
        await service.ask([item])
        order.append(name)

    searches = [(0, ask(small, "small", 1))] + [(i, ask(large, "large", i)) for i in range(1, 4)]
    results(searches, [small, large])
    assert order == ["large"] * 3 + ["small"]


def test_searches_fall_into_step() -> None:
    """Searches of different speed share batches: eight searches of ten steps need ten batches, not eighty."""
    model = Doubler(rows=100)
    service = Service(model)
    results([(i, climb(service, 2 * i + 1, 10)) for i in range(8)], [service])
    assert len(model.batches) == 10


def test_together_asks_both_at_once() -> None:
    one, two = Doubler(rows=100), Doubler(rows=100)
    first, second = Service(one), Service(two)

    async def both() -> list[Any]:
        return await together(climb(first, 1, 3), first.ask([10]), climb(second, 5, 1))

    assert results([(0, both())], [first, second]) == {0: [8, [20], 10]}
    assert one.batches[0] == [10, 1]


@pytest.mark.parametrize("nested", [False, True])
def test_others_move_first(nested: bool) -> None:
    log: list[str] = []

    async def notes(name: str) -> None:
        log.append(f"{name} says")
        await others_first()
        log.append(f"{name} asks")

    async def search(name: str) -> None:
        await (together(notes(name)) if nested else notes(name))

    assert results([(i, search(str(i))) for i in range(3)], []) == {0: None, 1: None, 2: None}
    assert log == ["0 says", "1 says", "2 says", "0 asks", "1 asks", "2 asks"]


def test_together_passes_a_failure_on_and_closes_the_others() -> None:
    closed: list[str] = []

    async def waits(service: Service[int, int]) -> None:
        try:
            await service.ask([1])
            await service.ask([2])
        finally:
            closed.append("closed")

    async def fails() -> None:
        raise ValueError("no")

    service = Service(Doubler())

    async def both() -> None:
        await together(waits(service), fails())

    found = results([(0, both())], [service])
    assert isinstance(found[0], ValueError)
    assert closed == ["closed"]


def test_one_search_failing_disturbs_nobody() -> None:
    service = Service(Doubler())

    async def fails() -> None:
        await service.ask([1])
        raise KeyError("mine")

    found = results([(0, fails()), (1, climb(service, 3, 2))], [service])
    assert isinstance(found[0], KeyError)
    assert found[1] == 12


def test_a_bad_item_costs_only_its_own_search() -> None:
    service = Service(Doubler(rows=10, bad=frozenset([3])))
    found = results([(i, climb(service, i, 1)) for i in range(6)], [service])
    assert isinstance(found.pop(3), RuntimeError)
    assert found == {0: 0, 1: 2, 2: 4, 4: 8, 5: 10}


def test_a_run_of_bad_items_is_told_from_a_dead_model() -> None:
    bad = frozenset(range(10, 20))
    service = Service(Doubler(rows=100, bad=bad))
    service.prove([1])
    found = results([(i, climb(service, i, 1)) for i in range(10, 20)], [service], at_once=1)
    assert all(isinstance(error, RuntimeError) for error in found.values())


def test_a_dead_model_ends_the_run_with_the_finished_ones_given() -> None:
    model = Doubler()
    service = Service(model)
    ended: list[Finished[int, int]] = []

    def drive() -> None:
        for finished in run(((i, climb(service, i + 1, 1)) for i in range(10)), [service], at_once=1):
            ended.append(finished)
            if len(ended) == 4:
                model.bad = frozenset(range(100))

    with pytest.raises(ServiceFailed, match="doubler stopped answering: RuntimeError: cannot double"):
        drive()
    assert [finished.result for finished in ended] == [2, 4, 6, 8]


def test_wrong_number_of_answers_ends_the_run() -> None:
    class Short(Doubler):
        def collect(self, ticket: list[int]) -> Sequence[int]:
            return [0]

    service = Service(Short(rows=10))
    with pytest.raises(ServiceFailed, match="doubler gave 1 answers to 3 texts"):
        results([(i, climb(service, i, 1)) for i in range(3)], [service])


def test_alone_means_batches_of_one() -> None:
    model = Doubler(rows=100)
    service = Service(model, alone=True)
    results([(i, climb(service, i, 1)) for i in range(5)], [service])
    assert sorted(map(len, model.batches)) == [1] * 5


def test_or_of_as_many_as_a_model_keeps_to_one_shape() -> None:
    model = Doubler(rows=100)
    service = Service(model, alone=True, together=2)
    assert results([(i, climb(service, i, 1)) for i in range(5)], [service]) == {i: 2 * i for i in range(5)}
    assert sorted(map(len, model.batches)) == [1, 2, 2]


def test_an_ask_without_items_does_not_wait() -> None:
    service = Service(Doubler())

    async def nothing() -> list[int]:
        return await service.ask([])

    assert results([(0, nothing())], [service]) == {0: []}


def test_stopping_early_leaves_no_warnings() -> None:
    service = Service(Doubler())
    loop = run(((i, climb(service, i, 3)) for i in range(10)), [service], at_once=5)
    next(loop)
    del loop  # closes the generator; a coroutine left behind would warn


def test_a_service_left_out_of_the_run_is_noticed() -> None:
    used, forgotten = Service(Doubler()), Service(Doubler())
    with pytest.raises(AssertionError, match="not part of this run"):
        results([(0, climb(forgotten, 1, 1))], [used])


def test_the_same_ask_awaited_twice() -> None:
    service = Service(Doubler())

    async def both() -> list[Any]:
        ask = service.ask([4])
        return await together(ask, ask)

    assert results([(0, both())], [service]) == {0: [[8], [8]]}


def test_the_first_bad_item_names_the_failure() -> None:
    """Whatever else is asked beside it: here the longer item comes first in the batch."""
    for others in ([], [9]):
        service = Service(Doubler(rows=1, bad=frozenset([1, 2, 9])))
        service.prove([5])

        async def ask(items: list[int], service: Service[int, int] = service) -> None:
            await service.ask(items)

        found = results([(0, ask([1, 2])), *((i, ask([i])) for i in others)], [service])
        assert str(found[0]) == "cannot double [1]"


def test_a_service_is_clean_after_a_run_that_was_left() -> None:
    service = Service(Doubler(in_flight=2, rows=1))
    left = run(((i, climb(service, i + 1, 3)) for i in range(5)), [service], at_once=5)
    next(left)
    del left
    assert results([(0, climb(service, 9, 1))], [service]) == {0: 18}


def test_no_service_starves_while_another_overlaps() -> None:
    busy, rare = Doubler(in_flight=2, rows=1), Doubler()
    first, second = Service(busy), Service(rare)
    when: list[int] = []

    async def long(start: int) -> None:
        for step in range(300):
            await first.ask([start + 2 * step])

    async def short(number: int) -> None:
        await second.ask([number])
        when.append(len(busy.batches))

    searches: list[tuple[int, Search]] = [(0, long(0)), (1, long(1)), *((i, short(i)) for i in range(2, 12))]
    results(searches, [first, second])
    assert max(when) < 50


class TestMeter:
    def test_after_a_failure_the_answer_is_asked_again(self) -> None:
        service = Service(Doubler(rows=10, bad=frozenset([3])))
        meter = Meter(service, budget=2)

        async def search() -> list[int]:
            with pytest.raises(RuntimeError):
                await meter([1, 3])
            return await meter([1])

        assert results([(0, search())], [service]) == {0: [2]}
        assert meter.queries == 2

    def test_what_is_affordable(self) -> None:
        service = Service(Doubler())
        meter = Meter(service, budget=3)
        meter.remember(7, 14)
        assert (meter.affordable([7, 1, 1, 2]), meter.spent) == (4, False)
        assert (meter.affordable([1, 7, 2, 1, 3]), meter.spent) == (4, True)
        assert Meter(service).affordable(list(range(100))) == 100

    def test_counts_distinct_items_and_remembers(self) -> None:
        model = Doubler(rows=100)
        service = Service(model)
        meter = Meter(service)

        async def search() -> list[list[int]]:
            return [await meter([1, 2, 2, 1]), await meter([2, 3])]

        assert results([(0, search())], [service]) == {0: [[2, 4, 4, 2], [4, 6]]}
        assert meter.queries == 3
        assert model.batches == [[2, 1], [3]]

    def test_budget_is_raised_where_the_search_asks(self) -> None:
        model = Doubler(rows=100)
        service = Service(model)
        meter = Meter(service, budget=3)

        async def search() -> str:
            await meter([1, 2])
            await meter([1, 3])
            try:
                await meter([1, 4, 5])
            except BudgetSpent:
                assert await meter([1, 2, 3]) == [2, 4, 6]  # what is known stays free
                return "spent"
            return "went on"

        assert results([(0, search())], [service]) == {0: "spent"}
        assert (meter.queries, meter.spent) == (3, True)
        assert sorted(item for batch in model.batches for item in batch) == [1, 2, 3]

    @given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6), st.integers(0, 12))
    def test_never_over_budget(self, asks: list[list[int]], budget: int) -> None:
        service = Service(Doubler())
        meter = Meter(service, budget)

        async def search() -> None:
            for items in asks:
                assert await meter(items) == [2 * item for item in items]

        found = results([(0, search())], [service])
        distinct = len({item for items in asks for item in items})
        assert isinstance(found[0], BudgetSpent) == (distinct > budget)
        assert meter.queries <= budget

    def test_branches_that_ask_the_same_count_it_once(self) -> None:
        service = Service(Doubler(rows=100))
        meter = Meter(service)

        async def search() -> list[Any]:
            return await together(meter([1, 2]), meter([2, 3]))

        assert results([(0, search())], [service]) == {0: [[2, 4], [4, 6]]}
        assert meter.queries == 3
        assert service.forwards == 3

    def test_a_remembered_answer_is_used_and_counted(self) -> None:
        service = Service(Doubler())
        meter = Meter(service, budget=1)
        meter.remember(5, 99)

        async def search() -> list[int]:
            return await meter([5])

        assert results([(0, search())], [service]) == {0: [99]}
        assert meter.queries == 1
        assert service.forwards == 0


class TestCache:
    def test_second_run_asks_nothing(self, tmp_path: Path) -> None:
        counts = []
        for _ in range(2):
            cache = AnswerCache(tmp_path / "deep" / "answers.sqlite")
            service = Service(Doubler(), cache=cache)
            assert results([(i, climb(service, i, 2)) for i in range(1, 30)], [service])[29] == 116
            counts.append((service.forwards, service.reused))
            cache.close()
        assert counts[0][0] > 0
        assert counts[1][0] == 0
        assert counts[1][1] > 0

    def test_other_model_other_answers(self) -> None:
        cache = AnswerCache(":memory:")
        cache.put("a", {("x",): (0.5, 0.5)})
        assert cache.get("a", [("x",), ("y",)]) == {("x",): (0.5, 0.5)}
        assert cache.get("b", [("x",)]) == {}

    @given(st.lists(st.text(), min_size=1, max_size=2), st.lists(st.floats(allow_nan=False), min_size=1))
    def test_answers_come_back_bit_by_bit(self, fields: list[str], answer: list[float]) -> None:
        cache = AnswerCache(":memory:")
        cache.put("m", {tuple(fields): tuple(answer)})
        assert cache.get("m", [tuple(fields)]) == {tuple(fields): tuple(answer)}
        cache.close()

    def test_fields_are_not_run_together(self) -> None:
        cache = AnswerCache(":memory:")
        cache.put("m", {("ab", "c"): 1})
        assert cache.get("m", [("a", "bc"), ("abc",)]) == {}

    def test_answers_given_alone_are_kept_apart(self) -> None:
        class Crowd(Doubler):
            def collect(self, ticket: list[int]) -> Sequence[int]:
                return [2 * item + (len(ticket) > 1) for item in ticket]

        cache = AnswerCache(":memory:")
        among, alone = Service(Crowd(rows=9), cache=cache), Service(Crowd(), cache=cache, alone=True)
        results([(i, climb(among, i, 1)) for i in range(5)], [among])
        assert results([(0, climb(alone, 4, 1))], [alone]) == {0: 8}

    def test_a_table_of_another_kind_is_one_sentence(self, tmp_path: Path) -> None:
        import sqlite3

        other = sqlite3.connect(tmp_path / "other")
        other.execute("CREATE TABLE answers (question TEXT)")
        other.close()
        with pytest.raises(BadInput, match="is not an answer cache"):
            AnswerCache(tmp_path / "other")

    def test_failures_are_not_kept(self) -> None:
        cache = AnswerCache(":memory:")
        service = Service(Doubler(rows=10, bad=frozenset([3])), cache=cache)
        results([(i, climb(service, i, 1)) for i in range(5)], [service])
        assert cache.get("doubler-1", [3, 4]) == {4: 8}

    def test_an_unusable_file_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "answers").write_text("not a database, but long enough to look like something else" * 20)
        with pytest.raises(BadInput, match="cannot be opened"):
            AnswerCache(tmp_path / "answers")

    def test_what_stands_for_an_item_decides_what_is_the_same(self) -> None:
        service = Service(Doubler(rows=100))
        meter = Meter(service, budget=2, key=lambda item: item % 10)
        meter.remember(7, 99)

        async def search() -> list[int]:
            assert meter.affordable([17, 1, 11, 2]) == 3
            return await meter([17, 1, 27])

        assert results([(0, search())], [service]) == {0: [99, 2, 99]}
        assert (meter.queries, service.forwards) == (2, 1)


class TestMemory:
    def test_a_second_search_is_told_what_the_first_heard_and_counts_it(self) -> None:
        model = Doubler(rows=100)
        service = Service(model)
        memory = Memory(service, key=lambda item: item)
        first, second = Meter(memory, budget=3), Meter(memory, budget=3)

        async def search() -> list[list[int]]:
            return [await first([1, 2, 1]), await second([2, 3, 1])]

        assert results([(0, search())], [service]) == {0: [[2, 4, 2], [4, 6, 2]]}
        assert (first.queries, second.queries) == (2, 3)
        assert sorted(item for batch in model.batches for item in batch) == [1, 2, 3]

    def test_a_failure_is_not_remembered(self) -> None:
        service = Service(Doubler(rows=10, bad=frozenset([3])))
        memory = Memory(service)

        async def search() -> list[int]:
            for _ in range(2):
                with pytest.raises(RuntimeError):
                    await memory.ask([1, 3])
            return await memory.ask([1])

        assert results([(0, search())], [service]) == {0: [2]}


def test_small_batches_wait_for_company() -> None:
    class Shaped(Doubler):
        def plan(self, items: list[int]) -> list[list[int]]:
            groups: dict[int, list[int]] = {}
            for item in sorted(items):
                groups.setdefault(item % 3, []).append(item)
            return list(groups.values())

    async def asks(service: Service[int, int], *rounds: list[int]) -> list[int]:
        return [answer for items in rounds for answer in await service.ask(items)]

    model = Shaped(rows=100)
    service = Service(model, few=2)
    searches = [asks(service, [0, 3, 6], [9, 12], [4]), asks(service, [1])]
    assert results(list(enumerate(searches)), [service]) == {0: [0, 6, 12, 18, 24, 8], 1: [2]}
    assert model.batches == [[0, 3, 6], [9, 12], [1, 4]]  # 1 waits until 4 keeps it company
    model = Shaped(rows=100)
    service = Service(model, few=2)
    long = [[3 * n, 3 * n + 3] for n in range(0, 80, 2)]
    results([(0, asks(service, *long)), (1, asks(service, [1]))], [service])
    assert model.batches.index([1]) == 16  # but not forever
