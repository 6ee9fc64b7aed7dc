from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.assets import bundle as module
from mohs.assets import limits
from mohs.assets.asset import Asset
from mohs.assets.bundle import choose, opened, unpack
from mohs.errors import BadInput
from tests.assets.conftest import TOY, zipped


def two(*forms: tuple[str, ...], also: tuple[str, ...] = ()) -> Asset:
    return Asset("toy", "vectors", "", "", "", forms, also)


def tarred(path: Path, files: dict[str, bytes], mode: str = "w:gz", *extra: tarfile.TarInfo) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member)
    return path


def contents(path: Path, asset: Asset = TOY) -> dict[str, bytes]:
    with opened(path, asset) as entries:
        return {entry.name: b"".join(entry.blocks()) for entry in entries}


FILES = {"deep/config.json": b"{}", "deep/words.bin": bytes(3_000_000), "README": b"read"}


@pytest.mark.parametrize("name", ["a.zip", "a.whl", "a.tar.gz", "a.tar", "a.tar.xz", "folder"])
def test_archives_and_folders_look_alike(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        for file, content in FILES.items():
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_bytes(content)
    elif ".tar" in name:
        tarred(path, {f"./{file}": content for file, content in FILES.items()}, "w:" + name[6:])
    else:
        path.write_bytes(zipped(FILES))
    assert contents(path) == FILES


def test_directories_in_archives_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"d/": b"", "d/f": b"1"}))
    folder = tarfile.TarInfo("./")
    folder.type = tarfile.DIRTYPE
    assert contents(tmp_path / "a.zip") == contents(tarred(tmp_path / "a.tar.gz", {"d/f": b"1"}, "w:gz", folder))


UNSAFE = ["../up", "/etc/passwd", "a/../../up", "a//b", "a/./b", "..", "C:/x", "C:x", "a\\b", "..\\up", "\\\\host\\x"]


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"fine": b"", name: b"x"}))
    tarred(tmp_path / "a.tar.gz", {"fine": b"", name: b"x"})
    for archive in ("a.zip", "a.tar.gz"):
        with pytest.raises(BadInput, match=r"not a safe archive.*leads out of its folder"):
            contents(tmp_path / archive)


@given(st.lists(st.sampled_from(["a", "..", ".", "", "b.txt", "C:", "x:y", "\\", "~", " "]), max_size=5))
def test_a_name_that_passes_stays_inside(parts: list[str]) -> None:
    name = "/".join(parts)
    try:
        module._refuse_unsafe(Path("a.zip"), name, plain=True)
    except BadInput:
        return
    place = os.path.normpath(os.path.join("/top/of/all", module._plain(name)))
    assert place.startswith("/top/of/all/")


def test_links_are_refused(tmp_path: Path) -> None:
    buffer = zipfile.ZipInfo("link")
    buffer.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(buffer, "/etc/passwd")
    with pytest.raises(BadInput, match="'link' in it is a link or a device"):
        contents(tmp_path / "a.zip")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tars_are_refused(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("link")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(BadInput, match="'link' in it is a link or a device"):
        contents(tarred(tmp_path / "a.tar.gz", {"fine": b""}, "w:gz", member))


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'f' is in it twice"):
        contents(tarred(tmp_path / "a.tar.gz", {"f": b"1", "./f": b"2"}))


def test_broken_archives(tmp_path: Path) -> None:
    good = zipped({"f": bytes(range(256)) * 10})
    (tmp_path / "a.zip").write_bytes(good.replace(bytes(range(256)), bytes(256), 1))
    packed = tarred(tmp_path / "b.tar.gz", {"f": Random(3).randbytes(50_000)})
    packed.write_bytes(packed.read_bytes()[:30_000])
    (tmp_path / "c.zip").write_bytes(good[:50] + good[60:])
    for name in ("a.zip", "b.tar.gz", "c.zip"):
        with pytest.raises(BadInput, match=rf"{name} cannot be read \(.+\)"):
            contents(tmp_path / name)


def test_what_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(
        BadInput, match=r"neither an archive nor a file of toy; name a folder with config\.json and words"
    ):
        contents(tmp_path / "notes.txt")
    with pytest.raises(BadInput, match=r"no file or folder .*nowhere to take toy from"):
        contents(tmp_path / "nowhere")


def test_a_single_file_is_not_unpacked(tmp_path: Path) -> None:
    content = zipped({"inside": b"1"})
    (tmp_path / "table.npz").write_bytes(content)
    assert contents(tmp_path / "table.npz", two(("table.npz",))) == {"table.npz": content}


def test_links_to_files_in_a_folder_are_followed_and_others_not(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "1").write_bytes(b"weights")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "model").symlink_to("../blobs/1")
    (snapshot / "blobs").symlink_to("../blobs")
    (snapshot / "nowhere").symlink_to("../gone")
    os.mkfifo(snapshot / "pipe")
    assert contents(snapshot) == {"model": b"weights"}


