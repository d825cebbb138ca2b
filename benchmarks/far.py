"""What float32 loses far from the origin of the world.

    python -m benchmarks.far [--json FILE]

hoap1 stands on its feet and is set in motion at 0.05 m/s, 0 to 1,000 m from the origin, in steps of
1 ms for 1 s, in float32 and in float64. Coordinates are numbers of metres, which float32 keeps to
6e-8 of their size: 6e-7 m at 10 m, 6e-6 m at 100 m. A bristle holds a point by the difference of
two of them. Errors are those of the position along the motion, the largest of a second, and of the
whole contact force, root mean square over the weight. Forces are judged from 0.2 s on: in
the first 0.1 s those on `Rigid` differ in single steps by up to half the weight at every distance.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser

DISTANCES = (0.0, 1.0, 10.0, 100.0, 1000.0)
"""Distances from the origin [m]."""
SPEED, SECONDS, DT, EVERY = 0.05, 1.0, 1e-3, 10
SETTLED = 0.2
"""Time from which on forces are judged [s]."""
LAWS = {
    "LinearSpring, Bristle": hs.Elastic(hs.LinearSpring(), hs.Bristle()),
    "LinearSpring, Kinetic": hs.Elastic(hs.LinearSpring(), hs.Kinetic()),
    "Rigid": hs.Rigid(),
}


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    console, rows = Console(), {}
    for name, law in LAWS.items():
        with console.status(name):
            rows[name] = errors(law)
    for what, title, scale in (
        ("position", "error of the position, mm", 1e3),
        ("force", "error of the contact force, % of the weight", 1e2),
    ):
        table = Table("", *(f"{x:g} m" for x in DISTANCES), title=title)
        for name, found in rows.items():
            table.add_row(name, *(f"{scale * x:.2g}" for x in found[what]))
        console.print(table)
    keep({"distances": DISTANCES, "rows": rows}, options.json)


def errors(law: hs.SurfaceLaw) -> dict[str, list[float]]:
    """Return the errors of float32 at each distance."""
    robot = hs.load("hoap1", collide="feet")
    worlds = len(DISTANCES)
    q0 = np.tile(robot.pose("stance"), (worlds, 1))
    q0[:, 0] += DISTANCES
    v0 = np.zeros((worlds, robot.nv))
    v0[:, 0] = SPEED
    found: dict[str, Any] = {}
    for dtype in ("float32", "float64"):
        scene = hs.Scene(robot, hs.Plane(law))
        sim = hs.Simulator(scene, DT, hs.Servo(), worlds, dtype=dtype)
        run = sim.run(SECONDS, q0=q0, v0=v0, record=["q", "force"], every=EVERY, progress=False)
        x = run.data["q"].values[:, :, 0].astype(float)
        force = run.data["force"].sel(time=slice(SETTLED, None)).values.sum(axis=2)
        found[dtype] = x - x[:, :1], force
    moved, missed = (np.abs(a - b) for a, b in zip(*found.values(), strict=True))
    size = np.sqrt((missed**2).sum(axis=2).mean(axis=1)) / (robot.mass * robot.gravity)
    return {"position": moved.max(axis=1).tolist(), "force": size.tolist()}


if __name__ == "__main__":
    main()
