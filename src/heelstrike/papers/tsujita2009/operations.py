"""Figs 3 and 4: operations as (18) to (23) count them, and as our own programs have them.

HRP-2: n = 28; the split into arms is not given, four of seven is ours and moves the fourth digit.
t_total = 0.1 s. Ours for fig 4: four arms of n/4 hinges on a free base, the virtual base at the end
of one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.impact.base import VirtualBase
from heelstrike.impact.cost import Cost, OperationCounts, printed, traced
from heelstrike.papers.report import Result, Row, meets, near, shown
from heelstrike.robot import load
from heelstrike.robot.robot import WORLD, Body, Joint, Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOTAL = 0.1
"""t_total [s]."""
SAMPLING = (1e-3, 1e-4, 1e-5, 1e-6)
SIZES = (8, 16, 24, 32)
"""DOF of the robots that are traced for fig 4."""
FEWER = "Beside what the paper counts, which ours must not exceed."


def hrp2_cost(steps: int) -> Cost:
    """Return the paper's counts for HRP-2."""
    return printed(28, (7, 7, 7, 7), 7, steps)


def fig3() -> Result:
    """Ratios over the sampling time."""
    ours = traced(load("hrp2", collide="feet"), "r_hand")
    theirs_1 = {1e-3: ".016", 1e-5: "almost constant below"}
    theirs_3 = {1e-4: "about 1/4"}
    forms_1 = (0.01562, 0.006628, 0.005729, 0.005639)
    forms_3 = (0.623, 0.2644, 0.2285, 0.2250)
    rows: list[Row] = []
    for t_s, form_1, form_3 in zip(SAMPLING, forms_1, forms_3, strict=True):
        cost = hrp2_cost(round(TOTAL / t_s))
        rows.append(near(f"C_r1 at {t_s:g} s", cost.ratio_1, form_1, 1e-3 * form_1,
                         theirs_1.get(t_s)))  # fmt: skip
        rows.append(near(f"C_r3 at {t_s:g} s", cost.ratio_3, form_3, 1e-3 * form_3,
                         theirs_3.get(t_s), "C3 times T_i, which (22) leaves out."))  # fmt: skip
    mine = ours.cost(round(TOTAL / 1e-4))
    once, each = float(hrp2_cost(0).kept), float(hrp2_cost(1).anew)
    rows += [
        meets("ours: C_r1 at 0.0001 s", mine.ratio_1, most=0.1,
              remark="Our scheme (a) inverts H* along the tree and needs far fewer than C1."),
        shown("ours: C_r3 at 0.0001 s", mine.ratio_3, mine.ratio_3 < 1, "about 1/4",
              "Our articulated bodies have fewer operations than 373 n - 371."),
        meets("ours: setup, once", ours.setup, most=once, remark=FEWER),
        meets("ours: a step of (b)", ours.step, most=2 * 28**2 + 25 * 28 - 6, remark=FEWER),
        meets("ours: a step of (a)", ours.anew, most=each, remark=FEWER),
        meets("ours: articulated bodies", ours.articulated, most=373 * 28 - 371, remark=FEWER),
    ]  # fmt: skip
    return Result(
        "fig3",
        "Sampling time and the complexity ratios",
        "At 1 ms the cost is 0.016 of the normal scheme's; at 0.1 ms 1/4 of articulated bodies'.",
        tuple(rows),
        lambda: _draw_3(ours),
    )


def fig4() -> Result:
    """Ratios over the degrees of freedom, at 0.1 ms."""
    steps = round(TOTAL / 1e-4)
    found = {n: traced(four_arms(n), "arm0_tip", VirtualBase("arm3_tip")) for n in SIZES}
    crossing = next(n for n in range(4, 200) if _four(n, steps).ratio_3 >= 1)
    rows = [near("DOF at which C_r3 reaches 1", crossing, 97, 0, "under 100",
                 "96.27: at 96 it is below, at 97 above.")]  # fmt: skip
    for n in (8, 32, 100):
        cost = _four(n, steps)
        least, most = (None, 1.0) if n < crossing else (1.0, None)
        rows.append(meets(f"C_r3 at {n} DOF", cost.ratio_3, least=least, most=most))
    for n, own in found.items():
        rows.append(shown(f"ours: C_r3 at {n} DOF", own.cost(steps).ratio_3,
                          own.cost(steps).ratio_3 < 1, "under one"))  # fmt: skip
    for n, own in found.items():
        share = own.faster(steps) / float(own.cost(steps).articulated)
        rows.append(meets(f"ours, faster form: C_r3 at {n} DOF", share, most=1))
    return Result(
        "fig4",
        "DOF and the complexity ratios",
        "Under 100 DOF the complexity ratio C_r3 is under one.",
        tuple(rows),
        lambda: _draw_4(found, steps),
    )


