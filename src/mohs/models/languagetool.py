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

Problems = tuple[str, ...]  # the rules that a text breaks, from left to right

LOCAL_SERVER = "http://localhost:8081"  # LanguageTool's default address
_PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}  # worth a retry; other errors are final
_LONGEST_PAUSE = 300.0  # seconds; even if Retry-After asks for longer
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
        timeout: float = 30.0,
        retries: int = 5,
        backoff: float = 0.5,  # seconds before the first retry; doubles each time
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if concurrency < 1 or timeout <= 0 or retries < 0 or backoff < 0:
            raise BadInput(
                f"concurrency={concurrency}, timeout={timeout}, retries={retries} and backoff={backoff} do not fit; "
                "the first two must be more than 0, the others at least 0."
            )
        self._address = _address(url)
        self.name = f"LanguageTool at {url}"
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
                response = self._client.post(self._address, data=form)
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__} {error}".strip()
                continue
            status = response.status_code
            if status in _PASSING_STATUSES:
                problem = f"status {status}"
                after = response.headers.get("Retry-After", "")
                asked = min(float(after), _LONGEST_PAUSE) if after.isdecimal() else 0.0
                continue
            if status != 200:
                raise MohsError(f"{self.name} refused with status {status}: {response.text[:200]!r}.")
            return self._read(response, text)
        sentence = f"{self.name} did not answer after {self._tries} tries (last: {problem})"
        if status == 500:  # the text may be at fault
            raise MohsError(f"{sentence}.")
        raise ServiceFailed(
            f"{sentence}; start a server with `java -cp languagetool-server.jar org.languagetool.server.HTTPServer "
            f"--port {self._address.port or 8081}`, or name another one as languagetool:URL."
        )

    def _read(self, response: httpx.Response, text: str) -> tuple[str, Problems]:
        """The version of the server, and the rules that the text breaks."""
        try:
            answer = response.json()
            software = answer["software"]
            release = " ".join(str(software[key]) for key in ("version", "buildDate", "premium") if key in software)
            matches = sorted((match["offset"], match["rule"]["id"]) for match in answer["matches"])
            unfinished = answer.get("warnings", {}).get("incompleteResults", False)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ServiceFailed(
                f"{self.name} answered {response.text[:80]!r}, which is not the JSON of LanguageTool's /v2/check; "
                "name the address of a LanguageTool server."
            ) from None
        if unfinished:  # a partial count would depend on how busy the server is
            raise MohsError(
                f"{self.name} did not finish a text of {len(text)} characters; raise its maxCheckTimeMillis."
            )
        return release, tuple(str(rule) for _, rule in matches)


def fingerprint(name: str, release: str, settings: Any) -> str:
    """A string that is equal for checkers that find equal problems."""
    return f"{name} {release} {hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]}"


def _address(url: str) -> httpx.URL:
    try:
        address = httpx.URL(url.rstrip("/").removesuffix("/check").removesuffix("/v2") + "/v2/check")
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not address.host:
        raise BadInput(f"{url!r} is not a web address; write languagetool:http://host:port.")
    return address


def _on_this_machine(address: httpx.URL) -> bool:
    try:
        return ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return address.host == "localhost"
