"""Elastic contact solved at the end of the step: hs.Elastic(normal, hs.Coulomb(), implicit=True).

Oracles: implicit Euler's own recurrence for a mass on a spring and a damper,

    (m + dt (c + k dt)) w+ = m w + dt (m g - k d),    d+ = d + dt w+

where a damper of one direction has c = 0 if w+ <= 0 comes of it; its stability (no step and no
stiffness makes it gain); the explicit law, which it meets at order 1 as the step falls; the weight.
The bundled foot, d = -z, and hoap1.
"""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import heelstrike as hs

BOTH = hs.LinearSpring(k=1e4, c=30, damping="both")
ONE_WAY = hs.LinearSpring(k=1e4, c=30)
HUNT = hs.HuntCrossley(k=1e5, alpha=0.4)


@hs.normal_law
def constant(c, pressure=500.0):
    """A law without any slope: G = 0."""
    return pressure + 0 * c.depth


LAWS = {
    "implicit": hs.Elastic(BOTH, None, implicit=True),
    "one way": hs.Elastic(ONE_WAY, None, implicit=True),
    "two alphas": hs.Elastic(hs.HuntCrossley(alpha_restitution=0.1), None, implicit=True),
    "(13)": hs.Elastic(BOTH, None),
    "(14)": hs.Elastic(hs.TimestepDamper(BOTH), None),
    "hunt": hs.Elastic(HUNT, None),
    "hunt implicit": hs.Elastic(HUNT, None, implicit=True),
    "constant": hs.Elastic(constant, None, implicit=True),
}


@cache
def foot(name):
    return hs.Simulator(hs.Scene(hs.load("foot"), hs.Plane(law=LAWS[name])), dt=1e-3)


