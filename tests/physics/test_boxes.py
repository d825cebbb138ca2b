"""Boxes that stand in the world, ride on bodies and lie side by side.

Oracles: the distance to each face's rectangle, by clamping; statics (forces carry the weight and
turn nothing); momentum, which two bodies without gravity keep whatever law acts between them, and
two equal bodies that meet along a line swap or share.

Cubes have the same inertia about every axis, so that the step keeps their angular momentum to
rounding while they turn freely, and what is lost is lost at the contact.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from benchmarks.tower import HALF, WIDTH, heaped, tower
from heelstrike.scene.surfaces import FACES

G = 9.81
MASS, INERTIA = 0.37, 8.1e-4
SQUARE = [(x, y) for x in (-HALF, HALF) for y in (-HALF, HALF)]
HOLD = hs.Coulomb(mu_s=0.8, mu_k=0.6)
LAWS = {
    "rigid": hs.Rigid(friction=HOLD),
    "micro-macro": hs.MicroMacro(
        hs.Elastic(hs.LinearSpring(k=1e3, c=5), hs.Kinetic(mu=0.5)),
        hs.Rigid(friction=HOLD),
        thickness=1e-4,
    ),
    "implicit": hs.Elastic(hs.LinearSpring(k=1e5, c=50), HOLD, implicit=True),
    "explicit": hs.Elastic(hs.LinearSpring(k=2e3, c=8, damping="both"), hs.Bristle(k_t=2e3, c_t=8)),
}


def met(box, places):
    """Depths and axes at places, (n), (n, 3, 3)."""
    place = ca.SX.sym("place", 3)
    depth, axes = box.depth_and_axes(place)
    found = ca.Function("meet", [place], [depth, ca.vec(axes.T)])(np.asarray(places, float).T)
    return np.array(found[0]).ravel(), np.array(found[1]).T.reshape(-1, 3, 3)


def behind(box, face, places):
    """How far places are behind a face's plane, and whether they are over the face."""
    k, sign = "xyz".index(face[1]), 1 if face[0] == "+" else -1
    offset = places - np.asarray(box.point)
    over = np.abs(offset) <= np.asarray(box.size) / 2
    return box.size[k] / 2 - sign * offset[:, k], np.delete(over, k, axis=1).all(axis=1)


def distances(box, face, places):
    """To the rectangle of a face."""
    low, high = (np.asarray(box.point) + s * np.asarray(box.size) / 2 for s in (-1, 1))
    k = "xyz".index(face[1])
    low[k] = high[k] = (high if face[0] == "+" else low)[k]
    return np.linalg.norm(places - np.clip(places, low, high), axis=1)


@pytest.fixture
def places():
    return np.random.default_rng(0).uniform((-0.2, -3.2, -0.7), (2.2, -0.8, 1.7), (20_000, 3))


def test_depth_is_the_distance_to_the_nearest_face(places):
    box = hs.Box(point=(1, -2, 0.5), size=(2, 1, 0.7))
    depth, axes = met(box, places)
    inside = np.all(np.abs(places - box.point) < np.asarray(box.size) / 2, axis=1)
    assert 1000 < inside.sum() < 19_000
    assert ((depth > 0) == inside).all()
    each = np.array([distances(box, face, places) for face in FACES])
    assert np.allclose(depth[inside], each[:, inside].min(axis=0), atol=1e-14)
    # outside it is the distance over a face; beside an edge, less: faces do not end there
    over = np.any([behind(box, face, places)[1] for face in FACES], axis=0) & ~inside
    assert np.allclose(-depth[over], each[:, over].min(axis=0), atol=1e-14)
    assert (-depth[~inside] <= each[:, ~inside].min(axis=0) + 1e-14).all()
    normals = np.array([_normal(face) for face in FACES])[each[:, inside].argmin(axis=0)]
    assert (axes[inside, 2] == normals).all()
    assert np.allclose(axes @ axes.transpose(0, 2, 1), np.eye(3), atol=1e-15)
    assert np.allclose(np.linalg.det(axes), 1)


def _normal(face):
    return (1.0 if face[0] == "+" else -1.0) * np.eye(3)["xyz".index(face[1])]


