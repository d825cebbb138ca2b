"""Feedback-linearised contact against closed forms, recurrences, Pinocchio and numpy.

Oracles: ORACLE.md section 2 (e, depth, peak, by the formulas written out here); the recurrence of a
symplectic step for what a fixed step does; (18) on a humanoid with H, J and biases of Pinocchio and
numpy's pseudo-inverse; the weight.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.dynamics.effective_mass import inertia_matrix
from heelstrike.robot.convert import to_pinocchio
from heelstrike.simulate.start import contacts_at

G = 9.81
TABLE = {
    (0.0, 5000.0): (0.0, 2.000000e-4, 5000.0),
    (500.0, 250.0): (0.08668232, 3.876551e-3, 250.0),
    (1e4, 250.0): (0.31498026, 3.149803e-3, 250.0),
    (1e4, 200.0): (0.36787944, 3.678794e-3, 200.0),
    (1e4, 100.0): (0.54629302, 5.462930e-3, 100.0),
}
"""kp, kv: e, depth over v_i [s], peak acceleration over v_i [1/s]; ORACLE.md 2.1."""


@cache
def slide(rule, form, integrator):
    law = hs.FeedbackLinearized(epsilon=0.0, rule=rule, form=form)
    scene = hs.Scene(hs.load("foot"), hs.Plane(law=law), gravity=0)
    return hs.Simulator(scene, integrator=integrator)


def impact(rule, form, integrator, kp, kv, dt, steps, depth=1e-15):
    sim, n = slide(rule, form, integrator), len(kp)
    mass = np.linspace(0.5, 20, n)
    vary = {"ground.kp": kp, "ground.kv": kv, "dt": np.broadcast_to(dt, n), "foot.mass": mass}
    start = {"q0": np.full((n, 1), -depth), "v0": np.full((n, 1), -1.0), "worlds": n}
    data = sim.run(steps=steps, vary=vary, record="final", progress=False, **start).data
    e = sim.state["v"].ravel().copy()
    return e, data.peak_depth.values[:, 0], data.peak_force.values[:, 0] / mass


def test_impact_is_the_closed_form():
    """Literal rule, RK4: whatever the mass."""
    kp, kv = np.array(list(TABLE)).T
    e, depth, peak = impact("paper", "acceleration", "rk4", kp, kv, 1e-5, 12_000)
    expected = np.array(list(TABLE.values())).T
    assert np.abs(e - expected[0]).max() < 1e-7
    assert depth == pytest.approx(expected[1], rel=1e-6)
    assert peak == pytest.approx(expected[2], rel=1e-6)


def test_consistent_rule_is_the_same_on_one_point():
    """To what the coupled solver leaves of a velocity, 1e-6, over a contact."""
    kp, kv = np.array(list(TABLE)).T
    e, depth, _ = impact("consistent", "acceleration", "rk4", kp, kv, 1e-5, 12_000)
    expected = np.array(list(TABLE.values())).T
    assert np.abs(e - expected[0]).max() < 2e-5
    assert depth == pytest.approx(expected[1], rel=2e-5)


@pytest.mark.parametrize(("dt", "e"), [(1e-5, 0.086468), (1e-4, 0.084541), (1e-3, 0.065224)])
def test_fixed_steps_follow_the_recurrence(dt, e):
    """Symplectic, at the acceleration of the step's start; ORACLE.md 2.1, six digits."""
    found = impact("paper", "acceleration", "symplectic", [500.0], [250.0], dt, int(0.12 / dt))[0]
    y, w = 1e-15, 1.0
    while y > 0:
        w -= dt * (500 * y + 250 * max(w, 0))
        y += dt * w
    assert found[0] == pytest.approx(-w, abs=1e-9)
    assert found[0] == pytest.approx(e, abs=1e-6)


def test_discrete_form_converges():
    """Of order 1: velocity is exact, the way of a step is not."""
    exact, off = TABLE[(1e4, 100.0)][0], []
    for dt in (1e-3, 5e-4, 2.5e-4):
        e = [
            impact(
                "paper", "discrete", "symplectic", [1e4], [100.0], dt, int(0.1 / dt), share * dt
            )[0]
            for share in (0.2, 0.5, 0.8)
        ]
        off.append(abs(np.mean(e) - exact))
    assert off[0] > 1.8 * off[1] > 3.2 * off[2]
    assert off[0] < 0.06


