"""Shapes on edges of boxes and stairs, between their contact points.

Oracles: statics of a plank over an edge, sliding friction on a slope of edges, springs in parallel.
Without edges the same bodies fall through, since none of their contact points is inside.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs

NIGHTLY = pytest.mark.nightly
G = 9.81
X, Z = np.eye(3)[[0, 2]]
ELASTIC = hs.Elastic(
    hs.LinearSpring(k=2e4, c=100, damping="both"), hs.Bristle(k_t=2e4, c_t=20, mu_s=0.8, mu_k=0.8)
)
RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.8))
RADIUS, HALF = 0.03, (0.3, 0.05, 0.01)
GEOMS = {
    "rod": f'type="capsule" fromto="-0.3 0 0 0.3 0 0" size="{RADIUS}"',
    "log": f'type="cylinder" fromto="-0.3 0 0 0.3 0 0" size="{RADIUS}"',
    "plank": f'type="box" size="{HALF[0]} {HALF[1]} {HALF[2]}"',
}
BEAM = {"point": (0, 0, -0.5), "size": (0.1, 1, 1)}


@pytest.fixture(scope="module")
def robots(tmp_path_factory) -> dict[str, hs.Robot]:
    """Free bodies of 1 kg, 0.6 m long."""
    folder, found = tmp_path_factory.mktemp("edges"), {}
    for name, geom in GEOMS.items():
        path = Path(folder / f"{name}.xml")
        path.write_text(
            f'<mujoco><worldbody><body name="{name}"><freejoint/>'
            f'<geom name="{name}" {geom} mass="1"/></body></worldbody></mujoco>'
        )
        found[name] = hs.load(path)
    return found


def flat(x: float, z: float) -> list[float]:
    """Return the coordinates of a body that lies along x."""
    return [x, 0.0, z, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("rod", RIGID),
        ("plank", ELASTIC),
        pytest.param("plank", RIGID, marks=NIGHTLY),
        pytest.param("rod", ELASTIC, marks=NIGHTLY),
        pytest.param("rod", hs.Signorini(), marks=NIGHTLY),
        pytest.param("log", RIGID, marks=NIGHTLY),
        pytest.param("log", ELASTIC, marks=NIGHTLY),
    ],
)
def test_a_body_lies_across_a_beam(robots, kind, law):
    """It rests on the beam's edges, off the middle, and carries its weight there."""
    height = HALF[2] if kind == "plank" else RADIUS
    sim = hs.Simulator(hs.Scene(robots[kind], hs.Box(law, "beam", **BEAM)))
    data = sim.run(1.0, q0=flat(0.01, height), every=100).data.isel(world=0, time=-1)
    # two edges carry 1 kg: springs of 2e4 N/m, one or two at each, with 0.35 mm at most
    assert data.q.values == pytest.approx(flat(0.01, height), abs=5e-4)
    assert np.abs(data.v.values).max() < 1e-4
    assert float(data["self_force"][0, 2]) == pytest.approx(G, rel=1e-5)
    assert str(data["shape_pair"].values[0]) == f"{kind} on beam"
    assert not data["touching"].any()


@pytest.mark.parametrize("law", [ELASTIC, pytest.param(RIGID, marks=NIGHTLY)])
def test_a_plank_tips_over_an_edge_when_its_centre_is_beyond_it(robots, law):
    """Statics: an overhang of 0.45 lengths holds, one of 0.55 tips."""
    table = hs.Box(law, "table", point=(0, 0, -0.5), size=(2, 2, 1))
    sim = hs.Simulator(hs.Scene(robots["plank"], table), worlds=2)
    starts = np.array([flat(1 - 0.6 * 0.05, HALF[2]), flat(1 + 0.6 * 0.05, HALF[2])])
    data = sim.run(0.5, q0=starts, every=50).data.isel(time=-1)
    held, tipped = data.q.values
    assert held == pytest.approx(starts[0], abs=5e-4)
    assert tipped[4] > 0.1  # sine of half the pitch
    # moments about the two corners on the table, 0.3 m behind the centre; two springs at the edge
    # sink by half of its load each, so that a contact that counted twice would be seen
    on_edge = G * 0.3 / (0.3 + 0.6 * 0.05)
    assert float(data["self_force"][0, 0, 2]) == pytest.approx(on_edge, rel=2e-3)
    assert data["normal_force"].values[0].sum() == pytest.approx(G - on_edge, rel=2e-2)
    if law is ELASTIC:
        assert float(data["self_depth"][0, 0]) == pytest.approx(on_edge / 2 / 2e4, rel=2e-3)


def test_a_rod_slides_down_the_noses_of_stairs(robots):
    """A rod along the slope of the noses accelerates by g (sin a - mu cos a), or sticks."""
    rise, run = 0.15, 0.2
    angle = np.arctan2(rise, run)
    stairs = hs.Stairs(RIGID, "stairs", rise=rise, run=run, count=5)
    sim = hs.Simulator(hs.Scene(robots["rod"], stairs), worlds=2)
    along, up = np.cos(angle) * X + np.sin(angle) * Z, np.cos(angle) * Z - np.sin(angle) * X
    centre = np.array([2 * run, 0, 3 * rise]) + RADIUS * up + 0.1 * along
    start = [*centre, 0, -np.sin(angle / 2), 0, np.cos(angle / 2)]
    for name in ("mu_s", "mu_k"):
        sim.parameters[f"stairs.friction.{name}"] = np.array([[0.8], [0.3]])
    end = sim.run(0.1, q0=np.array([start, start])).data.isel(time=-1)
    assert end.q.values[0] == pytest.approx(start, abs=2e-5)  # g dt^2 where it is put down
    pull = G * (np.sin(angle) - 0.3 * np.cos(angle))
    # the first step finds the rod touching, and sinks by g dt^2
    assert end.v.values[1, 0] == pytest.approx(-pull * 0.1, rel=2e-3)  # along the rod
    assert abs(end.v.values[1, 2]) < 1e-3
    assert set(end["self_pair"].values[0].astype(int)) >= {2, 3}


