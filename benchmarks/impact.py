"""Impacts of the bundled hrp2: how fast, and how far from the full simulation.

    python -m benchmarks.impact [--json FILE] [--quick] [--only speed|accuracy]

Speed: one hit of 0.1 s in steps of 0.1 ms, in lanes, on one thread, and many on all threads. The
full simulation is ours, soles on an elastic floor under RK4; MuJoCo's makes the same hit with its
own contact. Contenders take turns, each one's best turn counts, in seconds of CPU time, which other
work on the machine disturbs least; wall time stands beside. Accuracy: 200 random postures and
speeds, errors (24) of [Tsujita2009] beside the paper's 3 % and 6 %, and what predicts them.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.bench.peer import mujoco_model
from heelstrike.bench.timing import Contender, timed
from heelstrike.impact import compare, estimate
from heelstrike.impact.full import simulate_full
from heelstrike.papers.tsujita2009.limits import limited, postures, rank_correlation

LINK, DURATION, DT = "r_hand", 0.1, 1e-4
STEPS = round(DURATION / DT)
WORLDS = 256
HITS = 200
MUJOCO_STEPS = 200
"""Steps of MuJoCo in one call."""


def main() -> None:
    command = parser(__doc__, "fewer hits, few turns")
    command.add_argument("--only", choices=("speed", "accuracy"), help="half of it")
    options = command.parse_args()
    warnings.simplefilter("ignore")
    robot, console = hs.load("hrp2", collide="feet"), Console()
    result: dict[str, Any] = {}
    if options.only != "accuracy":
        result["speed"] = speed(robot, 2 if options.quick else 7)
        show(console, "speed", result["speed"])
    if options.only != "speed":
        result["accuracy"] = accuracy(robot, 24 if options.quick else HITS)
        show(console, "accuracy", result["accuracy"])
    keep(result, options.json)


def speed(robot: hs.Robot, turns: int) -> dict[str, Any]:
    """Microseconds a step of one hit, and estimates a minute."""
    q = postures(robot, WORLDS)
    contenders = {
        "full, elastic, rk4": full_step(robot, q),
        "kept, rk4": steps_only(robot, q, "kept", "rk4"),
        "kept, symplectic": steps_only(robot, q, "kept", "symplectic"),
        "krylov, rk4": steps_only(robot, q, "krylov", "rk4"),
        "krylov, symplectic": steps_only(robot, q, "krylov", "symplectic"),
    }
    contenders["MuJoCo"] = mujoco_step()
    work = dict.fromkeys(contenders, STEPS * WORLDS) | {"MuJoCo": MUJOCO_STEPS}
    clock = time.process_time
    calls = {name: Contender(call, work[name], clock) for name, call in contenders.items()}
    cost = {name: found["us"] for name, found in timed(calls, turns).items()}
    result: dict[str, Any] = {f"{name} [us a step]": t for name, t in cost.items()}
    for name in contenders:
        result[f"{name}: times the full one"] = cost["full, elastic, rk4"] / cost[name]
    result |= a_minute(robot, turns)
    return result


def full_step(robot: hs.Robot, q: np.ndarray) -> Callable[[], object]:
    """The full simulation's steps alone, nothing recorded."""
    run = simulate_full(robot, q, LINK, speed=0.5, floor="elastic", duration=10 * DT, every=10)
    sim = run.simulator

    def call() -> None:
        sim.run(steps=STEPS, record="final", threads=1, progress=False)

    return call


def steps_only(
    robot: hs.Robot, q: np.ndarray, method: str, integrator: str
) -> Callable[[], object]:
    """Steps 3b to 7b alone: inertia, Jacobian and basis are made before."""
    from heelstrike.impact.options import hit_batch

    batch = hit_batch(robot, q, LINK, "x", 0.5, duration=DURATION, dt=DT)
    settings = replace(batch.settings, integrator=integrator, method=method, modes=10)
    job = replace(batch, settings=settings)
    own = job.own()
    inputs = job.inputs(own, *job.turning(own))
    return (lambda: job.quick(inputs, False)) if method == "krylov" else (
        lambda: job.slow(inputs, False)
    )  # fmt: skip


