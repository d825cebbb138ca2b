"""The virtual mass of a hit, for one or many postures, and the impact of such a mass.

A mass m_a meets the target at speed v_c (fig 9 of [Tsujita2009]). Between two free masses, with
m = m_a m_t / (m_a + m_t) and the restitution e of the law,

    impulse = m (1 + e) v_c
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import ParameterError
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.hit import hit
from heelstrike.impact.kernels import HitResult, KernelRun, kept
from heelstrike.impact.simplified import Plan
from heelstrike.impact.target import Target, check_law, law_inputs
from heelstrike.robot.robot import Robot


def virtual_mass(
    robot: Robot,
    q: ArrayLike,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    direction: str | ArrayLike = "x",
    base: VirtualBase | None = None,
) -> np.ndarray:
    """Return the virtual mass m_a [kg] of a point of a link in a direction.

    The result is a number for q (nq), an array for q (postures, nq). `point` is in the link's
    frame [m], `direction` in the world: "x", "-z", ..., or three numbers.
    """
    found = hit(robot, link, direction, point, base).at(q)["m_a"][:, 0]
    return found if np.ndim(q) > 1 else found[0]


def point_impact(
    mass: ArrayLike,
    speed: ArrayLike,
    target: Target | None = None,
    law: NormalLaw | None = None,
    duration: float = 0.1,
    dt: float = 1e-4,
    integrator: str = "rk4",
    every: int = 1,
) -> HitResult:
    """Simulate impacts of masses [kg] at speeds [m/s], one per row.

    The result holds peak, impulse and duration, and records["force"] over time.
    """
    target, law = target or Target(), law if law is not None else LinearSpring(k=1e4, c=300.0)
    check_law(law)
    columns = dict(target.inputs()) | {"velocity": target.velocity, "mass": mass, "speed": speed}
    given = dict(
        zip(columns, np.broadcast_arrays(*map(np.atleast_1d, columns.values())), strict=True)
    )
    if not np.all(np.asarray(given["mass"]) > 0):
        raise ParameterError("mass", mass, "above 0 kg")
    inputs: dict[str, Any] = {
        **law_inputs(law),
        **given,
        "inverse": 1 / given["mass"],
        "j": 1.0,
        "kd": 0.0,
    }
    inputs |= {"base_yield": 0.0, "dt": dt}
    start = {"rate": given["velocity"]}
    run = KernelRun(inputs, start, given["mass"].size, round(duration / dt), every)
    return kept(Plan(1, law, integrator, limited=False), run)
