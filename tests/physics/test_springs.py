"""Springs at joints against the closed form of their recurrence, and conservation of energy.

The step takes a spring at (q+ + 2 q + q-) / 4, so that an oscillator of frequency w obeys

    cos(w_d dt) = (1 - (w dt)^2 / 4) / (1 + (w dt)^2 / 4),   w_d = (2 / dt) atan(w dt / 2)

exactly: its amplitude stays, at any stiffness.
"""

import numpy as np
import pytest

import heelstrike as hs

SLIDER = """<mujoco><option gravity="0 0 0"/><worldbody><body name="a">
  <joint name="x" type="slide" axis="1 0 0" stiffness="{k}" springref="0.1" damping="{d}"/>
  <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
REST = 0.1
"""Position at which the spring is relaxed [m]."""


def oscillator(tmp_path, k: float, d: float = 0.0) -> hs.Robot:
    path = tmp_path / "oscillator.xml"
    path.write_text(SLIDER.format(k=k, d=d))
    return hs.load(path)


@pytest.mark.parametrize("k", [8.0, 2e4, 2e9])  # w dt = 0.002, 0.1 and 32
def test_frequency_and_amplitude(k, tmp_path):
    """Every position is that of the recurrence's closed form, from rest at 0.3 m."""
    robot, dt, steps = oscillator(tmp_path, k), 1e-3, 2000
    run = hs.Simulator(hs.Scene(robot), dt=dt).run(steps=steps, q0=[REST + 0.2])
    q = run.data["q"].values.reshape(-1)
    w = np.sqrt(k / 2.0)
    phase = 2 * np.arctan(w * dt / 2)  # w_d dt
    n = np.arange(len(q))
    # v = 0 at the start means q[-1] = q[0]: the oscillation is symmetric about step -1/2
    expected = REST + 0.2 * np.cos(phase * (n + 0.5)) / np.cos(phase / 2)
    # rounding of dt^2 k q / m accumulates over 2000 steps; 4e-10 measured
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-8 * np.abs(expected - REST).max())


def test_damped_spring_creeps_to_rest(tmp_path):
    """With ten times the critical damping the slower of two exponentials remains."""
    k, m = 200.0, 2.0
    d = 20 * np.sqrt(k * m)
    robot = oscillator(tmp_path, k, d)
    rate = (d - np.sqrt(d * d - 4 * k * m)) / (2 * m)
    run = hs.Simulator(hs.Scene(robot), dt=1e-3).run(2.0, q0=[REST + 0.2])
    q = run.data["q"].values.reshape(-1) - REST
    measured = np.log(q[500] / q[1500]) / 1.0
    assert measured == pytest.approx(rate, rel=1e-3)  # damping is of first order in dt: rate dt


PENDULUM = """<mujoco><worldbody><body name="a">
  <joint name="turn" axis="0 1 0"/><joint name="stretch" type="slide" axis="0 0 1" stiffness="400"/>
  <inertial pos="0 0 -.5" mass="1" diaginertia="1e-6 1e-6 1e-6"/></body></worldbody></mujoco>"""


def test_spring_pendulum_keeps_its_energy(tmp_path):
    """A mass on a spring that swings by 1 rad for 20 s; energy is recorded and bounded."""
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    robot = hs.load(path)
    run = hs.Simulator(hs.Scene(robot), dt=1e-3).run(20.0, q0=[1.0, 0.0])
    data = run.data
    stretch = data["q"].values.reshape(-1, 2)[:, 1]
    spring = 200 * stretch**2
    energy = (data["kinetic"] + data["potential"]).values.ravel() + spring
    moved = np.ptp(data["kinetic"].values)
    # Coriolis forces are those at the start of a step: energy varies by 1.8 %, at 0.25 ms by 0.5 %
    assert np.ptp(energy) < 0.02 * moved
    # the ledger: work of the springs is the change of kinetic plus potential energy
    change = (data["kinetic"] + data["potential"]).values.ravel()
    work = data["work_joints"].values.ravel()
    assert np.abs(change - change[0] - work).max() < 0.02 * moved
    force = data["passive_torque"].values.reshape(-1, 2)
    assert np.abs(force[:, 1] + 400 * stretch).max() < 1e-3 * np.abs(force[:, 1]).max()
    assert not force[:, 0].any()


def test_compensated_weight_floats(tmp_path):
    """A free chain whose every link has gravcomp 1 moves as without gravity."""
    text = """<mujoco><option gravity="0 0 {g}"/><worldbody><body name="a" pos="0 0 1" gravcomp="1">
      <freejoint/><geom type="box" size=".1 .2 .3"/><body name="b" pos="0 0 .3" gravcomp="1">
      <joint name="j" axis="1 0 0"/><geom size=".1" pos="0 .2 0"/></body></body></worldbody>
      </mujoco>"""
    ends = []
    for g in (-9.81, 0.0):
        path = tmp_path / "float.xml"
        path.write_text(text.format(g=g))
        robot = hs.load(path)
        v0 = np.array([0.1, 0.2, 0.3, 1.0, -0.5, 0.7, 2.0])
        sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=1e-3)
        run = sim.run(1.0, q0=robot.pose("zero"), v0=v0)
        ends.append(run.data["q"].values.reshape(-1, robot.nq)[-1])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)  # weight and lift cancel to rounding
