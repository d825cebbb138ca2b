"""All runs on one stage: robots, marks, and the panel that switches them on and off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.view import plot
from heelstrike.view.browser.instances import Colour
from heelstrike.view.browser.overlays import COLOURS, KINDS, Overlays
from heelstrike.view.browser.robot_node import RobotNode
from heelstrike.view.browser.run_arrays import RunArrays, Sample
from heelstrike.view.browser.world_node import WORLD, WorldNode
from heelstrike.view.render.film_strip import rounded

if TYPE_CHECKING:
    from viser import ViserServer

Act = Callable[[Callable[[], None]], None]
"""Runs a change where the scene is written."""
RUNS = tuple(plot.COLOURS[k] for k in (0, 2, 3, 5, 6, 7))
LONGEST = 0.45
"""Length of the longest arrow at first, over the robot's size."""


class SceneView:
    """The runs, shown at one time; the first in its own colours, the others as ghosts."""

    def __init__(self, server: ViserServer, runs: Sequence[RunArrays], strongest: float) -> None:
        self.runs = list(runs)
        self.world_node = WorldNode(server, runs[0])
        scene, size = server.scene, self.world_node.size
        self.scale = rounded(max(strongest, 1e-3) / (LONGEST * size))
        """Newtons of an arrow of 1 m."""
        self.following = False
        looks: list[Colour | None] = [None, *(rgb(colour(k)) for k in range(1, len(runs)))]
        self.robots, self.overlays = [], []
        for k, (run, ghost) in enumerate(zip(runs, looks, strict=True)):
            name = f"{WORLD}/run {k}" if len(runs) > 1 else f"{WORLD}/robot"
            self.robots.append(RobotNode(scene, name, run, ghost))
            self.overlays.append(Overlays(scene, f"{name} marks", run, size, ghost))
        self._present: list[Sample] = [run.at(0) for run in runs]
        self.show(self._present)

    def show(self, present: Sequence[Sample]) -> None:
        """Each run as it is now."""
        self._present = list(present)
        for actor, marks, now in zip(self.robots, self.overlays, present, strict=True):
            actor.show(now["q"])
            marks.show(now, self.scale)
        now = present[0]
        place = now["com"] if "com" in now else self.robots[0].bodies[0].position
        self.world_node.follow(np.asarray(place) if self.following else None)

    def refresh(self) -> None:
        """The same once more, after a switch."""
        self.show(self._present)

    def switch(self, kind: str, on: bool) -> None:
        """Shows or hides a mark of all runs."""
        for marks in self.overlays:
            marks.switch(kind, on)
        self.refresh()

    def hide(self, k: int, hidden: bool) -> None:
        """A run with its marks."""
        self.robots[k].root.visible = not hidden
        self.overlays[k].root.visible = not hidden


def colour(k: int) -> str:
    """Of the k-th run: neither that of forces nor that of cones."""
    return RUNS[k % len(RUNS)]


def rgb(hexadecimal: str) -> Colour:
    red, green, blue = bytes.fromhex(hexadecimal[1:])
    return red, green, blue


def add_switches(server: ViserServer, cast: SceneView, act: Act) -> None:
    """The folder of what is shown."""
    gui = server.gui
    with gui.add_folder("Show"):
        for kind, (words, _) in KINDS.items():
            there = any(marks.has(kind) for marks in cast.overlays)
            box = gui.add_checkbox(
                words,
                cast.overlays[0].shown[kind],
                disabled=not there,
                hint=None if there else "not recorded; run with record='standard'",
            )
            box.on_update(_switching(cast, kind, act))
        gui.add_html(legend({KINDS[kind][0]: colour for kind, colour in COLOURS.items()}))
        scale = gui.add_slider(
            "arrows [N/m]",
            min=cast.scale / 10,
            max=cast.scale * 5,
            step=cast.scale / 10,
            initial_value=cast.scale,
            hint="force that an arrow of 1 m stands for",
        )
        scale.on_update(lambda event: act(lambda: _rescale(cast, float(event.target.value))))
        fade = gui.add_slider("opacity", min=0.1, max=1.0, step=0.05, initial_value=1.0)
        fade.on_update(lambda event: act(lambda: cast.robots[0].fade(event.target.value)))
        follow = gui.add_checkbox("follow the robot", cast.following)
        follow.on_update(lambda event: act(lambda: _follow(cast, bool(event.target.value))))


def _switching(cast: SceneView, kind: str, act: Act) -> Any:
    return lambda event: act(lambda: cast.switch(kind, bool(event.target.value)))


def _rescale(cast: SceneView, scale: float) -> None:
    cast.scale = scale
    cast.refresh()


def _follow(cast: SceneView, on: bool) -> None:
    cast.following = on
    cast.refresh()


def legend(colours: dict[str, Colour]) -> str:
    """Words with dots of their colours, as HTML."""
    dot = "display:inline-block;width:.7em;height:.7em;border-radius:50%;margin-right:.35em"
    items = [
        f'<span style="white-space:nowrap;margin-right:.9em">'
        f'<span style="{dot};background:rgb{colour}"></span>{words}</span> '
        for words, colour in colours.items()
    ]
    return (
        f'<div style="font-size:.75em;line-height:1.7;padding:0 .6em .4em">{"".join(items)}</div>'
    )
