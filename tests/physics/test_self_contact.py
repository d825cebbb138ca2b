"""Shapes of moving bodies that touch one another.

Oracles: closed forms of central impacts, conservation of momentum and of the account of energy, and
coal for the depth of shapes.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from tests import folding

NIGHTLY = pytest.mark.nightly
SPRING = hs.Elastic(hs.LinearSpring(k=2e4, c=0.0), hs.Bristle())
IMPLICIT = hs.Elastic(hs.LinearSpring(k=2e4, c=50.0), hs.Coulomb(), implicit=True)
FRICTIONLESS = hs.Elastic(hs.LinearSpring(k=2e4, c=0.0), hs.Kinetic(mu=0.0))
"""A law without memory."""
FAR = hs.Plane(SPRING, point=(0.0, 0.0, -100.0))
"""Ground that nothing reaches."""


def momentum(robot: hs.Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return linear and angular momentum about the world's origin, by Pinocchio, (6,)."""
    model = robot.model
    data = model.createData()
    total = pin.computeCentroidalMomentum(model, data, q, v)
    turn = np.cross(data.com[0], total.linear)
    return np.concatenate([total.linear, total.angular + turn])


@pytest.mark.parametrize("masses", [pytest.param((1.0, 1.0), marks=NIGHTLY), (1.0, 3.0)])
@pytest.mark.parametrize(
    ("law", "e"),
    [(SPRING, 1.0), (FRICTIONLESS, 1.0), (hs.Rigid(restitution=0.4), 0.4), (hs.Signorini(), 0.0)],
)
def test_central_impact(tmp_path, masses, law, e):
    """v1' = v (m1 - e m2) / (m1 + m2), v2' = v (1 + e) m1 / (m1 + m2)."""
    robot = folding.balls(tmp_path, "0 0 0", "0.25 0 0", masses=masses)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law, point=(0, 0, -100)), gravity=0), dt=1e-4)
    v0 = np.zeros(12)
    v0[0] = 1.0
    end = sim.run(0.15, q0=robot.pose("zero"), v0=v0).data["v"].values[0, -1]
    m1, m2 = masses
    expected = np.array([m1 - e * m2, (1 + e) * m1]) / (m1 + m2)
    # the spring is integrated with 70 to 100 steps an impact: its error falls as dt^2; passes of
    # rigid contact end at 7e-7 of the speed
    assert end[[0, 6]] == pytest.approx(expected, abs=2e-4 if e == 1 else 1e-8)
    assert np.abs(np.delete(end, [0, 6])).max() < 1e-12


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        (SPRING, "capsule"),
        (SPRING, "ellipsoid"),
        *(
            pytest.param(SPRING, k, marks=NIGHTLY)
            for k in sorted({*folding.LAST} - {"capsule", "ellipsoid"})
        ),
        (hs.Rigid(), "capsule"),
        pytest.param(hs.Rigid(), "box", marks=NIGHTLY),
        pytest.param(IMPLICIT, "capsule", marks=NIGHTLY),
        pytest.param(IMPLICIT, "cylinder", marks=NIGHTLY),
    ],
)
def test_a_chain_in_flight_keeps_its_momentum_while_it_folds(tmp_path, law, kind):
    """Contact within a robot changes neither momentum; the works add up to the energy."""
    robot = folding.chain(tmp_path, kind)
    scene = hs.Scene(robot, hs.Plane(law, point=(0, 0, -100)), gravity=0)
    sim = hs.Simulator(scene, dt=2e-4 if law is SPRING else 1e-3, control=None)
    v0 = np.zeros(robot.nv)
    v0[:6], v0[6:] = (0.1, 0.2, 0.3, 0.1, 0.0, 0.2), (-6.0, -9.0, 6.0, 9.0)
    run = sim.run(1.0, q0=robot.pose("zero"), v0=v0)
    data = run.data.isel(world=0)
    assert float(data["self_depth"].max()) > 0
    start, end = (momentum(robot, data.q.values[k], data.v.values[k]) for k in (0, -1))
    # momentum is kept to rounding in each of 1,000 steps or more
    assert end == pytest.approx(start, abs=1e-10)
    energy = data["kinetic"] + data["potential"]
    works = sum(data[name] for name in data if str(name).startswith("work_"))
    lost = float(energy[0] - energy[-1])
    assert lost > 0
    # arms turn by up to 0.015 rad in a step; the error of the account falls with the step
    assert abs(float((energy - works)[-1] - (energy - works)[0])) < 1e-2 * lost


