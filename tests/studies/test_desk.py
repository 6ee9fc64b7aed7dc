from __future__ import annotations

import threading
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.studies.design import design_of
from mohs.studies.desk import Desk, Phase, Standing, Taken
from mohs.studies.item import Item, Role, State
from mohs.studies.study import Study
from tests.studies.toys import Clock, Make, controls, design, items


def person(study: Study, name: str = "ada") -> int:
    (invited,) = study.invite([name])
    found = study.annotator(invited.token)
    assert found is not None
    return found.number


def counted(study: Study) -> Counter[str]:
    """How many answers each main item has."""
    roles = {item.key: item.role for item in study.items()}
    return Counter(one.item for one in study.judgements() if roles[one.item] is Role.MAIN)


def answer_all(desk: Desk, who: int, random: Random | None = None) -> int:
    """Judge until there is nothing left; returns how many answers were kept."""
    kept = 0
    standing = desk.agree(who)
    while standing.phase in (Phase.TASK, Phase.REST):
        if standing.task is None:
            standing = desk.more(who)
            continue
        value = random.choice((1, 2, 3)) if random else 1
        kept += desk.answer(who, standing.task.number, value) is Taken.KEPT
        standing = desk.at(who)
    return kept


def test_nothing_is_shown_before_somebody_agrees(make: Make) -> None:
    study = make()
    desk, who = Desk(study), person(study)
    assert desk.at(who).phase is Phase.CONSENT
    assert desk.more(who).phase is Phase.CONSENT
    assert desk.answer(who, 1, 1) is Taken.REFUSED
    assert desk.agree(who).phase is Phase.TASK


def test_a_batch_then_a_rest_then_the_next_and_the_end(make: Make) -> None:
    study = make()
    desk, who = Desk(study), person(study)
    seen = []
    standing = desk.agree(who)
    for size in (3, 3, 1):
        for place in range(1, size + 1):
            assert standing.task is not None
            assert (standing.task.place, standing.task.of) == (place, size)
            seen.append(standing.task.item.key)
            assert desk.answer(who, standing.task.number, 1) is Taken.KEPT
            standing = desk.at(who)
        standing = desk.more(who)
    assert standing.phase is Phase.END
    assert standing.annotator.state is State.FINISHED
    assert standing.done == 7
    assert sorted(seen) == sorted(one.key for one in items(7))


def test_an_item_that_somebody_holds_is_not_complete(make: Make) -> None:
    study = make(design(judges=1))
    desk, who = Desk(study), person(study)
    first = desk.agree(who).task
    assert first is not None
    assert study.progress().complete == 0
    desk.answer(who, first.number, 1)
    assert study.progress().complete == 1


def test_the_next_batch_waits_for_this_one(make: Make) -> None:
    study = make()
    desk, who = Desk(study), person(study)
    first = desk.agree(who)
    assert desk.more(who).task == first.task
    assert desk.agree(who).task == first.task


def test_a_batch_comes_from_one_group_and_from_different_texts(make: Make) -> None:
    rows = [*items(4, "one"), *items(4, "other")]
    doubled = [Item(f"{item.key} again", "same", item.texts, item.group, facts=item.facts) for item in rows]
    study = make(of_items=[*rows, *doubled])
    desk, who = Desk(study), person(study)
    standing = desk.agree(who)
    batch: list[Item] = []
    while standing.task is not None:
        batch.append(standing.task.item)
        desk.answer(who, standing.task.number, 1)
        standing = desk.at(who)
    assert len({one.group for one in batch}) == 1
    assert len({one.source for one in batch}) == 3


def test_controls_are_mixed_in_and_each_comes_once(make: Make) -> None:
    study = make(of_items=[*items(7), *controls(design())])
    desk, who = Desk(study), person(study)
    assert answer_all(desk, who) == 9
    assert counted(study).total() == 7
    assert study.progress().judgements == 7, "the study's figures are of main items"


def test_nothing_that_somebody_sees_tells_a_control(make: Make) -> None:
    """What they have done grows by one with each answer, and each answer can be changed: else controls stood out."""
    study = make(of_items=[*items(7), *controls(design())])
    desk, who = Desk(study), person(study)
    standing, seen = desk.agree(who), []
    while standing.phase is not Phase.END:
        if standing.task is None:
            standing = desk.more(who)
            continue
        number = standing.task.number
        seen.append(standing.task.item.role)
        assert desk.answer(who, number, 1) is Taken.KEPT
        standing = desk.at(who)
        assert standing.done == len(seen)
        if standing.phase is not Phase.END:
            assert standing.back == number
            assert desk.answer(who, number, 2) is Taken.CHANGED
            assert desk.at(who).done == len(seen)
    assert seen.count(Role.CONTROL) == 2
    assert standing.done == 9


def test_a_double_submit_counts_once(make: Make) -> None:
    study = make()
    desk, who = Desk(study), person(study)
    task = desk.agree(who).task
    assert task is not None
    assert desk.answer(who, task.number, 2) is Taken.KEPT
    assert desk.answer(who, task.number, 2) is Taken.REPEATED
    assert [one.value for one in study.judgements()] == [2]


