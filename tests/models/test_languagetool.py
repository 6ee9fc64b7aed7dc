"""`languagetool:URL`, against a server on this machine that speaks its protocol."""

from __future__ import annotations

import gc
import json
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from mohs.engine import Service, run
from mohs.errors import BadInput, MohsError, ServiceFailed
from mohs.models.grammar import load_grammar
from mohs.models.languagetool import LOCAL_SERVER, LanguageToolChecker, Problems

GUARD = 30  # seconds after which a hung test fails; nothing waits this long when all is well

Form = dict[str, str]
Reply = tuple[int, dict[str, str], bytes]


def reply(status: int, body: Any = None, **headers: str) -> Reply:
    return status, headers, body if isinstance(body, bytes) else json.dumps(body).encode()


def checked(form: Form, version: str = "6.4") -> Reply:
    """A match for every X in the text and one for every Y, which the server is told to leave out or not."""
    rules = {"X": ("X_RULE", "GRAMMAR"), "Y": ("Y_RULE", "STYLE")}
    left_out = form.get("disabledCategories", "").split(",")
    matches = [
        {"message": "No.", "offset": offset, "length": 1, "rule": {"id": rules[sign][0], "category": {"id": category}}}
        for offset, sign in reversed(list(enumerate(form["text"])))
        if sign in rules and (category := rules[sign][1]) not in left_out
    ]
    return reply(200, {"software": {"name": "LanguageTool", "version": version}, "matches": matches})


class Server:
    """Answers with `answer`; None closes the connection without a word."""

    def __init__(self) -> None:
        self.answer: Callable[[Form], Reply | None] = checked
        self.seen: list[Form] = []
        self.paths: list[str] = []
        self.released = threading.Event()
        box = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode("ascii")
                form = {name: value for name, (value,) in parse_qs(body, keep_blank_values=True).items()}
                box.seen.append(form)
                box.paths.append(self.path)
                answer = box.answer(form)
                self.close_connection = True
                if answer is None:
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content)), "Connection": "close"}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


@pytest.fixture
def make(server: Server) -> Iterator[Callable[..., LanguageToolChecker]]:
    made: list[LanguageToolChecker] = []

    def build(**options: Any) -> LanguageToolChecker:
        made.append(LanguageToolChecker(server.url, **{"backoff": 0.0, "timeout": GUARD, **options}))
        server.seen.clear()  # the first question only shows that it works
        return made[-1]

    yield build
    for checker in made:
        checker.close()


Make = Callable[..., LanguageToolChecker]


def ask(checker: LanguageToolChecker, *texts: str) -> list[Problems]:
    return checker.collect(checker.launch(list(texts)))


def in_turn(*answers: Reply | None) -> Callable[[Form], Reply | None]:
    """First these answers, then good ones."""
    left = list(answers)
    return lambda form: left.pop(0) if left else checked(form)


def test_counts_every_match(server: Server, make: Make) -> None:
    checker = make()
    assert ask(checker, "a X b Y c Y", "none") == [("X_RULE", "Y_RULE", "Y_RULE"), ()]
    assert sorted(form["text"] for form in server.seen) == ["a X b Y c Y", "none"]
    assert server.seen[0] == {"text": server.seen[0]["text"], "language": "en-US", "level": "default"}
    assert set(server.paths) == {"/v2/check"}
    assert checker.name == f"LanguageTool at {server.url}"


def test_settings_are_sent(server: Server, make: Make) -> None:
    checker = make(level="picky", language="en-GB", categories_left_out=["STYLE", "CASING"])
    assert ask(checker, "X Y") == [("X_RULE",)]
    sent = {"text": "X Y", "language": "en-GB", "level": "picky", "disabledCategories": "CASING,STYLE"}
    assert server.seen == [sent]


def test_nothing_to_check_is_not_sent(server: Server, make: Make) -> None:
    assert ask(make(), "", " \n") == [(), ()]
    assert server.seen == []


def test_any_characters(server: Server, make: Make) -> None:
    ask(make(), 'naïve 👍 "a&b=c" 100% +1\n\u2028\x00 half: \ud83d')
    assert [form["text"] for form in server.seen] == ['naïve 👍 "a&b=c" 100% +1\n\u2028\x00 half: \ufffd']


@pytest.mark.parametrize("trouble", [reply(500), reply(503), reply(429), None], ids=["500", "503", "429", "closed"])
def test_retries(server: Server, make: Make, trouble: Reply | None) -> None:
    checker = make(retries=2)
    server.answer = in_turn(trouble, trouble)
    assert ask(checker, "X") == [("X_RULE",)]
    assert len(server.seen) == 3