def ran(name, depth, rate, dt, steps, mass=25.0, g=9.81, record="final", **values):
    """Worlds from depths and rates, with values of the normal law; final q and v, or all."""
    depth, rate, dt, mass = np.broadcast_arrays(*np.atleast_1d(depth, rate, dt, mass))
    n = len(depth)
    prefix = "ground.normal.law." if name == "(14)" else "ground.normal."
    vary = {prefix + key: np.broadcast_to(value, n) for key, value in values.items()}
    vary |= {"dt": dt, "foot.mass": mass, "gravity": np.tile([0, 0, -g], (n, 1))}
    start = {"q0": -depth[:, None], "v0": -rate[:, None], "worlds": n, "vary": vary, "check": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # the explicit ones gain energy
        return foot(name).run(steps=steps, record=record, progress=False, **start).data


def test_is_implicit_euler():
    """Step by step, while the spring presses and after it has let go."""
    k, c, dt = np.array([1e3, 1e4, 1e5, 1e6, 1e7]), np.array([0, 300, 0, 1e3, 1e4]), 2e-3
    mass, g = 25.0, 9.81
    found = ran("implicit", 1e-3, 0.5, np.full(5, dt), 300, record=("q", "v"), k=k, c=c)
    pressed = np.zeros(5, dtype=int)
    for now, after in pairwise(range(301)):
        d, w = -found.q.values[:, now, 0], -found.v.values[:, now, 0]
        w_pressed = (mass * w + dt * (mass * g - k * d)) / (mass + dt * (c + k * dt))
        presses = (d > 0) & (k * d + (c + k * dt) * w_pressed > 0)
        w = np.where(presses, w_pressed, w + dt * g)
        # 1e-9 of a step's change of velocity, g dt, where Newton's method ends
        assert np.abs(found.v.values[:, after, 0] + w).max() < 1e-9 * g * dt
        assert np.abs(found.q.values[:, after, 0] + d + dt * w).max() < 1e-12
        pressed += presses
    assert (pressed > 5).all()


def one_way(d, w, k, c, dt, mass=25.0, g=9.81):
    """w+ by whichever damper it then needs: the two agree on the sign of w+."""
    load = mass * w + dt * (mass * g - k * d)
    after = load / (mass + dt * (np.where(load > 0, c, 0) + k * dt))
    presses = (d > 0) & (k * d + k * dt * after > 0)  # a damper that goes in only adds to it
    return np.where(presses, after, w + dt * g)


def test_a_damper_of_one_direction_acts_by_the_velocity_after_the_step():
    """Entering and leaving, across rest either way, at w = 0 and w+ = 0 themselves; on loads that
    pull the mass in as it leaves.
    """
    k, c, dt, mass = 1e4, 300.0, 2e-3, 25.0
    d = np.tile([1e-6, 1e-3, 2e-2, 5e-2], 9)
    w = np.repeat([-1.0, -0.3, -1e-9, 0.0, 1e-9, 0.02, 0.1, 0.3, 1.0], 4)
    for g in (9.81, 0.0, 300.0):
        found = ran("one way", d, w, dt, 1, g=g, k=k, c=c)
        after = one_way(d, w, k, c, dt, g=g)
        # Newton's method ends at 1e-9 of the largest change of velocity
        assert np.abs(found.v.values.ravel() + after).max() < 1e-9 * 2
    turned = (w > 0) != (one_way(d, w, k, c, dt) > 0)
    assert turned.sum() > 5
    start = dt * (k * 2e-2 - mass * 9.81) / mass  # the start that ends at rest
    found = ran("one way", 2e-2, start, dt, 1, k=k, c=c)
    assert abs(found.v.values.ravel()[0]) < 1e-12


@pytest.mark.parametrize("law", ["one way", "two alphas"])
def test_one_direction_never_gains(law):
    """m w^2 / 2 + k d^2 / 2 of 400 starts at 400 stiffnesses, dampers and steps, without load."""
    rng = np.random.default_rng(0)
    k, dt = 10 ** rng.uniform(3, 7, 400), 10 ** rng.uniform(-4, -2, 400)
    values = {"c": 10 ** rng.uniform(0, 5, 400)} if law == "one way" else {}
    start = {"depth": 10 ** rng.uniform(-6, -2, 400), "rate": rng.normal(size=400)}
    record = ("q", "v", "solver_residual")
    data = ran(law, **start, dt=dt, steps=30, mass=1.0, g=0.0, record=record, k=k, **values)
    d, w = np.maximum(-data.q.values[..., 0], 0), data.v.values[..., 0]
    energy = w**2 / 2 + k[:, None] * d**2 / 2
    assert np.diff(energy, axis=1).max() < 1e-12 * energy.max()
    assert np.median(energy[:, -1] / energy[:, 0]) < 0.9
    assert data.solver_residual.values.max() < 1e-6  # a millionth of the speeds here


def test_ends_of_the_damper_of_one_direction():
    """c = 0 is the spring; k = 0 brakes going in and does nothing coming out; a huge c stops the
    mass and lets it go.
    """
    d, w, dt = np.tile([1e-3, 1e-2], 3), np.repeat([-0.5, 0.0, 0.5], 2), 1e-3
    spring, two = (ran(name, d, w, dt, 20, k=1e4, c=0.0) for name in ("one way", "implicit"))
    assert np.abs(spring.v.values - two.v.values).max() < 1e-12
    damper = ran("one way", d, w, dt, 20, g=0.0, k=0.0, c=500.0).v.values.ravel()
    assert np.allclose(-damper, np.where(w > 0, w / (1 + dt * 500 / 25) ** 20, w), rtol=1e-8)
    stopped = ran("one way", d, w, dt, 1, g=0.0, k=1e4, c=1e12).v.values.ravel()
    leaving = np.minimum(w - dt * 1e4 * d / 25, 0) / (1 + dt**2 * 1e4 / 25)
    assert np.allclose(-stopped, leaving, atol=1e-7)  # Newton's 1e-9, of half a step's impulse


STIFF, STEPS = (x.ravel() for x in np.meshgrid(np.logspace(3, 7, 9), np.logspace(-4, -2, 9)))
"""k [N/m] and dt [s] of the map."""


@pytest.mark.parametrize("c", [0.0, 100.0])
def test_map_on_a_mass(c):
    """A mass of 1 kg that hits at 1 m/s, without gravity, leaves no faster, at any k and dt; the
    explicit ones throw it.
    """
    speeds = {}
    for name in ("implicit", "(13)", "(14)"):
        start = {"depth": 1e-6 + 0 * STIFF, "rate": 1.0, "dt": STEPS, "mass": 1.0, "g": 0.0}
        data = ran(name, **start, steps=4000, k=STIFF, c=c)
        speeds[name] = np.abs(data.v.values.reshape(-1))
        speeds[name][data.failed.values != -1] = np.inf
    thrown = {name: int((speed > 1.01).sum()) for name, speed in speeds.items()}
    assert speeds["implicit"].max() <= 1
    assert thrown["(13)"] > 10
    assert thrown["(14)"] > 10
    if not c:  # the limit of the symplectic step is k dt^2 / m = 4
        assert (speeds["(13)"][STIFF * STEPS**2 > 8] > 1.01).all()


def test_comes_to_rest_at_its_depth():
    """m g / k, for every step and stiffness, where damping is near critical."""
    c = 2 * np.sqrt(STIFF)
    data = ran("implicit", 1e-9, 0.0, STEPS, 20000, mass=1.0, k=STIFF, c=c)
    depth, rate = -data.q.values.reshape(-1), data.v.values.reshape(-1)
    settled = 20000 * STEPS * np.sqrt(STIFF) > 60  # e-folds
    assert settled.sum() > 75
    assert np.allclose(depth[settled], 9.81 / STIFF[settled], rtol=1e-6)
    assert np.abs(rate[settled]).max() < 1e-7


def test_no_slope_does_not_divide():
    """A law without slope is its own force: 500 N on 25 kg."""
    data = ran("constant", [1e-3, 0.1], [0.0, -1.0], 1e-3, 10, record=("v", "normal_force"))
    assert np.allclose(data.normal_force.values[:, 0, 0], 500, rtol=1e-9)
    assert data.v.values[0, 1, 0] == pytest.approx((500 / 25 - 9.81) * 1e-3, rel=1e-9)


def test_negative_slope_stays_finite():
    """Hunt and Crossley's force falls with depth where the point leaves faster than 2/(3 alpha)."""
    rate = np.array([-1.0, -5 / 3, -2.0, -10.0, -100.0, 100.0])
    data = ran("hunt implicit", 1e-2, rate, 1e-3, 50, record=("v", "normal_force"))
    assert np.isfinite(data.v.values).all()
    assert np.isfinite(data.normal_force.values).all()
    assert (data.normal_force.values >= 0).all()
    assert np.abs(data.v.values).max() < 101


def test_meets_the_explicit_law_at_order_one():
    """Hunt and Crossley, 10 ms into an impact."""
    dt = 1e-4 / 2 ** np.arange(4)
    depths = {}
    for name in ("hunt", "hunt implicit"):
        found = [ran(name, 1e-9, 1.0, h, round(1e-2 / h)) for h in dt]
        depths[name] = -np.array([x.q.values.ravel()[0] for x in found])
    gaps = np.abs(depths["hunt"] - depths["hunt implicit"])
    orders = np.log2(gaps[:-1] / gaps[1:])
    assert np.abs(orders - 1).max() < 0.05
    assert gaps[0] < 4e-3 * depths["hunt"][0]


RECORDED = ("kinetic", "normal_force", "touching", "slip", "contact_position", "force")


@cache
def hoap1(name):
    friction = hs.Coulomb(mu_s=0.8, mu_k=0.6)
    law = hs.Elastic(BOTH, friction, implicit=True)
    if name != "implicit":
        normal = hs.TimestepDamper(BOTH) if name == "(14)" else BOTH
        law = hs.Elastic(normal, hs.Kinetic(mu=0.6))
    robot = hs.load("hoap1", collide="feet")
    return hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), control=hs.Servo())


