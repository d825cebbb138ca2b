"""Yardsticks against recordings whose answers are known by hand, and against three real ones.

Made-up runs have ten steps of 1 ms and numbers that a reader can check. The distance from a cone is
compared with a search over the cone. Real runs: a box at rest and a sliding box on a rigid surface,
where Signorini and Coulomb hold to the solver's tolerance, and hoap1 standing.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.measure.compare import Comparison, compare
from heelstrike.measure.residuals import outside
from heelstrike.measure.window import window
from heelstrike.measure.yardsticks import Yardsticks, yardsticks
from heelstrike.parameters import parameters
from heelstrike.record.dataset import dataset
from heelstrike.record.provenance import ATTRIBUTES
from heelstrike.record.recording import Recording
from heelstrike.record.variables import VARIABLES
from heelstrike.step.inputs import WORKS

DT, RECORDS, G = 1e-3, 11, 9.81
DRY = hs.Elastic(hs.HuntCrossley(), hs.Kinetic(mu=0.5))
EXACT = 1e-12
"""Relative; sums of a few numbers."""


def made_up(points=1, worlds=1, law=DRY, finals=None, varied=None, **changes):
    """A recording of points of one body that rest 1 mm deep under 10 N, but for the changes:
    each broadcast over (world, time, point, ...).
    """
    names = ["depth", "depth_rate", "force", "normal_force", "slip", "kinetic", "potential", *WORKS]
    sizes = {"point": points, "axis": 3}
    still = {"depth": 1e-3, "normal_force": 10.0, "force": np.array([0, 0, 10.0])}
    series = {}
    for name in names:
        shape = (worlds, RECORDS, *(sizes[dim] for dim in VARIABLES[name].dims))
        series[name] = np.broadcast_to(changes.pop(name, still.get(name, 0.0)), shape).astype(float)
    attributes = dict.fromkeys(ATTRIBUTES) | {
        "laws": {"ground": law},
        "parameters": parameters(hs.Plane(law=law), "ground."),
        "dt": DT,
        "every": changes.pop("every", 1),
        "varied": varied,
    }
    assert not changes
    coords = {
        "time": DT * np.arange(RECORDS),
        "point": [f"p{k}" for k in range(points)],
        "surface": ["ground"] * points,
        "point_body": ["foot"] * points,
    }
    return Recording(dataset(series, finals or {}, coords, attributes))


def over_time(values):
    """A value of each record, for one point."""
    return np.asarray(values, dtype=float)[None, :, None]


def test_nothing_to_blame():
    """A point at rest inside its cone: every gap is 0."""
    found = yardsticks(made_up(force=[3.0, 1.0, 10.0]))
    gaps = "cone_violation adhesion approach complementarity dissipation_gap ncp_primal ncp_dual"
    for name in [*gaps.split(), "ncp_complementarity", "chatter", "creep_normal"]:
        assert getattr(found, name) == 0, name
    assert found.seconds == pytest.approx(10 * DT, rel=EXACT)
    assert found.deepest == 1e-3
    assert found.mean_depth == pytest.approx(1e-3, rel=EXACT)


def test_friction_beyond_the_cone():
    found = yardsticks(made_up(force=[-6.0, 0, 10.0]))
    assert found.cone_violation == pytest.approx(1.0, rel=EXACT)
    assert found.ncp_primal == pytest.approx(1 / np.hypot(1, 0.5), rel=EXACT)


def test_pull_is_told_and_leaves_no_cone():
    found = yardsticks(made_up(normal_force=-3.0, force=[4.0, 0, -3.0]))
    assert found.adhesion == 3
    assert found.cone_violation == 4
    assert found.ncp_primal == pytest.approx(5.0, rel=EXACT)  # the tip is nearest


def test_velocity_after_the_step_is_meant():
    """Record 0 has a speed that the step's force takes away: no gap. At record 3 the step before
    leaves 0.2 m/s inward under 12 N, while it slides at 1 m/s.
    """
    rate = np.zeros(RECORDS)
    rate[0] = 7.0
    assert yardsticks(made_up(depth_rate=over_time(rate))).approach == 0
    rate[3] = 0.2
    force = 10.0 + np.arange(RECORDS)
    force3 = np.stack([0 * force, 0 * force, force], axis=-1)[None, :, None]
    loads = {"normal_force": over_time(force), "force": force3}
    run = made_up(depth_rate=over_time(rate), slip=[1.0, 0, 0], **loads)
    found = yardsticks(run)
    assert found.approach == 0.2
    assert found.ncp_dual == pytest.approx(0.2 / DT / np.hypot(1, 0.5), rel=EXACT)
    assert found.complementarity == pytest.approx(0.2 * 12, rel=EXACT)
    assert yardsticks(run, settle=3 * DT).approach == 0
    still = yardsticks(made_up(depth_rate=over_time(rate)))
    assert still.ncp_dual == pytest.approx(0.2 / DT, rel=EXACT)  # the tip is nearest


def test_slip_after_the_step_is_meant():
    """A slip that the first step stops is none; record 3's was left by the force of record 2."""
    slip, force = np.zeros((1, RECORDS, 1, 3)), np.tile([0, 0, 10.0], (1, RECORDS, 1, 1))
    slip[0, 0], force[0, 0] = [2.0, 0, 0], [4.0, 0, 10.0]
    assert yardsticks(made_up(slip=slip, force=force)).dissipation_gap == 0
    slip[0, 3], force[0, 2] = [0.2, 0, 0], [-5.0, 0, 10.0]
    assert yardsticks(made_up(slip=slip, force=force)).dissipation_gap == 0
    force[0, 2] = [-3.0, 0, 10.0]
    found = yardsticks(made_up(slip=slip, force=force))
    assert found.dissipation_gap == pytest.approx(0.4, rel=EXACT)


