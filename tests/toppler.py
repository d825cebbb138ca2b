"""A box on end with an arm on top that a servo swings: small, soon compiled, and easily felled."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import heelstrike as hs

MODEL = """
<mujoco model="toppler">
  <compiler angle="radian"/>
  <worldbody>
    <body name="trunk" pos="0 0 0.1">
      <freejoint name="root"/>
      <geom type="box" size="0.03 0.03 0.1" mass="1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="swing" type="hinge" axis="0 1 0" range="-1 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.15" size="0.01" mass="0.2"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="swing" kp="20" kv="1" forcerange="-5 5"/></actuator>
  <keyframe><key name="stance" qpos="0 0 0.1 1 0 0 0 0"/></keyframe>
</mujoco>
"""


@cache
def robot() -> hs.Robot:
    corners = [("trunk", (x, y, -0.1)) for x in (-0.03, 0.03) for y in (-0.03, 0.03)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "toppler.xml"
        file.write_text(MODEL)
        return hs.load(file, points=corners)


def scene() -> hs.Scene:
    law = hs.Elastic(hs.HuntCrossley(k=1e4, alpha=0.5), hs.Bristle())
    return hs.Scene(robot(), hs.Plane(name="ground", law=law))
