"""Bounds that hold for any robot with the contact of section III.

    f_max = c v_c, for the force falls from the start while the reduced mass is below c^2/k = 9 kg
    f_n(m_a) <= f_n <= f_n(infinite mass), while the servo neither brakes the hand nor drives it
    past v_c

Table II's own numbers are judged by the same bounds.
"""

from __future__ import annotations

from heelstrike.impact.estimates import estimate
from heelstrike.papers.report import Result, Row, meets, near
from heelstrike.papers.tsujita2009.assumptions import SPEEDS, punch_posture
from heelstrike.papers.tsujita2009.mass import TABLE, C, impulse, law
from heelstrike.papers.tsujita2009.table2 import TABLE_2
from heelstrike.robot import load

INFINITE = 1e12


def bounds() -> Result:
    """Peak and impulse of hrp2's hand, and table II, between their bounds."""
    robot = load("hrp2", collide="feet")
    q = punch_posture(robot)
    rows: list[Row] = []
    for torque in ("damping", "full"):
        made = estimate(robot, q, "r_hand", speed=SPEEDS, law=law(), torque=torque)
        for i, v in enumerate(SPEEDS):
            label = "(11)" if torque == "damping" else "(10)"
            rows.append(near(f"{label}, {v:g} m/s: f_max [N]", made.peak[i], C * v, 1e-6 * C * v))
            name, mass = f"{label}, {v:g} m/s: f_n [N s]", float(made.virtual_mass[i])
            rows.append(between(name, float(made.impulse[i]), mass, v))
    count = sum(
        impulse(TABLE[name][0], v) - 0.05 <= f_n <= impulse(INFINITE, v) + 0.05
        for name, entries in TABLE_2.items()
        for v in (TABLE[name][1],)
        for f_n in (entries[1], entries[4])
    )
    rows.append(meets("table II: entries of f_n inside, of 18", count, least=18))
    return Result(
        "bounds",
        "Bounds on peak force and impulse",
        "The maximum force errors are minor in both estimating methods.",
        tuple(rows),
    )


def between(name: str, ours: float, mass: float, speed: float) -> Row:
    """Return an impulse [N s] judged by that of a virtual mass and of an infinite one at this
    speed.
    """
    low, high = impulse(mass, speed), impulse(INFINITE, speed)
    remark = f"Between those of the virtual mass and of an infinite one, at {speed:.3g} m/s."
    return meets(name, ours, least=low, most=high, remark=remark)
