"""What is measured of each example, against values computed by hand."""

from __future__ import annotations

import doctest
import inspect
import math
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import mohs
import mohs.audits.api
from mohs.errors import BadInput
from mohs.space import BertScore, Constraint
from mohs.tasks.option import options_of
from mohs.text import Text
from tests.audits.toys import (
    Checker,
    Lm,
    MaskedLm,
    cosine,
    perplexity,
    record,
    rules,
    run_of,
    tools,
    turned,
    word_cosine,
)
from tests.report.made import kept, searched

LONG = "a b c d e f g h i j k l m n o p q r s t u v w y z"  # 25 words, none with an x


def values(run: Any, **more: Any) -> list[Any]:
    audit = mohs.audit(run, **tools(**more))
    (examples,) = audit.examples.values()
    return [example.taken for example in examples]


def test_extent() -> None:
    (taken,) = values(run_of([record(0, "cat sat on mats", {0: "bat", 3: "mat"})]))
    assert taken.values["edit distance"] == 2
    assert taken.values["edit distance, normalised"] == round(2 / len("cat sat on mats"), 6)
    assert taken.values["words changed"] == 2
    assert taken.values["share of words changed"] == 0.5


def test_the_edit_distance_is_normalised_by_the_longer_text() -> None:
    (taken,) = values(run_of([record(0, "ab cd", {0: "abcdefgh"})]))
    assert taken.values["edit distance, normalised"] == round(6 / len("abcdefgh cd"), 6)


def test_similarity_of_whole_texts_and_in_windows() -> None:
    # Changes at 2 and 3 stand in one window; the one at 22 is alone in its own.
    (taken,) = values(run_of([record(0, LONG, {2: "x", 3: "xx", 22: "xxx"})]))
    final = "a b x xx e f g h i j k l m n o p q r s t u v xxx y z"
    assert taken.values["sentence cosine"] == pytest.approx(cosine(LONG, final), abs=1e-6)
    assert turned(final) == 3
    for window in (11, 15):
        assert taken.values[f"sentence cosine in {window} words"] == pytest.approx(math.cos(0.2), abs=1e-6)


def test_a_window_sees_only_the_words_around_a_change() -> None:
    far = {0: "x", 24: "x"}
    (taken,) = values(run_of([record(0, LONG, far)]))
    assert taken.values["sentence cosine"] == pytest.approx(math.cos(0.2), abs=1e-6)
    assert taken.values["sentence cosine in 11 words"] == pytest.approx(math.cos(0.1), abs=1e-6)
    apart = {6: "x", 19: "x"}  # 13 words apart: neither 11 nor 15 words around one reach the other
    (taken,) = values(run_of([record(0, LONG, apart)]))
    assert taken.values["sentence cosine in 15 words"] == pytest.approx(math.cos(0.1), abs=1e-6)
    apart = {6: "x", 13: "x"}  # 7 words apart: within 15 words, not within 11
    (taken,) = values(run_of([record(0, LONG, apart)]))
    assert taken.values["sentence cosine in 11 words"] == pytest.approx(math.cos(0.1), abs=1e-6)
    assert taken.values["sentence cosine in 15 words"] == pytest.approx(math.cos(0.2), abs=1e-6)


def test_the_least_word_cosine_counts_and_unknown_words_have_none() -> None:
    known, unknown = values(
        run_of([record(0, "aa bb cc", {0: "aaa", 2: "ccccc"}), record(1, "aa bb", {0: "q", 1: "b"})])
    )
    assert known.values["word cosine"] == pytest.approx(word_cosine("cc", "ccccc"))
    assert math.isnan(unknown.values["word cosine"])


def test_rules_of_grammar() -> None:
    (taken,) = values(run_of([record(0, "bad one badly done", {0: "badly", 3: "badge"})]))
    assert taken.rules_before == ("BAD", "BADLY")
    assert taken.rules_after == ("BADLY", "BADLY", "BADGE") == rules("badly one badly badge")
    assert taken.values["grammar errors introduced"] == 1


