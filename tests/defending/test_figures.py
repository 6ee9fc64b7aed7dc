"""The three ways to judge a defence, against plain loops over a toy whose answers are known."""

from __future__ import annotations

from statistics import mean, stdev

import pytest

import mohs
from mohs.attacks.goal import predicted
from mohs.defences import Masking, Mean, Versions
from mohs.defending.candidates import asks
from mohs.defending.spread import Spread
from mohs.defending.working import FRESH
from mohs.models.victim import Fields, Scores, Victim, answers_of
from mohs.models.wrapper import Wrapper
from mohs.records import Outcome, Record
from mohs.report.rates import Rate, wilson
from tests.defending.toys import ATTACKS, ROWS, Counting, Dropped, Lower, dropped, run, said, victim
from tests.toys import bundled

KEYS, ADAPTIVE, DRAWS, AVERAGE = 4, 2, 5, 3


@pytest.fixture(scope="module")
def found() -> mohs.defending.Defended:
    return mohs.defend(
        run(),
        Dropped(),
        keys=KEYS,
        adaptive_keys=ADAPTIVE,
        draws=DRAWS,
        average=AVERAGE,
        victim=victim(),
        again=bundled(),
    )


def of(found: mohs.defending.Defended, attack: str) -> mohs.defending.Judged:
    (one,) = next(part.defences for part in found.parts if part.attack == attack)
    return one


def records(attack: str) -> list[Record]:
    return [record for record in run().records() if record.attack == attack]


def shares(spread: Spread) -> list[tuple[int, int]]:
    return [(rate.hits, rate.total) for rate in spread.rates]


@pytest.mark.parametrize("attack", ATTACKS)
def test_clean_accuracy(found: mohs.defending.Defended, attack: str) -> None:
    one = of(found, attack)
    hits = [sum(said(dropped((text,), key)) == label for text, label in ROWS) for key in range(KEYS)]
    assert shares(one.clean) == [(hit, len(ROWS)) for hit in hits]
    assert len(set(hits)) > 1
    before = sum(said(victim().scores((text,))) == label for text, label in ROWS)
    assert next(part for part in found.parts).undefended.accuracy_before.hits == before
    assert one.clean_change.value == pytest.approx((mean(hits) - before) / len(ROWS))
    assert one.clean.value == pytest.approx(mean(hits) / len(ROWS))
    assert one.clean.deviation == pytest.approx(stdev(hits) / len(ROWS))
    assert one.clean.interval == pytest.approx(wilson(mean(hits) / len(ROWS), len(ROWS)))


@pytest.mark.parametrize("attack", ATTACKS)
def test_on_finished_texts(found: mohs.defending.Defended, attack: str) -> None:
    won = [r for r in records(attack) if r.outcome is Outcome.SUCCESS]
    tried = [r for r in records(attack) if r.outcome is not Outcome.SKIPPED]
    back = [sum(said(dropped(r.perturbed or (), key)) == r.label for r in won) for key in range(KEYS)]
    one = of(found, attack)
    assert shares(one.reverted) == [(hit, len(won)) for hit in back]
    assert shares(one.left) == [(len(won) - hit, len(tried)) for hit in back]
    assert attack != ATTACKS[0] or len({0, *back, len(won)}) > 2, "the toy tells keys apart"
    assert (one.reverted.of, one.left.of) == ("successes of the run", "examples attacked")


def test_adaptive(found: mohs.defending.Defended) -> None:
    for key in range(ADAPTIVE):
        defended = Versions(victim(), Dropped(), "mine", key)
        with mohs.attack(defended, ROWS, ATTACKS, seed=3, **bundled()) as own:
            for summary in own.summary():
                one = of(found, summary.attack).adaptive
                assert one is not None
                assert one.success.rates[key] == summary.success
                assert one.under.rates[key] == summary.accuracy_under_attack
                mine = [record for record in own.records() if record.attack == summary.attack]
                hits = total = 0
                for record in mine:
                    assert record.scores_before == pytest.approx(dropped(record.original, key))
                    if record.outcome is Outcome.SKIPPED:
                        continue
                    reads = [said(dropped(record.original, FRESH + d)) == record.label for d in range(DRAWS)]
                    if sum(reads) * 2 > DRAWS:
                        total += 1
                        if record.outcome is Outcome.SUCCESS:
                            fooled = [
                                said(dropped(record.perturbed or (), FRESH + d)) != record.label for d in range(DRAWS)
                            ]
                            hits += sum(fooled) * 2 > DRAWS
                assert one.fresh is not None
                assert (one.fresh.rates[key].hits, one.fresh.rates[key].total) == (hits, total)
                assert total < len(mine)


def test_an_attack_that_averages(found: mohs.defending.Defended) -> None:
    pair = Mean(*(Versions(victim(), Dropped(), "mine", key) for key in range(AVERAGE)))
    with mohs.attack(pair, ROWS, ATTACKS, seed=3, **bundled()) as own:
        for attack in ATTACKS:
            one = of(found, attack).adaptive
            assert one is not None
            assert one.averaging is not None
            hits = total = 0
            for record in own.records():
                if record.attack != attack or record.outcome is Outcome.SKIPPED:
                    continue
                before, after = (
                    sum(said(dropped(text, FRESH + d)) == record.label for d in range(DRAWS))
                    for text in (record.original, record.perturbed or record.original)
                )
                total += before * 2 > DRAWS
                hits += before * 2 > DRAWS > after * 2 and record.outcome is Outcome.SUCCESS
            assert (one.averaging.hits, one.averaging.total) == (hits, total)
            rows = [row for row in found.rows() if row["attack"] == attack and row["averaging_outcome"]]
            assert [row["key"] for row in rows] == [0] * len(ROWS)
            voted = [row for row in rows if 2 * (row["averaging_fresh_right_before"] or 0) > DRAWS]
            assert len(voted) == total
            assert sum(2 * (row["averaging_fresh_fooled"] or 0) > DRAWS for row in voted) == hits


