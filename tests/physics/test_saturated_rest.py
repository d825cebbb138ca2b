"""A joint at its torque limit, at rest on coupled ground, against statics.

A motor presses the tip of a bar onto the ground with all of its torque. Without friction the
moments about the hinge say what the tip carries,

    f L cos(angle) = limit + m g L / 2 cos(angle)
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

LENGTH, MASS, LIMIT = 0.3, 0.5, 2.0  # [m], [kg], [N m]
ROBOT = f"""
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="base" pos="0 0 .05"><freejoint/>
      <geom type="box" size=".1 .1 .05" mass="5"/>
      <body name="bar" pos=".1 0 -.03">
        <joint name="hinge" axis="0 1 0"/>
        <inertial mass="{MASS}" pos="{LENGTH / 2} 0 0" diaginertia="1e-3 4e-3 4e-3"/>
        <geom name="tip" type="sphere" size=".02" pos="{LENGTH} 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="hinge" kp="200" kv="5" forcerange="-{LIMIT} {LIMIT}"/></actuator>
  <contact><exclude body1="base" body2="bar"/></contact>
</mujoco>
"""


@pytest.mark.parametrize("law", [hs.Rigid, hs.Signorini])
def test_a_saturated_joint_rests_in_one_round(tmp_path, law):
    """A step begins on the piece of the torque limit that the joint is on, so it ends at once.

    Where every joint was first taken to be within its limit, each step took ten rounds.
    """
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT)
    robot = hs.load(path)
    floor = hs.Plane(law(friction=hs.Coulomb(0.0, 0.0)), name="ground")
    reference = robot.neutral.copy()
    reference[7] = 0.5  # [rad] below the ground: the tip cannot get there
    sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3, control=hs.Servo(reference=reference))
    sim.run(1.0, q0=sim.place(), record="final")
    names = ("q", "v", "torque", "solver_rounds", "body_force")
    data = sim.run(0.05, record=names).data.isel(world=0)
    assert abs(data["v"].values[-1, 6]) < 1e-9  # on smooth ground the whole may drift
    assert data["torque"].values[-1, 6] == LIMIT
    angle = data["q"].values[-1, 7]
    weight = MASS * robot.gravity / 2
    tip = data["body_force"].sel(body="bar").values[-1, 2]
    # the solver ends at 7e-7 of the largest free velocity (docs/solver.md)
    assert tip == pytest.approx(LIMIT / (LENGTH * np.cos(angle)) + weight, rel=1e-6)
    assert (data["solver_rounds"].values[1:] == 1).all()
