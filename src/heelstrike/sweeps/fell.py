"""The criterion by which a robot with a free base and joints fell, applied to its final state.

It fell if its base ended at less than half of its initial height above the ground, or tilted by
more than 60 degrees from its start:

    z < z_ground + h / 2    or    up . R u_0 < 1/2

h is the height of the base above the lowest contact point at the start, z_ground the level to which
that point would fall straight down, u_0 the axis of the base that pointed up. The criterion is a
separate program that reads the state in place: a sweep on a GPU transfers one number per world.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.ir.program import Program
from heelstrike.robot.placement import lowest_height
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import contacts_at

MIN_HEIGHT = 0.5
"""Smallest height of the base over its height at the start, both above the ground."""
MIN_UPRIGHT = 0.5
"""Cosine of the largest tilt, 60 degrees."""


@dataclass(frozen=True)
class FallCriterion:
    """The limits of height and tilt below which a robot fell."""

    base: int
    """Index of the base's position in q."""
    least: float
    """Smallest height of the base [m]."""
    up: tuple[float, float, float]
    """Axis of the base that pointed up at the start."""

    def program(self, nq: int) -> Program:
        """Return the program with input q of size nq and output "fell", 1 or 0."""
        p = Program("fall")
        q = p.input("q", nq)
        z, x, y, u, w = (q[self.base + k] for k in range(2, 7))
        row = ca.vertcat(2 * (x * u - y * w), 2 * (y * u + x * w), 1 - 2 * (x * x + y * y))
        with p.block("judge"):
            upright = p.let("upright", ca.dot(row, ca.DM(self.up)))
            p.output("fell", ca.logic_or(z < self.least, upright < MIN_UPRIGHT))
        return p


def fall_criterion(sim: Simulator) -> FallCriterion | None:
    """Return the criterion for a simulator's start; None without free base, joints or contacts."""
    robot, q = sim.robot, np.atleast_2d(sim.start["q"])[0]
    base, jointed = robot.joints[0], any(joint.kind != "free" for joint in robot.joints)
    if base.kind != "free" or not jointed or not sim.scene.pairs or not robot.points:
        return None
    above = -float(contacts_at(sim.scene, q)[0].max())
    low, z = lowest_height(robot, q), float(q[base.iq + 2])
    x, y, u, w = (float(q[base.iq + 3 + k]) for k in range(4))
    up = (2 * (x * u - y * w), 2 * (y * u + x * w), 1 - 2 * (x * x + y * y))
    return FallCriterion(base.iq, low - above + MIN_HEIGHT * (z - low), up)
