"""Simplified dynamics computation against closed forms and an independent integrator.

Two masses and a damper that works on the way in only: impulse m (1 + e) v, e = exp(-z B) with
z = c / (2 sqrt(k m)), B = acos(z) / sqrt(1 - z^2), from m d'' + c d' + k d = 0 going in and
m d'' + k d = 0 coming out. With K_d = kappa H the joints move as one mass m_a with a damper
kappa m_a to v_c. Everything else: scipy's solve_ivp on (9), (10), (12) in plain numpy.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import heelstrike as hs
from heelstrike.impact import Target, VirtualBase, estimate, point_impact, virtual_mass
from heelstrike.impact.kernels import KernelRun
from heelstrike.impact.kernels import kept as run_kept
from heelstrike.impact.simplified import Plan
from heelstrike.impact.target import law_inputs
from tests.impact import arm, gantry

K, C = 1e4, 300.0
LAW = hs.LinearSpring(k=K, c=C)
OBLIQUE = (1.0, 2.0, -2.0)
POSE = np.array([0.3, 0.9, 0.4])


def closed_form(m_a, m_t, v, k=K, c=C):
    """Impulse of two masses [N s]."""
    m = m_a * m_t / (m_a + m_t)
    z = c / (2 * np.sqrt(k * m))
    b = np.arccos(z) / np.sqrt(1 - z**2) if z < 1 else np.arccosh(z) / np.sqrt(z**2 - 1)
    return m * (1 + np.exp(-z * b)) * v


@pytest.mark.parametrize("m_a", [1.5, 4.0, 8.0, 30.0])
@pytest.mark.parametrize(("m_t", "v"), [(5.0, 1.0), (1.0, 0.2), (20.0, 3.0)])
def test_two_masses_meet_as_the_closed_form_says(m_a, m_t, v):
    ran = point_impact(m_a, v, Target(mass=m_t), LAW, duration=0.3)
    # RK4 at 0.1 ms, the end of contact within a step: 2e-5 measured
    assert abs(ran.impulse[0] / closed_form(m_a, m_t, v) - 1) < 1e-4
    assert ran.impulse[0] > 0


def test_the_largest_force_is_the_first():
    """f(0) = c v_c, and it falls while m < c^2 / k = 9 kg."""
    ran = point_impact([2.0, 4.0, 50.0], 0.7)
    assert np.abs(ran.peak / (C * 0.7) - 1).max() < 1e-6


def test_convergence_order_of_both_schemes():
    """A spring alone, stopped in contact: no jump spoils the order."""
    exact = 2.0 * (1 - np.cos(np.sqrt(K / 2.0) * 0.01))  # reduced mass 2 kg
    for integrator, order in (("rk4", 4), ("symplectic", 1)):
        errors = []
        for dt in (1e-3, 5e-4):
            ran = point_impact(
                4.0, 1.0, Target(mass=4.0), hs.LinearSpring(k=K, c=0.0), 0.01, dt, integrator
            )
            errors.append(abs(ran.impulse[0] - exact))
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.3


def test_without_servo_the_robot_is_its_virtual_mass(tmp_path):
    robot = arm(tmp_path)
    q = np.array([POSE, -POSE, [0.1, -1.2, 0.7]])
    made = estimate(robot, q, "hand", OBLIQUE, speed=[0.4, 0.7, 1.0], kp=0, kd=0, law=LAW)
    masses = virtual_mass(robot, q, "hand", direction=OBLIQUE)
    alone = point_impact(masses, [0.4, 0.7, 1.0], law=LAW)
    assert np.allclose(made.impulse, alone.impulse, rtol=1e-9)
    assert np.allclose(made.peak, alone.peak, rtol=1e-9)


def test_damping_proportional_to_inertia_is_one_damper(tmp_path):
    """K_d = kappa H: m_a v' = -f + kappa m_a (v_c - v); H of the gantry is diagonal."""
    robot, kappa, v_c = gantry(tmp_path), 200.0, 0.8
    n = np.array(OBLIQUE) / 3.0
    m_a = 1 / (n**2 / [6.0, 3.0, 1.0]).sum()
    made = estimate(
        robot, np.zeros(3), "c", OBLIQUE, speed=v_c, torque="damping", law=LAW,
        kd={"x": 6 * kappa, "y": 3 * kappa, "z": kappa}, kp=0,
    )  # fmt: skip
    assert abs(made.virtual_mass[0] / m_a - 1) < 1e-12

    def rates(t, s):
        x, v, moved, rate, _ = s
        d, w = x - moved + 1e-12, v - rate
        f = K * d + C * max(w, 0) if d > 0 else 0.0
        return [v, (-f + kappa * m_a * (v_c - v)) / m_a, rate, f / 5.0, f]

    ended = solve_ivp(rates, (0, 0.1), [0, v_c, 0, 0, 0], max_step=1e-4, rtol=1e-10, atol=1e-13)
    assert abs(made.impulse[0] / ended.y[4, -1] - 1) < 1e-5  # both end contact within a step
    inputs = {"inverse": 1 / m_a, "j": 1.0, "kd": kappa * m_a, "speed": v_c, "base_yield": 0.0,
              "dt": 1e-4, **Target().inputs(), **law_inputs(LAW)}  # fmt: skip
    lot = KernelRun(inputs, {}, hits=1, steps=1000, every=1000)
    single = run_kept(Plan(1, LAW, limited=False), lot)
    assert abs(made.impulse[0] / single.impulse[0] - 1) < 1e-10  # the same steps, one mass
    krylov = estimate(
        robot, np.zeros(3), "c", OBLIQUE, speed=v_c, torque="damping", law=LAW, method="krylov",
        kd={"x": 6 * kappa, "y": 3 * kappa, "z": kappa}, kp=0, modes=1,
    )  # fmt: skip
    assert abs(krylov.impulse[0] / made.impulse[0] - 1) < 1e-9  # one vector is enough
    bounds = closed_form(m_a, 5.0, v_c), closed_form(1e12, 5.0, v_c)
    assert bounds[0] < made.impulse[0] < bounds[1]


