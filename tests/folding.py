"""Robots whose bodies touch one another: balls in flight, and a chain that folds onto itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import heelstrike as hs
from heelstrike.robot.overlaps import overlaps

BALL = """<body name="{name}" pos="{place}"><freejoint/>
<geom name="{name}" type="sphere" size="0.1" mass="{mass}"/></body>"""
CHAIN = """<mujoco><option gravity="0 0 -9.81"/><worldbody>
<body name="trunk" pos="0 0 0.5"><freejoint/>
 <geom name="trunk" type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.05" mass="3"/>
 <body name="left1" pos="0.2 0.12 0"><joint axis="0 1 0" damping="0.05"/>
  <geom name="left1" type="capsule" fromto="0 0 0 0.25 0 0" size="0.04" mass="1"/>
  <body name="left2" pos="0.25 0 0"><joint axis="0 1 0" damping="0.05"/>
   <geom name="left2" type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" mass="1"/></body></body>
 <body name="right1" pos="-0.2 -0.02 0.02"><joint axis="0 1 0" damping="0.05"/>
  <geom name="right1" type="capsule" fromto="0 0 0 -0.25 0 0" size="0.04" mass="1"/>
  <body name="right2" pos="-0.25 0 0"><joint axis="0 1 0" damping="0.05"/>
   <geom name="right2" type="{kind}" {size} mass="1"/></body></body>
</body></worldbody></mujoco>"""
LAST = {
    "capsule": 'fromto="0 0 0 -0.3 0 0" size="0.04"',
    "box": 'pos="-0.15 0 0" size="0.15 0.03 0.02"',
    "cylinder": 'fromto="0 0 0 -0.3 0 0" size="0.03"',
    "ellipsoid": 'pos="-0.15 0 0" size="0.16 0.04 0.03"',
}
"""Sizes of the last link of the right arm, by its kind."""


def balls(folder: Path, *places: str, masses: tuple[float, ...] = ()) -> hs.Robot:
    """Return free balls of radius 0.1 m, of 1 kg unless masses are given."""
    bodies = [
        BALL.format(name=f"ball{k}", place=place, mass=masses[k] if masses else 1.0)
        for k, place in enumerate(places)
    ]
    path = folder / "balls.xml"
    path.write_text(f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>")
    return hs.load(path)


def chain(folder: Path, kind: str = "capsule") -> hs.Robot:
    """Return a trunk with two arms that can fold onto it and onto one another."""
    path = folder / "chain.xml"
    path.write_text(CHAIN.format(kind=kind, size=LAST[kind]))
    return hs.load(path)


def overlap(robot: hs.Robot, q: np.ndarray) -> float:
    """Return the largest depth of two shapes that may touch, by coal, 0 if none overlap [m]."""
    return max(overlaps(robot, q).values(), default=0.0)
