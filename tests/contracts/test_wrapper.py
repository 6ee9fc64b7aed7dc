"""A victim in a wrapper that changes nothing gives the same records in every verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.models.bag import pocket_victim
from mohs.models.victim import Fields, Scores, traits_of
from mohs.models.wrapper import Wrapper
from mohs.records import Outcome, Record
from tests.before.cases import PAIRS, ROWS, victim
from tests.models.conftest import bert_folder  # noqa: F401
from tests.models.test_neural import victim_of
from tests.toys import Wordlike, bundled, toy_services

TEXTS = [("A good film with a fine story.", 1), ("He said it was a bad day for his king.", 0)]

VERBS: Mapping[str, Callable[..., mohs.Run]] = {
    "attack": lambda model, rows: mohs.attack(
        model, rows, ["textfooler", "standard", "hotflip"], budget=200, **bundled(), **toy_services()
    ),
    "second-order": lambda model, rows: mohs.second_order_attack(
        model, rows, masked_lm=Wordlike(), k=2, vectors=bundled()["vectors"]
    ),
    "bias": lambda model, rows: mohs.token_bias(model, rows, masked_lm=Wordlike(), k=1, both_directions=True),
    "radius": lambda model, rows: mohs.radius(model, rows, attacks=["pdp"], share=["25%"], max_r=2, **bundled()),
}
each_verb = pytest.mark.parametrize("verb", list(VERBS))


def records(verb: str, model: Any, rows: Any) -> list[str]:
    with VERBS[verb](model, rows) as run:
        found = list(run.records())
        assert [record.error for record in found] == [None] * len(rows) * (len(found) // len(rows))
        return [record.to_json() for record in found]


@each_verb
def test_around_a_toy(verb: str) -> None:
    assert records(verb, Wrapper(victim()), ROWS) == records(verb, victim(), ROWS)


@each_verb
def test_around_the_bag_of_words(verb: str) -> None:
    plain = records(verb, pocket_victim(), ROWS)
    assert records(verb, Wrapper(pocket_victim()), ROWS) == plain
    if verb == "radius":
        assert all('"closed form"' in record for record in plain if '"measured"' in record)


@each_verb
def test_around_a_network_over_words(verb: str) -> None:
    assert records(verb, Wrapper(victim_of("cnn")), TEXTS) == records(verb, victim_of("cnn"), TEXTS)


@each_verb
def test_around_a_transformer(verb: str, bert_folder: Path) -> None:  # noqa: F811
    model = mohs.HfVictim(str(bert_folder))
    assert records(verb, Wrapper(model), TEXTS) == records(verb, model, TEXTS)


def test_around_pairs() -> None:
    one, other = (mohs.attack(model, PAIRS, "random") for model in (victim(), Wrapper(Wrapper(victim()))))
    assert [record.to_json() for record in one.records()] == [record.to_json() for record in other.records()]


class Hardened(Wrapper):
    """Answers by the mean over a text and its lower-case twin: another victim, which states what it keeps."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner, name=f"hardened {inner.name}", fingerprint=f"hardened-{inner.fingerprint}", inside=None)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        return [[item] for item in sorted(items)]

    def launch(self, batch: list[Fields]) -> Any:
        return [self.victim.launch([item, tuple(map(str.lower, item))]) for item in batch]

    def collect(self, ticket: Any) -> list[Scores]:
        answers = [self.victim.collect(one) for one in ticket]
        return [tuple(sum(column) / 2 for column in zip(*both, strict=True)) for both in answers]


def test_a_wrapper_that_changes_answers_shows_no_inside() -> None:
    model = Hardened(pocket_victim())
    assert traits_of(model).inside is None
    assert traits_of(model).exact
    with mohs.radius(model, ROWS, max_r=1) as run:
        found = {record.finding.by for record in run.records() if record.outcome is Outcome.MEASURED}
    assert found == {"enumeration"}
    with pytest.raises(mohs.errors.BadInput, match="hardened pocket gives no gradients"):
        mohs.attack(model, ROWS, "hotflip")


def test_the_defaults_of_a_plain_victim() -> None:
    class Plain:
        name = "plain"

    traits = traits_of(Plain())
    assert (traits.hard, traits.exact, traits.rejects, traits.crowd, traits.verdict) == (False, False, False, 256, None)
    assert isinstance(traits.inside, Plain)


