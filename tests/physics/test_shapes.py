"""Motion on balls, stairs and belts, points of the world, and bodies with a law of their own.

Oracles: a body that slides off a ball leaves it where cos(theta) = 2/3 cos(theta_0), a solid ball
that rolls off where it is 10/17 (energy, and N = 0); friction carries a box at v = mu g t to the
speed of its belt; momentum of two free bodies; the impulse J = m v / (1 + m b^2 / I) of a vertex
that meets a face off its middle by b; statics.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs

G = 9.81
HOLD = hs.Coulomb(mu_s=0.8, mu_k=0.6)
SPRING = hs.LinearSpring(k=2e4, c=100)
LAWS = {
    "rigid": hs.Rigid(friction=HOLD),
    "explicit": hs.Elastic(SPRING, hs.Bristle(mu_s=0.8, mu_k=0.6)),
    "micro-macro": hs.MicroMacro(
        hs.Elastic(hs.LinearSpring(k=1e4, c=50), hs.Kinetic(mu=0.6)),
        hs.Rigid(friction=HOLD),
        thickness=1e-4,
    ),
    "implicit": hs.Elastic(hs.LinearSpring(k=1e5, c=50), HOLD, implicit=True),
}
SOME = pytest.mark.parametrize(
    "law",
    [
        "rigid",
        "explicit",
        pytest.param("micro-macro", marks=pytest.mark.nightly),
        pytest.param("implicit", marks=pytest.mark.nightly),
    ],
)
BALL = 0.05
"""Radius of the bundled ball [m], of 1 kg and 1e-3 kg m^2."""


def shapes(law):
    """Far apart along x, and where a ball may lie on each."""
    x = np.linspace(-0.5, 0.5, 6)
    surfaces = [
        hs.Box(law, "box", point=(-8, 0, -0.5)),
        hs.Sphere(law, "sphere", point=(-4, 0, -0.3), radius=0.3),
        hs.Stairs(law, "stairs"),
        hs.HeightField(
            law, "bowl", point=(4, 0, 0), heights=x[:, None] ** 2 + x**2, outside="none"
        ),
        hs.Treadmill(law, "belt", point=(8, 0, 0), speed=0.0),
        hs.Capsule(law, "rod", point=(12, 0, -0.1), radius=0.1, axis=(1, 1, 0)),
    ]
    places = [(-8, 0, 0), (-4, 0, 0), (0.15, 0, 0.17), (4, 0, 0.02), (8, 0, 0), (12, 0, 0)]
    return surfaces, np.array(places)


@SOME
def test_a_ball_rests_on_every_shape_under_every_law(law):
    surfaces, places = shapes(LAWS[law])
    sim = hs.Simulator(hs.Scene(hs.load("ball"), *surfaces))
    q0 = np.tile([0, 0, 0, 0, 0, 0, 1.0], (6, 1))
    q0[:, :3] = places + np.array([0, 0, BALL + 1e-4])
    data = sim.run(0.6, worlds=6, q0=q0, record=("q", "v", "normal_force")).data
    on = data.normal_force.values[:, -1]
    assert np.abs(data.v.values[:, -1]).max() < 1e-5
    assert on.sum(axis=1) == pytest.approx(G, rel=1e-5)
    carries = data.surface.values[on.argmax(axis=1)]
    assert carries.tolist() == ["box", "sphere", "stairs", "bowl", "belt", "rod"]
    # springs of 2e4 N/m give way by 0.5 mm
    assert np.abs(data.q.values[:, -1, :3] - places - [0, 0, BALL]).max() < 6e-4


@cache
def ball_on_ball(law):
    return hs.Simulator(hs.Scene(hs.load("ball"), hs.Sphere(law, radius=0.45)), dt=5e-4)


@pytest.mark.parametrize(
    ("law", "share", "within"),
    [
        # a rigid ball is followed; steps of 0.5 ms at 2 m/s are 1 mm of 0.45 m
        (hs.Rigid(friction=hs.Coulomb(0, 0)), 2 / 3, 2e-3),
        # of the spring's depth, 0.5 mm, and its damping
        (hs.Elastic(hs.LinearSpring(k=5e4, c=200), None), 2 / 3, 3e-3),
        (hs.Elastic(hs.LinearSpring(k=5e4, c=200), hs.Bristle(50, 50)), 10 / 17, 3e-3),
    ],
    ids=["rigid slides", "elastic slides", "elastic rolls"],
)
def test_a_ball_leaves_a_ball_at_the_classical_angle(law, share, within):
    far, tilt = 0.5 - 1e-9, 0.1
    start = [far * np.sin(tilt), 0, far * np.cos(tilt), 0, 0, 0, 1]
    data = ball_on_ball(law).run(1.0, q0=start, record=("q", "normal_force", "touching")).data
    loaded = data.normal_force.values[0, :, 0] != 0
    last = np.flatnonzero(loaded)[-1]
    assert data.touching.values[0, loaded].all()
    assert 0.5 < last * 5e-4 < 0.9
    place = data.q.values[0, last, :3]
    assert place[2] / np.linalg.norm(place) / np.cos(tilt) == pytest.approx(share, abs=within)


@cache
def rolling(ground):
    law = LAWS["explicit"]
    surface = hs.Plane(law) if ground == "plane" else hs.HeightField(law, size=(9, 9))
    return hs.Simulator(hs.Scene(hs.load("ball"), surface))


@pytest.mark.parametrize("ground", ["plane", "field"])
def test_a_bristle_lets_a_ball_roll(ground):
    """Its anchor is on the ball's skin as well: what rolls without slip is not held."""
    q0, v0 = [0, 0, BALL - 4.905e-4, 0, 0, 0, 1], [1, 0, 0, 0, 1 / BALL, 0]
    data = rolling(ground).run(1.0, q0=q0, v0=v0, record=("q", "kinetic")).data
    # the spring's depth shortens the lever: 1 % slip at first, 2/7 of that is lost
    assert data.q.values[0, -1, 0] == pytest.approx(1.0, rel=5e-3)
    assert data.kinetic.values[0, -1] == pytest.approx(0.5 * 1.4, rel=0.01)


