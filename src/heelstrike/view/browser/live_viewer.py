"""A live scene in the browser that can be replaced by another: scene, robot or law.

The new scene is compiled in the background, while the old one goes on; then it takes its place.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError
from heelstrike.scene.files.document import Document
from heelstrike.simulate.scene_file import SceneFile
from heelstrike.view.browser.live_panel import LivePanel
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.prepare import prepare
from heelstrike.view.browser.scene_choice import Choice, SceneChoice
from heelstrike.view.browser.server import WIDTH

if TYPE_CHECKING:
    from viser import ClientHandle, NotificationHandle, ViserServer


class LiveViewer:
    """The scene that is shown, and the one that is being compiled, if any."""

    def __init__(self, server: ViserServer, live: LiveSimulation) -> None:
        self.server = server
        self._ready: queue.Queue[tuple[Choice, Document | HeelstrikeError]] = queue.Queue()
        self._wanted: Choice | None = None
        self._busy = False
        self._notices: list[NotificationHandle] = []
        self.choice = SceneChoice(server.gui, live.scene.document, self._request)
        self.panel = LivePanel(server, live, self.choice.add)
        server.on_client_connect(self._welcome)

    @property
    def live(self) -> LiveSimulation:
        """The simulation that is shown."""
        return self.panel.live

    def play(self, until: Callable[[], bool]) -> None:
        """Simulate and show the scene until `until` returns true."""
        while not until():
            self.frame()

    def frame(self) -> None:
        """Simulate and show one frame, of another scene if one was compiled."""
        if not self._ready.empty():
            self._arrived(*self._ready.get())
        self.panel.frame()

    def open(self, choice: Choice) -> None:
        """Compile another scene in the background, and show it when it is ready.

        If one is being compiled already, the new one takes its place.
        """
        self._wanted = choice
        self.panel.message = f"compiling {choice.words}"
        self._notify(choice)
        if not self._busy:
            self._busy = True
            threading.Thread(target=self._compile, args=(choice,), daemon=True).start()

    def _request(self, choice: Choice) -> None:
        self.live.request(lambda: self.open(choice))

    def _compile(self, choice: Choice) -> None:
        """Compile a scene into the cache."""
        try:
            self._ready.put((choice, prepare(choice)))
        except HeelstrikeError as error:
            self._ready.put((choice, error))

    def _arrived(self, choice: Choice, made: Document | HeelstrikeError) -> None:
        """Show the scene that was compiled, or compile the one that is wanted by now."""
        self._busy = False
        wanted = self._wanted
        if wanted is not None and wanted != choice:
            self.open(wanted)
            return
        self._wanted, self.panel.message = None, ""
        self._notify(None)
        try:
            if isinstance(made, HeelstrikeError):
                raise made
            live = LiveSimulation(SceneFile(made))
        except HeelstrikeError as error:
            self.live.note = f"{choice.words}: {error}"
            self.choice.show()
            return
        self.choice.now = choice
        self._show(live)

    def _show(self, live: LiveSimulation) -> None:
        """Show another simulation in place of the present one."""
        live.speed = self.live.speed
        self.panel.scene_view.world_node.replaced = True
        with self.server.atomic():
            self.server.gui.reset()
            self.server.scene.reset()
            self.server.gui.main_panel.dock_right()
            self.server.gui.main_panel.set_width(WIDTH)
            self.panel = LivePanel(self.server, live, self.choice.add)
        for client in self.server.get_clients().values():
            self.panel.scene_view.world_node.welcome(client)

    def _notify(self, choice: Choice | None) -> None:
        """Say in every page what is being compiled; None: nothing."""
        for notice in self._notices:
            notice.remove()
        words = "" if choice is None else f"{choice.words}; the present scene goes on."
        self._notices = [
            client.add_notification("Compiling", words, loading=True, with_close_button=False)
            for client in self.server.get_clients().values()
            if words
        ]

    def _welcome(self, client: ClientHandle) -> None:
        self.panel.scene_view.world_node.welcome(client)