@pytest.mark.parametrize(
    "kind", ["capsule", *(pytest.param(k, marks=NIGHTLY) for k in ("box", "cylinder", "ellipsoid"))]
)
def test_rigid_shapes_enter_one_another_by_a_step_at_most(tmp_path, kind):
    """Arms of a limp robot fall onto its trunk and onto one another; coal measures the depth."""
    robot = folding.chain(tmp_path, kind)
    ground = hs.Plane(hs.Rigid(friction=hs.Coulomb(0.5, 0.5)))
    sim = hs.Simulator(hs.Scene(robot, ground), dt=1e-3, control=None)
    v0 = np.zeros(robot.nv)
    v0[6:] = -6.0, -9.0, 6.0, 9.0
    run = sim.run(2.0, q0=robot.pose("zero"), v0=v0, every=4)
    data = run.data.isel(world=0)
    depths = np.array([folding.overlap(robot, q) for q in data.q.values])
    assert (depths > 0).any()
    # arms of 0.55 m at up to 15 rad/s meet at up to 8 m/s: 8 mm in a step
    assert depths.max() < 8e-3
    recorded = data["self_depth"].where(data["self_pair"] >= 0).max("slot").values
    touching = recorded > 1e-6
    assert depths[touching] == pytest.approx(recorded[touching], abs=1e-7)  # coal's tolerance
    assert np.abs(data.v.values[-1]).max() < 1e-2
    assert not data["lost_contacts"]


def test_without_self_contact_shapes_pass_through_one_another(tmp_path):
    """The same fall with self_contact=False is deep, so that the tests above test something."""
    robot = folding.chain(tmp_path)
    sim = hs.Simulator(hs.Scene(robot, FAR, gravity=0, self_contact=False), dt=1e-3, control=None)
    v0 = np.zeros(robot.nv)
    v0[6:] = -6.0, -9.0, 6.0, 9.0
    data = sim.run(1.0, q0=robot.pose("zero"), v0=v0, every=5).data.isel(world=0)
    assert max(folding.overlap(robot, q) for q in data.q.values) > 0.03
    assert "self_pair" not in data


def test_friction_holds_while_slots_change_hands(tmp_path):
    """A ball sticks between two others; a pair of lower number comes and goes meanwhile.

    Bristles keep their anchors by pair: the ball's height does not change when its slots do.
    """
    places = ("0 0 1", "0.5 0 1", "2 0 0", "2.3 0 0", "2.6 0 0")
    robot = folding.balls(tmp_path, *places, masses=(1.0, 1.0, 1e4, 1.0, 1e4))
    q0 = robot.pose("zero")
    q0.reshape(5, 7)[3:, 0] = 2.1995, 2.399
    law = hs.Elastic(hs.LinearSpring(k=2e4, c=100.0), hs.Bristle(mu_s=0.8, mu_k=0.6))
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law, point=(0, 0, -9)), gravity=0), dt=2e-4)
    v0 = np.zeros(30)
    v0[0] = 2.0  # the first ball hits the second after 0.15 s
    sim.push("ball3", (0.0, 0.0, 5.0), duration=0.4, at=0.0)  # less than friction holds
    data = sim.run(0.4, q0=q0, v0=v0).data.isel(world=0)
    slots = [set(row[row >= 0]) for row in data["self_pair"].values]
    assert {len(x) for x in slots} == {2, 3}
    height = data["q"].sel(coordinate="ball3.z").values
    bounded = np.abs(height).max()
    # the anchors yield by 5 N / (2 x 20 kN/m); lost anchors would add as much at each change
    assert bounded < 4 * 5 / 4e4
    after = np.flatnonzero([len(x) == 2 for x in slots])[-200:]
    assert np.ptp(height[after]) < 0.2 * bounded


def test_objects_have_slots_of_their_own():
    """A lattice of 3 x 3 balls has 12 neighbours that touch, more than a robot has slots."""
    places = [(i, j) for i in range(3) for j in range(3)]
    ball = hs.load("ball")
    sim = hs.Simulator(hs.Scene(hs.combine([ball] * 9), FAR, gravity=0), dt=1e-3)
    q0 = [x for i, j in places for x in (0.0999 * i, 0.0999 * j, 0, 0, 0, 0, 1)]
    run = sim.run(0.002, q0=q0)
    assert not int(run.data["lost_contacts"][0])
    assert int((run.data["self_pair"][0, 0] >= 0).sum()) == 12