def _four(n: int, steps: int) -> Cost:
    """l = 4, n_k = n/4, section II-C."""
    part = Fraction(n, 4)
    return printed(n, (part,) * 4, part, steps)


def four_arms(n: int) -> Robot:
    """Four arms of n/4 hinges on a free base; axes and inertias of no symmetry."""
    rng = np.random.default_rng(n)
    eye, far = np.eye(3), np.inf
    joints = [Joint("root", "free", WORLD, eye, np.zeros(3), np.zeros(3), 0, 0)]
    names = ["root"]
    for arm in range(4):
        parent = 0
        for k in range(n // 4):
            axis = np.eye(3)[k % 3]
            i = len(joints)
            place = np.array([0.1, 0.2 * (arm - 1.5), 0.3]) if k == 0 else np.array([0, 0, 0.2])
            names.append(f"arm{arm}_tip" if k + 1 == n // 4 else f"arm{arm}_{k}")
            joints.append(Joint(names[-1], "revolute", parent, eye, place, axis, 6 + i, 5 + i))
            parent = i
    bodies = tuple(
        Body(name, float(rng.uniform(1, 3)), rng.uniform(-0.1, 0.1, 3), 0.02 * eye)
        for name in names
    )
    nv, nq = n + 6, n + 7
    return Robot(
        name=f"four arms of {n // 4}", joints=tuple(joints), bodies=bodies,
        armature=np.r_[np.zeros(6), np.full(n, 0.1)], damping=np.zeros(nv), friction=np.zeros(nv),
        lower=np.full(nq, -far), upper=np.full(nq, far), velocity_limit=np.full(nv, far),
        torque_limit=np.r_[np.full(6, far), np.full(n, 100.0)], kp=np.zeros(nv), kd=np.zeros(nv),
    )  # fmt: skip


def _draw_3(ours: OperationCounts) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2)
    t_s = np.geomspace(1e-3, 1e-6, 40)
    theirs = [hrp2_cost(round(TOTAL / t)) for t in t_s]
    mine = [ours.cost(round(TOTAL / t)) for t in t_s]
    for ax, name, title in ((left, "ratio_1", "$C_{r1}$"), (right, "ratio_3", "$C_{r3}$")):
        ax.semilogx(t_s, [getattr(c, name) for c in theirs], label="(18) to (23)")
        ax.semilogx(t_s, [getattr(c, name) for c in mine], label="our programs")
        ax.invert_xaxis()
        ax.set_ylim(bottom=0)
        plot.label(ax, f"{title}, HRP-2, 28 DOF", "sampling time [s]", "ratio")
        ax.legend(fontsize=8, frameon=False)
    return figure


def _draw_4(found: dict[int, OperationCounts], steps: int) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2)
    n = np.arange(4, 121, 4)
    sizes = list(found)
    mine = [own.cost(steps) for own in found.values()]
    for ax, name, title in ((left, "ratio_1", "$C_{r1}$"), (right, "ratio_3", "$C_{r3}$")):
        ax.plot(n, [getattr(_four(int(k), steps), name) for k in n], label="(18) to (23)")
        ax.plot(sizes, [getattr(c, name) for c in mine], "o-", label="our programs")
        plot.label(ax, f"{title} at 0.1 ms", "DOF", "ratio")
        ax.legend(fontsize=8, frameon=False)
    share = [own.faster(steps) / float(own.cost(steps).articulated) for own in found.values()]
    right.plot(sizes, share, "s-", label="our faster form")
    right.axhline(1, color=plot.GREY, linewidth=1)
    right.legend(fontsize=8, frameon=False)
    return figure
