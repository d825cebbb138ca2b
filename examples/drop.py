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


def runs() -> dict[str, hs.Recording]:
    """Return the fall onto each kind of ground."""
    robot = hs.load("hoap1")
    found = {}
    for name, law in LAWS.items():
        sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=1e-3, control=hs.Servo())
        found[name] = sim.run(0.6, q0=robot.on_ground("stance", drop=DROP))
    return found


def main() -> None:
    made = runs()
    strip = film_strip(list(made.values()), "drop.png", times=TIMES, labels=list(made))
    print(f"wrote {strip}")


if __name__ == "__main__":
    main()
