"""Postures of a wanted virtual mass, judged by Pinocchio.

m_a is the inverse of the hand's acceleration under a unit force, of the robot whose feet are held:

    [H  J_c^T; J_c  0] [a; -f_c] = [J^T n; 0],     1 / m_a = n^T J a

with H, J and J_c Pinocchio's; so are centre of mass, feet and hand.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.impact import posture
from heelstrike.motion import Humanoid

HAND = "r_hand"


@cache
def human():
    return Humanoid.of(hs.load("hoap1", collide="feet"))


@cache
def start():
    """The stance with the right forearm raised."""
    q = human().pose.copy()
    for joint in human().robot.joints:
        q[joint.iq] += {"R_SFE": -0.5, "R_EB": -0.9}.get(joint.name, 0.0)
    return q


def own_mass(q):
    """m_a along x by Pinocchio."""
    model, (body, place) = human().model, human().frame(HAND)
    data = model.createData()
    pin.computeAllTerms(model, data, q, np.zeros(model.nv))
    world = pin.LOCAL_WORLD_ALIGNED
    inertia = pin.crba(model, data, q) + 0.0
    inertia = np.triu(inertia) + np.triu(inertia, 1).T + np.diag(human().robot.armature)
    inertia -= np.diag(model.armature)
    hand = pin.getJointJacobian(model, data, body + 1, world)
    lever = data.oMi[body + 1].rotation @ place.translation
    along = (hand[:3] - pin.skew(lever) @ hand[3:])[0]
    held = np.vstack([pin.getJointJacobian(model, data, f + 1, world) for f in human().feet])
    whole = np.block([[inertia, held.T], [held, np.zeros((12, 12))]])
    return 1 / (along @ np.linalg.solve(whole, np.r_[along, np.zeros(12)])[: model.nv])


def hand_at(q):
    body, place = human().frame(HAND)
    return human().body_pose(q, body).act(place.translation)


@pytest.mark.parametrize("share", [0.8, 1.3])
def test_a_posture_has_its_mass_and_stands(share):
    robot, q = human().robot, start()
    wanted = share * own_mass(q)
    found = posture(robot, HAND, mass=wanted, q=q, margin=0.005)
    # soles of 1e5 kg are not held altogether: 1e-4 of m_a; IPOPT's tolerance is 1e-5
    assert abs(found.virtual_mass / wanted - 1) < 1e-3
    assert abs(own_mass(found.q) / wanted - 1) < 1e-3
    for before, after in zip(human().placed(q), human().placed(found.q), strict=True):
        np.testing.assert_allclose(after.homogeneous, before.homogeneous, atol=1e-4)
    np.testing.assert_allclose(hand_at(found.q)[1:], hand_at(q)[1:], atol=1e-4)
    np.testing.assert_allclose(hand_at(found.q), found.hand, atol=1e-9)
    assert (found.q[7:] >= robot.lower[7:]).all()
    assert (found.q[7:] <= robot.upper[7:]).all()
    soles = [sole.translation[:2] for sole in human().placed(q)]
    halves = human().halves
    com = human().com(found.q)
    front = max(s[0] + h[0] for s, h in zip(soles, halves, strict=True)) - com[0]
    back = com[0] - min(s[0] - h[0] for s, h in zip(soles, halves, strict=True))
    assert 0.005 - 1e-4 < found.margin <= min(front, back) + 1e-9


def test_a_line_elsewhere_and_the_ends_of_the_range():
    robot, q = human().robot, start()
    place = hand_at(q) + np.array([0.0, 0.0, 0.02])
    least, most = (posture(robot, HAND, mass=m, q=q, place=place) for m in ("least", "most"))
    for found in (least, most):
        np.testing.assert_allclose(hand_at(found.q)[1:], place[1:], atol=1e-4)
    assert least.virtual_mass < own_mass(q) < most.virtual_mass


def test_what_cannot_be_is_a_sentence():
    robot, q = human().robot, start()
    with pytest.raises(hs.HeelstrikeError, match=r"has 300 kg on this line: it reaches .* kg from"):
        posture(robot, HAND, mass=300.0, q=q)
    with pytest.raises(hs.HeelstrikeError, match="the hand's line cannot be held"):
        posture(robot, HAND, mass=1.0, q=q, place=(0.1, 0.0, 2.0))
    with pytest.raises(hs.HeelstrikeError, match="above 0 kg, or 'least' or 'most'"):
        posture(robot, HAND, mass=-1.0)
    with pytest.raises(hs.HeelstrikeError, match="needs a floating robot"):
        posture(hs.load("foot"), "foot", mass=1.0)
