"""Options of a hit: who hits what, how fast and with which servo; and the batch made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError, UnknownNameError
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.hit_batch import HitBatch, Settings
from heelstrike.impact.target import Target, check_law, law_inputs
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT, Gain, gains


class Options(TypedDict, total=False):
    """Options of a hit, however it is computed; with their defaults."""

    v: ArrayLike | None
    """All joint velocities, instead of the hand's speed [rad/s or m/s]."""
    target: Target | None
    """hs.Target(): 5 kg, free."""
    law: NormalLaw | None
    """Law of the contact; hs.LinearSpring(k=1e4, c=300)."""
    point: ArrayLike
    """Point that hits, in the link's frame [m]; its origin."""
    base: VirtualBase | None
    """Links that the ground holds; those that the robot stands on."""
    kp: Gain
    """Gains of the servo; the robot's own, as are the next two."""
    kd: Gain
    limit: Gain
    duration: float
    """Time that is computed [s]; 0.1."""
    dt: float
    """Time step [s]; 1e-4."""


def hit_batch(
    robot: Robot,
    q: ArrayLike,
    link: str,
    direction: str | ArrayLike,
    speed: ArrayLike | None,
    vary: Mapping[str, ArrayLike] | None = None,
    **options: Unpack[Options],
) -> HitBatch:
    """Return the hits from postures q; contact, time and step are the paper's by default."""
    point, base = options.get("point", (0.0, 0.0, 0.0)), options.get("base")
    made = hit(robot, link, direction, point, base)
    law = options.get("law")
    law = law if law is not None else LinearSpring(k=1e4, c=300.0)
    check_law(law)
    duration, dt = options.get("duration", 0.1), options.get("dt", 1e-4)
    if not (0 < dt <= duration < 1e3):
        raise HeelstrikeError(
            f"a hit cannot be computed for {duration} s in steps of {dt} s",
            allowed="0 < dt <= duration < 1000 s",
        )
    settings = Settings(law, options.get("target") or Target(), duration, dt)
    columns = hit_columns(made, settings, made.postures(q), speed, options.get("v"), vary or {})
    servo = servo_of(made, options.get("kp"), options.get("kd"), options.get("limit"))
    return HitBatch(made, settings, servo, columns)


def hit_columns(
    made: Hit,
    settings: Settings,
    postures: np.ndarray,
    speed: ArrayLike | None,
    v: ArrayLike | None,
    vary: Mapping[str, ArrayLike],
) -> dict[str, np.ndarray]:
    """Return everything that may differ from hit to hit, one entry or row per hit."""
    if (speed is None) == (v is None):
        raise HeelstrikeError(
            "pass either the hand's speed [m/s] or all joint velocities v, not both"
        )
    columns = dict(settings.target.inputs()) | {"target velocity": settings.target.velocity}
    known = law_inputs(settings.law)
    for name, value in vary.items():
        if f"law.{name}" not in known:
            names = [path.removeprefix("law.") for path in known]
            raise UnknownNameError("parameter", name, names, "parameters of the law")
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
    """Return joint velocities as rows (hits, n), without the base's part of (hits, nv)."""
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
    """Return gains, limits and friction of the joints."""
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
