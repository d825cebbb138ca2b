"""Terms that the paper's velocities leave out: K' q' dt of (19), and in (21) all of b but gravity
(S4).

    v_i + K_i^T dq' (+ K_i'^T q' dt)            (19); bias="drop" is literal, "keep" has the rest
    dq' = H^-1 (u_E - b) dt + ...               (21); forces="b-hat" is literal, "b" has the rest

hoap1 on the bare floor of IV-C, 1 mm deep so that no sole leaves it, lam = 1e-6 so that it does not
sink. Its soles should rest, whether it stands or crouches, 0.4 s down and 0.4 s up. What they do
instead is measured at 1 ms and at 0.5 ms. A speed counts as ignorable below 1 % of g dt, what one
step of falling is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, Row, below, finished, near, shown
from heelstrike.papers.sugihara2006.closed_form import G

STEPS = (1e-3, 5e-4)
"""[s]"""
HALF, SETTLED, DEEP, LAM = 0.4, 0.05, 1e-3, 1e-6
"""Way down [s], start of what is looked at [s], depth of the soles [m], lambda [1/kg^2]."""
IGNORABLE = 0.01
"""Of g dt."""
CHOICES = [(bias, forces) for bias in ("drop", "keep") for forces in ("b", "b-hat")]
NAMES = {"drop": "(19) literal", "keep": "(19) whole", "b": "b", "b-hat": "b-hat"}


@dataclass(frozen=True)
class Soles:
    """Return the motion of the soles' points at each of STEPS."""

    normal: np.ndarray
    """Largest speed [m/s]."""
    tangential: np.ndarray
    sinks: np.ndarray
    """Depth at the end less that at SETTLED, mean [m]."""


@cache
def soles(bias: str, forces: str, moves: bool) -> Soles:
    """hoap1 standing or crouching, a world for each step."""
    robot = hs.load("hoap1", collide="feet")
    times = np.linspace(0, 2 * HALF, 401)
    way = moves * 0.5 * (1 - np.cos(np.pi * times / HALF))[:, None]
    poses = (1 - way) * robot.pose("stance") + way * robot.pose("crouch")
    friction = hs.Coulomb(mu_s=1.0, mu_k=0.4)
    law = hs.Rigid(friction=friction, rule="paper", lam=LAM, bias=bias, forces=forces)
    servo = hs.Servo(reference=hs.Trajectory(times, poses))
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), control=servo)
    q0 = robot.pose("stance").copy()
    q0[2] -= DEEP
    found = [_speeds(sim, q0, dt) for dt in STEPS]
    return Soles(*np.array(found).T)


def _speeds(sim: hs.Simulator, q0: np.ndarray, dt: float) -> tuple[float, float, float]:
    steps, first = round(2 * HALF / dt), round(SETTLED / dt)
    run = sim.run(
        steps=steps,
        q0=q0,
        v0=np.zeros(sim.robot.nv),
        vary={"dt": dt},
        record=("depth_rate", "slip", "depth"),
        progress=False,
        check=False,
    )
    data = finished(run, steps)
    rate, slip, depth = (data[name].values[0, first:] for name in ("depth_rate", "slip", "depth"))
    along = np.linalg.norm(slip, axis=-1)
    return float(np.abs(rate).max()), float(along.max()), float((depth[-1] - depth[0]).mean())


def choices() -> Result:
    """Standing and crouching, each choice."""
    rows = [_standing(*choice) for choice in CHOICES]
    for choice in CHOICES:
        rows += _crouching(*choice)
    return Result(
        "choices",
        "what (19) and (21) leave out",
        "Variations of H, b and K within a step are ignorable (III-B).",
        tuple(rows),
    )


def _standing(bias: str, forces: str) -> Row:
    made = soles(bias, forces, moves=False)
    return below(
        f"standing, {NAMES[bias]}, {NAMES[forces]}: largest speed of a sole [um/s]",
        1e6 * max(made.normal[0], made.tangential[0]),
        0.1,
        remark="Nothing moves, so nothing is left out.",
    )


def _crouching(bias: str, forces: str) -> list[Row]:
    made = soles(bias, forces, moves=True)
    name = f"crouching, {NAMES[bias]}, {NAMES[forces]}"
    speed = max(made.normal[0], made.tangential[0])
    whole = (bias, forces) == ("keep", "b")
    rows = [
        shown(
            f"{name}: largest speed of a sole [um/s]",
            1e6 * speed,
            speed < IGNORABLE * G * STEPS[0],
            "ignorable",
            ("" if whole else "What is left out is of the order of dt, not small beside g dt. ")
            + f"Along the floor {1e6 * made.tangential[0]:.3g} um/s; the way down and up changes "
            f"the soles' depth by {1e6 * made.sinks[0]:.3g} um.",
        )
    ]
    if not whole:
        rows.append(
            near(
                f"{name}: the same over that at half the step",
                made.normal[0] / made.normal[1],
                2.0,
                0.1,
                remark="Of order dt.",
            )
        )
    return rows
