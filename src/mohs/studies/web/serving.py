"""Serves the pages of a study until somebody ends it."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from mohs.errors import BadInput
from mohs.studies.study import Study
from mohs.studies.web.app import make_app

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_ANY = ("0.0.0.0", "::", "")
_MOST_CONNECTIONS = 2000
_PATIENCE = 10  # seconds for requests under way when the server ends


def serve(
    study: Study,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    organiser: str | None = None,
    public: str | None = None,
    said: Callable[[str], Any] = print,
) -> None:
    """Serve a study until Ctrl-C or SIGTERM. port: 0 for any free one. said: takes what the organiser must know.

    organiser: their secret; by default the one that belongs to the study, which is then said. public: the address that
    people use, if a proxy with HTTPS stands before this server.
    """
    address = "" if public is None else _address(public)
    app = make_app(study, organiser=organiser, public=address)
    with _listening(host, port) as listener:
        own = _shown(host, listener.getsockname()[1])
        said(f"Serving {study.place} on {own}; Ctrl-C ends it.")
        said(f"Organiser: {address or own}/organiser")
        said(f"Token: {study.code('organiser')}" if organiser is None else "Token: the value of MOHS_ORGANISER")
        said(f"Links for annotators: mohs study invite {study.place} --n 5 --url {address or own}")
        if host not in _LOOPBACK and not address.startswith("https://"):
            said(
                f"Others on the network can read what is sent to {host}; put a proxy with HTTPS before this server and "
                "name its address with --url, or use a network that you trust."
            )
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # it would hold the secret links
            server_header=False,
            lifespan="off",
            ws="none",
            proxy_headers=bool(address),  # without a proxy anybody could write them
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_PATIENCE,
        )
        with _quiet_end(), suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    said("Ended. Every answer that was given is kept.")


def _address(public: str) -> str:
    """A public address without a slash at the end, or a sentence about what is wrong with it."""
    try:
        parts = urlsplit(public)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or parts.username is not None or not public.isprintable():
        raise BadInput(f"--url {public!r} is not the address of a site; write it as https://study.example.org.")
    return public.rstrip("/")


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise BadInput(f"--host {host!r} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all.") from error
    # With the protocol named, asyncio turns off delays for its connections (Nagle), some 40 ms a page.
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            listener.listen(1024)
        except OSError as error:
            remedy = "choose another --port (0: any free one)"
            raise BadInput(f"Port {port} of {host} cannot be used ({error.strerror or error}); {remedy}.") from error
        yield listener


@contextmanager
def _quiet_end() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the server, and no more: it sends itself the signal again once it has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(name, lambda *_: None) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)


def _shown(host: str, port: int) -> str:
    """The address of this server, for a browser on this machine."""
    host = "127.0.0.1" if host in _ANY else host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