@pytest.mark.parametrize("law", ["rigid", "explicit"])
def test_a_ball_comes_down_stairs(law):
    """From the top it rolls on, falls from step to step, and is caught by none."""
    stairs = hs.Stairs(LAWS[law], "stairs", rise=0.1, run=0.2, count=4, width=1)
    floor = hs.Plane(LAWS[law], "floor")
    sim = hs.Simulator(hs.Scene(hs.load("ball"), stairs, floor))
    names = ("q", "v", "normal_force", "kinetic", "potential")
    speeds = -np.array([0.3, 0.5, 0.8, 1.2])
    v0 = np.zeros((4, 6))
    v0[:, 0], v0[:, 4] = speeds, speeds / BALL
    data = sim.run(4.0, worlds=4, q0=[0.7, 0, 0.4 + BALL, 0, 0, 0, 1], v0=v0, record=names).data
    x, z = data.q.values[..., 0], data.q.values[..., 2]
    assert (np.diff(x, axis=1) < 0).all()  # always onward
    assert (x[:, -1] < -0.3).all()
    assert z[:, -1] == pytest.approx(BALL, abs=2e-3)  # a rigid floor stops it up to v dt inside
    energy = (data.kinetic + data.potential).values
    assert (energy[:, -1] < energy[:, 0] - 3).all()  # 10 N of weight came down by 0.4 m
    assert (energy.max(axis=1) < energy[:, 0] + 1e-2).all()
    for step in range(4):  # no lower than the tread below it
        over = (x > 0.2 * step) & (x < 0.2 * (step + 1))
        assert z[over].min() > 0.1 * (step + 1) + BALL - 0.01


def test_a_point_in_an_inner_corner_is_held_by_tread_and_riser():
    """A cube pushed against a riser: the tread carries its weight, the riser the push."""
    half = 0.0524
    corners = [(x, y, -half) for x in (-half, half) for y in (-half, half)]
    cube = hs.load("cube", points=[("cube", corner) for corner in corners])
    slick = hs.Elastic(hs.LinearSpring(k=5e3, c=30), None)
    sim = hs.Simulator(hs.Scene(cube, hs.Stairs(slick, rise=0.2, run=0.4)))
    sim.push("cube", [1.0, 0, 0], duration=9.0, point=(0, 0, -half))
    data = sim.run(3.0, q0=[0.4 - half - 0.01, 0, 0.2 + half, 0, 0, 0, 1]).data
    force = data.body_force.values[0, -1, 0]
    assert force == pytest.approx([-1.0, 0, 0.37 * G], abs=1e-3)
    assert np.abs(data.v.values[0, -1]).max() < 1e-3
    assert data.depth.values.max() < 1e-2


