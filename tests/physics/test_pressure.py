"""Pressure under a rigid sole: that of equal, vanishing compliance, whatever came before.

Oracles: a torque in closed form, least squares, and Coulomb friction integrated by quadrature; on
the ground and on another body, under every coupled law.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest

import heelstrike as hs

MASS, G, MU = 5.0, 9.81, 0.5
HEIGHT = 0.01
PLACES = [(x, y) for x in (-0.06, 0.0, 0.06) for y in (-0.04, 0.0, 0.04)]
SOLE = """<mujoco model="sole"><worldbody>
  <body name="sole" pos="0 0 {height}"><freejoint/>
    <inertial pos="0 0 0" mass="{mass}" diaginertia="{spin} {spin} {spin}"/>
  </body></worldbody></mujoco>"""
FOOT = """<mujoco model="foot"><worldbody>
  <body name="heel" pos="0 0 0.02"><freejoint/>
    <geom type="box" size="0.1 0.05 0.02" mass="3"/>
    <body name="toe" pos="0.1 0 0"><joint name="bend" type="hinge" axis="0 1 0"/>
      <geom type="box" size="0.05 0.05 0.02" pos="0.05 0 0" mass="0.5"/>
    </body>
  </body></worldbody></mujoco>"""
RIGID = hs.Rigid(friction=hs.Coulomb(MU, MU))
MEMBRANE = hs.Elastic(hs.LinearSpring(k=5512, c=158), hs.Kinetic(mu=MU))
LAWS = {
    "Rigid": RIGID,
    "Signorini": hs.Signorini(friction=hs.Coulomb(MU, MU)),
    "MicroMacro": hs.MicroMacro(membrane=MEMBRANE, thickness=5e-4, rigid=RIGID),
    "FeedbackLinearized": hs.FeedbackLinearized(kv=2500, friction=hs.Coulomb(MU, MU)),
    "Elastic": hs.Elastic(hs.LinearSpring(k=1e6, c=1500), hs.Coulomb(MU, MU), implicit=True),
}
"""Slip of FeedbackLinearized falls as exp(-kv t) below mu g / kv = 2 mm/s, where it is no longer
Coulomb's; Elastic sinks by 5 um and settles in some ms."""
SOME = [
    pytest.param(law, id=name, marks=() if name in ("Rigid", "MicroMacro") else pytest.mark.nightly)
    for name, law in LAWS.items()
]
"""The others are nightly; a sole that spins on the ground tests them."""


@pytest.fixture(scope="module")
def robot_of(tmp_path_factory):
    @cache
    def load(places, spin, height=HEIGHT):
        path = tmp_path_factory.mktemp("sole") / "sole.xml"
        path.write_text(SOLE.format(height=HEIGHT, mass=MASS, spin=spin))
        return hs.load(path, points=[("sole", (x, y, -height), 0.0) for x, y in places])

    return load


@pytest.fixture(scope="module")
def foot(tmp_path_factory):
    """Heel and toe, joined by a hinge."""
    path = tmp_path_factory.mktemp("foot") / "foot.xml"
    path.write_text(FOOT)
    return hs.load(path, collide="all")


@pytest.fixture(scope="module")
def pinned_foot(tmp_path_factory):
    """The same with two free bodies, which two points on the axis of the hinge join."""
    folder, parts = tmp_path_factory.mktemp("pinned"), {}
    for name, size, at, mass in (("heel", 0.1, 0, 3), ("toe", 0.05, 0.05, 0.5)):
        geom = f'<geom type="box" size="{size} 0.05 0.02" pos="{at} 0 0" mass="{mass}"/>'
        body = f'<body name="{name}"><freejoint/>{geom}</body>'
        path = folder / f"{name}.xml"
        path.write_text(f'<mujoco model="{name}"><worldbody>{body}</worldbody></mujoco>')
        parts[name] = hs.load(path, collide="all")
    pins = [
        hs.Connect(f"pin{k}", 0, np.array([0.1, y, 0]), 1, np.array([0, y, 0]))
        for k, y in enumerate((-0.05, 0.05))
    ]
    return hs.combine(parts).with_constraints(*pins)


def start(law, depth):
    thickness = getattr(law, "thickness", 0.0)
    return [0, 0, HEIGHT - thickness - depth, 0, 0, 0, 1]