def a_minute(robot: hs.Robot, turns: int) -> dict[str, float]:
    """Whole estimates from postures to impulses, on all threads."""
    count = 4096
    q = postures(robot, count)
    found = {}
    for name, options in {
        "kept, rk4, (11)": {"torque": "damping"},
        "kept, rk4, (10)": {},
        "kept, symplectic, (11)": {"torque": "damping", "integrator": "symplectic"},
        "krylov, rk4, (11)": {"torque": "damping", "method": "krylov"},
        "krylov, rk4, (10)": {"method": "krylov"},
        "krylov, rk4, (11), float32": {
            "torque": "damping", "method": "krylov", "dtype": "float32"
        },
    }.items():  # fmt: skip

        def call(options: dict[str, Any] = options) -> object:
            return estimate(
                robot, q, LINK, speed=0.5, history=False, neglected=False,
                threads=os.cpu_count(), **options,
            )  # fmt: skip

        call()
        cpu = wall = np.inf
        ran = waited = 0.0
        for _ in range(turns):
            started, before = (time.perf_counter(), time.process_time()), scheduled()
            call()
            wall = min(wall, time.perf_counter() - started[0])
            cpu = min(cpu, time.process_time() - started[1])
            after = scheduled()
            ran, waited = ran + after[0] - before[0], waited + after[1] - before[1]
        found[f"{name} [estimates a minute of two cores' CPU time]"] = 60 * 2 * count / cpu
        found[f"{name} [estimates a minute of wall time]"] = 60 * count / wall
        found[f"{name}: share of the CPU time asked for that was given"] = ran / (ran + waited)
    return found


def scheduled() -> tuple[float, float]:
    """Seconds that this process's threads ran, and waited for a core; (1, 0) where not told."""
    files = list(Path("/proc/self/task").glob("*/schedstat"))
    pairs = [[float(x) for x in file.read_text().split()[:2]] for file in files]
    return (1e-9 * sum(p[0] for p in pairs), 1e-9 * sum(p[1] for p in pairs)) if pairs else (1, 0)


def mujoco_step() -> Callable[[], object]:
    """hrp2 on a plane, its hand against a 5 kg block on a slide, 200 steps of 0.1 ms."""
    import mujoco

    def floor(mj: Any, spec: Any) -> None:
        spec.option.timestep = DT
        spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], friction=[5, 0, 0])

    def block(mj: Any, spec: Any) -> None:
        made = spec.worldbody.add_body(name="block", pos=place)
        made.add_joint(type=mj.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0])
        made.add_geom(type=mj.mjtGeom.mjGEOM_BOX, size=[0.08, 0.1, 0.1], mass=5)
        hand = spec.body("RARM5")
        hand.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[0.02, 0, 0], pos=[0, 0, -0.115], mass=0)

    model, data = mujoco_model("hrp2", floor)
    key = model.key("stance")
    mujoco.mj_resetDataKeyframe(model, data, key.id)
    mujoco.mj_forward(model, data)
    place = data.site("r_hand").xpos + np.array([0.1, 0, 0])
    model, data = mujoco_model("hrp2", floor, block)
    stance = np.array(hs.load("hrp2", collide="feet").pose("stance"))
    data.qpos[: len(stance)] = stance[[0, 1, 2, 6, 3, 4, 5, *range(7, len(stance))]]
    data.ctrl[:] = stance[7:]
    data.qvel[-1] = -0.5

    def call() -> None:
        for _ in range(MUJOCO_STEPS):
            mujoco.mj_step(model, data)

    return call


