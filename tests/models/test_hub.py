"""A hub that cannot be reached: said at once, in one sentence, and no hindrance to what is kept here."""

from __future__ import annotations

import logging
import shutil
import socket
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import huggingface_hub
import pytest

from mohs.errors import BadInput
from mohs.models.hub import quiet_hub, unreachable
from mohs.models.pretrained import load_hf
from tests.models.conftest import save, tiny_tokenizer

KIND = "AutoModelForSequenceClassification"


@pytest.fixture(autouse=True)
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody answers where the hub should be, and nothing is kept; gives how long the library then waited."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    at(port, monkeypatch)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def at(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"http://127.0.0.1:{port}"
    constants = huggingface_hub.constants
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")


def test_it_is_said_at_once_and_in_one_sentence(waits: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadInput) as caught:
        load_hf("nobody/nothing", KIND, trust_code=False)
    sentence = str(caught.value)
    assert sentence.startswith(
        "hf:nobody/nothing is neither a local folder, nor an installed asset (`mohs assets list`), nor complete in the"
    )
    assert sentence.endswith("Connection refused); give a model folder, or go online.")
    assert waits == []
    assert caplog.messages == []


def test_what_is_kept_loads_without_it(tmp_path: Path, waits: list[float]) -> None:
    folder = save(tmp_path / "plain", "bert", tiny_tokenizer("wordpiece"))
    kept = tmp_path / "cache" / "models--some--body"
    shutil.copytree(folder, kept / "snapshots" / ("0" * 40))
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("0" * 40)
    _, model = load_hf("some/body", KIND, trust_code=False)
    assert model.config.num_labels == 3
    assert waits == []
    (kept / "snapshots" / ("0" * 40) / "model.safetensors").unlink()
    with pytest.raises(BadInput, match="nor complete in the Hugging Face cache"):
        load_hf("some/body", KIND, trust_code=False)


def test_a_folder_needs_no_hub_and_a_hub_that_answers_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Nothing(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    assert "refused" in unreachable("nobody/nothing")
    assert unreachable(str(tmp_path)) == ""
    assert unreachable("no name") == ""  # which transformers says better
    with HTTPServer(("127.0.0.1", 0), Nothing) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        at(server.server_port, monkeypatch)
        assert unreachable("nobody/nothing") == ""
        thread.join()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert unreachable("nobody/else") == ""  # nor is it asked where it shall not be


def test_the_library_is_quiet_only_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    before = huggingface_hub.utils.logging.get_verbosity()
    logger = logging.getLogger("huggingface_hub.utils._http")
    with quiet_hub():
        logger.warning("Retrying in 1s")
    assert huggingface_hub.utils.logging.get_verbosity() == before
    assert caplog.messages == []
    logger.warning("Retrying in 2s")
    assert caplog.messages == ["Retrying in 2s"]
