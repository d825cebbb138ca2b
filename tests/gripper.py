"""A gripper that lifts a cube: two fingers on one slide, with links that share its joint."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import heelstrike as hs

HALF = 0.05
"""Of the cube's edge [m]."""
MODEL = """
<mujoco model="gripper">
  <worldbody>
    <body name="slide" pos="0 0 0.05">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="1e-3 1e-3 1e-3"/>
      <body name="left">
        <joint name="left" type="slide" axis="1 0 0"/>
        <inertial pos="-0.06 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/>
      </body>
      <body name="right">
        <joint name="right" type="slide" axis="1 0 0"/>
        <inertial pos="0.06 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="lift" kp="2000" kv="60"/>
    <position joint="left" kp="500" kv="10"/>
    <position joint="right" kp="500" kv="10"/>
  </actuator>
</mujoco>
"""
GRIP = np.array([0, 0.01, -0.01])
"""Position of the joints that the servos hold: 5 N at each side."""


@cache
def robot(few: bool = False) -> hs.Robot:
    """Return the gripper, with four points on each finger, and the cube, with its lower corners.

    If few, each finger has one point and the cube two corners.
    """
    places = [(0.0, 0.0)] if few else [(y, z) for y in (-0.02, 0.02) for z in (-0.02, 0.02)]
    sides = ("left", -HALF), ("right", HALF)
    pads = [(side, (x, y, z)) for side, x in sides for y, z in places]
    ends = (HALF,) if few else (-HALF, HALF)
    corners = [("cube", (x, y, -HALF)) for x in (-HALF, HALF) for y in ends]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "gripper.xml"
        file.write_text(MODEL)
        hand = hs.load(file, points=pads)
    return hs.combine({"hand": hand, "cube": hs.load("cube", points=corners)})


def simulator(
    law: hs.Rigid | hs.Signorini | None = None, few: bool = False, **options: object
) -> hs.Simulator:
    """Return the gripper around the cube, which stands on the ground; see `robot` for `few`."""
    law = law or hs.Rigid()
    scene = hs.Scene(
        robot(few),
        hs.Plane(law, "ground"),
        hs.Box(law, "sides", body="cube/cube", size=3 * (2 * HALF,), faces=("-x", "+x")),
    )
    return hs.Simulator(scene, control=hs.Servo(reference=np.r_[GRIP, cube_at()]), **options)


def cube_at(z: float = HALF - 1e-6) -> np.ndarray:
    """Return the coordinates of the upright cube."""
    return np.array([0, 0, z, 0, 0, 0, 1.0])


def start(gap: float = -1e-6) -> np.ndarray:
    """Return coordinates with fingers at the cube."""
    return np.r_[0, -gap, gap, cube_at()]
