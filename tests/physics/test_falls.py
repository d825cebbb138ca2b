"""Robots that fall lie on the floor.

Oracles: the ground, below which no shape may come to rest, and the weight, which the ground carries
when the robot lies still.
"""

import numpy as np
import pytest

import heelstrike as hs
from benchmarks.falls import DEEP, fallen, loaded, lowest_shape
from benchmarks.pushed_over import starts
from heelstrike.robot.overlaps import overlaps
from heelstrike.scene.files.part import Part
from tests.models import data_file, example_file

LEG = {"thigh", "shin", "sole"}
"""Parts of a leg."""
MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'


def test_a_pushed_robot_lies_on_the_floor():
    """hoap1 stands, is pushed by 30 N and falls; most of its weight is then on its trunk.

    Nothing is inside another body on the way, by coal.
    """
    scene = hs.load_scene("stand")
    sim = scene.simulator()
    q, v = scene.start
    sim.reset(q0=q, v0=v)
    sim.push("WAIST", (30, 0, 0), duration=0.3, at=0.3)
    run = sim.run(2.5, record=("q", "v", "com", "normal_force"), every=50)
    end = run.data["q"].values[0, -1]
    assert run.data["com"].values[0, 0, 2] > 0.2
    assert 0.03 < run.data["com"].values[0, -1, 2] < 0.1
    assert np.abs(run.data["v"].values[0, -1]).max() < 1e-3
    # springs of 2e4 N/m under 49 N on a few corners
    assert -2e-3 < lowest_shape(sim.robot, end) < 0
    force = run.data["normal_force"].isel(world=0, time=-1)
    assert float(force.sum()) == pytest.approx(sim.robot.mass * 9.81, rel=1e-3)
    assert run.data["lost_contacts"].values.max() == 0
    # springs of 2e4 N/m between shapes as well
    for q in run.data["q"].values[0, ::4]:
        assert max(overlaps(sim.robot, q).values(), default=0.0) < 3e-3
    feet = {point.name for point in hs.load("hoap1", collide="feet").points}
    carried = sum(float(force.sel(point=p)) for p in force.point.values if p not in feet)
    assert carried > 0.5 * sim.robot.mass * 9.81


@pytest.mark.nightly
def test_legs_of_a_limp_humanoid_press_on_one_another():
    """hoap1 without motors falls eight ways on Rigid; coal measures how deep its shells are in one
    another, every 30 ms.
    """
    robot = hs.load("hoap1")
    q0, angles = robot.pose("stance"), np.arange(8) * np.pi / 4
    v0 = np.zeros((8, robot.nv))
    v0[:, 3:6] = 5.0 * np.column_stack([-np.sin(angles), np.cos(angles), 0 * angles])
    v0[:, :2] = q0[2] * 5.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    steel = hs.Rigid(friction=hs.Coulomb(0.6, 0.6))
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(steel)), dt=1e-3, control=None, worlds=8)
    data = sim.run(2.0, q0=q0, v0=v0, record=("q", "self_pair"), every=30).data
    names, own = data["shape_pair"].values, data["self_pair"].values
    legs = [{x.partition("_")[2] for x in name.split(" on ")} <= LEG for name in names]
    assert np.isin(own, np.flatnonzero(legs)).any(axis=(1, 2)).sum() >= 4
    assert not data["lost_contacts"].any()
    depths = [
        max(overlaps(robot, q).values(), default=0.0) for path in data["q"].values for q in path
    ]
    assert max(depths) < 4e-3  # limbs meet at up to 4 m/s
    assert (
        max(depths[len(data["time"]) - 1 :: len(data["time"])]) < 1.1e-3
    )  # 1 mm that Rigid allows


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["hoap1", "t1", "anymal_c"])
def test_robots_at_rest_take_few_rounds(name):
    """Robots pushed over eight ways lie with some friction at its bound and T1 with motors at their
    limits; nothing changes then, so that a step begins next to its solution, and forces stay.

    Before, the hoap1 that falls forward took 110 rounds in each step, three of T1 six to nine, and
    one ANYmal 22, whose forces changed from step to step by 4 N and back. Six of the eight ANYmal
    lie on their round backs and rock for seconds.
    """
    robot = hs.load(name if name == "hoap1" else data_file(f"robots/{name}.xml"))
    q, v = starts(robot, 8)
    steel = hs.Rigid(friction=hs.Coulomb(0.6, 0.6))
    scene = hs.Scene(robot, hs.Plane(steel))
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo(reference=q), worlds=8)
    sim.reset(q0=q, v0=v)
    sim.step(4000)
    data = sim.run(0.5, record=("v", "solver_rounds", "normal_force"), progress=False).data
    rests = np.abs(data["v"].values[:, -1]).max(axis=1) < 1e-6
    assert rests.sum() >= (2 if name == "anymal_c" else 8)
    assert data["solver_rounds"].values[rests].max() <= 5
    forces = data["normal_force"].values[rests, -100:]
    assert np.abs(np.diff(forces, axis=1)).max() < 1e-3 * robot.mass * robot.gravity


def test_heights_at_the_start_count_all_shapes(tmp_path):
    """A tail below the foot: `drop` places the tail, or with feet alone the foot."""
    path = tmp_path / "robot.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/>{MASS}<geom type="box" '
        'size=".2 .2 .1"/><geom name="tail" type="capsule" fromto="0 0 0 0 0 -.6" size=".02"/>'
        f'<body name="f" pos="0 0 -.3"><joint/>{MASS}<geom name="foot" type="box" '
        'size=".2 .2 .1"/></body></body></worldbody></mujoco>'
    )
    for collide, height in ((None, 0.63), ("feet", 0.41)):
        part = Part(str(path), collide=collide, drop=0.01)
        q = part.coordinates(part.robot())
        assert q[2] == pytest.approx(height, abs=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["hoap1", "hrp2", "anymal_c", "talos", "a1", "solo12", "go2"])
def test_limp_robots_do_not_pass_through_the_floor(name):
    """Dropped without motors; a reduced hull lets its mesh sink by the hull's error."""
    if name in ("anymal_c", "talos"):
        source = str(data_file(f"robots/{name}.xml"))
    else:
        source = name if name in hs.bundled() else str(example_file(f"{name}.urdf"))
    row = fallen(*loaded(source))
    assert not row["diverged"]
    assert row["lowest at the end [m]"] > -0.01 - row["hull error"]
    assert row["lowest [m]"] > -DEEP
