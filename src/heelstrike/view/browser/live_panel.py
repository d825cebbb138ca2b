"""The panel of a live scene: run and reset, the laws' parameters as sliders, pushes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.scene.files.schema import field_notes
from heelstrike.scene.scene import Scene
from heelstrike.simulate.parameters import Parameters
from heelstrike.view.browser.contact_curves import ContactCurves, add_curves
from heelstrike.view.browser.instances import Arrows
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.scene_view import SceneView, add_switches, colour
from heelstrike.view.browser.world_node import WORLD

if TYPE_CHECKING:
    from viser import ViserServer

CURVES = 6
"""Pictures from one drawing of the curves to the next."""
TOLD = 8
"""Pictures from one line of numbers to the next."""
SPEEDS = ("0.05x", "0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
PUSH = (120, 60, 180)


@dataclass(frozen=True)
class LawSlider:
    """A law's parameter on a slider."""

    path: str
    value: float
    least: float
    most: float
    meaning: str
    """With its unit in brackets, where it has one."""

    @property
    def label(self) -> str:
        """What follows the surface's name, and the unit."""
        unit = self.meaning.rpartition("[")[2] if self.meaning.endswith("]") else ""
        return self.path.partition(".")[2] + (f" [{unit}" if unit else "")


def law_sliders(scene: Scene, values: Parameters) -> dict[str, list[LawSlider]]:
    """Of every surface and body that has a law, by its name: what may change while it runs."""
    found: dict[str, list[LawSlider]] = {}
    for owner, law in scene.laws.items():
        for path in values:
            own = path.startswith(f"{owner}.") and values.size(path) == 1
            parent: object = law
            *inner, name = path.removeprefix(f"{owner}.").split(".")
            for part in inner:
                parent = getattr(parent, part, None)
            if own and hasattr(parent, name):
                cls: Any = type(parent)
                meaning = field_notes(cls).get(name, "")
                found.setdefault(owner, []).append(_knob(path, float(values[path][0]), meaning))
    return found


def _knob(path: str, value: float, meaning: str) -> LawSlider:
    """A range that holds the value: about it where it has a unit, else from 0 to 1 or twice it."""
    if value > 0 and meaning.endswith("]"):
        return LawSlider(path, value, value / 10, 4 * value, meaning)
    return LawSlider(path, value, min(0.0, 2 * value), max(1.0, 2 * value), meaning)


