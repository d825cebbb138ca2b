"""The virtual base: soles of 1e5 kg and 1e5 kg m^2, section III, against soles that are fixed."""

from __future__ import annotations

import numpy as np

from heelstrike.impact.base import VirtualBase
from heelstrike.impact.mass import virtual_mass
from heelstrike.papers.report import Result, Row, below, near
from heelstrike.robot import load

LINKS = {"both soles": ("LLEG5", "RLEG5"), "left sole": ("LLEG5",), "left hand": ("LARM5",)}


def base() -> Result:
    """Error of m_a by the mass of the base, hrp2 in stance, right hand."""
    robot = load("hrp2", collide="feet")
    q = robot.pose("stance")
    rows: list[Row] = []
    for words, links in LINKS.items():
        for axis in "xz":
            args = (robot, q, "r_hand", (0, 0, 0), axis)
            exact = virtual_mass(*args, VirtualBase(links, mass=np.inf))
            errors = [
                float(1 - virtual_mass(*args, VirtualBase(links, mass=m, inertia=m)) / exact)
                for m in (1e5, 1e6)
            ]
            name = f"{words}, {axis}: 1 - m_a / limit"
            rows.append(below(f"{name} at 1e5", errors[0], 1e-2, "huge"))
            remark = "It falls as one over the mass."
            ratio = errors[0] / errors[1]
            rows.append(near(f"{name}: 1e5 over 1e6", ratio, 10.0, 0.5, None, remark))
    return Result(
        "base",
        "Virtual base, (1) to (5)",
        "Extra weight makes links part of the ground without rebuilding the robot.",
        tuple(rows),
    )
