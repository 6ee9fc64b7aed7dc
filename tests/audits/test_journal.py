"""audit.jsonl: what is measured once is not measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.audits.result import Audit
from mohs.errors import BadInput, MohsError
from tests.audits.toys import Checker, Encoder, Lm, Vectors, record, run_of


def audited(folder: Path, **more: Any) -> tuple[Audit, dict[str, list[Any]]]:
    """An audit with new models, and what each was asked."""
    models: dict[str, Any] = {"grammar": Checker(), "encoder": Encoder(), **more}
    audit = mohs.audit(folder, vectors=Vectors(), **models)
    return audit, {kind: model.asked for kind, model in models.items() if hasattr(model, "asked")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = [record(n, f"aa bb w{n}", {0: "aaa" if n % 3 else "bad"}) for n in range(7)]
    run_of(records, tmp_path / "run").close()
    return tmp_path / "run"


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text("utf-8").splitlines()]


def test_a_second_audit_asks_nothing(folder: Path) -> None:
    first, asked = audited(folder)
    assert len(asked["grammar"]) == 14
    assert asked["encoder"]
    again, asked = audited(folder)
    assert asked == {"grammar": [], "encoder": []}
    assert again.to_json() == first.to_json()


def test_each_line_is_one_example(folder: Path) -> None:
    audited(folder)
    rows = lines(folder)
    assert [(row["attack"], row["example_id"]) for row in rows] == [("textfooler:paper", f"e{n}") for n in range(7)]
    assert rows[0]["rules_introduced"] == {"BAD": 1}
    assert rows[1]["rules_introduced"] == {}
    assert rows[0]["measures"]["words changed"] == 1
    assert rows[0]["made_by"]["toy Checker-1"] == [
        "grammar errors introduced",
        "grammar errors before",
        "grammar errors after",
    ]


def test_a_further_model_is_asked_alone(folder: Path) -> None:
    audited(folder)
    _, asked = audited(folder, lm=Lm())
    assert len(asked.pop("lm")) == 14
    assert asked == {"grammar": [], "encoder": []}
    assert len(lines(folder)) == 7
    _, asked = audited(folder)  # without it again: nothing is lost
    assert all("perplexity" in row["measures"] for row in lines(folder))


def test_another_model_measures_again(folder: Path) -> None:
    audited(folder)
    _, asked = audited(folder, grammar=Checker("2"))
    assert len(asked["grammar"]) == 14
    assert asked["encoder"] == []


def test_values_of_another_model_are_not_shown(folder: Path) -> None:
    audited(folder, lm=Lm())
    audit, _ = audited(folder)
    (found,) = audit.summary()
    assert next(m for m in found.measures if m.name == "perplexity").mean is None


def test_a_changed_text_is_measured_again(folder: Path) -> None:
    audited(folder)
    records = [record(n, f"aa bb w{n}", {0: "aaa" if n % 3 else "bad"}) for n in range(6)]
    (folder / "journal.sqlite").unlink()
    (folder / "manifest.yaml").unlink()
    other = folder.parent / "other"
    run_of([*records, record(6, "aa bb w6", {0: "other"})], other).close()
    (other / "audit.jsonl").write_bytes((folder / "audit.jsonl").read_bytes())
    _, asked = audited(other)
    assert sorted(asked["grammar"]) == ["aa bb w6", "other bb w6"]
    assert len(lines(other)) == 7


def test_broken_lines_are_measured_again(folder: Path) -> None:
    first, _ = audited(folder)
    path = folder / "audit.jsonl"
    whole = path.read_text("utf-8").splitlines()
    damaged = [whole[0], "{not json", whole[2].replace('"made_by"', '"by"'), '["a list"]', *whole[3:-1], whole[-1][:50]]
    path.write_text("\n".join(damaged), "utf-8")
    audit, asked = audited(folder)
    assert sorted(asked["grammar"]) == sorted(
        text for n in (1, 2, 6) for text in (f"aa bb w{n}", f"{'aaa' if n % 3 else 'bad'} bb w{n}")
    )
    assert any("4 lines of audit.jsonl could not be read" in note for note in audit.notes)
    assert len(lines(folder)) == 7  # mended
    assert audit.summary() == first.summary()
    again, asked = audited(folder)
    assert asked["grammar"] == []
    assert not any("could not be read" in note for note in again.notes)


def test_a_changed_value_is_measured_again(folder: Path) -> None:
    first, _ = audited(folder)
    path = folder / "audit.jsonl"
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"word cosine": 0.9', '"word cosine": 0.2', 1), "utf-8")
    audit, _ = audited(folder)
    assert audit.summary() == first.summary()
    assert any("1 line of audit.jsonl could not be read" in note for note in audit.notes)
    assert [row["measures"] for row in lines(folder)] == [json.loads(line)["measures"] for line in whole.splitlines()]


def test_lines_of_an_earlier_version_have_no_checksum(folder: Path) -> None:
    audited(folder)
    rows = [{name: value for name, value in row.items() if name != "checksum"} for row in lines(folder)]
    (folder / "audit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert audited(folder)[1] == {"grammar": [], "encoder": []}


def test_an_interrupt_loses_nothing_measured(folder: Path) -> None:
    def stop(_: None, finished: int, total: int) -> None:
        if finished == 10:  # values of seven gauges
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mohs.audit(folder, progress=stop, grammar=Checker(), encoder=Encoder(), vectors=Vectors())
    assert len(lines(folder)) == 10
    counts: list[int] = []
    mohs.audit(
        folder,
        progress=lambda _, finished, total: counts.append(total),
        grammar=Checker(),
        encoder=Encoder(),
        vectors=Vectors(),
    )
    assert counts[0] == 7 * 7 - 10
    assert len(lines(folder)) == 7


def test_a_value_that_is_not_defined_is_kept_too(tmp_path: Path) -> None:
    run_of([record(0, "aa bb", {0: "q"})], tmp_path).close()
    audited(tmp_path)
    (row,) = lines(tmp_path)
    assert row["measures"]["word cosine"] is None
    audit, _ = audited(tmp_path)
    (found,) = audit.summary()
    assert found.required[0].unknown == 1


def test_a_file_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    (folder / "audit.jsonl").mkdir()
    with pytest.raises(MohsError, match=r"audit.jsonl cannot be read \(Is a directory\)"):
        audited(folder)


def test_a_device_in_the_place_of_the_file_is_refused(folder: Path) -> None:
    (folder / "audit.jsonl").symlink_to("/dev/null")  # of /dev/zero there is no end
    with pytest.raises(BadInput, match=r"audit\.jsonl is a pipe or a device and not a file; delete it\."):
        audited(folder)
