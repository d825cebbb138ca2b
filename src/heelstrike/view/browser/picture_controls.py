"""Buttons for pictures and films of a live scene, which are drawn while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.view.browser import capture
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.run_arrays import Sample
from heelstrike.view.browser.scene_view import SceneView

if TYPE_CHECKING:
    from PIL.Image import Image
    from viser import ClientHandle, GuiApi, GuiButtonHandle, GuiEvent

Say = Callable[[str], None]
"""Shows a message; an empty one shows none."""


class PictureControls:
    """Buttons that frame the robot, and that send a picture or a film to the page."""

    def __init__(
        self,
        gui: GuiApi,
        live: LiveSimulation,
        view: SceneView,
        shown_time: Callable[[], float | None],
        say: Say,
    ) -> None:
        """Add the buttons; `shown_time` returns the time that is shown [s], None for now."""
        self._live, self._view, self._shown_time, self._say = live, view, shown_time, say
        self._busy = threading.Lock()
        with gui.add_folder("Picture"):
            centre = gui.add_button("Centre view", icon="focus-centered")
            picture = gui.add_button("Screenshot", icon="camera", hint="download a PNG")
            film = gui.add_button("Film", icon="movie", hint="download the last 10 s as a GIF")
        self._on_click(centre, view.world_node.frame)
        self._on_click(picture, lambda client: self._start(self._picture, client))
        self._on_click(film, lambda client: self._start(self._film, client))

    def _on_click(self, button: GuiButtonHandle, work: Callable[[ClientHandle], None]) -> None:
        """Have a button do its work for the page in which it is clicked, between two frames."""

        def clicked(event: GuiEvent[GuiButtonHandle]) -> None:
            client = event.client
            if client is not None:
                self._live.request(lambda: work(client))

        button.on_click(clicked)

    def _start(
        self,
        work: Callable[[ClientHandle], Callable[[], None]],
        client: ClientHandle,
    ) -> None:
        """Prepare a picture now, and draw it in another thread, one at a time."""
        if not self._busy.acquire(blocking=False):
            raise HeelstrikeError("a picture or a film is still being drawn")
        draw = work(client)

        def run() -> None:
            try:
                draw()
            finally:
                self._say("")
                self._busy.release()

        threading.Thread(target=run, daemon=True).start()

    def _picture(self, client: ClientHandle) -> Callable[[], None]:
        history, time = self._live.history, self._shown_time()
        now = history.now if time is None else history.sample(time)
        draw_one, name = self._pencil(client, capture.PICTURE), self._live.scene.name

        def draw() -> None:
            self._say("drawing a picture")
            drawn = capture.png(draw_one(now))
            client.send_file_download(f"{name}.png", drawn, save_immediately=True)

        return draw

    def _film(self, client: ClientHandle) -> Callable[[], None]:
        run = self._live.values
        times = np.arange(run.time[0], run.time[-1], 1 / capture.RATE)
        draw_one, name = self._pencil(client, capture.FILM), self._live.scene.name

        def draw() -> None:
            pictures = []
            for k, time in enumerate(times):
                self._say(f"filming: frame {k + 1} of {len(times)}")
                pictures.append(draw_one(run.at(run.index(float(time)))))
            client.send_file_download(f"{name}.gif", capture.gif(pictures), save_immediately=True)

        return draw

    def _pencil(self, client: ClientHandle, side: int) -> Callable[[Sample], Image]:
        """Return a function that draws samples as a page shows them, with its camera of now."""
        run, shown, eye = self._live.values, self._view, capture.page_viewpoint(client.camera)
        scale, size = shown.scale, shown.world_node.size

        def draw(now: Sample) -> Image:
            view = replace(eye, position=eye.position - shown.shift(now))
            return capture.draw(run, now, view, side, scale, size)

        return draw
