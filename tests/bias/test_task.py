from __future__ import annotations

import json
import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mohs
from mohs.bias.finding import BiasFinding
from mohs.bias.level import Level, bin_of
from mohs.bias.pairs import Pairs
from mohs.engine import Service, run
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.space import MaskedWords
from mohs.space.natural import Neighbourhood
from mohs.space.plausible import keeps
from mohs.text import Example
from mohs.text.questions import Blank, Filled
from tests.bias.toys import GENDER, Tables, chance, details, measure, random_victim, task
from tests.toys import Instant, WordCount, Wordlike, now

Words = tuple[str, ...]

VOCABULARY = "a b c d he e f she his her him king".split()
FEW: Tables = {left: [("a", 5.0), ("b", 4.0), ("c", 3.5), ("d", 2.5)] for left in ["", *VOCABULARY]}


def neighbours(x: Words, k: int, stays: int, tables: Tables, kappa: int, delta: float, barred: set[str]) -> set[Words]:
    """Algorithm 1 of Zhang et al. 2021 as it is printed, less the word itself and the words that are barred."""
    if k == 0:
        return {x}
    if k >= 2:
        found: set[Words] = set()
        for y in neighbours(x, 1, stays, tables, kappa, delta, barred):
            found |= neighbours(y, k - 1, stays, tables, kappa, delta, barred)
        return found
    found = set()
    for i in range(len(x)):
        if i == stays:
            continue
        guesses = dict(tables.get(x[i - 1] if i else "", ()))
        logits = sorted(guesses.values(), reverse=True)
        if logits:
            least = max(logits[kappa] if kappa < len(logits) else -math.inf, logits[0] - delta)
            new = {t for t, logit in guesses.items() if logit > least} - barred - {x[i]}
            found |= {(*x[:i], t, *x[i + 1 :]) for t in new}
    return found


def gap(x: Words, place: int, new: str) -> float:
    return chance((" ".join([*x[:place], new, *x[place + 1 :]]),)) - chance((" ".join(x),))


def tables_of(seed: int) -> dict[str, list[tuple[str, float]]]:
    """Of this size hypothesis would leave most rows empty."""
    random = Random(seed)
    rows = {}
    for left in ["", *VOCABULARY]:
        words = random.sample(VOCABULARY, random.randrange(6))
        rows[left] = [(word, step / 2) for word, step in zip(words, random.sample(range(8), 8), strict=False)]
    return rows


@settings(max_examples=150, deadline=None)
@given(
    before=st.lists(st.sampled_from(VOCABULARY[:5]), max_size=2),
    old=st.sampled_from(["he", "his", "him", "he his", "she"]),
    behind=st.lists(st.sampled_from(VOCABULARY[:5]), min_size=1, max_size=3),
    tables=st.integers(0, 10**6).map(tables_of),
    kappa=st.integers(2, 5),
    delta=st.sampled_from([1.25, 3.0, 9.0]),
)
def test_every_level_is_what_algorithm_1_enumerates(
    before: list[str], old: str, behind: list[str], tables: Tables, kappa: int, delta: float
) -> None:
    text = [*before, *old.split(), *behind]
    record = measure(" ".join(text), tables, near=Neighbourhood(MaskedWords(k=kappa, gap=delta)))
    x = tuple(text)
    fit = [(a, b) for a, b in GENDER.pairs if x.count(a) == 1 and b not in x]
    assert [(pair["old"], pair["new"]) for pair in details(record).get("pairs", [])] == fit
    assert record.outcome is (Outcome.MEASURED if fit else Outcome.SKIPPED)
    for old, new in fit:
        place = x.index(old)
        (found,) = [pair for pair in details(record)["pairs"] if (pair["old"], pair["new"]) == (old, new)]
        assert found["position"] == place
        assert [level["k"] for level in found["levels"]] == [0, 1, 2, 3]
        for level in found["levels"]:
            around = neighbours(x, level["k"], place, tables, kappa, delta, set(GENDER.blacklist))
            gaps = [gap(y, place, new) for y in around]
            assert level["n"] == len(gaps)
            assert level["exact"]
            assert level["sum"] == pytest.approx(sum(gaps), abs=1e-7)
            assert level["squares"] == pytest.approx(sum(g * g for g in gaps), abs=1e-7)
            assert sum(level["bins"].values()) == len(gaps)
            for shown in level["examples"]:
                assert tuple(shown["text"][0].split()) in around
                assert shown["after"] - shown["before"] == pytest.approx(
                    gap(tuple(shown["text"][0].split()), place, new), abs=1e-8
                )
            assert len(level["examples"]) == min(5, len(gaps))


