"""Assumptions (i) to (iii): what (7), (8), (11) and (14) leave out, for punches of hrp2.

Postures are ours: the stance with the right forearm raised towards x. "<<" is read as a tenth.
"""

from __future__ import annotations

import numpy as np

from heelstrike.impact.estimates import estimate
from heelstrike.impact.results import Estimate
from heelstrike.papers.report import Result, Row, below, shown
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.robot import Robot, load

SPEEDS = (0.4, 0.7, 1.0)
ARM = {"RARM0": -0.6, "RARM1": -0.2, "RARM3": -1.2}
"""Shoulder pitch and roll, elbow [rad]."""
MUCH = 0.1
"""What "<<" asks for."""


def punch_posture(robot: Robot) -> np.ndarray:
    """Return the stance with the right forearm raised."""
    q = robot.pose("stance")
    for joint in robot.joints:
        if joint.name in ARM:
            q[joint.iq] = ARM[joint.name]
    return q


def punches(torque: str) -> Estimate:
    """Three speeds in that posture."""
    robot = load("hrp2", collide="feet")
    return estimate(robot, punch_posture(robot), "r_hand", speed=SPEEDS, law=law(), torque=torque)


def assumptions() -> Result:
    """Each neglected term beside the one that is kept."""
    damped, full = punches("damping"), punches("full")
    terms = damped.neglected
    assert terms is not None
    rows: list[Row] = []
    for i, v in enumerate(SPEEDS):
        at = f"at {v:g} m/s"
        rows += [
            below(f"(7) |c*| / |J^T F| {at}", terms.coriolis[i] / terms.force[i], MUCH, "<<"),
            below(f"(8) |g| / |J^T F| {at}", terms.weight[i] / terms.force[i], MUCH, "<<",
                  "Gravity does not grow with speed. At the first force, five times the mean."),
            below(f"(14) |J_dot phi_d| / |J phi_dd| {at}",
                  terms.drift[i] / terms.acceleration[i], MUCH, "<<"),
            below(f"angle passed {at} [rad]", terms.angle[i], 0.1, "constant",
                  "The faster the hit, the further a joint goes while it lasts; 0.1 rad is ours."),
        ]  # fmt: skip
        change = float(full.impulse[i] / damped.impulse[i] - 1)
        remark = "Share of the impulse that K_p adds, which (11) drops; hrp2's gains are ours."
        rows.append(shown(f"(11) {at}: f_n by (10) over (11), less 1", change, abs(change) < MUCH,
                          "simplified", remark))  # fmt: skip
    return Result(
        "assumptions",
        "Neglected terms",
        "Coriolis, gravity and J_dot terms are small beside the contact's; angles stay.",
        tuple(rows),
    )
