"""Pictures of the bundled robots: from the front, the side, between, and in the middle of a step.

Writes hoap1.png, hrp2.png, biped14.png, hoap1-points.png (every point that may touch) and
objects.png.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.view.render.portrait import portrait

STEPS = {"hoap1": 0.06, "hrp2": 0.25, "biped14": 0.25}  # [m]
OBJECTS = ("ball", "brick", "box", "cube", "foot")


def mid_step(robot: hs.Robot, length: float) -> np.ndarray:
    """The pose half way through the right foot's second step."""
    gait = hs.motion.walk(robot, steps=4, length=length)
    right = gait.feet[:, 1] == 0
    lifts = np.flatnonzero(np.diff(right.astype(int)) == 1)
    lands = np.flatnonzero(np.diff(right.astype(int)) == -1)
    return np.asarray(gait.q)[(lifts[1] + lands[1]) // 2]


def main() -> None:
    for name, length in STEPS.items():
        robot = hs.load(name)
        shots = [(robot, "stance", azimuth) for azimuth in (0, 90, 35)]
        shots += [(robot, mid_step(robot, length), 35), (robot, "crouch", 215)]
        labels = ["front", "side", "stance", "walking", "crouch, from behind"]
        print(f"wrote {portrait(shots, f'{name}.png', labels)}")
    touching = hs.load("hoap1", collide="all")
    sides = [(touching, "stance", azimuth) for azimuth in (0, 90, 35)]
    print(f"wrote {portrait(sides, 'hoap1-points.png', points=True, width=6)}")
    objects = [(hs.load(name), "stance", 35) for name in OBJECTS]
    print(f"wrote {portrait(objects, 'objects.png', OBJECTS, points=True, elevation=25)}")


if __name__ == "__main__":
    main()
