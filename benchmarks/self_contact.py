"""Cost of contact between the bodies of a robot, standing and falling.

    python -m benchmarks.self_contact [--json FILE] [--quick]

G1 gets a capsule around every limb, from its joint to the next, and touches itself wherever two of
them are no neighbours and do not overlap in its first pose; T1 and ANYmal C have the shapes of
their files. All of their shapes touch the ground. Standing robots are held by a servo, falling ones
are limp and thrown. Times are CPU time per world and step of 256 worlds on one thread, float64,
with and without contact between bodies; contenders take turns, each one's best turn counts. Compile
times are CPU seconds of one compilation.
"""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.whole_body import swaying, tumbling
from heelstrike.bench.standing import case, first_pose
from heelstrike.robot.outline import outline
from heelstrike.robot.overlaps import overlaps
from heelstrike.robot.robot import Shape

ROBOTS = ("g1", "t1", "anymal_c")
LAWS: dict[str, hs.SurfaceLaw] = {
    "elastic": hs.Elastic(hs.LinearSpring(k=2e4, c=100.0), hs.Bristle()),
    "rigid": hs.Rigid(),
}
STEPS = {"elastic": 2e-4, "rigid": 1e-3}
"""Time step of each law [s]."""
WORLDS, TURN, TURNS, QUICK_TURNS = 256, 50, 12, 3
"""Worlds, steps of a turn, and turns."""
RADIUS = 0.035
"""Radius of a capsule [m]."""
SETTLED = {"standing": 1.0, "falling": 0.2}
"""Time before the first turn [s]."""


def main() -> None:
    options = parser(__doc__, "few turns, G1 on elastic ground alone").parse_args()
    if not os.environ.get("HEELSTRIKE_DATA"):
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    rows: dict[str, Any] = {}
    table = Table("robot", "pairs", "law", "", "off [us]", "on [us]", "on / off", "compile [s]")
    for name in ROBOTS[:1] if options.quick else ROBOTS:
        robot = touching(name)
        for law in ("elastic",) if options.quick else tuple(LAWS):
            for kind in SETTLED:
                found = measured(robot, law, kind, QUICK_TURNS if options.quick else TURNS)
                rows[f"{name}, {law}, {kind}"] = found
                off, on = found["off"], found["on"]
                compiled = f"{found['compile off']:.1f}, {found['compile on']:.1f}"
                times = f"{off:.2f}", f"{on:.2f}", f"{on / off:.2f}"
                table.add_row(name, str(len(robot.self_pairs)), law, kind, *times, compiled)
    Console().print(table)
    keep({"rows": rows}, options.json)


def touching(name: str) -> hs.Robot:
    """Return a robot whose bodies touch one another."""
    source = case(name).source if name in ("g1", "anymal_c") else _file(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        robot = hs.load(source)
    if name != "g1":
        return robot
    limbs = [shape for i in range(len(robot.bodies)) if (shape := _limb(robot, i)) is not None]
    first = len(robot.shapes)
    parents = [joint.parent for joint in robot.joints]
    pairs = tuple(
        (first + i, first + j)
        for i, j in combinations(range(len(limbs)), 2)
        if limbs[i].body not in (parents[limbs[j].body], limbs[j].body)
        and limbs[j].body != parents[limbs[i].body]
    )
    shapes = (*robot.shapes, *limbs)
    points = (*robot.points, *(point for limb in limbs for point in outline(limb, 0)))
    whole = replace(robot, shapes=shapes, points=points, self_pairs=pairs)
    inside = overlaps(whole, first_pose(whole))
    return replace(whole, self_pairs=tuple(pair for pair in pairs if pair not in inside))


def _limb(robot: hs.Robot, body: int) -> Shape | None:
    """Return a capsule from a body's joint to the next one, if that is further than its radius."""
    ends = [robot.joints[child].translation for child in robot.children(body)]
    end = max(ends, key=np.linalg.norm, default=np.zeros(3))
    length = float(np.linalg.norm(end))
    if length < RADIUS:
        return None
    axis = end / length
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across /= np.linalg.norm(across)
    turn = np.column_stack([across, np.cross(axis, across), axis])
    size, name = np.array([RADIUS, length / 2]), robot.bodies[body].name
    return Shape(name, body, "capsule", turn, end / 2, size, visible=False)


def _file(name: str) -> str:
    return f"{os.environ['HEELSTRIKE_DATA']}/robots/{name}.xml"


def measured(robot: hs.Robot, law: str, kind: str, turns: int) -> dict[str, float]:
    """Return microseconds per world and step, and CPU seconds to compile, off and on."""
    found, sims = {}, {}
    for name, on in (("off", False), ("on", True)):
        scene = hs.Scene(robot, hs.Plane(LAWS[law]), self_contact=on)
        servo = hs.Servo(reference=first_pose(robot)) if kind == "standing" else None
        sim = hs.Simulator(scene, STEPS[law], servo, worlds=WORLDS)
        start = time.process_time()
        sim.compile()
        found[f"compile {name}"] = time.process_time() - start
        q0, v0 = swaying(robot, WORLDS, 0.0, 0.0) if servo else tumbling(robot, WORLDS)
        for q in q0:
            if overlaps(robot, q):  # no run may start so
                q[7:] = first_pose(robot)[7:]
        sim.run(SETTLED[kind], q0=q0, v0=v0, record=[], progress=False)
        sims[name] = sim
    for _ in range(turns):
        for name, sim in sims.items():
            start = time.process_time()
            sim.run(steps=TURN, record=[], threads=1, progress=False)
            spent = 1e6 * (time.process_time() - start) / (TURN * WORLDS)
            found[name] = min(found.get(name, np.inf), spent)
    return found


if __name__ == "__main__":
    main()
