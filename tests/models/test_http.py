"""`http:URL`, against a real server on this machine."""

from __future__ import annotations

import gc
import gzip
import json
import socket
import subprocess
import sys
import threading
import tracemalloc
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed, VictimError
from mohs.models import http
from mohs.models.http import HttpVictim
from mohs.models.victim import Fields, Scores, traits_of

GUARD = 30  # seconds after which a hung test fails; nothing waits this long when all is well

Reply = tuple[int, dict[str, str], bytes]


def reply(status: int, body: Any = None, **headers: str) -> Reply:
    return status, headers, body if isinstance(body, bytes) else json.dumps(body).encode()


def by_length(texts: list[Any]) -> Reply:
    sizes = [len("".join(text)) for text in texts]
    return reply(200, {"probabilities": [[1 / (1 + size), size / (1 + size)] for size in sizes]})


class Server:
    """Answers with `answer`; None closes the connection without a word."""

    def __init__(self) -> None:
        self.answer: Callable[[list[Any]], Reply | None] = by_length
        self.seen: list[list[Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()
        box = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
                box.seen.append(texts)
                box.headers.append(dict(self.headers))
                answer = box.answer(texts)
                self.close_connection = True
                if answer is None:
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/classify"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def hang(self, texts: list[Any]) -> None:
        """Say nothing until the test is over."""
        self.released.wait(GUARD)

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Clock:
    """Stands in for the module `time`; sleeping takes no time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    found = Server()
    yield found
    found.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(http, "time", found)
    monkeypatch.setattr("mohs.models.http.random.random", lambda: 0.5)  # the middle of the spread: a factor of one
    return found


@pytest.fixture
def make(server: Server) -> Iterator[Callable[..., HttpVictim]]:
    made: list[HttpVictim] = []

    def build(**options: Any) -> HttpVictim:
        made.append(HttpVictim(server.url, **{"backoff": 0.0, "timeout": GUARD, **options}))
        return made[-1]

    yield build
    for victim in made:
        victim.close()


Make = Callable[..., HttpVictim]


def ask(victim: HttpVictim, *items: Fields) -> list[Scores]:
    return victim.collect(victim.launch(list(items)))


def in_turn(*answers: Reply | None) -> Callable[[list[Any]], Reply | None]:
    """First these answers, then good ones."""
    left = list(answers)
    return lambda texts: left.pop(0) if left else by_length(texts)


def test_answers(server: Server, make: Make) -> None:
    victim = make()
    assert ask(victim, ("a",), ("abc",)) == [(0.5, 0.5), (0.25, 0.75)]
    assert server.seen == [["a", "abc"]]
    assert victim.name == server.url
    assert victim.visible(("a" * 9999,)) is None
    assert not victim.hard


def test_pairs(server: Server, make: Make) -> None:
    assert ask(make(), ("ab", "c")) == [(0.25, 0.75)]
    assert server.seen == [[["ab", "c"]]]


def test_any_characters(server: Server, make: Make) -> None:
    text = 'naïve 👍 "quoted"\n\u2028\x00'
    ask(make(), (text,))
    assert server.seen == [[text]]


def test_logits_and_labels(server: Server, make: Make) -> None:
    server.answer = lambda texts: reply(200, {"logits": [[0, 0]], "labels": [1]})
    assert ask(make(output="logits"), ("a",)) == [(0.5, 0.5)]
    hard = make(output="labels", labels=["no", "yes"])
    assert hard.hard
    assert ask(hard, ("a",)) == [(0, 1)]
    with pytest.raises(BadInput, match="gives labels only; name its classes"):
        make(output="labels")


def test_header(server: Server, make: Make) -> None:
    ask(make(header="Authorization: Bearer a:b"), ("a",))
    assert server.headers[0]["Authorization"] == "Bearer a:b"


@pytest.mark.parametrize("header", ["Authorization", ": x", "Näme: x", "X: a\r\nY: b"])
def test_bad_header(make: Make, header: str) -> None:
    with pytest.raises(BadInput, match="is not a header") as caught:
        make(header=header)
    assert "a\r\nY" not in str(caught.value)


def test_batches(server: Server, make: Make) -> None:
    victim = make(batch=3)
    items: list[Fields] = [("x" * size,) for size in range(1, 9)]
    batches = victim.plan(items)
    assert [len(batch) for batch in batches] == [3, 3, 2]
    for batch in batches:
        victim.collect(victim.launch(batch))
    assert [len(texts) for texts in server.seen] == [3, 3, 2]


def test_requests_at_once(server: Server, make: Make) -> None:
    meeting = threading.Barrier(3, timeout=GUARD)

    def meet(texts: list[Any]) -> Reply:
        meeting.wait()  # nobody is answered until three have asked
        return by_length(texts)

    server.answer = meet
    victim = make(concurrency=3, batch=1)
    assert victim.in_flight == 3
    tickets = [victim.launch([(text,)]) for text in ("a", "bb", "ccc")]
    assert [victim.collect(ticket)[0][0] for ticket in tickets] == [1 / 2, 1 / 3, 1 / 4]


def test_no_more_than_asked_for(server: Server, make: Make) -> None:
    meeting, leave = threading.Barrier(3, timeout=GUARD), threading.Event()

    def meet(texts: list[Any]) -> Reply:
        if len(server.seen) <= 2:
            meeting.wait()  # two requests and the test
        leave.wait(GUARD)
        return by_length(texts)

    server.answer = meet
    victim = make(concurrency=2)
    tickets = [victim.launch([("a" * size,)]) for size in range(1, 6)]
    meeting.wait()
    assert not victim._room.acquire(blocking=False)  # the third finds the door shut
    assert len(server.seen) == 2
    leave.set()
    assert [victim.collect(ticket)[0][0] for ticket in tickets] == [1 / (1 + size) for size in range(1, 6)]
    assert len(server.seen) == 5


@pytest.mark.parametrize("trouble", [reply(503), reply(429), reply(500), reply(408), None])
def test_retries(server: Server, make: Make, trouble: Reply | None) -> None:
    server.answer = in_turn(trouble, trouble)
    victim = make(retries=2)
    assert ask(victim, ("a",)) == [(0.5, 0.5)]
    assert len(server.seen) == 3
    assert victim.retried == 2


def test_retries_run_out(server: Server, make: Make) -> None:
    server.answer = lambda texts: reply(503)
    with pytest.raises(ServiceFailed) as caught:
        ask(make(retries=2), ("a",))
    assert str(caught.value) == f"{server.url} did not answer after 3 tries (last: status 503)."
    assert len(server.seen) == 3


def test_backoff(server: Server, make: Make, clock: Clock) -> None:
    server.answer = lambda texts: reply(503)
    with pytest.raises(ServiceFailed):
        ask(make(retries=4, backoff=0.5), ("a",))
    assert clock.slept == [0.5, 1.0, 2.0, 4.0]


def test_retry_after(server: Server, make: Make, clock: Clock) -> None:
    server.answer = in_turn(
        reply(429, Retry_After="7"), reply(429, Retry_After="soon"), reply(503, Retry_After="99999"), reply(503)
    )
    ask(make(retries=4, backoff=0.5), ("a",))
    assert clock.slept == [7.0, 1.0, 300.0, 4.0]


def test_rate(server: Server, make: Make, clock: Clock) -> None:
    times: list[float] = []

    def note(texts: list[Any]) -> Reply:
        times.append(clock.now)
        return by_length(texts)

    server.answer = note
    victim = make(rate=4, concurrency=1)
    for text in ("a", "b", "c"):
        ask(victim, (text,))
    clock.now += 10  # time not used is not saved up
    for text in ("d", "e"):
        ask(victim, (text,))
    assert times == [100.0, 100.25, 100.5, 110.5, 110.75]


def test_rate_holds_for_retries(server: Server, make: Make, clock: Clock) -> None:
    server.answer = in_turn(reply(503), reply(503))
    ask(make(rate=0.5), ("a",))
    assert clock.now == 104.0


def test_timeout(server: Server, make: Make) -> None:
    def hang(texts: list[Any]) -> None:
        server.hang(texts)

    server.answer = hang
    with pytest.raises(ServiceFailed, match=r"did not answer after 2 tries \(last: ReadTimeout"):
        ask(make(timeout=0.05, retries=1), ("a",))


def test_timeout_is_retried(server: Server, make: Make) -> None:
    calls: list[int] = []

    def slow_once(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        if len(calls) == 1:
            raise httpx.ReadTimeout("too slow")
        return httpx.Response(200, json={"probabilities": [[0.5, 0.5]]})

    assert ask(make(transport=httpx.MockTransport(slow_once)), ("a",)) == [(0.5, 0.5)]
    assert len(calls) == 2


def test_dead_endpoint() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port, nobody answers
        victim = HttpVictim(f"http://127.0.0.1:{reserved.getsockname()[1]}", retries=1, backoff=0)
        with pytest.raises(ServiceFailed, match=r"did not answer after 2 tries \(last: ConnectError") as caught:
            ask(victim, ("a",))
        victim.close()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", [b"[1]", b"{}", b'"x"', b'{"logits": [[1, 2]]}'], ids=lambda body: repr(body))
def test_bad_json(server: Server, make: Make, body: bytes) -> None:
    server.answer = lambda texts: reply(200, body)
    with pytest.raises(ServiceFailed, match=r'JSON as {"probabilities": \[\[...\], ...\]} is expected') as caught:
        ask(make(), ("a",))
    assert str(caught.value).startswith(server.url)
    assert len(server.seen) == 1


NO_JSON = [b"<html>502 Bad Gateway", b"", b"\xff", b'{"probabilities": [[0.5,', b"[" * 100_000]


@pytest.mark.parametrize("body", NO_JSON, ids=lambda body: repr(body[:20]))
def test_what_is_not_json_is_tried_again(server: Server, make: Make, body: bytes) -> None:
    server.answer = in_turn(reply(200, body), reply(200, body))
    assert ask(make(retries=2), ("a",)) == [(0.5, 0.5)]
    server.answer = lambda texts: reply(200, body)
    with pytest.raises(VictimError) as caught:
        ask(make(retries=1), ("a",))
    said = body.decode("utf-8", "replace")[:80]
    assert str(caught.value) == (
        f"{server.url} did not answer after 2 tries (last: status 200 with {said!r}; "
        'JSON as {"probabilities": [[...], ...]} is expected).'
    )


def test_a_server_that_never_ends_its_answer() -> None:
    """Each read takes no time, so no timeout of a single read is met, neither in the headers nor in the body."""
    for began in (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"):
        over = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def drip(listening: socket.socket = listening, began: bytes = began, over: Any = over) -> None:
                line, _ = listening.accept()
                with line, suppress(OSError):
                    line.recv(1 << 16)
                    line.sendall(began)
                    while not over.wait(0.005):
                        line.sendall(b"X")

            thread = threading.Thread(target=drip)
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            victim = HttpVictim(url, retries=0, timeout=GUARD, deadline=0.1)
            with pytest.raises(ServiceFailed, match=r"\(last: ReadTimeout no whole answer in 0.1 s\)"):
                ask(victim, ("a",))
            over.set()
            thread.join()
            victim.close()


def test_the_deadline_is_four_timeouts_unless_given() -> None:
    assert HttpVictim("http://h", timeout=200)._limits["deadline"] == 800
    assert HttpVictim("http://h", deadline=7)._limits["deadline"] == 7


@pytest.mark.parametrize("packed", [True, False])
def test_a_body_has_a_limit(server: Server, make: Make, packed: bool) -> None:
    """Also what it unpacks to: 200 kB here are 200 MB."""
    body = gzip.compress(b" " * 200_000_000, 1) if packed else b" " * 2_000_000
    server.answer = lambda texts: reply(200, body, **({"Content_Encoding": "gzip"} if packed else {}))
    tracemalloc.start()
    with pytest.raises(ServiceFailed) as caught:
        ask(make(max_body=1), ("a",))
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(caught.value) == (
        f"{server.url} answered 1 texts with more than 1 MB; if that is right, allow more with "
        "--victim-option max_body=MB or send fewer with batch=N."
    )
    assert used < 20_000_000
    assert len(server.seen) == 1


def test_packed_answers(server: Server, make: Make) -> None:
    body = json.dumps({"probabilities": [[0.5, 0.5]], "more": "x" * 300_000}).encode()
    for name, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body)), ("identity", body)):
        server.answer = lambda texts, name=name, packed=packed: reply(200, packed, Content_Encoding=name)  # type: ignore[misc]
        assert ask(make(retries=0), ("a",)) == [(0.5, 0.5)]
    for name, problem in (("br", "packed as 'br', which was not asked for"), ("gzip", "cannot be unpacked")):
        server.answer = lambda texts, name=name: reply(200, body, Content_Encoding=name)  # type: ignore[misc]
        with pytest.raises(ServiceFailed, match=problem):
            ask(make(retries=0), ("a",))


def test_credentials_in_the_address_are_sent_and_never_shown(server: Server) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(404, text="no")

    url = "http://ann:pa$$@host:80/x?api_key=S3CRET&model=small"
    victim = HttpVictim(url, transport=httpx.MockTransport(answer))
    with pytest.raises(VictimError) as caught:
        ask(victim, ("a",))
    assert victim.name == "http://***@host:80/x?api_key=***&model=small"
    assert str(caught.value).startswith(f"{victim.name} refused with status 404")
    assert asked[0].url.params["api_key"] == "S3CRET"
    assert asked[0].headers["Authorization"].startswith("Basic ")
    assert victim.fingerprint == HttpVictim(url.replace("S3CRET", "OTHER")).fingerprint
    assert victim.fingerprint != HttpVictim(url.replace("small", "large")).fingerprint
    with pytest.raises(BadInput, match=r"has its credentials left out; give the whole address with --victim\."):
        HttpVictim(victim.name)


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ([[0.2, 0.3, 0.5]], "gave 3 scores in row 0; 2 are expected"),
        ([[0.5, 0.5]] * 2, "gave 2 rows for 1 texts"),
        ([[0.9, 0.9]], "in row 0"),
        ([[float("nan"), 1]], "in row 0, which is not finite"),
        ("oops", "not a table of numbers"),
        (None, "0 dimensions"),
    ],
)
def test_broken_answers(server: Server, make: Make, table: Any, word: str) -> None:
    server.answer = lambda texts: reply(200, {"probabilities": table})
    with pytest.raises(VictimError) as caught:
        ask(make(labels=["a", "b"]), ("a",))
    assert str(caught.value).startswith(server.url)
    assert word in str(caught.value)


def test_width_may_not_change(server: Server, make: Make) -> None:
    victim = make()
    ask(victim, ("a",))
    server.answer = lambda texts: reply(200, {"probabilities": [[0.2, 0.3, 0.5]]})
    with pytest.raises(VictimError, match="2 are expected"):
        ask(victim, ("b",))


def picky(texts: list[Any]) -> Reply:
    return reply(400, "too rude") if "rude" in texts else by_length(texts)


def test_a_refusal_is_final(server: Server, make: Make) -> None:
    server.answer = picky
    with pytest.raises(VictimError, match=r"refused with status 400: .*too rude"):
        ask(make(), ("rude",))
    assert len(server.seen) == 1


def test_a_refusal_costs_only_its_text(server: Server, make: Make) -> None:
    server.answer = picky
    service: Service[Fields, Scores] = Service(make())
    good, bad = service.ask([("a",), ("abc",)]), service.ask([("rude",)])
    list(service.launch())
    list(service.collect())
    assert good.answers == [(0.5, 0.5), (0.25, 0.75)]
    assert good.failure is None
    assert "status 400" in str(bad.failure)


def test_a_text_the_server_trips_over_costs_only_itself(server: Server, make: Make) -> None:
    """A status of 500 may be the text's fault: after the tries the batch is asked row by row."""
    server.answer = lambda texts: reply(500) if "rude" in texts else by_length(texts)
    service: Service[Fields, Scores] = Service(make(retries=1))
    service.prove([("It works.",)])
    good, bad = service.ask([("a",), ("abc",)]), service.ask([("rude",)])
    list(service.launch())
    list(service.collect())
    assert good.answers == [(0.5, 0.5), (0.25, 0.75)]
    assert "did not answer after 2 tries (last: status 500)" in str(bad.failure)


def test_refusing_everything_ends_the_run(server: Server, make: Make) -> None:
    service: Service[Fields, Scores] = Service(make())
    service.prove([("It works.",)])
    server.answer = lambda texts: reply(403, "no more")
    service.ask([("a",), ("b",)])
    list(service.launch())
    with pytest.raises(ServiceFailed, match=r"stopped answering: .*status 403"):
        list(service.collect())


@pytest.mark.parametrize("url", ["http:foo", "http://", "https:///path", "http://host:port/", "ftp://host"])
def test_bad_address(url: str) -> None:
    with pytest.raises(BadInput, match="is not a web address"):
        HttpVictim(url)


@pytest.mark.parametrize(
    "option", [{"batch": 0}, {"concurrency": 0}, {"timeout": 0.0}, {"retries": -1}, {"backoff": -1.0}, {"rate": -2.0}]
)
def test_bad_settings(option: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"{next(iter(option))}=.* must be at least"):
        HttpVictim("http://127.0.0.1:1", **option)


def test_closing(server: Server, make: Make) -> None:
    victim = make()
    ask(victim, ("a",))
    victim.close()
    victim.close()
    with pytest.raises(RuntimeError, match="closed"):
        ask(victim, ("a",))


def test_closes_by_itself(server: Server) -> None:
    victim = HttpVictim(server.url)
    ask(victim, ("a",))
    client, gone = victim._client, weakref.ref(victim)
    del victim
    for thread in threading.enumerate():
        if thread.name == "mohs-http":
            thread.join(GUARD)
    gc.collect()
    assert gone() is None
    assert client.is_closed


SCRIPT = """
import sys
from mohs.models.http import HttpVictim
victim = HttpVictim(sys.argv[1], timeout=3600)
victim.launch([("a",)])
sys.stdin.readline()
"""


def test_a_waiting_request_does_not_keep_the_process(server: Server) -> None:
    arrived = threading.Event()

    def hang(texts: list[Any]) -> None:
        arrived.set()
        server.hang(texts)

    server.answer = hang
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, server.url], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert arrived.wait(GUARD)
            _, errors = process.communicate(b"\n", timeout=GUARD)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, b"")


def test_fingerprint(make: Make) -> None:
    assert make().fingerprint == make(batch=5).fingerprint
    assert make().fingerprint != make(output="logits").fingerprint


def test_an_endpoint_may_reject_texts() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        rows = [[0.0, 0.0, 1.0] for _ in json.loads(request.content)["texts"]]
        return httpx.Response(200, json={"probabilities": rows})

    victim = HttpVictim("http://h", labels=("no", "yes"), rejects=True, transport=httpx.MockTransport(answer))
    assert traits_of(victim).rejects
    assert Service(victim).prove([("a text",)]) == [(0.0, 0.0, 1.0)]
