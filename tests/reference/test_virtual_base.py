"""Virtual base, generalised inertia and Jacobian, neglected terms and ZMP against Pinocchio.

The oracle is the constrained system: with the feet's Jacobian J_c, H^-1 - H^-1 J_c^T (J_c H^-1
J_c^T)^-1 J_c H^-1; and the definition of (5): momentum of the free robot is zero.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.impact import VirtualBase, estimate, virtual_mass
from heelstrike.impact.hit import GENERALIZED, OWN, hit, square
from heelstrike.impact.motion import motion_kernel
from heelstrike.impact.support import hull, margin

FEET = ("l_sole_center", "r_sole_center")


@cache
def robot():
    return hs.load("hoap1", collide="feet")


def posture(seed=0):
    """The stance with other arms: the feet stay where they are."""
    q = robot().pose("stance")
    arms = [j.iq for j in robot().joints if "SH" in j.name or "EL" in j.name]
    q[arms] += np.random.default_rng(seed).uniform(-0.4, 0.4, len(arms))
    return q


class Oracle:
    """Pinocchio at a posture."""

    def __init__(self, q, links, masses=None):
        self.model = model = robot().model.copy()
        for name in links if masses else ():
            i = robot().body(name) + 1
            model.inertias[i] = pin.Inertia(masses, model.inertias[i].lever, masses * np.eye(3))
        self.data, self.q = model.createData(), q
        h = pin.crba(model, self.data, q)
        self.h = np.triu(h) + np.triu(h, 1).T
        pin.computeJointJacobians(model, self.data, q)
        pin.updateFramePlacements(model, self.data)
        bodies = [robot().body(name) + 1 for name in links]
        self.feet = np.vstack(
            [pin.getJointJacobian(model, self.data, i, pin.LOCAL) for i in bodies]
        )

    def hand(self, link):
        frame = self.model.getFrameId(link)
        return pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)

    def constrained(self):
        inverse = np.linalg.inv(self.h)
        x = inverse @ self.feet.T
        return inverse - x @ np.linalg.solve(self.feet @ x, x.T)


@pytest.mark.parametrize("links", [FEET, FEET[:1]])
def test_virtual_base_of_5(links):
    """H* and J* by their definition, with M_g = I_g = 1e5 on one sole or both."""
    q = posture()
    made = hit(robot(), "r_hand", "x", base=VirtualBase(links))
    found = made.at(q, OWN + GENERALIZED)
    oracle = Oracle(q, links, 1e5)
    h_b, h_bm, h_m = oracle.h[:6, :6], oracle.h[:6, 6:], oracle.h[6:, 6:]
    b = -np.linalg.solve(h_b, h_bm)
    jac = oracle.hand("r_hand")
    h_star, j_star = h_m + h_bm.T @ b, jac[:, 6:] + jac[:, :6] @ b
    # entries of 1e5 cancel to less than 1: 1e-13 of them is left
    assert np.allclose(found["inertia"][0], h_star, rtol=0, atol=1e-8)
    assert np.allclose(found["jacobian"][0], j_star, atol=1e-9)
    inverse = square(found["inverse"][0], made.n)
    assert np.allclose(inverse @ h_star, np.eye(made.n), atol=1e-7)
    whole = jac[0] @ np.linalg.solve(oracle.h, jac[0])  # the base's own yield included
    assert abs(found["m_a"][0, 0] * whole - 1) < 1e-9


@pytest.mark.parametrize("links", [FEET, FEET[:1]])
def test_fixed_links_are_the_constrained_system(links):
    q = posture(1)
    made = hit(robot(), "r_hand", (1, 2, 3), base=VirtualBase(links, mass=np.inf))
    found = made.at(q)
    oracle = Oracle(q, links)
    exact = oracle.constrained()
    inverse = square(found["inverse"][0], made.n)
    assert np.allclose(inverse, exact[6:, 6:], atol=1e-12 * np.abs(exact).max())
    n = np.array([1, 2, 3]) / np.sqrt(14)
    j = oracle.hand("r_hand")[:3].T @ n
    assert abs(found["m_a"][0, 0] * (j @ exact @ j) - 1) < 1e-11
    assert np.allclose(found["follows"][0], (exact @ j)[6:], atol=1e-11 * np.abs(exact @ j).max())
    v = np.concatenate([found["base"][0] @ found["follows"][0], found["follows"][0]])
    assert np.abs(oracle.feet @ v).max() < 1e-12 * np.abs(oracle.feet).max() * np.abs(v).max()


def test_the_error_of_a_huge_mass_falls_as_one_over_it():
    q = posture(2)
    exact = virtual_mass(robot(), q, "r_hand", direction="z", base=VirtualBase(mass=np.inf))
    errors = []
    for mass in (1e4, 1e5):
        base = VirtualBase(mass=mass, inertia=mass)
        errors.append(1 - virtual_mass(robot(), q, "r_hand", direction="z", base=base) / exact)
    assert 0 < errors[1] < 1e-3
    assert abs(errors[0] / errors[1] - 10) < 0.1


def test_a_lifted_foot_costs_no_compilation():
    """Single and double support are inputs of one program."""
    both, left = (hit(robot(), "r_hand", base=VirtualBase(x)) for x in (FEET, FEET[0]))
    assert both.candidates == left.candidates
    assert not np.array_equal(both.inputs()["held"], left.inputs()["held"])


def test_neglected_terms():
    """c*, g and J_dot phi_d from Pinocchio's bias forces, the feet at rest."""
    q = posture(3)
    made = hit(robot(), "r_hand", "x", base=VirtualBase(mass=np.inf))
    own = made.at(q)
    turning = own["follows"][0] / np.abs(own["follows"][0]).max()
    found = motion_kernel(made, ("coriolis", "weight", "drift", "wrench"))(
        q=q, turning=turning, rate=np.zeros(made.n), force=[0.0], point=made.point,
        direction=made.direction, gravity=[9.81],
    )  # fmt: skip
    model = robot().model.copy()
    data = model.createData()
    b = own["base"][0]
    v = np.concatenate([b @ turning, turning])
    bodies = [robot().body(name) + 1 for name in FEET]
    pin.forwardKinematics(model, data, q, v, 0 * v)
    bias = np.concatenate([data.a[i].vector for i in bodies])
    feet = Oracle(q, FEET).feet
    a_0 = -np.linalg.lstsq(feet[:, :6], bias, rcond=None)[0]
    still = np.concatenate([a_0, 0 * turning])
    for field, gravity, name in ((0.0, v, "coriolis"), (-9.81, 0 * v, "weight")):
        model.gravity.linear = np.array([0, 0, field])
        acceleration = still if name == "coriolis" else 0 * v
        tau = pin.rnea(model, data, q, gravity, acceleration)
        assert np.allclose(found[name], tau[6:] + b.T @ tau[:6], atol=1e-10)
    model.gravity.linear = np.zeros(3)
    pin.forwardKinematics(model, data, q, v, still)
    frame = model.getFrameId("r_hand")
    pin.updateFramePlacements(model, data)
    seen = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    assert abs(found["drift"][0] - seen.linear[0]) < 1e-11