def test_departing_under_load_breaks_complementarity_alone():
    found = yardsticks(made_up(depth_rate=-0.3))
    assert found.approach == found.ncp_dual == 0
    assert found.complementarity == pytest.approx(3.0, rel=EXACT)
    assert found.ncp_complementarity == pytest.approx(3.0, rel=EXACT)


@pytest.mark.parametrize(
    ("force", "gap"),
    [
        ((-5.0, 0, 10.0), 0.0),  # on the cone, against the slip
        ((0, -5.0, 10.0), 1.0),  # across
        ((5.0, 0, 10.0), 2.0),  # along: it drives the slip
        ((-2.0, 0, 10.0), 0.6),  # too little
    ],
)
def test_dissipation_gap(force, gap):
    """f . u + mu f_n |u| at mu f_n = 5 N and 0.2 m/s."""
    found = yardsticks(made_up(force=force, slip=[0.2, 0, 0]))
    assert found.dissipation_gap == pytest.approx(gap, abs=EXACT)
    assert found.ncp_complementarity == pytest.approx(gap, abs=EXACT)
    assert found.ncp_dual == 0


def test_points_outside_do_not_count():
    found = yardsticks(made_up(depth=-1e-3, normal_force=0.0, force=0.0, depth_rate=5.0))
    assert np.isnan(found.approach)
    assert np.isnan(found.deepest)
    assert np.isnan(found.chatter)
    assert "friction beyond the cone [N]" in str(found)


def test_distance_from_a_cone():
    """The nearest of many places of the cone, for points beside, inside and behind it."""
    rng = np.random.default_rng(1)
    r, z, a, b = rng.uniform([[0], [-1], [0], [0.1]], [[1], [1], [2], [2]], (4, 200))
    far, angle = np.meshgrid(np.linspace(0, 2, 401), np.linspace(0, 1, 101))
    for point in zip(r, z, a, b, outer := outside(r, z, a, b), strict=True):
        widest = np.arctan2(point[3], point[2])  # from the axis to the wall
        places = far * np.sin(widest * angle), far * np.cos(widest * angle)
        searched = np.hypot(places[0] - point[0], places[1] - point[1]).min()
        assert point[4] == pytest.approx(searched, abs=0.02)  # spacing of the search
    assert (outer == 0).any()
    assert (outer == np.hypot(r, z)).any()


def test_penetration():
    unloaded = np.full(RECORDS, 3e-3)
    depth = np.stack([unloaded / 1.5, np.linspace(0, 1e-3, RECORDS), unloaded], axis=-1)
    found = yardsticks(made_up(points=3, depth=depth, normal_force=[10.0, 10.0, 0]))
    assert found.deepest == 3e-3
    # 10 records of 2 mm, 9 of 0.1 to 0.9 mm; the one at 0 does not touch
    assert found.mean_depth == pytest.approx((10 * 2e-3 + 4.5e-3) / 19, rel=EXACT)


def test_creep():
    """Of points that always carry: one sinks at 3 um/s and creeps at 5, one lifts for a step."""
    t = DT * np.arange(RECORDS)
    depth = np.stack([1e-3 + 3e-6 * t, 1e-3 + 9e-6 * t], axis=-1)
    normal = np.full((RECORDS, 2), 10.0)
    normal[4, 1] = 0
    run = made_up(points=2, depth=depth, normal_force=normal, slip=[3e-6, -4e-6, 0])
    found = yardsticks(run)
    # depth of 1 mm is known to 1e-19 m: 1e-17 m/s over 10 ms
    assert found.creep_normal == pytest.approx(3.0, rel=1e-8)
    assert found.creep_tangential == pytest.approx(5.0, rel=EXACT)
    assert np.isnan(found.by_point["p1"]["creep_normal"])
    depth = np.stack([1e-3 - 2e-6 * t, 1e-3 + 1e-6 * t], axis=-1)
    tilting = yardsticks(made_up(points=2, depth=depth))  # the one that moves more is told
    assert tilting.creep_normal == pytest.approx(-2.0, rel=1e-8)