@pytest.mark.parametrize("faces", [("+z",), ("+z", "-x"), ("-y", "+y"), FACES[:5]])
def test_open_faces_end_the_box_and_never_push(places, faces):
    box = hs.Box(point=(1, -2, 0.5), size=(2, 1, 0.7), faces=faces)
    depth, axes = met(box, places)
    inside = np.all(np.abs(places - box.point) < np.asarray(box.size) / 2, axis=1)
    assert ((depth > 0) == inside).all()
    each = np.array([behind(box, face, places)[0] for face in faces])
    assert np.allclose(depth[inside], each[:, inside].min(axis=0), atol=1e-14)
    normals = np.array([_normal(face) for face in faces])[each[:, inside].argmin(axis=0)]
    assert (axes[inside, 2] == normals).all()


def test_edges_corners_and_the_middle_are_finite():
    """Where faces are equally near, one of them says the normal."""
    sums = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T / 2
    depth, axes = met(hs.Box(), sums)
    assert (depth == np.where(np.abs(sums).max(axis=1) > 0, 0, 0.5)).all()
    assert np.allclose(np.linalg.det(axes), 1)


@cache
def cube(*corners):
    return hs.load("cube", points=[("cube", corner) for corner in corners])


@cache
def cube_on_box(law):
    box = hs.Box(LAWS[law], name="box", point=(0, 0, -0.1), size=(0.6, 0.6, 0.2))
    return hs.Simulator(hs.Scene(cube(*[(x, y, -HALF) for x, y in SQUARE]), box))


def put_on(law, duration, **box):
    """A cube a micrometre inside the top of a box."""
    start = {"q0": [0, 0, HALF - 1e-6, 0, 0, 0, 1], "vary": {f"box.{k}": box[k] for k in box}}
    return cube_on_box(law).run(duration, record=("com", "com_velocity", "force"), **start).data


@pytest.mark.parametrize("law", ["rigid", "explicit"])
def test_corner_on_an_edge_is_finite(law):
    """A cube whose four corners are on a pillar's edges is held or falls, and nothing breaks."""
    data = put_on(law, 0.3, size=(WIDTH, WIDTH, 0.2), velocity=(0, 0, 0))
    assert data.failed.item() == -1
    assert np.isfinite(data.force.values).all()
    assert np.abs(data.force.values).max() < 100 * MASS * G


@pytest.mark.parametrize("law", ["rigid", "explicit"])
def test_belt_on_a_box_carries_a_cube(law):
    """A box's material moves and the box stays: the cube takes its speed, and leaves at its end."""
    data = put_on(law, 1.0, size=(0.6, 0.6, 0.2), velocity=(0.3, 0.4, 0))
    speed = data.com_velocity.values[0]
    # it slides for v / (mu_k g); the explicit cube still rocks a little then
    assert np.abs(speed[350, :2] - [0.3, 0.4]).max() < (1e-6 if law == "rigid" else 1e-3)
    assert data.com.values[0, -1, 2] < -HALF
    assert np.isfinite(data.com.values).all()


