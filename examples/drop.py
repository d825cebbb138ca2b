"""A humanoid falls 0.1 m onto three kinds of ground; a film strip, drop.png, shows what each does.

An undamped spring throws it up again; Hunt-Crossley's ground, damped as deep as it is pressed, and
a rigid one that returns nothing keep it down.
"""

from __future__ import annotations

import heelstrike as hs
from heelstrike.view.render.film_strip import film_strip

DROP = 0.1  # [m]
TIMES = (0.0, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)  # [s]
FRICTION = hs.Bristle(mu_s=0.8, mu_k=0.6)
LAWS = {
    "LinearSpring": hs.Elastic(hs.LinearSpring(k=2e4, c=0.0), FRICTION),
    "HuntCrossley": hs.Elastic(hs.HuntCrossley(k=2e4, alpha=1.0), FRICTION),
    "Rigid": hs.Rigid(restitution=0.0, friction=hs.Coulomb(mu_s=0.8, mu_k=0.6)),
}


def main() -> None:
    robot = hs.load("hoap1")
    q0 = robot.pose("stance")
    q0[2] += DROP
    runs = []
    for law in LAWS.values():
        scene = hs.Scene(robot, hs.Plane(law=law))
        runs.append(hs.Simulator(scene, dt=1e-3, control=hs.Servo()).run(0.6, q0=q0))
    print(f"wrote {film_strip(runs, 'drop.png', times=TIMES, labels=list(LAWS))}")


if __name__ == "__main__":
    main()
