"""The panel of a live scene: run, reset and rewind, sliders of the laws, pushes, pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.view.browser.capture import Shown
from heelstrike.view.browser.curves import add_curves
from heelstrike.view.browser.dragging import Dragging
from heelstrike.view.browser.instances import Arrows
from heelstrike.view.browser.law_sliders import LawSlider, law_sliders, law_words
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.phone import fold_on_phones
from heelstrike.view.browser.picture_controls import PictureControls
from heelstrike.view.browser.push_controls import add_push_controls
from heelstrike.view.browser.rewind import Rewind
from heelstrike.view.browser.scene_view import SceneView, add_switches, colour

if TYPE_CHECKING:
    from viser import GuiEvent, GuiSliderHandle, ViserServer

CURVES_PERIOD = 6
"""Frames between two updates of the curves."""
STATUS_PERIOD = 8
"""Frames between two updates of the status line."""
SPEEDS = ("0.05x", "0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
PUSH_COLOUR = (120, 60, 180)


class LivePanel:
    """A live scene in the browser, and its controls."""

    def __init__(
        self,
        server: ViserServer,
        live: LiveSimulation,
        add_choices: Callable[[], None] | None = None,
    ) -> None:
        """Add scene and controls; `add_choices` adds those that replace the scene by another."""
        self.server, self.live = server, live
        robot = live.scene.robot
        self.weight = robot.mass * float(np.linalg.norm(live.scene.scene.gravity))
        self.scene_view = SceneView(server, [live.values], force=max(self.weight / 2, 1e-3))
        self.scene_view.following = True
        values = live.values
        self.scene_view.world_node.subject = lambda: values.vertices_at(live.history.now["q"])
        self.arrow = Arrows(server.scene, f"{self.scene_view.world_node.name}/push", 1, PUSH_COLOUR)
        self.dragging = Dragging(live, self.scene_view, self.weight)
        self.message = ""
        """What the status line says beside the state of the simulation."""
        self._count, self._drawn_until = 0, -1.0
        self._add_panel(add_choices)

    def play(self, until: Callable[[], bool]) -> None:
        """Simulate and show the scene until `until` returns true."""
        while not until():
            self.frame()

    def frame(self) -> None:
        """Simulate and show one frame."""
        self.dragging.pull()
        self.live.frame()
        self._count += 1
        with self.server.atomic():
            self.show(self.rewind.shown_time)
            self.rewind.update()
            if self._count % CURVES_PERIOD == 0:
                self._draw_curves()
        if self._count % STATUS_PERIOD == 0:
            self._show_status()

    def show(self, time: float | None = None) -> None:
        """Show the scene at a time of the history [s]; None for the present."""
        history = self.live.history
        self.scene_view.show([history.now if time is None else history.sample(time)])
        self._show_push(time is None)

    def toggle(self) -> None:
        """Pause, or continue: from the time that is shown, if the user went back."""
        self.rewind.accept()
        self.set_paused(not self.live.paused)

    def set_paused(self, paused: bool) -> None:
        """Pause or continue, and label the button accordingly."""
        self.live.paused = paused
        self.button.label = "Run" if paused else "Pause"
        self.button.icon = "player-play" if paused else "player-pause"

    def say(self, message: str) -> None:
        """Show a message in the status line; an empty one ends it."""
        self.message = message

    def _draw_curves(self) -> None:
        """Draw the curves if there is new data; the future of a time gone back to is shaded."""
        shown = self.rewind.shown_time
        until = self.live.history.end if shown is None else shown
        if self.curves is None or until == self._drawn_until:
            return
        self._drawn_until = until
        self.curves.runs = [self.live.values]
        self.curves.redraw(-np.inf if shown is None else shown)

    def _show_status(self) -> None:
        """Show time, speed and latency, and notify once of a warning or an error."""
        live, shown = self.live, self.rewind.shown_time
        state = f"**{live.factor:.2f}** times real time, {100 * live.load:.0f} % spent in steps"
        if live.paused or live.failed:
            state = "paused" if live.paused else "**diverged**: press Reset, or rewind"
        if shown is not None:
            state = f"back at **{shown:.2f} s**; Run goes on from here"
        delay = live.change_time
        last = "" if delay is None else f"  \nlast change took effect after {1e3 * delay:.1f} ms"
        said = f"  \n**{self.message}**" if self.message else last
        self.status.content = f"t = {live.time:.2f} s, {state}{said}"
        note, live.note = live.note, ""
        if note:
            for client in self.server.get_clients().values():
                client.add_notification("Heelstrike", note, color="orange")

    def _show_push(self, now: bool) -> None:
        """Show the push as an arrow from where it acts, with the scale of contact forces."""
        tail, vector = np.zeros((1, 3)), np.zeros((1, 3))
        acting = self.live.pushes() if now else {}
        for body, (force, point) in acting.items():
            pose = self.scene_view.robots[0].poses[self.live.scene.robot.body(body)]
            tail[0], vector[0] = pose[0] @ point + pose[1], force / self.scene_view.scale
        self.arrow.show(tail, vector, 0.03 * self.scene_view.world_node.size)

    def _set_speed(self, text: str) -> None:
        self.live.speed = float(text.removesuffix("x"))

    def _add_panel(self, add_choices: Callable[[], None] | None) -> None:
        gui, act = self.server.gui, self.live.request
        gui.set_panel_label(f"Controls: {self.live.scene.name}")
        fold_on_phones(gui)
        with gui.add_folder("Simulation"):
            self.status = gui.add_markdown("")
            self.button = gui.add_button("Pause", icon="player-pause")
            reset = gui.add_button("Reset", icon="refresh")
            speed = gui.add_dropdown("speed", SPEEDS, initial_value=f"{self.live.speed:g}x")
            self.rewind = Rewind(gui, self.live, lambda: self.set_paused(True))
        self.button.on_click(lambda _: act(self.toggle))
        command = gui.add_command("Run or pause", hotkey="space")
        command.on_trigger(lambda _: act(self.toggle))
        reset.on_click(lambda _: act(self._reset))
        speed.on_update(lambda _: self._set_speed(speed.value))
        if add_choices is not None:
            add_choices()
        self._add_law_sliders()
        add_push_controls(gui, self.live, self.weight)
        add_switches(self.server, self.scene_view, act)
        PictureControls(gui, self.scene_view, act, self._subject, self.say, "the last 10 s")
        self.curves = add_curves(gui, [self.live.values], [colour(0)], act)

    def _subject(self) -> tuple[str, list[Shown], float]:
        """Return what a picture shows: the present, or the time that the user went back to."""
        history, time = self.live.history, self.rewind.shown_time
        now = history.now if time is None else history.sample(time)
        return self.live.scene.name, [Shown(self.live.values, now)], self.live.speed

    def _reset(self) -> None:
        self.rewind.forget()
        self.live.reset()

    def _add_law_sliders(self) -> None:
        gui, scene = self.server.gui, self.live.scene.scene
        found = law_sliders(scene, self.live.sim.parameters)
        for k, (owner, sliders) in enumerate(found.items()):
            title = f"{owner.capitalize()}: {law_words(scene.laws[owner])}"
            with gui.add_folder(title, expand_by_default=k == 0):
                for slider in sliders:
                    if not slider.numerical:
                        self._add_law_slider(slider)
                if any(slider.numerical for slider in sliders):
                    with gui.add_folder("Solver", expand_by_default=False):
                        for slider in sliders:
                            if slider.numerical:
                                self._add_law_slider(slider)

    def _add_law_slider(self, slider: LawSlider) -> None:
        handle = self.server.gui.add_slider(
            slider.label,
            min=slider.low,
            max=slider.high,
            step=(slider.high - slider.low) / 390,
            initial_value=slider.value,
            hint=slider.hint,
        )
        handle.on_update(self._setting(slider.path))

    def _setting(self, path: str) -> Callable[[GuiEvent[GuiSliderHandle[float]]], None]:
        """Return the callback of a slider; it moves back if its value is refused."""
        live = self.live

        def change(slider: GuiSliderHandle[float]) -> None:
            try:
                live.set(path, float(slider.value))
            except HeelstrikeError:
                slider.value = float(live.sim.parameters[path][0])
                raise

        return lambda event: live.request(lambda: change(event.target))
