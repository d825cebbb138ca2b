"""Open the viewer and keep it open until Ctrl-C, or in the background of a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.live_viewer import LiveViewer
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.server import HOST, address, serving

OnReady = Callable[[str], None]
"""Is called with the page's address once it can be opened."""


def watch(
    runs: Sequence[RunArrays], on_ready: OnReady = print, host: str = HOST, port: int | None = None
) -> None:
    """Show recordings; the first has its own colours, the others are ghosts."""
    with serving(host, port, f"Heelstrike: {runs[0].robot.name}") as server:
        player = Player(server, runs)
        on_ready(address(server))
        _until_interrupted(player.play)


def simulate(
    live: LiveSimulation, on_ready: OnReady = print, host: str = HOST, port: int | None = None
) -> None:
    """Simulate a scene and show it."""
    with serving(host, port, f"Heelstrike: {live.scene.name}") as server:
        viewer = LiveViewer(server, live)
        on_ready(address(server))
        _until_interrupted(viewer.play)


@contextmanager
def background(play: Callable[[Callable[[], bool]], None]) -> Iterator[None]:
    """Play in another thread until the block ends."""
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
