"""Small robots for tests of impacts: their inertias are known on paper."""

from __future__ import annotations

import heelstrike as hs

MASSES = (3.0, 2.0, 1.0)
"""Of the gantry's carriages, outermost last: what moves along x, y, z is 6, 3, 1 kg."""


def gantry(tmp_path, damping=0.0, friction=0.0):
    """Three slides along x, y, z on a fixed base: H = diag(6, 3, 1) wherever it stands."""
    extra = f'damping="{damping}" frictionloss="{friction}"'
    text = f"""<mujoco model="gantry"><compiler autolimits="true"/><worldbody>
      <body name="a"><joint name="x" type="slide" axis="1 0 0" {extra}/>
        <inertial pos="0 0 0" mass="{MASSES[0]}" diaginertia="1 1 1"/>
        <body name="b"><joint name="y" type="slide" axis="0 1 0" {extra}/>
          <inertial pos="0 0 0" mass="{MASSES[1]}" diaginertia="1 1 1"/>
          <body name="c"><joint name="z" type="slide" axis="0 0 1" {extra}/>
            <inertial pos="0 0 0" mass="{MASSES[2]}" diaginertia="1 1 1"/>
          </body></body></body></worldbody></mujoco>"""
    path = tmp_path / "gantry.xml"
    path.write_text(text)
    return hs.load(path, collide="feet")


def arm(tmp_path):
    """Three hinges about y and z on a fixed base: H depends on the posture."""
    text = """<mujoco model="arm"><compiler angle="radian" autolimits="true"/><worldbody>
      <body name="upper"><joint name="shoulder" axis="0 1 0" armature="0.05"/>
        <inertial pos="0.2 0 0" mass="2" diaginertia="0.01 0.03 0.03"/>
        <body name="fore" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" armature="0.05"/>
          <inertial pos="0.15 0 0.02" mass="1.5" diaginertia="0.01 0.02 0.02"/>
          <body name="hand" pos="0.3 0 0"><joint name="wrist" axis="0 0 1" armature="0.02"/>
            <inertial pos="0.05 0 0" mass="0.5" diaginertia="0.002 0.002 0.002"/>
          </body></body></body></worldbody></mujoco>"""
    path = tmp_path / "arm.xml"
    path.write_text(text)
    return hs.load(path, collide="feet")
