"""Force, impulse and ZMP of a hit by simplified dynamics computation [Tsujita2009], steps 1b to 8b.

Three ways to the same numbers: method="kept" keeps inertia and Jacobian (simplified.py), as the
paper does; "krylov" is the faster form (krylov.py) and falls back to "kept" where a torque limit
bites; "anew" is steps 1a to 6a, inertia and Jacobian in every step (anew.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.contact import NormalLaw
from heelstrike.contact.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.job import Job, Settings
from heelstrike.impact.outcome import Estimate, joined
from heelstrike.impact.target import Target, check_law, law_inputs
from heelstrike.robot.robot import Robot
from heelstrike.simulate.servo import LARGE, Gain, gains

METHODS = ("kept", "krylov", "anew")
INTEGRATORS = ("rk4", "symplectic")
CHUNK = 4096
"""Hits that are computed together, so that their inertias fit into memory."""
MANY = 64
"""Hits above which histories are kept only if asked for."""
MODES = 10
"""Vectors of the faster form, if not said otherwise."""


def estimate(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike = "x",
    speed: ArrayLike | None = None,
    v: ArrayLike | None = None,
    target: Target | None = None,
    law: NormalLaw | None = None,
    point: ArrayLike = (0.0, 0.0, 0.0),
    base: VirtualBase | None = None,
    kp: Gain = None,
    kd: Gain = None,
    limit: Gain = None,
    torque: str = "full",
    limits: bool = True,
    friction: bool = True,
    duration: float = 0.1,
    dt: float = 1e-4,
    integrator: str = "rk4",
    method: str = "kept",
    modes: int | None = None,
    history: bool | None = None,
    neglected: bool = True,
    vary: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
    dtype: str = "float64",
) -> Estimate:
    """Hits of a target with a point of a link, from postures q: (nq), or (hits, nq) for many.

    Give the hand's `speed` [m/s], reached with the least kinetic energy, or all joint velocities
    `v`. `torque` is "full" (10), or "damping" (11) as in the paper; gains and limits are the
    robot's own unless given. `vary` holds parameters of the law, one a hit: {"k": ...}.
    docs/impact.md says the rest.
    """
    made = hit(robot, link, direction, point, base)
    law = law if law is not None else LinearSpring(k=1e4, c=300.0)
    check_law(law)
    _check(method, METHODS, "method")
    _check(integrator, INTEGRATORS, "integrator")
    _check(torque, ("damping", "full"), "torque")
    if not (0 < dt <= duration < 1e3):
        raise HeelstrikeError(
            f"a hit is computed for {duration} s in steps of {dt} s; give 0 < dt <= duration"
        )
    rubs = friction and bool((robot.damping > 0).any() or (robot.friction > 0).any())
    settings = Settings(
        law, target or Target(), duration, dt, integrator, method,
        min(modes or MODES, made.n), torque == "full", limits, rubs, dtype,
        threads or (os.cpu_count() or 1),
    )  # fmt: skip
    postures = made.postures(q)
    given = given_hits(made, settings, postures, speed, v, vary or {})
    servo = servo_of(made, kp, kd, limit)
    hits = len(given["q"])
    wanted = hits <= MANY if history is None else history
    parts = []
    for first in range(0, hits, CHUNK):
        part = {name: value[first : first + CHUNK] for name, value in given.items()}
        parts.append(Job(made, settings, servo, part).run(wanted, neglected))
    return joined(parts)


def given_hits(
    made: Hit,
    settings: Settings,
    postures: np.ndarray,
    speed: ArrayLike | None,
    v: ArrayLike | None,
    vary: Mapping[str, ArrayLike],
) -> dict[str, np.ndarray]:
    """All that may differ from hit to hit, as columns or rows."""
    if (speed is None) == (v is None):
        raise HeelstrikeError("give the hand's speed [m/s], or all joint velocities v, one of both")
    columns = dict(settings.target.inputs()) | {"target velocity": settings.target.velocity}
    known = law_inputs(settings.law)
    for name, value in vary.items():
        if f"law.{name}" not in known:
            names = ", ".join(path.removeprefix("law.") for path in known)
            raise HeelstrikeError(f"the law has no parameter '{name}' to vary; it has {names}")
        columns[f"law.{name}"] = value
    if speed is not None:
        columns["speed"] = speed
    rows = {"q": postures} | ({"v": _velocities(made, v)} if v is not None else {})
    counts = {len(np.atleast_1d(value)) for value in [*columns.values(), *rows.values()]}
    hits = max(counts)
    if not counts <= {1, hits}:
        raise HeelstrikeError(
            f"postures, speeds, targets and law are for different numbers of hits: {sorted(counts)}"
        )
    found = {
        k: np.array(np.broadcast_to(np.ravel(x), (hits,)), dtype=float) for k, x in columns.items()
    }
    return found | {k: np.broadcast_to(x, (hits, x.shape[1])) for k, x in rows.items()}


def _velocities(made: Hit, v: ArrayLike) -> np.ndarray:
    """Joint velocities as rows (hits, n); of (hits, nv) the base's part is left out."""
    rows = np.atleast_2d(np.asarray(v, dtype=float))
    if rows.shape[1] == made.robot.nv:
        rows = rows[:, made.robot.nv - made.n :]
    if rows.ndim != 2 or rows.shape[1] != made.n or not np.isfinite(rows).all():
        raise HeelstrikeError(
            f"v of {made.robot.name} is {made.n} joint velocities (or {made.robot.nv} with the "
            f"base's), got shape {np.shape(v)}"
        )
    return rows


def servo_of(made: Hit, kp: Gain, kd: Gain, limit: Gain) -> dict[str, np.ndarray]:
    """Gains, limits and friction of the joints."""
    robot, nb = made.robot, made.robot.nv - made.n
    found = {
        "kp": gains(robot, kp, robot.kp, "kp"),
        "kd": gains(robot, kd, robot.kd, "kd"),
        "limit": np.clip(gains(robot, limit, robot.torque_limit, "limit"), 1e-12, LARGE),
        "viscous": robot.damping,
        "coulomb": robot.friction,
    }
    return {name: np.array(value[nb:], dtype=float) for name, value in found.items()}


def _check(value: str, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        raise HeelstrikeError(f"no {what} '{value}'; there are {', '.join(choices)}")
