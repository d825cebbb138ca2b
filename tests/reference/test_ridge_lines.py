"""Boxes, cylinders and hulls on ridges of random ground, between their own contact points.

Oracles: coal's distance of the shape from the ground's triangles, for poses half a millimetre above
the ground and moved a millimetre into it along coal's normal; a roof, on which statics are known;
MuJoCo for a plank on a height field. Heights are sums f(x) + g(y), which are flat in each cell, so
that the height field and coal's triangles are the same ground.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from benchmarks.ridges import (
    DEEP,
    GAP,
    GEOMS,
    HALF,
    WIDE,
    body,
    ground,
    in_coal,
    largest_depths,
    poses_above,
    triangles,
)

RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.8))


@pytest.mark.parametrize(
    ("kind", "on"),
    [
        ("box", "mesh"),
        ("box", "field"),
        ("hull", "mesh"),
        ("cylinder", "mesh"),
        pytest.param("hull", "field", marks=pytest.mark.nightly),
        pytest.param("cylinder", "field", marks=pytest.mark.nightly),
    ],
)
def test_depths_beside_coal(tmp_path, kind, on):
    """Above the ground and inside it the deepest contact is as deep as coal's; without ridges at
    least 5 of 100 poses are off by more than 0.2 mm."""
    surface, vertices, faces = ground(on, 10, RIGID)
    robot = body(kind, tmp_path)
    above, inside = poses_above(in_coal(kind, robot), vertices, faces, 100)
    with_ridges = hs.Scene(robot, surface)
    # 1e-3 of the distance from the middle, 0.19 mm, may be given up for a place farther out. The
    # rim of a cylinder tries four normals on a mesh and the plane below it on a height field, so
    # that it may miss a face; measured in 1 pose of 100, by 1.8 mm
    rims = 3 if kind == "cylinder" else 0
    for start, depth in ((above, -GAP), (inside, DEEP)):
        error = np.sort(np.abs(largest_depths(with_ridges, start) - depth))
        assert error[: len(error) - rims].max() < 2e-4
        assert error.max() < 2e-4 + rims * 1e-3
    points_alone = largest_depths(hs.Scene(robot, surface, edges=False), inside)
    assert (points_alone < DEEP - 2e-4).sum() >= 5


def roof(kind: str, law: hs.SurfaceLaw, cells: int) -> hs.Surface:
    """Return a ridge along y with slopes of 0.4."""
    x = np.linspace(-1, 1, cells + 1)
    heights = -0.4 * np.abs(x)[:, None] + np.zeros(cells + 1)
    if kind == "mesh":
        return hs.Mesh(law, "roof", mesh=triangles(heights))
    return hs.HeightField(law, "roof", heights=heights, size=(WIDE, WIDE))


@pytest.mark.parametrize("kind", ["mesh", "field"])
@pytest.mark.parametrize("cells", [2, 20])
def test_a_box_rests_with_its_face_on_a_ridge(tmp_path, kind, cells):
    """It stays level, carries its weight there, and none of its corners touches."""
    scene = hs.Scene(body("box", tmp_path), roof(kind, RIGID, cells))
    start = [0, 0.013, HALF[2], 0, 0, 0, 1]
    last = hs.Simulator(scene).run(1.0, q0=start, every=100).data.isel(world=0, time=-1)
    # Rigid lets it sink by g dt^2, 1e-5 m, in the first step
    assert last["q"].values == pytest.approx(start, abs=2e-5)
    assert np.abs(last["v"].values).max() < 1e-6
    assert last["self_force"].values[0] == pytest.approx([0, 0, 9.81], abs=1e-5)
    assert str(last["shape_pair"].values[0]) == "box on roof"
    assert not last["touching"].any()


@pytest.mark.parametrize("kind", ["mesh", "field"])
@pytest.mark.parametrize(
    ("law", "change", "height"), [(hs.Signorini, 1e-10, 1e-11), (hs.Rigid, 5e-7, 5e-8)]
)
def test_a_box_slides_along_a_ridge_of_many_lines(tmp_path, kind, law, change, height):
    """Without friction neither the ends of the lines nor those of the box slow it down: an end of a
    line that leaned by the 1e-4 that it may would take g dt * 1e-4, 1e-6 m/s, in each step.
    """
    ground = roof(kind, law(friction=hs.Coulomb(mu_s=0, mu_k=0)), 40)
    scene = hs.Scene(body("box", tmp_path), ground)
    start, speed = [0, -0.3, HALF[2] - 1e-5, 0, 0, 0, 1], [0, 0.5, 0, 0, 0, 0]
    run = hs.Simulator(scene).run(0.8, q0=start, v0=speed, every=10).data.isel(world=0)
    # measured 1e-11 m/s and 7e-13 m; Rigid, whose passes end earlier and leave its four contacts in
    # a row a pitch of 2e-8 rad, 1.3e-7 m/s and 6e-9 m
    assert np.abs(run["v"].values[:, 1] - 0.5).max() < change
    assert np.ptp(run["q"].values[1:, 2]) < height


def test_flat_ground_has_no_ridges(tmp_path):
    """A box on a level mesh of 200 triangles rests on its corners; no shape can touch a ridge."""
    inner = triangles(np.zeros((11, 11)))
    scene = hs.Scene(body("box", tmp_path), hs.Mesh(RIGID, "flat", mesh=inner))
    run = hs.Simulator(scene).run(0.1, q0=[0, 0, HALF[2], 0, 0, 0, 1]).data.isel(world=0, time=-1)
    assert run["touching"].values.sum() == 4
    assert not (run["self_pair"].values >= 0).any()


def test_a_box_rests_on_bumps_as_in_mujoco(tmp_path):
    """Three spikes carry a face: it ends as high and as level as in MuJoCo."""
    n, heights = 21, np.zeros((21, 21))
    for place in ((9, 9), (9, 11), (11, 10)):
        heights[place] = 0.06
    field = hs.HeightField(RIGID, "spikes", heights=heights, size=(WIDE, WIDE))
    start = np.array([-0.03, 0, 0.06 + HALF[2] + 2e-3, 0, 0, 0, 1])
    sim = hs.Simulator(hs.Scene(body("box", tmp_path), field))
    last = sim.run(1.5, q0=start, every=100).data.isel(world=0, time=-1)
    rows = " ".join(f"{x:.9f}" for x in (heights.T / 0.06).ravel())
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.001"/><asset><hfield name="h" nrow="{n}" ncol="{n}" '
        f'size="{WIDE / 2} {WIDE / 2} 0.06 0.1" elevation="{rows}"/></asset><worldbody>'
        f'<geom type="hfield" hfield="h"/><body><freejoint/><geom {GEOMS["box"]} mass="1"/>'
        f"</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*start[:3], 1, 0, 0, 0]
    for _ in range(1500):
        mujoco.mj_step(model, data)
    # MuJoCo's springs yield by less than 1 mm
    assert last["q"].values[2] == pytest.approx(data.qpos[2], abs=2e-3)
    assert last["q"].values[2] == pytest.approx(0.06 + HALF[2], abs=1e-3)
    assert np.abs(last["v"].values).max() < 1e-5
    assert abs(last["q"].values[6]) > 1 - 1e-5


@pytest.mark.nightly
def test_boxes_come_to_rest_on_random_ground(tmp_path):
    """7 s after they fell on triangles as wide as they are, all of 24 boxes are still, none deeper
    than 1.2 mm: a quarter that touches at two ridges has the place of one that does not touch."""
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0.6, mu_k=0.6))
    surface, vertices, faces = ground("mesh", 10, law)
    robot = body("box", tmp_path)
    above, _ = poses_above(in_coal("box", robot), vertices, faces, 24)
    names = ["q", "v", "depth", "self_depth"]
    run = hs.Simulator(hs.Scene(robot, surface), worlds=24).run(7, q0=above, every=50, record=names)
    last, path = run.data.isel(time=-1), run.data["q"].values[:, -10:, :3]
    # measured: 2e-10 and 2e-12; one swings to and fro for 5 s. With places that are not lent two of
    # these boxes rock by 0.02 mm after 12 s
    assert np.abs(last["v"].values).max() < 1e-8
    assert np.ptp(path, axis=1).max() < 1e-8
    # 1 mm is the allowance of Rigid
    assert max(last[x].values.max() for x in ("depth", "self_depth")) < 1.2e-3