def test_k_0_is_the_sentence_itself_and_asks_no_language_model() -> None:
    service = Instant(random_victim)
    record = measure("a he b", {}, k=0, service=service)
    (pair,) = details(record)["pairs"]
    difference = chance(("a she b",)) - chance(("a he b",))
    (level,) = pair["levels"]
    assert level["sum"] == pytest.approx(difference, abs=1e-8)
    assert level["examples"][0]["patched"] == ["a she b"]
    assert record.queries == 2
    assert sorted(service.asked) == [("a he b",), ("a she b",)]
    assert record.scores_before == random_victim(("a he b",))


def test_the_record_survives_json() -> None:
    record = measure("a he b", FEW, k=2)
    assert Record.from_json(record.to_json(), BiasFinding) == record
    assert json.loads(record.to_json())["outcome"] == "measured"


def test_the_replacement_takes_over_the_case_and_the_apostrophe() -> None:
    pairs = Pairs("own", (("he", "she"), ("he's", "she's")), frozenset())

    def patched(text: str) -> str:
        record = measure(text, {}, pairs=pairs, k=0)
        shown: str = details(record)["pairs"][0]["levels"][0]["examples"][0]["patched"][0]
        return shown

    assert patched("He came.") == "She came."
    assert patched("so HE came") == "so SHE came"
    assert patched("He’s in.") == "She’s in."
    assert patched("he's in.") == "she's in."


def test_occurrences_count_whatever_their_case() -> None:
    assert measure("He said he came", {}, k=0).outcome is Outcome.SKIPPED
    assert measure("he told She", {}, k=0).outcome is Outcome.SKIPPED
    assert measure("nobody came", {}, k=0).outcome is Outcome.SKIPPED


def test_only_the_part_of_a_pair_that_may_change_counts() -> None:
    record = measure(("a b and c", "then he came"), {}, k=0)
    (pair,) = details(record)["pairs"]
    assert pair["position"] == 5
    assert pair["levels"][0]["examples"][0]["patched"] == ["a b and c", "then she came"]
    for fixed in ("he came", "she came"):  # where the other text names one of the two, the swap changes the logic
        assert measure((fixed, "then he came"), {}, k=0).outcome is Outcome.SKIPPED


def test_words_beyond_the_window_are_neither_patched_nor_changed() -> None:
    class Short(WordCount):
        def visible(self, fields: tuple[str, ...]) -> tuple[int, ...]:
            return (4,)

    assert measure("a b he", FEW, model=Short({})).outcome is Outcome.SKIPPED
    record = measure("he a b", FEW, model=Short({}), k=1)
    assert record.beyond_window == 1
    shown = [row["text"][0] for row in details(record)["pairs"][0]["levels"][1]["examples"]]
    assert sorted(shown) == ["he b b", "he c b", "he d b"]


def test_both_directions_subtract_the_version_with_the_first_word() -> None:
    forward = measure("a she b", FEW, k=1)
    assert forward.outcome is Outcome.SKIPPED
    record = measure("a she b", FEW, k=1, both_directions=True)
    (pair,) = details(record)["pairs"]
    assert (pair["old"], pair["new"], pair["back"]) == ("he", "she", True)
    shes = [x for k in (0, 1) for x in neighbours(("a", "she", "b"), k, 1, FEW, 20, 3.0, set(GENDER.blacklist))]
    wanted = sum(-gap(x, 1, "he") for x in shes)
    assert sum(level["sum"] for level in pair["levels"]) == pytest.approx(wanted, abs=1e-7)
    assert pair["levels"][0]["examples"][0]["text"] == ["a he b"]
    assert pair["levels"][0]["examples"][0]["patched"] == ["a she b"]


def test_her_cannot_be_undone() -> None:
    assert measure("a her b", FEW, k=0, both_directions=True).outcome is Outcome.SKIPPED


def test_a_victim_that_gives_labels_only() -> None:
    def answer(fields: tuple[str, ...]) -> tuple[float, ...]:
        return (0.0, 1.0) if chance(fields) > 0.5 else (1.0, 0.0)

    record = measure("a he b", FEW, k=1, victim=answer)
    level = details(record)["pairs"][0]["levels"][1]
    around = neighbours(("a", "he", "b"), 1, 1, FEW, 20, 3.0, set(GENDER.blacklist))
    gaps = [round(chance((" ".join((x[0], "she", x[2])),))) - round(chance((" ".join(x),))) for x in around]
    assert level["sum"] == sum(gaps)
    assert level["bins"] == {
        key: gaps.count(value) for key, value in (("-50", -1), ("0", 0), ("49", 1)) if value in gaps
    }


