"""`languagetool:URL`: the grammar checker of Morris et al. 2020, behind its own server.

Request:  POST URL/v2/check with text=...&language=en-US&level=default
Response: {"software": {"version": "6.4", ...}, "matches": [{"offset": 4, "rule": {"id": "HE_VERB_AGR", ...}}, ...]}
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import random
import re
import threading
import time
import weakref
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

import httpx

from mohs.errors import BadInput, MohsError, ServiceFailed
from mohs.models.web import MAX_BODY, PASSING_STATUSES, Answer, TooLarge, deadline_of, post
from mohs.text.addresses import lacks_credentials, without_credentials

Problems = tuple[str, ...]  # the rules that a text breaks, from left to right

LOCAL_SERVER = "http://localhost:8081"  # LanguageTool's default address
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a surrogate pair, which cannot be sent


class LanguageToolChecker:
    """A LanguageTool server. Each request holds one text; `concurrency` requests run at once.

    Every match counts, as in Morris et al., unless categories are left out ("TYPOS", "CASING", "STYLE", ...). Texts go
    to that address only: redirects are not followed, and a server on this machine is not reached through a proxy.
    """

    def __init__(
        self,
        url: str = LOCAL_SERVER,
        *,
        language: str = "en-US",
        level: str = "default",  # or "picky", which has more rules
        categories_left_out: Iterable[str] = (),
        concurrency: int = 4,
        timeout: float = 30.0,  # seconds for connecting and for each single read
        deadline: float = 0.0,  # seconds for a whole request; 0: four times the timeout
        max_body: float = MAX_BODY,  # megabytes of an answer, unpacked
        retries: int = 5,
        backoff: float = 0.5,  # seconds before the first retry; doubles each time
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if concurrency < 1 or timeout <= 0 or retries < 0 or backoff < 0:
            raise BadInput(
                f"concurrency={concurrency}, timeout={timeout}, retries={retries} and backoff={backoff} do not fit; "
                "the first two must be more than 0, the others at least 0."
            )
        if max_body <= 0 or deadline < 0:
            raise BadInput(f"max_body={max_body} must be more than 0, and deadline={deadline} at least 0.")
        self._address = _address(url)
        self._limits = {"deadline": deadline_of(deadline, timeout), "max_body": max_body}
        self.name = f"LanguageTool at {without_credentials(url)}"
        self.in_flight = concurrency
        self._settings = {"language": language, "level": level}
        if left_out := ",".join(sorted(categories_left_out)):
            self._settings["disabledCategories"] = left_out
        self._backoff = backoff
        self._client = httpx.Client(timeout=timeout, transport=transport, trust_env=not _on_this_machine(self._address))
        self._finish = weakref.finalize(self, self._client.close)
        self._tries = 1  # no retries yet, so that a missing server is reported at once
        software, _ = self._ask("It works.")
        self._tries += retries
        self.fingerprint = fingerprint("LanguageTool", software, self._settings)

    def plan(self, items: list[str]) -> list[list[str]]:
        """One request per text, short ones first, so that a text that is too long does not look like a dead server."""
        return [[text] for text in sorted(items, key=lambda text: (len(text), text))]

    def launch(self, batch: list[str]) -> list[Future[Problems]]:
        """Send each text from its own daemon thread."""
        futures: list[Future[Problems]] = []
        for text in batch:
            futures.append(Future())
            threading.Thread(
                target=self._fulfil, args=(futures[-1], text), name="mohs-languagetool", daemon=True
            ).start()
        return futures

    def collect(self, ticket: list[Future[Problems]]) -> list[Problems]:
        """Wait for the responses."""
        return [future.result() for future in ticket]

    def close(self) -> None:
        """Close the connections. This also happens when the checker is garbage-collected."""
        self._finish()

    def _fulfil(self, future: Future[Problems], text: str) -> None:
        try:
            future.set_result(self._ask(text)[1] if text.strip() else ())
        except Exception as error:
            future.set_exception(error)

    def _ask(self, text: str) -> tuple[str, Problems]:
        form = {**self._settings, "text": _SURROGATE.sub("\ufffd", text)}
        problem, asked, status = "", 0.0, 0
        for attempt in range(self._tries):
            if attempt:
                time.sleep(max(asked, self._backoff * 2 ** (attempt - 1) * (0.5 + random.random())))
            asked, status = 0.0, 0
            try:
                answer = post(self._client, self._address, data=form, **self._limits)
            except httpx.HTTPError as error:
                problem = without_credentials(f"{type(error).__name__} {error}".strip())
                continue
            except TooLarge:
                raise MohsError(
                    f"{self.name} answered a text of {len(text)} characters with more than "
                    f"{self._limits['max_body']:g} MB; name the address of a LanguageTool server."
                ) from None
            status = answer.status
            if status in PASSING_STATUSES:
                problem, asked = f"status {status}", answer.pause
                continue
            if status != 200:
                raise MohsError(f"{self.name} refused with status {status}: {answer.said(200)}.")
            try:
                found = answer.json()
            except ValueError:  # a proxy's page or half an answer, which passes as a status of 500 does
                if self._tries == 1:
                    raise self._no_languagetool(answer) from None
                status, problem = 500, f"status 200 with {answer.said(80)}, which is not JSON"
                continue
            return self._read(found, answer, text)
        sentence = f"{self.name} did not answer after {self._tries} tries (last: {problem})"
        if status == 500:  # the text may be at fault
            raise MohsError(f"{sentence}.")
        raise ServiceFailed(
            f"{sentence}; start a server with `java -cp languagetool-server.jar org.languagetool.server.HTTPServer "
            f"--port {self._address.port or 8081}`, or name another one as languagetool:URL."
        )

    def _read(self, found: Any, answer: Answer, text: str) -> tuple[str, Problems]:
        """The version of the server, and the rules that the text breaks."""
        try:
            software = found["software"]
            release = " ".join(str(software[key]) for key in ("version", "buildDate", "premium") if key in software)
            matches = sorted((match["offset"], match["rule"]["id"]) for match in found["matches"])
            unfinished = found.get("warnings", {}).get("incompleteResults", False)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._no_languagetool(answer) from None
        if unfinished:  # a partial count would depend on how busy the server is
            raise MohsError(
                f"{self.name} did not finish a text of {len(text)} characters; raise its maxCheckTimeMillis."
            )
        return release, tuple(str(rule) for _, rule in matches)

    def _no_languagetool(self, answer: Answer) -> ServiceFailed:
        return ServiceFailed(
            f"{self.name} answered {answer.said(80)}, which is not the JSON of LanguageTool's /v2/check; "
            "name the address of a LanguageTool server."
        )


def fingerprint(name: str, release: str, settings: Any) -> str:
    """A string that is equal for checkers that find equal problems."""
    return f"{name} {release} {hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}"


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url.rstrip("/").removesuffix("/check").removesuffix("/v2") + "/v2/check")
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme in ("http", "https") and lacks_credentials(url):
        raise BadInput(f"{url} has its credentials left out; give the whole address with --grammar.")
    if address.scheme not in ("http", "https") or not address.host:
        raise BadInput(f"{without_credentials(url)!r} is not a web address; write languagetool:http://host:port.")
    return address


def _on_this_machine(address: httpx.URL) -> bool:
    try:
        return ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return address.host == "localhost"