@pytest.mark.parametrize("law", [pytest.param("rigid", marks=pytest.mark.nightly), "explicit"])
def test_a_robot_stands_on_a_tread(law):
    robot = hs.load("hoap1", collide="feet")
    start = robot.pose("stance")
    start[2] += 0.15
    stairs = hs.Stairs(LAWS[law], "stairs", point=(-0.2, 0, 0), rise=0.15, run=0.4, risers=False)
    data = (
        hs.Simulator(hs.Scene(robot, stairs), control=hs.Servo())
        .run(1.0, q0=start, record=("normal_force", "com"))
        .data
    )
    assert data.normal_force.values[0, -1].sum() == pytest.approx(5 * G, rel=0.01)
    assert data.com.values[0, -1, 2] == pytest.approx(data.com.values[0, 0, 2], abs=5e-3)


@pytest.mark.parametrize(
    "law",
    [hs.Rigid(friction=hs.Coulomb(0.3, 0.3)), hs.Elastic(SPRING, hs.Bristle(0.3, 0.3))],
    ids=["rigid", "explicit"],
)
def test_a_belt_carries_a_box_to_its_speed(law):
    """v = mu g t until the belt's speed, and with it from then on; along a slanting direction."""
    belt = hs.Treadmill(law, "belt", speed=1.0, direction=(3, 4), size=(9, 9, 0.2))
    sim = hs.Simulator(hs.Scene(hs.load("brick"), belt))
    start = sim.robot.pose("stance")
    data = sim.run(0.8, q0=start, record=("q", "v", "slip")).data
    time, v = data.time.values, data.v.values[0, :, :3]
    along = v[:, :2] @ [0.6, 0.8]
    expected = np.minimum(0.3 * G * time, 1.0)
    # rigid: it touches after the first step, mu g dt; elastic: it first settles onto its springs
    assert np.abs(along - expected).max() < (3e-3 if isinstance(law, hs.Rigid) else 0.03)
    assert along[-1] == pytest.approx(1.0, abs=1e-3)
    sim.parameters["belt.speed"] = 0.0
    assert np.abs(sim.run(0.8, record=("v",)).data.v.values[0, -1]).max() < 1e-3


@pytest.mark.parametrize("law", ["rigid", "explicit"])
def test_balls_that_meet_keep_their_momentum(law):
    """Off centre, with spin and friction: a surface on one, a point with a radius on the other."""
    two = hs.combine({"one": hs.load("ball"), "other": hs.load("ball")})
    skin = hs.Sphere(LAWS[law], "skin", body="one/ball", radius=BALL)
    sim = hs.Simulator(hs.Scene(two, skin, gravity=0))
    q0 = [-0.1, 0, 0, 0, 0, 0, 1, 0.1, 0.03, 0.01, 0, 0, 0, 1]
    data = sim.run(0.2, q0=q0, v0=[1, 0, 0, 3, 2, 1, -1, 0, 0, 0, 5, 0], record=("q", "v")).data
    q, v = data.q.values[0], data.v.values[0]
    linear, angular = np.zeros((len(q), 3)), np.zeros((len(q), 3))
    for k in (0, 1):
        turn = _matrices(q[:, 7 * k + 3 : 7 * k + 7])
        speed = np.einsum("nij,nj->ni", turn, v[:, 6 * k : 6 * k + 3])
        spin = np.einsum("nij,nj->ni", turn, v[:, 6 * k + 3 : 6 * k + 6])
        linear += speed
        angular += 1e-3 * spin + np.cross(q[:, 7 * k : 7 * k + 3], speed)
    assert np.abs(v[-1, :3] - v[0, :3]).max() > 0.3  # they met
    assert np.abs(linear - linear[0]).max() < 1e-12
    assert np.abs(angular - angular[0]).max() < 1e-12


def _matrices(quaternions):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternions).as_matrix()