def test_a_folder_of_everything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with pytest.raises(BadInput, match="more than 2 files; name the folder that holds the asset itself"):
        contents(tmp_path)


def test_the_uppermost_whole_set_is_chosen() -> None:
    asset = two(("a", "b/c"), ("d",), also=("*.md", "e/*"))
    here = Path("x")
    assert choose(asset, here, ["a", "b/c", "d", "r.md", "s.txt", "e/f", "asset.json"]) == {
        name: name for name in ("a", "b/c", "r.md", "e/f")
    }
    assert choose(asset, here, ["p/q/a", "p/q/b/c", "p/a", "p/r.md"]) == {"p/q/a": "a", "p/q/b/c": "b/c"}
    assert choose(asset, here, ["p/q/a", "p/q/b/c", "p/a", "p/b/c"]) == {"p/a": "a", "p/b/c": "b/c"}
    assert choose(asset, here, ["xa", "x/b/c", "k/d", "k/v.md"]) == {"k/d": "d", "k/v.md": "v.md"}
    assert choose(asset, here, ["a", "c"]) is None


def test_the_note_of_another_folder_is_not_taken_along() -> None:
    assert choose(two(("a",), also=("*",)), Path("x"), ["a", "b", "asset.json"]) == {"a": "a", "b": "b"}


def test_two_sets_side_by_side_need_a_word() -> None:
    asset = two(("a",))
    with pytest.raises(BadInput, match=r"x could hold toy in m-mlm/ or in m/; name one of them"):
        choose(asset, Path("x"), ["m/a", "m-mlm/a"])
    assert choose(asset, Path("x"), ["m/a", "toy/a", "nottoy/a"]) == {"toy/a": "a"}


@given(st.lists(st.sampled_from(["a", "b", "p/a", "p/b", "q/a", "q/b", "p/q/a", "p/q/b", "pa", "b/a"]), unique=True))
def test_a_choice_is_a_whole_set_of_the_uppermost_folder(names: list[str]) -> None:
    whole = [top for top in ("", "p/", "q/", "b/", "p/q/") if {f"{top}a", f"{top}b"} <= set(names)]
    highest = [top for top in whole if top.count("/") == min(t.count("/") for t in whole)]
    if len(highest) > 1:
        with pytest.raises(BadInput):
            choose(two(("a", "b")), Path("x"), names)
        return
    expected = {f"{highest[0]}{file}": file for file in "ab"} if highest else None
    assert choose(two(("a", "b")), Path("x"), names) == expected


def test_unpacking_writes_only_what_was_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"m/a": b"1", "m/b/c": b"22", "other": b"333"}))
    into = tmp_path / "into"
    with opened(tmp_path / "a.zip", TOY) as entries:
        written = unpack(entries, {"m/a": "a", "m/b/c": "b/c"}, into)
    assert {path.relative_to(into).as_posix() for path in into.rglob("*") if path.is_file()} == {"a", "b/c"}
    assert {name: file.size for name, file in written.items()} == {"a": 1, "b/c": 2}
    assert written["a"].sha256 == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz"])
def test_an_archive_may_not_unpack_to_far_more_than_its_size(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ALWAYS", 1 << 20)
    path, files = tmp_path / f"a.{kind}", {"a.txt": bytes(40_000_000), "b.txt": b"1"}
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        tarred(path, files, f"w:{kind[4:]}")
    (tmp_path / "into").mkdir()
    with (
        pytest.raises(BadInput, match=r"unpacks to more than \d+ MB, .*; if that is right, unpack it yourself"),
        opened(path, two(("a.txt", "b.txt"))) as entries,
    ):
        unpack(entries, {"a.txt": "a.txt", "b.txt": "b.txt"}, tmp_path / "into")
    assert sum(file.stat().st_size for file in (tmp_path / "into").iterdir()) < 10_000_000


def test_an_honest_archive_is_within_the_limit(tmp_path: Path) -> None:
    assert contents(tarred(tmp_path / "a.tar.gz", {"a": b"word " * 100_000})) == {"a": b"word " * 100_000}