@pytest.mark.parametrize("slip", [0.0, 10.0])
def test_consistent_rule_converges_with_the_step(slip):
    """A ball, also one that passes at 10 m/s: what the solver leaves of a velocity is a share of
    its change, not of the velocity. e is off by a first-order term of 62 dt, down to 1 us.
    """
    exact, off = TABLE[(1e4, 100.0)][0], []
    law = hs.FeedbackLinearized(1e4, 100.0, hs.Coulomb(0.0, 0.0), epsilon=0.0)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=law), gravity=0), worlds=3)
    for dt in (1e-4, 1e-5, 1e-6):
        sim.parameters["dt"] = dt
        q0 = np.tile([0, 0, 0.05, 0, 0, 0, 1.0], (3, 1))
        q0[:, 2] -= np.array([0.2, 0.5, 0.8]) * dt
        sim.reset(q0=q0, v0=[slip, 0, -1, 0, 0, 0])
        sim.step(round(0.05 / dt))
        off.append(exact - np.mean(np.array(sim.state["v"])[:, 2]))
    assert off == pytest.approx([61.6e-4, 61.6e-5, 61.6e-6], rel=0.01)


@cache
def box(rule="consistent", form="discrete"):
    law = hs.FeedbackLinearized(friction=hs.Coulomb(0.7, 0.5), rule=rule, form=form)
    return hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=1e-3)


def test_any_kp_kv_and_step():
    """Boxes that tumble onto the floor lose their energy, for kp to 1e8 and e to 0.55. (With e near
    1 and friction they may gain, as with every rebound of Newton's kind.)
    """
    rng = np.random.default_rng(0)
    n = 100
    turn = rng.normal(size=(n, 4))
    q0 = np.zeros((n, 7))
    q0[:, 2], q0[:, 3:] = 0.3, turn / np.linalg.norm(turn, axis=1, keepdims=True)
    v0 = rng.normal(size=(n, 6)) * [1, 1, 1, 5, 5, 5]
    kp = 10 ** rng.uniform(0, 8, n)
    vary = {
        "ground.kp": kp,
        "ground.kv": np.sqrt(kp) * 10 ** rng.uniform(0, 3, n),
        "dt": 10 ** rng.uniform(-4, -2.3, n),
    }
    record = ("kinetic", "potential")
    data = (
        box().run(steps=600, q0=q0, v0=v0, worlds=n, vary=vary, record=record, progress=False).data
    )
    energy = (data.kinetic + data.potential).values
    assert (data.failed.values == -1).all()
    assert (energy.max(axis=1) - energy[:, 0]).max() <= 0


@cache
def humanoid():
    """hoap1, limp, without what acts at its joints, for Pinocchio to follow."""
    robot = hs.load("hoap1", collide="feet")
    none = np.zeros(robot.nv)
    robot = replace(robot, damping=none, friction=none)
    law = hs.FeedbackLinearized(
        friction=hs.Coulomb(100, 100), epsilon=0.0, rule="paper", form="acceleration"
    )
    return hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=1e-3, stops=None)


def down(sim, depth):
    """The stance with its soles at a depth."""
    q = sim.robot.pose("stance").copy()
    q[2] += contacts_at(sim.scene, q)[0].min() - depth
    return q


def problem(sim, q, v):
    """W and r of (18) at a state, by Pinocchio; tangents and normal of each touching vertex."""
    robot = sim.robot
    model = to_pinocchio(robot)
    model.armature = np.zeros(robot.nv)
    data = model.createData()
    h = inertia_matrix(robot, q)
    fall = -np.linalg.solve(h, pin.nonLinearEffects(model, data, q, v))
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, fall)
    jacobians, r, touching = [], [], []
    for i, point in enumerate(robot.points):
        frame = data.oMi[point.body + 1]
        place = pin.SE3(np.eye(3), np.asarray(point.position))
        rows = pin.getJointJacobian(model, data, point.body + 1, pin.LOCAL_WORLD_ALIGNED)
        lever = frame.rotation @ point.position
        rows = rows[:3] - pin.skew(lever) @ rows[3:]
        moving = place.actInv(data.v[point.body + 1])
        felt = place.actInv(data.a[point.body + 1])
        free = frame.rotation @ (felt.linear + np.cross(moving.angular, moving.linear))
        p, u = frame.act(np.asarray(point.position)), rows @ v
        if p[2] < 0:
            wanted = -250 * u - [0, 0, 500 * p[2] - 250 * max(u[2], 0)]
            jacobians.append(rows)
            r.append(wanted - free)
            touching.append(i)
    j = np.vstack(jacobians)
    return j @ np.linalg.solve(h, j.T), np.concatenate(r), touching


