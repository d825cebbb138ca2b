"""The full simulation of a hit: identities that hold whatever the floor, and a robot that falls.

While the soles are flat the centre of pressure of the contact forces is the ZMP of the motion:
inverse dynamics of the recorded states by Pinocchio, with the hand's force taken off.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.impact import Target, VirtualBase, compare, simulate_full

LAW = hs.LinearSpring(k=1e3, c=30.0)
SPEEDS = np.array([0.1, 0.2])
DT = 1e-4


@cache
def robot():
    return hs.load("hoap1", collide="feet")


@cache
def compared(floor):
    return compare(
        robot(), robot().pose("stance"), "r_hand", direction="x", speed=SPEEDS, law=LAW,
        target=Target(mass=0.5), floor=floor, duration=0.03, dt=DT, history=True, every=1,
    )  # fmt: skip


FLOORS = ["rigid", pytest.param("elastic", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("floor", FLOORS)
def test_the_target_gets_what_the_force_gives(floor):
    made = compared(floor).full
    momentum = 0.5 * made.recording.data.v.values[:, -1, -1]
    assert np.allclose(made.impulse, momentum, rtol=1e-9)
    force = np.trapezoid(made.force, made.time, axis=1)
    assert np.allclose(made.impulse, force, rtol=5e-3)  # samples against RK4's own sum
    assert np.allclose(made.peak, 30.0 * SPEEDS, rtol=1e-6)  # c v_c, for m < c^2/k


@pytest.mark.parametrize("floor", FLOORS)
def test_the_simplified_computation_is_near(floor):
    errors = compared(floor).errors()
    # angles move and the floor gives way; the paper's own bounds
    assert np.abs(errors["simplified impulse"]).max() < 6.0
    assert np.abs(errors["simplified peak"]).max() < 3.0
    virtual = np.abs(errors["virtual mass impulse"])
    assert np.all(virtual > 2 * np.abs(errors["simplified impulse"]))


def test_centre_of_pressure_is_the_zmp_of_the_motion():
    made, model = compared("rigid").full, robot().model
    data, whole = model.createData(), made.recording.data
    q, v = whole.q.values[1, :, : robot().nq], whole.v.values[1, :, : robot().nv]
    assert made.lifted[1] == 0
    frame = model.getFrameId("r_hand")
    for k in (5, 20, 60, 250):
        pin.framesForwardKinematics(model, data, q[k])
        pin.rnea(model, data, q[k], v[k], (v[k + 1] - v[k]) / DT)
        total = data.oMi[1].act(data.f[1])
        push = np.array([-made.force[1, k], 0.0, 0.0])
        moment = total.angular - np.cross(data.oMf[frame].translation, push)
        zmp = np.array([-moment[1], moment[0]]) / (total.linear - push)[2]
        # velocity terms are those of the start of the step: first order in it
        assert np.abs(made.cop[1, k] - zmp).max() < 1e-3


def test_a_hard_blow_tips_the_robot_over():
    """A ball of half a kilogram at 12 m/s throws hoap1 over, at 0.1 m/s it does not."""
    made = simulate_full(
        robot(), robot().pose("stance"), "r_hand", speed=0.1, law=LAW, duration=0.6, dt=DT,
        target=Target(mass=0.5, velocity=[-12.0, -0.1]), every=100,
    )  # fmt: skip
    assert made.tilt[0] > 0.3
    assert made.tilt[1] < 0.05
    assert made.lifted[0] > made.lifted[1]


def test_what_cannot_be_simulated_is_told():
    stance = robot().pose("stance")
    with pytest.raises(hs.HeelstrikeError, match="no floor 'ice'"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, floor="ice")
    with pytest.raises(hs.HeelstrikeError, match="does not stand on contact points"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, base=VirtualBase("l_hand"))
    with pytest.raises(hs.HeelstrikeError, match="one target mass for all hits"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, target=Target(mass=[1.0, 2.0]))
