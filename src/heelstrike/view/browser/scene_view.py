"""All runs in one scene: robots, overlays, and the panel that switches them on and off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.view import plot
from heelstrike.view.browser.instances import Colour
from heelstrike.view.browser.overlays import COLOURS, KINDS, Overlays
from heelstrike.view.browser.robot_node import RobotNode
from heelstrike.view.browser.run_arrays import RunArrays, Sample
from heelstrike.view.browser.world_node import WorldNode

if TYPE_CHECKING:
    from viser import GuiCheckboxHandle, GuiEvent, ViserServer

Act = Callable[[Callable[[], None]], None]
"""Runs a change in the thread that writes the scene."""
RUN_COLOURS = tuple(plot.COLOURS[k] for k in (0, 2, 3, 5, 6, 7))
"""Colours of runs: other ones than those of forces and cones."""
LONGEST_ARROW = 0.45
"""Initial length of the longest arrow over the size of the robot."""


class SceneView:
    """The runs at one time; the first has its own colours, the others are ghosts."""

    def __init__(self, server: ViserServer, runs: Sequence[RunArrays], force: float) -> None:
        """Add the nodes of all runs; `force` is the force of the longest arrow [N]."""
        self.runs = list(runs)
        self.world_node = WorldNode(server, runs[0])
        scene, size = server.scene, self.world_node.size
        self.scale = plot.round_down(max(force, 1e-3) / (LONGEST_ARROW * size))
        """Force of an arrow of 1 m [N/m]."""
        self.following = False
        """Whether the robot stays in the middle of the picture while it moves."""
        looks: list[Colour | None] = [None, *(rgb(colour(k)) for k in range(1, len(runs)))]
        self.robots, self.overlays = [], []
        for k, (run, ghost) in enumerate(zip(runs, looks, strict=True)):
            part = f"run {k}" if len(runs) > 1 else "robot"
            name = f"{self.world_node.name}/{part}"
            self.robots.append(RobotNode(scene, name, run, ghost))
            self.overlays.append(Overlays(scene, f"{name} overlays", run, size, ghost))
        self._present: list[Sample] = [run.at(0) for run in runs]
        self.show(self._present)

    def show(self, present: Sequence[Sample]) -> None:
        """Show a sample of each run."""
        self._present = list(present)
        for robot, overlays, now in zip(self.robots, self.overlays, present, strict=True):
            robot.show(now["q"])
            overlays.show(now, self.scale)
        self.world_node.follow(self._followed(present[0]))

    def shift(self, now: Sample) -> np.ndarray:
        """Return the shift of the world that shows a sample of the first run, (3,) [m]."""
        return self.world_node.shift(self._followed(now))

    def _followed(self, now: Sample) -> np.ndarray | None:
        """Return the point that is followed, if any: the CoM, or else the base."""
        if not self.following:
            return None
        return now["com"] if "com" in now else np.asarray(self.robots[0].bodies[0].position)

    def refresh(self) -> None:
        """Show the present samples again, after a setting changed."""
        self.show(self._present)

    def switch(self, kind: str, on: bool) -> None:
        """Show or hide an overlay of all runs."""
        for overlays in self.overlays:
            overlays.switch(kind, on)
        self.refresh()

    def hide(self, k: int, hidden: bool) -> None:
        """Hide or show a run with its overlays."""
        self.robots[k].root.visible = not hidden
        self.overlays[k].root.visible = not hidden


def colour(k: int) -> str:
    """Return the colour of the k-th run."""
    return RUN_COLOURS[k % len(RUN_COLOURS)]


def rgb(hexadecimal: str) -> Colour:
    """Return a colour such as #0072b2 as red, green and blue, 0 to 255."""
    red, green, blue = bytes.fromhex(hexadecimal[1:])
    return red, green, blue


def add_switches(server: ViserServer, view: SceneView, act: Act) -> None:
    """Add the folder of controls for what is shown."""
    gui = server.gui
    with gui.add_folder("Show"):
        for kind, (words, _) in KINDS.items():
            there = any(overlays.has(kind) for overlays in view.overlays)
            box = gui.add_checkbox(
                words,
                view.overlays[0].shown[kind],
                disabled=not there,
                hint=None if there else "not recorded: run with record='standard'",
            )
            box.on_update(_switching(view, kind, act))
        gui.add_html(legend({KINDS[kind][0]: colour for kind, colour in COLOURS.items()}))
        scale = gui.add_slider(
            "force scale [N/m]",
            min=view.scale / 10,
            max=view.scale * 5,
            step=view.scale / 10,
            initial_value=view.scale,
            hint="force of an arrow of 1 m",
        )
        scale.on_update(lambda event: act(lambda: _rescale(view, float(event.target.value))))
        fade = gui.add_slider("opacity", min=0.1, max=1.0, step=0.05, initial_value=1.0)
        fade.on_update(lambda event: act(lambda: view.robots[0].fade(event.target.value)))
        follow = gui.add_checkbox("follow robot", view.following)
        follow.on_update(lambda event: act(lambda: _follow(view, bool(event.target.value))))


def _switching(
    view: SceneView, kind: str, act: Act
) -> Callable[[GuiEvent[GuiCheckboxHandle]], None]:
    """Return the callback of an overlay's checkbox."""
    return lambda event: act(lambda: view.switch(kind, bool(event.target.value)))


def _rescale(view: SceneView, scale: float) -> None:
    view.scale = scale
    view.refresh()


def _follow(view: SceneView, on: bool) -> None:
    view.following = on
    view.refresh()


def legend(colours: dict[str, Colour]) -> str:
    """Return words with dots of their colours as HTML."""
    dot = "display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.35em"
    items = [
        f'<span style="white-space:nowrap;margin-right:.9em">'
        f'<span style="{dot};background:rgb{colour}"></span>{words}</span> '
        for words, colour in colours.items()
    ]
    return (
        f'<div style="font-size:.75em;line-height:1.7;padding:0 .6em .4em">{"".join(items)}</div>'
    )