def test_the_other_label_mirrors_the_first() -> None:
    one, other = (details(measure("a he b", FEW, k=1, label=label))["pairs"][0]["levels"][1] for label in (0, 1))
    assert one["sum"] == pytest.approx(-other["sum"], abs=1e-8)
    assert one["sum"] != 0


def test_a_spent_budget_keeps_whole_levels_only() -> None:
    whole = measure("a he b his c", FEW, k=2)
    first, second = (pair["levels"] for pair in details(whole)["pairs"])
    everything = whole.queries
    seen = set()
    for budget in range(1, everything + 1):
        record = measure("a he b his c", FEW, k=2, budget=budget)
        assert record.queries <= budget
        kept = [pair["levels"] for pair in details(record)["pairs"]]
        assert all(levels == full[: len(levels)] for levels, full in zip(kept, (first, second), strict=False))
        assert all(kept)
        assert record.outcome is (Outcome.MEASURED if budget == everything else Outcome.EXHAUSTED)
        seen.add(tuple(map(len, kept)))
    assert seen == {(), (1,), (2,), (3,), (3, 1), (3, 2), (3, 3)}


def test_queries_are_distinct_texts_over_pairs_and_levels() -> None:
    service = Instant(random_victim)
    record = measure("a he b his", FEW, k=2, service=service)
    assert record.queries == len(service.asked) == len(set(service.asked))


def test_pairs_of_one_word_share_a_walk() -> None:
    """The same texts, asked once; the language model is not asked again for each pair."""
    pairs = Pairs("own", (("us", "uk"), ("us", "un"), ("us", "eu")), frozenset({"us", "uk", "un", "eu"}))
    ready, alone = (task(FEW, pairs=p, k=2) for p in (pairs, replace(pairs, pairs=pairs.pairs[1:2])))
    record, single = now(ready(Example.of("a us b c", 0))), now(alone(Example.of("a us b c", 0)))
    assert len(ready.services["masked_lm"].asked) == len(alone.services["masked_lm"].asked)
    found = {pair["new"]: [(row["n"], row["sum"]) for row in pair["levels"]] for pair in details(record)["pairs"]}
    assert list(found) == ["uk", "un", "eu"]
    assert found["un"] == [(row["n"], row["sum"]) for row in details(single)["pairs"][0]["levels"]]
    assert record.queries == 2 * single.queries  # four versions of each text instead of two
    cut = measure("a us b c", FEW, pairs=pairs, k=2, budget=record.queries - 1)
    assert [len(pair["levels"]) for pair in details(cut)["pairs"]] == [2, 2, 2]


def test_what_raises_becomes_an_error() -> None:
    def answer(fields: tuple[str, ...]) -> tuple[float, ...]:
        if "d" in fields[0].split():
            raise RuntimeError("cannot read d")
        return random_victim(fields)

    record = measure("a he b", FEW, k=1, victim=answer)
    assert record.outcome is Outcome.ERROR
    assert record.error == "RuntimeError: cannot read d"
    assert record.scores_before == random_victim(("a he b",))


def test_a_label_that_the_victim_lacks() -> None:
    record = measure("a he b", FEW, label=2)
    assert record.outcome is Outcome.ERROR
    assert record.error == "There is no label 2: word count has 2 classes."


def test_the_judges_answer_is_not_mixed_into_the_differences() -> None:
    """A victim in half precision is judged in full; against that its own answers would all look moved."""
    record = measure("a he b", {}, k=0, judge=Instant(lambda fields: (0.5, 0.5)))
    assert record.scores_before == (0.5, 0.5)
    level = details(record)["pairs"][0]["levels"][0]
    assert level["sum"] == pytest.approx(chance(("a she b",)) - chance(("a he b",)), abs=1e-8)


