"""Shapes on balls, rods and posts of the ground, between their contact points.

Oracles: statics of a body on one or two supports, springs in parallel, and MuJoCo's run of a plank
that rolls on a log. Without shapes the same bodies fall through: none of their points is inside.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import heelstrike as hs

NIGHTLY = pytest.mark.nightly
G, K = 9.81, 2e4
ELASTIC = hs.Elastic(
    hs.LinearSpring(k=K, c=100, damping="both"), hs.Bristle(k_t=2e4, c_t=20, mu_s=0.8, mu_k=0.8)
)
RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.8))
GEOMS = {
    "plank": 'type="box" size="0.3 0.1 0.01"',
    "rod": 'type="capsule" fromto="-0.3 0 0 0.3 0 0" size="0.03"',
    "log": 'type="cylinder" fromto="-0.3 0 0 0.3 0 0" size="0.03"',
}
HEIGHTS = {"plank": 0.01, "rod": 0.03, "log": 0.03}
R = 0.05


def ground(kind: str, law: hs.SurfaceLaw) -> hs.Surface:
    """Return something round, with its top at z = 0."""
    across = {"point": (0, 0, -R), "radius": R, "axis": (0, 1, 0)}
    match kind:
        case "stone":
            return hs.Sphere(law, kind, point=(0, 0, -R), radius=R)
        case "bar":
            return hs.Capsule(law, kind, **across)
        case "pipe":
            return hs.Cylinder(law, kind, **across)
    return hs.Cylinder(law, kind, point=(0, 0, -0.1), radius=R, length=0.2)


def body(folder: Path, name: str) -> hs.Robot:
    path = folder / f"{name}.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="{name}"><freejoint/>'
        f'<geom name="{name}" {GEOMS[name]} mass="1"/></body></worldbody></mujoco>'
    )
    return hs.load(path)


# supports of each body: a ball has one, a bar across a plank as wide as it two, a cap up to four
REST = [
    ("plank", "stone", ELASTIC, 1),
    ("rod", "post", RIGID, 2),
    pytest.param("plank", "bar", ELASTIC, 2, marks=NIGHTLY),
    pytest.param("plank", "post", ELASTIC, 4, marks=NIGHTLY),
    pytest.param("log", "pipe", RIGID, 1, marks=NIGHTLY),
    *(pytest.param("rod", kind, RIGID, 1, marks=NIGHTLY) for kind in ("stone", "bar", "pipe")),
    *(pytest.param("log", kind, ELASTIC, 1, marks=NIGHTLY) for kind in ("stone", "bar")),
    pytest.param("plank", "post", RIGID, 4, marks=NIGHTLY),
    pytest.param("log", "post", ELASTIC, 2, marks=NIGHTLY),
]


@pytest.mark.parametrize(("name", "kind", "law", "supports"), REST)
def test_a_body_rests_on_something_narrow(tmp_path, name, kind, law, supports):
    """It stays where it was put down, and carries its weight by shapes, not by points."""
    sim = hs.Simulator(hs.Scene(body(tmp_path, name), ground(kind, law)))
    start = [0, 0, HEIGHTS[name], 0, 0, 0, 1]
    data = sim.run(0.3, q0=start, every=50).data.isel(world=0, time=-1)
    depth = G / K / supports if law is ELASTIC else 0.0
    # put down, a rigid contact is found after a step of free fall, g dt^2 deep
    height = HEIGHTS[name] - depth
    assert data.q.values == pytest.approx([0, 0, height, 0, 0, 0, 1], abs=1.1e-5)
    assert float(data["self_force"][0, 2]) == pytest.approx(G, rel=1e-4)
    assert not data["touching"].any()
    assert str(data["shape_pair"].values[0]) == f"{name} on {kind}"


@pytest.mark.parametrize("kind", ["stone", pytest.param("post", marks=NIGHTLY)])
def test_a_corner_counts_once(tmp_path, kind):
    """A plank that stands on its corner touches by its own point alone, at first."""
    robot, law = body(tmp_path, "plank"), ELASTIC
    sim = hs.Simulator(hs.Scene(robot, ground(kind, law)))
    q = _on_corner()
    data = sim.run(0.01, q0=q).data.isel(world=0)
    assert data["touching"].any()
    assert (data["self_pair"] == -1).all()
    alone = hs.Simulator(hs.Scene(robot, ground(kind, law), edges=False)).run(0.01, q0=q)
    assert data.q.values == pytest.approx(alone.data.isel(world=0).q.values, abs=1e-12)


def _on_corner() -> np.ndarray:
    """Return q of a plank whose corner is 0.1 mm below the top, its centre straight above."""
    corner = np.array([0.3, 0.1, -0.01])
    far = np.linalg.norm(corner)
    axis = np.cross(corner / far, [0, 0, -1.0])
    quat = np.array([*axis, 1 - corner[2] / far])
    return np.array([0, 0, far - 1e-4, *quat / np.linalg.norm(quat)])


@pytest.mark.nightly
def test_a_plank_rolls_on_a_log_as_in_mujoco(tmp_path):
    """Put down off the middle it tips, and slides or rolls; for 0.25 s as in MuJoCo."""
    start = [0.02, 0, HEIGHTS["plank"], 0, 0, 0, 1]
    sim = hs.Simulator(hs.Scene(body(tmp_path, "plank"), ground("pipe", RIGID)), dt=2.5e-4)
    own = sim.run(0.25, q0=start, every=100).data.q.values[0, -1]
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="2.5e-4" cone="elliptic" impratio="10"/>
        <default><geom friction="0.8 0 0" solref="0.002 1" solimp="0.99 0.999 1e-4"/></default>
        <worldbody><geom type="cylinder" pos="0 0 {-R}" size="{R} 0.1" zaxis="0 1 0"/>
        <body name="plank"><freejoint/><geom {GEOMS["plank"]} mass="1"/></body></worldbody></mujoco>
        """
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*start[:3], 1, 0, 0, 0]
    while data.time < 0.25 - 1e-9:
        mujoco.mj_step(model, data)
    w, *vector = data.qpos[3:]
    assert abs(own[4]) > 0.05  # sine of half the pitch
    assert own == pytest.approx([*data.qpos[:3], *vector, w], abs=3e-3)


def test_without_shapes_a_plank_falls_through_a_stone(tmp_path):
    """So that the tests above test something."""
    scene = hs.Scene(body(tmp_path, "plank"), ground("stone", RIGID), edges=False)
    end = hs.Simulator(scene).run(0.5, q0=[0, 0, 0.01, 0, 0, 0, 1]).data.q.values[0, -1]
    assert end[2] < -1