def accuracy(robot: hs.Robot, hits: int) -> dict[str, Any]:
    """Errors (24) against both floors: medians, the worst tenth, and what predicts them."""
    rng = np.random.default_rng(3)
    q, speeds = postures(robot, hits), rng.uniform(0.3, 1.0, hits)
    result: dict[str, Any] = {}
    for floor in ("rigid", "elastic"):
        for torque in ("full", "damping"):
            made = compare(robot, q, LINK, floor=floor, torque=torque, speed=speeds, history=True)
            errors = made.errors()
            for name, error in errors.items():
                if name.startswith("virtual") and torque == "damping":
                    continue
                label = f"{floor}, {name}" + (f", {torque}" * name.startswith("simplified"))
                size = np.abs(error)
                result[f"{label}: median, 90 %, worst [%]"] = [
                    float(np.quantile(size, x)) for x in (0.5, 0.9, 1.0)
                ]
            error = np.abs(errors["simplified impulse"])
            result[f"{floor}, {torque}: impulse within 6 % [hits]"] = int((error <= 6).sum())
            if torque == "full":
                result |= predicted(floor, made, error)
    for share in (0.4, 0.2, 0.1):
        made, blind = limited(robot, share, hits)
        error = np.abs(made.errors()["simplified impulse"])
        reached = made.simplified.neglected.load >= 1
        for name, values in (("error", error), ("error without (12)", blind)):
            result[f"limits times {share}, {name}: hits that reach one, median, 90 % [%]"] = [
                int(reached.sum()), *(float(np.quantile(values[reached], x)) for x in (0.5, 0.9))
            ]  # fmt: skip
        result |= {
            f"limits times {share}, {name}": x
            for name, x in predicted("rigid", made, error).items()
            if "rank" in name
        }
    return result


def predicted(floor: str, made: Any, error: np.ndarray) -> dict[str, Any]:
    """Where the error is large: by load, angle and soles that lift."""
    terms = made.simplified.neglected
    groups = {
        "torque below its limit": terms.load < 1,
        "torque limit reached": terms.load >= 1,
        "angles below 0.1 rad": terms.angle < 0.1,
        "angles above 0.1 rad": terms.angle >= 0.1,
        "soles flat": made.full.lifted == 0,
        "a sole's corner lifts": made.full.lifted > 0,
        "still touching at 0.1 s": made.simplified.touching,
    }
    found: dict[str, Any] = {}
    for name, term in {
        "|c*| / |J^T F|": terms.coriolis / terms.force,
        "|g| / |J^T F|": terms.weight / terms.force,
        "|J_dot phi_d| / |J phi_dd|": terms.drift / terms.acceleration,
        "angle": terms.angle,
        "torque over limit": terms.load,
    }.items():
        found[f"{floor}, rank correlation of the error with {name}"] = rank_correlation(term, error)
    for name, mask in groups.items():
        if mask.any():
            found[f"{floor}, {name}: hits, median, 90 % [%]"] = [
                int(mask.sum()), *(float(np.quantile(error[mask], x)) for x in (0.5, 0.9))
            ]  # fmt: skip
    flat = made.full.lifted == 0
    if flat.any():
        every = round((made.full.time[1] - made.full.time[0]) / DT)
        zmp = made.simplified.history.zmp[flat] if made.simplified.history else None
        if zmp is not None:
            cop = made.full.cop[flat][:, : zmp[:, ::every].shape[1]]
            apart = np.linalg.norm(zmp[:, ::every][:, : cop.shape[1]] - cop, axis=-1)[:, 2:]
            found[f"{floor}, ZMP to CoP of flat soles: median, 90 % [mm]"] = [
                1e3 * float(np.nanquantile(apart, x)) for x in (0.5, 0.9)
            ]
    return found


def show(console: Console, title: str, values: dict[str, Any]) -> None:
    table = Table("quantity", "value", title=title)
    for name, value in values.items():
        cells = value if isinstance(value, list) else [value]
        table.add_row(Text(name), ", ".join(f"{x:.4g}" for x in cells))
    console.print(table)


if __name__ == "__main__":
    main()
