"""The server behind the page: on this machine alone unless asked, on a port that is free."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from viser import ViserServer

HOST, PORT = "127.0.0.1", 8080
WIDTH = 320
"""Of the panels [pixels]."""
TRIED = 100
"""Ports after the first that are tried where none was asked for."""


@contextmanager
def serving(host: str = HOST, port: int | None = None, label: str = "") -> Iterator[ViserServer]:
    """A server until the block ends; without a port the first one from PORT on that is free."""
    import viser

    found = free_port(host, port)
    with redirect_stdout(io.StringIO()):  # it would print a banner
        server = viser.ViserServer(host, found, label=label, verbose=False)
    try:
        server.gui.configure_theme(
            show_share_button=False, show_logo=False, brand_color=(0, 114, 178)
        )
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(WIDTH)
        yield server
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()


def address(server: ViserServer) -> str:
    """Where a browser on this machine finds the page."""
    host = server.get_host()
    if host in (HOST, "0.0.0.0", "::"):
        host = "localhost"
    return f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"


def free_port(host: str, port: int | None) -> int:
    """The port that was asked for, or the first free one; a sentence where there is none."""
    if port is not None and not 0 <= port < 65536:
        raise HeelstrikeError(f"a port is a number from 0, any free one, to 65535, not {port}")
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except (OSError, UnicodeError) as error:
        raise HeelstrikeError(
            f"no host '{host}' is known here; --host is an address of this machine, such as {HOST}"
        ) from error
    reason = ""
    for candidate in range(PORT, PORT + TRIED) if port is None else [port]:
        if not (reason := _taken(family, host, candidate)):
            return candidate
    if port is None:
        raise HeelstrikeError(
            f"no port of '{host}' from {PORT} to {PORT + TRIED - 1} can be used: {reason}; check "
            "--host, or name another with --port"
        )
    raise HeelstrikeError(
        f"port {port} of '{host}' cannot be used: {reason}; leave --port out for one that is free"
    )


def _taken(family: int, host: str, port: int) -> str:
    """Why a port cannot be listened on; nothing where it can."""
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
            tried.listen(1)
        except OSError as error:
            return error.strerror or str(error)
    return ""
