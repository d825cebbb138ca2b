"""Faster forward dynamics, which the text names twice: a basis of its own (impact/krylov.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from heelstrike.impact.cost import traced
from heelstrike.impact.estimates import estimate
from heelstrike.papers.report import Result, Row, below, meets
from heelstrike.papers.tsujita2009.assumptions import SPEEDS, punch_posture
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.robot import load

MODES = 10


def faster() -> Result:
    """Error and operations of ten vectors."""
    robot = load("hrp2", collide="feet")
    q = punch_posture(robot)
    rows: list[Row] = []
    for torque, limit in (("damping", 1e-4), ("full", 2e-3)):
        options: dict[str, Any] = {"speed": SPEEDS, "law": law(), "torque": torque, "limits": False}
        kept = estimate(robot, q, "r_hand", **options)
        quick = estimate(robot, q, "r_hand", method="krylov", modes=MODES, **options)
        error = float(np.abs(quick.impulse / kept.impulse - 1).max())
        label = "(11)" if torque == "damping" else "(10)"
        rows.append(below(f"{label}: largest error of f_n, {MODES} vectors", error, limit))
    ours = traced(robot, "r_hand", modes=MODES)
    paper = 2 * 28**2 + 25 * 28 - 6
    payback = ours.basis / (ours.step - ours.quick)
    rows += [
        meets("operations a step, kept inertia", ours.step, most=paper, remark="Theirs, by (19)."),
        meets("operations a step, basis of its own", ours.quick, most=ours.step / 10),
        meets("steps after which the basis has paid", payback, most=100),
    ]
    return Result(
        "faster",
        "Faster forward dynamics",
        "The scheme can be applied to faster forward dynamics equations.",
        tuple(rows),
    )