def dropped(name, dt, c, duration=1.5):
    """hoap1 from 10 mm on nine stiffnesses."""
    sim, k = hoap1(name), np.logspace(3, 7, 9)
    prefix = "ground.normal.law." if name == "(14)" else "ground.normal."
    vary = {prefix + "k": k, prefix + "c": np.full(9, c), "dt": np.full(9, dt)}
    q0 = sim.robot.pose("stance").copy()
    q0[2] += 0.01
    start = {"q0": q0, "v0": np.zeros(sim.robot.nv), "worlds": 9, "vary": vary}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # the explicit ones are thrown
        return sim.run(
            duration, record=RECORDED, every=max(1, round(5e-3 / dt)), progress=False, **start
        ).data


@pytest.mark.parametrize("dt", [1e-3, 3e-3, 1e-2, pytest.param(1e-4, marks=pytest.mark.nightly)])
def test_map_on_hoap1(dt):
    """Stands on every stiffness from 1e3 to 1e7 N/m; explicitly it does not."""
    robot = hoap1("implicit").robot
    weight = robot.mass * 9.81
    for c in (20.0, 2e3):
        data = dropped("implicit", dt, c)
        assert (data.failed.values == -1).all()
        assert data.kinetic.values.max() < weight * 0.03  # of a fall of 10 mm, and the sinking
        assert data.kinetic.values[:, -1].max() < 1e-3
        late = data.normal_force.values[:, -20:].sum(axis=-1).mean(axis=1)
        assert np.allclose(late, weight, rtol=0.01)
        resting = np.linalg.norm(data.slip.values[:, -1], axis=-1) * data.touching.values[:, -1]
        assert resting.max() < 1e-3