def combs(tmp_path, sunk: np.ndarray) -> tuple[hs.Robot, list[float]]:
    """Two combs of balls that face one another, and coordinates in which ball k of both overlaps by
    `sunk` [m]."""
    teeth = [
        "".join(
            f'<geom name="{name}{k}" type="sphere" size="0.1" pos="{x} {0.3 * k} 0" mass="1"/>'
            for k, x in enumerate(places)
        )
        for name, places in (("one", np.zeros(len(sunk))), ("other", -sunk))
    ]
    bodies = [
        f'<body pos="{x} 0 0"><freejoint/>{own}</body>'
        for own, x in zip(teeth, (0, 0.3), strict=True)
    ]
    path = tmp_path / "combs.xml"
    path.write_text(f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>")
    robot = hs.load(path)
    q0 = robot.pose("zero")
    q0[7] = 0.2
    return robot, q0


def test_contacts_without_a_slot_are_counted(tmp_path):
    """Two combs of 8 balls each touch at 8 places, of which a scene of two trees holds 6."""
    robot, q0 = combs(tmp_path, np.full(8, 1e-4))
    sim = hs.Simulator(hs.Scene(robot, FAR, gravity=0), dt=1e-3)
    with pytest.warns(hs.HeelstrikeWarning, match=r"contacts of shapes .* were left out"):
        run = sim.run(0.002, q0=q0)
    assert int(run.data["lost_contacts"][0]) == 2 * (8 - 6)


@pytest.mark.parametrize("order", [1, -1])
def test_the_deepest_pairs_have_the_slots(tmp_path, order):
    """Of 8 pairs, compared from the least deep to the deepest or in reverse, 6 have slots."""
    sunk = np.linspace(1e-4, 8e-4, 8)[::order]
    robot, q0 = combs(tmp_path, sunk)
    sim = hs.Simulator(hs.Scene(robot, FAR, gravity=0), dt=1e-3)
    with pytest.warns(hs.HeelstrikeWarning, match="4 contacts of shapes .* were left out"):
        data = sim.run(steps=2, q0=q0).data.isel(world=0)
    first = data.isel(time=0)
    held = {str(first["shape_pair"].values[k]) for k in first["self_pair"].values}
    assert held == {f"one{k} on other{k}" for k in np.flatnonzero(sunk > 2.5e-4)}
    assert np.sort(first["self_depth"].values) == pytest.approx(np.sort(sunk)[2:], abs=1e-12)


def test_coordinates_that_are_set_from_outside_are_noticed(tmp_path):
    """Balls that are far apart are not compared; moved into one another, they touch at once."""
    robot = folding.balls(tmp_path, "0 0 0", "3 0 0")
    sim = hs.Simulator(hs.Scene(robot, FAR, gravity=0), dt=1e-3)
    sim.reset(q0=robot.pose("zero"))
    for _ in range(5):
        sim.step()
    sim.state["q"][7] = 0.199
    sim.step()
    # 2e4 N/m times 1 mm, for 1 ms on 1 kg
    assert sim.state["v"][[0, 6]] == pytest.approx([-0.02, 0.02], rel=1e-9)


@pytest.mark.parametrize(
    "law", [SPRING, pytest.param(hs.Rigid(), marks=NIGHTLY)], ids=["spring", "rigid"]
)
def test_bits_do_not_depend_on_neighbours(tmp_path, law):
    """Worlds that touch at different times: each has the bits of a run of its own."""
    robot = folding.chain(tmp_path, "box")
    scene = hs.Scene(robot, hs.Plane(law, point=(0, 0, -100)), gravity=0)
    sim = hs.Simulator(scene, dt=2e-4 if law is SPRING else 1e-3, control=None)
    v0 = np.zeros((5, robot.nv))
    v0[:, 6:] = np.outer((1.0, 0.9, 0.2, 0.8, 1.1), (-6, -9, 6, 9))
    q0 = robot.pose("zero")
    both = sim.run(0.6, worlds=5, q0=q0, v0=v0, record=("q", "v", "self_pair")).data
    assert (both["self_pair"] >= 0).any(("time", "slot")).sum() >= 2
    for world in (0, 3):
        alone = sim.run(0.6, worlds=1, q0=q0, v0=v0[world], record=("q", "v")).data
        for name in ("q", "v"):
            assert np.array_equal(alone[name].values[0], both[name].values[world])


def test_bodies_inside_one_another_are_no_start(tmp_path):
    """`check_start` names two balls that overlap by 0.15 m."""
    robot = folding.balls(tmp_path, "0 0 0", "3 0 0")
    sim = hs.Simulator(hs.Scene(robot, FAR, gravity=0), dt=1e-4)
    q0 = robot.pose("zero")
    sim.check_start(q0)
    q0[7] = 0.05
    with pytest.raises(hs.HeelstrikeError, match="'ball0' and 'ball1' start 150 mm inside"):
        sim.check_start(q0)