def slows(data, dt):
    """Return the deceleration of the last body's spin over the second half of a run [rad/s^2]."""
    w = data.v.values[0, :, -1]
    middle = len(w) // 2
    return (w[middle] - w[-1]) / (dt * (len(w) - 1 - middle))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_spinning_sole_is_held_by_uniform_pressure(law, robot_of):
    """Nine points, spun at 6 rad/s: the torque is mu m g times the mean distance of the points.

    An uneven pressure, which statics also allows, gives anything from 0 to 1.7 times as much.
    """
    spin = 0.02
    sim = hs.Simulator(hs.Scene(robot_of(tuple(PLACES), spin), hs.Plane(law)))
    torque = MU * MASS * G * np.mean([np.hypot(x, y) for x, y in PLACES])
    for dt, depth in product((2e-3, 1e-3, 1e-4), (1e-6, 2e-5)):
        sim.parameters["dt"] = dt
        state = {"q0": start(law, depth), "v0": [0, 0, 0, 0, 0, 6.0]}
        data = sim.run(0.02, record=("v", "normal_force"), progress=False, **state).data
        loads = data.normal_force.values[0, -1]
        assert loads == pytest.approx(np.full(9, loads.mean()), rel=1e-3)
        assert slows(data, dt) * spin == pytest.approx(torque, rel=5e-3)


@pytest.mark.parametrize("law", SOME)
def test_pressure_under_a_sliding_sole_is_linear(law, robot_of):
    """Friction on a sole at a depth h below the centre of mass shifts the load by mu h.

    Eleven points without symmetry: of all loads that balance weight and friction those of least
    squares are a + b x + c y.
    """
    height, rng = 0.03, np.random.default_rng(4)
    places = rng.uniform((-0.1, -0.05), (0.1, 0.05), (11, 2))
    places += (0.01, -0.004) - places.mean(axis=0)
    sole = robot_of(tuple(map(tuple, places)), 0.02, height)
    sim = hs.Simulator(hs.Scene(sole, hs.Plane(law)), dt=1e-3)
    thickness = getattr(law, "thickness", 0.0)
    state = {"q0": [0, 0, height - thickness - 1e-6, 0, 0, 0, 1], "v0": [1.5, 0, 0, 0, 0, 0]}
    data = sim.run(0.2, record=("normal_force",), progress=False, **state).data
    balance = np.vstack([np.ones(11), places.T])
    weight = MASS * G * np.array([1.0, MU * height, 0.0])
    loads = balance.T @ np.linalg.solve(balance @ balance.T, weight)
    assert loads.min() > 0
    # the springs of Elastic tilt the sole and shift its corners by 1e-5 of their places
    assert data.normal_force.values[0, -1] == pytest.approx(loads, abs=1e-3 * loads.mean())


@pytest.mark.parametrize("law", [LAWS["Rigid"], LAWS["Signorini"]], ids=["Rigid", "Signorini"])
def test_pressure_does_not_depend_on_history(law, robot_of):
    """A sole that was spun, tilted or pushed before carries its weight as one that was not."""
    sim = hs.Simulator(hs.Scene(robot_of(tuple(PLACES), 0.02), hs.Plane(law)), dt=1e-3)
    rng = np.random.default_rng(1)
    v0 = np.zeros((8, 6))
    v0[1:, :2], v0[1:, 5] = 0.2 * rng.normal(size=(7, 2)), 3 * rng.normal(size=7)
    v0[4:, 3:5] = 0.3 * rng.normal(size=(4, 2))
    q0 = np.tile(start(law, 1e-6), (8, 1))
    data = sim.run(1.0, worlds=8, q0=q0, v0=v0, record=("v", "normal_force"), progress=False).data
    assert np.abs(data.v.values[:, -1]).max() < 1e-6
    loads = data.normal_force.values[:, -1]
    assert loads == pytest.approx(np.full((8, 9), MASS * G / 9), rel=1e-3)


@pytest.mark.parametrize("law", [LAWS["Rigid"], LAWS["Signorini"]], ids=["Rigid", "Signorini"])
@pytest.mark.parametrize(
    ("dtype", "off"),
    [("float64", 1e-4), pytest.param("float32", 2e-3, marks=pytest.mark.nightly)],
)
def test_bodies_share_a_load_whatever_came_before(law, dtype, off, foot):
    """One hinge leaves open how heel and toe share their weight: least squares decide.

    Statics alone allows the toe between 0 and 12 N.
    """
    sim = hs.Simulator(hs.Scene(foot, hs.Plane(law)), dt=1e-3, dtype=dtype)
    tilt = [0, np.sin(-0.1), 0, np.cos(0.1)]
    starts = [
        ([0, 0, 0.02, 0, 0, 0, 1, 0], np.zeros(7)),
        ([0, 0, 0.02, 0, 0, 0, 1, 0], [0.3, 0.1, 0, 0, 0, 3, 0]),
        ([0, 0, 0.063, 0, 0, 0, 1, 0.4], np.zeros(7)),
        ([0, 0, 0.05, *tilt, -0.3], np.zeros(7)),
    ]
    for q0, v0 in starts:
        data = sim.run(1.0, q0=q0, v0=v0, progress=False).data
        loads, places = data.normal_force.values[0, -1], data.contact_position.values[0, -1]
        least = _least_loads(data.q.values[0, -1], places, loads > 0)
        assert np.sum(loads > 0) == 8
        assert loads[loads > 0] == pytest.approx(least, rel=off)


