"""A hand hits a ball at four speeds: force and impulse by simplified dynamics."""

from __future__ import annotations

import heelstrike as hs
from heelstrike.impact import estimate, point_impact

SPEEDS = [0.05, 0.1, 0.2, 0.4]  # [m/s]


def main() -> None:
    robot = hs.load("hoap1")
    law, ball = hs.LinearSpring(k=1e3, c=30), hs.Target(mass=0.5)
    q = robot.pose("stance")
    mass = hs.virtual_mass(robot, q, "r_hand", direction="x")
    print(f"the hand feels like {float(mass):.3f} kg along x")
    hit = estimate(robot, q, "r_hand", "x", speed=SPEEDS, target=ball, law=law)
    for i, speed in enumerate(SPEEDS):
        alone = point_impact(mass, speed=speed, target=ball, law=law)
        print(
            f"{speed:.2f} m/s: {hit.peak[i]:5.2f} N, impulse {hit.impulse[i]:.3f} N s; "
            f"that mass alone: {float(alone.impulse[0]):.3f} N s"
        )
    print(hit.summary(2))


if __name__ == "__main__":
    main()
