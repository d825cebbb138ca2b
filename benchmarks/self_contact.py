"""Cost of contact between the bodies of a robot, standing, swaying, falling and pushed.

    python -m benchmarks.self_contact [--json FILE] [--from FILE] [--page FILE] [--quick]

G1 gets a capsule around every limb, from its joint to the next, and touches itself wherever two of
them are no neighbours and do not overlap in its first pose; hoap1, T1 and ANYmal C have the shapes
of their files. All of their shapes touch the ground. Standing and swaying robots are held by a
servo, falling ones are limp and thrown; the pushed ones are those of examples/pushes.py. Times are
CPU time per world and step of 256 worlds on one thread, float64, with and without contact between
bodies; contenders take turns, each one's best turn counts. Compile times are CPU seconds of one
compilation. --page writes the table after its mark into a page, --from takes kept results.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pages import markdown, placed
from benchmarks.whole_body import swaying, tumbling
from heelstrike.bench.standing import case, first_pose
from heelstrike.robot.outline import outline
from heelstrike.robot.overlaps import overlaps
from heelstrike.robot.placement import lowest_height
from heelstrike.robot.robot import Shape

ROBOTS = ("hoap1", "g1", "t1", "anymal_c")
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
SETTLED = {"standing": 1.0, "swaying": 0.05, "falling": 0.2}
"""Time before the first turn [s]."""
CLEAR = 0.02
"""Height at which robots are thrown at least [m]."""
SWAY = 0.2
"""Standard deviation of the velocities of a robot that sways [m/s, rad/s]."""
HARDEST, PUSHED, PUSH_TURNS = 30.0, 2.5, 3
"""Largest push of examples/pushes.py [N], duration of its run [s], and turns."""
MARK = "cost of benchmarks/results/self-contact.json"


def main() -> None:
    options = parser(__doc__, "few turns, hoap1 on elastic ground alone")
    options.add_argument("--from", dest="source", metavar="FILE", help="take what was measured")
    options.add_argument("--page", metavar="FILE", help="write the table into this page")
    chosen = options.parse_args()
    if chosen.source:
        rows = json.loads(Path(chosen.source).read_text())["rows"]
    else:
        rows = measured_rows(chosen.quick)
        keep({"rows": rows}, chosen.json)
    print(table(rows))
    if chosen.page:
        page = Path(chosen.page)
        page.write_text(placed(page.read_text(), {MARK: table(rows)}))


def measured_rows(quick: bool) -> list[dict[str, Any]]:
    """Return what was measured of each robot, law and motion."""
    if not os.environ.get("HEELSTRIKE_DATA"):
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    turns, rows = QUICK_TURNS if quick else TURNS, []
    for name in ROBOTS[:1] if quick else ROBOTS:
        robot = touching(name)
        for law in ("elastic",) if quick else tuple(LAWS):
            head = {"robot": name, "pairs": len(robot.self_pairs), "law": law}
            for held in (True, False):
                rows += [head | row for row in measured(robot, law, held, turns)]
                print(rows[-1], flush=True)
    rows.append({"robot": "hoap1", "pairs": 128, "law": "elastic"} | pushed())
    return rows


def table(rows: list[Mapping[str, Any]]) -> str:
    """Return the rows as Markdown."""
    heads = ["robot", "pairs", "law", "", "off [us]", "on [us]", "on / off", "compile [s]"]
    cells = []
    for row in rows:
        own = f"{row['off']:.2f}", f"{row['on']:.2f}", f"{row['on'] / row['off']:.2f}"
        compiled = f"{row['compile off']:.1f}, {row['compile on']:.1f}"
        cells.append([row["robot"], str(row["pairs"]), row["law"], row["kind"], *own, compiled])
    return markdown(heads, cells)


def touching(name: str) -> hs.Robot:
    """Return a robot whose bodies touch one another."""
    source = case(name).source if name in ("g1", "anymal_c") else _source(name)
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


def _source(name: str) -> str:
    return name if name == "hoap1" else f"{os.environ['HEELSTRIKE_DATA']}/robots/{name}.xml"


def measured(robot: hs.Robot, law: str, held: bool, turns: int) -> list[dict[str, Any]]:
    """Return microseconds per world and step, and CPU seconds to compile, off and on."""
    compiled, sims = {}, {}
    servo = hs.Servo(reference=first_pose(robot)) if held else None
    for name, on in (("off", False), ("on", True)):
        scene = hs.Scene(robot, hs.Plane(LAWS[law]), self_contact=on)
        sims[name] = hs.Simulator(scene, STEPS[law], servo, worlds=WORLDS)
        start = time.process_time()
        sims[name].compile()
        compiled[f"compile {name}"] = time.process_time() - start
    rows = []
    for kind in ("swaying", "standing") if held else ("falling",):
        q0, v0 = _start(robot, kind)
        for sim in sims.values():
            sim.run(SETTLED[kind], q0=q0, v0=v0, record=[], progress=False)
        found = {"kind": kind, **compiled}
        for _ in range(turns):
            for name, sim in sims.items():
                start = time.process_time()
                sim.run(steps=TURN, record=[], threads=1, progress=False)
                spent = 1e6 * (time.process_time() - start) / (TURN * WORLDS)
                found[name] = min(found.get(name, np.inf), spent)
        rows.append(found)
    return rows


def _start(robot: hs.Robot, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates and velocities of all worlds."""
    if kind == "falling":
        q0, v0 = tumbling(robot, WORLDS)
    else:
        q0, v0 = swaying(robot, WORLDS, 0.0, 0.0)
    if kind == "swaying":
        v0 = np.random.default_rng(0).normal(scale=SWAY, size=v0.shape)
    for q in q0:
        if overlaps(robot, q):  # no run may start so
            q[7:] = first_pose(robot)[7:]
            q[2] += max(0.0, CLEAR - lowest_height(robot, q))
    return q0, v0


def pushed() -> dict[str, Any]:
    """Return the times of the worlds of examples/pushes.py over their whole run."""
    robot, found = hs.load("hoap1"), {"kind": "pushed, as in make demo"}
    floor = hs.Plane(hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), hs.Bristle()))
    vary = {"push0.force": np.linspace(0, HARDEST, WORLDS)[:, None] * [1, 0, 0]}
    for turn in range(1 + PUSH_TURNS):
        for name, on in (("off", False), ("on", True)):
            sim = hs.Simulator(hs.Scene(robot, floor, self_contact=on), 1e-3, hs.Servo())
            sim.push("WAIST", [0, 0, 0], duration=0.1, at=0.5)
            start = time.process_time()
            if not turn:
                sim.compile()
                found[f"compile {name}"] = time.process_time() - start
                continue
            run = {"q0": robot.pose("stance"), "worlds": WORLDS, "vary": vary, "threads": 1}
            sim.run(PUSHED, **run, record=[], progress=False)
            spent = 1e6 * (time.process_time() - start) / (PUSHED / sim.dt[0] * WORLDS)
            found[name] = min(found.get(name, np.inf), spent)
    return found


if __name__ == "__main__":
    main()
