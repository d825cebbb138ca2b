"""Closed loops in steps: closed forms, energy, drift, and mechanisms that are built in two ways."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import heelstrike as hs
from heelstrike.dynamics.effective_mass import kinetic_energy
from heelstrike.robot.closing import jacobian
from heelstrike.robot.constraints import Connect, Weld
from heelstrike.robot.placement import lowest_height
from heelstrike.robot.robot import WORLD
from tests import mechanisms
from tests.mechanisms import CRANK, ROD
from tests.models import data_file

G = 9.81
DURATION = 10.0


def slider_crank_reference(theta: float, rate: float, end: float) -> np.ndarray:
    """Crank angle and rate at `end`, by Lagrange's equation of its one coordinate.

    About y a positive angle turns x towards -z. With sin(beta) = r sin(theta) / l of the rod and
    M(theta) theta'^2 / 2 the kinetic energy, M theta'' + M' theta'^2 / 2 + V' = 0; derivatives are
    complex steps.
    """
    crank, rod, slider = 0.3, 0.5, 0.7
    inertia = dict(zip((CRANK, ROD), map(rod_inertia, (CRANK, ROD), (crank, rod)), strict=True))

    def places(angle):
        s = CRANK * np.sin(angle) / ROD
        c = np.sqrt(1 - s * s)
        knee = CRANK * np.cos(angle), -CRANK * np.sin(angle)
        middle = knee[0] + ROD / 2 * c, knee[1] / 2
        return (*middle, knee[0] + ROD * c, -np.arcsin(s))

    def slope(f, x):
        return np.imag(f(x + 1e-30j)) / 1e-30

    def mass(angle):
        # the derivative of the places by a real step: complex ones do not nest
        step = 1e-4
        ahead, back = places(angle + step), places(angle - step)
        ahead2, back2 = places(angle + 2 * step), places(angle - 2 * step)
        d = [
            (8 * (a - b) - (a2 - b2)) / (12 * step)
            for a, b, a2, b2 in zip(ahead, back, ahead2, back2, strict=True)
        ]
        about = inertia[CRANK] + crank * CRANK**2 / 4
        return about + rod * (d[0] ** 2 + d[1] ** 2) + inertia[ROD] * d[3] ** 2 + slider * d[2] ** 2

    def potential(angle):
        return -G * (crank * CRANK * np.sin(angle) / 2 - rod * places(angle)[1])

    def rhs(_, x):
        pull = slope(mass, x[0]) * x[1] ** 2 / 2 + slope(potential, x[0])
        return [x[1], -pull / mass(x[0])]

    return solve_ivp(rhs, (0, end), [theta, rate], rtol=1e-11, atol=1e-12).y[:, -1]


def rod_inertia(length: float, mass: float) -> float:
    """Of a capsule of radius 1 cm about an axis through its middle [kg m^2]."""
    r = 0.01
    cylinder = np.pi * r**2 * length
    ball = 4 / 3 * np.pi * r**3
    density = mass / (cylinder + ball)
    half = density * ball / 2
    caps = 2 * (half * 0.4 * r**2 + half * (length / 2) ** 2 + half * 3 / 8 * r * length)
    return density * cylinder * (length**2 / 12 + r**2 / 4) + caps


def test_a_slider_crank_follows_its_closed_form():
    robot = mechanisms.slider_crank()
    theta, rate = 0.5, 4.0
    s = CRANK * np.sin(theta) / ROD
    beta = -np.arcsin(s)  # of the rod in the world
    q = np.array([theta, beta - theta, CRANK * np.cos(theta) + ROD * np.cos(beta)])
    free = np.linalg.svd(jacobian(robot, q))[2][-1]
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, integrator="rk4")
    run = sim.run(1.0, q0=q, v0=free * rate / free[0])
    wanted = slider_crank_reference(theta, rate, 1.0)
    # rk4 at 1 ms: 3e-9 measured
    assert np.abs(run.data.q.values[0, -1, 0] - wanted[0]) < 1e-7
    assert np.abs(run.data.v.values[0, -1, 0] - wanted[1]) < 1e-6


@pytest.fixture(scope="module")
def swinging():
    """Runs of the undamped four-bar from rest, by integrator."""
    robot = mechanisms.four_bar()
    q = robot.close(np.array([0.3, -1.0, -1.2]))
    runs = {}
    for integrator in ("symplectic", "rk4"):
        sim = hs.Simulator(hs.Scene(robot), dt=1e-3, integrator=integrator)
        runs[integrator] = sim.run(DURATION, q0=q, record=["q", "v", "constraint_error"])
    return robot, runs


def energies(robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kinetic plus potential energy at every tenth record [J]."""
    data = robot.model.createData()
    states = zip(q[::10], v[::10], strict=True)
    return np.array(
        [
            kinetic_energy(robot, q, v) + pin.computePotentialEnergy(robot.model, data, q)
            for q, v in states
        ]
    )


