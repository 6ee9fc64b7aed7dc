from __future__ import annotations

import pytest

from tests.studies.skips import heeded


def report(outcome: str, reason: str = "") -> pytest.TestReport:
    longrepr = ("file.py", 1, f"Skipped: {reason}") if outcome == "skipped" else None
    return pytest.TestReport("a", ("file.py", 1, "a"), {}, outcome, longrepr, "call")  # type: ignore[arg-type]


def test_a_skip_fails_where_none_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_NO_SKIP", "1")
    found = heeded(report("skipped", "no browser"))
    assert found.failed
    assert str(found.longrepr).startswith("Skipped: no browser (")
    assert heeded(report("skipped", "not here (../shared/assets)")).skipped
    assert heeded(report("skipped", "spaCy's small English model is not installed")).skipped
    assert heeded(report("passed")).passed
    expected = report("skipped", "a known fault")
    expected.wasxfail = "known"
    assert heeded(expected).skipped


@pytest.mark.parametrize("value", [None, "", "0"])
def test_a_skip_is_a_skip_elsewhere(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("MOHS_NO_SKIP", raising=False)
    if value is not None:
        monkeypatch.setenv("MOHS_NO_SKIP", value)
    assert heeded(report("skipped", "no browser")).skipped