def test_bodies_of_a_loop_share_a_load_whatever_came_before(pinned_foot):
    """Heel and toe again, joined by points instead of a hinge of the tree."""
    sim = hs.Simulator(hs.Scene(pinned_foot, hs.Plane(RIGID)), dt=1e-3)
    for height, bend, spin in ((0.02, 0.0, 0.0), (0.02, 0.0, 3.0), (0.063, 0.4, 0.0)):
        turn = [0, np.sin(bend / 2), 0, np.cos(bend / 2)]
        q0 = [0, 0, height, 0, 0, 0, 1, 0.1, 0, height, *turn]
        v0 = [0, 0, 0, 0, 0, spin, 0, 0.1 * spin, 0, 0, 0, spin]
        data = sim.run(1.0, q0=q0, v0=v0, progress=False).data
        loads, places = data.normal_force.values[0, -1], data.contact_position.values[0, -1]
        q = data.q.values[0, -1]
        heel, toe = (2 * np.arctan2(x[4], x[6]) for x in (q[:7], q[7:]))
        least = _least_loads([*q[:7], toe - heel], places, loads > 0)
        assert np.sum(loads > 0) == 8
        assert loads[loads > 0] == pytest.approx(least, rel=1e-3)


def _least_loads(q, places, loaded):
    """Return the normal forces of the least squares that hold heel and toe."""
    x, z, w = q[3:6], q[6], q[7]
    turn = np.eye(3) + 2 * (z * _skew(x) + _skew(x) @ _skew(x))
    bend = np.array([[np.cos(w), 0, np.sin(w)], [0, 1, 0], [-np.sin(w), 0, np.cos(w)]])
    hinge = q[:3] + turn @ [0.1, 0, 0]
    toe = hinge + turn @ bend @ [0.05, 0, 0]
    weights = [(q[:3], 3.0), (toe, 0.5)]
    of_toe = np.arange(len(places)) >= len(places) // 2
    columns, right = [], np.zeros(7)
    axis = turn @ [0, 1, 0]
    for place, is_toe in zip(places[loaded], of_toe[loaded], strict=True):
        for force in np.eye(3):
            about = axis @ np.cross(place - hinge, force) if is_toe else 0.0
            columns.append([*force, *np.cross(place, force), about])
    for place, mass in weights:
        force = np.array([0, 0, mass * G])
        right[:6] += [*force, *np.cross(place, force)]
    right[6] = axis @ np.cross(toe - hinge, [0, 0, 0.5 * G])
    return np.linalg.lstsq(np.array(columns).T, right, rcond=1e-10)[0][2::3]


def _skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


BASE = """<mujoco model="base"><worldbody>
  <body name="base" pos="0 0 0.1"><freejoint/>
    <inertial pos="0 0 0" mass="500" diaginertia="60 60 120"/>
  </body></worldbody></mujoco>"""
"""A box of 1.2 x 1.2 x 0.2 m."""


def on_a_base(sole, law, folder, dt):
    """Return a simulator of a sole on a heavy box that lies on the ground, and where both start."""
    path = folder / "base.xml"
    path.write_text(BASE)
    corners = [("base", (x, y, -0.1), 0.0) for x in (-0.6, 0.6) for y in (-0.6, 0.6)]
    both = hs.combine({"base": hs.load(path, points=corners), "sole": sole})
    top = hs.Box(law, "top", body="base/base", size=(1.2, 1.2, 0.2), faces=("+z",))
    ground = law if isinstance(law, hs.Signorini) else hs.Rigid()  # it mixes with no other law
    sim = hs.Simulator(hs.Scene(both, hs.Plane(ground, "ground"), top), dt=dt)
    height = -min(point.position[2] for point in sole.points)
    over = 0.2 + height - getattr(law, "thickness", 0.0) - 2e-6
    return sim, np.array([0, 0, 0.1 - 1e-6, 0, 0, 0, 1, 0, 0, over, 0, 0, 0, 1])