class Detector(Wrapper):
    """Rejects texts with a forbidden word, and leaves the others to the victim inside."""

    def __init__(self, inner: Any, *forbidden: str) -> None:
        self.forbidden = forbidden
        super().__init__(inner, fingerprint=f"{inner.fingerprint}-{forbidden}", inside=None, rejects=True)

    def collect(self, ticket: Any) -> list[Scores]:
        found = []
        for fields, scores in zip(ticket, self.victim.collect(ticket), strict=True):
            rejected = any(word in field for word in self.forbidden for field in fields)
            found.append((0.0, 0.0, 1.0) if rejected else (*scores, 0.0))
        return found


def attacked(*forbidden: str, **options: Any) -> tuple[list[Record], mohs.Run]:
    words: dict[str, Any] = {"source": "thesaurus:" + str(options.pop("book"))} if "book" in options else {}
    run = mohs.attack(Detector(victim(), *forbidden), ROWS[:4], "random", **words, **options)
    return list(run.records()), run


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "words.tsv"
    path.write_text("good\tawful\nfine\tawful\nbad\tgreat\nawful\tgreat\ngreat\tbad\n")
    return path


def test_a_rejected_original_is_a_false_alarm(book: Path) -> None:
    found, run = attacked("king", "actor", book=book)
    assert [record.outcome for record in found][1] is Outcome.REJECTED
    (summary,) = run.summary()
    assert summary.false_alarms is not None
    assert (summary.false_alarms.hits, summary.false_alarms.total, summary.false_alarms.of) == (1, 4, "examples scored")
    assert summary.outcomes["rejected"] == 1
    assert summary.accuracy_before.hits == 3  # of four: a rejected text is not read right
    assert summary.success.total == 3
    assert "false alarms" in run._repr_html_()
    assert "false alarms" in run.view().page()


def test_a_rejected_adversarial_text_is_no_success(book: Path) -> None:
    plain, _ = attacked("nothing", book=book)
    assert [record.outcome for record in plain].count(Outcome.SUCCESS) >= 2
    found, run = attacked("awful", "great", book=book)
    for record in found:
        if record.outcome is Outcome.SUCCESS:
            assert record.scores_after.index(max(record.scores_after)) == 1 - record.label
    detected = [record for record in found if record.outcome is Outcome.DETECTED]
    assert detected
    for record in detected:
        assert record.scores_after == (0.0, 0.0, 1.0)
    (summary,) = run.summary()
    assert summary.detected == len(detected)
    under = summary.accuracy_under_attack
    assert under is not None
    right = sum(r.outcome is Outcome.DETECTED or r.scores_after.index(max(r.scores_after)) == r.label
                for r in found if r.scores_after)  # fmt: skip
    assert under.hits == right


def test_without_a_detector_nothing_is_said_about_rejecting() -> None:
    with mohs.attack(victim(), ROWS, "random") as run:
        (summary,) = run.summary()
    assert summary.false_alarms is None
    assert not {"rejected", "detected"} & set(summary.outcomes)
    assert not {"false_alarms", "detected"} & set(summary.to_json())


def test_a_function_may_reject() -> None:
    def guarded(texts: list[str]) -> list[list[float]]:
        return [[0, 0, 1] if "king" in text else [*pair, 0] for text in texts for pair in [[0.2, 0.8]]]

    rows = [("a good day", 1), ("a good king", 1)]
    with mohs.attack(guarded, rows, "random", victim_options={"rejects": "yes"}, labels="no,yes") as run:
        assert [str(record.outcome) for record in run.records()] == ["failed", "rejected"]
        assert run.manifest["facts"]["classes"] == 2
    with pytest.raises(mohs.errors.BadInput, match="can reject texts, but a radius is about labels only"):
        mohs.radius(guarded, rows, victim_options={"rejects": "yes"}, labels="no,yes")


def test_other_goals_against_a_detector(book: Path) -> None:
    for goal in ("targeted:0", "below:0.4"):
        found, _ = attacked("awful", book=book, goal=goal)
        for record in found:
            if record.outcome is Outcome.SUCCESS:
                assert record.scores_after[2] == 0