def independent(robot, q, n, speed, kp, kd, limit, duration):
    """Impulse by (9), (10), (12) in numpy and scipy, inertia from Pinocchio."""
    import pinocchio as pin

    model = robot.model
    data = model.createData()
    h = pin.crba(model, data, q)
    h = np.triu(h) + np.triu(h, 1).T
    pin.forwardKinematics(model, data, q)
    jac = pin.computeJointJacobian(model, data, q, model.njoints - 1)
    j = (data.oMi[model.njoints - 1].rotation @ jac[:3]).T @ n
    a, weight = np.linalg.inv(h), pin.computeGeneralizedGravity(model, data, q)
    reference = a @ j * speed / (j @ a @ j)
    size = len(j)

    def rates(t, s):
        u, e = s[:size], s[size : 2 * size]
        x, moved, rate = s[2 * size : 2 * size + 3]
        v = j @ (reference + u)
        d = x - moved + 1e-12
        f = K * d + C * max(v - rate, 0) if d > 0 else 0.0
        tau = np.clip(weight - kp * e - kd * u, -limit, limit) - weight
        return np.concatenate([a @ (tau - j * f), u, [v, rate, f / 5.0, f]])

    start = np.zeros(2 * size + 4)
    return solve_ivp(rates, (0, duration), start, max_step=1e-4, rtol=1e-9, atol=1e-12).y[-1, -1]


@pytest.mark.parametrize("limit", [3.0, 1e3])
def test_servo_and_limits_against_an_independent_integrator(tmp_path, limit):
    robot = arm(tmp_path)
    n = np.array(OBLIQUE) / 3.0
    gains = {"kp": 400.0, "kd": 12.0, "limit": limit}
    made = estimate(robot, POSE, "hand", OBLIQUE, speed=0.6, law=LAW, duration=0.05, **gains)
    other = independent(robot, POSE, n, 0.6, 400.0, 12.0, limit, 0.05)
    assert (made.neglected.load[0] > 1) == (limit == 3.0)
    # the kinks of the limit and of contact fall within steps of 0.1 ms: 3e-6 measured
    assert abs(made.impulse[0] / other - 1) < 3e-5