def test_humanoid_on_both_feet_accelerates_as_desired():
    """Eight vertices that share depth and rate: realised less desired, to 1e-9."""
    sim = humanoid()
    q, v = down(sim, 1e-3), np.zeros(sim.robot.nv)
    v[2] = -0.1
    sim.reset(q0=q, v0=v)
    forces = sim.observe("force")["force"][0]
    w, r, touching = problem(sim, q, v)
    assert len(touching) == 8
    assert np.linalg.matrix_rank(w, tol=1e-9) == 12
    assert (forces[:, 2] > 0).all()
    assert np.abs(w @ forces.ravel() - r).max() < 1e-9 * (500 * 1e-3 + 250 * 0.1)


def test_humanoid_in_any_motion_has_numpys_forces():
    """Soles tilted and moving, so that no field of accelerations is met: (18) by numpy, (19), (20);
    where nothing is cut, the residual that is left is numpy's too.
    """
    sim = humanoid()
    rng = np.random.default_rng(4)
    counts = {"points": 0, "uncut": 0}
    for _ in range(30):
        v = rng.normal(size=sim.robot.nv) * 0.05
        v[2] = -0.3
        tilt = rng.normal(size=sim.robot.nv) * 2e-3
        q = pin.integrate(to_pinocchio(sim.robot), down(sim, 8e-3), tilt)
        sim.reset(q0=q, v0=v)
        ours = sim.observe("force")["force"][0]
        w, r, touching = problem(sim, q, v)
        least = np.linalg.pinv(w, rcond=1e-10, hermitian=True) @ r
        forces = saturated(least.reshape(-1, 3))
        assert np.abs(ours[touching] - forces).max() < 1e-8 * np.abs(least).max()
        counts["points"] += len(touching)
        if (least.reshape(-1, 3) == forces).all():
            counts["uncut"] += 1
            left = w @ ours[touching].ravel() - r
            assert left == pytest.approx(w @ least - r, abs=1e-9 * np.abs(r).max())
            assert np.abs(left).max() > 1e-5
    assert counts["points"] > 60
    assert counts["uncut"] > 0


def saturated(forces, mu=100):
    """(19) and the radial (20)."""
    forces = forces.copy()
    forces[:, 2] = np.maximum(forces[:, 2], 0)
    rubbing = np.linalg.norm(forces[:, :2], axis=1)
    share = mu * forces[:, 2] / np.where(rubbing > 0, rubbing, 1)
    forces[:, :2] *= np.minimum(1, share)[:, None]
    return forces


