"""Punches that hit in a posture, and hits in the course of a motion.

The hit's own laws are the oracle: the first force is c v_c, the impulse is what the target gained,
`estimate` (steps 1b to 8b) has the rest. Pose and speed of a motion are judged by Pinocchio.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.impact import Target, estimate, simulate_motion
from heelstrike.motion import Humanoid, punch, state

HAND, SPEED, C, BALL = "r_hand", 0.2, 30.0, 0.5
LAW = hs.LinearSpring(k=1e3, c=C)


@cache
def robot():
    return hs.load("hoap1", collide="feet")


@cache
def at():
    """A posture to hit in: the right forearm raised."""
    q = robot().pose("stance").copy()
    for joint in robot().joints:
        q[joint.iq] += {"R_SFE": -0.5, "R_EB": -0.9}.get(joint.name, 0.0)
    return q


@cache
def motion():
    return punch(robot(), HAND, SPEED, at=at(), reach=0.05, follow=0.1, rest=0.3)


@cache
def run():
    return simulate_motion(robot(), motion(), motion().settings["hits"], HAND, target=Target(BALL),
                           law=LAW)  # fmt: skip


def test_a_punch_comes_through_its_posture_at_its_speed():
    hits = motion().settings["hits"]
    q, v = state(robot(), motion(), hits)
    np.testing.assert_allclose(q, at(), atol=1e-5)  # the inverse kinematics ends at 1e-7 m
    human = Humanoid.of(robot())
    body, place = human.frame(HAND)
    hand = np.array([human.body_pose(q, body).act(place.translation) for q in motion().q])
    times = np.asarray(motion().times)
    k = int(np.argmin(np.abs(times - hits)))
    assert abs(times[k] - hits) < 1e-9
    np.testing.assert_allclose(np.diff(hand[k - 1 : k + 9], axis=0) * 100,
                               np.tile([SPEED, 0, 0], (9, 1)), atol=1e-4)  # fmt: skip
    way = hand[:, 0] - hand[0, 0]
    assert abs(way[k] - 0.8 * 0.05) < 1e-5
    assert abs(way[-1] - 0.05 - SPEED * 0.1) < 1e-5
    assert v.shape == (robot().nv,)


def test_a_hit_in_a_motion_keeps_the_hits_laws():
    ran = run()
    assert abs(ran.speed / SPEED - 1) < 0.02  # what the servo makes of it; 0.4 % measured
    assert abs(ran.touch - motion().settings["hits"]) < 2e-3
    # in a step of 0.1 ms the first force falls by c (1/m + 1/m_a) dt, 2 %
    assert abs(ran.peak / (C * ran.speed) - 1) < 0.03
    after = np.trapezoid(ran.force, ran.time)
    assert abs(after / ran.impulse - 1) < 0.02  # records are 0.2 ms apart
    assert ran.force[-1] == 0


def test_it_is_what_the_simplified_computation_says():
    ran = run()
    q, v = state(robot(), motion(), motion().settings["hits"])
    made = estimate(robot(), q, HAND, v=v, target=Target(BALL), law=LAW)
    # the paper's largest error of the impulse
    assert abs(1 - made.impulse[0] / ran.impulse) < 0.061


def test_what_cannot_be_is_a_sentence():
    with pytest.raises(hs.HeelstrikeError, match="give one of both"):
        punch(robot(), HAND, at=at(), pose=at())
    with pytest.raises(hs.HeelstrikeError, match="follows for 0 s or longer"):
        punch(robot(), HAND, at=at(), follow=-1.0)
    with pytest.raises(hs.HeelstrikeError, match="make the motion's rest longer"):
        simulate_motion(robot(), motion(), 0.01, HAND, lead=0.5)
    with pytest.raises(hs.HeelstrikeError, match="it has no state at 99 s"):
        state(robot(), motion(), 99.0)
    with pytest.raises(hs.HeelstrikeError, match="the motion is of hoap1, not of hrp2"):
        state(hs.load("hrp2", collide="feet"), motion(), 0.0)
