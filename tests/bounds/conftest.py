"""Every certificate that a test of this folder verifies is put to the second verifier too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mohs import verifier
from mohs.models.function import FunctionVictim
from mohs.runs.settings import VictimSettings
from mohs.runs.verify import Verify

MOST = 20_000  # texts


@pytest.fixture(autouse=True)
def both_verifiers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Verify.run

    def twice(self: Verify, settings: VictimSettings) -> Any:
        found = run(self, settings)
        model: Any = settings.victim
        for certificate, checked in found if isinstance(model, FunctionVictim) else ():
            told = json.dumps(certificate.to_json())
            if checked.whole or "The label does not hold" in checked.why:
                assert holds(told, model._function) in (checked.sound or checked.unstated, None), checked.why
        return found

    monkeypatch.setattr(Verify, "run", twice)


def holds(told: str, function: Any) -> bool | None:
    """Whether the second verifier finds that a certificate holds; None if it has too many texts."""
    try:
        verifier.verify(verifier.read(told), function, MOST)
    except verifier.Broken:
        return False
    except verifier.TooLarge:
        return None
    return True
