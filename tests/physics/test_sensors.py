"""What accelerometers and gyros feel, at the trunk and at the ends of limbs.

Oracle: Pinocchio's kinematics, with the acceleration that the step's velocities differ by. The
base's axes turn in a step: of its acceleration that leaves out a part of the order of the step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs

BODIES = ("WAIST", "L_EB", "R_AAA")
GRAVITY = np.array([0, 0, -9.81])


@pytest.mark.parametrize("law", [hs.Elastic(), hs.Rigid()])
@pytest.mark.parametrize("rubs", [False, True])
def test_against_pinocchio(law, rubs):
    """Joints at their limits, or with dry friction, make the step solve in rounds."""
    dt, robot = 1e-3, hs.load("hoap1", collide="feet")
    if rubs:
        robot = replace(robot, friction=np.where(np.arange(robot.nv) < 6, 0.0, 0.02))
    scene = hs.Scene(robot, hs.Plane(law=law))
    sim = hs.Simulator(scene, dt=dt, control=hs.Servo(), sensors=BODIES)
    v0 = np.r_[np.zeros(6), 0.3 * np.random.default_rng(3).normal(size=robot.nv - 6)]
    names = ("q", "v", "accelerometer", "gyro")
    data = sim.run(0.05, v0=v0, record=names, progress=False).data
    q, v, felt, spins = (data[name].values[0] for name in names)
    model, found = robot.model, robot.model.createData()
    sizes = []
    for k in range(1, len(q) - 1):
        pin.forwardKinematics(model, found, q[k], v[k], (v[k + 1] - v[k]) / dt)
        for n, name in enumerate(BODIES):
            joint = robot.body(name) + 1
            a = pin.getClassicalAcceleration(model, found, joint, pin.LOCAL).linear
            expected = a - found.oMi[joint].rotation.T @ GRAVITY
            np.testing.assert_allclose(felt[k, n], expected, atol=1e-3 * np.abs(expected).max())
            np.testing.assert_allclose(spins[k, n], found.v[joint].angular, atol=1e-12)
            sizes.append(np.linalg.norm(expected))
    assert np.ptp(sizes) > 3