def test_an_answer_can_be_changed_until_the_next_batch(make: Make) -> None:
    study = make()
    desk, who = Desk(study), person(study)
    standing = desk.agree(who)
    assert standing.task is not None
    assert standing.back is None
    first = standing.task.number
    desk.answer(who, first, 2)
    assert desk.at(who).back == first
    looked = desk.look_back(who, first)
    assert looked is not None
    assert looked.answer == 2
    assert desk.answer(who, first, 3) is Taken.CHANGED
    for _ in range(2):
        task = desk.at(who).task
        assert task is not None
        desk.answer(who, task.number, 1)
    desk.more(who)
    assert desk.look_back(who, first) is None
    assert desk.answer(who, first, 1) is Taken.REPEATED
    assert next(one.value for one in study.judgements() if one.batch == 1 and one.value == 3) == 3


def test_nobody_can_answer_what_they_were_not_given(make: Make) -> None:
    study = make()
    desk, ada, bob = Desk(study), person(study), person(study, "bob")
    task = desk.agree(ada).task
    assert task is not None
    assert desk.answer(bob, task.number, 1) is Taken.REFUSED
    desk.agree(bob)
    for wrong in (0, 4, -1):
        assert desk.answer(ada, task.number, wrong) is Taken.REFUSED
    assert desk.answer(ada, 999, 1) is Taken.REFUSED
    assert desk.look_back(bob, task.number) is None
    assert study.judgements() == []


def test_an_abandoned_item_comes_back_after_the_timeout(make: Make) -> None:
    study, clock = make(design(judges=1), items(3)), Clock()
    desk, ada, bob = Desk(study, clock), person(study), person(study, "bob")
    held = desk.agree(ada).task
    assert held is not None
    assert desk.agree(bob).phase is Phase.WAIT
    clock.now += 61
    assert desk.more(bob).phase is Phase.TASK
    assert answer_all(desk, bob) == 3
    assert desk.answer(ada, held.number, 1) is Taken.GONE
    assert set(counted(study).values()) == {1}
    assert desk.at(ada).phase is Phase.END


def test_a_late_answer_counts_if_nobody_took_the_place(make: Make) -> None:
    study, clock = make(design(judges=1), items(5)), Clock()
    desk, ada, bob = Desk(study, clock), person(study), person(study, "bob")
    standing = desk.agree(ada)
    assert standing.task is not None
    clock.now += 61
    desk.agree(bob)  # takes three of the five; ada's three are back
    free = {row[0] for row in study.database.read(lambda c: c.all("SELECT number FROM items WHERE room > 0"))}
    mine = {row[0] for row in study.database.read(lambda c: c.all("SELECT item FROM lost WHERE annotator = ?", ada))}
    assert len(mine) == 3
    for number in mine:
        assert desk.answer(ada, number, 1) is (Taken.KEPT if number in free else Taken.GONE)
    answer_all(desk, bob)
    assert set(counted(study).values()) == {1}


def test_looking_at_an_item_keeps_it(make: Make) -> None:
    study, clock = make(design(judges=1, batch=1), items(1)), Clock()
    desk, ada, bob = Desk(study, clock), person(study), person(study, "bob")
    desk.agree(ada)
    desk.agree(bob)
    for _ in range(5):
        clock.now += 50
        desk.at(ada)
        assert desk.more(bob).phase is Phase.WAIT


def test_a_pause_does_not_count(make: Make) -> None:
    study, clock = make(), Clock()
    desk, who = Desk(study, clock), person(study)
    desk.agree(who)
    clock.now += 5
    desk.pause(who)
    desk.pause(who)
    clock.now += 30
    task = desk.at(who).task
    assert task is not None
    clock.now += 2
    desk.answer(who, task.number, 1)
    assert [one.seconds for one in study.judgements()] == [7.0]


def test_who_withdraws_leaves_what_they_hold_to_others(make: Make) -> None:
    study = make(design(judges=1), items(3))
    desk, ada, bob = Desk(study), person(study), person(study, "bob")
    task = desk.agree(ada).task
    assert task is not None
    desk.answer(ada, task.number, 2)
    desk.withdraw(ada)
    assert desk.at(ada).phase is Phase.END
    assert desk.answer(ada, task.number, 3) is Taken.REFUSED
    assert answer_all(desk, bob) == 2
    assert set(counted(study).values()) == {1}


def test_who_is_set_aside_is_stopped_and_their_items_are_judged_again(make: Make) -> None:
    study = make(design(judges=1), items(3))
    desk, ada, bob = Desk(study), person(study), person(study, "bob")
    task = desk.agree(ada).task
    assert task is not None
    desk.answer(ada, task.number, 2)
    study.set_aside("ada")
    assert desk.at(ada).phase is Phase.END
    assert desk.answer(ada, task.number, 3) is Taken.REFUSED
    assert answer_all(desk, bob) == 3
    assert study.progress().judgements == 3


