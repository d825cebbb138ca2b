"""Joints made by constraints on free bodies, against closed forms and conservation laws.

Cases and numbers of Newton's verification (newton-physics/newton, test_physics_verification.py): a
pendulum on a hinge, a ball joint, a fixed joint. Newton allows itself 1 % of the amplitude, 10 mm
and 20 mm. Its four-bar and its precession are in test_closed_loops.py and test_joint_curves.py.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.special import ellipj, ellipk

import heelstrike as hs
from heelstrike.robot.robot import WORLD
from tests.mechanisms import robot_of

BAR = '<geom type="box" size="{}" density="1000"/>'
RECORDED = (
    "q", "com_velocity", "angular_momentum", "kinetic", "potential", "constraint_error"
)  # fmt: skip
UP = BAR.format(".02 .02 .25")


def run(robot: hs.Robot, duration: float, **start):
    """Return what is recorded of a motion by Runge-Kutta's method, at 1 ms."""
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=1e-3, integrator="rk4")
    recorded = RECORDED if robot.constraints else "q"
    return sim.run(duration, record=recorded, **start).data.isel(world=0)


def test_pendulum():
    """A small ball 1 m below a hinge of two points, g = 10 m/s^2, from 0.05 rad, three periods."""
    ball = '<body name="b" pos="0 0 -1"><freejoint/><geom size=".01" density="1000"/></body>'
    robot = robot_of(f'<option gravity="0 0 -10"/><worldbody>{ball}</worldbody>', points=[])
    ends = [np.array([0, y, 1.0]) for y in (-0.5, 0.5)]
    pins = [hs.Connect(f"p{y}", 0, end, WORLD, end * [0, 1, 0]) for y, end in enumerate(ends)]
    held, start = robot.with_constraints(*pins), 0.05
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0, -start, 0)).coeffs()
    q0 = np.concatenate([[np.sin(start), 0, -np.cos(start)], turn])
    data = run(held, 6.5, q0=q0)
    x, z = data.q.values[:, 0], data.q.values[:, 2]
    angle, t = np.arctan2(x, -z), data.time.values
    rate = np.sqrt(10 / (1 + 0.4 * 0.01**2))
    k = np.sin(start / 2)
    exact = 2 * np.arcsin(k * ellipj(rate * t + ellipk(k**2), k**2)[0])
    # Runge-Kutta's method is exact to 1e-12; constraints are held to 1e-9 m
    assert np.abs(angle - exact).max() < 1e-8


def test_ball_loop_joint():
    """A bar on a point orbits: energy, and the angular momentum about the vertical, are kept."""
    robot = robot_of(
        f'<worldbody><body name="b" pos="0 0 -.25"><freejoint/>{UP}</body></worldbody>', points=[]
    )
    held = robot.with_constraints(hs.Connect("ball", 0, np.array([0, 0, 0.25]), WORLD, np.zeros(3)))
    tilt = pin.rpy.rpyToMatrix(0, 0.4, 0)
    q0 = np.concatenate([tilt @ [0, 0, -0.25], pin.Quaternion(tilt).coeffs()])
    w = tilt.T @ [0, 0, 4.0]  # about the vertical, in the body's axes
    v0 = np.concatenate([np.cross(w, [0, 0, -0.25]), w])
    data = run(held, 1.0, q0=q0, v0=v0)
    orbit = data.q.values[len(data.time) // 2 :, :2]
    assert np.abs(orbit).max(axis=0).min() > 0.05  # it goes along x and along y
    mass, com = robot.mass, data.q.values[:, :3]
    spin = data.angular_momentum.values[:, 2]  # about the centre of mass
    about = spin + mass * np.cross(com, data.com_velocity.values)[:, 2]
    energy = (data.kinetic + data.potential).values
    assert float(data.constraint_error.max()) < 1e-8
    # of the fourth order in dt: 1e-9 J of 2 J
    assert np.ptp(about) < 1e-8 * abs(about[0])
    assert np.ptp(energy) < 1e-8 * abs(energy[0])


def test_fixed_loop_joint():
    """Two bars, one on a hinge and one free, welded to an L, swing as the L of one body does."""
    side = BAR.format(".25 .02 .02")
    hinge = '<joint name="h" axis="0 1 0" pos="0 0 .25"/>'
    apart = f"""<worldbody><body name="a" pos="0 0 -.25">{hinge}{UP}</body>
      <body name="b" pos=".25 0 -.5"><freejoint/>{side}</body></worldbody>"""
    whole = f"""<worldbody><body name="a" pos="0 0 -.25">{hinge}{UP}
      <body name="b" pos=".25 0 -.25">{side}</body></body></worldbody>"""
    two, one = robot_of(apart, points=[]), robot_of(whole, points=[])
    ends = (np.eye(3), np.array([0, 0, -0.5])), (np.eye(3), np.array([-0.25, 0, 0]))
    weld = hs.Weld("weld", two.body("a"), *ends[0], two.body("b"), *ends[1])
    held = two.with_constraints(weld)
    found, expected = (run(robot, 1.0, q0=robot.pose("zero")) for robot in (held, one))
    assert np.ptp(expected.q.values) > 0.5
    at = held.joints[held.body("a")].iq
    # both by Runge-Kutta's method at 1 ms; constraints are held to 1e-9 m
    np.testing.assert_allclose(found.q.values[:, at], expected.q.values[:, 0], atol=1e-8)
    assert float(found.constraint_error.max()) < 1e-7