@pytest.mark.parametrize("law", SOME)
def test_a_sole_that_spins_on_a_body_is_held_by_uniform_pressure(law, robot_of, tmp_path):
    """The torque of nine points on a heavy box is that of nine points on the ground."""
    spin = 0.02
    sim, q0 = on_a_base(robot_of(tuple(PLACES), spin), law, tmp_path, 1e-3)
    torque = MU * MASS * G * np.mean([np.hypot(x, y) for x, y in PLACES])
    v0 = np.zeros(12)
    v0[11] = 6.0
    for dt in (2e-3, 1e-3, 2e-4):
        sim.parameters["dt"] = dt
        data = sim.run(0.02, q0=q0, v0=v0, record=("v", "normal_force"), progress=False).data
        top = data.normal_force.surface.values == "top"
        loads = data.normal_force.values[0, -1, top]
        loads = loads[loads > 0]
        assert len(loads) == 9
        assert loads == pytest.approx(np.full(9, loads.mean()), rel=1e-3)
        assert slows(data, dt) * spin == pytest.approx(torque, rel=5e-3)


def test_pressure_on_a_body_does_not_depend_on_history(robot_of, tmp_path):
    """A sole that was spun, tilted or pushed on a box carries its weight as one that was not."""
    sim, q0 = on_a_base(robot_of(tuple(PLACES), 0.02), RIGID, tmp_path, 1e-3)
    rng = np.random.default_rng(1)
    v0 = np.zeros((8, 12))
    v0[1:, 6:8], v0[1:, 11] = 0.2 * rng.normal(size=(7, 2)), 3 * rng.normal(size=7)
    v0[4:, 9:11] = 0.3 * rng.normal(size=(4, 2))
    start = {"worlds": 8, "q0": np.tile(q0, (8, 1)), "v0": v0}
    data = sim.run(1.0, record=("v", "normal_force"), progress=False, **start).data
    assert np.abs(data.v.values[:, -1]).max() < 1e-6
    top = data.normal_force.surface.values == "top"
    loads = data.normal_force.values[:, -1, top]
    loads = loads[:, (loads > 0).any(axis=0)]
    assert loads == pytest.approx(np.full((8, 9), MASS * G / 9), rel=1e-3)


QUICK = {("ground", "Rigid"), ("ground", "Signorini")}
RINGS = [
    pytest.param(*ring, marks=() if ring in QUICK else pytest.mark.nightly)
    for ring in ((on, name) for on in ("ground", "body") for name in LAWS)
]


@pytest.mark.parametrize(("on", "name"), RINGS)
def test_a_sliding_ring_converges_with_the_step(on, name, robot_of, tmp_path):
    """Sixteen points on a ring of 0.1 m, sliding at 1 m/s and spinning at 20 rad/s, until rest.

    The reference integrates Coulomb friction of sixteen points under equal loads, which is exact
    for a ring without height, with a step of 10 us.
    """
    angles = 2 * np.pi * np.arange(16) / 16
    places = tuple((0.1 * np.cos(a), 0.1 * np.sin(a)) for a in angles)
    spin = 0.05
    travel, time = _ring_travel(np.array(places), spin)
    law, ring, misses = LAWS[name], robot_of(places, spin, 0.0), []
    if on == "ground":
        sim = hs.Simulator(hs.Scene(ring, hs.Plane(law)))
        q0 = np.array([0, 0, -getattr(law, "thickness", 0.0) - 1e-7, 0, 0, 0, 1])
    else:
        sim, q0 = on_a_base(ring, law, tmp_path, 1e-3)
    v0 = np.zeros(sim.scene.robot.nv)
    v0[-6], v0[-1] = 1.0, 20.0
    for dt in (1e-3, 2.5e-4):
        sim.parameters["dt"] = dt
        run = sim.run(time + 0.1, q0=q0, v0=v0, record=("q", "v"), progress=False)
        assert np.abs(run.data.v.values[0, -1]).max() < 1e-6
        misses.append(abs(run.data.q.values[0, -1, -7] - travel))
    assert misses[0] < 0.02 * travel
    assert misses[1] < 0.4 * misses[0]


def _ring_travel(places, spin, dt=1e-5):
    """Return how far the ring slides [m], and for how long [s]."""
    x, angle, v, w, steps = 0.0, 0.0, np.array([1.0, 0.0]), 20.0, 0
    while np.hypot(*v) > 1e-4 or abs(w) > 1e-3:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        r = places @ turn.T
        u = v + w * np.column_stack([-r[:, 1], r[:, 0]])
        speed = np.maximum(np.hypot(u[:, 0], u[:, 1]), 1e-6)[:, None]
        f = -MU * MASS * G / 16 * u / speed
        v = v + dt * f.sum(axis=0) / MASS
        w = w + dt * np.sum(r[:, 0] * f[:, 1] - r[:, 1] * f[:, 0]) / spin
        x, angle, steps = x + dt * v[0], angle + dt * w, steps + 1
    return x, steps * dt