def test_one_foot_on_rubber_steel_membrane_and_this():
    """A corner on each: they stand, share the weight and have no moment about the centre."""
    corners = [("box", (x, y, -0.05)) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    steel = hs.Rigid(friction=hs.Coulomb(0.8, 0.6))
    soft = hs.Elastic(hs.LinearSpring(k=5e3, c=50), hs.Kinetic(mu=0.4))
    laws = {
        "rubber": hs.Elastic(hs.LinearSpring(k=2e4, c=200), hs.Bristle(k_t=2e4, c_t=200)),
        "steel": steel,
        "membrane": hs.MicroMacro(soft, steel, thickness=5e-4),
        "imposed": hs.FeedbackLinearized(),
    }
    places = [(-0.5, -0.5, -0.5), (-0.5, 0.5, -0.5), (0.5, -0.5, -0.5), (0.5, 0.5, -0.5)]
    floor = [
        hs.Box(law, name, point=place, faces="+z")
        for (name, law), place in zip(laws.items(), places, strict=True)
    ]
    names = ("force", "normal_force", "contact_position", "com", "v", "solver_unfinished", "depth")
    data = (
        hs.Simulator(hs.Scene(hs.load("box", points=corners), *floor)).run(2.0, record=names).data
    )
    normal = data.normal_force.isel(world=0, time=-1)
    assert set(normal.surface.values[normal.values > 0]) == set(laws)
    force = data.force.values[0, -1]
    assert np.abs(force.sum(axis=0) - [0, 0, 5 * G]).max() < 1e-4
    arms = data.contact_position.values[0, -1] - data.com.values[0, -1]
    assert np.abs(np.cross(arms, force).sum(axis=0)).max() < 1e-4
    assert np.abs(data.v.values[0, -1]).max() < 1e-6


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.nightly)])
def test_humanoid_stands_without_false_impacts(dtype):
    """At epsilon, on all eight vertices, by the weight."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane(law=hs.FeedbackLinearized()))
    sim = hs.Simulator(scene, control=hs.Servo(), dtype=dtype)
    data = sim.run(1.0, q0=robot.pose("stance"), progress=False).data
    late = data.depth.values[0, 300:]
    assert (late > 0).all()
    rest = 1e-8 if dtype == "float64" else 1e-6
    assert np.abs(late[-1] - 1e-6).max() < rest
    force = data.normal_force.values[0, -1].sum()
    assert force == pytest.approx(robot.mass * G, rel=1e-6 if dtype == "float64" else 1e-2)


@pytest.mark.parametrize("form", ["discrete", "acceleration"])
@pytest.mark.parametrize("rule", ["consistent", "paper"])
def test_box_stands_with_corners_in_the_air(rule, form):
    """Four corners touch, four do not; yardsticks know the law."""
    vary = {"dt": np.full(1, 1e-4), "ground.kp": np.full(1, 500.0), "ground.kv": np.full(1, 250.0)}
    q0 = [0, 0, 0.05 - 1e-6, 0, 0, 0, 1]
    run = box(rule, form).run(
        steps=2000, q0=q0, v0=np.zeros(6), worlds=1, vary=vary, progress=False
    )
    assert run.data.normal_force.values[0, -1].sum() == pytest.approx(5 * G, rel=1e-6)
    found = hs.yardsticks(run)
    assert found.cone_violation == 0
    assert found.adhesion == 0
    assert found.deepest < 1.1e-6


def test_worlds_are_alone():
    """Eight boxes of different kp, and each by itself: the same bits."""
    kp = np.geomspace(1e2, 1e6, 8)
    q0, v0 = [0, 0, 0.12, 0.1, 0.05, 0, np.sqrt(1 - 0.0125)], [0.3, 0, -1, 1, 2, 0]
    same = {"ground.kv": 250.0, "dt": 1e-3}
    options = {"record": ("q", "force"), "progress": False, "steps": 300}
    vary = {"ground.kp": kp} | {name: np.full(8, value) for name, value in same.items()}
    many = box().run(q0=q0, v0=v0, worlds=8, vary=vary, **options).data
    for i in (0, 3, 7):
        one = {"ground.kp": kp[i : i + 1]} | {k: np.full(1, x) for k, x in same.items()}
        alone = box().run(q0=q0, v0=v0, worlds=1, vary=one, **options).data
        for name in ("q", "force"):
            assert (alone[name].values[0] == many[name].values[i]).all()


@pytest.mark.parametrize("rule", ["consistent", pytest.param("paper", marks=pytest.mark.nightly)])
def test_derivative_of_a_step(rule):
    """Against central differences, sliding and turning a little, four corners inside."""
    sim = box(rule)
    sim.run(steps=1, worlds=1, vary={"dt": 1e-3}, progress=False)
    q, v = np.array([0, 0, 0.049, 0, 0, 0, 1]), np.array([0.01, 0, -0.05, 0.02, 0.01, 0])
    model = sim.robot.model
    sim.reset(q0=q, v0=v)
    slopes = sim.linearize().state

    def step(change):
        sim.reset(q0=pin.integrate(model, q, change[:6]), v0=v + change[6:])
        state = sim.step()
        return state["q"].ravel().copy(), state["v"].ravel().copy()

    h = 1e-6
    for k, way in enumerate(np.eye(12)):
        (q_more, v_more), (q_less, v_less) = step(h * way), step(-h * way)
        found = np.r_[pin.difference(model, q_less, q_more), v_more - v_less] / (2 * h)
        # the coupled solver's tolerance over h; slopes are of order 1
        assert slopes[:, k] == pytest.approx(found, abs=1e-6)