def test_changes_are_paired(found: mohs.defending.Defended) -> None:
    one = of(found, "random:baseline").adaptive
    assert one is not None
    undefended = next(part for part in found.parts if part.attack == "random:baseline").undefended.accuracy_under_attack
    assert undefended is not None
    under = [rate.hits / rate.total for rate in one.under.rates]
    assert one.change.value == pytest.approx(mean(under) - undefended.hits / undefended.total)
    assert one.change.total == len(ROWS)


def test_rows(found: mohs.defending.Defended) -> None:
    rows = found.rows()
    assert len(rows) == len(ATTACKS) * len(ROWS) * KEYS
    for attack in ATTACKS:
        one = of(found, attack)
        for key in range(KEYS):
            mine = [row for row in rows if row["attack"] == attack and row["key"] == key]
            assert sum(row["defended_right"] for row in mine) == one.clean.rates[key].hits
            assert sum(row["reverted"] or 0 for row in mine) == one.reverted.rates[key].hits
            assert sum(row["still_fooled"] or 0 for row in mine) == one.left.rates[key].hits
            adaptive = [row["adaptive_outcome"] for row in mine]
            assert one.adaptive is not None
            assert one.adaptive.fresh is not None
            if key < ADAPTIVE:
                assert adaptive.count("success") == one.adaptive.success.rates[key].hits
                voted = [r for r in mine if r["fresh_draws"] and 2 * r["fresh_right_before"] > r["fresh_draws"]]
                fooled = sum(2 * (row["fresh_fooled"] or 0) > row["fresh_draws"] for row in voted)
                assert (fooled, len(voted)) == (
                    one.adaptive.fresh.rates[key].hits,
                    one.adaptive.fresh.rates[key].total,
                )
            else:
                assert adaptive == [""] * len(ROWS)


def test_a_defence_that_draws_nothing_has_one_key() -> None:
    pair = Mean(victim(), victim())
    found = mohs.defend(run(), [Lower(), pair], keys=5, draws=3, victim=victim(), again=bundled())
    for part in found.parts:
        first, second = part.defences
        assert [len(one.clean.rates) for one in part.defences] == [1, 1]
        assert first.clean.deviation is None
        assert first.adaptive is not None
        assert first.adaptive.fresh is None
        # A mean of a victim with itself is that victim: nothing is reverted, and the adaptive run is the run.
        assert second.reverted.value == 0
        assert second.left.rates[0] == part.undefended.success
        assert second.adaptive is not None
        assert second.adaptive.success.rates[0] == part.undefended.success
        assert second.adaptive.queries.value == part.undefended.queries.value
        assert part.cost(second) == pytest.approx(2)
    assert sum("draws nothing" in note for note in found.notes) == 2


def test_forwards_are_what_the_victim_inside_is_asked() -> None:
    fields = (ROWS[0][0],)
    inside = Counting({"good": 1.0})
    defended = Mean(
        Versions(Versions(inside, Masking(n=3, rate=0.3), "masking"), Masking(n=4, rate=0.2), "masking"), inside
    )
    Counting.total = 0
    seen: set[mohs.models.victim.Fields] = set()
    answers_of(defended, [fields])
    seen.update(inside.asked)
    assert Counting.total == len(inside.asked) == asks(defended, fields)
    assert 4 < len(seen) <= 3 * 4 + 1


def test_a_spread() -> None:
    one = Spread((Rate(3, 10, "examples"), Rate(5, 10, "examples"), Rate(0, 0, "examples")))
    assert one.value == pytest.approx(0.4)
    assert one.deviation == pytest.approx(stdev([0.3, 0.5]))
    assert one.interval == pytest.approx(wilson(0.4, 10))
    assert one.to_json()["keys"][0]["hits"] == 3
    alone = Spread((Rate(3, 10, "examples"),))
    assert (alone.deviation, alone.interval) == (None, Rate(3, 10, "examples").interval)
    none = Spread((Rate(0, 0, "examples"),))
    assert (none.value, none.interval) == (None, None)


class Refusing(Wrapper):
    """Rejects texts with a word that the victim inside does not know well."""

    def __init__(self, inside: Victim) -> None:
        super().__init__(inside, name="refusing", fingerprint="refusing", rejects=True, inside=None)

    def collect(self, ticket: list[Fields]) -> list[Scores]:
        found = super().collect(ticket)
        return [self._with(fields, scores) for fields, scores in zip(ticket, found, strict=True)]

    def _with(self, fields: Fields, scores: Scores) -> Scores:
        odd = any(word in fields[0] for word in ("best", "awesome", "illiterate", "king", "decent"))
        return (*(0.1 * score for score in scores), 0.9) if odd else (*scores, 0.0)


def test_a_defence_that_rejects() -> None:
    found = mohs.defend(run(), Refusing(victim()), keys=3, draws=3, victim=victim(), again=bundled())
    for part in found.parts:
        (one,) = part.defences
        won = [r for r in records(part.attack) if r.outcome is Outcome.SUCCESS]
        refused = [r for r in won if predicted(Refusing(victim()).collect([r.perturbed or ()])[0]) == 2]
        assert one.rejected is not None
        assert shares(one.rejected) == [(len(refused), len(won))]
        assert shares(one.left) == [(len(won) - len(refused), part.undefended.success.total)]
        assert one.reverted.value == 0
        assert one.adaptive is not None
        assert one.adaptive.averaging is None
    assert any(one.rejected is not None and one.rejected.rates[0].hits for part in found.parts for one in part.defences)
