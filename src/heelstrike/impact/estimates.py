"""Force, impulse and ZMP of a hit by simplified dynamics computation [Tsujita2009], steps 1b to 8b.

Three methods give the same numbers: method="kept" keeps inertia and Jacobian (simplified.py), as
the paper does; "krylov" is faster (krylov.py) and falls back to "kept" where a torque limit is
reached; "anew" is steps 1a to 6a, inertia and Jacobian in every step (full_inertia.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from numpy.typing import ArrayLike

from heelstrike.errors import UnknownNameError
from heelstrike.impact.options import Options, hit_batch
from heelstrike.impact.results import Estimate, joined
from heelstrike.robot.robot import Robot

METHODS = ("kept", "krylov", "anew")
INTEGRATORS = ("rk4", "symplectic")
CHUNK = 4096
"""Hits that are computed together, so that their inertias fit into memory."""
MANY = 64
"""Number of hits above which histories are kept only with history=True."""
MODES = 10
"""Default number of vectors of the Krylov form."""


def estimate(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike = "x",
    speed: ArrayLike | None = None,
    torque: str = "full",
    limits: bool = True,
    friction: bool = True,
    integrator: str = "rk4",
    method: str = "kept",
    modes: int | None = None,
    history: bool | None = None,
    neglected: bool = True,
    vary: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
    dtype: str = "float64",
    **options: Unpack[Options],
) -> Estimate:
    """Estimate hits of a target with a point of a link, from postures q: (nq) or (hits, nq).

    Pass the hand's `speed` [m/s], reached with the least kinetic energy, or all joint velocities
    `v`. `torque` is "full" (10), or "damping" (11) as in the paper. `vary` holds parameters of the
    law, one per hit: {"k": ...}. Further options (`heelstrike.impact.options.Options`): v, target,
    law, point, base, kp, kd, limit, duration, dt. docs/impact.md explains all of them.

    Examples:
        robot = hs.load("hrp2")
        hs.impact.estimate(robot, robot.pose("stance"), "r_hand", speed=0.5)
    """
    _check(method, METHODS, "method")
    _check(integrator, INTEGRATORS, "integrator")
    _check(torque, ("damping", "full"), "torque")
    batch = hit_batch(robot, q, link, direction, speed, vary, **options)
    rubs = friction and bool((robot.damping > 0).any() or (robot.friction > 0).any())
    settings = replace(
        batch.settings, integrator=integrator, method=method,
        modes=min(modes or MODES, batch.hit.n), proportional=torque == "full", limits=limits,
        friction=rubs, dtype=dtype, threads=threads or os.cpu_count() or 1,
    )  # fmt: skip
    hits = len(batch.columns["q"])
    wanted = hits <= MANY if history is None else history
    parts = []
    for first in range(0, hits, CHUNK):
        part = {name: value[first : first + CHUNK] for name, value in batch.columns.items()}
        parts.append(replace(batch, settings=settings, columns=part).run(wanted, neglected))
    return joined(parts)


def _check(value: str, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        raise UnknownNameError(what, value, choices)
