from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mohs.assets import fetch as module
from mohs.assets.asset import Archive
from mohs.assets.fetch import TRIES, Watch, fetch
from mohs.errors import MohsError
from tests.assets.conftest import CONTENT, Ear, Server, in_turn, moved, ranged, status, unmeasured, whole


def at_once(seconds: float) -> None:
    """Instead of sleeping."""


def get(archive: Archive, part: Path, watch: Watch | None = None, pauses: list[float] | None = None) -> bytes:
    fetch(archive, part, watch=watch or Watch(), pause=at_once if pauses is None else pauses.append)
    return part.read_bytes()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "pack-1.zip.part"


@pytest.mark.parametrize("size", [len(CONTENT), None])
@pytest.mark.parametrize("way", [ranged, whole, unmeasured])
def test_a_file_is_fetched(server: Server, part: Path, way: object, size: int | None) -> None:
    ear = Ear()
    archive = server.publishes(way(CONTENT), size=size)  # type: ignore[operator]
    assert fetch(archive, part, watch=ear, pause=at_once) == archive.urls[0]
    assert part.read_bytes() == CONTENT
    assert server.ranges == [None]
    assert ear.steps[-1] == (len(CONTENT), None if way is unmeasured and size is None else len(CONTENT))
    assert [done for done, _ in ear.steps] == sorted({done for done, _ in ear.steps})


def test_only_what_is_missing_is_asked_for_after_an_interruption(server: Server, part: Path) -> None:
    archive = server.publishes(ranged(CONTENT))
    with pytest.raises(KeyboardInterrupt):
        get(archive, part, Ear(patience=100_000))
    kept = part.stat().st_size
    assert 100_000 <= kept < len(CONTENT)
    ear = Ear()
    assert get(archive, part, ear) == CONTENT
    assert server.ranges == [None, f"bytes={kept}-"]
    assert ear.steps[0][0] > kept
    assert ear.heard == []


def test_a_server_that_ignores_ranges_is_heard_from_the_beginning(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:1000])
    ear = Ear()
    assert get(server.publishes(whole(CONTENT)), part, ear) == CONTENT
    assert server.ranges == ["bytes=1000-"]
    assert "starting over" in ear.heard[0]


def test_a_connection_that_breaks_is_taken_up_again(server: Server, part: Path) -> None:
    broken = ranged(CONTENT, stop=50_000)
    pauses: list[float] = []
    assert get(server.publishes(in_turn(broken, broken, broken, ranged(CONTENT))), part, pauses=pauses) == CONTENT
    assert server.ranges == [None, "bytes=50000-", "bytes=100000-", "bytes=150000-"]
    assert pauses == [1.0, 2.0, 4.0]


def test_progress_renews_patience(server: Server, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS", 20_000)
    pauses: list[float] = []
    assert get(server.publishes(ranged(CONTENT, stop=20_000)), part, pauses=pauses) == CONTENT
    assert len(pauses) == len(CONTENT) // 20_000
    assert set(pauses) == {1.0}


def test_a_connection_that_always_breaks_says_what_is_kept(server: Server, part: Path) -> None:
    with pytest.raises(MohsError, match=r"could not be fetched.*0\.2 MB are kept, and the same command resumes"):
        get(server.publishes(ranged(CONTENT, stop=50_000)), part)
    assert part.read_bytes() == CONTENT[:200_000]
    assert len(server.asked) == TRIES


def test_a_busy_server_is_asked_again(server: Server, part: Path) -> None:
    pauses: list[float] = []
    assert get(server.publishes(in_turn(status(503), status(429), ranged(CONTENT))), part, pauses=pauses) == CONTENT
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("number", [404, 403, 410])
def test_a_file_that_is_gone_is_not_asked_for_again(server: Server, part: Path, number: int) -> None:
    with pytest.raises(MohsError, match=rf"pack-1\.zip could not be fetched: http\S+ answered {number}\.$"):
        get(server.publishes(status(number)), part)
    assert len(server.asked) == 1
    assert not part.exists()


def test_the_next_address_goes_on_with_the_part(server: Server, part: Path) -> None:
    archive = server.publishes(in_turn(ranged(CONTENT, stop=30_000), status(404)), ranged(CONTENT))
    assert fetch(archive, part, watch=Watch(), pause=at_once) == archive.urls[1]
    assert server.asked == [("/0", None), ("/0", "bytes=30000-"), ("/1", "bytes=30000-")]


def test_a_redirection_is_followed_with_the_range(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:7])
    server.ways["/elsewhere"] = ranged(CONTENT)
    assert get(server.publishes(moved("/elsewhere")), part) == CONTENT
    assert server.asked[-1] == ("/elsewhere", "bytes=7-")