TRAINED = """
name: toy
title: What is it?
items: labels
judges: 1
batch: 2
training: {items: 5, least: 0.8}
questions:
  - name: label
    statements: ["Which?"]
    answers: ["a", "b"]
"""


def trained() -> list[Item]:
    training = [Item(f"t{n}", "label", (f"text {n}",), "", Role.TRAINING, (1 + n % 2,)) for n in range(9)]
    return [*training, *(Item(f"m{n}", "label", (f"main {n}",), "g", expected=(1,)) for n in range(4))]


@pytest.mark.parametrize(("right", "state"), [(5, State.WORKING), (4, State.WORKING), (3, State.FAILED)])
def test_who_answers_too_few_training_items_right_does_not_go_on(make: Make, right: int, state: State) -> None:
    study = make(design_of(TRAINED, "toy"), trained())
    desk, who = Desk(study), person(study)
    standing = desk.agree(who)
    for number in range(5):
        assert standing.task is not None
        assert standing.task.item.role is Role.TRAINING
        assert standing.back is None, "an answer with feedback cannot be changed"
        correct = standing.task.item.expected[0]
        desk.answer(who, standing.task.number, correct if number < right else 3 - correct)
        standing = desk.at(who)
        assert standing.feedback is not None or state is State.FAILED
        if standing.feedback is not None:
            assert standing.feedback.right is (number < right)
    assert standing.training == (right, 5)
    assert standing.annotator.state is state
    assert standing.phase is (Phase.REST if state is State.WORKING else Phase.END)
    assert (desk.more(who).phase is Phase.TASK) is (state is State.WORKING)


def test_two_people_train_on_different_items(make: Make) -> None:
    study = make(design_of(TRAINED, "toy"), trained())
    desk = Desk(study)
    seen = []
    for name in ("ada", "bob", "cyd"):
        who = person(study, name)
        desk.agree(who)
        rows = study.database.read(
            lambda c, who=who: c.all("SELECT item FROM judgements WHERE annotator = ?", who)  # type: ignore[misc]
        )
        seen.append(frozenset(row[0] for row in rows))
        assert len(seen[-1]) == 5
    assert len(set(seen)) > 1


def test_texts_change_places_at_random_and_answers_say_so(make: Make) -> None:
    study = make(design(judges=1, batch=40), items(40))
    desk, who = Desk(study), person(study)
    standing = desk.agree(who)
    while standing.task is not None:
        texts = standing.task.item.texts
        assert standing.task.texts == (texts[::-1] if standing.task.swapped else texts)
        desk.answer(who, standing.task.number, 1)
        standing = desk.at(who)
    swapped = sum(one.swapped for one in study.judgements())
    assert 10 <= swapped <= 30


def test_many_at_once_never_judge_more_than_designed(make: Make) -> None:
    """Every thread judges until it finds nothing; together they judge exactly as often as the design says."""
    study = make(design(judges=3, batch=4), items(40))
    desk = Desk(study)
    people = [person(study, f"p{n}") for n in range(8)]
    kept: list[int] = []
    faults: list[BaseException] = []

    def work(who: int) -> None:
        try:
            kept.append(answer_all(desk, who, Random(who)))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert set(counted(study).values()) == {3}
    assert sum(kept) == 120 == study.progress().judgements


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["at", "more", "answer", "again", "pause", "withdraw", "later", "aside"]), st.integers(0, 3)
    ),
    max_size=60,
)


@given(steps=STEPS)
def test_no_order_of_events_breaks_the_count(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """After any events: no item has more answers and reservations than the design wants, and none are unaccounted."""
    of = design(judges=2)
    with Study.create(tmp_path_factory.mktemp("s") / "s", of, [*items(5), *controls(of)]) as study:
        clock = Clock()
        desk = Desk(study, clock)
        people = [person(study, f"p{n}") for n in range(4)]
        for who in people:
            desk.agree(who)
        last: dict[int, Standing] = {}
        for event, number in steps:
            who = people[number]
            if event == "later":
                clock.now += 40
            elif event == "aside":
                study.set_aside(f"p{number}")
            elif event == "withdraw":
                desk.withdraw(who)
            elif event == "pause":
                desk.pause(who)
            elif event == "more":
                last[who] = desk.more(who)
            elif event == "at":
                last[who] = desk.at(who)
            else:
                task = last[who].task if event == "again" and who in last else desk.at(who).task
                if task is not None:
                    desk.answer(who, task.number, 1)
            _accounted(study)


def _accounted(study: Study) -> None:
    rows = study.database.read(
        lambda c: c.all(
            "SELECT i.room, (SELECT count(*) FROM judgements j JOIN annotators a ON a.number = j.annotator "
            "WHERE j.item = i.number AND a.state <> 'set aside') FROM items i WHERE i.role = 'main'"
        )
    )
    assert all(room + taken == 2 for room, taken in rows), rows