def test_pauses(server: Server, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("mohs.models.languagetool.time.sleep", lambda seconds: slept.append(round(seconds, 6)))
    monkeypatch.setattr("mohs.models.languagetool.random.random", lambda: 0.5)  # the middle: a factor of one
    checker = make(retries=4, backoff=0.5)
    server.answer = in_turn(reply(503), reply(429, Retry_After="7"), reply(429, Retry_After="99999"), reply(500))
    assert ask(checker, "X") == [("X_RULE",)]
    assert slept == [0.5, 7.0, 300.0, 4.0]


def test_retries_run_out(server: Server, make: Make) -> None:
    checker = make(retries=1)
    server.answer = lambda form: reply(503)
    with pytest.raises(ServiceFailed) as caught:
        ask(checker, "X")
    assert str(caught.value) == (
        f"LanguageTool at {server.url} did not answer after 2 tries (last: status 503); start a server with "
        f"`java -cp languagetool-server.jar org.languagetool.server.HTTPServer --port {server.url[17:]}`, "
        "or name another one as languagetool:URL."
    )
    assert len(server.seen) == 2


def test_timeout(make: Make) -> None:
    limits: list[float] = []

    def slow(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"]["read"])
        if len(limits) > 1:
            raise httpx.ReadTimeout("too slow")
        return httpx.Response(200, json={"software": {"version": "6.4"}, "matches": []})

    checker = make(timeout=7.5, retries=1, transport=httpx.MockTransport(slow))
    with pytest.raises(ServiceFailed, match=r"did not answer after 2 tries \(last: ReadTimeout too slow\); start a"):
        ask(checker, "late")
    assert limits == [7.5] * 3


def test_a_timeout_is_retried(make: Make) -> None:
    calls: list[int] = []

    def slow_once(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        if len(calls) == 2:
            raise httpx.ReadTimeout("too slow")
        return httpx.Response(200, json={"software": {"version": "6.4"}, "matches": []})

    assert ask(make(retries=1, transport=httpx.MockTransport(slow_once)), "late") == [()]
    assert len(calls) == 3


def test_no_server() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port, nobody answers
        port = reserved.getsockname()[1]
        with pytest.raises(ServiceFailed) as caught:  # at once: the pauses between tries would be 15 seconds
            load_grammar(f"languagetool:http://127.0.0.1:{port}")
    sentence = str(caught.value)
    assert sentence.startswith(
        f"LanguageTool at http://127.0.0.1:{port} did not answer after 1 tries (last: ConnectErr"
    )
    assert f"org.languagetool.server.HTTPServer --port {port}`" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "body",
    [
        b"[1]",
        b"null",
        b'{"matches": []}',
        b'{"software": {}}',
        b'{"software": {}, "matches": [{"rule": {"id": "X"}}]}',
        b'{"software": {}, "matches": [{"offset": 0, "rule": "X"}]}',
        b'{"software": 3, "matches": []}',
        b'{"software": {}, "matches": [], "warnings": 3}',
    ],
    ids=repr,
)
def test_malformed_answers(server: Server, make: Make, body: bytes) -> None:
    checker = make()
    server.answer = lambda form: reply(200, body)
    with pytest.raises(ServiceFailed, match=r"which is not the JSON of LanguageTool's /v2/check; name the") as caught:
        ask(checker, "X")
    assert str(caught.value).startswith(f"LanguageTool at {server.url} answered ")
    assert len(server.seen) == 1
    with pytest.raises(ServiceFailed, match="not the JSON"):
        make()


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff"], ids=repr)
def test_what_is_not_json_is_tried_again(server: Server, make: Make, body: bytes) -> None:
    checker = make(retries=1)
    server.answer = in_turn(reply(200, body))
    assert ask(checker, "X") == [("X_RULE",)]
    server.answer = lambda form: reply(200, body)
    with pytest.raises(
        MohsError, match=r"did not answer after 2 tries \(last: status 200 with .*, which is not JSON\)"
    ):
        ask(checker, "X")
    with pytest.raises(ServiceFailed, match="not the JSON of LanguageTool"):
        make()


def test_a_body_has_a_limit(server: Server, make: Make) -> None:
    checker = make(max_body=1)
    server.answer = lambda form: reply(200, b" " * 1_100_000)
    with pytest.raises(MohsError, match="answered a text of 1 characters with more than 1 MB"):
        ask(checker, "X")
    with pytest.raises(BadInput, match=r"max_body=0 must be more than 0, and deadline=0\.0 at"):
        make(max_body=0)


def test_credentials_are_not_shown(make: Make) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"].startswith("Basic ")
        return httpx.Response(403)

    with pytest.raises(MohsError, match=r"^LanguageTool at http://\*\*\*@host refused with status 403"):
        LanguageToolChecker("http://ann:secret@host", transport=httpx.MockTransport(refuse))
    with pytest.raises(BadInput, match="has its credentials left out; give the whole address with --grammar"):
        LanguageToolChecker("http://***@host")


def test_a_refusal_is_final(server: Server, make: Make) -> None:
    server.answer = lambda form: reply(400, b"Error: 'xx' is not a language code known to LanguageTool.")
    with pytest.raises(MohsError, match="refused with status 400: \"Error: 'xx' is not a language code"):
        make(language="xx")
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [413, 500])
def test_a_text_the_server_trips_over_costs_only_itself(server: Server, make: Make, status: int) -> None:
    checker = make(retries=1)
    server.answer = lambda form: reply(status) if "bad" in form["text"] else checked(form)
    service: Service[str, Problems] = Service(checker)

    async def search(text: str) -> list[Problems]:
        return await service.ask([text])

    ended = {end.key: end for end in run(((text, search(text)) for text in ("X", "a bad text", "Y")), [service])}
    assert ended["X"].result == [("X_RULE",)]
    assert ended["Y"].result == [("Y_RULE",)]
    assert f"status {status}" in str(ended["a bad text"].error)


def test_an_unfinished_answer_does_not_count(server: Server, make: Make) -> None:
    checker = make()
    answer = {"software": {}, "matches": [], "warnings": {"incompleteResults": True}}
    server.answer = lambda form: reply(200, answer)
    with pytest.raises(MohsError, match="did not finish a text of 6 characters; raise its maxCheckTimeMillis"):
        ask(checker, "Finish")
    answer["warnings"] = {"incompleteResults": False}
    assert ask(checker, "Finish") == [()]


def test_requests_at_once(server: Server, make: Make) -> None:
    checker = make(concurrency=3)
    meeting = threading.Barrier(3, timeout=GUARD)

    def meet(form: Form) -> Reply:
        meeting.wait()  # nobody is answered until three have asked
        return checked(form)

    server.answer = meet
    service: Service[str, Problems] = Service(checker)

    async def search(number: int) -> list[Problems]:
        return await service.ask(["X" * (3 * number + part) for part in (1, 2, 3)])

    ended = list(run(((number, search(number)) for number in range(2)), [service]))
    assert [[len(problems) for problems in end.result or []] for end in ended] == [[1, 2, 3], [4, 5, 6]]
    assert service.batches == 6


def test_redirections_are_not_followed(server: Server, make: Make) -> None:
    checker = make()
    server.answer = lambda form: reply(307, Location=f"{server.url}/elsewhere")
    with pytest.raises(MohsError, match="refused with status 307"):
        ask(checker, "private")
    assert len(server.seen) == 1


def test_no_proxy_stands_before_this_machine(server: Server, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert ask(make(), "X") == [("X_RULE",)]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (LOCAL_SERVER, "http://localhost:8081/v2/check"),
        ("https://example.org/", "https://example.org/v2/check"),
        ("http://[::1]:80/v2", "http://[::1]/v2/check"),
        ("http://127.0.0.1:9/v2/check", "http://127.0.0.1:9/v2/check"),
        ("http://127.0.0.1:9/api/v2/check/", "http://127.0.0.1:9/api/v2/check"),
    ],
)
def test_address(url: str, address: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={"software": {}, "matches": []})

    LanguageToolChecker(url, transport=httpx.MockTransport(answer)).close()
    assert asked == [address]


