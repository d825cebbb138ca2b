"""Player of recordings in the browser: time slider, play and pause, speed, pictures, curves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from heelstrike.view.browser.capture import Shown
from heelstrike.view.browser.curves import add_curves
from heelstrike.view.browser.phone import fold_on_phones
from heelstrike.view.browser.picture_controls import PictureControls
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.scene_view import SceneView, add_switches, colour, legend, rgb

if TYPE_CHECKING:
    from viser import GuiCheckboxHandle, GuiEvent, GuiSliderHandle, ViserServer

RATE = 30.0
"""Frames per second of wall time."""
SPEEDS = ("0.01x", "0.05x", "0.1x", "0.25x", "0.5x", "1x", "2x", "4x")


class Player:
    """The runs at one time, which advances while it plays."""

    def __init__(self, server: ViserServer, runs: Sequence[RunArrays]) -> None:
        self.server, self.runs = server, list(runs)
        self.lock = threading.RLock()
        self.end = max(float(run.time[-1]) for run in runs)
        self.begin = min(float(run.time[0]) for run in runs)
        self.playing = False
        self.speed = 1.0
        force = max(run.typical_peak_force() for run in runs)
        self.scene_view = SceneView(server, runs, force)
        self.scene_view.following = self.scene_view.world_node.leaves_picture
        self._add_panel()
        self.seek(self.begin)
        server.on_client_connect(self.scene_view.world_node.welcome)

    def seek(self, moment: float) -> None:
        """Show a time [s]."""
        with self.lock, self.server.atomic():
            self.time = min(max(moment, self.begin), self.end)
            self.scene_view.show([run.at(run.index(self.time)) for run in self.runs])
            if self.slider.value != self.time:
                self.slider.value = self.time
            if self.curves is not None:
                self.curves.mark(self.time)

    def toggle(self) -> None:
        """Play or pause; at the end, play from the beginning."""
        with self.lock:
            self.playing = not self.playing
            if self.playing and self.time >= self.end:
                self.time = self.begin
            self.button.label = "Pause" if self.playing else "Play"
            self.button.icon = "player-pause" if self.playing else "player-play"

    def play(self, until: Callable[[], bool]) -> None:
        """Advance the time while it plays; return when `until` returns true."""
        last = time.perf_counter()
        while not until():
            time.sleep(1 / RATE)
            now = time.perf_counter()
            spent, last = now - last, now
            if not self.playing:
                continue
            self.seek(self.time + spent * self.speed)
            if self.time >= self.end:
                self.toggle()

    def _act(self, change: Callable[[], None]) -> None:
        with self.lock:
            change()

    def _set_speed(self, text: str) -> None:
        self.speed = float(text.removesuffix("x"))

    def _add_panel(self) -> None:
        gui, span = self.server.gui, max(self.end - self.begin, 1e-6)
        gui.set_panel_label("Controls")
        fold_on_phones(gui)
        with gui.add_folder("Time"):
            self.slider = gui.add_slider(
                "time [s]", min=self.begin, max=self.end, step=span / 2000, initial_value=self.begin
            )
            self.button = gui.add_button("Play", icon="player-play")
            speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
            self.message = gui.add_markdown("", visible=False)
        self.slider.on_update(self._slider_moved)
        self.button.on_click(lambda _: self.toggle())
        gui.add_command("Play or pause", hotkey="space").on_trigger(lambda _: self.toggle())
        speed.on_update(lambda _: self._set_speed(speed.value))
        if len(self.runs) > 1:
            self._add_run_switches()
        add_switches(self.server, self.scene_view, self._act)
        words = "the whole recording, at the chosen speed,"
        PictureControls(gui, self.scene_view, self._act, self._subject, self._say, words)
        self.curves = add_curves(
            gui, self.runs, [colour(k) for k in range(len(self.runs))], self._act
        )

    def _subject(self) -> tuple[str, list[Shown], float]:
        """Return what a picture shows: the recordings that are not hidden, the first always."""
        shown = []
        for k, run in enumerate(self.runs):
            if k == 0 or self.scene_view.robots[k].root.visible:
                ghost = rgb(colour(k)) if k else None
                shown.append(Shown(run, run.at(run.index(self.time)), ghost))
        return self.runs[0].label or self.runs[0].robot.name, shown, self.speed

    def _say(self, message: str) -> None:
        """Show a message below the controls of time; an empty one ends it."""
        self.message.content, self.message.visible = message, bool(message)

    def _slider_moved(self, event: GuiEvent[GuiSliderHandle[float]]) -> None:
        if event.client is not None:  # else moved by the player itself
            self.seek(float(self.slider.value))

    def _add_run_switches(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Recordings"):
            for k, run in enumerate(self.runs):
                box = gui.add_checkbox(run.label, True)
                box.on_update(self._hiding(k))
            gui.add_html(legend({run.label: rgb(colour(k)) for k, run in enumerate(self.runs)}))

    def _hiding(self, k: int) -> Callable[[GuiEvent[GuiCheckboxHandle]], None]:
        """Return the callback of the checkbox that shows the k-th run."""
        return lambda event: self._act(lambda: self.scene_view.hide(k, not event.target.value))