def test_each_solid_has_the_law_of_its_surface(robots):
    """Each of two beams carries half of a plank, and sinks in by F / (4 k)."""
    soft, hard = 1e4, 4e4
    laws = [
        hs.Elastic(hs.LinearSpring(k=k, c=40, damping="both"), hs.Bristle(k_t=1e4, c_t=10))
        for k in (soft, hard)
    ]
    beams = [
        hs.Box(law, name, point=(x, 0, -0.5), size=(0.04, 1, 1))
        for law, name, x in zip(laws, ("left", "right"), (-0.2, 0.2), strict=True)
    ]
    sim = hs.Simulator(hs.Scene(robots["plank"], *beams))
    data = sim.run(1.0, q0=flat(0.0, HALF[2]), every=100).data.isel(world=0, time=-1)
    pitch = 2 * data.q.values[4]
    depths = [HALF[2] - (data.q.values[2] - x * pitch) for x in (-0.2, 0.2)]
    # the plank tilts by 5e-4 rad, which moves the middle of each beam's load by 1e-2 of its width
    assert depths == pytest.approx([G / 2 / (4 * k) for k in (soft, hard)], rel=1e-2)
    assert data["self_force"].values[:2, 2] == pytest.approx([G / 2] * 2, rel=1e-2)


def test_the_material_of_a_beam_carries_a_rod(robots):
    """A belt that moves along the rod takes it along."""
    belt = hs.Box(RIGID, "belt", **BEAM, velocity=(0.2, 0, 0))
    sim = hs.Simulator(hs.Scene(robots["rod"], belt))
    end = sim.run(0.1, q0=flat(0.0, RADIUS)).data.isel(world=0, time=-1)
    assert end.v.values[0] == pytest.approx(0.2, rel=1e-6)  # 0.026 s at mu g


def test_within_a_face_contact_points_are_left_alone(robots):
    """A plank in the middle of a table takes no slot, and moves by the same bits as without."""
    table, start = hs.Box(ELASTIC, "table", point=(0, 0, -0.5), size=(2, 2, 1)), flat(0.1, 0.02)
    scenes = [hs.Scene(robots["plank"], table, edges=edges) for edges in (True, False)]
    runs = [hs.Simulator(scene).run(0.3, q0=start).data for scene in scenes]
    assert np.array_equal(*(run.q.values for run in runs))
    assert (runs[0]["self_pair"] == -1).all()
    assert "self_pair" not in runs[1]


def test_without_edges_a_rod_falls_through_a_beam(robots):
    """So that the tests above test something."""
    scene = hs.Scene(robots["rod"], hs.Box(RIGID, "beam", **BEAM), edges=False)
    end = hs.Simulator(scene).run(0.5, q0=flat(0.0, RADIUS)).data.isel(world=0, time=-1)
    assert end.q.values[2] < -1


def test_bits_depend_neither_on_other_worlds_nor_on_lanes(robots):
    """Rods that fall onto a beam from many heights move as each of them does alone."""
    scene = hs.Scene(robots["rod"], hs.Box(ELASTIC, "beam", **BEAM))
    starts = np.array([flat(0.01 * k, RADIUS + 0.003 * k) for k in range(11)])
    together = hs.Simulator(scene, worlds=11).run(0.2, q0=starts, every=20).data.q.values
    alone = hs.Simulator(scene)
    for k in (0, 5, 10):
        found = alone.run(0.2, q0=starts[k], every=20).data.q.values[0]
        assert np.array_equal(found, together[k])


def test_a_beam_that_is_moved_is_found(robots):
    """Shapes that were far apart are compared again when a solid's parameters change."""
    sim = hs.Simulator(hs.Scene(robots["rod"], hs.Box(ELASTIC, "beam", **BEAM)))
    sim.run(0.01, q0=flat(0.0, 0.5))
    below = float(sim.state["q"][2]) - RADIUS - 1e-4
    sim.parameters["beam.point"] = np.array([0, 0, below - 0.5])
    end = sim.run(0.2).data.isel(world=0, time=-1)
    assert end.q.values[2] == pytest.approx(below + RADIUS, abs=5e-4)


@pytest.mark.nightly
def test_a_cube_on_an_equal_box():
    """Corners exactly above edges are on no face; the edges hold them."""
    half = 0.0524
    box = hs.Box(RIGID, "box", point=(0, 0, -half), size=(2 * half,) * 3)
    sim = hs.Simulator(hs.Scene(hs.load("cube"), box))
    end = sim.run(0.5, q0=flat(0.0, half), every=50).data.isel(world=0, time=-1)
    assert end.q.values == pytest.approx(flat(0.0, half), abs=2e-5)