@pytest.mark.parametrize("url", ["localhost:8081", "ftp://host", "http://", "http://host:port", "x"])
def test_bad_address(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_grammar(f"languagetool:{url}")
    assert str(caught.value) == f"{url!r} is not a web address; write languagetool:http://host:port."


def test_without_an_address_this_machine_is_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LOCAL_SERVER == "http://localhost:8081"
    monkeypatch.setattr("mohs.models.grammar.LOCAL_SERVER", server.url)
    checker = load_grammar("languagetool")
    assert isinstance(checker, LanguageToolChecker)
    assert [form["text"] for form in server.seen] == ["It works."]
    checker.close()


@pytest.mark.parametrize("option", [{"concurrency": 0}, {"timeout": 0.0}, {"retries": -1}, {"backoff": -1.0}])
def test_bad_settings(option: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"{next(iter(option))}={next(iter(option.values()))}.* do not fit"):
        LanguageToolChecker(**option)


def test_fingerprint(server: Server, make: Make) -> None:
    one = make()
    assert one.fingerprint == make(concurrency=9, retries=0).fingerprint
    assert one.fingerprint.startswith("LanguageTool 6.4 ")
    others = {make(level="picky").fingerprint, make(categories_left_out=["STYLE"]).fingerprint}
    server.answer = lambda form: checked(form, "6.5")
    others.add(make().fingerprint)
    assert len(others - {one.fingerprint}) == 3


def test_closes_by_itself(server: Server) -> None:
    checker = LanguageToolChecker(server.url)
    ask(checker, "X")
    client, gone = checker._client, weakref.ref(checker)
    del checker
    for thread in threading.enumerate():
        if thread.name == "mohs-languagetool":
            thread.join(GUARD)
    gc.collect()
    assert gone() is None
    assert client.is_closed


def test_threads_do_not_keep_the_process(server: Server, make: Make) -> None:
    def hang(form: Form) -> None:
        server.released.wait(GUARD)

    checker = make()
    server.answer = hang
    checker.launch(["X"])
    waiting = [thread for thread in threading.enumerate() if thread.name == "mohs-languagetool"]
    assert waiting
    assert all(thread.daemon for thread in waiting)
