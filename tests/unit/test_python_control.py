"""Controllers in Python, called every few steps with the arrays of all worlds.

Oracle: the same controller traced into the step, and the closed form of a constant force.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

FOOT = hs.load("foot")  # 25 kg on a vertical slide


def foot(worlds=1, **options):
    return hs.Simulator(hs.Scene(FOOT), dt=1e-3, worlds=worlds, **options)


def test_a_python_controller_does_what_the_traced_one_does():
    """Held for five steps; the state at the end to rounding of sums in another order."""

    @hs.controller(control_every=5)
    def traced(s, kp=500.0):
        return 25 * 9.81 - kp * s.q - 100 * s.v

    def python(s):
        return 25 * 9.81 - 500.0 * s.q - 100 * s.v

    start = np.array([[0.1], [0.2], [-0.3]])
    one = foot(3, control=traced).run(0.5, q0=start)
    two = foot(3).run(0.5, q0=start, controller=python, control_every=5)
    np.testing.assert_allclose(one.data["q"], two.data["q"], rtol=1e-12, atol=1e-14)
    torques = (run.data["torque"][:, :-1] for run in (one, two))  # the last is of no step made
    np.testing.assert_allclose(*torques, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("worlds", [1, 4])
def test_arrays_have_a_row_per_world_and_calls_come_in_time(worlds):
    sim, calls = foot(worlds, sensors=["com", "foot.rotation"]), []

    def watch(s):
        calls.append(s)
        assert s.q.shape == s.v.shape == (worlds, 1)
        assert s.sensors["com"].shape == (worlds, 3)
        assert s.sensors["foot.rotation"].shape == (worlds, 3, 3)

    sim.run(steps=25, every=4, controller=watch, control_every=10)
    assert [round(float(s.time[0]), 9) for s in calls] == [0.0, 0.01, 0.02]
    assert len(np.unique([s.q[0, 0] for s in calls])) == 3  # copies


def test_records_and_parameters_do_not_depend_on_chunks():
    sim = foot(control=hs.Servo(kp=1e4, kd=1e3))
    plain = sim.run(0.1, q0=[0.0], every=3)
    same = sim.run(0.1, q0=[0.0], every=3, controller=lambda s: None, control_every=7)
    assert plain.data["q"].equals(same.data["q"])
    sim.run(0.5, q0=[0.0], controller=lambda s: {"servo.q_ref": [0.2]}, control_every=50)
    assert sim.parameters["servo.q_ref"] == 0.2


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros(3), r"returned ndarray of shape \(3,\); allowed: torques, \(2, 1\) or \(1,\)"),
        ("up", "returned str; allowed: torques"),
        ([np.nan], "allowed: finite torques"),
        ({"servo.qref": [0.0]}, "no parameter 'servo.qref'"),
    ],
)
def test_what_cannot_be_applied_is_an_error(returned, message):
    with pytest.raises(hs.HeelstrikeError, match=message):
        foot(2).run(0.01, controller=lambda s: returned)


def test_arguments_are_checked():
    with pytest.raises(hs.ParameterError, match="controller is 3; allowed: a function"):
        foot().run(0.01, controller=3)
    with pytest.raises(hs.ParameterError, match="control_every is 0"):
        foot().run(0.01, controller=lambda s: None, control_every=0)
    for worlds in (1, 3):
        measured = foot(worlds, sensors=["com_velocity"])
        with pytest.raises(hs.UnknownNameError, match="did you mean 'com_velocity'"):
            measured.run(0.01, controller=lambda s: 0 * s.sensors["com_velocty"])
