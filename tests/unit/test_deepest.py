"""Deepest points of ellipsoids in surfaces.

Oracles: the plane's closed form; for balls the ball of equal size; for other surfaces the least
distance between an ellipsoid and a convex body, found by projecting back and forth between them.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize

import heelstrike as hs
from heelstrike.robot.robot import Point
from heelstrike.scene.deepest import DeepestPoints, deepest_in_pose, support, support_rate
from heelstrike.spatial.vector import SX

WORLD_FRAME = np.eye(3), np.zeros(3)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def turned(rng) -> np.ndarray:
    return pin.Quaternion(rng.normal(size=4)).normalized().toRotationMatrix()


def touched(surface, sizes, pose, part=0):
    point = Point("p", 0, np.zeros(3), 0.0, np.diag(sizes))
    return deepest_in_pose(surface, part, point, pose, WORLD_FRAME)


@pytest.mark.parametrize("sizes", [(0.1, 0.1, 5e-5), (0.1, 0.2, 0.05)])
def test_on_a_plane_it_is_the_support_point(rng, sizes):
    """Depth h - n . c with h = |B^T n|; the place is on the ellipsoid, and no place is deeper."""
    plane = hs.Plane(normal=(0.2, -0.3, 1.0), point=(0.1, 0.0, 0.2))
    nu = plane.axes[2]
    for _ in range(10):
        R, p = turned(rng), rng.normal(size=3)
        depth, normal, place = touched(plane, sizes, (R, p))
        half = R @ np.diag(sizes)
        assert depth == pytest.approx(nu @ (plane.point - p) + np.linalg.norm(half.T @ nu))
        np.testing.assert_allclose(normal, nu, atol=1e-15)
        assert np.linalg.norm(np.linalg.solve(half, place - p)) == pytest.approx(1)
        assert nu @ (plane.point - place) == pytest.approx(depth)


SURFACES = {
    "ball": hs.Sphere(point=(0, 0, 0), radius=0.3),
    "small ball": hs.Sphere(point=(0, 0, 0), radius=0.05),
    "rod": hs.Capsule(point=(0, 0, 0), radius=0.1, length=0.6, axis=(0, 1, 0)),
    "box": hs.Box(point=(0, 0, -0.25), size=(0.5, 0.5, 0.5)),
}


def test_a_ball_of_half_axes_is_the_ball(rng):
    """On every surface, at once: the repetitions change nothing."""
    for surface in SURFACES.values():
        for _ in range(20):
            place = rng.normal(size=3) * 0.15 + [0, 0, 0.45]
            ball = Point("b", 0, np.zeros(3), 0.12)
            expected = deepest_in_pose(surface, 0, ball, (np.eye(3), place), WORLD_FRAME)
            found = touched(surface, (0.12, 0.12, 0.12), (turned(rng), place))
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-14)


def gap(surface, half, centre):
    """Return the least distance between an ellipsoid and the core of a surface, minimised."""

    def distance(angles):
        a, b = angles
        way = np.array([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)])
        return -float(surface.depth_and_axes(SX(centre + half @ way))[0])

    starts = [(a, b) for a in np.linspace(0.3, 2.8, 5) for b in np.linspace(0, 6, 6)]
    starts = sorted(starts, key=distance)[:3]
    return min(minimize(distance, s, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-13,
                        "maxiter": 2000}).fun for s in starts)  # fmt: skip


@pytest.mark.parametrize("name", ["ball", "small ball", "rod"])
def test_depth_on_round_surfaces(rng, name):
    """The depth is stationary in the normal: what six repetitions leave of it is squared."""
    surface, sizes = SURFACES[name], (0.12, 0.1, 0.08)
    for _ in range(5):
        R = turned(rng)
        centre = rng.normal(size=3) * 0.1 + [0, 0, 0.35]
        depth = touched(surface, sizes, (R, centre))[0]
        true = -gap(surface, R @ np.diag(sizes), centre)
        assert abs(depth - true) < 1e-6, (depth, true)


@pytest.mark.parametrize("radius", [0.03, 0.1, 0.3])
def test_a_rim_touches_a_ball_as_deep_as_it_is(rng, radius):
    """A disc's distance from a ball is known. Beside its rim the ball is found; below its flat side
    repetitions may not settle, but the rim is never said to be deeper than the disc.
    """
    disc, true = (0.1, 0.1, 5e-5), 1e-3
    ball = hs.Sphere(point=(0, 0, 0), radius=radius)
    for _ in range(100):
        turn, around = turned(rng), pin.rpy.rpyToMatrix(0, 0, rng.uniform(0, 2 * np.pi))
        angle, inside = rng.uniform(-np.pi / 2, np.pi / 2), rng.uniform(0, 0.1)
        beside = [0.1 + (radius - true) * np.cos(angle), 0, (radius - true) * np.sin(angle)]
        below = [inside, 0, radius - true]
        depth = [
            touched(ball, disc, (turn, -turn @ around @ place))[0] for place in (beside, below)
        ]
        assert depth[0] == pytest.approx(true, abs=1e-5)
        assert depth[1] < true + 5e-5 + 1e-5  # half of its thickness, and what is left


def test_a_flat_ellipsoid_is_never_said_to_be_deeper_than_it_is(rng):
    """A ball on its normal touches an ellipsoid where the normal starts. On balls not larger than
    itself some are said to be less deep (docs/contact-points.md).
    """
    half, radius, true = np.array([0.1, 0.1, 0.02]), 0.1, 1e-3
    ball, errors = hs.Sphere(point=(0, 0, 0), radius=radius), []
    for _ in range(100):
        turn, way = turned(rng), rng.normal(size=3)
        on = half * way / np.linalg.norm(way)
        normal = on / half**2 / np.linalg.norm(on / half**2)
        centre = on + (radius - true) * normal
        errors.append(touched(ball, half, (turn, -turn @ centre))[0] - true)
    assert max(errors) < 1e-5
    assert np.mean(np.array(errors) < -1e-4) <= 0.09  # measured; the worst is 30 mm off


@pytest.mark.parametrize("name", ["ball", "small ball", "rod"])
def test_a_wheel_in_its_plane_is_a_ball(name):
    """A thin wheel that rolls over a stone touches as a ball of its radius does."""
    surface = SURFACES[name]
    upright = pin.rpy.rpyToMatrix(np.pi / 2, 0, 0) @ pin.rpy.rpyToMatrix(0, 0, 0.7)
    for x in np.linspace(-0.3, 0.3, 7):
        centre = np.array([x, 0.0, 0.3])
        ball = Point("b", 0, np.zeros(3), 0.1)
        expected = deepest_in_pose(surface, 0, ball, (np.eye(3), centre), WORLD_FRAME)
        found = touched(surface, (0.1, 0.1, 5e-5), (upright, centre))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_rate_of_the_support_point(rng):
    """It is the finite difference of the support point of a turned ellipsoid."""
    half, h = turned(rng) @ np.diag([0.1, 0.2, 0.01]), 1e-6
    nu, spin = np.array([0.6, 0, 0.8]), np.array([3.0, 1.0, -2.0])
    ends = [support(SX(pin.exp3(s * h * spin) @ half), SX(nu)) for s in (1, -1)]
    measured = np.array(ca.evalf(ends[0] - ends[1])).ravel() / (2 * h)
    found = np.array(ca.evalf(support_rate(SX(half), SX(nu), SX(spin)))).ravel()
    np.testing.assert_allclose(found, measured, atol=1e-8)


def test_points_evaluated_together_are_those_evaluated_alone(rng):
    """Points, balls and ellipsoids of two bodies, on surfaces in a turned frame."""
    sizes = [None, (0.1, 0.2, 0.05), None, (0.1, 0.2, 0.05), (0.05, 0.05, 0.05), None]
    points = [
        Point(
            str(k), 0, rng.normal(size=3) * 0.1, 0.03 * (k % 2), None if s is None else np.diag(s)
        )
        for k, s in enumerate(sizes)
    ]
    bodies = [(turned(rng), rng.normal(size=3)) for _ in range(2)]
    poses, frame = [bodies[k % 2] for k in range(len(points))], (turned(rng), rng.normal(size=3))
    bumps = hs.HeightField(heights=rng.random((5, 5)), size=(1.0, 1.0), scale=0.1)
    for surface in (*SURFACES.values(), hs.Plane(normal=(0.2, -0.3, 1.0)), bumps):
        together = DeepestPoints(surface, 0, points).at(poses, frame)
        alone = [
            deepest_in_pose(surface, 0, x, at, frame) for x, at in zip(points, poses, strict=True)
        ]
        for own, expected in zip(together, zip(*alone, strict=True), strict=True):
            np.testing.assert_allclose(own, np.array(expected), atol=1e-14)
