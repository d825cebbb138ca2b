"""A planned punch: the posture in which the hand weighs 0.8 kg, and what a hit in it does.

`hs.motion.punch` makes the motion that hits in that posture: docs/impact.md.
"""

from __future__ import annotations

import heelstrike as hs
from heelstrike.impact import estimate, posture

ARM = {"R_SFE": -0.5, "R_EB": -0.9}  # a start with the forearm raised [rad]


def main() -> None:
    robot = hs.load("hoap1")
    q = robot.pose("stance")
    for joint in robot.joints:
        q[joint.iq] += ARM.get(joint.name, 0.0)
    found = posture(robot, "r_hand", direction="x", mass=0.8, q=q)
    law, ball = hs.LinearSpring(k=2e4, c=5), hs.Target(mass=2.0)
    for name, each in {"start": q, "planned": found.q}.items():
        mass = hs.virtual_mass(robot, each, "r_hand", direction="x")
        hit = estimate(robot, each, "r_hand", "x", speed=0.2, target=ball, law=law)
        print(f"{name:<8} {float(mass):.3f} kg, impulse {float(hit.impulse[0]):.3f} N s")


if __name__ == "__main__":
    main()
