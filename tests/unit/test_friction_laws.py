"""Friction laws on a few numbers, and on a mass that is pulled over a surface.

Oracle: Coulomb's law, and a spring of stiffness k_t. Single evaluations agree to 1e-12 relative: a
handful of roundings.
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.linear_spring import LinearSpring
from tests.touch import surface, tangent


def test_kinetic_opposes_slip_at_every_angle():
    """(7), (11): mu f_n against the slip, no pyramid."""
    law = Kinetic(mu=0.5)
    for angle in np.arange(64) * 2 * pi / 64:
        slip = 0.2 * np.array([np.cos(angle), np.sin(angle)])
        f, _ = tangent(law, slip)
        assert np.allclose(f, -0.5 * 10 * slip / 0.2, rtol=0, atol=5e-12)


def test_kinetic_below_epsilon():
    """Nothing at rest and up to epsilon; with epsilon = 0 finite at any slip."""
    law = Kinetic(mu=0.5, epsilon=1e-3)
    assert np.all(tangent(law, (0, 0))[0] == 0)
    assert np.all(tangent(law, (1e-3, 0))[0] == 0)
    assert tangent(law, (1.001e-3, 0))[0][0] == pytest.approx(-5, rel=1e-12)
    sharp = Kinetic(mu=0.5, epsilon=0)
    assert np.all(tangent(sharp, (0, 0))[0] == 0)
    assert tangent(sharp, (0, 1e-11))[0][1] == pytest.approx(-5, rel=1e-12)


def test_bristle_sticks_and_slides_on_numbers():
    """Trial force inside the cone, or mu_k f_n along it; the anchor reproduces the force."""
    law = Bristle(mu_s=0.8, mu_k=0.5, k_t=1e4, c_t=100)
    anchored = (0.001, 0, 1)
    f, memory = tangent(law, (0.01, 0), position=(0.0014, 0), memory=anchored)
    assert np.allclose(f, [-4 - 1, 0], rtol=1e-12)
    assert np.array_equal(memory, anchored)
    f, memory = tangent(law, (0.01, 0), position=(0.0019, 0), memory=anchored)
    assert np.allclose(f, [-5, 0], rtol=1e-12)
    assert memory[2] == 2
    again, _ = tangent(law, (0.01, 0), position=(0.0019, 0), memory=(*memory[:2], 1))
    assert np.allclose(again, f, rtol=1e-12)


def test_bristle_begins_at_the_point():
    """At first touch the spring is unbent, wherever the point is."""
    f, memory = tangent(Bristle(c_t=100), (0.01, -0.02), position=(3, 4))
    assert np.allclose(f, [-1, 2], rtol=1e-12)
    assert np.array_equal(memory, [3, 4, 1])


def test_bristle_has_hysteresis():
    """Between mu_k and mu_s a sticking point holds and a sliding one goes on sliding."""
    law = Bristle(mu_s=0.8, mu_k=0.5, k_t=1e4, c_t=0)
    position, f_n = (0.0006, 0), 10.0  # trial force 6 N, between 5 and 8
    held, memory = tangent(law, (0, 0), f_n, position, memory=(0, 0, 1))
    assert held[0] == pytest.approx(-6, rel=1e-12)
    assert memory[2] == 1
    slid, memory = tangent(law, (0, 0), f_n, position, memory=(0, 0, 2))
    assert slid[0] == pytest.approx(-5, rel=1e-12)
    assert memory[2] == 2
    _, memory = tangent(law, (0, 0), f_n, (0.0004, 0), memory=(0, 0, 2))
    assert memory[2] == 1


def pulled(law, pull, steps, m=1.0, f_n=10.0, dt=1e-3):
    """Places of a mass on the surface, pulled sideways by a force of step i."""
    touch = surface(Elastic(LinearSpring(k=1e4, c=0), law))
    x, v, memory = np.zeros(2), np.zeros(2), None
    places, forces = [], []
    for i in range(steps):
        _, _, f_t, memory = touch(f_n / 1e4, 0.0, v, x, dt, memory)
        v = v + (np.asarray(pull(i)) + f_t) / m * dt
        x = x + v * dt
        places.append(x)
        forces.append(f_t)
    return np.array(places), np.array(forces)


def test_bristle_rests_truly_below_the_limit():
    """Under half the limit load the point stands still where the bent spring holds it."""
    places, forces = pulled(Bristle(), lambda i: (4, 0), 2000)
    assert places[-1][0] == pytest.approx(4 / 2e4, rel=1e-9)  # damped: exp(-50 t)
    assert abs(places[-1] - places[1000]).max() < 1e-12
    assert forces[-1][0] == pytest.approx(-4, rel=1e-9)
    creeping, _ = pulled(Kinetic(), lambda i: (4, 0), 2000)
    assert creeping[-1][0] - creeping[1000][0] > 1e-3


def test_bristle_breaks_loose_at_mu_s_and_slides_at_mu_k():
    """A slow ramp: the largest force is mu_s f_n, the last mu_k f_n; no sawtooth between them."""
    _, forces = pulled(Bristle(mu_s=0.8, mu_k=0.5), lambda i: (i * 4e-3, 0), 3000)
    assert -forces.min() == pytest.approx(8, rel=2e-3)  # one step of the ramp is 4e-3 N
    assert np.allclose(forces[-800:, 0], -5, rtol=1e-9)


def test_bristle_force_turns_with_the_slip():
    """Dragged along a circle, the force ends against the slip: no pyramid."""
    touch = surface(Elastic(LinearSpring(k=1e4, c=0), Bristle(mu_s=0.5, mu_k=0.5)))
    memory = None
    for angle in np.linspace(0, 4 * pi, 8001):
        position = np.array([np.cos(angle), np.sin(angle)])
        slip = np.array([-position[1], position[0]])
        _, _, f_t, memory = touch(1e-3, 0.0, slip, position, 4 * pi / 8000, memory)
        assert np.linalg.norm(f_t) <= 5 * (1 + 1e-12)
    # the spring trails behind by its deflection: 5 N / 2e4 N/m on a circle of 1 m, and one step
    assert f_t @ slip == pytest.approx(-5, rel=1e-5)
