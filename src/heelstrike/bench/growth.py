"""Growth of a step with joints, contact points and worlds.

Joints: chains in the air, each joint under a servo. Points: grids on the soles of a robot that
stands. Both: a batch on one thread, CPU time, and seconds from a scene to its first step. Worlds: a
robot that stands, all cores, wall time. Growth is told as the exponent p of x^p, fitted to
logarithms.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from heelstrike.bench.standing import DEFAULT, Case, first_pose, simulator
from heelstrike.bench.steps import WORLDS
from heelstrike.bench.timing import Contender, timed
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.robot import Point, Robot, load
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

JOINTS, POINTS, MANY = (5, 10, 20, 50), (8, 32, 128), (1, 8, 64, 512, 4096, 32768)
STEPS = 20
"""Of a batch in one call."""
WORK = 100_000
"""World-steps in one call, where the number of worlds varies."""

Curve = list[dict[str, float]]


def growth(case: Case, cores: int, turns: int, quick: bool) -> dict[str, Any]:
    """Return the curves; if quick, without points, and not far."""
    found: dict[str, Curve] = {
        "joints": [_with_joints(n, turns) for n in JOINTS[: 2 if quick else None]],
        "worlds": _with_worlds(case, MANY[: 4 if quick else None], cores, turns),
    }
    if not quick:
        for name, law in {"points": DEFAULT, "points, rigid": Rigid()}.items():
            found[name] = [_with_points(case, n, law, turns) for n in POINTS]
    return {name: {"curve": curve, **exponents(curve)} for name, curve in found.items()}


def exponents(curve: Curve) -> dict[str, float]:
    """p of us ~ count^p, and of seconds to compile."""
    counts = np.log([each["count"] for each in curve])
    return {
        f"{name}_exponent": float(np.polyfit(counts, np.log([e[name] for e in curve]), 1)[0])
        for name in ("us", "cold_s")
        if name in curve[0]
    }


def _with_joints(count: int, turns: int) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"chain{count}.xml")
        path.write_text(chain(count))
        robot = load(path, collide="feet")
    sim = Simulator(Scene(robot), control=Servo(), worlds=WORLDS)
    cold = _compiled(sim)
    return {"count": count, "us": _stepped(sim, turns), "cold_s": cold}


def _with_points(case: Case, count: int, law: SurfaceLaw, turns: int) -> dict[str, float]:
    robot = with_points(case.robot, count)
    scene, control = Scene(robot, Plane(law=law)), Servo(reference=first_pose(robot))
    cold = _compiled(Simulator(scene, case.dt, control, worlds=WORLDS))
    sim = simulator(robot, case.dt, law, worlds=WORLDS)  # from the cache
    return {"count": count, "us": _stepped(sim, turns), "cold_s": cold}


def _compiled(sim: Simulator) -> float:
    """Seconds."""
    started = time.perf_counter()
    sim.compile("final")
    return time.perf_counter() - started


def _stepped(sim: Simulator, turns: int) -> float:
    """us."""
    step = Contender(partial(sim.step, STEPS), STEPS * WORLDS)
    return timed({"step": step}, turns)["step"]["us"]


def _with_worlds(case: Case, counts: Sequence[int], cores: int, turns: int) -> Curve:
    contenders = {}
    for count in counts:
        sim = simulator(case.robot, case.dt, worlds=count)
        steps = max(1, WORK // count)
        run = partial(sim.run, steps=steps, record="final", threads=cores, progress=False)
        contenders[str(count)] = Contender(run, steps * count, time.perf_counter)
    times = timed(contenders, turns)
    return [{"count": count, "us": times[str(count)]["us"]} for count in counts]


def chain(n: int) -> str:
    """Return an MJCF of n links on a free base, each turned 90 degrees against the last about y,
    x, z.
    """
    axes = ("0 1 0", "1 0 0", "0 0 1")
    opening = "".join(
        f'<body name="b{i}" pos="0.02 0 -0.1"><joint name="j{i}" axis="{axes[i % 3]}" '
        'armature="0.01"/><inertial pos="0.01 0.02 -0.05" mass="0.5" '
        'fullinertia="0.002 0.0021 0.001 0.0001 0.0002 0.0001"/>'
        for i in range(n)
    )
    motors = "".join(f'<position joint="j{i}" kp="50" kv="1"/>' for i in range(n))
    return (
        '<mujoco model="chain"><compiler angle="radian"/><worldbody><body name="base">'
        '<freejoint name="root"/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'
        f"{opening}{'</body>' * n}</body></worldbody><actuator>{motors}</actuator></mujoco>"
    )


def with_points(robot: Robot, count: int) -> Robot:
    """Return the robot with a grid of points between the corners of each sole."""
    feet = sorted({point.body for point in robot.points})
    rows = {2: (2, 1), 4: (2, 2), 16: (4, 4), 64: (8, 8)}[count // len(feet)]
    points = []
    for body in feet:
        corners = np.array([p.position for p in robot.points if p.body == body])
        low, high = corners.min(axis=0), corners.max(axis=0)
        radius = next(p.radius for p in robot.points if p.body == body)
        for i, x in enumerate(np.linspace(low[0], high[0], rows[0])):
            for j, y in enumerate(np.linspace(low[1], high[1], rows[1])):
                place = np.array([x, y, corners[:, 2].mean()])
                points.append(Point(f"{robot.bodies[body].name}.{i}.{j}", body, place, radius))
    return replace(robot, points=tuple(points))
