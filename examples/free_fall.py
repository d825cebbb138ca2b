"""A humanoid becomes machine code, and a thousand of it fall together under their servos.

Prints what it took, whether the physics holds, and the speed beside MuJoCo's on the same robot.
"""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import heelstrike as hs
from heelstrike.dynamics.flight import flight
from heelstrike.dynamics.quantities import quantities

ROBOT, WORLDS, DT, STEPS, CHUNK, GRAVITY = "hoap1", 1000, 1e-3, 500, 50, 9.81


def main() -> None:
    console = Console()
    robot = hs.load(ROBOT)
    console.print(f"[bold]{robot.name}[/]: {robot.nv - 6} joints, {robot.mass:.3f} kg")

    started = time.perf_counter()
    kernel = hs.compile_program(flight(robot))
    compiled = time.perf_counter() - started
    lanes = kernel.layout.width

    batch = kernel.batch(WORLDS)
    q, v = start(robot)
    pose = robot.pose("stance")
    servo = {"kp": robot.kp, "kd": robot.kd, "q_ref": np.r_[np.zeros(6), pose[7:]]}
    batch.set(q=q, v=v, dt=[DT], gravity=[GRAVITY], **servo)
    spent = 0.0
    for _ in track(range(STEPS // CHUNK), description=f"{WORLDS} worlds fall", console=console):
        started = time.perf_counter()
        batch.run(steps=CHUNK)
        spent += time.perf_counter() - started

    fallen = whole(robot, batch.get("q"), batch.get("v"))
    before = whole(robot, q, v)
    t = STEPS * DT
    drop = before["com"][:, 2] + before["com_velocity"][:, 2] * t - fallen["com"][:, 2]
    error = np.abs(drop - 0.5 * GRAVITY * t**2).max()
    moved = np.abs(batch.get("q")[:, 7:] - pose[7:]).max()

    table = Table(show_header=False, title=f"{STEPS} steps of {1e3 * DT:g} ms in free fall")
    table.add_row("trace and compile", f"{compiled:.2f} s")
    table.add_row(
        "centre of mass against g t^2 / 2", f"{1e3 * error:.2f} mm of {drop.mean():.3f} m"
    )
    table.add_row("largest angle left to the servo", f"{moved:.4f} rad (from 0.3)")
    ours = 1e6 * spent / (STEPS * WORLDS)
    table.add_row(f"one step of one world, {lanes} lanes, 1 thread", f"{ours:.3f} us")
    theirs = mujoco_step(robot)
    if theirs is None:
        table.add_row("MuJoCo", "not installed: pip install 'heelstrike[mujoco]'")
    else:
        table.add_row("MuJoCo's mj_step of the same robot in the air", f"{theirs:.1f} us")
        table.add_row("[bold]times as fast[/]", f"[bold]{theirs / ours:.0f}[/]")
    console.print(table)


def start(robot: hs.Robot) -> tuple[np.ndarray, np.ndarray]:
    """The stance, each joint of each world up to 0.3 rad off, and a push of the base."""
    rng = np.random.default_rng(0)
    q = np.tile(robot.pose("stance"), (WORLDS, 1))
    q[:, 7:] += rng.uniform(-0.3, 0.3, size=(WORLDS, robot.nq - 7))
    v = np.zeros((WORLDS, robot.nv))
    v[:, :6] = 0.5 * rng.normal(size=(WORLDS, 6))
    return q, v


def whole(robot: hs.Robot, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    zero = np.zeros(robot.nv)
    kernel = hs.compile_program(quantities(robot, ["com", "com_velocity"]))
    return kernel(q=q, v=v, a=zero, tau=zero, gravity=[GRAVITY])


def mujoco_step(robot: hs.Robot) -> float | None:
    """Microseconds of mj_step on the bundled file, in the air; None without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return None
    from importlib.resources import files

    path = files("heelstrike.robot") / "models" / f"{ROBOT}.xml"
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] += 100
    best = float("inf")
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(100):
            mujoco.mj_step(model, data)
        best = min(best, (time.perf_counter() - started) / 100)
    return 1e6 * best


if __name__ == "__main__":
    main()
