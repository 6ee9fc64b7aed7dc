"""Around the whole app: security headers on every answer, no large bodies, and nothing for other sites.

A site whose name is made to lead to this machine (DNS rebinding) would count as the same site for a browser, so only
requests for a name of this server are answered.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
}
_SAFE = ("GET", "HEAD", "OPTIONS")


class Shield:
    """Wraps an app. public: the address under which people know the pages, if a proxy stands before them."""

    def __init__(self, app: ASGIApp, public: str = "") -> None:
        self._app = app
        self._public = urlsplit(public)
        own = socket.gethostname().lower()
        self._names = {"localhost", own, f"{own}.local", *filter(None, [self._public.hostname])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        headers = Headers(scope=scope)
        if not self._is_own(headers.get("host", "")):
            await _say(sent, 421, "This server does not go by that name. --url of `mohs study serve` gives it one.")
            return
        if scope["method"] not in _SAFE and self._is_foreign(headers):
            await _say(sent, 403, "The form was sent by another site.")
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > MOST_BYTES:
            await _say(sent, 413, "The request is too large.")
            return
        scope = {**scope, "path": self._path(scope["path"])}
        if scope["method"] in _SAFE:
            await self._app(scope, receive, sent)
            return
        body = await _body(receive)
        if body is None:
            await _say(sent, 413, "The request is too large.")
            return
        await self._app(scope, _again(body, receive), sent)

    def _path(self, path: str) -> str:
        """A path without the part that all of them have, which some proxies leave, and without a slash at the end."""
        short, prefix = path.rstrip("/"), self._public.path.rstrip("/")
        return (short.removeprefix(prefix) if f"{short}/".startswith(f"{prefix}/") else short) or "/"

    def _is_own(self, host: str) -> bool:
        """Whether a host is this server: one of its names, or a number, which cannot be made to lead elsewhere."""
        name = _parts(f"//{host}").hostname or ""
        return not host or name in self._names or name.endswith(".localhost") or _is_number(name)

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a form comes from another site, as far as the browser tells. (Every form has a token besides.)

        Sec-Fetch-Site is the better witness: with the referrer policy above, browsers say `Origin: null`.
        """
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in ("same-origin", "none")
        origin = headers.get("origin")
        if origin is None or origin == "null":
            return False
        own = (headers.get("host", "").lower(), self._public.netloc.lower())
        return _parts(origin).netloc.lower() not in filter(None, own)


def _parts(address: str) -> SplitResult:
    """The parts of an address; all are empty if it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None if it is too large, whatever length was announced."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""  # the client left
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read already, and then what comes after it."""
    given = False

    async def received() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received


async def _say(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
