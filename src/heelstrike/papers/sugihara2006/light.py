"""Effective masses at the points of a landing robot, and whether a step is stable there.

The mass is 1 / lambda_max of the normal block of the points that touch together, with rotor inertia
and, of joints whose motor is not at its limit, the terms of an implicit servo in H. With it kappa =
k dt^2 / m and gamma = c dt / m give the spectral radius of a step going in (closed_form.py): above
1, the bounce grows from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import heelstrike as hs
from heelstrike.dynamics.effective_mass import ActiveContact, contact_mass, joint_inertias
from heelstrike.papers.sugihara2006.closed_form import C, K
from heelstrike.papers.sugihara2006.closed_form import radius as of_a_step
from heelstrike.papers.sugihara2006.drop import GAINED, UP, Drops, Variant, drops, heights
from heelstrike.papers.sugihara2006.slide import EQUATIONS

TOUCHED, UNTIL = 0.05, 0.13
"""What is looked at [s]: 30 ms on the floor, and before, as an explicit servo shakes."""


@dataclass(frozen=True)
class Landing:
    """The first moments on the floor, (law, world)."""

    mass: np.ndarray
    """The least that touching points feel before the floor has created energy [kg]."""
    radius: np.ndarray
    """The largest of a step, there."""
    gained: np.ndarray
    """Where the floor created energy."""


def landing(sim: hs.Simulator, variant: Variant, dt: float, q0: np.ndarray) -> Landing:
    """Return the effective masses of every pose."""
    made = drops(sim, dt, q0, seconds=UNTIL, sample=dt)
    mass = np.full(made.gained.shape, np.inf)
    radius = np.zeros_like(mass)
    for j, equation in enumerate(EQUATIONS):
        for i in range(len(q0)):
            over = (made.samples["work_contact"][j, i] > GAINED) | np.isnan(made.rise[j, i])
            fallen = made.time[i] >= TOUCHED
            for k in np.flatnonzero(fallen & ~np.maximum.accumulate(over)):
                mass[j, i] = min(mass[j, i], _mass(sim, variant, dt, made, (j, i, int(k))))
            kappa, gamma = K * dt**2 / mass[j, i], C * dt / mass[j, i]
            radius[j, i] = of_a_step(equation, "symplectic", kappa, gamma)
    return Landing(mass, radius, made.gained)


def _mass(
    sim: hs.Simulator, variant: Variant, dt: float, made: Drops, at: tuple[int, int, int]
) -> float:
    """Return the effective mass of one sample [kg]."""
    robot, q = sim.robot, made.samples["q"][at]
    where = [robot.points[i] for i in np.flatnonzero(heights(robot, q) < 0)]
    if not where:
        return np.inf
    terms = np.zeros(robot.nv)
    if variant.implicit:
        free = np.abs(made.samples["torque"][at]) >= (1 - 1e-9) * robot.torque_limit
        terms = np.where(free, 0, dt * (robot.kd + dt * robot.kp))
    contacts = [ActiveContact(UP, [(point.body, point.position)]) for point in where]
    return contact_mass(robot, q, contacts, terms)


def worst_joint(sim: hs.Simulator, dt: float) -> float:
    """kd dt / I of the joint that an explicit servo damps worst: it needs less than 2."""
    robot = sim.robot
    return float((robot.kd * dt / joint_inertias(robot, robot.pose("stance"))).max())