def test_swinging_creeps_little():
    """By the nearest line: +-1 in turn, 10 times, has the slope 5 / 82.5, its ends 2 / 9."""
    swing = np.array([1, -1] * RECORDS)[:RECORDS]
    slip = np.zeros((1, RECORDS, 1, 3))
    slip[0, :, 0, 0] = 0.2 * swing
    run = made_up(slip=slip, depth=over_time(1e-3 + 1e-4 * swing))
    whole, nine = yardsticks(run), yardsticks(run, settle=DT)
    assert whole.creep_tangential < 1e6 * EXACT
    assert abs(whole.creep_normal) < 1e6 * EXACT
    assert nine.creep_tangential == pytest.approx(1e6 * 0.1 * 5 / 82.5, rel=EXACT)
    assert nine.creep_normal == pytest.approx(1e6 * 0.1 * 5 / 82.5, rel=1e-10)


def test_chatter():
    """+-1 N from step to step on two points in opposition: the total is at rest."""
    swing = np.array([1.0, -1.0] * RECORDS)[:RECORDS]
    opposed = made_up(points=2, normal_force=10 + np.stack([swing, -swing], axis=-1))
    found = yardsticks(opposed)
    assert found.chatter == 0
    assert found.chatter_point == pytest.approx(2 / DT / 20, rel=EXACT)
    together = yardsticks(made_up(points=2, normal_force=10 + np.stack([swing, swing], axis=-1)))
    assert together.chatter == pytest.approx(4 / DT / 20, rel=EXACT)


def test_spread():
    four = yardsticks(made_up(points=4, normal_force=[1.0, 1.0, 3.0, 3.0]))
    assert four.spread == four.by_body["foot"]["spread"] == pytest.approx(0.5, rel=EXACT)
    # a touching point without load counts, one in the air does not; three are told by statics
    depth = np.array([1, 1, 1, 1, -1]) * 1e-3
    five = yardsticks(made_up(points=5, depth=depth, normal_force=[2.0, 0, 2.0, 0, 0]))
    assert five.spread == pytest.approx(1.0, rel=EXACT)
    assert np.isnan(yardsticks(made_up(points=3)).spread)


def test_energy_residual_of_the_window():
    """1 J from nothing in the first half, 0.25 J in the second."""
    gained = np.concatenate([np.linspace(0, 1, 6), 1 + np.linspace(0.05, 0.25, 5)])
    works = {"work_push": np.linspace(0, 4, RECORDS), "work_friction": np.linspace(0, -3, RECORDS)}
    run = made_up(kinetic=gained + np.linspace(0, 1, RECORDS), **works)
    assert yardsticks(run).energy_residual == pytest.approx(1.25, rel=EXACT)
    assert yardsticks(run, settle=5 * DT).energy_residual == pytest.approx(0.25, rel=1e-10)


COULOMB = hs.Coulomb(mu_s=0.9, mu_k=0.3)
LAYERS = hs.MicroMacro(
    membrane=hs.Elastic(hs.LinearSpring(), hs.Kinetic(mu=0.2)),
    rigid=hs.Rigid(friction=COULOMB),
    thickness=2e-3,
)


@pytest.mark.parametrize(
    ("law", "depth", "mu_s", "mu_k"),
    [
        (hs.Rigid(friction=COULOMB), 1e-3, 0.9, 0.3),
        (LAYERS, 1e-3, 0.2, 0.2),
        (LAYERS, 3e-3, 0.9, 0.3),
        (hs.Elastic(hs.LinearSpring(), None), 1e-3, 0.0, 0.0),
    ],
)
def test_coefficients_of_a_law(law, depth, mu_s, mu_k):
    found = window(made_up(law=law, depth=depth))
    assert np.array_equal(found.mu_s, np.full((10, 1), mu_s))
    assert np.array_equal(found.mu_k, np.full((10, 1), mu_k))


def test_law_without_a_coefficient():
    """Friction that has no cone is not judged by one; the rest is measured."""

    @hs.friction_law
    def syrup(c, c_t=5.0):
        return -c_t * c.slip

    law = hs.Elastic(hs.LinearSpring(), syrup)
    found = yardsticks(made_up(law=law, depth_rate=0.1))
    assert np.isnan([found.cone_violation, found.dissipation_gap, found.ncp_primal]).all()
    assert found.approach == 0.1


