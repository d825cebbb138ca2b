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

LAW = hs.LinearSpring(k=2e3, c=15.0)
TARGET = Target(mass=0.5)
DT = 1e-4


@cache
def robot():
    return hs.load("hoap1")


@cache
def compared(floor):
    return compare(
        robot(), robot().pose("stance"), "r_hand", direction="x", speed=[0.1, 0.2], target=TARGET,
        law=LAW, floor=floor, duration=0.05, dt=DT, history=True,
    )  # fmt: skip


@pytest.mark.parametrize("floor", ["rigid", "elastic"])
def test_the_target_gets_what_the_force_gives(floor):
    made = compared(floor).full
    data = made.recording.data
    momentum = 0.5 * data.v.isel(time=-1, joint=-1).values if "v" in data else None
    force = np.trapezoid(made.force, made.time, axis=1)
    assert np.allclose(made.impulse, force, rtol=0.05)  # every tenth step is recorded
    assert momentum is None or np.allclose(made.impulse, momentum, rtol=1e-6)
    assert np.allclose(made.peak, 15.0 * np.array([0.1, 0.2]), rtol=1e-6)  # c v_c


@pytest.mark.parametrize("floor", ["rigid", "elastic"])
def test_the_simplified_computation_is_near(floor):
    errors = compared(floor).errors()
    # angles move, weight acts: the paper's own bound
    assert np.abs(errors["simplified impulse"]).max() < 6.0
    assert np.abs(errors["simplified peak"]).max() < 3.0
    virtual = np.abs(errors["virtual mass impulse"])
    assert np.all(virtual > np.abs(errors["simplified impulse"]))


def test_centre_of_pressure_is_the_zmp_of_the_motion():
    """At every tenth step of the rigid run, accelerations from the states on both sides."""
    sole = VirtualBase(mass=np.inf)
    made = simulate_full(
        robot(), robot().pose("stance"), "r_hand", speed=0.2, target=TARGET, law=LAW, base=sole,
        duration=0.01, dt=DT, every=1,
    )  # fmt: skip
    sim, model = made.simulator, robot().model
    data, whole = model.createData(), made.recording.data
    q = whole.q.values[0, :, : robot().nq]
    assert sim.worlds == 1
    frame = model.getFrameId("r_hand")
    for k in (20, 60, 90):
        v = [pin.difference(model, q[i], q[i + 1]) / DT for i in (k - 1, k)]  # after step k-1, k
        a = (v[1] - v[0]) / DT
        pin.rnea(model, data, q[k], v[0], a)
        total = data.oMi[1].act(data.f[1])
        pin.framesForwardKinematics(model, data, q[k])
        push = np.array([-made.force[0, k], 0.0, 0.0])
        moment = total.angular - np.cross(data.oMf[frame].translation, push)
        zmp = np.array([-moment[1], moment[0]]) / (total.linear - push)[2]
        # first order in the step: base and joints are differenced, 0.1 mm measured
        assert np.abs(made.cop[0, k] - zmp).max() < 1e-3


def test_a_hard_blow_tips_the_robot_over():
    """A wall that comes at 1 m/s throws hoap1 on its back; a light ball does not."""
    options = {"speed": 0.1, "duration": 0.6, "dt": 2e-4, "every": 50}
    stance = robot().pose("stance")
    wall = Target(mass=np.inf, velocity=-1.0)
    felled = simulate_full(robot(), stance, "r_hand", target=wall, law=LAW, **options)
    stood = simulate_full(robot(), stance, "r_hand", target=Target(mass=0.05), law=LAW, **options)
    assert felled.tilt[0] > 0.3
    assert stood.tilt[0] < 0.05


def test_what_cannot_be_simulated_is_told():
    stance = robot().pose("stance")
    with pytest.raises(hs.HeelstrikeError, match="no floor 'ice'"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, floor="ice")
    with pytest.raises(hs.HeelstrikeError, match="does not stand on contact points"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, base=VirtualBase("l_hand"))
    with pytest.raises(hs.HeelstrikeError, match="one target mass for all hits"):
        simulate_full(robot(), stance, "r_hand", speed=0.1, target=Target(mass=[1.0, 2.0]))