def sampled(seed: int, **settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = details(measure("a b he c d", FEW, k=2, most=20, breadth=4, seed=seed, **settings))
    return found


def test_a_sample_is_seeded_and_part_of_the_level() -> None:
    service = Instant(random_victim)
    found = sampled(0, service=service)
    x = tuple("a b he c d".split())
    whole = {k: neighbours(x, k, 2, FEW, 20, 3.0, set(GENDER.blacklist)) for k in (1, 2)}
    levels = found["pairs"][0]["levels"]
    assert [level["exact"] for level in levels] == [True, True, False]
    assert levels[1]["n"] == len(whole[1])
    assert 0 < levels[2]["n"] < len(whole[2])
    asked = {tuple(fields[0].split()) for fields in service.asked}
    assert {y for y in asked if "he" in y} <= {x} | whole[1] | whole[2]
    assert sampled(0) == found
    assert sampled(1) != found


def test_the_mean_of_samples_is_near_the_truth() -> None:
    """Texts that several steps lead to are a little more likely: within 0.02 over 200 seeds, where F spreads by 0.4."""
    x = tuple("a b he c d".split())
    truth = [gap(y, 2, "she") for y in neighbours(x, 2, 2, FEW, 20, 3.0, set(GENDER.blacklist))]
    rows = [sampled(seed)["pairs"][0]["levels"][2] for seed in range(200)]
    mean = sum(row["sum"] for row in rows) / sum(row["n"] for row in rows)
    assert len(truth) > 60
    assert mean == pytest.approx(sum(truth) / len(truth), abs=0.02)


def test_other_victims_are_measured_on_the_same_sample() -> None:
    one, other = Instant(random_victim), Instant(lambda fields: (0.25, 0.75))
    sampled(3, service=one)
    sampled(3, service=other)
    assert one.asked == other.asked


def test_all_texts_are_as_likely_to_be_shown() -> None:
    """5 of 8, 400 times: 250 times each, give or take 50 (five standard deviations)."""
    counts = dict.fromkeys(range(8), 0)
    for seed in range(400):
        level, random = Level(1), Random(seed)
        for number in range(8):
            level.add((str(number),), ("",), 0, 0, random)
        shown = [int(row.text[0]) for row in level.examples]
        assert len(set(shown)) == 5
        for number in shown:
            counts[number] += 1
    assert all(200 <= count <= 300 for count in counts.values()), counts


@given(st.integers(-(10**6), 10**6))
def test_bins(millionths: int) -> None:
    number = bin_of(millionths / 10**6)
    assert -50 <= number <= 49
    assert number == (millionths // 20_000 if millionths < 10**6 else 49)


def test_a_difference_of_the_last_bits_is_none() -> None:
    assert bin_of(-1e-8) == bin_of(1e-8) == 0
    assert bin_of(0.58) == 29
    assert (bin_of(1.0), bin_of(-1.0)) == (49, -50)
    assert bin_of(-0.02) == -1


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(BadInput, match="k=-1"):
        task({}, k=-1)


def test_an_empty_text_is_skipped() -> None:
    assert now(task({})(Example.of("", 0))).outcome is Outcome.SKIPPED


@pytest.mark.parametrize("at_once", [1, 3, 64])
def test_the_schedule_does_not_matter(at_once: int) -> None:
    """Against searches that run alone; words that stand beside each other in batches of 64 change nothing."""
    model = WordCount({"she": 1.0, "a": 0.5, "b": -0.7, "c": 0.3}, in_flight=2)
    victim = Service[Any, Any](model)
    examples = [Example.of(f"{word} he b his {word}", 0, id=word) for word in "abcd"]
    kinds: dict[str, Any] = {"k": 2, "most": 20, "breadth": 4, "model": model}
    alone = {e.id: now(task(FEW, victim=model.scores, **kinds)(e)) for e in examples}
    ready = task(FEW, service=victim, judge=victim, **kinds)
    ended = list(run(((e.id, ready(e)) for e in examples), [victim], at_once))
    assert {end.key: end.result for end in ended} == alone
    assert all(record.outcome is Outcome.MEASURED for record in alone.values())


def test_one_pair_a_sentence_the_first_in_either_direction() -> None:
    def taken(text: str, **settings: Any) -> list[tuple[str, str, bool]]:
        found = details(measure(text, {}, k=0, one_pair=True, **settings)).get("pairs", [])
        return [(pair["old"], pair["new"], pair.get("back", False)) for pair in found]

    assert taken("a he b his c") == [("he", "she", False)]
    assert taken("a his c") == [("his", "her", False)]
    assert taken("a her c") == [("his", "her", True)]  # him, her comes later in the list
    turned = replace(GENDER, pairs=(GENDER.pairs[2], *GENDER.pairs[:2]))
    assert taken("a her c", pairs=turned) == [("him", "her", True)]
    assert taken("a b c") == []


def plausible_to(liked: str) -> Any:
    """A masked language model that finds a text with this word plausible, and others by two less for each word."""

    def answer(blank: Blank) -> Filled:
        fits = liked in blank.fields[0].split()
        return Filled((), 0.0, (-1.0 if fits else -3.0,))

    return Instant(answer)


def test_the_pair_of_a_short_sentence_must_be_plausible() -> None:
    for length, wanted in ((0, ["his"]), (20, ["he"])):  # a text of more than 20 words is not checked
        ready = task({}, k=0, one_pair=True, plausible=1.5)
        ready = replace(ready, services={"masked_lm": plausible_to("he")})  # he -> she costs 2, his -> her nothing
        record = now(ready(Example.of("a he b his" + " c" * length, 0)))
        assert [pair["old"] for pair in details(record)["pairs"]] == wanted
    ready = replace(ready, services={"masked_lm": plausible_to("he")})
    assert now(ready(Example.of("a he b", 0))).outcome is Outcome.SKIPPED


@pytest.mark.parametrize(("words", "wanted"), [(20, ["his"]), (21, ["he"])])
def test_plausibility_is_checked_up_to_twenty_words(words: int, wanted: list[str]) -> None:
    ready = task({}, k=0, one_pair=True, plausible=1.5)
    ready = replace(ready, services={"masked_lm": plausible_to("he")})
    text = "a he b his" + " c" * (words - 4)
    assert [pair["old"] for pair in details(now(ready(Example.of(text, 0))))["pairs"]] == wanted


@pytest.mark.parametrize(("drop", "taken"), [(2.0, True), (1.99, False)])
def test_a_swap_may_cost_so_much_on_average(drop: float, taken: bool) -> None:
    """Each word of the text loses two: that is the mean, however many words there are."""
    for text in ("a he b", "a he b c c c c c"):
        ready = task({}, k=0, one_pair=True, plausible=drop)
        ready = replace(ready, services={"masked_lm": plausible_to("he")})
        assert (now(ready(Example.of(text, 0))).outcome is Outcome.MEASURED) is taken


def test_the_other_direction_is_checked_with_its_own_swap() -> None:
    """A text with she is compared with its version with he, and what is subtracted is the version with he."""
    ready = task({}, k=0, one_pair=True, plausible=1.5)
    liked = replace(ready, services={"masked_lm": plausible_to("she")})  # she -> he costs two
    assert now(liked(Example.of("a she b", 0))).outcome is Outcome.SKIPPED
    liked = replace(ready, services={"masked_lm": plausible_to("he")})  # she -> he gains two
    (pair,) = details(now(liked(Example.of("a she b", 0))))["pairs"]
    assert (pair["old"], pair["new"], pair["back"]) == ("he", "she", True)
    change = chance(("a she b",)) - chance(("a he b",))
    assert pair["levels"][0]["sum"] == pytest.approx(change, abs=1e-6)


def test_words_of_several_tokens_do_not_count() -> None:
    assert keeps([-1.0, math.nan, -1.0], [-2.0, -9.0, -3.0], 1.5)  # the means of two words: 1 and 2
    assert not keeps([-1.0, math.nan, -1.0], [-2.0, -9.0, -3.1], 1.5)
    assert not keeps([math.nan], [-1.0], 9.0)  # nothing to compare


def test_the_preset_released() -> None:
    """One pair a sentence, the first of the list that leaves a short text plausible, in either direction."""
    rows = [
        ("he gave his film", 1),  # he -> she is implausible, his -> her is not
        ("the film is her", 1),  # his comes before him in this list
        ("he gave his film " + "on " * 17, 1),  # 21 words: not checked
        ("no word of a pair", 1),
    ]

    def chosen(preset: str | None) -> list[list[tuple[str, bool]]]:
        with mohs.token_bias(
            WordCount({"film": 1.0}), rows, GENDER, masked_lm=LikesHe(), k=0, preset=preset, seed=1
        ) as run:
            found = [record.finding for record in run.records()]
            assert run.manifest["config"]["breadth"] == (800 if preset == "released" else 100)
        return [[(pair.old, pair.back) for pair in getattr(one, "pairs", ())] for one in found]

    assert chosen("released") == [[("his", False)], [("his", True)], [("he", False)], []]
    assert chosen(None) == [[("he", False), ("his", False)], [], [("he", False), ("his", False)], []]


class LikesHe(Wordlike):
    """A masked language model to which each word of a text without `he` is less plausible by two."""

    def answer(self, item: Any) -> Any:
        return plausible_to("he").answer(item)
