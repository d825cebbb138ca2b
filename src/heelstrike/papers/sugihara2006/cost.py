"""Cost: the mean time of a cycle for HOAP-1, beside the 1.5 ms of section IV-A.

Ours is the walk of fig 10: the literal rule on the floor of IV-C, 1 ms, on one thread; one world
that keeps only its end, and a batch that rides on the lanes. MuJoCo's is a step of the same file on
a plane, its own solver, its servos following the same gait. CPU times, the best of a few turns,
as other work on the machine can only add.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import resources

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import Result, meets, unknown
from heelstrike.papers.sugihara2006.stand import DT, floor, parameter
from heelstrike.papers.sugihara2006.walking import LAMBDA, gait

THEIRS = 1.5
"""[ms], on a Celeron of 2.0 GHz, section IV-A."""
SECONDS, WORLDS, TURNS = 3.0, 64, 3
"""Of the gait, from its start [s]; of the batch; of which the best counts."""
HOLD = 0.01
"""Time between two poses of the gait [s]."""


def cost() -> Result:
    """Ours, alone and in a batch, and MuJoCo's."""
    one, many, peer = 1e3 * ours(1), 1e3 * ours(WORLDS), mujoco()
    return Result(
        "cost",
        "mean time of a cycle for HOAP-1",
        "About 1.5 ms on a Celeron of 2.0 GHz.",
        (
            unknown(
                "one world, walking [ms]",
                THEIRS,
                f"{THEIRS / one:.3g} times less, on a machine of another age: what of it is the "
                "machine and what the method cannot be known.",
                one,
            ),
            meets(f"a batch of {WORLDS}, a world [ms]", many, most=one),
            unknown(
                "MuJoCo's step, one world, the same gait [ms]",
                None,
                f"{peer / one:.3g} of ours, judged by nothing: the paper names no other "
                "simulator. Its own solver and servos, not (33).",
                peer,
            ),
        ),
    )


def ours(worlds: int) -> float:
    """Time of a step and world [s]."""
    motion, steps = gait(), round(SECONDS / DT)
    scene = hs.Scene(hs.load("hoap1", collide="feet"), floor("paper", "both"))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo(reference=motion), worlds=worlds)
    sim.parameters[parameter("both", "lam")] = LAMBDA

    def walk(count: int = steps) -> None:
        still = np.zeros(sim.robot.nv)
        sim.run(
            steps=count,
            q0=motion.start,
            v0=still,
            record="final",
            threads=1,
            progress=False,
            check=False,
        )

    walk(1)
    return _best(walk) / (steps * worlds)


def mujoco() -> float:
    """Return the time of a step of MuJoCo [ms]."""
    import mujoco as mj

    spec = mj.MjSpec.from_file(str(resources.files("heelstrike.robot") / "models" / "hoap1.xml"))
    spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    model = spec.compile()
    data = mj.MjData(model)
    joints = hs.load("hoap1", collide="feet").joints[1:]
    place = {joint.name: joint.iq for joint in joints}
    poses = np.array(gait().q)[: round(SECONDS / HOLD)]
    asked = poses[:, [place[model.actuator(i).name] for i in range(model.nu)]]

    def walk() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:3], data.qpos[3:7] = poses[0, :3], poses[0, [6, 3, 4, 5]]
        for name, iq in place.items():
            data.joint(name).qpos[:] = poses[0, iq]
        for row in asked:
            data.ctrl[:] = row
            mj.mj_step(model, data, round(HOLD / DT))

    return 1e3 * _best(walk) / (len(poses) * round(HOLD / DT))


def _best(work: Callable[[], None]) -> float:
    """CPU time of the best turn [s]."""
    times = []
    for _ in range(TURNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
