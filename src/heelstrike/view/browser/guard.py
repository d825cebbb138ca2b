"""A guard around the viewer's web server: who may connect, and what a client may say.

viser accepts every connection and trusts every message. It opens its port through
`websockets.asyncio.server.serve`; while a server is made, that function is replaced by one that

- serves only addresses and pages of this machine, or, where it listens beyond it, only those whose
  address has the token (no page of another site can drive the viewer, nor one behind a name that
  was bound to this machine later);
- hands on only messages that a page of ours sends, with finite numbers in their range
  (messages.py); a client that sends anything else is disconnected;
- limits size, rate and number.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from heelstrike.view.browser.messages import Handles, WrongMessageError, checked

MAX_BYTES = 64 * 1024
"""Largest message of a client [bytes]."""
RATE, BURST = 300.0, 600.0
"""Messages of a client that are read per second, and at once; more of them wait."""
MAX_CLIENTS = 32
POLICY_VIOLATION = 1008
"""Code with which a connection is closed, of RFC 6455."""
LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of this machine in an address."""

_replacing = threading.Lock()


def is_local(host: str) -> bool:
    """Return whether only this machine can reach an address to serve on."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class Guard:
    """Rules of one server."""

    host: str
    """Address that it serves on."""
    handles: Handles = dict
    """Function that returns the controls of the page by their identifiers."""
    token: str = field(default="")
    """First part of the path of every address; empty where only this machine can connect."""
    clients: int = 0
    """Number of connected clients."""

    def __post_init__(self) -> None:
        if not self.token and not is_local(self.host):
            self.token = secrets.token_urlsafe(16)

    # who may connect

    def refusal(self, path: str, headers: Any) -> tuple[HTTPStatus, str] | None:
        """Return why a request is refused; None if it is not."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return HTTPStatus.BAD_REQUEST, "one Host, and at most one Origin"
        if not self.token and _name(f"//{hosts[0]}") not in (*LOCAL, self.host):
            return HTTPStatus.FORBIDDEN, "this viewer serves its own machine only"
        if self.token and not secrets.compare_digest(_token(path).encode(), self.token.encode()):
            return HTTPStatus.FORBIDDEN, "the address lacks the viewer's token"
        if origins and not self._is_own(origins[0], hosts[0]):
            return HTTPStatus.FORBIDDEN, "a page of another site"
        if headers.get("Upgrade") == "websocket" and self.clients >= MAX_CLIENTS:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_CLIENTS} clients are connected"
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page comes from this server, or from another port of this machine."""
        try:
            parts = urlsplit(origin)
            local = not self.token and parts.hostname in LOCAL
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and (local or parts.netloc == host)

    # what it may say

    async def handle(self, handler: Callable[[Any], Any], connection: Any) -> None:
        """Run viser's handler of a connection, whose messages are checked."""
        self.clients += 1
        try:
            await handler(CheckedConnection(connection, self))
        finally:
            self.clients -= 1


class CheckedConnection:
    """A connection whose `recv` returns only what a page of ours would send."""

    def __init__(self, connection: Any, guard: Guard) -> None:
        self._connection, self._guard = connection, guard
        self._left, self._last = BURST, time.monotonic()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """Return the next message; a client that sends another kind is disconnected."""
        while True:
            await self._wait()
            raw = await self._connection.recv()
            try:
                message = checked(raw, self._guard.handles())
            except WrongMessageError as error:
                await self._connection.close(POLICY_VIOLATION, str(error))
                continue  # the next recv raises that it is closed
            if message is not None:
                return message

    async def _wait(self) -> None:
        """Wait while a client sends faster than RATE."""
        now = time.monotonic()
        self._left = min(BURST, self._left + RATE * (now - self._last)) - 1.0
        self._last = now
        if self._left < 0:
            await asyncio.sleep(-self._left / RATE)


@contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """Let servers that viser starts within the block obey a guard."""
    from websockets.asyncio import server
    from websockets.http11 import Response

    usual = server.serve

    def process(inner: Callable[..., Any], connection: Any, request: Any) -> Any:
        refused = guard.refusal(request.path, request.headers)
        if refused is not None:
            status, reason = refused
            return connection.respond(status, f"{reason}\n")
        if guard.token:
            request = replace(request, path=request.path[1 + len(guard.token) :] or "/")
        response = inner(connection, request)
        if isinstance(response, Response):  # no other site shows the page in a frame
            response.headers["X-Frame-Options"] = "SAMEORIGIN"
            response.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
            response.headers["Referrer-Policy"] = "no-referrer"
        return response

    @functools.wraps(usual)
    def serve(handler: Any, *place: Any, **options: Any) -> Any:
        if getattr(handler, "__module__", "") != "viser.infra._infra":
            return usual(handler, *place, **options)
        options["process_request"] = functools.partial(process, options["process_request"])
        options |= {"max_size": MAX_BYTES, "logger": _silent()}
        return usual(functools.partial(guard.handle, handler), *place, **options)

    with _replacing:
        server.serve = serve  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            server.serve = usual  # type: ignore[misc]


def _silent() -> logging.Logger:
    """Return a logger that prints nothing: requests that fail are the client's matter."""
    logger = logging.getLogger("heelstrike.view.requests")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


def _name(address: str) -> str:
    """Return the host in an address, without a port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _token(path: str) -> str:
    """Return the first part of a path."""
    parts: Sequence[str] = path.partition("?")[0].split("/", 2)
    return parts[1] if len(parts) > 1 else ""
