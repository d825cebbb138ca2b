"""What is asked of a hit: who hits what, how fast, with which servo; and the job it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.job import Job, Settings
from heelstrike.impact.target import Target, check_law, law_inputs
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT, Gain, gains


class Options(TypedDict, total=False):
    """Of a hit, however it is computed."""

    v: ArrayLike | None
    """All joint velocities, instead of the hand's speed [rad/s or m/s]."""
    target: Target | None
    """hs.Target(): 5 kg, free."""
    law: NormalLaw | None
    """Of the contact; hs.LinearSpring(k=1e4, c=300)."""
    point: ArrayLike
    """That hits, in the link's frame [m]; its origin."""
    base: VirtualBase | None
    """Links that the ground holds; those that the robot stands on."""
    kp: Gain
    """Of the servo; the robot's own, as are the next two."""
    kd: Gain
    limit: Gain
    duration: float
    """That is computed [s]; 0.1."""
    dt: float
    """Step [s]; 1e-4."""


def job_of(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike,
    speed: ArrayLike | None,
    vary: Mapping[str, ArrayLike] | None = None,
    **options: Unpack[Options],
) -> Job:
    """The hits from postures q, with the paper's contact, time and step where none is given."""
    point, base = options.get("point", (0.0, 0.0, 0.0)), options.get("base")
    made = hit(robot, link, direction, point, base)
    law = options.get("law")
    law = law if law is not None else LinearSpring(k=1e4, c=300.0)
    check_law(law)
    duration, dt = options.get("duration", 0.1), options.get("dt", 1e-4)
    if not (0 < dt <= duration < 1e3):
        raise HeelstrikeError(
            f"a hit is computed for {duration} s in steps of {dt} s; give 0 < dt <= duration"
        )
    settings = Settings(law, options.get("target") or Target(), duration, dt)
    given = given_hits(made, settings, made.postures(q), speed, options.get("v"), vary or {})
    servo = servo_of(made, options.get("kp"), options.get("kd"), options.get("limit"))
    return Job(made, settings, servo, given)


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
        "limit": np.clip(gains(robot, limit, robot.torque_limit, "limit"), 1e-12, NO_LIMIT),
        "viscous": robot.damping,
        "coulomb": robot.friction,
    }
    own = {name: np.array(value[nb:], dtype=float) for name, value in found.items()}
    return own | {"1/limit": 1 / own["limit"]}
