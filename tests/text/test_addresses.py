"""Addresses without the credentials in them."""

from __future__ import annotations

import pytest

from mohs.text.addresses import lacks_credentials, without_credentials


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://host/path", "http://host/path"),
        ("http://ann:secret@host/path", "http://***@host/path"),
        ("https://token@host", "https://***@host"),
        ("http://ann:p@ss@host/a@b", "http://***@host/a@b"),
        ("languagetool:http://ann:x@host:8081", "languagetool:http://***@host:8081"),
        ("http://h/p?api_key=1&model=big", "http://h/p?api_key=***&model=big"),
        ("http://h/p?model=big&X-Auth-Token=a%20b", "http://h/p?model=big&X-Auth-Token=***"),
        ("http://h/p?q=sk3Vj9aQm2LwX8rTz0Yb", "http://h/p?q=***"),
        ("http://h/p?version=2024-01-01-preview", "http://h/p?version=2024-01-01-preview"),
        ("http://h/p#token=x", "http://h/p#token=***"),
        ("see http://a:b@h/ and http://c:d@i/", "see http://***@h/ and http://***@i/"),
        ("safer(http://a:b@h/p?key=x)", "safer(http://***@h/p?key=***)"),
        ("ensemble(http://h/p?key=x, n=2)", "ensemble(http://h/p?key=***, n=2)"),
        ("there is no file http:/ann:x@host/path", "there is no file http:/***@host/path"),
        ("python:module:function", "python:module:function"),
        ("hf:name?key=1", "hf:name?key=1"),
        (None, None),
        (3, 3),
    ],
)
def test_without_credentials(address: object, shown: object) -> None:
    assert without_credentials(address) == shown
    assert without_credentials(shown) == shown
    assert not isinstance(shown, str) or lacks_credentials(shown) == ("***" in shown)
