"""Whether a point is on a link: distances on paper from each kind of shape.

hrp2's hand is a box of 70 x 56 x 110 mm whose lower face has the frame r_hand; the others are made
here.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.impact import virtual_mass
from heelstrike.impact.point_on_link import nearest
from heelstrike.robot.robot import Shape

OCTAHEDRON = np.vstack([np.eye(3), -np.eye(3)])


def shape(kind, size, vertices=None):
    """Moved by (1, 2, 3), not turned."""
    return Shape(
        kind, 0, kind, np.eye(3), np.array([1.0, 2.0, 3.0]), np.array(size), vertices=vertices
    )


@pytest.mark.parametrize(
    ("kind", "size", "vertices", "place", "expected"),
    [
        ("box", [0.1, 0.2, 0.3], None, [1.5, 2.5, 3.1], [1.1, 2.2, 3.1]),
        ("sphere", [0.2], None, [1.0, 2.6, 3.8], [1.0, 2.12, 3.16]),
        ("capsule", [0.1, 0.4], None, [1.3, 2.0, 3.2], [1.1, 2.0, 3.2]),
        ("cylinder", [0.1, 0.4], None, [1.3, 2.4, 3.6], [1.06, 2.08, 3.4]),
        ("ellipsoid", [0.1, 0.2, 0.3], None, [1.0, 3.0, 3.0], [1.0, 2.2, 3.0]),
        ("mesh", [], OCTAHEDRON, [2.0, 3.0, 4.0], [4 / 3, 7 / 3, 10 / 3]),
        ("box", [0.1, 0.2, 0.3], None, [1.05, 2.1, 3.2], [1.05, 2.1, 3.2]),
    ],
)
def test_nearest_points(kind, size, vertices, place, expected):
    found = nearest(shape(kind, size, vertices), np.array(place))
    assert np.allclose(found, expected, atol=1e-6)  # the weight of sum w_i = 1, squared


def test_points_off_the_hand_are_told_with_the_nearest_one():
    robot = hs.load("hrp2", collide="feet")
    q = robot.pose("stance")
    assert virtual_mass(robot, q, "r_hand", point=(0.05, 0.0, 0.0)) > 0  # 16 mm outside
    told = r"0\.266 m from it, nearest to \(0\.034, 0, 0\.001\)"
    with pytest.raises(hs.HeelstrikeError, match=told):
        virtual_mass(robot, q, "r_hand", point=(0.3, 0.0, 0.0))
    with pytest.raises(hs.HeelstrikeError, match="three numbers in its frame"):
        virtual_mass(robot, q, "r_hand", point=(0.3, 0.0))


def test_a_mesh_that_cannot_be_read_says_nothing():
    assert nearest(shape("mesh", []), np.zeros(3)) is None