def test_redirections_in_a_circle_end(server: Server, part: Path) -> None:
    with pytest.raises(MohsError, match="could not be fetched"):
        get(server.publishes(moved("/0")), part)


def test_no_network(part: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pauses: list[float] = []
    with pytest.raises(MohsError, match=r"^pack-1\.zip could not be fetched: \S+ could not be read \(.*\)\.$"):
        get(Archive("pack-1.zip", (f"http://127.0.0.1:{port}/",), 5, "ab"), part, pauses=pauses)
    assert pauses == [1.0, 2.0, 4.0]


def test_wrong_content_is_deleted_and_said(server: Server, part: Path) -> None:
    other = bytes(len(CONTENT))
    with pytest.raises(MohsError, match=r"is not the expected pack-1\.zip .*was deleted"):
        get(server.publishes(ranged(other)), part)
    assert not part.exists()


def test_another_length_is_seen_before_anything_is_fetched(server: Server, part: Path) -> None:
    with pytest.raises(MohsError, match=rf"offers 3 bytes instead of {len(CONTENT):,}"):
        get(server.publishes(whole(b"404")), part)
    assert not part.exists()


def test_a_flood_is_cut_off(server: Server, part: Path) -> None:
    ear = Ear()
    with pytest.raises(MohsError, match="sends more than the expected"):
        get(server.publishes(unmeasured(CONTENT + bytes(10))), part, ear)
    assert not part.exists()
    assert max(done for done, _ in ear.steps) <= len(CONTENT)


def test_an_end_that_comes_too_early_without_a_word(server: Server, part: Path) -> None:
    assert get(server.publishes(in_turn(unmeasured(CONTENT[:1000]), ranged(CONTENT))), part) == CONTENT
    assert server.ranges == [None, "bytes=1000-"]


def test_a_part_that_is_too_long_is_deleted_and_said(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT + b"!")
    ear = Ear()
    assert get(server.publishes(ranged(CONTENT)), part, ear) == CONTENT
    assert server.ranges == [None]
    assert "longer than the file should be" in ear.heard[0]
    part.write_bytes(CONTENT + b"!")
    server.asked.clear()
    with pytest.raises(MohsError, match="is not the expected"):
        get(server.publishes(whole(bytes(len(CONTENT)))), part)
    assert server.ranges == [None]


def test_a_whole_part_needs_no_network(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT)
    assert get(server.publishes(ranged(CONTENT)), part) == CONTENT
    assert server.asked == []


def test_a_whole_part_of_unknown_length_is_asked_about_once(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT)
    assert get(server.publishes(status(416), size=None), part) == CONTENT
    assert server.ranges == [f"bytes={len(CONTENT)}-"]


def test_settings_that_make_no_sense(server: Server, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "carrier-pigeon://coop")
    with pytest.raises(MohsError, match="network settings of the environment cannot be used"):
        get(server.publishes(ranged(CONTENT)), part)


@pytest.mark.parametrize("told", ["bytes */400000000", "", "nonsense"])
def test_a_server_that_knows_no_such_range(server: Server, part: Path, told: str) -> None:
    part.write_bytes(b"?" * 9)
    archive = server.publishes(in_turn(lambda r: r.reply(416, Content_Range=told), ranged(CONTENT)), size=None)
    assert get(archive, part) == CONTENT
    assert server.ranges == ["bytes=9-", None]


def test_a_server_that_goes_on_from_elsewhere(server: Server, part: Path) -> None:
    part.write_bytes(CONTENT[:9])
    wrong = f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}"
    way = in_turn(lambda r: r.reply(206, CONTENT[5:], Content_Range=wrong), ranged(CONTENT))
    ear = Ear()
    assert get(server.publishes(way), part, ear) == CONTENT
    assert server.ranges == ["bytes=9-", None]
    assert ear.heard == []


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kept=st.integers(0, 60), rotten=st.booleans(), known=st.booleans(), way=st.sampled_from([ranged, whole, unmeasured])
)
def test_whatever_part_is_there_the_right_file_comes_of_it(
    server: Server, kept: int, rotten: bool, known: bool, way: object
) -> None:
    content = CONTENT[:50]
    server.asked.clear()
    archive = server.publishes(way(content), content=content, size=50 if known else None)  # type: ignore[operator]
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, "part")
        part.write_bytes((bytes(60) if rotten else content + bytes(10))[:kept])
        assert get(archive, part) == content
    assert len(server.asked) <= 2
