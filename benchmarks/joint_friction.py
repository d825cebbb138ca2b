"""How well dry friction of the joints keeps to its limit, and what that costs.

    python -m benchmarks.joint_friction [--json FILE]

G1 and ANYmal C of HEELSTRIKE_DATA/robots start with their joints about 0.01 rad off their pose and
settle on an elastic and on a rigid floor: 32 worlds, 1 s in steps of 1 ms. Of all steps: those with
a joint that is held by more than its limit and a millionth, and the worst; those with one that its
friction drives, faster than it may move back; of the rigid floor, the mean of the evaluations of
the contact problem in a step. Tolerances are those of step/joints.py.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.bench.standing import first_pose
from heelstrike.contact.solver.joint_rows import SLACK
from heelstrike.step.inputs import FRICTION_LAST
from heelstrike.step.joints import STILL

ROBOTS = ("g1", "anymal_c")
LAWS = {
    "elastic": hs.Elastic(hs.LinearSpring(), hs.Bristle()),
    "rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6)),
}
WORLDS, STEPS, DT, OFF = 32, 1000, 1e-3, 0.01


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    data = os.environ.get("HEELSTRIKE_DATA")
    if not data:
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    console = Console()
    result: dict[str, Any] = {"rows": {}}
    table = Table("", "beyond, % of steps", "worst, of F", "driven, %", "evaluations a step")
    for name in ROBOTS:
        for law in LAWS:
            with console.status(f"{name}, {law}"):
                row = settled(hs.load(Path(data) / f"robots/{name}.xml", collide="feet"), law)
            result["rows"][f"{name}, {law}"] = row
            count = "" if row["evaluations"] is None else f"{row['evaluations']:.1f}"
            cells = (f"{row['beyond']:.3f}", f"{row['worst']:.3f}", f"{row['driven']:.2f}", count)
            table.add_row(f"{name}, {law}", *cells)
    console.print(table)
    keep(result, options.json)


def settled(robot: hs.Robot, law: str) -> dict[str, Any]:
    """A second of it, step by step."""
    pose = first_pose(robot)
    scene = hs.Scene(robot, hs.Plane(law=LAWS[law]))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo(reference=pose), worlds=WORLDS)
    q0 = np.tile(pose, (WORLDS, 1))
    q0[:, 7:] += OFF * np.random.default_rng(0).normal(size=(WORLDS, robot.nq - 7))
    sim.reset(q0=q0)
    joints, shares, driven, rounds = np.flatnonzero(robot.friction > 0), [], [], []
    limit = robot.friction[joints]
    for _ in range(STEPS):
        if law == "rigid":
            rounds.append(sim.observe("solver_rounds")["solver_rounds"].mean())
        state = sim.step()
        share, v = state[FRICTION_LAST] / limit, state["v"][:, joints]
        shares.append(np.abs(share).max(axis=1))
        driven.append(((np.abs(share) == 1) & (share * v > STILL * DT)).any(axis=1))
    return {
        "beyond": 100 * float((np.array(shares) > 1 + SLACK).mean()),
        "worst": float(np.max(shares)),
        "driven": 100 * float(np.mean(driven)),
        "evaluations": float(np.mean(rounds)) if rounds else None,
    }


if __name__ == "__main__":
    main()
