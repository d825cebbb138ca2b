"""Bodies held by joints and by constraints, against curves that Chrono publishes.

Chrono (projectchrono/chrono, data/testing/joints) compares its joints with curves that ADAMS
computed: a body of 1 kg, 2 m from its joint, swings from rest for 5 s. The cases below have the
values of the files *_ADAMS_Pos.txt and *_ADAMS_Rforce.txt at five times. Here the body is free, and
constraints hold it, in the prismatic and the cylindrical joint to a carriage on a slide; the
universal joint is one of the tree. Chrono allows itself 1e-3 to 1e-2 m, and 2e-2 N.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs

TIMES = np.array([0.5, 1.0, 1.5, 2.0, 2.5])
DT = 1e-3
BODY = """<mujoco><option gravity="0 0 -9.80665"/><worldbody>
<body name="rod" pos="{}" quat="{}">{}
<inertial pos="{}" mass="1" diaginertia="{}"/></body></worldbody></mujoco>"""
REVOLUTE = [
    [1.66081, 0, -1.11432],
    [-0.892381, 0, -1.78988],
    [-1.99167, 0, -0.182356],
    [-1.95112, 0, -0.439479],
    [-0.265506, 0, -1.98230],
]
"""Revolute_Case01, position [m]: about the y axis, from (2, 0, 0)."""
REVOLUTE_FORCE = [
    [7.56095, -2.39407, -7.41259],
    [0.427164, 9.56081, -19.3673],
    [-7.91932, -2.09508, -7.71159],
    [-8.99056e-3, -4.78385, -5.02305],
    [-7.19193, -2.67074, -7.13638],
]
"""Revolute_Case02, force on the ground [N]: about (0, 1, 1) through (1, 2, 3), from (3, 2, 3)."""
SPHERICAL = [
    [2.66081, 2, 1.88568],
    [0.107619, 2, 1.21012],
    [-0.991669, 2, 2.81764],
    [-0.951117, 2, 2.56052],
    [0.734494, 2, 1.01770],
]
"""Spherical_Case02, position [m]: about (1, 2, 3), from (3, 2, 3)."""
UNIVERSAL = [
    [1.17412, 1.17480, -1.11414],
    [-0.63624, -0.614073, -1.79391],
    [-1.42774, -1.38815, -0.186016],
    [-1.39994, -1.36070, -0.434373],
    [-0.206772, -0.190945, -1.98010],
]
"""Universal_Case03, position [m]: about the origin, from (1.41421, 1.41421, 0)."""
DISTANCE = [
    [0, 3.815725, -1.196875],
    [0, 1.588488, -3.670108],
    [0, -2.461107, -3.151656],
    [0, -3.933407, -0.6840368],
    [0, -3.999212, -7.667860e-2],
]
"""Distance_Case03, position [m]: one end 2 m from the origin, a double pendulum along y."""
PRISMATIC = [
    [3, 1.38708, 2.38708],
    [3, -0.451662, 0.548338],
    [3, -3.51624, -2.51624],
    [3, -7.80665, -6.80665],
    [3, -13.3229, -12.3229],
]
"""Prismatic_Case02, position [m]: along (0, 1, 1) through (1, 2, 3), from (3, 2, 3)."""
CYLINDRICAL = [
    [2.82591, 1.96417, 1.81],
    [1.0421, 0.962238, -0.865563],
    [-0.802951, -2.90413, -3.12836],
    [-1, -7.80602, -6.80728],
    [-0.846888, -12.7802, -12.8656],
]
"""Cylindrical_Case03, position [m]: along and about (0, 1, 1) through (1, 2, 3), from (3, 2, 3)."""
CYLINDRICAL_FORCE = [
    [7.56095, 2.50924, -2.50924],
    [0.427153, 14.4646, -14.4646],
    [-7.91903, 2.80817, -2.80817],
    [-9.39531e-3, 0.119586, -0.119586],
    [-7.19188, 2.23283, -2.23283],
]
"""The same, force on the ground [N]."""
CARRIAGE = """<mujoco><option gravity="0 0 -9.80665"/><worldbody>
<body name="rod" pos="3 2 3" quat="{0}"><freejoint/><inertial pos="0 0 0" mass="1"
  diaginertia="0.04 0.1 0.1"/></body>
<body name="carriage" pos="1 2 3" quat="{0}"><joint name="slide" type="slide" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
"""A rod beside a carriage that slides along (0, 1, 1); gravity moves both alike along it."""


def rod(folder, place, turn: Rotation, joints="<freejoint/>", com="0 0 0", inertia="0.04 0.1 0.1"):
    """Return a body with a placement, its joints and its inertia [kg m^2]."""
    path = folder / "rod.xml"
    numbers = (" ".join(f"{x:.17g}" for x in own) for own in (place, np.roll(turn.as_quat(), 1)))
    path.write_text(BODY.format(*numbers, joints, com, inertia))
    return hs.load(path)


def swing(robot, *constraints):
    """Return the recording of 2.5 s from rest, at TIMES."""
    held = robot.with_constraints(*constraints)
    sim = hs.Simulator(hs.Scene(held), dt=DT, integrator="rk4", control=None)
    forces = ("constraint_force",) if constraints else ()
    data = sim.run(2.5, q0=held.pose("zero"), record=("q", "com", *forces)).data
    return data.isel(world=0).sel(time=TIMES, method="nearest")


def hinge(place, axis, body_end):
    """Return two points of the world on an axis at which the body's end is held."""
    axis = np.array(axis, dtype=float)
    ends = ((f"end{k}", body_end + s * np.array([0, 0, 0.5]), s) for k, s in enumerate((-1, 1)))
    return [hs.Connect(name, 0, at, -1, place + 0.5 * s * axis) for name, at, s in ends]


