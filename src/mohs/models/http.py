"""`http:URL`: a classifier behind a web endpoint. Batches are sent concurrently, with retries.

Request:  POST {"texts": ["...", ...]}            (pairs: {"texts": [["premise", "hypothesis"], ...]})
Response: {"probabilities": [[...], ...]}         (or "logits", or "labels" with --victim-option output=...)
"""

from __future__ import annotations

import random
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import httpx

from mohs.engine import by_size
from mohs.errors import BadInput, ServiceFailed, VictimError
from mohs.models.victim import Fields, Output, Scores, at_least, declared, scores
from mohs.models.web import MAX_BODY, PASSING_STATUSES, Answer, TooLarge, deadline_of, post
from mohs.text.addresses import endpoint_fingerprint, lacks_credentials, without_credentials

T = TypeVar("T")


class Refused(Exception):
    """The endpoint answered with a status that another try would not change."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"status {answer.status}")
        self.answer = answer


class Unanswered(Exception):
    """There was no good answer after all tries. status: the last one; 0 if there was none."""

    def __init__(self, tries: int, problem: str, status: int) -> None:
        super().__init__(problem)
        self.tries, self.problem, self.status = tries, problem, status


class Asking:
    """How an endpoint is asked: at most `rate` requests per second, and again after a pause if a failure may pass."""

    def __init__(
        self,
        client: httpx.Client,
        url: Any,
        *,
        deadline: float,
        max_body: float,
        retries: int,
        backoff: float,
        rate: float,
    ) -> None:
        self.retried = 0
        self._client, self._url = client, url
        self._limits = {"deadline": deadline, "max_body": max_body}
        self._retries, self._backoff = retries, backoff
        self._gap = 1 / rate if rate else 0.0
        self._gate = threading.Lock()
        self._next = 0.0

    def __call__(self, read: Callable[[Answer], T], expected: str, **content: Any) -> T:
        """Send a request, and read the answer.

        read: raises ValueError for what is no whole answer, such as a proxy's page; then it is asked again.
        expected: what a whole answer looks like.
        """
        problem, asked, status = "", 0.0, 0
        for attempt in range(self._retries + 1):
            if attempt:
                with self._gate:
                    self.retried += 1
                time.sleep(max(asked, self._backoff * 2 ** (attempt - 1) * (0.5 + random.random())))
            self._wait_for_turn()
            asked = 0.0
            try:
                answer = post(self._client, self._url, **self._limits, **content)
            except httpx.HTTPError as error:
                status = 0
                problem = without_credentials(f"{type(error).__name__} {error}".strip())
                continue
            status = answer.status
            if status in PASSING_STATUSES:
                problem, asked = f"status {status}", answer.pause
                continue
            if status != 200:
                raise Refused(answer)
            try:
                return read(answer)
            except ValueError:  # a proxy's page or half an answer, which passes as a status of 500 does
                status, problem = 500, f"status 200 with {answer.said(80)}; {expected}"
        raise Unanswered(self._retries + 1, problem, status)

    def _wait_for_turn(self) -> None:
        if self._gap:
            with self._gate:
                now = time.monotonic()
                turn = max(now, self._next)
                self._next = turn + self._gap
            time.sleep(turn - now)


class HttpVictim:
    """Sends up to `concurrency` requests at once and `rate` per second, each with up to `retries` retries.

    Credentials in the address are sent, but they are not part of its name, of its fingerprint or of any message.
    """

    exact = False

    def __init__(
        self,
        url: str,
        *,
        output: Output | str = Output.PROBABILITIES,
        labels: Sequence[str] = (),
        batch: int = 32,
        concurrency: int = 4,
        timeout: float = 30.0,  # seconds for connecting and for each single read
        deadline: float = 0.0,  # seconds for a whole request; 0: four times the timeout
        max_body: float = MAX_BODY,  # megabytes of an answer, unpacked
        retries: int = 5,
        backoff: float = 0.5,  # seconds before the first retry; doubles each time
        rate: float = 0.0,  # requests per second; 0: no limit
        rejects: bool = False,  # its last score says that it rejects the text
        header: str = "",  # one extra header, as "Authorization: Bearer ..."; never written to the manifest
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        at_least(1, batch=batch, concurrency=concurrency)
        at_least(0.001, timeout=timeout, max_body=max_body)
        at_least(0, retries=retries, backoff=backoff, rate=rate, deadline=deadline)
        self._url = _address(url)
        self.name = url = without_credentials(url)
        self.output = declared(output)
        self.labels = tuple(labels)
        self.hard = self.output is Output.LABELS
        if self.hard and not self.labels:
            raise BadInput(f"{url} gives labels only; name its classes, as in --labels negative,positive.")
        self.in_flight = concurrency
        self.remote = True
        self.fingerprint = endpoint_fingerprint(self.name, self.output)
        self._batch = batch
        self._limits = {"deadline": deadline_of(deadline, timeout), "max_body": max_body}
        self.rejects = rejects
        self._classes: int | None = len(self.labels) + rejects if self.labels else None
        self._client = httpx.Client(timeout=timeout, headers=_headers(header), transport=transport)
        self._finish = weakref.finalize(self, self._client.close)
        self._room = threading.BoundedSemaphore(concurrency)
        self._asking = Asking(self._client, self._url, retries=retries, backoff=backoff, rate=rate, **self._limits)

    @property
    def retried(self) -> int:
        """How many requests were sent again."""
        return self._asking.retried

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Batches of at most `batch` texts."""
        return by_size(items, lambda fields: sum(map(len, fields)), self._batch)

    def launch(self, batch: list[Fields]) -> tuple[int, Future[Any]]:
        """Send the batch from its own daemon thread."""
        future: Future[Any] = Future()
        threading.Thread(target=self._fulfil, args=(future, batch), name="mohs-http", daemon=True).start()
        return len(batch), future

    def collect(self, ticket: tuple[int, Future[Any]]) -> list[Scores]:
        """Wait for the response and check it."""
        rows, future = ticket
        answers = scores(self.name, future.result(), rows, self.output, self._classes)
        self._classes = len(answers[0])
        return answers

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """None: where the endpoint truncates is not known."""
        return None

    def close(self) -> None:
        """Close the connections. This also happens when the victim is garbage-collected."""
        self._finish()

    def _fulfil(self, future: Future[Any], batch: list[Fields]) -> None:
        try:
            with self._room:
                future.set_result(self._post(batch))
        except Exception as error:
            future.set_exception(error)

    def _post(self, batch: list[Fields]) -> Any:
        texts = [fields[0] if len(fields) == 1 else list(fields) for fields in batch]
        try:
            return self._asking(self._unpack, self._expected(), json={"texts": texts})
        except TooLarge:
            raise ServiceFailed(
                f"{self.name} answered {len(batch)} texts with more than {self._limits['max_body']:g} MB; if that "
                "is right, allow more with --victim-option max_body=MB or send fewer with batch=N."
            ) from None
        except Refused as error:
            answer = error.answer
            raise VictimError(f"{self.name} refused with status {answer.status}: {answer.said(200)}.") from None
        except Unanswered as error:
            sentence = f"{self.name} did not answer after {error.tries} tries (last: {error.problem})."
            if error.status == 500:  # the text may be at fault
                raise VictimError(sentence) from None
            raise ServiceFailed(sentence) from None

    def _unpack(self, answer: Answer) -> Any:
        found = answer.json()
        try:
            return found[self.output.value]
        except (KeyError, TypeError):
            raise ServiceFailed(f"{self.name} answered {answer.said(80)}; {self._expected()}.") from None

    def _expected(self) -> str:
        return f'JSON as {{"{self.output}": {"[0, ...]" if self.hard else "[[...], ...]"}}} is expected'


def _address(url: str) -> str:
    try:
        good = url.startswith(("http://", "https://")) and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        good = False
    if not good:
        raise BadInput(f"{without_credentials(url)!r} is not a web address; write --victim http://host:port/path.")
    if lacks_credentials(url):
        raise BadInput(f"{url} has its credentials left out; give the whole address with --victim.")
    return url


def _headers(header: str) -> dict[str, str]:
    if not header:
        return {}
    name, colon, value = header.partition(":")
    if not (colon and name.strip() and header.isascii() and header.isprintable()):
        raise BadInput("The victim option header is not a header; write header='Name: value'.")
    return {name.strip(): value.strip()}
