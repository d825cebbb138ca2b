"""One size of one axis of growth, measured in a process of its own.

    python -m heelstrike.bench.growth_case AXIS COUNT TURNS      prints a JSON object

Its keys are `us`, CPU time per world and step in the best turn, `spread`, the median turn over the
best, `compile_s`, CPU time from a scene to its machine code with an empty cache, and `bytes`, the
peak memory of the process; or `said`, the reason why this size cannot be measured.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from heelstrike.bench.memory import bytes_per_world
from heelstrike.bench.standing import DEFAULT, case, first_pose, simulator
from heelstrike.bench.steps import WORLDS
from heelstrike.bench.timing import Contender, seconds_of, timed
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.machine import free_memory, peak_memory
from heelstrike.robot import Point, Robot, load
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Box, Plane, Surface
from heelstrike.simulate.simulator import Simulator

WORK = 5_000
"""World-steps in one call; one step of all worlds where that is more."""
SETTLE = 0.5
"""Time after which slabs and robots are still [s]."""
RADIUS = 0.1
"""Radius of the spheres under the slab [m]: above its centre of mass, so that one holds it."""
COPIES = 4
"""Arrays of the worlds that exist at once while states are set, at most."""


def joints(count: int) -> Simulator:
    """Return chains in free flight, each joint under a servo."""
    return Simulator(Scene(chain(count)), control=Servo(kp=50.0, kd=1.0), worlds=WORLDS)


def points(count: int, law: SurfaceLaw = DEFAULT) -> Simulator:
    """Return slabs that rest on so many spheres."""
    robot = slab(count)
    return Simulator(Scene(robot, Plane(law=law)), worlds=WORLDS)


def surfaces(count: int) -> Simulator:
    """Return robots that stand on a plane, with boxes on it around them."""
    of = case("hoap1")
    scene = Scene(of.robot, Plane(law=DEFAULT), *boxes(count - 1))
    pose = first_pose(of.robot)
    return Simulator(scene, of.dt, Servo(reference=pose), worlds=WORLDS)


def worlds(count: int) -> Simulator:
    """Return so many robots that stand, all in the same state; raise if they need too much memory.

    One of them comes to rest before.
    """
    of = case("hoap1")
    one = simulator(of.robot, of.dt, worlds=2)
    needed, free = COPIES * count * bytes_per_world(one), free_memory()
    if needed > free:
        raise HeelstrikeError(
            f"{count:,} worlds may take {needed / 1e9:.1f} GB, but {free / 1e9:.1f} GB are free"
        )
    sim = Simulator(one.scene, of.dt, Servo(reference=first_pose(of.robot)), worlds=count)
    for name, value in one.state.copy().items():
        sim.state[name] = value[0]
    return sim


CASES: dict[str, Callable[[int], Simulator]] = {
    "joints": joints,
    "points": points,
    "points, rigid": partial(points, law=Rigid()),
    "surfaces": surfaces,
    "worlds": worlds,
}
"""From a count to what is measured, by the name of an axis."""


def measured(axis: str, count: int, turns: int) -> dict[str, Any]:
    """Return the figures of one size; the cache must not have its code yet."""
    sim = CASES[axis](count)
    compile_s = seconds_of(partial(sim.compile, "final"), time.process_time)
    if axis not in ("joints", "worlds"):
        sim.run(SETTLE, record="final", threads=1, progress=False)
    steps = max(1, WORK // sim.worlds)
    found = timed({"step": Contender(partial(sim.step, steps), steps * sim.worlds)}, turns)["step"]
    if (sim.failed >= 0).any():
        raise HeelstrikeError(f"{axis}, {count}: a world diverged")
    if axis != "worlds":  # their code is that of one world, compiled before
        found["compile_s"] = compile_s
    return found | {"bytes": peak_memory()}


def chain(count: int) -> Robot:
    """Return a chain of links on a free base, with axes along y, x and z in turn.

    It is written as a URDF: an MJCF would nest its bodies deeper than a reader accepts.
    """
    axes = ("0 1 0", "1 0 0", "0 0 1")
    inertial = (
        '<inertial><origin xyz="0.01 0.02 -0.05"/><mass value="0.5"/><inertia ixx="0.002" '
        'iyy="0.0021" izz="0.001" ixy="0.0001" ixz="0.0002" iyz="0.0001"/></inertial>'
    )
    links = "".join(f'<link name="b{i}">{inertial}</link>' for i in range(count + 1))
    hinges = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="b{i}"/><child link="b{i + 1}"/>'
        f'<origin xyz="0.02 0 -0.1"/><axis xyz="{axes[i % 3]}"/>'
        '<limit lower="-3" upper="3" effort="1000" velocity="100"/></joint>'
        for i in range(count)
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "chain.urdf")
        path.write_text(f'<robot name="chain">{links}{hinges}</robot>')
        robot = load(path, base="floating")
    armature = np.full(robot.nv, 0.01)
    armature[:6] = 0.0
    free = np.full(robot.nq, np.inf)
    return replace(robot, armature=armature, lower=-free, upper=free)


def slab(count: int) -> Robot:
    """Return a free body of 10 kg on a square grid of spheres, at rest on them at z = 0."""
    text = (
        '<mujoco model="slab"><worldbody><body name="slab"><freejoint/><inertial pos="0 0 0.05" '
        'mass="10" diaginertia="1 1 2"/></body></worldbody></mujoco>'
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "slab.xml")
        path.write_text(text)
        robot = load(path)
    return replace(robot, points=tuple(grid_points(count)))


def grid_points(count: int, width: float = 1.0) -> list[Point]:
    """Return spheres on a square grid of this width, row by row, whose lowest points have z = 0."""
    side = int(np.ceil(np.sqrt(count)))
    marks = np.linspace(-width / 2, width / 2, side) if side > 1 else np.zeros(1)
    places = [(x, y, RADIUS) for x in marks for y in marks][:count]
    middle = np.mean(places, axis=0) * [1.0, 1.0, 0.0]  # the centre of mass is above it
    return [Point(f"p{i}", 0, np.array(p) - middle, RADIUS) for i, p in enumerate(places)]


def boxes(count: int) -> list[Surface]:
    """Return boxes on the plane in rings around the robot, 1 m and more from it."""
    found: list[Surface] = []
    for i in range(count):
        ring, angle = 1.0 + 0.5 * (i // 12), 2 * np.pi * (i % 12) / 12
        place = (ring * np.cos(angle), ring * np.sin(angle), 0.05)
        found.append(Box(DEFAULT, name=f"box{i}", point=place, size=(0.2, 0.2, 0.1)))
    return found


def main(axis: str, count: str, turns: str) -> None:
    warnings.simplefilter("ignore", HeelstrikeWarning)
    try:
        found = measured(axis, int(count), int(turns))
    except HeelstrikeError as error:
        found = {"said": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
