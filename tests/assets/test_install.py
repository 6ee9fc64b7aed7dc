from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mohs.assets.asset import Asset
from mohs.assets.folder import read_note, require, sha256_of
from mohs.assets.install import install
from mohs.assets.status import status
from mohs.errors import BadInput, MohsError
from tests.assets.conftest import CONTENT, TOY, WORDS, Ear, Server, ranged, whole, zipped


def tree(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def visible(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()} - {".toy.lock"}


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{}")
    (folder / "words.bin").write_bytes(WORDS)
    (folder / "diary.txt").write_text("private")
    return folder


def test_an_asset_is_fetched_unpacked_and_noted(server: Server, toy: Asset, root: Path) -> None:
    folder = install(toy, root)
    assert folder == root / "toy"
    assert (folder / "words.bin").read_bytes() == WORDS
    assert {path.name for path in folder.iterdir()} == {"config.json", "words.bin", "asset.json"}
    assert visible(root) == {"toy"}
    noted = json.loads((folder / "asset.json").read_text())
    assert noted == {
        "name": "toy",
        "source": f"{server.address}/0",
        "checked": ["config.json", "words.bin"],
        "files": {
            name: {"size": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)}
            for name in ("config.json", "words.bin")
        },
    }


def test_what_is_there_is_left_alone(server: Server, toy: Asset, root: Path) -> None:
    install(toy, root)
    server.asked.clear()
    assert install(toy, root) == root / "toy"
    assert install(toy, root, source=Path("nowhere")) == root / "toy"
    assert server.asked == []
    install(toy, root, force=True)
    assert server.ranges == [None]
    assert visible(root) == {"toy"}


def test_a_damaged_one_is_fetched_again(server: Server, toy: Asset, root: Path) -> None:
    (install(toy, root) / "words.bin").unlink()
    assert (install(toy, root) / "words.bin").read_bytes() == WORDS


