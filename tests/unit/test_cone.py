"""Nearest points of cone and tube against Moreau's decomposition, slopes by central differences.

f is the nearest point of a cone to z exactly where f is in the cone, z - f in its polar cone, and
both are orthogonal.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.solver.cone import in_cone, in_tube
from heelstrike.ir.number import split_numbers, value_of

MU, RADIUS = 0.7, 0.4
POINTS = np.random.default_rng(0).normal(size=(200, 3))


def evaluated(near):
    """Return functions of z: the nearest point, and its slope."""
    z = ca.SX.sym("z", 3)
    found = near(z)
    whole = ca.vertcat(found.f, ca.vec(found.slope()))
    _, numbers = split_numbers(ca.symvar(whole))
    values = ca.DM([value_of(x) for x in numbers])
    function = ca.Function("near", [z, ca.vertcat(*numbers)], [found.f, found.slope()])
    return lambda x: [np.array(y).squeeze() for y in function(x, values)]


def test_cone_divides_a_point_into_a_part_of_its_own_and_one_of_its_polar():
    near = evaluated(lambda z: in_cone(z, ca.SX(MU)))
    for z in POINTS:
        f, _ = near(z)
        rest = z - f
        # rounding of numbers of order 1
        assert np.linalg.norm(f[:2]) <= MU * f[2] + 1e-14
        assert rest[2] <= -MU * np.linalg.norm(rest[:2]) + 1e-14
        assert abs(f @ rest) < 1e-14


def test_tube_clamps_both_parts():
    near = evaluated(lambda z: in_tube(z, ca.SX(RADIUS)))
    for z in POINTS:
        size = np.linalg.norm(z[:2])
        expected = [*(z[:2] * min(1, RADIUS / size)), max(z[2], 0)]
        np.testing.assert_allclose(near(z)[0], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "near",
    [lambda z: in_cone(z, ca.SX(MU)), lambda z: in_tube(z, ca.SX(RADIUS))],
    ids=["cone", "tube"],
)
def test_slope_is_the_derivative(near):
    near, h = evaluated(near), 1e-6
    for z in POINTS:
        columns = [(near(z + h * e)[0] - near(z - h * e)[0]) / (2 * h) for e in np.eye(3)]
        # differences: h^2 times third derivatives at the smallest |z_t| of the points
        np.testing.assert_allclose(near(z)[1], np.transpose(columns), rtol=0, atol=1e-7)
