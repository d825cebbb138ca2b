"""Closed loops: how well they hold, and Cassie's step beside MuJoCo's.

    python -m benchmarks.closed_loops [--json FILE] [--quick]

Drift and energy are of the undamped four-bar of tests/mechanisms.py, 10 s from rest in steps of
1 ms. Cassie (HEELSTRIKE_DATA/robots/cassie.xml: two loops and two springs in each leg) stands on
the capsules of its feet, under servos at its motors, in steps of 0.5 ms, its file's. MuJoCo has the
same file with the servos as its position actuators, its soft constraints and contacts, the same
four contacts and nothing else that touches. All work on one thread, times are CPU times of that
thread, and contenders take turns. Operations of gears are those of a step in the air of the arm
panda of example-robot-data, whose fingers mimic one another, beside those without that coupling.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.bench.peer import add_floor, mujoco_model
from heelstrike.bench.timing import Contender, timed
from heelstrike.dynamics.effective_mass import kinetic_energy
from heelstrike.measure.peer.model import positions_of
from heelstrike.robot.placement import lowest_height
from heelstrike.step.step import step_program
from tests import mechanisms

LAWS = {
    "Rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6)),
    "Elastic, implicit": hs.Elastic(
        hs.LinearSpring(k=4e5, c=3e3), hs.Coulomb(0.8, 0.6), implicit=True
    ),
    "Elastic": hs.Elastic(  # on which it stands in steps of 0.5 ms
        hs.HuntCrossley(k=1.6e5, alpha=2.5), hs.Bristle(0.8, 0.6, k_t=1.6e5, c_t=480)
    ),
    "in the air": None,
}
DT, SETTLE = 5e-4, 2.0
"""Step, and time for which the robot settles [s]."""
WORLDS, STEPS, CALL = 64, 20, 200
"""Worlds of the batch, its steps in a call, and those of one world."""
TURNS, QUICK_TURNS = 9, 3
GAINS = {"hip-roll": 3000, "hip-yaw": 3000, "hip-pitch": 3000, "knee": 3000, "foot": 1000}
DAMPING = {"foot": 40.0}
LEAN = -0.02
"""Addition to the reference of the feet: springs yield, and the trunk would lean forward [rad]."""


def main() -> None:
    options = parser(__doc__, "fewer turns").parse_args()
    warnings.simplefilter("ignore")
    data = os.environ.get("HEELSTRIKE_DATA")
    if not data:
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/cassie.xml")
    console = Console()
    result: dict[str, Any] = {"four-bar": {x: swung(x) for x in ("symplectic", "rk4")}}
    table = Table("four-bar", "largest error [m]", "energy range [J]", "largest kinetic energy [J]")
    for name, row in result["four-bar"].items():
        table.add_row(name, *(f"{row[key]:.2g}" for key in ("error", "energy", "kinetic")))
    console.print(table)
    result["gears"] = gears()
    if result["gears"]:
        console.print(
            "panda, operations of a step: {with} with its gear, {without} without".format(
                **result["gears"]
            )
        )
    file = Path(data) / "robots/cassie.xml"
    turns = QUICK_TURNS if options.quick else TURNS
    table = Table("Cassie", "one world [us]", "batch [us]", "mj_step [us]", "ratio", "batch", "v")
    result["cassie"] = {name: cassie(file, law, turns) for name, law in LAWS.items()}
    for name, row in result["cassie"].items():
        times = [f"{row[key]['us']:.3g}" for key in ("one world", "batch", "MuJoCo")]
        ratios = [f"{row['MuJoCo']['us'] / row[key]['us']:.3g}" for key in ("one world", "batch")]
        table.add_row(name, *times, *ratios, f"{row['speed']:.2g}")
    console.print(table)
    keep(result, options.json)


def swung(integrator: str) -> dict[str, float]:
    """Return the largest error, and the range of the energy, of the four-bar.

    The symplectic step's velocities are half a step behind: means of two are taken.
    """
    robot = mechanisms.four_bar()
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, integrator=integrator)
    run = sim.run(10.0, q0=robot.close(np.array([0.3, -1.0, -1.2])))
    data = robot.model.createData()
    places, speeds = run.data.q.values[0], run.data.v.values[0]
    if integrator == "symplectic":
        places, speeds = places[:-1], (speeds[:-1] + speeds[1:]) / 2
    states = zip(places[::10], speeds[::10], strict=True)
    kinetic, whole = [], []
    for q, v in states:
        kinetic.append(kinetic_energy(robot, q, v))
        whole.append(kinetic[-1] + pin.computePotentialEnergy(robot.model, data, q))
    error = float(run.data.constraint_error.max())
    return {"error": error, "energy": float(np.ptp(whole)), "kinetic": max(kinetic)}


def gears() -> dict[str, int]:
    """Return operations of a step of panda with and without its mimic joint; empty: no file."""
    try:
        found = [file for file in files("example-robot-data") or [] if file.name == "panda.urdf"]
    except PackageNotFoundError:
        return {}
    robot = hs.load(Path(str(found[0].locate())), collide="feet")

    def operations(own: hs.Robot) -> int:
        plan = hs.Simulator(hs.Scene(own, self_contact=False)).plan
        counts = step_program(plan).counts()
        return counts.arithmetic + counts.choices + counts.functions

    return {"with": operations(robot), "without": operations(replace(robot, constraints=()))}


def gains(robot: hs.Robot) -> tuple[dict[str, float], dict[str, float]]:
    """Return stiffness and damping of the servos by joint."""
    kp = {f"{side}-{name}": float(k) for side in ("left", "right") for name, k in GAINS.items()}
    return kp, {name: DAMPING.get(name.partition("-")[2], 60.0) for name in kp}


def cassie(file: Path, law: object, turns: int) -> dict[str, Any]:
    """Return the times of a step, and the largest speed after settling."""
    robot = hs.load(file, collide="feet")
    q = robot.close(robot.pose("home"), hold=(robot.joints[0].name,))
    q[2] -= lowest_height(robot, q)
    reference = q.copy()
    for joint in robot.joints:
        if joint.name.endswith("-foot"):
            reference[joint.iq] += LEAN
    kp, kd = gains(robot)
    servo = hs.Servo(kp=kp, kd=kd, reference=reference)
    scene = hs.Scene(robot) if law is None else hs.Scene(robot, hs.Plane(law, "ground"))
    settle = 0.1 if law is None else SETTLE
    one, many = (hs.Simulator(scene, dt=DT, control=servo, worlds=n) for n in (1, WORLDS))
    for sim in (one, many):
        sim.run(settle, q0=q, record="final")
    speed = float(np.abs(one.state["v"]).max())
    step = mujoco_step(file, robot, q, reference, settle, law is None)
    times = timed(
        {
            "one world": Contender(lambda: one.step(CALL), CALL),
            "batch": Contender(lambda: many.step(STEPS), STEPS * WORLDS),
            "MuJoCo": Contender(lambda: step(CALL), CALL),
        },
        turns,
    )
    return {**times, "speed": speed}


def mujoco_step(
    file: Path, robot: hs.Robot, q: np.ndarray, reference: np.ndarray, settle: float, flies: bool
) -> partial[Any]:
    """Return a call that steps MuJoCo's Cassie, after it has settled."""
    kp, kd = gains(robot)

    def hold(_: Any, spec: Any) -> None:
        for joint in spec.joints:
            joint.name = joint.name or robot.joints[0].name
        for geom in spec.geoms:
            feet = geom.parent.name.endswith("-foot") and not flies
            geom.contype, geom.conaffinity = (1, 0) if feet else (0, 0)
        for actuator in spec.actuators:
            actuator.gear = [1, 0, 0, 0, 0, 0]
            actuator.ctrllimited = 0
            actuator.set_to_position(kp=kp[actuator.target], kv=kd[actuator.target])

    model, data = mujoco_model(file, hold, add_floor)
    model.opt.timestep = DT
    data.qpos[:] = positions_of(model, robot, q)
    held = positions_of(model, robot, reference)
    data.ctrl[:] = held[model.jnt_qposadr[model.actuator_trnid[:, 0]]]
    import mujoco

    call = partial(mujoco.mj_step, model, data)
    call(round(settle / DT))
    return call


if __name__ == "__main__":
    main()
