"""Buttons for pictures and films of what is shown, which are drawn while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view.browser import capture
from heelstrike.view.browser.capture import Shown
from heelstrike.view.browser.scene_view import Act, SceneView
from heelstrike.view.render.gif import gif

if TYPE_CHECKING:
    from PIL.Image import Image
    from viser import ClientHandle, GuiApi, GuiButtonHandle, GuiEvent

Say = Callable[[str], None]
"""Shows a message; an empty one shows none."""
MAX_FRAMES = 600
"""Frames of a film, at most."""


class PictureControls:
    """Buttons that frame the robot, and that send a picture or a film to the page."""

    def __init__(
        self,
        gui: GuiApi,
        view: SceneView,
        act: Act,
        subject: Callable[[], tuple[str, Sequence[Shown], float]],
        say: Say,
        filmed: str,
    ) -> None:
        """Add the buttons.

        Args:
            act: runs a change in the thread that writes the scene.
            subject: returns a name for files, the runs as they are shown now, and the speed.
            say: shows the progress of a film.
            filmed: what a film shows, in words.
        """
        self._view, self._act, self._subject, self._say = view, act, subject, say
        self._busy = threading.Lock()
        with gui.add_folder("Picture"):
            centre = gui.add_button("Centre view", icon="focus-centered")
            picture = gui.add_button("Screenshot", icon="camera", hint="download a PNG")
            film = gui.add_button("Film", icon="movie", hint=f"download {filmed} as a GIF")
        self._on_click(centre, view.world_node.frame)
        self._on_click(picture, lambda client: self._start(self._picture, client))
        self._on_click(film, lambda client: self._start(self._film, client))

    def _on_click(self, button: GuiButtonHandle, work: Callable[[ClientHandle], None]) -> None:
        """Have a button do its work for the page in which it is clicked, between two frames."""

        def clicked(event: GuiEvent[GuiButtonHandle]) -> None:
            client = event.client
            if client is not None:
                self._act(lambda: work(client))

        button.on_click(clicked)

    def _start(
        self,
        work: Callable[[ClientHandle], Callable[[], None] | None],
        client: ClientHandle,
    ) -> None:
        """Prepare a picture now, and draw it in another thread, one at a time."""
        if not self._busy.acquire(blocking=False):
            _refuse(client, "a picture or a film is still being drawn")
            return
        draw = work(client)

        def run() -> None:
            try:
                if draw is not None:
                    draw()
            finally:
                self._say("")
                self._busy.release()

        threading.Thread(target=run, daemon=True).start()

    def _picture(self, client: ClientHandle) -> Callable[[], None]:
        name, shown, _ = self._subject()
        draw_one = self._pencil(client, capture.PICTURE)

        def draw() -> None:
            self._say("drawing a picture")
            drawn = capture.png(draw_one(shown))
            client.send_file_download(f"{name}.png", drawn, save_immediately=True)

        return draw

    def _film(self, client: ClientHandle) -> Callable[[], None] | None:
        """Prepare a film of all that is kept, at the speed at which it is shown."""
        name, shown, speed = self._subject()
        clock = shown[0].run.time
        times = np.arange(clock[0], clock[-1], speed / capture.RATE)
        if len(times) > MAX_FRAMES:
            _refuse(client, f"a film of {len(times)} frames is too long; choose a higher speed")
            return None
        draw_one = self._pencil(client, capture.FILM)

        def draw() -> None:
            pictures = []
            for k, time in enumerate(times):
                self._say(f"filming: frame {k + 1} of {len(times)}")
                frame = [replace(x, now=x.run.at(x.run.index(float(time)))) for x in shown]
                pictures.append(draw_one(frame))
            made = gif(pictures, capture.RATE)
            client.send_file_download(f"{name}.gif", made, save_immediately=True)

        return draw

    def _pencil(self, client: ClientHandle, side: int) -> Callable[[Sequence[Shown]], Image]:
        """Return a function that draws runs as a page shows them, with its camera of now."""
        view, eye = self._view, capture.page_viewpoint(client.camera)
        scale, size = view.scale, view.world_node.size

        def draw(shown: Sequence[Shown]) -> Image:
            seen = replace(eye, position=eye.position - view.shift(shown[0].now))
            return capture.draw(shown, seen, side, scale, size)

        return draw


def _refuse(client: ClientHandle, why: str) -> None:
    client.add_notification("Heelstrike", why, color="orange")
