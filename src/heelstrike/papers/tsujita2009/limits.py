"""(12): torque limits that bite, and whether what is left out predicts the error.

hrp2's own limits are never reached by hits of 0.3 to 1 m/s. So its limits are lowered to shares of
themselves, and the same random hits are made by the simplified computation, with (12) and without,
and in full on the rigid floor. Postures, speeds and shares are ours.
"""

from __future__ import annotations

import numpy as np

from heelstrike.impact.comparison import Comparison, compare
from heelstrike.impact.estimates import estimate
from heelstrike.papers.report import Result, Row, below, meets
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.robot import Robot, load

SHARES = (1.0, 0.4, 0.2, 0.1)
HITS = 48
BOUND = 6.1
"""Largest error of the impulse in table II [%]."""
CLEAR = 0.4
"""A rank correlation that is not chance: that of 48 hits scatters by 1 / sqrt(47) = 0.15."""


def limits() -> Result:
    """Errors of the impulse by how hard the limits bite."""
    robot = load("hrp2", collide="feet")
    rows: list[Row] = []
    for share in SHARES:
        made, blind = limited(robot, share, HITS)
        terms = made.simplified.neglected
        assert terms is not None
        error = np.abs(made.errors()["simplified impulse"])
        reached = terms.load >= 1
        at = f"limits times {share:g}"
        rows += [
            meets(f"{at}: hits that reach one", float(reached.mean()),
                  least=1 / HITS if share < 1 else None, most=None if share < 1 else 0),
            below(f"{at}: error of f_n, median [%]", float(np.median(error)), BOUND, "6.1 at most"),
            _predicts(f"{at}: |c*| / |J^T F|", terms.coriolis / terms.force, error, True),
        ]  # fmt: skip
        if reached.any():
            own, other = float(np.median(error[reached])), float(np.median(blind[reached]))
            rows += [
                meets(f"{at}: error of those that reach one, median [%]", own, most=other,
                      remark=f"Without (12) it is {other:.3g} %."),
                _predicts(f"{at}: torque over limit", terms.load, error, False),
            ]  # fmt: skip
    return Result(
        "limits",
        "Torque limits",
        "Where a torque would pass its limit, it is the limit; small terms are left out.",
        tuple(rows),
    )


def _predicts(name: str, term: np.ndarray, error: np.ndarray, wanted: bool) -> Row:
    found = rank_correlation(term, error)
    remark = (
        "A neglected term tells where not to trust the estimate."
        if wanted
        else "A limit that is reached is no reason for mistrust: (12) follows it."
    )
    least, most = (CLEAR, None) if wanted else (None, CLEAR)
    name += ", rank correlation with the error"
    return meets(name, found, least=least, most=most, remark=remark)


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's, -1 to 1."""
    a, b = (np.argsort(np.argsort(values)) for values in (x, y))
    return float(np.cov(a, b)[0, 1] / (a.std(ddof=1) * b.std(ddof=1)))


def limited(robot: Robot, share: float, hits: int) -> tuple[Comparison, np.ndarray]:
    """Random hits with limits at a share of the robot's; and errors (24) [%] without (12)."""
    q, speeds = postures(robot, hits), np.random.default_rng(3).uniform(0.3, 1.0, hits)
    limit = {
        joint.name: float(share * robot.torque_limit[joint.iv])
        for joint in robot.joints
        if joint.nv == 1
    }
    made = compare(robot, q, "r_hand", speed=speeds, law=law(), limit=limit)
    free = estimate(robot, q, "r_hand", speed=speeds, law=law(), limits=False, neglected=False)
    full = made.full.impulse
    return made, np.abs(100 * (full - free.impulse) / full)


def postures(robot: Robot, count: int, seed: int = 9) -> np.ndarray:
    """Random ones with both soles flat: knees bent, trunk turned and bent, arms anywhere."""
    rng = np.random.default_rng(seed)
    at = {joint.name: joint.iq for joint in robot.joints}
    q = np.tile(robot.pose("stance"), (count, 1))
    knee = rng.uniform(0.2, 1.4, count)
    for side in "LR":
        q[:, at[f"{side}LEG2"]], q[:, at[f"{side}LEG4"]] = -knee / 2, -knee / 2
        q[:, at[f"{side}LEG3"]] = knee
        out = 1 if side == "L" else -1
        q[:, at[f"{side}ARM0"]] = rng.uniform(-1.6, 0.3, count)
        q[:, at[f"{side}ARM1"]] = out * rng.uniform(0.0, 0.9, count)
        q[:, at[f"{side}ARM2"]] = rng.uniform(-0.8, 0.8, count)
        q[:, at[f"{side}ARM3"]] = rng.uniform(-1.9, -0.2, count)
        q[:, at[f"{side}ARM4"]] = rng.uniform(-0.8, 0.8, count)
        q[:, at[f"{side}ARM5"]] = rng.uniform(-0.6, 0.6, count)
    q[:, at["CHEST0"]] = rng.uniform(-0.5, 0.5, count)
    q[:, at["CHEST1"]] = rng.uniform(0.0, 0.35, count)
    q[:, 0], q[:, 2] = -0.02, 0.105 + 0.6 * np.cos(knee / 2)
    return q
