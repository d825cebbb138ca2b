"""How well dry friction of the joints keeps to its limit, and what that costs.

    python -m benchmarks.joint_friction [--json FILE]

G1 and ANYmal C of HEELSTRIKE_DATA/robots start with their joints about 0.01 rad off their pose and
settle on an elastic and on a rigid floor: 32 worlds, 1 s in steps of 1 ms. Of all steps: those with
a joint more than a hundredth beyond its limit, which is the tolerance, and the worst; of the rigid
floor, the mean of the evaluations of the contact problem in a step.
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
from heelstrike.machine import machine
from heelstrike.simulate.joints import SLACK
from heelstrike.simulate.step import FRICTION

ROBOTS = ("g1", "anymal_c")
LAWS = {
    "elastic": hs.Elastic(hs.LinearSpring(), hs.Bristle()),
    "rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6)),
}
WORLDS, STEPS, OFF = 32, 1000, 0.01


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")
    data = os.environ.get("HEELSTRIKE_DATA")
    if not data:
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    console = Console()
    result: dict[str, Any] = {"machine": machine(), "rows": {}}
    table = Table("", "beyond its limit, % of steps", "worst, of the limit", "evaluations a step")
    for name in ROBOTS:
        for law in LAWS:
            with console.status(f"{name}, {law}"):
                row = settled(hs.load(Path(data) / f"robots/{name}.xml"), law)
            result["rows"][f"{name}, {law}"] = row
            count = "" if row["evaluations"] is None else f"{row['evaluations']:.1f}"
            table.add_row(f"{name}, {law}", f"{row['beyond']:.3f}", f"{row['worst']:.3f}", count)
    console.print(table)
    keep(result, options.json)


def settled(robot: hs.Robot, law: str) -> dict[str, Any]:
    """A second of it, step by step."""
    pose = first_pose(robot)
    scene = hs.Scene(robot, hs.Plane(law=LAWS[law]))
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo(reference=pose), worlds=WORLDS)
    q0 = np.tile(pose, (WORLDS, 1))
    q0[:, 7:] += OFF * np.random.default_rng(0).normal(size=(WORLDS, robot.nq - 7))
    sim.reset(q0=q0)
    shares, rounds = [], []
    for _ in range(STEPS):
        if law == "rigid":
            rounds.append(sim.observe("solver_rounds")["solver_rounds"].mean())
        shares.append(np.abs(sim.step()[FRICTION[1]]).max(axis=1))
    return {
        "beyond": 100 * float((np.array(shares) > 1 + 1.1 * SLACK).mean()),
        "worst": float(np.max(shares)),
        "evaluations": float(np.mean(rounds)) if rounds else None,
    }


if __name__ == "__main__":
    main()