def test_coefficients_of_a_world():
    run = made_up(worlds=3, force=[6.0, 0, 10.0], varied={"ground.friction.mu": [0.5, 0.2, 0.7]})
    assert [round(yardsticks(run, world=k).cone_violation, 12) for k in range(3)] == [1, 4, 0]


@pytest.mark.parametrize(
    ("run", "options", "words"),
    [
        (made_up(every=10), {}, "keeps every 10th step.*every=1"),
        (made_up(), {"world": 3}, "no world 3; this recording has 0 to 0"),
        (made_up(), {"settle": 0.01}, "leaves nothing to measure of 0.01 s"),
        (Recording(made_up().data.drop_vars("slip")), {}, "lacks slip over time.*'standard'"),
    ],
)
def test_what_cannot_be_measured_is_said(run, options, words):
    with pytest.raises(hs.HeelstrikeError, match=words):
        yardsticks(run, **options)


def test_table():
    failed = made_up(finals={"failed": np.array([7])})
    runs = {f"law {k}": made_up(force=[-4.0 - 2 * k, 0, 10.0]) for k in range(6)} | {"wild": failed}
    table = compare(runs)
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 80
    cone = [line for line in lines if line.startswith("friction beyond the cone [N]")]
    assert [x for line in cone for x in line.split()[5:]] == ["0", "1", "3", "5", "7", "9", "-"]
    assert "| law 0 | law 1 |" in table.markdown()
    assert "| failed at step | - | - | - | - | - | - | 7 |" in table.markdown()
    read = json.loads(json.dumps(table.as_dict(), allow_nan=False))
    assert read["law 2"]["cone_violation"] == pytest.approx(3.0)
    assert read["wild"]["cone_violation"] is None
    assert read["wild"]["failed"] == 7
    assert str(table["wild"]) == "failed at step 7"
    assert isinstance(table["law 0"], Yardsticks)
    with pytest.raises(hs.HeelstrikeError, match="nothing to compare"):
        Comparison({})


@cache
def box():
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0.6, mu_k=0.5))
    return hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=DT)


def box_run(speed):
    start = {"q0": [0, 0, 0.05 - 1e-6, 0, 0, 0, 1], "v0": [speed, 0, 0, 0, 0, 0]}
    return box().run(0.15, progress=False, **start)


def test_box_at_rest():
    found = yardsticks(box_run(0.0))
    # SETTLED: velocities to 1e-6 of g dt, about 1e-8 m/s; 12 N on a corner
    assert found.approach < 2e-8
    assert found.complementarity < 2e-7
    assert found.cone_violation < 1e-12
    assert abs(found.creep_normal) < 1e-2
    assert found.creep_tangential < 1e-2
    assert found.deepest == pytest.approx(1e-6, rel=1e-2)
    assert found.spread < 1e-6
    assert abs(found.energy_residual) < 1e-9


def test_sliding_box():
    """Against mu_k f_n everywhere; the friction's moment loads the front corners."""
    found = yardsticks(box_run(1.0))
    assert found.cone_violation < 1e-12
    # TURNING: friction may be off by 1e-3 of its direction; 0.5 x 49 N at 1 m/s
    assert found.dissipation_gap < 1e-3 * 0.5 * 5 * G
    assert found.ncp_complementarity < 1e-3 * 0.5 * 5 * G
    # the line nearest to a parabola has its slope of the middle, half a step off at most
    assert found.creep_tangential == pytest.approx(1e6 * (1 - 0.5 * G * 0.075), abs=1e6 * G * DT)
    # mu h / a = 0.5 x 0.05 / 0.1
    assert found.spread == pytest.approx(0.25, rel=0.01)


def test_hoap1_stands():
    """It does not sink on the rigid surface, and stands deeper on the elastic one by its weight."""
    laws = {
        "rigid": hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.6)),
        "elastic": hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.4), hs.Bristle()),
    }
    runs, robot = {}, hs.load("hoap1", collide="feet")
    for name, law in laws.items():
        sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=DT, control=hs.Servo())
        runs[name] = sim.run(2.0, q0=robot.pose("stance"), progress=False)
    table = compare(runs, settle=1.0)
    rigid, elastic = table["rigid"], table["elastic"]
    assert abs(rigid.creep_normal) < 1  # um/s
    assert rigid.creep_tangential < 1
    assert rigid.approach < 1e-8
    assert rigid.chatter < 1e-3
    weight = float(runs["elastic"].data["normal_force"][0, -1].sum())
    points = int(runs["elastic"].data["touching"][0, -1].sum())
    # settling still, by its damping of 0.4 s/m
    assert elastic.mean_depth == pytest.approx(weight / points / 2e4, rel=1e-2)
    assert rigid.mean_depth < 0.1 * elastic.mean_depth
    assert rigid.complementarity < elastic.complementarity
