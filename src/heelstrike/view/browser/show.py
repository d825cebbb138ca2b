"""Opens the viewer, and keeps it open until Ctrl-C or while something else is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from heelstrike.view.browser.live_panel import LivePanel
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.server import HOST, address, serving

Told = Callable[[str], None]
"""Is given the page's address once it can be opened."""


def watch(
    runs: Sequence[RunArrays], told: Told = print, host: str = HOST, port: int | None = None
) -> None:
    """Shows recordings; the first in its own colours, the others as ghosts."""
    with serving(host, port, f"Heelstrike: {runs[0].robot.name}") as server:
        player = Player(server, runs)
        told(address(server))
        _until_interrupted(player.play)


def simulate(
    live: LiveSimulation, told: Told = print, host: str = HOST, port: int | None = None
) -> None:
    """Simulates a scene and shows it."""
    with serving(host, port, f"Heelstrike: {live.scene.name}") as server:
        desk = LivePanel(server, live)
        told(address(server))
        _until_interrupted(desk.play)


@contextmanager
def background(play: Callable[[Callable[[], bool]], None]) -> Iterator[None]:
    """Plays in a thread of its own while the block lasts."""
    over = threading.Event()
    thread = threading.Thread(target=play, args=(over.is_set,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _until_interrupted(play: Callable[[Callable[[], bool]], None]) -> None:
    try:
        play(lambda: False)
    except KeyboardInterrupt:
        return