def test_zmp_of_a_history():
    """Inverse dynamics of Pinocchio at a sample of the impact, the hand's force taken off."""
    q = posture(4)
    made = estimate(
        robot(), q, "r_hand", "x", speed=0.3, target=hs.impact.Target(mass=0.5),
        law=hs.LinearSpring(k=2e3, c=20.0), base=VirtualBase(mass=np.inf), duration=0.02,
    )  # fmt: skip
    model = robot().model
    data = model.createData()
    about = hit(robot(), "r_hand", base=VirtualBase(mass=np.inf)).at(q)
    b, place = about["base"][0], about["hand"][0]
    feet = Oracle(q, FEET).feet
    for k in (0, 57, 150):
        turning, rate = made.history.joint_velocity[0, k], made.history.joint_acceleration[0, k]
        v = np.concatenate([b @ turning, turning])
        pin.forwardKinematics(model, data, q, v, 0 * v)
        bias = np.concatenate([data.a[robot().body(name) + 1].vector for name in FEET])
        a_0 = -np.linalg.lstsq(feet[:, :6], bias, rcond=None)[0]
        a = np.concatenate([b @ rate + a_0, rate])
        pin.rnea(model, data, q, v, a)
        total = data.oMi[1].act(data.f[1])  # what the base's joint would have to carry
        push = np.array([-made.history.force[0, k], 0, 0])
        force, moment = total.linear - push, total.angular - np.cross(place, push)
        zmp = np.array([-moment[1], moment[0]]) / force[2]
        assert np.allclose(made.history.zmp[0, k], zmp, atol=1e-9)


def test_margin_of_a_square():
    corners = hull(np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0]], dtype=float))
    assert len(corners) == 4
    found = margin(np.array([[1.0, 0.5], [3.0, 1.0], [1.0, 1.0]]), corners)
    assert np.allclose(found, [0.5, -1.0, 1.0])