def test_loops_do_not_drift(swinging):
    """Below a millionth of the shortest link, and no larger at the end than at first."""
    for run in swinging[1].values():
        errors = run.data.constraint_error.values[0, :, 0]
        assert errors.max() < 1e-6 * CRANK
        assert errors[-2000:].max() < 1.5 * errors[:2000].max()


def test_a_four_bar_keeps_its_energy(swinging):
    """Under rk4 to 1e-6 J of the 1.4 J that swing, under the symplectic step to 1e-4 J.

    The latter's velocities are those of the middle of the last step, so that the mean of two of
    them is that at the time of the coordinates between.
    """
    robot, runs = swinging
    largest = {}
    for name, run in runs.items():
        q, v = run.data.q.values[0], run.data.v.values[0]
        if name == "symplectic":
            q, v = q[:-1], (v[:-1] + v[1:]) / 2
        found = energies(robot, q, v)
        largest[name] = np.abs(found - found[0]).max()
        assert np.ptp(q[:, 0]) > 1  # it swings
    assert largest["rk4"] < 1e-6  # 1e-7 measured
    assert largest["symplectic"] < 1e-4  # 3e-5 measured; 0.023 with forces of half a step before


def test_a_four_bar_above_rigid_ground_keeps_its_energy(swinging):
    """While nothing touches, coupled contacts change nothing of the motion, to rounding; on the
    ground the velocities are taken as they are.
    """
    robot, runs = swinging
    tip = hs.Point("tip", robot.body("rod"), np.array([ROD, 0, 0]))
    scene = hs.Scene(replace(robot, points=(tip,)), hs.Plane(hs.Rigid()))
    sim = hs.Simulator(scene, dt=1e-3)
    q = runs["symplectic"].data.q.values[0]
    data = sim.run(2.0, q0=q[0], record=["q", "depth"]).data
    assert float(data.depth.max()) < 0
    assert np.ptp(q[:2001, 0]) > 1
    # rounding grows as the motion diverges; 1e-12 measured, 1e-2 with forces of half a step before
    np.testing.assert_allclose(data.q.values[0], q[:2001], atol=1e-9)
    assert sim.state["half step"].any()
    low = replace(robot, points=(replace(tip, radius=2.0),))  # it touches at once
    sim = hs.Simulator(hs.Scene(low, hs.Plane(hs.Rigid())), dt=1e-3)
    sim.run(0.01, q0=q[0], record="final", check=False)
    assert sim.observe("touching")["touching"].all()
    assert not sim.state["half step"].any()