def test_revolute(tmp_path):
    """Two points hold the body on the y axis, its own z axis."""
    turn = Rotation.from_euler("x", -np.pi / 2)
    robot = rod(tmp_path, (2, 0, 0), turn)
    pins = hinge(np.zeros(3), turn.apply([0, 0, 1]), np.array([-2.0, 0, 0]))
    # 4e-6 measured; the file has six digits
    assert np.abs(swing(robot, *pins).q.values[:, :3] - REVOLUTE).max() < 1e-5


def test_revolute_force(tmp_path):
    """The forces of both points add up to that of the hinge."""
    turn, place = Rotation.from_euler("x", -np.pi / 4), np.array([1.0, 2, 3])
    robot = rod(tmp_path, (3, 2, 3), turn)
    data = swing(robot, *hinge(place, turn.apply([0, 0, 1]), np.array([-2.0, 0, 0])))
    forces = data.constraint_force.values.reshape(len(TIMES), 2, 3).sum(axis=1)
    # 4e-4 measured; the file's own forces scatter as much
    assert np.abs(forces + REVOLUTE_FORCE).max() < 1e-3


def test_spherical(tmp_path):
    turn = Rotation.from_euler("x", -np.pi / 4)
    robot = rod(tmp_path, (3, 2, 3), turn)
    pin = hs.Connect("pin", 0, np.array([-2.0, 0, 0]), -1, np.array([1.0, 2, 3]))
    assert np.abs(swing(robot, pin).q.values[:, :3] - SPHERICAL).max() < 1e-5


def test_universal(tmp_path):
    """Two hinges of the tree, about x of the ground's frame, then y of the body's."""
    axis = np.array([1, -1, 0]) / np.sqrt(2)
    joints = '<joint axis="1 0 0"/><joint axis="0 1 0"/>'
    turn = Rotation.from_rotvec(np.pi / 2 * axis)
    robot = rod(tmp_path, (0, 0, 0), turn, joints, "0 0 -2", "0.1 0.1 0.04")
    # 9e-6 in the first second, then 2.4e-4: the curve is from a start with six digits
    assert np.abs(swing(robot).com.values - UNIVERSAL).max() < 5e-4


def beside_carriage(folder, *constraints):
    """Return the recording of the rod that constraints hold to the carriage, body 1."""
    turn = Rotation.from_euler("x", -np.pi / 4)
    path = folder / "carriage.xml"
    path.write_text(CARRIAGE.format(" ".join(f"{x:.17g}" for x in np.roll(turn.as_quat(), 1))))
    return swing(hs.load(path), *constraints)


def test_prismatic(tmp_path):
    """A weld holds the rod to the carriage: it falls along the slide, which carries the rest."""
    weld = hs.Weld("weld", 0, np.eye(3), np.zeros(3), 1, np.eye(3), np.array([2.0, 0, 0]))
    data = beside_carriage(tmp_path, weld)
    # half of the last digit, of 13.3229 m at the end
    assert np.abs(data.q.values[:, :3] - PRISMATIC).max() < 6e-5
    force = data.constraint_force.values.reshape(len(TIMES), -1)[:, :3]
    np.testing.assert_allclose(force, [[0, -9.80665 / 2, 9.80665 / 2]] * len(TIMES), atol=1e-8)


def test_cylindrical(tmp_path):
    """Two points hold the rod to an axis of the carriage: it slides and swings."""
    ends = (-0.5 * np.eye(3)[2], 0.5 * np.eye(3)[2])
    arm = np.array([-2.0, 0, 0])
    pins = [hs.Connect(f"end{k}", 0, arm + end, 1, end) for k, end in enumerate(ends)]
    data = beside_carriage(tmp_path, *pins)
    # half of the last digit, of 12.8656 m at the end
    assert np.abs(data.q.values[:, :3] - CYLINDRICAL).max() < 6e-5
    forces = data.constraint_force.values.reshape(len(TIMES), 2, 3).sum(axis=1)
    # the file's own forces scatter as those of the revolute joint
    assert np.abs(forces + CYLINDRICAL_FORCE).max() < 1e-3


def test_distance(tmp_path):
    robot = rod(tmp_path, (0, 4, 0), Rotation.from_euler("z", -np.pi / 2))
    rope = hs.Distance("rope", 0, np.array([2.0, 0, 0]), -1, np.zeros(3), 2.0)
    # 3e-7 measured; the file has seven digits
    assert np.abs(swing(robot, rope).q.values[:, :3] - DISTANCE).max() < 1e-6


@pytest.mark.parametrize("spin", [50.0, 100.0])  # [rad/s]
def test_a_top_precesses(tmp_path, spin):
    """A disc on a horizontal axle, pinned at one end: with I spin rate = m g l it turns evenly.

    With its axle level the steady precession is exact: rate = m g l / (I spin), I about the axle.
    """
    robot = rod(tmp_path, (0.5, 0, 0), Rotation.identity())
    pin = hs.Connect("pin", 0, np.array([-0.5, 0, 0]), -1, np.zeros(3))
    held = robot.with_constraints(pin)
    rate = 9.80665 * 0.5 / (0.04 * spin)
    sim = hs.Simulator(hs.Scene(held), dt=DT, integrator="rk4", control=None)
    v0 = [0, 0.5 * rate, 0, spin, 0, rate]
    q = sim.run(1.0, q0=held.pose("zero"), v0=v0, record="q").data.q.values[0]
    times = DT * np.arange(len(q))
    path = 0.5 * np.stack([np.cos(rate * times), np.sin(rate * times), 0 * times], axis=1)
    assert np.abs(q[:, :3] - path).max() < 1e-5
