"""Controls of a push by numbers: body, force, direction and duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view.browser.live_simulation import LiveSimulation

if TYPE_CHECKING:
    from viser import GuiApi


def add_push_controls(gui: GuiApi, live: LiveSimulation, weight: float) -> None:
    """Add a folder of controls; `weight` is the robot's [N]."""
    names = [body.name for body in live.scene.robot.bodies]
    with gui.add_folder("Push", expand_by_default=False):
        gui.add_markdown("Drag a body with the mouse to push it, or push it by numbers:")
        body = gui.add_dropdown("body", names, initial_value=names[0])
        largest = _two_digits(2 * weight)
        initial = _two_digits(weight / 4)
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
        live.request(lambda: live.push(chosen, newtons, float(duration.value)))

    button.on_click(push)


def _two_digits(value: float) -> float:
    """Round to two digits."""
    return float(f"{value:.1e}")
