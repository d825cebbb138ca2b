"""Bodies that are apart skip their contacts.

Oracle: the same law with `acts_apart`, which is evaluated always. States, recorded quantities and
all memory must have the same bits, at any lane width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.ir.code import Guard
from heelstrike.step.near import FEW_GROUPS, bounding_sphere, may_skip

STEPS = 150
KEPT = ["q", "depth", "depth_rate", "contact_position", "slip", "normal_force", "force", "cop"]


@dataclass(frozen=True)
class EverywhereElastic(hs.Elastic):
    """Evaluated always."""

    @property
    def acts_apart(self):
        return True


@dataclass(frozen=True)
class EverywhereRigid(hs.Rigid):
    """Evaluated always."""

    @property
    def acts_apart(self):
        return True


@dataclass(frozen=True)
class EverywhereMicroMacro(hs.MicroMacro):
    """Evaluated always."""

    @property
    def acts_apart(self):
        return True


LAWS = {
    "elastic": (hs.Elastic, EverywhereElastic),
    "rigid": (hs.Rigid, EverywhereRigid),
    "membrane": (hs.MicroMacro, EverywhereMicroMacro),
}
VARIED = {"friction": hs.Kinetic()}
"""Without memory of places: on tangents that vary they are summed up only near the surface, which
changes their rounding."""
OPTIONS = {"plane": {}, "field": VARIED, "several": VARIED}
GROUNDS = {
    "plane": lambda law: [hs.Plane(law)],
    "field": lambda law: [
        hs.HeightField(law, heights=0.03 * np.random.default_rng(0).random((9, 9)), size=(2, 2))
    ],
    "several": lambda law: [
        hs.Box(law, name="box", point=(0, 0, -0.1), size=(0.3, 2, 0.2)),
        hs.Stairs(law, name="stairs", point=(0.15, 0, -0.1), rise=0.05, run=0.1, risers=False),
        hs.Capsule(law, name="rod", point=(-0.3, 0, 0), axis=(0, 1, 0), length=1.0),
        hs.Plane(law, name="floor", point=(0, 0, -0.2)),
    ],
}


@pytest.fixture(scope="module")
def robot():
    """hoap1 with two points on each of its bodies."""
    found = hs.load("hoap1", collide="all")
    bodies: dict[int, list] = {}
    for point in found.points:
        bodies.setdefault(point.body, []).append(point)
    kept = [point for own in bodies.values() for point in (own[0], own[-1])]
    return hs.load("hoap1", points=kept)


def falls(robot, surfaces, worlds, dtype="float64", record=None):
    """Return all memory after robots were thrown, and what was recorded."""
    rng = np.random.default_rng(4)
    q0 = np.tile(robot.pose("stance"), (8, 1))
    q0[:, 2] += rng.uniform(0.02, 0.1, 8)
    turns = rng.normal(size=(8, 4)) + np.array([0, 0, 0, 2])
    q0[:, 3:7] = turns / np.linalg.norm(turns, axis=1)[:, None]
    v0 = np.concatenate([rng.normal(size=(8, 3)), 4 * rng.normal(size=(8, 3))], axis=1)
    v0 = np.hstack([v0, np.zeros((8, robot.nv - 6))])
    scene = hs.Scene(robot, *surfaces)
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo(), worlds=worlds, dtype=dtype)
    some = slice(worlds) if worlds > 1 else 0
    if record:
        data = sim.run(steps=STEPS, record=record, q0=q0[some], v0=v0[some], progress=False).data
        return {name: np.array(data[name]) for name in record}
    sim.reset(q0=q0[some], v0=v0[some])
    sim.step(STEPS)
    return {name: np.array(value) for name, value in sim.state.items()}


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name], equal_nan=True), name


@pytest.mark.parametrize(
    ("law", "ground"),
    [
        pytest.param("elastic", "plane", marks=pytest.mark.nightly),
        ("elastic", "field"),
        pytest.param("elastic", "several", marks=pytest.mark.nightly),
        ("rigid", "plane"),
        pytest.param("rigid", "several", marks=pytest.mark.nightly),
        pytest.param("membrane", "plane", marks=pytest.mark.nightly),
    ],
)
def test_bits_do_not_depend_on_what_is_skipped(robot, law, ground):
    options = {"elastic": OPTIONS[ground], "membrane": {"membrane": hs.Elastic(**OPTIONS[ground])}}
    skips, everywhere = (GROUNDS[ground](kind(**options.get(law, {}))) for kind in LAWS[law])
    found = falls(robot, skips, 8)
    assert found["peak_force"].max() > 0
    assert (found["failed"] < 0).all()
    same(found, falls(robot, everywhere, 8))
    if law == "membrane":
        alone = falls(robot, skips, 1)
        assert np.array_equal(alone["q"], found["q"][0])


@pytest.mark.nightly
def test_bits_in_float32_and_of_recorded_quantities(robot):
    for law, record in (("elastic", None), ("rigid", KEPT)):
        skips, everywhere = (GROUNDS["plane"](kind()) for kind in LAWS[law])
        same(*(falls(robot, s, 8, "float32", record) for s in (skips, everywhere)))


def test_what_is_skipped(robot):
    """A guard for each body of a robot, none where feet alone may touch."""
    scene = hs.Scene(robot, hs.Plane(hs.Elastic()))
    assert len(scene.groups) > FEW_GROUPS
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo())
    names = [x.name for x in sim.program.trace().step if isinstance(x, Guard)]
    assert names.count("contacts") >= len(scene.groups)
    for scene in (
        hs.Scene(hs.load("hoap1", collide="feet"), hs.Plane(hs.Elastic())),
        hs.Scene(robot, hs.Plane(EverywhereElastic())),
        hs.Scene(robot, hs.Plane(hs.Rigid(time_of_impact=True))),
        hs.Scene(robot, hs.Plane(hs.Rigid(rule="paper"))),
    ):
        plan = hs.Simulator(scene, dt=1e-3, control=hs.Servo()).plan
        assert not any(may_skip(plan, numbers) for numbers in scene.groups.values())


def test_a_bounding_sphere_holds_all_points(robot):
    rng = np.random.default_rng(0)
    for _ in range(200):
        points = [
            type(robot.points[0])("", 0, rng.normal(size=3), rng.uniform(0, 0.5))
            for _ in range(rng.integers(1, 6))
        ]
        centre, radius = bounding_sphere(points)
        away = [np.linalg.norm(point.position - centre) + point.radius for point in points]
        assert max(away) == pytest.approx(radius)
