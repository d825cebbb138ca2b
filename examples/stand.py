"""A humanoid is dropped, lands on its feet, stands, and is pushed; then a thousand are.

Prints what came of it and how fast it was, beside MuJoCo on the same robot, and leaves a recording,
stand.nc, and a picture, stand.png, where it is run.
"""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.table import Table

import heelstrike as hs

DT = 1e-3  # [s]
DROP = 0.05  # [m]
PUSH = 12.0  # [N], for 0.1 s
HARDEST = 30.0  # [N]
WORLDS = 1000


def main() -> None:
    console = Console()
    robot = hs.load("hoap1")
    console.print(f"[bold]{robot.name}[/]: {robot.nv - 6} joints, {robot.mass:.3f} kg\n")
    floor = hs.Plane(law=hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), hs.Bristle()))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=DT, control=hs.Servo())

    q0 = robot.pose("stance")
    q0[2] += DROP
    sim.push("WAIST", [PUSH, 0, 0], duration=0.1, at=1.0)
    run = sim.run(3.0, q0=q0)
    console.print(str(run.summary()), highlight=False)
    console.print(f"\nwrote {run.save('stand.nc')}")
    run.plot(path="stand.png")
    console.print("wrote stand.png\n")
    alone = min(sim.run(3.0, q0=q0).info["wall_time"] for _ in range(5))

    pushes = np.linspace(0, HARDEST, WORLDS)
    forces = pushes[:, None] * [1, 0, 0]
    many = sim.run(3.0, q0=q0, worlds=WORLDS, vary={"push0.force": forces}, threads=1)
    height = many.data["q"].sel(coordinate="root.z").values
    fell = pushes[height < 0.8 * robot.pose("stance")[2]]
    steps = many.info["steps"]
    console.print(
        report(fell.min(), 1e6 * alone / steps, 1e6 * many.info["wall_time"] / (WORLDS * steps))
    )


def report(weakest: float, alone: float, among: float) -> Table:
    """What the pushes did [N], and what a step took [us]."""
    table = Table(show_header=False, title=f"{WORLDS} worlds, pushed by 0 to {HARDEST:g} N")
    table.add_row("the weakest push that fells it", f"{weakest:.2f} N for 0.1 s")
    table.add_row("a step of one world alone, all recorded", f"{alone:.2f} us")
    table.add_row(f"a step of one world among {WORLDS}, 1 thread", f"{among:.2f} us")
    theirs = mujoco_step()
    if theirs is None:
        table.add_row("MuJoCo", "not installed: pip install 'heelstrike[mujoco]'")
    else:
        table.add_row("MuJoCo's mj_step, the same robot standing", f"{theirs:.1f} us")
        table.add_row("[bold]times as fast, alone and among many[/]", ratios(theirs, alone, among))
    return table


def ratios(theirs: float, *ours: float) -> str:
    return "[bold]" + ", ".join(f"{theirs / each:.2g}" for each in ours) + "[/]"


def mujoco_step() -> float | None:
    """Microseconds of mj_step on the bundled file with a floor, at rest; None without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return None
    from importlib.resources import files

    spec = mujoco.MjSpec.from_file(str(files("heelstrike.robot") / "models" / "hoap1.xml"))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1])
    model = spec.compile()
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 500)
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        mujoco.mj_step(model, data, 100)
        best = min(best, (time.perf_counter() - started) / 100)
    return 1e6 * best


if __name__ == "__main__":
    main()