def test_a_vertex_of_the_world_meets_a_face_of_the_robot():
    """A cube without points of its own falls on a corner of the world, off its middle by b."""
    half, mass, inertia, b, speed = 0.0524, 0.37, 8.1e-4, 0.02, 1.0
    cube = hs.load("cube", points=[])
    face = hs.Box(hs.Rigid(friction=hs.Coulomb(0, 0)), "face", body="cube", size=(2 * half,) * 3)
    sim = hs.Simulator(hs.Scene(cube, face, gravity=0, points=[(b, 0, 0)]))
    start = {"q0": [0, 0, half + 0.005, 0, 0, 0, 1], "v0": [0, 0, -speed, 0, 0, 0]}
    data = sim.run(0.007, **start).data
    impulse = mass * speed / (1 + mass * b**2 / inertia)
    before = np.flatnonzero(data.v.values[0, :, 4])[0] - 1
    v = data.v.values[0, before + 1]  # after the step of the impact
    assert v[2] == pytest.approx(impulse / mass - speed, rel=1e-3)
    assert v[4] == pytest.approx(-impulse * b / inertia, rel=1e-3)
    force = data.force.values[0, before, 0]  # on the vertex
    assert force * 1e-3 == pytest.approx([0, 0, -impulse], rel=1e-3, abs=1e-6)
    assert data.point_body.values.tolist() == ["world"]


@pytest.mark.parametrize(
    "law",
    [
        hs.Rigid(friction=HOLD),
        hs.Elastic(hs.LinearSpring(k=2e3, c=8, damping="both"), hs.Bristle(k_t=2e3, c_t=8)),
    ],
    ids=["rigid", "explicit"],
)
def test_a_plate_stands_on_four_points_of_the_world(law):
    half = 0.0524
    feet = [(x, y, 0) for x in (-0.04, 0.04) for y in (-0.04, 0.04)]
    face = hs.Box(law, "face", body="cube", size=(2 * half,) * 3)
    sim = hs.Simulator(hs.Scene(hs.load("cube", points=[]), face, points=feet))
    data = sim.run(1.0, q0=[0.01, 0, half, 0, 0, 0, 1]).data
    assert data.body_force.values[0, -1, 0] == pytest.approx([0, 0, 0.37 * G], abs=1e-4)
    # springs let the plate tilt by 3 mrad: its middle, 52 mm up, moves by 0.15 mm
    assert data.zmp.values[0, -1, :2] == pytest.approx([0.01, 0], abs=2e-4)
    assert np.abs(data.v.values[0, -1]).max() < 1e-4


def test_a_body_carries_its_law():
    """A soft ball and a hard one on one floor; on ice the soft one has a law for that alone."""
    two = hs.combine({"soft": hs.load("ball"), "hard": hs.load("ball")})
    wide = {"size": (9, 9, 1), "faces": "+z"}
    firm = hs.Elastic(hs.LinearSpring(k=1e5, c=300), None)
    floor = hs.Box(firm, "floor", point=(0, 0, -0.5), **wide)
    ice = hs.Box(hs.Rigid(), "ice", point=(9, 0, -0.5), **wide)
    rubber = {
        "soft/ball": hs.Elastic(hs.LinearSpring(k=1e3, c=50), None),
        "soft/ball on ice": hs.Elastic(hs.LinearSpring(k=4e3, c=100), None),
    }
    sim = hs.Simulator(hs.Scene(two, floor, ice, materials=rubber))
    q0 = np.array([[x, 0, BALL, 0, 0, 0, 1, x, 1, BALL, 0, 0, 0, 1] for x in (0, 0, 9)])
    vary = {"soft/ball.normal.k": [1e3, 2e3, 1e3]}
    run = sim.run(2.0, worlds=3, q0=q0, vary=vary)
    sunk = BALL - run.data.q.values[:, -1, [2, 9]]
    weight = G * 1.0
    assert sunk[:, 0] == pytest.approx(weight / np.array([1e3, 2e3, 4e3]), rel=1e-4)
    assert sunk[:2, 1] == pytest.approx(weight / 1e5, rel=1e-4)
    assert run.info["laws"].keys() == {"floor", "ice", "soft/ball", "soft/ball on ice"}
    assert "soft/ball on ice" in run.data.point_law.values
    with pytest.raises(hs.HeelstrikeError, match="k is -1"):
        sim.parameters["soft/ball.normal.k"] = -1.0
