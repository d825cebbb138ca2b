"""The panel of a live scene: run and reset, sliders of the laws' parameters, pushes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import parameters
from heelstrike.scene.files.schema import field_notes
from heelstrike.scene.scene import Scene
from heelstrike.simulate.parameters import Parameters
from heelstrike.view.browser.curves import Curves, add_curves
from heelstrike.view.browser.instances import Arrows
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.scene_view import SceneView, add_switches, colour
from heelstrike.view.browser.world_node import WORLD

if TYPE_CHECKING:
    from viser import GuiEvent, GuiSliderHandle, ViserServer

CURVES_PERIOD = 6
"""Frames between two updates of the curves."""
STATUS_PERIOD = 8
"""Frames between two updates of the status line."""
SPEEDS = ("0.05x", "0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
PUSH_COLOUR = (120, 60, 180)


@dataclass(frozen=True)
class LawSlider:
    """The slider of a law's parameter."""

    path: str
    value: float
    low: float
    high: float
    meaning: str
    """Meaning of the parameter, with its unit in brackets if it has one."""

    @property
    def label(self) -> str:
        """The path without the surface's name, and the unit."""
        unit = self.meaning.rpartition("[")[2] if self.meaning.endswith("]") else ""
        return self.path.partition(".")[2] + (f" [{unit}" if unit else "")


def law_sliders(scene: Scene, values: Parameters) -> dict[str, list[LawSlider]]:
    """Return the sliders of every law's run-time parameters, by the surface or body it is on."""
    found: dict[str, list[LawSlider]] = {}
    for owner, law in scene.laws.items():
        for inner in parameters(law):
            path = f"{owner}.{inner}"
            if path in values and values.size(path) == 1:
                *nodes, name = inner.split(".")
                node: type = type(reduce(getattr, nodes, law))
                meaning = field_notes(node).get(name, "")
                slider = _law_slider(path, float(values[path][0]), meaning)
                found.setdefault(owner, []).append(slider)
    return found


def _law_slider(path: str, value: float, meaning: str) -> LawSlider:
    """Return a slider: around the value if it has a unit, else from 0 to at least 1."""
    if value > 0 and meaning.endswith("]"):
        return LawSlider(path, value, value / 10, 4 * value, meaning)
    return LawSlider(path, value, min(0.0, 2 * value), max(1.0, 2 * value), meaning)


