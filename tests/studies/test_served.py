"""A real server over real HTTP, killed while people judge."""

from __future__ import annotations

import asyncio
import signal
import socket

import pytest

from mohs.studies.study import Study
from tests.studies.annotating import Crowd, Person, Server, address, faults
from tests.studies.toys import Make, design, items

pytest.importorskip("fastapi", reason="the pages need mohs[studies]")
pytest.importorskip("uvicorn", reason="the pages need mohs[studies]")


def judged(study: Study, people: int, kills: tuple[int, ...]) -> tuple[Crowd, list[Person]]:
    with Server(address(study)) as server:
        crowd = Crowd(server, kills)
        found = asyncio.run(crowd.judge(study.invite(n=people)))
        assert server.end(signal.SIGTERM) == 0
        assert server.said() == ""
    return crowd, found


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(make: Make) -> None:
    """Afterwards the database holds exactly what was acknowledged, and each item as many judgements as designed."""
    study = make(design(judges=3, batch=4, minutes=30), items(40))
    crowd, people = judged(study, 8, kills=(25, 80))
    assert faults(study, crowd, people) == []
    assert crowd.killed == 2
    assert crowd.acknowledged == 120 == study.progress().judgements
    assert len(crowd.seconds["answer"]) > 120, "some answers were sent twice"


def test_one_address_is_not_stopped_for_being_many(make: Make) -> None:
    """Many people behind one address, each as quick as they can."""
    study = make(design(judges=5, batch=5, minutes=30), items(40))
    crowd, people = judged(study, 60, kills=())
    assert faults(study, crowd, people) == []
    assert crowd.limited == 0


def test_pages_are_not_held_back_by_the_network() -> None:
    """Connections send at once; otherwise each page waits some 40 ms for the acknowledgement of its head."""
    from mohs.studies.web.serving import _listening

    async def connected() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with _listening("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(look, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                found = await seen
                writer.close()
                await writer.wait_closed()
        return found

    assert asyncio.run(connected())
