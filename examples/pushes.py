"""A thousand humanoids are pushed, each harder than the one before: which push fells one?

Prints how fast that was, beside MuJoCo's step of the same robot.
"""

from __future__ import annotations

import timeit
from importlib.resources import files

import mujoco
import numpy as np

import heelstrike as hs

WORLDS, HARDEST = 1000, 30.0  # [-], [N]


def main() -> None:
    robot = hs.load("hoap1")
    floor = hs.Plane(law=hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), hs.Bristle()))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3, control=hs.Servo())
    stance = robot.pose("stance")
    alone = min(sim.run(1.0, q0=stance).info["wall_time"] for _ in range(6)) / 1000

    sim.push("WAIST", [0, 0, 0], duration=0.1, at=0.5)
    pushes = np.linspace(0, HARDEST, WORLDS)
    vary = {"push0.force": pushes[:, None] * [1, 0, 0]}
    many = sim.run(2.5, q0=stance, worlds=WORLDS, vary=vary, threads=1)
    fell = pushes[many.data["q"].sel(coordinate="root.z").values < 0.8 * stance[2]]
    among = many.info["wall_time"] / (WORLDS * many.info["steps"])

    print(f"{WORLDS} worlds, pushed by 0 to {HARDEST:g} N for 0.1 s")
    print(f"the weakest push that fells it            {fell.min():.2f} N")
    print(f"a step of one world alone, all recorded   {1e6 * alone:.2f} us")
    print(f"a step of one world among {WORLDS}, 1 thread  {1e6 * among:.2f} us")
    theirs = mujoco_step()
    print(f"MuJoCo's mj_step, the same robot standing {1e6 * theirs:.1f} us")
    print(f"times as fast, alone and among many       {theirs / alone:.2g}, {theirs / among:.2g}")


def mujoco_step() -> float:
    """Seconds of mj_step on the bundled file with a floor, at rest."""
    spec = mujoco.MjSpec.from_file(str(files("heelstrike.robot") / "models" / "hoap1.xml"))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1])
    spec.option.timestep = 1e-3
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 500)
    turns = timeit.repeat(lambda: mujoco.mj_step(model, data, 100), number=1, repeat=20)
    return min(turns) / 100


if __name__ == "__main__":
    main()