class LivePanel:
    """A live scene in the browser."""

    def __init__(self, server: ViserServer, live: LiveSimulation) -> None:
        self.server, self.live = server, live
        weight = live.scene.robot.mass * float(np.linalg.norm(live.scene.scene.gravity))
        self.scene_view = SceneView(server, [live.values], strongest=max(weight / 2, 1e-3))
        self.arrow = Arrows(server.scene, f"{WORLD}/push", 1, PUSH)
        self._count, self._weight = 0, weight
        self._panel()

    def play(self, until: Callable[[], bool]) -> None:
        """Simulates and shows until something holds."""
        while not until():
            self.frame()

    def frame(self) -> None:
        """One picture."""
        self.live.frame()
        now = self.live.values.at(-1)
        self._count += 1
        with self.server.atomic():
            self.scene_view.overlays[0].run = self.live.values
            self.scene_view.show([now])
            self._show_push()
            if self.curves is not None and self._count % CURVES == 0:
                self._draw(self.curves)
        if self._count % TOLD == 0:
            self._tell()

    def _draw(self, curves: ContactCurves) -> None:
        """The curves, if there is anything new; nothing is shaded, all of it is past."""
        if curves.runs[0] is not self.live.values:
            curves.runs = [self.live.values]
            curves.redraw(-np.inf)

    def toggle(self) -> None:
        """Pauses, or goes on."""
        self.live.paused = not self.live.paused
        self.button.label = "Run" if self.live.paused else "Pause"
        self.button.icon = "player-play" if self.live.paused else "player-pause"

    def _tell(self) -> None:
        """Numbers, and once what went wrong."""
        live = self.live
        state = f"**{live.factor:.2f}** times real time, {100 * live.share:.0f} % of it in steps"
        if live.paused or live.failed:
            state = "paused" if live.paused else "**diverged**; reset it"
        changed = live.change_time
        last = (
            "" if changed is None else f"  \nlast change took effect after {1e3 * changed:.1f} ms"
        )
        self.numbers.content = f"t = {live.time:.2f} s, {state}{last}"
        note, live.note = live.note, ""
        if note:
            for client in self.server.get_clients().values():
                client.add_notification("Heelstrike", note, color="orange")

    def _show_push(self) -> None:
        """An arrow from the body, as those of contacts: by the same scale."""
        tail, vector = np.zeros((1, 3)), np.zeros((1, 3))
        for body, force in self.live.pushes().items():
            node = self.scene_view.robots[0].bodies[self.live.scene.robot.body(body)]
            tail[0], vector[0] = node.position, force / self.scene_view.scale
        self.arrow.show(tail, vector, 0.03 * self.scene_view.world_node.size)

    def _panel(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Simulation"):
            self.numbers = gui.add_markdown("")
            self.button = gui.add_button("Pause", icon="player-pause")
            reset = gui.add_button("Reset", icon="refresh")
            speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        self.button.on_click(lambda _: self.live.ask(self.toggle))
        command = gui.add_command("Run or pause", hotkey="space")
        command.on_trigger(lambda _: self.live.ask(self.toggle))
        reset.on_click(lambda _: self.live.ask(self.live.reset))
        speed.on_update(lambda _: setattr(self.live, "speed", float(speed.value[:-1])))
        self._laws()
        self._push()
        add_switches(self.server, self.scene_view, self.live.ask)
        self.curves = add_curves(gui, [self.live.values], [colour(0)])

    def _laws(self) -> None:
        gui = self.server.gui
        for owner, found in law_sliders(self.live.scene.scene, self.live.sim.parameters).items():
            with gui.add_folder(f"Law of {owner}"):
                for knob in found:
                    slider = gui.add_slider(
                        knob.label,
                        min=knob.least,
                        max=knob.most,
                        step=(knob.most - knob.least) / 390,
                        initial_value=knob.value,
                        hint=knob.meaning or None,
                    )
                    slider.on_update(self._setting(knob.path))

    def _setting(self, path: str) -> Callable[[Any], None]:
        """What a slider does; where its value is refused it goes back."""
        live = self.live

        def change(slider: Any) -> None:
            try:
                live.set(path, float(slider.value))
            except HeelstrikeError:
                slider.value = float(live.sim.parameters[path][0])
                raise

        return lambda event: live.ask(lambda: change(event.target))

    def _push(self) -> None:
        gui, names = self.server.gui, [body.name for body in self.live.scene.robot.bodies]
        with gui.add_folder("Push"):
            body = gui.add_dropdown("body", names, initial_value=names[0])
            most = _tidy(2 * self._weight)
            force = gui.add_slider("force [N]", 0.0, most, most / 200, _tidy(self._weight / 4))
            turn = gui.add_slider(
                "direction [deg]", -180, 180, 5, 0, hint="from x, which robots face, towards y"
            )
            rise = gui.add_slider("upward [deg]", -90, 90, 5, 0)
            lasts = gui.add_slider("duration [s]", 0.01, 1.0, 0.01, 0.1)
            button = gui.add_button("Push", icon="hand-finger")

        def pushed(_: object) -> None:
            a, b = np.radians([turn.value, rise.value])
            along = [np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)]
            chosen, newtons = body.value, float(force.value) * np.array(along)
            self.live.ask(lambda: self.live.push(chosen, newtons, float(lasts.value)))

        button.on_click(pushed)


def _tidy(value: float) -> float:
    """To two digits."""
    return float(f"{value:.1e}")