@pytest.mark.nightly
def test_hoap1_is_thrown_by_explicit_steps():
    """dt = 1 ms: more than twice the energy of the fall on how many of nine stiffnesses."""
    lost = {}
    for name in ("implicit", "(13)", "(14)"):
        peaks = [dropped(name, 1e-3, c).kinetic.values.max(axis=1) for c in (20.0, 2e3)]
        lost[name] = [int((peak > 1.0).sum()) for peak in peaks]
    assert lost == {"implicit": [0, 0], "(13)": [2, 9], "(14)": [3, 9]}


def test_friction_holds_with_an_elastic_normal():
    """hoap1 on slopes of 5 degrees in nine directions settles, and then stays where it is."""
    sim, angle = hoap1("implicit"), np.radians(5)
    turn = np.linspace(0, 2 * np.pi, 9)
    flat = np.sin(angle) * np.array([np.cos(turn), np.sin(turn)])
    gravity = 9.81 * np.vstack([flat, -np.cos(angle) * np.ones(9)]).T
    vary = {"gravity": gravity, "dt": np.full(9, 1e-3)}
    vary |= {"ground.normal.k": np.full(9, 2e4), "ground.normal.c": np.full(9, 200.0)}
    start = {"q0": sim.robot.pose("stance"), "v0": np.zeros(sim.robot.nv), "worlds": 9}
    data = sim.run(3.0, vary=vary, record=RECORDED, every=5, progress=False, **start).data
    place = data.contact_position.values
    assert np.abs(place[:, -1] - place[:, 400]).max() < 1e-6  # 1 um in the last second
    total = data.force.values[:, -1].sum(axis=1)
    assert np.abs(total + sim.robot.mass * gravity).max() < 1e-3


def test_friction_ends_with_the_normal_force():
    """Boxes that tumble: corners that stuck in the last step and leave in this one have no friction
    left, and no friction exceeds mu_s f_n.
    """
    law = hs.Elastic(hs.LinearSpring(k=1e4, c=20), hs.Coulomb(0.8, 0.6), implicit=True)
    sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=1e-3, worlds=64)
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(64, 4))
    q0 = np.zeros((64, 7))
    q0[:, 2], q0[:, 3:] = 0.1, turns / np.linalg.norm(turns, axis=1, keepdims=True)
    v0 = rng.normal(size=(64, 6)) * [0.5, 0.5, 0.5, 10, 10, 10]
    record = {"record": ("force", "normal_force"), "progress": False}
    data = sim.run(0.5, q0=q0, v0=v0, check=False, **record).data
    normal, force = data.normal_force.values, data.force.values
    friction = np.linalg.norm(force[..., :2], axis=-1)
    left = (normal[:, :-1] > 0) & (normal[:, 1:] == 0)
    assert left.sum() > 300
    assert friction[normal == 0].max() == 0
    # the bound is that of the pass before, which may differ by 7e-7 of the speeds: 3e-4 N measured
    assert (friction - 0.8 * normal).max() < 2e-3


def test_friction_acts_at_the_height_of_the_surface():
    """A ball that has sunk by d = m g / k sticks there: it rolls with v = (R - d) w."""
    k, radius = 2e3, 0.05
    law = hs.Elastic(hs.LinearSpring(k=k, c=100.0), hs.Coulomb(), implicit=True)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=1e-3)
    depth = 9.81 / k
    q0 = [0, 0, radius - depth, 0, 0, 0, 1]
    data = sim.run(1.0, q0=q0, v0=[0.3, 0, 0, 0, 6.0, 0]).data
    spin = np.linalg.norm(data.v.values[0, -1, 3:])
    assert float(data.com_velocity[0, -1, 0]) == pytest.approx((radius - depth) * spin, rel=1e-9)
    height = float(data.contact_position.values[0, -1, 0, 2])
    assert height == pytest.approx(0.0, abs=1e-12)