def free_box(name: str, x: float) -> str:
    return f"""<body name="{name}" pos="{x} 0 0.5"><freejoint name="{name}"/>
      <geom name="{name}" type="box" size=".1 .08 .05" mass="1"/></body>"""


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(hs.Rigid(), marks=pytest.mark.nightly),
        hs.Elastic(hs.LinearSpring(k=2e4, c=100)),
    ],
)
def test_two_welded_boxes_are_one_body(law):
    """They fall on a corner like the box of their size and mass, whose inertia is exact."""
    one = mechanisms.robot_of(
        """<worldbody><body name="one" pos="0 0 .5"><freejoint/>
        <geom name="a" type="box" size=".1 .08 .05" pos="-.1 0 0" mass="1"/>
        <geom name="b" type="box" size=".1 .08 .05" pos=".1 0 0" mass="1"/></body></worldbody>"""
    )
    pair = mechanisms.robot_of(
        f"<worldbody>{free_box('a', -0.1)}{free_box('b', 0.1)}</worldbody>"
        "<contact><exclude body1='a' body2='b'/></contact>"
    )
    middle = np.array([0.1, 0, 0])
    pair = pair.with_constraints(Weld("weld", 0, np.eye(3), middle, 1, np.eye(3), -middle))
    turn = pin.exp3(np.array([0.3, 0.5, 0.2]))
    quaternion = pin.Quaternion(turn).coeffs()
    spin, speed = np.array([0.5, 0.3, -0.4]), np.array([0.4, 0.2, 0.0])

    def placed(offset):
        q = np.concatenate([[0, 0, 0.4] + turn @ offset, quaternion])
        return q, np.concatenate([speed + np.cross(spin, offset), spin])

    ends = []
    for robot, offsets in ((one, [np.zeros(3)]), (pair, [-middle, middle])):
        q, v = (np.concatenate(x) for x in zip(*map(placed, offsets), strict=True))
        sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=5e-4)
        run = sim.run(0.45, q0=q, v0=v)
        assert float(run.data.normal_force.sum("point").max()) > 5 * 2 * G
        place = pin.XYZQUATToSE3(run.data.q.values[0, -1, :7])
        ends.append((place.act(-offsets[0]), place.rotation))
    # a lone body keeps its spin's energy by a step of its own; boxes in a weld do not
    np.testing.assert_allclose(ends[1][0], ends[0][0], atol=2e-4)
    np.testing.assert_allclose(ends[1][1], ends[0][1], atol=2e-3)


@pytest.mark.parametrize("law", [hs.Rigid(), hs.Elastic(hs.LinearSpring(k=2e4, c=100))])
def test_a_leg_closed_by_a_point_is_the_leg_closed_by_couplings(law):
    """Two sets of rows of one mechanism, through its landing: rounds are as many too."""
    ends = []
    for coupled in (True, False):
        robot = mechanisms.parallelogram(coupled)
        q = robot.pose("zero")
        q[2], q[7:] = 0.45, [0.5, -0.5, 0.5]
        sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=1e-3)
        run = sim.run(0.25, q0=q, v0=[0.3, 0, 0, 0.2, 0.1, 0.3, 0, 0, 0])
        assert float(run.data.normal_force.max()) > 50
        assert float(run.data.constraint_error.max()) < 1e-6
        ends.append(run.data)
    # passes of the contact solver end at 7e-7 of the speed; 4e-9 measured, without them 1e-12
    limit = 1e-7 if law.couples else 1e-9
    for name in ("q", "v"):
        np.testing.assert_allclose(ends[1][name], ends[0][name], rtol=0, atol=limit)
    if "solver_rounds" in ends[0]:
        assert float(ends[1].solver_rounds.mean()) < 1.1 * float(ends[0].solver_rounds.mean())


def test_the_world_carries_the_weight():
    """A five-bar leg whose trunk is welded to the world comes to rest under its servos."""
    robot = mechanisms.five_bar_leg()
    q = robot.pose("stand")
    trunk = Weld("trunk", 0, np.eye(3), np.zeros(3), WORLD, np.eye(3), q[:3])
    robot = robot.with_constraints(trunk)
    servo = hs.Servo(kp={"front thigh": 500.0, "back thigh": 500.0}, kd=5.0)
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, control=servo)
    last = sim.run(3.0, q0=q).data.isel(world=0, time=-1)
    assert np.abs(last.v).max() < 1e-6
    forces = dict(zip(last.constraint_row.values, last.constraint_force.values, strict=True))
    assert forces["trunk.z"] == pytest.approx(robot.mass * G, rel=1e-9)
    assert abs(forces["trunk.x"]) < 1e-6
    assert last.constraint_error.values.max() < 1e-9


