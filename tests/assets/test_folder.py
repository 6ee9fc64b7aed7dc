from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.assets.asset import Asset
from mohs.assets.folder import NOTE, File, Note, assets_folder, damage, read_note, require, rotten
from mohs.assets.install import install
from mohs.errors import BadInput
from tests.assets.conftest import TOY


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "words.bin").write_text("words")
    return folder


def test_the_folder_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("MOHS_ASSETS", raising=False)
    assert assets_folder() == tmp_path / ".cache/mohs/assets"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert assets_folder() == tmp_path / ".cache/mohs/assets"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert assets_folder() == tmp_path / "xdg/mohs/assets"
    monkeypatch.setenv("MOHS_ASSETS", "")
    assert assets_folder() == tmp_path / "xdg/mohs/assets"
    monkeypatch.setenv("MOHS_ASSETS", "~/here")
    assert assets_folder() == tmp_path / "here"


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "MOHS_ASSETS"):
        monkeypatch.delenv(name, raising=False)

    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(BadInput, match="name a folder in MOHS_ASSETS"):
        assets_folder()


names = st.text(min_size=1, max_size=5)
files = st.dictionaries(names, st.builds(File, st.integers(0, 9), st.sampled_from(["aa", "bb"])), max_size=3)


@given(names, names, files)
def test_a_note_survives_its_file(
    tmp_path_factory: pytest.TempPathFactory, name: str, source: str, files: dict[str, File]
) -> None:
    root = tmp_path_factory.mktemp("root")
    note = Note(name, source, tuple(sorted(files)[:1]), dict(sorted(files.items())))
    (root / "toy").mkdir()
    (root / "toy" / NOTE).write_text(note.to_json(), "utf-8")
    assert read_note(TOY, root) == note


@given(files, files)
def test_a_fingerprint_is_of_names_and_contents(one: dict[str, File], other: dict[str, File]) -> None:
    hashes = [{name: file.sha256 for name, file in files.items()} for files in (one, other)]
    first, second = Note("a", "here", (), one), Note("b", "there", ("x",), other)
    assert (first.fingerprint == second.fingerprint) == (hashes[0] == hashes[1])
    assert Note("a", "here", (), dict(reversed(one.items()))).fingerprint == first.fingerprint


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"files": 3}', '{"files": {"a": 1}}', "[" * 100_000])
def test_a_note_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / NOTE).write_text(text)
    assert read_note(TOY, tmp_path) is None


def test_what_is_missing_is_said_with_the_remedy(tmp_path: Path, toy: Asset) -> None:
    def sentence(asset: Asset) -> str:
        with pytest.raises(BadInput) as caught:
            require(asset, tmp_path)
        return str(caught.value)

    assert sentence(toy) == f"The asset toy is not in {tmp_path}; get it with `mohs assets pull toy`."
    assert sentence(TOY) == (
        f"The asset toy is not in {tmp_path}; get it with `mohs assets pull toy --from DIR`, where DIR holds "
        "config.json and words.bin."
    )
    assert sentence(replace(TOY, hub="org/toy")) == (
        f"The asset toy is not in {tmp_path}; name it as hf:org/toy and transformers downloads it, or "
        "install a copy with `mohs assets pull toy --from DIR`."
    )


def test_damage_is_seen(root: Path, local: Path) -> None:
    folder = install(TOY, root, source=local)
    note = read_note(TOY, root)
    assert note
    assert damage(TOY, root, note) is None
    assert rotten(TOY, root, note) is None
    (folder / "words.bin").write_text("wards")
    assert damage(TOY, root, note) is None
    assert rotten(TOY, root, note) == "words.bin does not have the sha256 noted at installation"
    (folder / "words.bin").write_text("word")
    assert damage(TOY, root, note) == "words.bin does not have the size noted at installation"
    (folder / "words.bin").unlink()
    assert rotten(TOY, root, note) == "words.bin: No such file or directory"
    with pytest.raises(
        BadInput, match=r"is damaged \(words.bin: No such .* again with `mohs assets pull toy --from DIR --f"
    ):
        require(TOY, root)
