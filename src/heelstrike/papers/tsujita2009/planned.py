"""The paper's purpose: impact motions planned with the simplified computation in the loop.

A punch along x where the raised hand is, and a nailing blow along -z in front of the chest; hrp2,
5 kg, k = 1e4 N/m, c = 300 N s/m. Ours: places, joint speeds up to 1 rad/s, ZMP 30 mm inside. Each
plan is then run in the full simulation, soles on the rigid floor.
"""

from __future__ import annotations

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.impact.planning import plan
from heelstrike.papers.report import Result, Row, meets, near, shown
from heelstrike.papers.tsujita2009.assumptions import punch_posture
from heelstrike.papers.tsujita2009.bounds import between
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.robot import load

EDGE = 1e-3
"""Nearer to its edge than this a sole is about to rock [m]."""
BLOWS = {"punch": "x", "nailing": "-z"}


def planned() -> Result:
    """Impulse of the plan over the start's, and the ZMP in the full simulation."""
    robot = load("hrp2", collide="feet")
    q = punch_posture(robot)
    rows: list[Row] = []
    for name, direction in BLOWS.items():
        try:
            made = plan(robot, q, "r_hand", direction, law=law())
        except HeelstrikeError as reason:
            rows.append(meets(f"{name}: plan", np.nan, least=0, remark=str(reason)))
            continue
        assert made.full is not None
        ran, margins = made.full, made.full.margin[0, 1:]
        touched = ran.force[0, 1:] > 0
        assert made.estimate.history is not None
        assert made.estimate.history.margin is not None
        estimated = float(made.estimate.history.margin[0].min())
        impulse = float(made.estimate.impulse[0])
        mass = float(made.estimate.virtual_mass[0])
        least = float(margins[touched].min())
        error = float(100 * (ran.impulse[0] - impulse) / ran.impulse[0])
        rows += [
            meets(f"{name}: impulse over the start posture's", made.factor, least=1),
            between(f"{name}: impulse by (10) [N s]", impulse, mass, made.speed),
            meets(f"{name}: least margin of the ZMP by (10) [m]", estimated, least=0),
            near(f"{name}: error of the impulse in full (24) [%]", error, 0.0, 10.0),
            shown(f"{name}: least margin of the CoP in full [m]", least, least > EDGE,
                  "inside", "While they touch; at the edge a sole rocks."),
        ]  # fmt: skip
    return Result(
        "plan",
        "Planned impacts",
        "The impact motion is planned to be optimized by SQP; the ZMP keeps the robot up.",
        tuple(rows),
    )