def test_perplexity_and_its_medians() -> None:
    changes = [{0: "aaaa"}, {0: "aaaaaaaa"}, {1: "b"}]
    records = [record(n, "aa bbb", change) for n, change in enumerate(changes)]
    finals = ["aaaa bbb", "aaaaaaaa bbb", "aa b"]
    audit = mohs.audit(run_of(records), **tools(lm=Lm()))
    (found,) = audit.summary()
    shown = {measure.name: measure for measure in found.measures}
    assert shown["perplexity before"].median == pytest.approx(perplexity("aa bbb"), abs=1e-5)
    assert shown["perplexity"].median == pytest.approx(median(map(perplexity, finals)), abs=1e-5)
    ratios = [perplexity(final) / perplexity("aa bbb") for final in finals]
    assert shown["perplexity ratio"].median == pytest.approx(median(ratios), abs=1e-5)


def test_masked_log_odds() -> None:
    (known, none) = values(
        run_of([record(0, "aa bb cc", {0: "aaaa", 1: "q", 2: "c"}), record(1, "aa bb", {0: "q"})]), masked_lm=MaskedLm()
    )
    assert known.values["masked-LM log-odds"] == pytest.approx(((-4 + 2) + (-1 + 2)) / 2)
    assert math.isnan(none.values["masked-LM log-odds"])


def test_what_is_not_given_is_not_measured() -> None:
    (found,) = mohs.audit(run_of([record(0, "aa bb", {0: "a"})]), **tools()).summary()
    why = {measure.name: measure.why for measure in found.measures if measure.why}
    assert why == {
        "BERTScore": "needs --token-encoder",
        "perplexity before": "needs --lm",
        "perplexity": "needs --lm",
        "perplexity ratio": "needs --lm",
        "masked-LM log-odds": "needs --masked-lm",
    }


def test_bertscore_is_measured_on_request() -> None:
    require = [Constraint(BertScore(), at_least=0.5)]
    (found,) = mohs.audit(run_of([record(0, "a good film", {1: "fine"})]), require=require, **tools()).summary()
    assert found.required[0].rate is not None
    assert next(m for m in found.measures if m.name == "BERTScore").mean is not None


def test_without_the_default_checker_grammar_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise BadInput("The grammar checker harper needs harper-py: pip install 'mohs[grammar]'.")

    monkeypatch.setattr("mohs.models.grammar._harper", missing)
    run = run_of([record(0, "aa bb", {0: "bad"}), record(1, "aa bb")])
    parts = {kind: part for kind, part in tools().items() if kind != "grammar"}
    audit = mohs.audit(run, **parts)
    (found,) = audit.summary()
    assert found.grammar is None
    assert [one.rate is None for one in found.required] == [False, False, True]
    assert found.together is not None
    assert (found.together.hits, found.together.total) == (1, 2)
    assert any("pip install 'mohs[grammar]'" in note for note in audit.notes)
    assert any("leaves out grammar-errors<=0" in note for note in audit.notes)
    with pytest.raises(BadInput, match="harper-py"):
        mohs.audit(run, require=["grammar-errors<=0"], **parts)
    with pytest.raises(BadInput, match="harper-py"):
        mohs.audit(run, grammar="harper", **parts)


def test_a_text_that_a_model_cannot_read_costs_one_value() -> None:
    run = run_of([record(n, f"aa bb w{n}", {0: "a"}) for n in range(4)])
    audit = mohs.audit(run, **tools(grammar=Checker(poison="w2")))
    (examples,) = audit.examples.values()
    assert [example.taken.rules_after is None for example in examples] == [False, False, True, False]
    assert all("sentence cosine" in example.taken.values for example in examples)
    assert any("1 value could not be measured" in note and "example e2" in note for note in audit.notes)
    (found,) = audit.summary()
    assert found.required[2].rate is not None
    assert (found.required[2].rate.hits, found.required[2].unknown) == (3, 1)
    assert found.grammar is not None
    assert found.grammar.introduced.total == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"require": ["fluency-rank<=4"]}, "judges the steps of a search"),
        ({"require": ["positions-again<=0"]}, "judges the steps of a search"),
        ({"require": ["similarity"]}, "has no threshold"),
        ({"require": ["perplexity<=10"]}, "needs a causal language model"),
        ({"absolute": ["similarity>=0.5"]}, "--absolute judges the final text alone"),
        ({"absolute": ["perplexity<=10"]}, "needs a causal language model"),
    ],
)
def test_constraints_that_cannot_be_judged_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        mohs.audit(run_of([record(0, "aa bb", {0: "a"})]), **options, **tools())