def test_the_faster_form_is_exact_with_all_vectors_and_falls_back(tmp_path):
    robot = arm(tmp_path)
    q = np.array([POSE, -POSE])
    for torque in ("damping", "full"):
        options = {"speed": [0.3, 0.9], "law": LAW, "kp": 300.0, "kd": 10.0, "torque": torque}
        kept = estimate(robot, q, "hand", OBLIQUE, **options)
        quick = estimate(robot, q, "hand", OBLIQUE, method="krylov", modes=3, **options)
        assert not quick.fell_back.any()
        # the same linear equations in another basis
        assert np.allclose(quick.impulse, kept.impulse, rtol=1e-10)
        assert np.allclose(
            quick.history.joint_acceleration, kept.history.joint_acceleration, rtol=1e-7, atol=1e-6
        )
    loads = estimate(robot, q, "hand", OBLIQUE, limit=100.0, **options).neglected.load
    options |= {"limit": 100.0 * float(loads.mean())}  # one of the two hits reaches it
    kept = estimate(robot, q, "hand", OBLIQUE, **options)
    quick = estimate(robot, q, "hand", OBLIQUE, method="krylov", modes=3, **options)
    assert quick.fell_back.any()
    assert not quick.fell_back.all()
    assert np.allclose(quick.impulse, kept.impulse, rtol=1e-10)


def test_scheme_a_is_the_same_where_inertia_is_constant(tmp_path):
    robot = gantry(tmp_path)
    options = {"speed": 0.8, "law": LAW, "kp": 500.0, "kd": 80.0, "limit": 60.0}
    kept = estimate(robot, np.zeros(3), "c", OBLIQUE, **options)
    anew = estimate(robot, np.zeros(3), "c", OBLIQUE, method="anew", **options)
    assert np.allclose(anew.impulse, kept.impulse, rtol=1e-12)
    assert np.allclose(anew.history.force, kept.history.force, rtol=1e-9, atol=1e-9)


def test_scheme_a_departs_with_the_angles(tmp_path):
    """Keeping inertia and Jacobian costs in proportion to the angles that pass: assumption (ii)."""
    robot = arm(tmp_path)
    errors, angles = [], []
    for speed in (0.05, 0.1):
        options = {"speed": speed, "law": LAW, "kp": 0.0, "kd": 0.0, "duration": 0.03}
        kept = estimate(robot, POSE, "hand", OBLIQUE, **options)
        anew = estimate(robot, POSE, "hand", OBLIQUE, method="anew", **options)
        errors.append(abs(anew.impulse[0] / kept.impulse[0] - 1))
        angles.append(kept.neglected.angle[0])
    assert abs(errors[1] / errors[0] / (angles[1] / angles[0]) - 1) < 0.1


@pytest.mark.parametrize("method", ["kept", "anew"])
def test_joint_friction_slows_as_it_must(tmp_path, method):
    """No contact: m v' = -d v, and m v' = -F."""
    away = Target(gap=1.0)
    options = {"speed": 0.5, "target": away, "kp": 0, "kd": 0, "method": method, "duration": 0.05}
    robot = gantry(tmp_path, damping=20.0)
    made = estimate(robot, np.zeros(3), "c", "x", **options)
    v = made.history.joint_velocity[0, :, 0]
    assert np.allclose(v, 0.5 * np.exp(-20.0 / 6.0 * made.history.time), rtol=1e-9)
    robot = gantry(tmp_path, friction=4.0)
    made = estimate(robot, np.zeros(3), "c", "x", **options)
    v = made.history.joint_velocity[0, :, 0]
    assert np.allclose(v, 0.5 - 4.0 / 6.0 * made.history.time, rtol=1e-9)
    without = estimate(robot, np.zeros(3), "c", "x", friction=False, **options)
    assert np.allclose(without.history.joint_velocity[0, :, 0], 0.5, rtol=1e-12)


def test_targets_free_sprung_fixed_and_moving(tmp_path):
    """A spring of k/2 behind a target without mass is a softer contact; a fixed target is an
    infinite mass; one that comes adds its speed.
    """
    light = Target(mass=1e-4, k=K)
    spring = hs.LinearSpring(k=K, c=0.0)
    ran = point_impact(2.0, 1.0, light, spring, duration=0.01, dt=1e-5)
    exact = 2.0 * (1 - np.cos(np.sqrt(K / 2 / 2.0) * 0.01))
    assert abs(ran.impulse[0] / exact - 1) < 1e-3  # the target's mass is not quite nothing
    fixed = point_impact(4.0, 0.5, Target(mass=np.inf), LAW, duration=0.2)
    assert abs(fixed.impulse[0] / closed_form(4.0, 1e12, 0.5) - 1) < 1e-4
    coming = point_impact(4.0, 0.5, Target(velocity=-0.5), LAW)
    assert abs(coming.impulse[0] / closed_form(4.0, 5.0, 1.0) - 1) < 1e-4


