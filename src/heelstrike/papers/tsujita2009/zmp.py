"""ZMP during the impact, by inverse dynamics from the simplified computation (end of section II-B),
beside the centre of pressure of the full simulation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.impact.estimates import estimate
from heelstrike.impact.full import FullRun, simulate_full
from heelstrike.impact.results import Estimate, History
from heelstrike.papers.report import Result, Row, near
from heelstrike.papers.tsujita2009.assumptions import punch_posture
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.robot import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPEED = 0.7
CLOSE = 0.02
"""How near the ZMP of a scheme that keeps all angles should be [m]: a twelfth of a sole."""
FLOORS = {"rigid": "", "elastic": "Soles that sink into the floor rock a little on it."}
"""Of the full simulation, and why one of them may be further off."""


def zmp() -> Result:
    """hrp2's punch at 0.7 m/s on both floors."""
    robot = load("hrp2", collide="feet")
    q = punch_posture(robot)
    made = estimate(robot, q, "r_hand", speed=SPEED, law=law())
    assert made.history is not None
    full = {
        floor: simulate_full(robot, q, "r_hand", speed=SPEED, law=law(), floor=floor)
        for floor in FLOORS
    }
    rows: list[Row] = []
    for floor, run in full.items():
        apart = _apart(made.history, run)
        rows.append(near(f"{floor} floor: median |ZMP - CoP| [m]", float(np.nanmedian(apart)), 0.0,
                         CLOSE, remark=FLOORS[floor]))  # fmt: skip
        error = float(100 * (run.impulse[0] - made.impulse[0]) / run.impulse[0])
        rows.append(near(f"{floor} floor: error of f_n (24) [%]", error, 0.0, 6.0, "6.1 at most"))
    assert made.history.margin is not None
    rigid = full["rigid"]
    least = float(rigid.margin[0, 1:][rigid.force[0, 1:] > 0].min())
    name, remark = "least margin to the support polygon [m]", "Beside the CoP's on the rigid floor."
    ours = float(made.history.margin[0].min())
    rows.append(near(name, ours, least, CLOSE, remark=remark))
    return Result(
        "zmp",
        "ZMP during the impact",
        "Since the scheme computes the behaviour of the links, ZMP can be estimated.",
        tuple(rows),
        lambda: _draw(made, full),
    )


def _apart(history: History, run: FullRun) -> np.ndarray:
    """Distances at the times that the full run recorded, the first left out."""
    assert history.zmp is not None
    at = np.searchsorted(history.time, run.time[1:] - 1e-9)
    at = at[at < len(history.time)]
    return np.linalg.norm(history.zmp[0, at] - run.cop[0, 1 : len(at) + 1], axis=-1)


def _draw(made: Estimate, full: dict[str, FullRun]) -> Figure:
    from heelstrike.view import plot

    history = made.history
    assert history is not None
    assert history.zmp is not None
    figure, (left, right) = plot.figure(1, 2)
    left.plot(1e3 * history.time, history.force[0], label="simplified, (10)")
    right.plot(1e3 * history.time, 1e3 * history.zmp[0, :, 0], label="simplified: ZMP")
    for floor, run in full.items():
        left.plot(1e3 * run.time, run.force[0], "--", label=f"full, {floor} floor")
        right.plot(1e3 * run.time, 1e3 * run.cop[0, :, 0], "--", label=f"full, {floor}: CoP")
    plot.label(left, "Force on the target", "time [ms]", "force [N]")
    plot.label(right, "Forward, soles from -120 to 120 mm", "time [ms]", "x [mm]")
    for ax in (left, right):
        ax.legend(fontsize=8, frameon=False)
    return figure
