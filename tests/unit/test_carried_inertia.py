"""Inertia of the heavier side of a joint, against sums over the bodies of either side.

About an axis through p along the unit vector s, a body has s . I_c s + m |s x (c - p)|^2, with its
inertia I_c about its centre c; a slider moves the mass of a side.
"""

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.dynamics.effective_mass import carried_inertias, joint_inertias
from heelstrike.robot.convert import to_pinocchio


def by_sums(robot: hs.Robot, q: np.ndarray) -> np.ndarray:
    model = to_pinocchio(robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    found = np.zeros(robot.nv)
    for joint in robot.joints[1:]:
        k = next(k for k in range(model.njoints) if model.idx_vs[k] == joint.iv)
        beyond, sides = set(model.subtrees[k]), [0.0, 0.0]
        p, s = data.oMi[k].translation, data.oMi[k].rotation @ joint.axis
        for b in range(1, model.njoints):
            place, own = data.oMi[b], model.inertias[b]
            turning = place.rotation @ own.inertia @ place.rotation.T
            lever = np.cross(s, place.act(own.lever) - p)
            sides[b not in beyond] += s @ turning @ s + own.mass * lever @ lever
        found[joint.iv] = max(sides) + robot.armature[joint.iv]
    return found


@pytest.mark.parametrize("name", ["hoap1", "biped14"])
def test_heavier_side_is_a_sum_over_its_bodies(name):
    robot = hs.load(name, collide="feet")
    q = robot.pose("stance")
    carried = carried_inertias(robot, q)
    np.testing.assert_allclose(carried[6:], by_sums(robot, q)[6:], rtol=1e-12)
    # the least inertia of a joint is that with nothing else held
    assert (joint_inertias(robot, q)[6:] <= carried[6:] * (1 + 1e-12)).all()


def test_a_robot_of_one_joint_carries_its_mass():
    """Of one velocity Pinocchio returns the Jacobian as a vector."""
    robot = hs.load("foot")
    carried = carried_inertias(robot, robot.neutral)
    np.testing.assert_allclose(carried, robot.mass + robot.armature, rtol=1e-12)
