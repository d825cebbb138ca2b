"""Identities of contacts of two shapes, and the points of contact of faces, edges and caps.

Oracles: what must not change when shapes are exchanged, moved or turned together, padded with
repeated vertices or computed in other lanes; central differences of the depth; outlines of boxes,
capsules and cylinders on faces, by hand.
"""

from __future__ import annotations

from itertools import permutations, product

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.geometry import box, capsule, contact_points, cylinder, hull, sphere
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from tests.convex_pairs import (
    BOX,
    Poses,
    contacts,
    inputs,
    pair_program,
    random_poses,
    rotations,
)

EYE = np.eye(3)
PAIRS = [("capsule", "capsule"), ("sphere", "box"), ("box", "box"), ("capsule", "hull")]
PAIRS += [("cylinder", "box"), ("ellipsoid", "cylinder"), ("hull", "hull")]


def turn(axis: int, angle: float) -> np.ndarray:
    """Return the rotation about an axis [rad]."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def one(a, b, R_a, p_a, R_b=EYE, p_b=(0, 0, 0), count=4):
    """Return depths, normals and positions of a single pose."""
    pose = Poses(*(np.asarray(x, dtype=float)[None] for x in (R_a, p_a, R_b, p_b)))
    return tuple(x[0] for x in contacts(a, b, pose, count))


def distinct(points, apart=1e-4):
    """Return points without those that are repeated, (n, 3)."""
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > apart for other in kept):
            kept.append(point)
    return np.array(kept)


def touching(poses, a, b):
    """Return the poses whose depth is within 0.1 m of touching, where the optimum is unique."""
    return poses[np.abs(contacts(a, b, poses)[0][:, 0]) < 0.1]


# identities


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_exchange_turns_the_normal(a, b):
    poses = touching(random_poses(400, seed=3), a, b)
    other = Poses(poses.R_b, poses.p_b, poses.R_a, poses.p_a)
    (d, n, x), (e, m, y) = contacts(a, b, poses), contacts(b, a, other)
    assert np.abs(d - e).max() < 1e-9
    # where two optima are equally deep, or the shapes nearly touch, either normal may be found
    # normals of smooth shapes are as exact as the root of their depths
    assert np.median(np.abs(n + m).max(axis=2)) < 1e-6
    assert (np.abs(n + m).max(axis=2) < 1e-3).mean() > 0.98
    assert np.median(np.abs(x - y).max(axis=2)) < 1e-6


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_rigid_motions_move_the_contact(a, b):
    poses = touching(random_poses(400, seed=5), a, b)
    rng = np.random.default_rng(0)
    R, t = rotations(rng, 1)[0], np.array([0.3, -0.2, 0.5])
    moved = Poses(R @ poses.R_a, poses.p_a @ R.T + t, R @ poses.R_b, poses.p_b @ R.T + t)
    (d, n, x), (e, m, y) = contacts(a, b, poses), contacts(a, b, moved)
    assert np.abs(d - e).max() < 1e-9
    same = np.abs(n @ R.T - m).max(axis=2) < 1e-3
    assert same.mean() > 0.98
    assert np.median(np.abs(x @ R.T + t - y).max(axis=2)) < 1e-6


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_slope_of_the_depth_is_the_normal(a, b):
    """The depth falls by n . dx where the first shape moves by dx, unless features change."""
    poses = touching(random_poses(300, seed=7), a, b)
    _, n, _ = contacts(a, b, poses)
    h, wrong = 1e-6, []
    for axis in range(3):
        step = h * np.eye(3)[axis]
        up, down = (contacts(a, b, poses.moved(s * step))[0][:, 0] for s in (1, -1))
        wrong.append(np.abs((up - down) / (2 * h) + n[:, 0, axis]))
    # curvature of distances near zero, and edges of features within h, spoil a few
    assert (np.max(wrong, axis=0) < 1e-4).mean() > 0.97


def test_repeated_vertices_change_nothing():
    """A tetrahedron, padded to eight vertices, has the contacts of the tetrahedron."""
    corners = 0.2 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    found = []
    for points in (corners, np.vstack([corners, corners])):
        p = Program("padded")
        place = p.input("place", 3)
        with p.block("shape"):
            vertices = p.let("v", ca.DM(points.T) + ca.repmat(place, 1, len(points)))
        ground = box(ca.SX([0, 0, -1]), ca.SX(ca.DM.eye(3)))
        points_found = contact_points(p, hull(vertices), ground, 1)
        with p.block("out"):
            p.output("depth", points_found[0].depth)
            p.output("normal", points_found[0].normal)
        places = np.random.default_rng(1).uniform(-0.3, 0.3, (200, 3))
        found.append(compile_program(p)(place=places))
    assert np.abs(found[0]["depth"] - found[1]["depth"]).max() < 1e-14
    assert np.abs(found[0]["normal"] - found[1]["normal"]).max() < 1e-9


@pytest.mark.parametrize(("a", "b"), [("box", "hull"), ("cylinder", "box")])
def test_bits_do_not_depend_on_lanes(a, b):
    poses, program = random_poses(64), pair_program(a, b, 4)
    one_lane, eight = (compile_program(program, width=w)(**inputs(a, b, poses)) for w in (1, 8))
    for name, values in one_lane.items():
        assert np.array_equal(values, eight[name]), name


# points of contact


def faces():
    """Return rotations that put each face of a box down."""
    for order, signs in product(permutations(range(3)), product((-1, 1), repeat=3)):
        R = np.zeros((3, 3))
        R[range(3), order] = signs
        if np.linalg.det(R) > 0:
            yield R


def test_box_rests_on_any_face():
    """Four points at the corners of the overlap, whose centre is below the centre of mass."""
    for R in faces():
        half = np.abs(R) @ BOX
        depth, normal, place = one("box", "box", R, [0, 0, half[2] + BOX[2] - 1e-3])
        assert np.abs(depth - 1e-3).max() < 1e-12
        assert np.abs(normal - [0, 0, 1]).max() < 1e-12
        overlap = np.minimum(half, BOX)[:2]
        assert len(distinct(place)) == 4
        # outlines have a margin of 1e-5 of the size, 1e-5 m
        assert np.abs(np.abs(place[:, :2]) - overlap).max() < 3e-5
        assert np.abs(place[:, 2] - (BOX[2] - 5e-4)).max() < 1e-9
        assert np.abs(place[:, :2].mean(axis=0)).max() < 3e-5


@pytest.mark.parametrize("angle", [0.1, 0.7, 1.3])
def test_turned_box_is_held_by_its_overlap(angle):
    """Loads at the points can balance the weight: the centre of mass is within them."""
    depth, _, place = one("box", "box", turn(2, angle), [0.1, 0.05, 2 * BOX[2] - 1e-3])
    assert np.abs(depth - 1e-3).max() < 1e-9
    corners = distinct(place)[:, :2]
    assert len(corners) == 4
    centre = corners.mean(axis=0)
    order = np.argsort(np.arctan2(*(corners - centre).T[::-1]))
    edges = np.roll(corners[order], -1, axis=0) - corners[order]
    to_mass = np.array([0.1, 0.05]) - corners[order]
    assert (edges[:, 0] * to_mass[:, 1] - edges[:, 1] * to_mass[:, 0] > 0).all()


def test_edge_on_edge_is_one_point():
    R = turn(0, np.pi / 4)
    height = 2 * (BOX[1] + BOX[2]) / np.sqrt(2) - 1e-3
    depth, normal, place = one("box", "box", R, [0, 0, height], turn(2, np.pi / 2) @ R)
    assert np.abs(depth - 1e-3).max() < 1e-9
    assert np.abs(normal - [0, 0, 1]).max() < 1e-9
    assert len(distinct(place)) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_edges_that_cross_touch_at_one_point(dtype):
    """Their overlap is what the margin of outlines makes of it; two or three points a micrometre
    apart would be two or three springs.
    """
    R, angles = turn(0, np.pi / 4), np.linspace(0.8, np.pi / 2, 60)
    height = 2 * (BOX[1] + BOX[2]) / np.sqrt(2) - 1e-3
    shape = (len(angles), 3)
    poses = Poses(
        np.broadcast_to(R, (*shape, 3)),
        np.broadcast_to([0.02, 0.01, height], shape),
        np.array([turn(2, angle) @ R for angle in angles]),
        np.zeros(shape),
    )
    _, _, places = contacts("box", "box", poses, 4, dtype)
    assert np.ptp(places, axis=1).max() == 0


def test_edge_on_face_is_two_points():
    R, lean = turn(0, 0.3), 0.3
    height = BOX[2] + BOX[1] * np.sin(lean) + BOX[2] * np.cos(lean) - 1e-3
    depth, _, place = one("box", "box", R, [0, 0, height])
    assert np.abs(depth - 1e-3).max() < 1e-9
    assert np.allclose(np.sort(distinct(place)[:, 0]), [-BOX[0], BOX[0]], atol=3e-5)


@pytest.mark.parametrize(("dtype", "allowed"), [("float64", 1e-9), ("float32", 1e-6)])
def test_leaning_edge_across_a_face_has_the_depth_where_it_leaves(dtype, allowed):
    """All poses are turned together, so that in float32 every coordinate is rounded."""
    rng, n = np.random.default_rng(0), 300
    ends = np.array([[x, -BOX[1], -BOX[2]] for x in (-BOX[0], BOX[0])])
    leans, whole = rng.uniform(0.002, 0.04, n), rotations(rng, n)
    R = np.array([turn(2, 0.2) @ turn(1, -lean) @ turn(0, 0.8) for lean in leans])
    low, high = np.moveaxis(np.einsum("nij,kj->nki", R, ends), 1, 0)
    place = np.stack([np.full(n, 0.2), np.zeros(n), BOX[2] - 1e-3 - low[:, 2]], axis=1)
    share = (BOX[0] - place[:, 0] - low[:, 0]) / (high - low)[:, 0]
    leaves = 1e-3 - share * (high - low)[:, 2]
    poses = Poses(whole, np.zeros((n, 3)), whole @ R, np.einsum("nij,nj->ni", whole, place))
    depths = contacts("box", "box", poses, 4, dtype)[0]
    assert np.abs(depths.max(axis=1) - 1e-3).max() < allowed
    # the margin of outlines is 1e-5 of the size, of which the edge leans by at most 0.04
    assert np.abs(depths.min(axis=1) - leaves).max() < allowed + 1e-5 * 0.04


def test_capsule_on_face_is_two_points():
    depth, _, place = one("capsule", "box", turn(1, np.pi / 2), [0.1, 0, 0.219], count=2)
    assert np.abs(depth - 1e-3).max() < 1e-12
    assert np.allclose(np.sort(place[:, 0]), [-0.2, 0.3], atol=3e-5)


def test_parallel_capsules_touch_at_the_ends_of_their_overlap():
    depth, normal, place = one("capsule", "capsule", EYE, [0.199, 0, 0.1], count=2)
    assert np.abs(depth - 1e-3).max() < 1e-12
    assert np.allclose(normal, [1, 0, 0])
    assert np.allclose(np.sort(place[:, 2]), [-0.2, 0.3])


def test_crossed_capsules_touch_at_one_point():
    _, _, place = one("capsule", "capsule", turn(0, 0.5), [0.199, 0, 0.1], count=2)
    assert len(distinct(place)) == 1


@pytest.mark.parametrize("count", [3, 4])
def test_cylinder_on_its_cap(count):
    """Points on the rim, about the centre."""
    depth, _, place = one("cylinder", "box", EYE, [0.05, 0, 0.419], count=count)
    assert np.abs(depth - 1e-3).max() < 1e-9
    assert len(distinct(place)) == count
    rim = place[:, :2] - [0.05, 0]
    assert np.allclose(np.linalg.norm(rim, axis=1), 0.15, atol=1e-9)
    angles = np.sort(np.arctan2(rim[:, 1], rim[:, 0]))
    assert np.diff([*angles, angles[0] + 2 * np.pi]).max() < np.pi


def test_cylinder_on_its_side_is_two_points():
    depth, _, place = one("cylinder", "box", turn(1, np.pi / 2), [0, 0, 0.269], count=2)
    assert np.abs(depth - 1e-3).max() < 1e-9
    assert np.allclose(place[:, 1], 0, atol=1e-6)
    assert np.allclose(np.sort(place[:, 0]), [-0.3, 0.3], atol=3e-5)


def test_points_move_with_the_shapes():
    """A box that slides, turns and rocks on another by 1e-4 m a step: no point jumps."""
    times = np.arange(400)
    R = np.array([turn(2, 0.3 + 2e-4 * t) @ turn(0, 5e-3 * np.sin(0.05 * t)) for t in times])
    p = np.stack([0.05 + 1e-4 * times, 0 * times, 0 * times + 2 * BOX[2] - 1e-3], axis=1)
    n = len(times)
    poses = Poses(R, p, np.broadcast_to(EYE, (n, 3, 3)).copy(), np.zeros((n, 3)))
    place = contacts("box", "box", poses, 4)[2]
    last, new = place[:-1, :, None], place[1:, None, :]
    jump = np.linalg.norm(new - last, axis=3).min(axis=2).max(axis=1)
    assert np.median(jump) < 5e-4
    # corners of the overlap come and go with features a few times
    assert (jump > 5e-3).mean() < 0.03


def test_the_deepest_point_is_among_them():
    for a, b in (("box", "box"), ("hull", "box"), ("cylinder", "box"), ("capsule", "hull")):
        poses = random_poses(500, seed=9)
        single, several = contacts(a, b, poses, 1)[0], contacts(a, b, poses, 4)[0]
        assert np.abs(several.max(axis=1) - single[:, 0]).max() < 1e-9


def test_the_last_normal_is_followed():
    """Boxes one above the other, less than a tenth deep: the side of the last normal is kept.

    Overlaps are 0.02 m along z and 0.01 m along x. Without a last normal, or with one along which
    the overlap is deep, the least one is taken.
    """
    place = np.array([2 * BOX[0] - 0.01, 0.0, 2 * BOX[2] - 0.02])
    pose = Poses(EYE[None], place[None], EYE[None], np.zeros((1, 3)))
    kernel = compile_program(pair_program("box", "box", 1, follow=True))
    for last, depth, axis in (
        ([0, 0, 1], 0.02, 2),
        ([1, 0, 0], 0.01, 0),
        ([0, 0, 0], 0.01, 0),
        ([0, 1, 0], 0.01, 0),
        ([0.02, 0, 1], 0.02, 2),
    ):
        last = np.array(last, dtype=float) / max(np.linalg.norm(last), 1)
        out = kernel(last=last, **inputs("box", "box", pose))
        assert np.isclose(out["depth"].item(), depth, atol=1e-12), last
        assert np.allclose(out["normal"].ravel(), EYE[axis]), last


def test_no_nan_where_everything_coincides():
    """Shapes without size, at the same place."""
    p = Program("nothing")
    zero = p.input("zero", 3)
    flat = ca.SX.zeros(3, 3)
    shapes = [sphere(zero, 0.0), capsule(zero, zero, 0.0), box(zero, flat)]
    shapes += [cylinder(zero, zero, flat), hull(ca.repmat(zero, 1, 5))]
    found = []
    for one_shape in shapes:
        for point in contact_points(p, one_shape, shapes[2], 2):
            found += [point.depth, point.normal, point.position]
    with p.block("out"):
        p.output("all", ca.vertcat(*found))
    assert np.isfinite(compile_program(p)(zero=np.zeros(3))["all"]).all()
