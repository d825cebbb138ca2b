"""Capsules on ridges: ground of triangles and height fields that bulge between a capsule's ends.

Oracles: the distance of many places on the axis from the planes of a roof; closed forms of rest;
MuJoCo for a bar that lies across two prisms.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.simulate.start import contacts_at

RADIUS, HALF, SLOPE = 0.05, 0.3, 0.4
BAR = f"""<mujoco><worldbody><body name="bar"><freejoint/><geom name="bar" type="capsule"
  size="{RADIUS} {HALF}" euler="0 90 0" mass="1"/></body></worldbody></mujoco>"""
ROOF = np.array([[x, y, -SLOPE * abs(x)] for x in (-1, 0, 1) for y in (-1, 1)])
FACES = np.array([[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]])


def roof(kind: str, law: hs.SurfaceLaw) -> hs.Surface:
    """Return a ridge along y."""
    if kind == "mesh":
        return hs.Mesh(law, "roof", mesh=(ROOF, FACES))
    heights = -SLOPE * np.abs(np.linspace(-1, 1, 81))[:, None] + np.zeros(3)
    return hs.HeightField(law, "roof", heights=heights, size=(2, 2))


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    path = tmp_path_factory.mktemp("bar") / "bar.xml"
    path.write_text(BAR)
    return hs.load(path)


def depth_in_roof(q: np.ndarray, exact: bool) -> float:
    """Depth of the capsule by 20,001 places on its axis; `exact` takes the ridge for a line, else
    as a height field does, by its planes alone."""
    place = pin.XYZQUATToSE3(q)
    shares = np.linspace(-1, 1, 20_001)[:, None]
    axis = place.translation + shares * HALF * place.rotation[:, 0]
    x, z = np.abs(axis[:, 0]), axis[:, 2]
    high = (z + SLOPE * x) / np.hypot(1, SLOPE)
    foot = x - SLOPE * high / np.hypot(1, SLOPE)
    far = np.where((foot < 0) & exact, np.hypot(x, z), high)
    return RADIUS - float(far.min())


@pytest.mark.parametrize("kind", ["mesh", "field"])
def test_depths_across_a_ridge(bar, kind):
    """A bar across the ridge, tilted and turned, is as deep as its deepest place; by its ends alone
    it would be apart."""
    generator, starts = np.random.default_rng(0), []
    while len(starts) < 100:
        turn = pin.rpy.rpyToMatrix(0, generator.uniform(-0.2, 0.2), generator.uniform(-0.6, 0.6))
        at = [generator.uniform(-0.15, 0.15), generator.uniform(-0.3, 0.3), 0.2]
        q = pin.SE3ToXYZQUAT(pin.SE3(turn, np.array(at)))
        for _ in range(20):
            q[2] += depth_in_roof(q, kind == "mesh") - 1e-3
        starts.append(q)
    q = np.array(starts)
    scene = hs.Scene(bar, roof(kind, hs.Elastic()))
    run = hs.Simulator(scene, worlds=len(q)).run(steps=1, q0=q, record=["depth"])
    depths = run.data["depth"].isel(time=0).values
    expected = np.array([depth_in_roof(x, kind == "mesh") for x in q])
    assert expected.min() > 1e-4
    # a place between two is looked up three times; measured 6e-5
    assert np.abs(depths.max(axis=1) - expected).max() < 1e-4
    ends = [".between" not in str(point) for point in run.data["point"].values]
    assert depths[:, ends].max() < -0.01
    assert ((depths > 0).sum(axis=1) == 1).all()  # the ridge counts once
    assert np.allclose(contacts_at(scene, q[0])[0].max(), depths[0].max(), atol=1e-9)


@pytest.mark.parametrize("kind", ["mesh", "field"])
def test_flat_ground_has_no_ridge(bar, kind):
    """On one side of the roof a bar rests on its two ends, as it does on a plane."""
    scene = hs.Scene(bar, roof(kind, hs.Rigid(friction=hs.Coulomb(mu_s=1, mu_k=1))))
    turn = pin.rpy.rpyToMatrix(0, np.arctan(SLOPE), 0)
    normal = np.array([SLOPE, 0, 1]) / np.hypot(1, SLOPE)
    at = np.array([0.5, 0, -0.5 * SLOPE]) + RADIUS * normal
    last = hs.Simulator(scene).run(0.5, q0=pin.SE3ToXYZQUAT(pin.SE3(turn, at)))
    touching = last.data.isel(world=0, time=-1)["touching"].values
    names = [str(x) for x in last.data["point"].values[touching]]
    assert names == ["bar.0", "bar.1"]


@pytest.mark.parametrize("law", [hs.Rigid(), hs.Elastic(hs.LinearSpring(k=2e4, c=200))])
def test_a_bar_rests_across_two_ridges_as_in_mujoco(bar, law):
    """Two prisms, 0.2 m apart: the bar lies on both, each carries half of it."""
    apart, high, wide = 0.1, 0.1, 0.05
    vertices, triangles, prisms = [], [], ""
    for k, x in enumerate((-apart, apart)):
        own = [[x + dx, y, z] for dx, z in ((-wide, 0), (0, high), (wide, 0)) for y in (-1, 1)]
        vertices += own
        triangles += (FACES + 6 * k).tolist()
        numbers = " ".join(f"{c:g}" for place in own for c in place)
        prisms += f'<mesh name="prism{k}" vertex="{numbers}"/>'
    geoms = "".join(f'<geom type="mesh" mesh="prism{k}"/>' for k in range(2))
    model = mujoco.MjModel.from_xml_string(
        BAR.replace("<worldbody>", f"<asset>{prisms}</asset><worldbody>{geoms}")
    )
    q0 = np.array([0.02, 0, high + RADIUS + 0.01, 0, 0, 0, 1])
    data = mujoco.MjData(model)
    data.qpos[:] = [*q0[:3], 1, 0, 0, 0]
    for _ in range(500):
        mujoco.mj_step(model, data)
    scene = hs.Scene(bar, hs.Mesh(law, "prisms", mesh=(np.array(vertices), triangles)))
    run = hs.Simulator(scene).run(1.0, q0=q0)
    last = run.data.isel(world=0, time=-1)
    assert abs(last["q"].values[2] - data.qpos[2]) < 2e-3  # MuJoCo's springs yield by 0.4 mm
    assert np.abs(last["v"].values).max() < 1e-3
    forces = last["force"].values[:, 2]
    # levers 0.1 + 0.02 and 0.1 - 0.02 m about the contacts
    assert np.allclose(sorted(forces[forces > 0]), [9.81 * 0.4, 9.81 * 0.6], rtol=0.02)


def test_ridges_can_be_left_out(bar):
    """`edges=False` leaves the ends alone, compiled apart from the scene with ridges."""
    surface = roof("field", hs.Elastic())
    counts = []
    for edges in (True, False):
        sim = hs.Simulator(hs.Scene(bar, surface, edges=edges))
        run = sim.run(0.1, q0=[0, 0, RADIUS, 0, 0, 0, 1])
        counts.append(len(run.data["point"]))
        assert (run.data["q"].values[0, -1, 2] > 0.04) == edges  # it falls 49 mm
    assert counts == [4, 2]