class LivePanel:
    """A live scene in the browser, and its controls."""

    def __init__(self, server: ViserServer, live: LiveSimulation) -> None:
        self.server, self.live = server, live
        weight = live.scene.robot.mass * float(np.linalg.norm(live.scene.scene.gravity))
        self.scene_view = SceneView(server, [live.values], force=max(weight / 2, 1e-3))
        self.scene_view.following = True
        self.scene_view.world_node.subject = lambda: live.values.vertices(-1)
        server.on_client_connect(self.scene_view.world_node.welcome)
        self.arrow = Arrows(server.scene, f"{WORLD}/push", 1, PUSH_COLOUR)
        self._count, self._weight = 0, weight
        self._add_panel()

    def play(self, until: Callable[[], bool]) -> None:
        """Simulate and show the scene until `until` returns true."""
        while not until():
            self.frame()

    def frame(self) -> None:
        """Simulate and show one frame."""
        self.live.frame()
        now = self.live.values.at(-1)
        self._count += 1
        with self.server.atomic():
            self.scene_view.overlays[0].run = self.live.values
            self.scene_view.show([now])
            self._show_push()
            if self.curves is not None and self._count % CURVES_PERIOD == 0:
                self._draw_curves(self.curves)
        if self._count % STATUS_PERIOD == 0:
            self._show_status()

    def _draw_curves(self, curves: Curves) -> None:
        """Draw the curves if there is new data; all of it is past, so nothing is shaded."""
        if curves.runs[0] is not self.live.values:
            curves.runs = [self.live.values]
            curves.redraw(-np.inf)

    def toggle(self) -> None:
        """Pause, or continue."""
        self.live.paused = not self.live.paused
        self.button.label = "Run" if self.live.paused else "Pause"
        self.button.icon = "player-play" if self.live.paused else "player-pause"

    def _show_status(self) -> None:
        """Show time, speed and latency, and notify once of a warning or an error."""
        live = self.live
        state = f"**{live.factor:.2f}** times real time, {100 * live.load:.0f} % spent in steps"
        if live.paused or live.failed:
            state = "paused" if live.paused else "**diverged**: press Reset"
        delay = live.change_time
        last = "" if delay is None else f"  \nlast change took effect after {1e3 * delay:.1f} ms"
        self.status.content = f"t = {live.time:.2f} s, {state}{last}"
        note, live.note = live.note, ""
        if note:
            for client in self.server.get_clients().values():
                client.add_notification("Heelstrike", note, color="orange")

    def _show_push(self) -> None:
        """Show the push as an arrow from the body, with the scale of contact forces."""
        tail, vector = np.zeros((1, 3)), np.zeros((1, 3))
        for body, force in self.live.pushes().items():
            node = self.scene_view.robots[0].bodies[self.live.scene.robot.body(body)]
            tail[0], vector[0] = node.position, force / self.scene_view.scale
        self.arrow.show(tail, vector, 0.03 * self.scene_view.world_node.size)

    def _set_speed(self, text: str) -> None:
        self.live.speed = float(text.removesuffix("x"))

    def _add_panel(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Simulation"):
            self.status = gui.add_markdown("")
            self.button = gui.add_button("Pause", icon="player-pause")
            reset = gui.add_button("Reset", icon="refresh")
            speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        self.button.on_click(lambda _: self.live.request(self.toggle))
        command = gui.add_command("Run or pause", hotkey="space")
        command.on_trigger(lambda _: self.live.request(self.toggle))
        reset.on_click(lambda _: self.live.request(self.live.reset))
        speed.on_update(lambda _: self._set_speed(speed.value))
        self._add_law_sliders()
        self._add_push()
        add_switches(self.server, self.scene_view, self.live.request)
        self.curves = add_curves(gui, [self.live.values], [colour(0)], self.live.request)

    def _add_law_sliders(self) -> None:
        gui = self.server.gui
        for owner, sliders in law_sliders(self.live.scene.scene, self.live.sim.parameters).items():
            with gui.add_folder(f"Law of {owner}"):
                for slider in sliders:
                    handle = gui.add_slider(
                        slider.label,
                        min=slider.low,
                        max=slider.high,
                        step=(slider.high - slider.low) / 390,
                        initial_value=slider.value,
                        hint=slider.meaning or None,
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

    def _add_push(self) -> None:
        gui, names = self.server.gui, [body.name for body in self.live.scene.robot.bodies]
        with gui.add_folder("Push"):
            body = gui.add_dropdown("body", names, initial_value=names[0])
            largest = _two_digits(2 * self._weight)
            initial = _two_digits(self._weight / 4)
            force = gui.add_slider("force [N]", 0.0, largest, largest / 200, initial)
            azimuth = gui.add_slider(
                "azimuth [deg]", -180, 180, 5, 0, hint="from x, which robots face, towards y"
            )
            elevation = gui.add_slider("elevation [deg]", -90, 90, 5, 0)
            duration = gui.add_slider("duration [s]", 0.01, 1.0, 0.01, 0.1)
            button = gui.add_button("Push", icon="hand-finger")

        def push(_: object) -> None:
            a, b = np.radians([azimuth.value, elevation.value])
            along = [np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)]
            chosen, newtons = body.value, float(force.value) * np.array(along)
            self.live.request(lambda: self.live.push(chosen, newtons, float(duration.value)))

        button.on_click(push)


def _two_digits(value: float) -> float:
    """Round to two digits."""
    return float(f"{value:.1e}")