def test_an_interruption_leaves_a_part_that_is_gone_on_with(server: Server, toy: Asset, root: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        install(toy, root, watch=Ear(patience=1))
    assert visible(root) == {"pack-1.zip.part"}
    kept = (root / "pack-1.zip.part").stat().st_size
    install(toy, root)
    assert server.ranges == [None, f"bytes={kept}-"]
    assert visible(root) == {"toy"}


def test_an_interruption_while_unpacking_leaves_the_whole_part(
    server: Server, toy: Asset, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(number: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mohs.assets.bundle.os.fsync", stop)
        with pytest.raises(KeyboardInterrupt):
            install(toy, root)
    assert visible(root) == {"pack-1.zip.part"}
    server.asked.clear()
    install(toy, root)
    assert server.asked == []
    assert visible(root) == {"toy"}


def test_what_a_kill_left_is_cleared_away(toy: Asset, root: Path) -> None:
    (root / ".toy.new" / "deep").mkdir(parents=True)
    (root / ".toy.old").mkdir()
    (root / "toy").mkdir()
    install(toy, root)
    assert visible(root) == {"toy"}
    assert (root / "toy" / "words.bin").read_bytes() == WORDS


def test_a_kill_between_the_two_renames_is_repaired(server: Server, toy: Asset, root: Path) -> None:
    install(toy, root).rename(root / ".toy.old")
    server.asked.clear()
    install(toy, root)
    assert server.asked == []
    assert require(toy, root)
    assert visible(root) == {"toy"}


def test_a_failure_keeps_what_was_installed(server: Server, toy: Asset, root: Path) -> None:
    install(toy, root)
    before = tree(root)
    server.ways["/0"] = whole(bytes(len(CONTENT)))
    with pytest.raises(MohsError, match="is not the expected"):
        install(toy, root, force=True)
    assert tree(root) == before


def test_a_link_in_the_place_is_replaced_and_what_it_points_to_kept(toy: Asset, root: Path, local: Path) -> None:
    root.mkdir()
    (root / "toy").symlink_to(local)
    install(toy, root)
    assert not (root / "toy").is_symlink()
    assert (local / "diary.txt").exists()
    assert visible(root) == {"toy"}


def test_two_pulls_at_once(toy: Asset, root: Path) -> None:
    root.mkdir()
    with (root / ".toy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match=r"Another process is pulling toy into .*; wait for it\."):
            install(toy, root)
    install(toy, root)
    with (root / ".toy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert install(toy, root) == root / "toy"


def test_no_room_for_the_download(toy: Asset, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.FileIO):
        """A disk with room for 60,000 bytes."""

        def write(self, data: Any) -> int:
            if self.tell() + len(data) > 60_000:
                super().write(data[: max(0, 60_000 - self.tell())])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    usual = Path.open

    def crowded(self: Path, mode: str = "r", **options: Any) -> Any:
        return Full(self, mode) if self.suffix == ".part" and mode != "rb" else usual(self, mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", crowded)
        with pytest.raises(MohsError, match=r"no room in .* for toy; 0\.1 MB are kept; make room, or .*MOHS_ASSETS"):
            install(toy, root)
    assert (root / "pack-1.zip.part").read_bytes() == CONTENT[:60_000]
    assert (install(toy, root) / "words.bin").read_bytes() == WORDS


def test_no_room_for_unpacking(toy: Asset, root: Path, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("mohs.assets.bundle.os.fsync", full)
    with pytest.raises(MohsError, match=r"no room in .* for toy; make room"):
        install(TOY, root, source=local)
    assert visible(root) == set()
    with pytest.raises(MohsError, match=r"no room in .* for toy; 0\.4 MB are kept"):
        install(toy, root)
    assert visible(root) == {"pack-1.zip.part"}


def test_a_folder_that_cannot_be_written(toy: Asset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        BadInput, match=r"file/assets cannot be written \(Not a directory\); choose another with MOHS_ASS"
    ):
        install(toy, tmp_path / "file" / "assets")

    def read_only(self: Path, *arguments: Any, **options: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", read_only)
    with pytest.raises(BadInput, match=r"cannot be written \(Read-only file system\)"):
        install(toy, tmp_path / "assets")


def test_what_cannot_be_fetched_is_refused_with_the_remedy(server: Server, toy: Asset, root: Path) -> None:
    def sentence(asset: Asset) -> str:
        with pytest.raises(BadInput) as caught:
            install(asset, root)
        return str(caught.value)

    assert toy.archive
    assert sentence(replace(toy, archive=replace(toy.archive, sha256=None))) == (
        f"No checksum is known for toy, so mohs does not download it; download {server.address}/0 yourself and install "
        "it with `mohs assets pull toy --from DIR`."
    )
    assert sentence(TOY) == (
        "toy has no public address; install it with `mohs assets pull toy --from DIR`, where DIR holds config.json and "
        "words.bin."
    )
    assert "which transformers downloads when you name it as hf:org/toy" in sentence(replace(TOY, hub="org/toy"))
    assert server.asked == []
    assert not root.exists()


def test_a_right_archive_without_the_files_is_our_mistake(server: Server, root: Path) -> None:
    content = zipped({"other": b""})
    asset = replace(TOY, archive=server.publishes(ranged(content), content=content))
    with pytest.raises(
        MohsError, match=r"does not hold toy; name a place that holds config\.json and words\.bin.*please report"
    ):
        install(asset, root)


def test_from_a_folder(toy: Asset, root: Path, local: Path) -> None:
    for asset in (toy, TOY):
        folder = install(asset, root, source=local, force=True)
        assert {path.name for path in folder.iterdir()} == {"config.json", "words.bin", "asset.json"}
        note = require(asset, root)[1]
        assert note.source == str(local)
        assert note.checked == ()


def test_from_a_folder_around_it(root: Path, local: Path) -> None:
    assert (install(TOY, root, source=local.parent) / "words.bin").read_bytes() == WORDS


def test_from_another_folder_of_assets(toy: Asset, root: Path, tmp_path: Path) -> None:
    first = require(toy, install(toy, root).parent)[1]
    install(replace(toy, name="toy-2"), root)
    second = require(toy, install(toy, tmp_path / "copy", source=root).parent)[1]
    assert second.fingerprint == first.fingerprint
    assert second.source == str(root)


def test_from_the_published_archive(server: Server, toy: Asset, root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "downloads" / "pack-1.zip"
    archive.parent.mkdir()
    archive.write_bytes(CONTENT)
    for source in (archive, archive.parent):
        install(toy, root, source=source, force=True)
        assert require(toy, root)[1].checked == ("config.json", "words.bin")
    shutil.move(archive, archive.with_name("renamed.zip"))
    install(toy, root, source=archive.with_name("renamed.zip"), force=True)
    assert require(toy, root)[1].checked == ("config.json", "words.bin")
    assert server.asked == []


def test_an_archive_of_that_name_must_be_that_archive(toy: Asset, root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "pack-1.zip"
    archive.write_bytes(zipped({"config.json": b"{}", "words.bin": b"others"}))
    with pytest.raises(BadInput, match=r"is not the published pack-1\.zip: its sha256 is not"):
        install(toy, root, source=archive)
    assert visible(root) == set()
    archive.rename(tmp_path / "mine.zip")
    assert (install(toy, root, source=tmp_path / "mine.zip") / "words.bin").read_bytes() == b"others"
    assert require(toy, root)[1].checked == ()


def test_files_with_a_known_hash_are_compared(root: Path, local: Path) -> None:
    asset = replace(TOY, sums={"words.bin": sha256_of(local / "words.bin"), "elsewhere": "ab"})
    install(asset, root, source=local)
    assert require(asset, root)[1].checked == ("words.bin",)
    (local / "words.bin").write_bytes(WORDS[:-1])
    before = tree(root)
    with pytest.raises(
        BadInput, match=r"words\.bin in .*mine is not the published file of toy \(sha256 \w+ instead of"
    ):
        install(asset, root, source=local, force=True)
    assert tree(root) == before


def test_from_something_that_does_not_hold_it(root: Path, local: Path, tmp_path: Path) -> None:
    (local / "words.bin").unlink()
    with pytest.raises(
        BadInput, match=r"mine does not hold toy; name a place that holds config\.json and words\.bin\."
    ):
        install(TOY, root, source=local)
    with pytest.raises(BadInput, match="no file or folder"):
        install(TOY, root, source=tmp_path / "nowhere")
    assert visible(root) == set()
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../config.json"))
    with pytest.raises(BadInput, match="not a safe archive"):
        install(TOY, root, source=tmp_path / "a.tar.gz")
    assert visible(root) == set()


def test_from_itself(root: Path, local: Path) -> None:
    place = install(TOY, root, source=local)
    assert (install(TOY, root, source=place, force=True) / "words.bin").read_bytes() == WORDS


def test_how_it_stands(toy: Asset, root: Path, local: Path) -> None:
    assert toy.archive
    assert status(toy, root).state == "not installed"
    assert status(TOY, root).state == "only with --from"
    assert status(replace(TOY, hub="org/toy"), root).state == "fetched by transformers"
    unknown = replace(toy, archive=replace(toy.archive, sha256=None))
    assert status(unknown, root).state == "no checksum known: only with --from"
    with pytest.raises(KeyboardInterrupt):
        install(toy, root, watch=Ear(patience=200_000))
    kept = (root / "pack-1.zip.part").stat().st_size
    assert status(toy, root).state == f"{kept / 1e6:,.1f} MB fetched"
    assert status(toy, root).bytes == len(CONTENT)
    install(toy, root)
    there = status(toy, root)
    assert (there.state, there.installed, there.bytes) == ("installed", True, len(WORDS) + 2)
    assert there.fingerprint == getattr(read_note(toy, root), "fingerprint", None)
    (root / "toy" / "words.bin").unlink()
    assert (status(toy, root).state, status(toy, root).installed) == ("damaged", False)
