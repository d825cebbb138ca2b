"""Whether a robot with a free base and joints fell: judged by where it ended. Of a ball or a box
nobody asks.

It fell if its base ended less than half as high above the ground as it stood there, or tilted by
more than 60 degrees from its start:

    z < z_ground + h / 2    or    up . R u_0 < 1/2

h is the height of the base above the lowest contact point at the start, z_ground the level to which
that point would fall straight down, u_0 the axis of the base that pointed up. It is a program of
its own that reads the state where it lies: of a sweep on a GPU one number a world comes back.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.ir.program import Program
from heelstrike.robot.placement import lowest_height
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import contacts_at

LOW = 0.5
"""Of the height at which it stood."""
TILT = 0.5
"""Cosine of 60 degrees."""


@dataclass(frozen=True)
class Fall:
    """The judge."""

    base: int
    """Where the base's position stands in q."""
    least: float
    """Height below which it fell [m]."""
    up: tuple[float, float, float]
    """The axis of the base that pointed up."""

    def program(self, nq: int) -> Program:
        """Input q, of which there are nq; output "fell", 1 or 0."""
        p = Program("fall")
        q = p.input("q", nq)
        z, x, y, u, w = (q[self.base + k] for k in range(2, 7))
        row = ca.vertcat(2 * (x * u - y * w), 2 * (y * u + x * w), 1 - 2 * (x * x + y * y))
        with p.block("judge"):
            upright = p.let("upright", ca.dot(row, ca.DM(self.up)))
            p.output("fell", ca.logic_or(z < self.least, upright < TILT))
        return p


def fall_of(sim: Simulator) -> Fall | None:
    """The judge of a simulator's start; None without a free base, joints and contacts."""
    robot, q = sim.robot, np.atleast_2d(sim.start["q"])[0]
    base, jointed = robot.joints[0], any(joint.kind != "free" for joint in robot.joints)
    if base.kind != "free" or not jointed or not sim.scene.pairs or not robot.points:
        return None
    above = -float(contacts_at(sim.scene, q)[0].max())
    low, z = lowest_height(robot, q), float(q[base.iq + 2])
    x, y, u, w = (float(q[base.iq + 3 + k]) for k in range(4))
    up = (2 * (x * u - y * w), 2 * (y * u + x * w), 1 - 2 * (x * x + y * y))
    return Fall(base.iq, low - above + LOW * (z - low), up)
