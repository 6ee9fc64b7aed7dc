"""The Python interface."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import mohs
import mohs.attacks.verb
import mohs.bounds.verb
import mohs.runs.api
from mohs.attacks import TextFooler
from mohs.errors import BadInput, MohsError, VictimError
from mohs.models.function import FunctionVictim
from mohs.space import Constraint, Neighbours, Services, WordsChanged
from tests.toys import WordCount, predict

ROWS = [("a good film", 1), ("a bad film", 0), ("an awful story", 1)]


def test_five_lines_of_python() -> None:
    run = mohs.attack(predict, ROWS, attacks=["textfooler", "random"], seed=0)
    assert [summary.attack for summary in run.summary()] == ["textfooler:paper", "random:baseline"]
    records = list(run.records())
    assert len(records) == len(run) == 6
    assert [record.example_id for record in records[:3]] == ["0", "1", "2"]
    assert records[2].outcome is mohs.Outcome.SKIPPED
    assert "accuracy under attack" in run._repr_html_()


def test_the_docstrings_run() -> None:
    for module in (mohs.attacks.verb, mohs.bounds.verb, mohs.runs.api):
        found = doctest.testmod(module)
        assert found.failed == 0
        assert found.attempted > 0


def test_rows_and_pairs() -> None:
    rows = [{"premise": "a man sleeps", "hypothesis": "a good man", "label": 1}]
    with mohs.attack(predict, rows, ["random"]) as run:
        (record,) = run.records()
    assert record.names == ("premise", "hypothesis")
    assert record.original == ("a man sleeps", "a good man")


def test_attack_objects_and_victim_objects() -> None:
    victim = WordCount({"good": 2.0, "bad": -2.0})
    with mohs.attack(victim, ROWS, [mohs.RandomWords(walks=1), mohs.TextFooler()]) as run:
        assert [summary.attack for summary in run.summary()] == ["RandomWords(walks=1)", "textfooler:paper"]


def test_a_folder_makes_it_resumable(tmp_path: Path) -> None:
    first = WordCount({"good": 2.0})
    with mohs.attack(first, ROWS, ["random"], out=tmp_path / "run") as run:
        expected = list(run.records())
    second = WordCount({"good": 2.0})
    with mohs.attack(second, ROWS, ["random"], out=tmp_path / "run") as run:
        assert list(run.records()) == expected
    finished = {text for record in expected for text in (record.original, record.perturbed or record.original)}
    assert {fields for fields in second.asked if "day" not in fields[0]} == finished  # asked once more, to compare
    with mohs.Run.open(tmp_path / "run") as run:
        assert list(run.records()) == expected
        assert run.manifest["config"]["attacks"] == ["random:baseline"]


def test_only_what_is_missing_is_done(tmp_path: Path) -> None:
    """Stopping after any number of records and going on gives the records of an uninterrupted run."""

    class Stop(Exception):
        pass

    examples = [mohs.Example.of(f"a good film {i}", 1, id=str(i)) for i in range(12)]
    with mohs.attack("pocket", examples, ["random", "textfooler"]) as run:
        expected = list(run.records())
    for stop in (1, 5, 13, 23):
        folder = tmp_path / str(stop)

        def halt(record: Any, finished: int, total: int, stop: int = stop) -> None:
            if finished >= stop:
                raise Stop

        with pytest.raises(Stop):
            mohs.attack("pocket", examples, ["random", "textfooler"], out=folder, at_once=2, progress=halt)
        with mohs.attack("pocket", examples, ["random", "textfooler"], out=folder) as run:
            assert list(run.records()) == expected


def test_secrets_are_not_written_down(tmp_path: Path) -> None:
    options = {"header": "Authorization: Bearer hunter2", "retries": "0", "timeout": "0.2"}
    with pytest.raises(MohsError):
        mohs.attack("http://127.0.0.1:9/", ROWS, ["random"], victim_options=options, out=tmp_path / "run")
    assert not any("hunter2" in file.read_text("utf-8", "replace") for file in tmp_path.rglob("*") if file.is_file())


def test_effort_counts_real_forwards(tmp_path: Path) -> None:
    with mohs.attack("pocket", ROWS, ["random"], cache=tmp_path / "answers") as run:
        cold = run.effort()
    with mohs.attack("pocket", ROWS, ["random"], cache=tmp_path / "answers") as run:
        warm = run.effort()
    assert cold["forwards"] > warm["forwards"] > 0  # verdicts are asked again
    assert warm["reused"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"attacks": []}, "No attack was given"),
        ({"n": 0}, "n is 0; it must be at least 1"),
        ({"budget": 0}, "budget is 0; it must be at least 1"),
        ({"at_once": 0}, "at_once is 0; it must be at least 1"),
        ({"examples": []}, "has no examples"),
        ({"examples": [("x", 5)]}, "label 5, but .* has 2 classes"),
        ({"victim": 5}, "A int is not a victim"),
    ],
)
def test_mistakes(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"victim": predict, "examples": ROWS, "attacks": ["random"], **arguments}
    with pytest.raises(BadInput, match=message):
        mohs.attack(given.pop("victim"), given.pop("examples"), given.pop("attacks"), **given)


def test_a_victim_that_gives_nonsense_is_found_at_once() -> None:
    with pytest.raises(VictimError, match="not finite"):
        mohs.attack(lambda texts: [[float("nan")] * 2] * len(texts), ROWS, ["random"])


def test_n_cuts_a_dataset(tmp_path: Path) -> None:
    with mohs.attack("pocket", mohs.Dataset("pocket"), "random", n=3) as run:
        assert len(run) == 3
        assert run.manifest["config"]["n"] == 3
    with mohs.attack("pocket", mohs.Dataset("pocket", n=2), "random") as run:
        assert run.manifest["config"]["n"] == 2


def test_files_and_named_labels(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("text,label\na good film,positive\n")
    with mohs.attack("pocket", tmp_path / "d.csv", "random") as run:
        assert next(run.records()).label == 1
    with mohs.attack(predict, [{"text": "a good film", "label": "yes"}], "random", labels=("no", "yes")) as run:
        assert next(run.records()).label == 1


def test_an_error_is_tried_again(tmp_path: Path) -> None:
    calls = WordCount({"good": 2.0})
    calls.fingerprint = "same"

    class Once(WordCount):
        def collect(self, ticket: list[tuple[str, ...]]) -> Any:
            if any("bad" in fields[0] for fields in ticket):
                raise TimeoutError("busy")
            return super().collect(ticket)

    broken = Once({"good": 2.0})
    broken.fingerprint = "same"
    with mohs.attack(broken, ROWS, "random", out=tmp_path / "run") as run:
        assert [str(record.outcome) == "error" for record in run.records()] == [False, True, False]
    with mohs.attack(calls, ROWS, "random", out=tmp_path / "run") as run:
        assert [record.error for record in run.records()] == [None, None, None]


def test_which_fields_may_change_is_part_of_a_run(tmp_path: Path) -> None:
    def example(change: str) -> mohs.Example:
        return mohs.Example.of(("a good film", "a fine film"), 1, changeable=[change])

    mohs.attack(predict, [example("premise")], "random", out=tmp_path / "run").close()
    with pytest.raises(BadInput, match="data_hash"):
        mohs.attack(predict, [example("hypothesis")], "random", out=tmp_path / "run")


def test_the_settings_of_an_attack_are_part_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mohs.attacks import catalogue

    mohs.attack(predict, ROWS, "random", out=tmp_path / "run").close()
    monkeypatch.setitem(catalogue.CATALOGUE["random"], "baseline", lambda: mohs.RandomWords(walks=9))
    with pytest.raises(BadInput, match="walks=9"):
        mohs.attack(predict, ROWS, "random", out=tmp_path / "run")


def test_the_cache_does_not_move_a_verdict(tmp_path: Path) -> None:
    """A victim whose scores move with the batch is judged one text at a time, with a cache too."""

    def moving(texts: list[str]) -> list[list[float]]:
        return [[1 - p, p] for _, p in predict(texts) for p in [min(p + 0.02 * (len(texts) > 1), 1.0)]]

    rows = [(f"a {word} film {i}", 1) for i, word in enumerate(["good", "fine", "great"] * 6)]
    found = []
    for cache in (None, tmp_path / "answers", tmp_path / "answers"):
        victim = FunctionVictim(moving, name="moving")
        with mohs.attack(victim, rows, "random", cache=cache) as run:
            found.append([(r.outcome, r.scores_before, r.scores_after) for r in run.records()])
    assert found[0] == found[1] == found[2]


def test_a_part_without_a_stable_name_is_refused() -> None:
    class Source:
        needs: tuple[str, ...] = ()

        async def __call__(self, text: mohs.Text, positions: Sequence[int], ask: Services) -> list[dict[str, str]]:
            return [{} for _ in positions]

    with pytest.raises(BadInput, match="Source has no name that is the same in every process"):
        mohs.attack(predict, ROWS, [mohs.RandomWords(source=Source())])


def test_a_victim_that_changed_is_not_mixed_in(tmp_path: Path) -> None:
    def victim(weight: float) -> WordCount:
        made = WordCount({"good": weight})
        made.fingerprint = "the same name"
        return made

    mohs.attack(victim(2.0), ROWS, "random", out=tmp_path / "run").close()
    with pytest.raises(BadInput, match=r"answers differently than when .* was started: example 0 had the scores"):
        mohs.attack(victim(-2.0), ROWS, "random", out=tmp_path / "run")


def test_a_victim_that_does_not_repeat_itself_is_noticed() -> None:
    from itertools import count

    calls = count()

    def moody(texts: list[str]) -> list[list[float]]:
        share = 0.5 + 0.4 * (next(calls) % 2)
        return [[1 - share, share] for _ in texts]

    with mohs.attack(moody, ROWS, "random") as run:
        assert run.manifest["facts"]["repeats_itself"] is False
    with mohs.attack(predict, ROWS, "random") as run:
        assert run.manifest["facts"]["repeats_itself"] is True


def test_labels_by_name_in_pairs() -> None:
    with mohs.attack(predict, [("a good film", "good")], "random", labels="bad,good") as run:
        assert next(run.records()).label == 1
        assert repr(run) == "<Run of random:baseline: 1 attempts>"


def test_nothing_heavy_is_imported() -> None:
    import subprocess
    import sys

    program = "import sys, mohs.cli; bad = {'torch', 'transformers', 'numpy', 'pyarrow', 'scipy'} & set(sys.modules); "
    program += "print(sorted(bad))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_another_space_for_an_attack_is_in_its_name_and_in_the_manifest(tmp_path: Path) -> None:
    words = tmp_path / "mine.tsv"
    words.write_text("good\tawful\nfilm\tmovie\n", "utf-8")
    options: dict[str, Any] = {
        "source": f"thesaurus:{words}",
        "constraints": ["words-changed<=1"],
        "measures": ["edit-distance"],
        "stopwords": ["film"],
    }
    rows, method = [("a good film", 1)], mohs.RandomWords(constraints=())
    with mohs.attack(predict, rows, [method], out=tmp_path / "run", **options) as run:
        (record,) = run.records()
        assert record.attack == f"RandomWords(constraints=())+thesaurus:{words}+words-changed<=1+stopwords"
        assert [(edit.new, edit.source) for edit in record.edits] == [("awful", "thesaurus")]
        assert record.measures["edit distance"] == 5
        assert record.measures["words changed"] == 1
        assert record.positions == 1
        assert run.manifest["config"]["constraints"] == ["words-changed<=1"]
        assert run.manifest["identity"]["services"] == {}
    with pytest.raises(BadInput, match="constraints"):
        mohs.attack(predict, rows, [method], out=tmp_path / "run", **{**options, "constraints": []})


def test_the_manifest_notes_the_services_that_were_asked(tmp_path: Path) -> None:
    with mohs.attack("pocket", "pocket", "random", n=2, tagger="pocket", out=tmp_path / "run") as run:
        assert sorted(run.manifest["identity"]["services"]) == ["encoder", "tagger", "vectors"]
        assert run.manifest["identity"]["services"]["tagger"].startswith("pocket tagger")
        assert {run.manifest["config"][kind] for kind in ("encoder", "tagger", "vectors")} == {"pocket"}


def test_the_parts_of_a_space_as_objects() -> None:
    run = mohs.attack(
        "pocket",
        "pocket",
        "random",
        n=5,
        source=Neighbours(k=3),
        constraints=[Constraint(WordsChanged(), at_most=1)],
        measures=[WordsChanged()],
        stopwords="none",
    )
    for record in run.records():
        assert (
            record.attack == "random:baseline+Neighbours(k=3)+Constraint(measure=WordsChanged(), at_most=1)+stopwords"
        )
        assert len(record.edits) <= 1
        assert record.error is None


def test_a_model_given_as_an_object_is_asked() -> None:
    from mohs.models.encoder import PocketEncoder

    class Mine(PocketEncoder):
        name = "mine"
        asked = 0

        def launch(self, batch: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
            Mine.asked += len(batch)
            return batch

    with mohs.attack("pocket", "pocket", "textfooler", n=3, encoder=Mine()) as run:
        assert run.manifest["config"]["encoder"] == "mine"
    assert Mine.asked


def test_a_manifest_repeats_a_changed_space(tmp_path: Path) -> None:
    from mohs.cli.main import app

    words = tmp_path / "mine.tsv"
    words.write_text("good\tfine\tgood\nfilm\tmovie\n", "utf-8")
    options = [
        "--source",
        f"thesaurus:{words}+neighbours:k=5",
        "--constraint",
        "words-changed<=2",
        "--stopwords",
        "nltk",
    ]
    options += ["--measure", "edit-distance", "--lm", "nobody", "--n", "6", "--tagger", "pocket"]
    for arguments in (options, ["--config", str(tmp_path / "a" / "manifest.yaml")]):
        out = tmp_path / ("b" if "--config" in arguments else "a")
        app(["attack", *arguments, "--out", str(out)], standalone_mode=False)
    with mohs.Run.open(tmp_path / "a") as one, mohs.Run.open(tmp_path / "b") as other:
        assert list(one.records()) == list(other.records())
        notes = one.manifest["facts"]["notes"]
    assert any("listed for themselves" in note for note in notes)
    assert "--lm nobody is given, but nothing in this run uses it." in notes


def test_attacks_over_a_changed_space_keep_the_order_asked_for(tmp_path: Path) -> None:
    asked = ["textfooler", "random", "deepwordbug"]
    with mohs.attack("pocket", "pocket", asked, n=2, constraints=["words-changed<=3"], out=tmp_path / "run") as run:
        found = list(dict.fromkeys(record.attack for record in run.records()))
        assert [name.partition(":")[0] for name in found] == asked
        assert [summary.attack for summary in run.summary()] == found


def test_one_attack_needs_no_list() -> None:
    one = TextFooler()
    with mohs.attack("pocket", "pocket", one, n=2) as bare, mohs.attack("pocket", "pocket", [one], n=2) as listed:
        assert list(bare.records()) == list(listed.records())
    with mohs.radius("pocket", "pocket", attacks=one, n=1, max_r=1) as run:
        (found,) = run.records()
    assert found.finding is not None


@pytest.mark.parametrize(
    ("wrong", "said"), [(TextFooler, "give an attack of it"), ([3], "3 is no attack"), (3, "3 is no attack")]
)
def test_what_is_no_attack_is_named(wrong: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        mohs.attack("pocket", "pocket", wrong, n=1)
