"""The scene of a robot on a plane whose law is chosen for that robot, step and height of fall.

The law is Hunt and Crossley's with the numbers of `hs.suggest` for the speed of the fall. Where the
step does not allow these numbers (light links at the soles), an implicit spring serves, which is
stable in any step.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.files.overrides import with_drop, with_law, with_settings, with_values
from heelstrike.scene.files.robot_on_plane import robot_on_plane
from heelstrike.scene.files.write import as_table
from heelstrike.simulate.scene_file import SceneFile
from heelstrike.simulate.suggest import suggest

MIN_SPEED = 0.5
"""Smallest speed of impact that a law is chosen for [m/s]."""
DEPTH, RESTITUTION = 1e-3, 0.3
"""Depth at rest [m] and restitution that are required of the law."""
MAX_DEPTH, MAX_RESTITUTION = 2e-3, 0.5
"""Depth [m] and restitution of an explicit law above which an implicit one is chosen."""


def robot_scene(
    robot: str | os.PathLike[str],
    law: str | None = None,
    drop: float | None = None,
    collide: str | Sequence[str] | None = None,
    duration: float | None = None,
    dt: float | None = None,
    settings: Sequence[str] = (),
) -> SceneFile:
    """Return the scene of a robot on a plane, as `heelstrike run --robot` simulates it.

    The law suits the robot, joints start inside their ranges, a servo holds them, and a URDF that
    rests on its base alone is fixed there.

    Args:
        robot: a bundled name, or a path to .urdf or .xml.
        law: name of the law of the plane, whose numbers are chosen; None: Hunt and Crossley's, or
            an implicit spring where that one needs a shorter step.
        drop: height of fall [m]; None: the robot stands.
        collide: shapes that collide, as `hs.load` takes them.
        duration: simulated time [s]; None: 1 s.
        dt: time step [s]; None: 1 ms.
        settings: other values, as --set takes them: "ground.normal.k=2e4".

    Examples:
        >>> scene = hs.robot_scene("my.urdf", drop=0.02)
        >>> run = scene.run()
        >>> run.plot(path="first.png")
    """
    robot = os.fspath(robot)
    document = robot_on_plane(robot, collide, bool(drop))
    if law is not None:
        document = with_law(document, law)
    if drop is not None:
        document = with_drop(document, drop)
    values = {"--duration": duration, "--dt": dt}
    document = with_values(document, {k: v for k, v in values.items() if v is not None})
    plain = SceneFile(with_settings(document, settings))
    chosen = _chosen(plain, drop or 0.0, law is not None)
    if chosen is None:
        return plain
    surface = {**document.data["surface"][0], "law": as_table(chosen)}
    tuned = replace(document, data={**document.data, "surface": [surface]})
    made = SceneFile(with_settings(tuned, settings))
    made.__dict__["_robots"] = plain.__dict__["_robots"]  # loaded once
    return made


def _chosen(made: SceneFile, drop: float, law_named: bool) -> SurfaceLaw | None:
    """Return the law for a scene; None if there is no rule, or nothing can touch."""
    scene, own = made.scene, made.scene.surfaces[0].law
    fall = float(np.sqrt(2 * np.linalg.norm(scene.gravity) * drop))
    options: dict[str, Any] = {
        "dt": made.content.simulation.dt,
        "depth": DEPTH,
        "restitution": RESTITUTION,
        "speed": max(MIN_SPEED, fall),
        "q": made.start[0],
        "control": made.control,
    }
    try:
        found = suggest(scene, own, **options)
        if not law_named and (found.depth > MAX_DEPTH or found.restitution > MAX_RESTITUTION):
            found = suggest(scene, "implicit", **options)
    except HeelstrikeError:
        return None
    return found.law