def test_a_ball_joint_is_a_joint_or_a_constraint():
    """A pendulum on a spherical joint, and a free body that is held at a point of the world."""
    geom = '<geom type="box" size=".05 .08 .2" pos="0 0 -.3" mass="2"/>'
    tree = mechanisms.robot_of(
        f'<worldbody><body pos="0 0 1"><joint type="ball"/>{geom}</body></worldbody>', points=[]
    )
    free = mechanisms.robot_of(
        f'<worldbody><body pos="0 0 1"><freejoint/>{geom}</body></worldbody>', points=[]
    )
    hold = Connect("hold", 0, np.zeros(3), WORLD, np.array([0, 0, 1.0]))
    free = free.with_constraints(hold)
    quaternion = pin.Quaternion(pin.exp3(np.array([0.8, 0.2, 0.1]))).coeffs()
    spin = np.array([0.3, 0.5, 1.0])
    runs = []
    for robot, q, v in (
        (tree, quaternion, spin),
        (free, np.concatenate([[0, 0, 1], quaternion]), np.concatenate([np.zeros(3), spin])),
    ):
        sim = hs.Simulator(hs.Scene(robot), dt=1e-3, integrator="rk4")
        runs.append(sim.run(2.0, q0=q, v0=v).data)
    # rk4 at 1 ms; 1e-9 measured
    np.testing.assert_allclose(runs[1].q.values[0, -1, 3:], runs[0].q.values[0, -1], atol=1e-7)


def test_loops_keep_momentum():
    """A five-bar leg in the air, driven from inside: linear and angular momentum are constant."""
    robot = mechanisms.five_bar_leg()
    q, v, _ = mechanisms.moving(robot, robot.pose("stand"), 3)
    sim = hs.Simulator(
        hs.Scene(robot, gravity=(0.0, 0.0, 0.0)),
        dt=1e-3,
        control=hs.Servo(kp={"front thigh": 20.0}, kd=0.1),
    )
    run = sim.run(0.5, q0=q, v0=v)
    data = robot.model.createData()
    momenta = []
    for q, v in zip(run.data.q.values[0], run.data.v.values[0], strict=True):
        pin.computeCentroidalMomentum(robot.model, data, q, v)
        momenta.append(data.hg.vector.copy())
    assert np.abs(np.array(momenta) - momenta[1]).max() < 1e-11
    assert float(run.data.constraint_error.max()) < 1e-6


def test_a_mechanism_that_is_not_quite_planar_swings_like_a_planar_one():
    """Axes 1e-5 rad off, and pins 1e-5 m apart across the plane, as files with few digits have.

    No motion closes the pins; the row across the plane is nearly redundant, and is left alone.
    """
    ends = []
    for off in (0.0, 1e-5):
        robot = mechanisms.four_bar(tilt=off)
        (pin_,) = robot.constraints
        moved = replace(pin_, point=pin_.point + np.array([0, off, 0]))
        robot = replace(robot, constraints=(moved,))
        q = mechanisms.four_bar().close(np.array([0.3, -1.0, -1.2]))
        sim = hs.Simulator(hs.Scene(replace(robot, poses={"start": q})), dt=1e-3)
        ends.append(sim.run(1.0).data.q.values[0])
    assert np.ptp(ends[0][:, 0]) > 1
    # the row resists with 4 x / mu, 4e-4 of what would lock it; 1.1e-3 rad measured after a second
    assert np.abs(ends[1] - ends[0]).max() < 2e-3


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("law", "dt"),
    [
        (hs.Rigid(), 1e-3),
        (hs.Elastic(hs.LinearSpring(k=4e5, c=3e3), hs.Coulomb(), implicit=True), 1e-3),
        (
            hs.Elastic(hs.HuntCrossley(k=1.6e5, alpha=2.5), hs.Bristle(0.8, 0.6, 1.6e5, 480)),
            5e-4,
        ),
    ],
    ids=["Rigid", "implicit", "explicit"],
)
def test_cassie_stands(law, dt):
    """Under servos at its motors: at rest the ground carries its weight, and loops are closed."""
    robot = mechanisms.load_quietly(data_file("robots/cassie.xml"), collide="feet")
    q = robot.close(robot.pose("home"), hold=(robot.joints[0].name,))
    q[2] -= lowest_height(robot, q)
    reference = q.copy()
    kp, kd = {}, {}
    for joint in robot.joints:
        side, _, name = joint.name.partition("-")
        if side in ("left", "right") and name in ("hip-roll", "hip-yaw", "hip-pitch", "knee"):
            kp[joint.name], kd[joint.name] = 3000.0, 60.0
        elif name == "foot":
            kp[joint.name], kd[joint.name] = 1000.0, 40.0
            reference[joint.iq] -= 0.02  # springs yield, and the trunk would lean forward
    servo = hs.Servo(kp=kp, kd=kd, reference=reference)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law)), dt=dt, control=servo)
    run = sim.run(6.0, q0=q).data
    last = run.isel(world=0, time=-1)
    assert float(np.abs(last.v).max()) < 0.02
    assert float(last.normal_force.sum()) == pytest.approx(robot.mass * G, rel=1e-2)
    assert float(run.constraint_error.max()) < 1e-7
    assert float(last.constraint_error.max()) < 1e-12


