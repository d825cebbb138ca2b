"""Cases in which the contact solver is at its limits: rounds, steps at the limit, what is left.

    python -m benchmarks.solver_limits [--json FILE] [--only REGEX]

- smoothing: hoap1 on its feet on `hs.Rigid`, thrown at 0.3 m/s in all directions, with `smoothing`
  from its default down;
- rest: hoap1 on its feet on `hs.MicroMacro` and on an implicit `hs.Elastic`, after a drop of 1 cm;
- pushed: hoap1 with all its points pushed forward (pushed_over.py), lying in the last of 4 s;
- shell: a cube at 10 m/s with a corner first onto a free shell of 2 mm, in 40 phases of a step.

Columns: rounds of all steps with contact, mean, 99th percentile and largest; steps at the limit of
rounds; the largest residual [m/s] of those that ended there, and of the others; the largest speed
of a joint at the end [rad/s, m/s]. docs/solver.md explains the figures.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pushed_over import starts
from benchmarks.whole_body import swaying
from heelstrike.bench.standing import first_pose

WORLDS, DT = 8, 1e-3
SMOOTHING = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
RECORDED = ("v", "solver_rounds", "solver_unfinished", "solver_residual")
PHASES, SPEED = 40, 10.0
"""Starts within the way of a step, and speed of the cube [m/s]."""
CUBE = (
    '<mujoco><worldbody><body name="cube"><freejoint/>'
    '<geom name="cube" type="box" size="0.05 0.05 0.05" mass="1"/></body>'
    '<body name="shell" pos="0 0 -1"><freejoint/>'
    '<geom name="shell" type="box" size="0.3 0.3 0.001" mass="1"/></body></worldbody></mujoco>'
)
Row = dict[str, float]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--only", default="", help="a regular expression that cases must match")
    options = made.parse_args()
    warnings.simplefilter("ignore")
    console = Console()
    cases = {"smoothing": smoothing, "rest": rest, "pushed": pushed, "shell": shell}
    rows: dict[str, Row] = {}
    for name, work in cases.items():
        if re.search(options.only, name):
            with console.status(name):
                rows |= dict(work())
    table = Table("", *next(iter(rows.values()), ()))
    for name, row in rows.items():
        table.add_row(name, *(f"{value:.3g}" for value in row.values()))
    console.print(table)
    keep({"rows": rows}, options.json)


def smoothing() -> Iterator[tuple[str, Row]]:
    """Yield figures of one robot with ever smaller compliances."""
    robot = hs.load("hoap1", collide="feet")
    q, v = swaying(robot, WORLDS, drop=0.005, speed=0.3)
    sim = standing(robot, hs.Rigid())
    for value in SMOOTHING:
        sim.parameters["ground.smoothing"] = value
        yield f"smoothing {value:g}", figures(sim.run(1.0, q0=q, v0=v, record=RECORDED))


def rest() -> Iterator[tuple[str, Row]]:
    """Yield figures of robots that come to rest, and of those at rest."""
    robot = hs.load("hoap1", collide="feet")
    spring = hs.LinearSpring(k=1e5, c=1e3)
    laws = {
        "MicroMacro": hs.MicroMacro(),
        "Elastic, implicit": hs.Elastic(spring, hs.Coulomb(), implicit=True),
    }
    q, v = swaying(robot, WORLDS, drop=0.01, speed=0.0)
    for name, law in laws.items():
        sim = standing(robot, law)
        yield f"{name}: first 0.5 s", figures(sim.run(0.5, q0=q, v0=v, record=RECORDED))
        sim.step(2500)
        yield f"{name}: after 3 s", figures(sim.run(0.2, record=RECORDED))
    for mu in (0.0, 5.0):  # of the last law: no friction, and friction that always holds
        sim.parameters["ground.friction.mu_s"] = sim.parameters["ground.friction.mu_k"] = mu
        yield f"{name}: mu {mu:g}", figures(sim.run(0.5, q0=q, v0=v, record=RECORDED))


def pushed() -> Iterator[tuple[str, Row]]:
    """Yield figures of a robot that lies on its front."""
    robot = hs.load("hoap1")
    q, v = starts(robot, 8)
    for contact in (False, True):
        scene = hs.Scene(robot, hs.Plane(hs.Rigid(), name="ground"), self_contact=contact)
        sim = hs.Simulator(scene, DT, hs.Servo(reference=q))
        sim.reset(q0=q, v0=v[0])
        sim.step(3000)
        name = "pushed forward" + (", self-contact" if contact else "")
        yield name, figures(sim.run(1.0, record=RECORDED))


def shell() -> Iterator[tuple[str, Row]]:
    """Yield figures of a cube that hits a free shell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cube.xml")
        path.write_text(CUBE)
        robot = hs.load(path)
    scene = hs.Scene(robot, hs.Plane(hs.Rigid(), point=(0, 0, -100)), gravity=0)
    half = np.arccos(np.sqrt(1 / 3)) / 2  # turns a corner to -z
    axis = np.array([1, -1, 0]) / np.sqrt(2)
    for dt in (1e-3, 2e-3):
        q, v = np.tile(robot.pose("zero"), (PHASES, 1)), np.zeros((PHASES, robot.nv))
        q[:, 2] = 0.1 + SPEED * dt * np.arange(PHASES) / PHASES
        q[:, 3:7] = [*np.sin(half) * axis, np.cos(half)]
        q[:, 7:] = [0, 0, 0, 0, 0, 0, 1]
        up = np.array([0, 0, 1.0])
        v[:, :3] = SPEED * (np.cross(axis, up) * np.sin(2 * half) - up * np.cos(2 * half))
        sim = hs.Simulator(scene, dt=dt, worlds=PHASES)
        yield f"shell, {1e3 * dt:g} ms", figures(sim.run(0.03, q0=q, v0=v, record=RECORDED))


def standing(robot: hs.Robot, law: hs.SurfaceLaw) -> hs.Simulator:
    """Return worlds of a robot that its servo holds in its first pose."""
    scene = hs.Scene(robot, hs.Plane(law, name="ground"))
    return hs.Simulator(scene, DT, hs.Servo(reference=first_pose(robot)), WORLDS)


def figures(run: hs.Recording) -> Row:
    """Return how rounds, residuals and speeds are spread over the steps with contact."""
    data = run.data
    names = "solver_rounds", "solver_unfinished", "solver_residual"
    rounds, limit, residual = (np.ravel(data[name].values).astype(float) for name in names)
    touching, limit = rounds > 0, limit > 0
    some = rounds[touching] if touching.any() else np.zeros(1)
    return {
        "steps": float(touching.sum()),
        "mean rounds": float(some.mean()),
        "99 %": float(np.percentile(some, 99)),
        "largest": float(some.max()),
        "at the limit": float(limit.sum()),
        "residual there": float(residual[limit].max(initial=0)),
        "residual else": float(residual[~limit].max(initial=0)),
        "speed at the end": float(np.abs(data["v"].values[:, -1]).max()),
    }


if __name__ == "__main__":
    main()