def test_runs_that_cannot_be_audited(tmp_path: Path) -> None:
    kept("second-order", [searched()], folder=tmp_path / "other", tasks=["so-beam"]).close()
    with pytest.raises(BadInput, match="is a run of `mohs second-order`; `mohs audit` reads runs of `mohs attack`"):
        mohs.audit(tmp_path / "other")
    kept("attack", [], folder=tmp_path / "empty", attacks=["a"]).close()
    with pytest.raises(BadInput, match="has no finished attempt yet"):
        mohs.audit(tmp_path / "empty")
    with pytest.raises(BadInput, match="is not a run"):
        mohs.audit(tmp_path / "nowhere")
    run_of([record(0, "aa bb", {0: "a"})], tmp_path / "run").close()
    with pytest.raises(BadInput, match="is given twice"):
        mohs.audit([tmp_path / "run", tmp_path / "run"])
    with pytest.raises(BadInput, match="No run was given"):
        mohs.audit([])


def test_a_run_without_successes_and_an_unfinished_one() -> None:
    audit = mohs.audit(run_of([record(0, "aa bb")], identity={"examples": 3}), **tools())
    (found,) = audit.summary()
    assert (found.success.hits, found.success.total) == (0, 1)
    assert any("has no adversarial example" in note for note in audit.notes)
    assert any("The run is not finished: 1 of 3 attempts" in note for note in audit.notes)
    assert all(measure.mean is None or measure.mean.value is None for measure in found.measures)


def test_attacks_that_keep_the_label_are_left_out() -> None:
    run = run_of([record(0, "aa bb", {0: "a"}), record(0, "aa bb", {0: ""}, "input-reduction:paper")])
    run.manifest["facts"]["goals"] = {"input-reduction:paper": "reduced:1"}
    audit = mohs.audit(run, **tools())
    assert [found.attack for found in audit.summary()] == ["textfooler:paper"]
    assert any("input-reduction:paper keeps the label" in note for note in audit.notes)


def test_the_function_has_every_option_of_the_command() -> None:
    options = {f.name: f.default for f, _ in options_of(mohs.audits.Auditing)}
    parameters = inspect.signature(mohs.audit).parameters
    assert {*options, "progress"} == set(parameters)
    for name in options.keys() - {"runs"}:
        assert parameters[name].default == options[name], name


def test_pairs_of_texts() -> None:
    text = Text("aa bb", "cc dd")
    final = text.replace_all({0: "aax", 3: "dddd"})
    plain = record(0, "aa bb", {0: "a"})
    pair = replace(
        plain, names=("one", "two"), original=text.fields, perturbed=final.fields, edits=text.edits(final), words=4
    )
    (taken,) = values(run_of([pair]))
    assert taken.values["edit distance"] == 3
    assert taken.values["edit distance, normalised"] == round(3 / 13, 6)
    assert taken.values["share of words changed"] == 0.5
    assert taken.values["sentence cosine in 11 words"] == pytest.approx(math.cos(0.1), abs=1e-6)


def test_deleted_and_inserted_words() -> None:
    (gone, more) = values(run_of([record(0, "aa bb cc", {1: ""}), record(1, "aa bb cc", {1: "bb xx"})]))
    assert gone.values["edit distance"] == 3
    assert gone.values["share of words changed"] == pytest.approx(1 / 3, abs=1e-6)
    assert more.values["sentence cosine in 11 words"] == pytest.approx(math.cos(0.1), abs=1e-6)


def test_texts_that_the_edits_do_not_explain_are_compared_whole() -> None:
    (taken,) = values(run_of([record(0, "aa bb cc", {1: "x"}, perturbed=("aa x, cc dd x",))]))
    assert taken.values["sentence cosine"] == pytest.approx(math.cos(0.2), abs=1e-6)
    assert taken.values["sentence cosine in 11 words"] == pytest.approx(math.cos(0.2), abs=1e-6)
    assert math.isnan(taken.values["word cosine"])


def test_the_example_in_the_docstring_works() -> None:
    assert doctest.testmod(mohs.audits.api) == (0, 3)