def test_a_tendon_over_three_joints(tmp_path):
    """Sliders whose coordinates sum up to a constant, with factors 1, 2 and -1: Lagrange's y.

    With masses m and forces f along them, m a = f + y c and c . a = 0: y = -c.(f/m) / c.(c/m).
    """
    c, m, f = np.array([1.0, 2, -1]), np.array([1.0, 2, 3]), np.array([0.0, -2 * G, 0])
    body = """<body name="{0}" pos="0 {3} 0"><joint name="{0}" type="slide" axis="{1}"/>
      <geom size=".1" mass="{2}"/></body>"""
    parts = zip("abc", ("1 0 0", "0 0 1", "1 0 0"), m, range(3), strict=True)
    bodies = "".join(body.format(*part) for part in parts)
    arms = "".join(f'<joint joint="{n}" coef="{x}"/>' for n, x in zip("abc", c, strict=True))
    path = tmp_path / "three.xml"
    path.write_text(
        f'<mujoco><worldbody>{bodies}</worldbody><tendon><fixed name="t">{arms}</fixed></tendon>'
        '<equality><tendon tendon1="t"/></equality></mujoco>'
    )
    robot = hs.load(path)
    assert not robot.fidelity
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3, control=None)
    data = sim.run(0.5, q0=np.zeros(3)).data.isel(world=0)
    y = -(c @ (f / m)) / (c @ (c / m))
    assert np.abs(data.v.values[-1] - 0.5 * (f + y * c) / m).max() < 1e-9
    assert float(data.constraint_error.max()) < 1e-12
    assert robot.close(np.array([1.0, 1.0, 1.0])) @ c == pytest.approx(0, abs=1e-9)


def test_a_leg_with_a_loop_has_the_same_bits_alone_and_in_a_batch():
    """It flies, lands and stands in one of seven worlds; forces of constraints are recorded."""
    robot = mechanisms.five_bar_leg()
    q = robot.pose("stand")
    scene = hs.Scene(robot, hs.Plane(hs.Rigid()))
    ends = []
    for worlds in (1, 7):
        sim = hs.Simulator(scene, control=hs.Servo(kp=50.0, kd=1.0, reference=q), worlds=worlds)
        starts = np.tile(q, (worlds, 1))
        starts[:, 2] += np.linspace(0.02, 0.3, worlds) - lowest_height(robot, q)
        record = ["q", "v", "constraint_force", "normal_force"]
        ends.append(sim.run(0.2, q0=starts, record=record).data.isel(world=0))
    assert float(ends[0].normal_force.max()) > 10
    for name, values in ends[0].items():
        np.testing.assert_array_equal(values, ends[1][name], err_msg=str(name))