def test_any_elastic_law_may_be_the_contact():
    """Hunt-Crossley rebounds as its own closed form says."""
    from heelstrike.contact.restitution import restitution

    law = hs.HuntCrossley(k=5e4, alpha=0.4, n=1.5)
    ran = point_impact(4.0, 1.0, Target(), law, duration=0.3)
    m = 4.0 * 5.0 / 9.0
    assert abs(ran.impulse[0] / (m * (1 + float(restitution(0.4, 1.0)))) - 1) < 1e-5
    for other in (hs.PoissonSpring(), hs.TimestepDamper(hs.LinearSpring(k=1e4, c=100))):
        assert point_impact(4.0, 1.0, law=other).impulse[0] > m


def test_a_batch_has_the_bits_of_hits_alone(tmp_path):
    robot = arm(tmp_path)
    rng = np.random.default_rng(1)
    q, speed = rng.uniform(-1, 1, (11, 3)), rng.uniform(0.2, 1, 11)
    mass = rng.uniform(1, 9, 11)
    stiff = rng.uniform(5e3, 2e4, 11)
    options = {"law": LAW, "kp": 100.0, "kd": 5.0}
    whole = estimate(
        robot, q, "hand", "z", speed, target=Target(mass), vary={"k": stiff}, **options
    )
    for i in (0, 10):
        one = estimate(
            robot, q[i], "hand", "z", speed[i], target=Target(mass[i]), vary={"k": stiff[i]},
            **options,
        )  # fmt: skip
        assert whole.impulse[i] == one.impulse[0]
        assert whole.peak[i] == one.peak[0]


def test_bad_input_is_told_in_a_sentence(tmp_path):
    robot = arm(tmp_path)
    cases = [
        ({"point": (9.0, 0, 0)}, "is not on link"),
        ({"direction": (0, 0, 0)}, "says no way to hit"),
        ({"direction": "up"}, "a direction is x, y or z"),
        ({"speed": -0.2}, "does not approach"),
        ({"speed": None}, "pass either the hand's speed"),
        ({"law": hs.Elastic()}, "is a normal law"),
        ({"base": VirtualBase("hand")}, "has a fixed base"),
        ({"vary": {"nothing": 1}}, "no parameter 'nothing'"),
        ({"method": "guess"}, "no method 'guess'"),
        ({"dt": 0.0}, "0 < dt"),
    ]
    for options, words in cases:
        with pytest.raises(hs.HeelstrikeError, match=words):
            estimate(robot, POSE, "hand", **({"speed": 0.5} | options))
    with pytest.raises(hs.HeelstrikeError, match="has no body 'fist'"):
        estimate(robot, POSE, "fist", speed=1.0)
    with pytest.raises(hs.HeelstrikeError, match=r"already 0\.01 m inside"):
        Target(gap=-0.01)
    with pytest.raises(hs.HeelstrikeError, match="mass is above 0"):
        Target(mass=-1.0)
    with pytest.raises(hs.HeelstrikeError, match="finite numbers"):
        estimate(robot, np.zeros(5), "hand", speed=1.0)


def test_more_hits_than_a_chunk_are_the_same_hits(tmp_path, monkeypatch):
    """Chunks, single precision in the steps, and hits as many as joints."""
    import heelstrike.impact.estimates as estimating

    robot = arm(tmp_path)
    q = np.random.default_rng(2).uniform(-1, 1, (3, 3))
    options = {"speed": 0.5, "law": LAW, "kp": 300.0, "kd": 10.0, "limit": 4.0}
    whole = estimate(robot, q, "hand", "z", **options)
    quick = estimate(robot, q, "hand", "z", method="krylov", modes=3, **options)
    assert quick.fell_back.any()
    assert np.allclose(quick.impulse, whole.impulse, rtol=1e-9)
    monkeypatch.setattr(estimating, "CHUNK", 2)
    parts = estimate(robot, q, "hand", "z", **options)
    assert np.array_equal(parts.impulse, whole.impulse)
    assert np.array_equal(parts.history.force, whole.history.force)
    assert np.array_equal(parts.neglected.coriolis, whole.neglected.coriolis)
    single = estimate(robot, q, "hand", "z", dtype="float32", **options)
    assert np.allclose(single.impulse, whole.impulse, rtol=1e-3)  # 500 sums of 1e-7 and kinks