def test_one_foot_on_rubber_steel_and_a_membrane():
    """Two corners on rubber, one on steel, one on a membrane: what they carry is the weight, and
    has no moment about the centre of mass.
    """
    foot = hs.load(
        "box", points=[("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    )
    rubber = hs.Elastic(hs.LinearSpring(k=2e4, c=200), hs.Bristle(k_t=2e4, c_t=200))
    membrane = hs.MicroMacro(
        hs.Elastic(hs.LinearSpring(k=5e3, c=50), hs.Kinetic(mu=0.4)), LAWS["rigid"], thickness=5e-4
    )
    floor = [
        hs.Box(rubber, "rubber", point=(-1, 0, -0.5), size=(2, 2, 1), faces="+z"),
        hs.Box(LAWS["rigid"], "steel", point=(0.5, 0.5, -0.5), faces="+z"),
        hs.Box(membrane, "membrane", point=(0.5, -0.5, -0.5), faces="+z"),
    ]
    names = ("force", "normal_force", "contact_position", "com", "v", "solver_unfinished")
    data = hs.Simulator(hs.Scene(foot, *floor)).run(2.0, record=names).data
    normal = data.normal_force.isel(world=0, time=-1)
    loaded = normal.surface.values[normal.values > 0].tolist()
    assert sorted(loaded) == ["membrane", "rubber", "rubber", "steel"]
    force = data.force.values[0, -1]
    assert np.abs(force.sum(axis=0) - [0, 0, 5 * G]).max() < 1e-6
    arms = data.contact_position.values[0, -1] - data.com.values[0, -1]
    assert np.abs(np.cross(arms, force).sum(axis=0)).max() < 1e-6
    assert np.abs(data.v.values[0, -1]).max() < 1e-8
    assert data.solver_unfinished.values.sum() == 0


def momenta(q, v):
    """Linear and angular about the origin, of one cube, (..., 3) each."""
    turn = Rotation.from_quat(q[..., 3:7].reshape(-1, 4))
    speed, spin = (
        turn.apply(part.reshape(-1, 3)).reshape(part.shape) for part in (v[..., :3], v[..., 3:])
    )
    linear = MASS * speed
    return linear, INERTIA * spin + np.cross(q[..., :3], linear)


@cache
def two_cubes(law):
    """A corner of each, and a box on each."""
    parts = {"one": cube((HALF,) * 3), "other": cube((-HALF,) * 3)}
    boxes = [hs.Box(LAWS[law], key, body=f"{key}/cube", size=(WIDTH,) * 3) for key in parts]
    return hs.Simulator(hs.Scene(hs.combine(parts), *boxes, gravity=0))


def thrown(law, tilt, e=(0.0, 1.0)):
    """Cubes thrown at one another: the corner of one at a face of the other, then the reverse."""
    rng = np.random.default_rng(1)
    along = Rotation.align_vectors([[1, 0, 0]], [[1, 1, 1]])[0]
    q0, v0 = np.zeros((8, 14)), np.zeros((8, 12))
    for k in range(8):
        turned = along if k < 4 else Rotation.identity()
        other = Rotation.identity() if k < 4 else along
        for start, turn, x, ahead in ((0, turned, -0.1, 1.0), (1, other, 0.1, -0.5)):
            turn = Rotation.from_rotvec(tilt * rng.normal(size=3)) * turn
            aside = 0.1 * tilt * rng.normal(size=2)
            q0[k, 7 * start : 7 * start + 7] = [x, *aside, *turn.as_quat()]
            v0[k, 6 * start : 6 * start + 3] = turn.inv().apply([ahead, 0, 0])
            v0[k, 6 * start + 3 : 6 * start + 6] = 5 * tilt * rng.normal(size=3)
    path = {"rigid": "restitution", "micro-macro": "rigid.restitution"}.get(law)
    vary = {f"{key}.{path}": np.tile(e, 4) for key in ("one", "other")} if path else {}
    start = {"worlds": 8, "q0": q0, "v0": v0, "vary": vary}
    return two_cubes(law).run(0.15, record=("q", "v", "force"), **start).data


@pytest.mark.parametrize("law", LAWS)
def test_two_bodies_keep_their_momentum(law):
    data = thrown(law, tilt=0.1)
    q, v = data.q.values, data.v.values
    one, other = momenta(q[..., :7], v[..., :6]), momenta(q[..., 7:], v[..., 6:])
    given = np.linalg.norm(one[0] - one[0][:, :1], axis=-1).max(axis=1)
    assert (given > 0.3 * MASS).all()  # they met
    met_on = (data.force.values**2).sum(axis=(1, 3)) > 0
    assert (met_on == np.repeat([[True, False], [False, True]], 4, axis=0)).all()
    for kind, arm in ((0, 1.0), (1, WIDTH)):
        total = one[kind] + other[kind]
        assert (np.abs(total - total[:, :1]).max(axis=(1, 2)) < 1e-10 * given * arm).all()


def test_head_on_collision():
    """Equal masses along a line through both centres: e = 0 shares the speed, e = 1 swaps it."""
    data = thrown("rigid", tilt=0.0)
    q, v = data.q.values[:, -1], data.v.values[:, -1]
    one, other = (momenta(q[:, 7 * k : 7 * k + 7], v[:, 6 * k : 6 * k + 6])[0] for k in (0, 1))
    e = np.tile([0, 1], 4)
    assert np.allclose(one[:, 0] / MASS, 0.25 - 0.75 * e, atol=1e-6)
    assert np.allclose(other[:, 0] / MASS, 0.25 + 0.75 * e, atol=1e-6)


def test_inelastic_collision_gains_no_energy():
    """Without restitution, at corners off the centres, with friction: kinetic energy only falls."""
    data = thrown("rigid", tilt=0.15, e=(0.0, 0.0))
    v = data.v.values.reshape(*data.v.shape[:2], 2, 2, 3)
    energy = (v**2 @ [1, 1, 1] @ [MASS, INERTIA]).sum(axis=2) / 2
    assert (energy[:, -1] < 0.95 * energy[:, 0]).all()  # they met
    # cubes turn freely with the same energy to rounding; 2e-12 measured while they touch
    assert (np.diff(energy, axis=1) < 1e-11 * energy[:, :1]).all()


def side_by_side(*surfaces):
    """Two cubes on the ground that touch nothing else, or the surfaces."""
    corners = [(x, y, z) for x, y in SQUARE for z in (-HALF, HALF)]
    parts = {"one": cube(*corners), "other": cube(*corners)}
    return hs.Simulator(hs.Scene(hs.combine(parts), hs.Plane(LAWS["rigid"], "ground"), *surfaces))


def test_bodies_that_could_touch_change_no_bits():
    """Cubes that tumble apart have the bits that they have without a surface between them, also
    where cubes of worlds beside theirs meet.
    """
    lid = hs.Box(LAWS["rigid"], "lid", body="one/cube", size=(WIDTH, 1.2 * WIDTH, 1.2 * WIDTH))
    q0 = np.tile([0, 0, HALF - 1e-6, 0, 0, 0, 1, 1, 0, HALF - 1e-6, 0, 0, 0, 1], (8, 1))
    v0 = np.random.default_rng(0).normal(size=(8, 12))
    start = {"v0": v0, "worlds": 8, "record": ("v", "normal_force")}
    plain = side_by_side().run(0.2, q0=q0, **start).data
    sim = side_by_side(lid)
    apart = sim.run(0.2, q0=q0, **start).data
    assert (apart.v.values == plain.v.values).all()
    q0[1::2, 7], v0[1::2] = 0.11, 0
    v0[1::2, 0], v0[1::2, 6] = 1, -1
    mixed = sim.run(0.2, q0=q0, **start).data
    lids = mixed.normal_force.surface.values == "lid"
    met_at_all = mixed.normal_force.values[..., lids].max(axis=(1, 2)) > 0
    assert met_at_all.tolist() == 4 * [False, True]
    assert (mixed.v.values[::2] == plain.v.values[::2]).all()


def carried(data):
    """By the ground at the end [N]."""
    normal = data.normal_force.isel(world=0, time=-1)
    return float(normal.sel(point=normal.surface == "ground").sum())


@pytest.mark.parametrize("law", LAWS)
def test_cube_on_cube(law):
    """For 2 s, corners of either on the box of the other; the ground carries both."""
    start = heaped(2)
    sim = hs.Simulator(tower(*3 * [LAWS[law]]))
    data = sim.run(2.0, q0=start, record=("q", "v", "normal_force")).data
    # explicit springs still rock
    calm = law != "explicit"
    assert carried(data) == pytest.approx(2 * MASS * G, rel=1e-6 if calm else 1e-4)
    assert np.abs(data.v.values[0, -1]).max() < (1e-6 if calm else 2e-3)
    # springs give way, the membrane by its thickness, under either cube
    give = {"rigid": 1e-6, "micro-macro": 3e-4, "implicit": 1e-4, "explicit": 3e-3}[law]
    assert np.abs(data.q.values[0, -1] - start).max() < give


STACK = ("q", "v", "normal_force", "slip", "touching")


@pytest.mark.parametrize("ratio", [1e-6, 1.0, 1e3])
def test_mass_ratio(ratio):
    """A cube of another mass on a cube, a second: the ground carries both, and nothing creeps."""
    sim = hs.Simulator(tower(*3 * [LAWS["rigid"]]))
    masses = {"cube1/cube.mass": MASS * ratio}
    data = sim.run(1.0, q0=heaped(2), vary=masses, record=STACK).data
    assert carried(data) == pytest.approx((1 + ratio) * MASS * G, rel=1e-6)
    assert np.abs(data.v.values[0, -1]).max() < 1e-6


@pytest.mark.nightly
def test_shaken_tower_gains_no_energy():
    """Ten cubes thrown in all directions while they stand: steps at the limit of rounds too."""
    sim, worlds = hs.Simulator(tower(*11 * [LAWS["rigid"]])), 16
    v0 = 0.5 * np.random.default_rng(0).normal(size=(worlds, 60))
    start = {"q0": np.tile(heaped(10), (worlds, 1)), "v0": v0, "worlds": worlds}
    data = sim.run(0.05, record=("q", "v", "solver_unfinished", "solver_residual"), **start).data
    v = data.v.values.reshape(worlds, -1, 10, 2, 3)
    heights = data.q.values.reshape(worlds, -1, 10, 7)[..., 2]
    energy = ((v**2).sum(axis=-1) @ [MASS / 2, INERTIA / 2] + MASS * G * heights).sum(axis=-1)
    unfinished = data.solver_unfinished.values > 0
    assert 0.01 < unfinished.mean() < 0.2
    # of 1.3 J; 2e-6 measured over 0.5 s
    assert np.diff(energy, axis=1).max() < 1e-5
    # 0.09 measured: the impulses of the last pass that ended
    assert data.solver_residual.values.max() < 0.5


@pytest.mark.nightly
def test_soft_tower_goes_on_from_its_last_forces():
    """Ten cubes that have sunk into springs need few rounds; 3 measured, 100 from other guesses."""
    sim = hs.Simulator(tower(*11 * [LAWS["implicit"]]))
    data = sim.run(0.2, q0=heaped(10), record=("solver_rounds", "solver_unfinished")).data
    assert data.solver_unfinished.values.sum() == 0
    assert data.solver_rounds.values[0, 100:].mean() < 10


def crept(data):
    """Largest mean slip of a corner that touches, over the last second [m/s]."""
    slip = data.slip.values[0] * data.touching.values[0][..., None]
    return np.abs(slip[-1000:].mean(axis=0)).max()


def test_three_cubes_on_three_laws():
    """Rigid ground, a membrane and springs between: they stand, and none creeps."""
    laws = [LAWS[law] for law in ("rigid", "micro-macro", "implicit", "rigid")]
    data = hs.Simulator(tower(*laws)).run(2.0, q0=heaped(3), record=STACK).data
    assert carried(data) == pytest.approx(3 * MASS * G, rel=1e-9)
    assert np.abs(data.q.values[0, -1] - data.q.values[0, 1000]).max() < 1e-9
    assert np.abs(data.v.values[0, -1]).max() < 1e-9
    assert crept(data) < 1e-9


@pytest.mark.nightly
@pytest.mark.parametrize("law", ["rigid", "micro-macro", "implicit"])
def test_ten_cubes(law):
    """Stand for 10 s; the ground carries all. -s prints the drift."""
    sim = hs.Simulator(tower(*11 * [LAWS[law]]))
    data = sim.run(10.0, q0=heaped(10), record=STACK).data
    place = data.q.values[0].reshape(-1, 10, 7)[..., :3]
    drift = [np.abs(place[step] - place[-1]).max() for step in (0, 1000)]
    speed = np.abs(data.v.values[0, -1]).max()
    print(f"{law}: moved {drift[0]:.2g} m, {drift[1]:.2g} m of it after 1 s; ", end="")
    print(f"creep {crept(data):.2g} m/s; speed at the end {speed:.2g} m/s or rad/s")
    assert carried(data) == pytest.approx(10 * MASS * G, rel=1e-6)
    assert crept(data) < 1e-9
    # a tower on springs of 1e5 N/m and 50 N s/m rocks at 2 Hz for a minute
    rocks = law == "implicit"
    assert speed < (2e-4 if rocks else 1e-9)
    assert drift[1] < (1e-4 if rocks else 1e-9)
    # into the membranes, 0.1 mm each, at the speed of the fall; into the springs
    assert drift[0] < {"rigid": 1e-8, "micro-macro": 2e-3, "implicit": 4e-4}[law]


@pytest.mark.parametrize("law", ["rigid", "explicit"])
def test_foot_against_foot(law):
    """hoap1 in the air swings its right foot at its left one, which carries a box. What acts is
    inside the robot: its centre of mass stays.
    """
    robot = hs.load("hoap1", points=[("R_AAA", (x, 0.026, -0.0355)) for x in (-0.0358, 0.0582)])
    shoe = {"body": "L_AAA", "point": (0.0112, 0.005, 0), "size": (0.12, 0.062, 0.1)}
    inward = robot.pose("stance")
    inward[robot.joints[robot.body("R_LAA")].iq] = 0.3
    sim = hs.Simulator(
        hs.Scene(robot, hs.Box(LAWS[law], "shoe", **shoe), gravity=0),
        control=hs.Servo(reference=inward),
    )
    data = sim.run(1.0, record=("com", "v", "normal_force", "depth")).data
    assert data.normal_force.values.max() > 1
    assert data.normal_force.values[0, -1].sum() > 0.1
    # 2 kN/m gives way by 9 mm to the servo
    assert data.depth.values.max() < (1e-3 if law == "rigid" else 0.015)
    assert np.abs(data.v.values[0, -1]).max() < 0.05
    # a robot that nothing outside holds keeps its momentum to rounding; 1000 steps
    assert np.abs(data.com.values - data.com.values[:, :1]).max() < 1e-12
