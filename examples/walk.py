"""A humanoid takes two steps; its ZMP, and the force of each foot."""

from __future__ import annotations

import heelstrike as hs


def main() -> None:
    robot = hs.load("hoap1")
    gait = hs.motion.walk(robot, steps=2, length=0.03)
    floor = hs.Plane(hs.Elastic(hs.HuntCrossley(k=5e4, alpha=0.4), hs.Bristle()))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3, control=hs.Servo(reference=gait))
    run = sim.run(gait.duration, q0=gait.start)
    x = run.data["q"].sel(coordinate="root.x").values[0]
    print(f"walked {1e3 * (x[-1] - x[0]):.0f} mm in {gait.duration:.1f} s")
    for body, force in run.data["body_force"].sel(axis="z").isel(world=0).groupby("body"):
        if force.max() > 0:
            print(
                f"{body:<6} {float(force.max()):5.1f} N at most, {float(force.mean()):.1f} N mean"
            )
    run.plot(["zmp", "body_force"], path="walk.png")
    print("wrote walk.png")


if __name__ == "__main__":
    main()
