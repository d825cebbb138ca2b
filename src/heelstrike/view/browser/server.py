"""The server of the viewer: by default reachable from this machine only, on a free port.

A server that listens beyond this machine has a random token in its address, which a client needs
(guard.py).
"""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.view.browser.guard import Guard, guarding

if TYPE_CHECKING:
    from viser import ViserServer

HOST, PORT = "127.0.0.1", 8080
WIDTH = 320
"""Width of the panels [pixels]."""
MAX_PORTS = 100
"""Number of ports from PORT on that are tried if no port is named."""

_tokens: WeakKeyDictionary[ViserServer, str] = WeakKeyDictionary()
"""Tokens in the addresses of servers; empty where none is needed."""


@contextmanager
def serving(host: str = HOST, port: int | None = None, label: str = "") -> Iterator[ViserServer]:
    """Run a server until the block ends; without a port, on the first free one from PORT on."""
    import viser

    found, guard = free_port(host, port), Guard(host)
    with redirect_stdout(io.StringIO()), guarding(guard):  # viser prints a banner
        server = viser.ViserServer(host, found, label=label, verbose=False)
    guard.handles = partial(getattr, server.gui, "_gui_input_handle_from_uuid", {})
    _tokens[server] = guard.token
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
    """Return the address of the page for a browser on this machine, with the token if any."""
    host = server.get_host()
    if host in (HOST, "0.0.0.0", "::"):
        host = "localhost"
    place = f"http://{f'[{host}]' if ':' in host else host}:{server.get_port()}"
    token = _tokens.get(server, "")
    return f"{place}/{token}/" if token else place


def free_port(host: str, port: int | None) -> int:
    """Return `port` if it can be used, or the first free one if it is None."""
    if port is not None and not 0 <= port < 65536:
        raise ParameterError("port", port, "0 (any free port) to 65535")
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except (OSError, UnicodeError) as error:
        raise HeelstrikeError(
            f"unknown host '{host}'",
            path="host",
            value=host,
            remedy=f"pass an address of this machine as --host, such as {HOST}",
        ) from error
    reason = ""
    for candidate in range(PORT, PORT + MAX_PORTS) if port is None else [port]:
        if not (reason := _port_problem(family, host, candidate)):
            return candidate
    if port is None:
        raise HeelstrikeError(
            f"no port of '{host}' from {PORT} to {PORT + MAX_PORTS - 1} can be used: {reason}",
            remedy="check --host, or pass another port as --port",
        )
    raise HeelstrikeError(
        f"port {port} of '{host}' cannot be used: {reason}",
        path="port",
        value=port,
        remedy="omit --port to use a free one",
    )


def _port_problem(family: int, host: str, port: int) -> str:
    """Return why a port cannot be listened on; empty if it can."""
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
            trial.listen(1)
        except OSError as error:
            return error.strerror or str(error)
    return ""
