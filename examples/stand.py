"""A humanoid is dropped, lands on its feet, stands, and is pushed.

Prints what came of it, and leaves a recording, stand.nc, and a picture, stand.png.
"""

from __future__ import annotations

import heelstrike as hs

DROP = 0.05  # [m]
PUSH = 12.0  # [N], for 0.1 s


def main() -> None:
    robot = hs.load("hoap1")
    print(f"{robot.name}: {robot.nv - 6} joints, {robot.mass:.3f} kg\n")
    floor = hs.Plane(law=hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), hs.Bristle()))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3, control=hs.Servo())

    q0 = robot.pose("stance")
    q0[2] += DROP
    sim.push("WAIST", [PUSH, 0, 0], duration=0.1, at=1.0)
    run = sim.run(3.0, q0=q0)
    print(run.summary())
    print(f"\nwrote {run.save('stand.nc')}")
    run.plot(path="stand.png")
    print("wrote stand.png")


if __name__ == "__main__":
    main()
