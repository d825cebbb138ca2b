"""Robots, scenes and simulators in a notebook: a picture beside what they hold.

Jupyter calls `_repr_html_` of what a cell returns. Where pictures cannot be rendered, the table
stands alone: a cell must never fail because of how its value is shown.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.record.provenance import describe_surface
from heelstrike.robot.robot import Robot
from heelstrike.scene.placing import placed
from heelstrike.scene.scene import Scene
from heelstrike.scene.surfaces import Surface
from heelstrike.simulate.suggest import in_words
from heelstrike.view import plot
from heelstrike.view.render.camera import fit_camera
from heelstrike.view.render.robot_solids import robot_solids
from heelstrike.view.render.sight import clear_camera
from heelstrike.view.render.snapshots import Snapshot, Snapshots
from heelstrike.view.render.surface_solids import SurfaceRecord, small_surface_points

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator

WIDTH = 260
"""Width of a picture [pixels]."""
FLOOR: SurfaceRecord = {"kind": "Plane", "normal": (0, 0, 1), "point": (0, 0, 0)}
MAX_NAMES = 6
"""Names that a row of the table lists."""

Rows = list[tuple[str, str]]
"""Names of what an object holds, and their values in words."""


def robot_html(robot: Robot) -> str:
    """Return a robot in its first pose, on flat ground if it has a free base."""
    q = _standing(robot, lambda pose: robot.on_ground(pose))
    floor = [FLOOR] if robot.points else []
    return _card(f"Robot {robot.name}", robot, q, floor, _robot_rows(robot))


def scene_html(scene: Scene) -> str:
    """Return a robot in its first pose on the surfaces of its scene."""
    robot = scene.robot
    q = _standing(robot, lambda pose: placed(scene, pose))
    rows = _robot_rows(robot) + _surface_rows(scene.surfaces)
    return _card(f"Scene of {robot.name}", robot, q, _records(scene.surfaces), rows)


def simulator_html(sim: Simulator) -> str:
    """Return the first world of a simulator as it is now, with how it is simulated."""
    compiled = sim.compiled
    started = compiled.outputs is not None
    q = np.atleast_2d(sim.state["q"] if started else sim.start["q"])[0]
    surfaces = compiled.surfaces(0)
    rows = [
        ("worlds", str(sim.worlds)),
        ("time", f"{sim.time[0] if started else 0.0:g} s, steps of {1e3 * sim.dt[0]:g} ms"),
        ("integrator", f"{sim.plan.integrator}, {sim.dtype} on {sim.device}"),
        ("control", type(sim.plan.control).__name__.removesuffix("Plan")),
        *_surface_rows(surfaces),
    ]
    return _card(f"Simulator of {sim.robot.name}", sim.robot, q, _records(surfaces), rows)


def _standing(robot: Robot, place: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return q of the first pose, placed unless the robot is fixed or touches nothing."""
    q = np.array(next(iter(robot.poses.values()), robot.neutral))
    try:
        return place(q)
    except HeelstrikeError:
        return q


def _robot_rows(robot: Robot) -> Rows:
    free = any(joint.kind == "free" for joint in robot.joints)
    joints = f"{sum(joint.kind != 'free' for joint in robot.joints)}" + ", free base" * free
    rows = [
        ("joints", joints),
        ("mass", f"{robot.mass:.4g} kg"),
        ("poses", _few(list(robot.poses))),
    ]
    return [*rows, ("contact points", f"{len(robot.points)} on {_few(_touching(robot))}")]


def _surface_rows(surfaces: Sequence[Surface]) -> Rows:
    return [(f"{s.name} ({type(s).__name__})", in_words(s.law)) for s in surfaces]


def _touching(robot: Robot) -> list[str]:
    return list(dict.fromkeys(robot.bodies[p.body].name for p in robot.points))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return (", ".join(names[:MAX_NAMES]) + more) or "none"


def _records(surfaces: Sequence[Surface]) -> list[SurfaceRecord]:
    return [describe_surface(surface) for surface in surfaces]


def _card(
    title: str, robot: Robot, q: np.ndarray, surfaces: list[SurfaceRecord], rows: Rows
) -> str:
    """Return a picture and a table side by side; the colours are the notebook's own."""
    cells = "".join(
        f'<tr><td style="text-align:left;opacity:.7">{escape(name)}</td>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return (
        '<div style="display:flex;gap:1em;align-items:center">'
        f"{_picture(robot, q, surfaces)}"
        f"<div><strong>{escape(title)}</strong><table>{cells}</table></div></div>"
    )


def _picture(robot: Robot, q: np.ndarray, surfaces: list[SurfaceRecord]) -> str:
    """Return a picture as an element of HTML; empty where it cannot be rendered."""
    from PIL import Image

    try:
        none = np.zeros((0, 3))
        shown = Snapshots("", robot, robot_solids(robot), surfaces, [Snapshot(0.0, q, none, none)])
        points = shown.corners(shown.frames[0])
        points = np.vstack([points, small_surface_points(surfaces, points)])
        view = fit_camera(clear_camera(points, surfaces), points)
        image = shown.image(shown.frames[0], view, WIDTH, plot.round_down(view.half_width / 2))
    except (HeelstrikeError, ValueError):  # no ray tracer, or nothing that can be drawn
        return ""
    file = BytesIO()
    Image.fromarray((255 * image).astype(np.uint8)).quantize(128).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(robot.name)}" width="{WIDTH}" src="data:image/png;base64,{data}">'
