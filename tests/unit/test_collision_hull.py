"""Hulls by which meshes collide: few corners, close to the whole hull.

Oracles: the distance of every vertex from the reduced hull, a problem of least squares with
weights that are not negative; volumes and corners worked out by hand.
"""

import warnings

import numpy as np
import pytest
from scipy.optimize import nnls

from heelstrike.robot import load
from heelstrike.robot.collision_hull import MAX_CORNERS, collision_hull, reduce_hull
from heelstrike.robot.mesh import hull
from tests.models import example_file

NO_TRIANGLES = np.zeros((0, 3), dtype=int)
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def distance(place: np.ndarray, corners: np.ndarray) -> float:
    """Return the distance of a place from the convex hull of corners (n, 3)."""
    away = (corners - place).T
    weights, _ = nnls(np.vstack([away, np.ones(len(corners))]), np.array([0.0, 0.0, 0.0, 1.0]))
    return float(np.linalg.norm(away @ weights) / weights.sum())


def sphere(count: int) -> np.ndarray:
    ball = np.random.default_rng(0).normal(size=(count, 3))
    return ball / np.linalg.norm(ball, axis=1)[:, None]


def test_a_rounded_box_keeps_a_corner_each():
    """Fillets of 4 mm on a box of 1 m are within the tolerance of 1 %: eight corners remain."""
    vertices = np.vstack([0.5 * corner + 4e-3 * sphere(200) for corner in CUBE])
    found = collision_hull(vertices, NO_TRIANGLES)
    assert len(found.corners) == 8
    assert len(found.vertices) > 100
    assert {tuple(np.sign(v)) for v in found.vertices[found.corners]} == {tuple(c) for c in CUBE}
    assert 0 < found.error < 0.01


@pytest.mark.parametrize("stretch", [(1, 1, 1), (1, 0.3, 0.1), (0.05, 0.05, 0.3)])
def test_the_error_is_the_distance_from_the_whole_hull(stretch):
    """Smooth hulls need all corners; no vertex is farther away than the error, by nnls."""
    whole = hull(sphere(600) * stretch)[0]
    corners, error = reduce_hull(whole)
    assert 12 <= len(corners) <= MAX_CORNERS
    farthest = max(distance(vertex, whole[corners]) for vertex in whole)
    # exact where the farthest vertex lies above a face; above an edge it is a little farther
    assert error <= farthest + 1e-12
    assert farthest < 1.1 * error
    # 24 points of a unit sphere leave gaps of at least 13 % of the radius; 20 % is near the best
    assert error < 0.2 * max(stretch)


def test_flat_and_small_meshes():
    """A flat mesh keeps its outline; one smaller than the tolerance a single corner."""
    square = np.array([[x, y, 0.0] for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)])
    found = collision_hull(square, NO_TRIANGLES)
    assert {tuple(v) for v in found.vertices[found.corners]} == {
        (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)
    }  # fmt: skip
    speck = collision_hull(1e-4 * CUBE, NO_TRIANGLES)
    assert len(speck.corners) == 1
    assert speck.error <= 1e-3


def notched() -> tuple[np.ndarray, np.ndarray]:
    """A cube of side 2 whose upper face is pushed down to its centre: volume 8 - 4/3."""
    vertices, triangles = hull(CUBE)
    upper = (vertices[triangles][:, :, 2] == 1).all(axis=1)
    rim = [i for i in range(8) if vertices[i, 2] == 1]
    order = sorted(rim, key=lambda i: np.arctan2(vertices[i, 1], vertices[i, 0]))
    inner = [[order[k], order[(k + 1) % 4], 8] for k in range(4)]
    return np.vstack([vertices, np.zeros(3)]), np.vstack([triangles[~upper], inner])


def test_growth_of_volume():
    """The hull of a notched cube has 8 / (8 - 4/3) of its volume; open meshes have no volume."""
    vertices, triangles = notched()
    assert collision_hull(vertices, triangles).growth == pytest.approx(8 / (8 - 4 / 3) - 1)
    assert collision_hull(vertices, triangles[:-1]).growth == 0
    assert collision_hull(*hull(CUBE)).growth == pytest.approx(0, abs=1e-12)


def test_one_warning_names_the_most_concave_meshes():
    """solo: every link is a concave mesh; the worst are named, with what the hull adds.

    All hulls have many corners and collide by tables of them, which miss by less than 1 mm.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(example_file("solo_description/robots/solo.urdf"))
    assert not [w for w in caught if "fewer corners" in str(w.message)]
    concave = [str(w.message) for w in caught if "concave" in str(w.message)]
    assert len(concave) == 1
    assert "9 concave meshes collide as the convex hull" in concave[0]
    assert concave[0].count(" %") == 5
    assert concave[0].endswith("and 4 more")
    meshes = [shape for shape in robot.shapes if shape.vertices is not None]
    assert len(meshes) == 13
    assert all(shape.cells is not None for shape in meshes)
    assert 0 < max(shape.hull_error for shape in meshes) < 1e-3
    assert 0.008 < max(shape.corner_error for shape in meshes) < 0.01
