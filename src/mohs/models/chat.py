"""A chat model behind an OpenAI-compatible endpoint: one question, one answer.

Request:  POST URL/chat/completions {"model": ..., "messages": [...], "temperature": ..., "max_tokens": ...}
Response: {"choices": [{"message": {"content": "..."}, "finish_reason": "stop"}]}
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import Any

import httpx

from mohs.errors import BadInput, ServiceFailed
from mohs.models.http import Asking, Refused, Unanswered
from mohs.models.web import MAX_BODY, Answer, TooLarge, deadline_of
from mohs.text.addresses import lacks_credentials, without_credentials

_PATH = "/chat/completions"
_EXPECTED = 'JSON as {"choices": [{"message": {"content": "..."}}]} is expected'
_NO_ENTRY = (401, 403)
_NO_SUCH = 404
_NEAR = ("127.0.0.1", "::1", "localhost")


class Declined(Exception):
    """The endpoint does not answer this one question, and another try would not change it."""


@dataclass(frozen=True)
class Said:
    """What the model answered. whole: whether it came to its own end, and was not cut off."""

    text: str
    whole: bool


class ChatModel:
    """A model that is asked question by question; several threads may ask at once.

    The key is sent as a bearer token. Neither it nor credentials in the address are part of any message.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        temperature: float = 0.0,
        most_tokens: int = 1000,  # of an answer; 0: the endpoint decides
        timeout: float = 60.0,  # seconds for connecting and for each single read
        deadline: float = 0.0,  # seconds for a whole request; 0: four times the timeout
        retries: int = 5,
        backoff: float = 1.0,  # seconds before the first retry; doubles each time
        rate: float = 0.0,  # requests per second; 0: no limit
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        for name, number in (("temperature", temperature), ("most tokens", most_tokens), ("retries", retries)):
            if not 0 <= number < math.inf:
                raise BadInput(f"The {name} of the chat model cannot be {number}; give 0 or more.")
        if timeout <= 0 or rate < 0 or deadline < 0:
            raise BadInput("The timeout of the chat model must be above 0, its rate and its deadline 0 or more.")
        if not model.strip():
            raise BadInput("No model was named; give its name at the endpoint with --model.")
        self.model, self.temperature, self.most_tokens = model, temperature, most_tokens
        self.url = without_credentials(url)  # what may be stored and printed
        self._address = _address(url)
        self._key = _bearer(key)
        self._settings: dict[str, Any] = {"model": model, "temperature": temperature}
        if most_tokens:
            self._settings["max_tokens"] = most_tokens
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(timeout=timeout, headers=headers, transport=transport)
        self._finish = weakref.finalize(self, self._client.close)
        self._asking = Asking(
            self._client,
            self._address,
            deadline=deadline_of(deadline, timeout),
            max_body=MAX_BODY,
            retries=retries,
            backoff=backoff,
            rate=rate,
        )

    @property
    def retried(self) -> int:
        """How many requests were sent again."""
        return self._asking.retried

    @property
    def open_key(self) -> bool:
        """Whether the key travels to another machine without encryption."""
        return bool(self._key) and self._address.scheme == "http" and self._address.host not in _NEAR

    def __call__(self, system: str, user: str) -> Said:
        """Ask one question.

        Raises Declined if this question gets no answer, and ServiceFailed if no question will.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return self._asking(self._read, _EXPECTED, json={**self._settings, "messages": messages})
        except TooLarge:
            raise Declined(f"the answer is longer than {MAX_BODY:g} MB") from None
        except Refused as error:
            raise self._refusal(error.answer) from None
        except Unanswered as error:
            problem = self._hidden(error.problem)
            if error.status == 500:  # the text may be at fault
                raise Declined(f"no answer after {error.tries} tries (last: {problem})") from None
            tries = "1 try" if error.tries == 1 else f"{error.tries} tries"
            raise ServiceFailed(
                f"{self.url} did not answer after {tries} (last: {problem}); check --url, and that a server runs there."
            ) from None

    def close(self) -> None:
        """Close the connections. This also happens when the model is garbage-collected."""
        self._finish()

    def _read(self, answer: Answer) -> Said:
        found = answer.json()
        try:
            choice = found["choices"][0]
            content = choice["message"]["content"]
        except (KeyError, TypeError, IndexError):
            raise ServiceFailed(f"{self.url} answered {self._hidden(answer.said(80))}; {_EXPECTED}.") from None
        if content is not None and not isinstance(content, str):
            raise ServiceFailed(f"{self.url} answered {self._hidden(answer.said(80))}; {_EXPECTED}.")
        return Said(self._hidden(content or ""), choice.get("finish_reason") in (None, "stop"))

    def _refusal(self, answer: Answer) -> Exception:
        if answer.status in _NO_ENTRY:  # what it says may quote the key
            given = "the key that was given" if self._key else "no key"
            return ServiceFailed(f"{self.url} refused with status {answer.status}: it was asked with {given}.")
        said = self._hidden(answer.said(200))
        if answer.status == _NO_SUCH:
            return ServiceFailed(f"{self.url} knows no {_PATH} or no model {self.model!r}: {said}.")
        return Declined(f"status {answer.status}: {said}")

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _address(url: str) -> httpx.URL:
    """The address of the chat endpoint; a query, as some providers want one, stays at its end."""
    try:
        found = httpx.URL(url)
        good = url.startswith(("http://", "https://")) and bool(found.host)
    except httpx.InvalidURL:
        good = False
    if not good:
        raise BadInput(f"{without_credentials(url)!r} is not a web address; write --url http://host:port/v1.")
    if lacks_credentials(url):
        raise BadInput(f"{url} has its credentials left out; give the whole address with --url.")
    path = found.path.rstrip("/")
    return found if path.endswith(_PATH) else found.copy_with(path=path + _PATH)


def _bearer(key: str) -> str:
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadInput("The key of the endpoint holds characters that no key has; set its environment variable again.")
    return key
