"""Shapes that overlap where a run starts: uniform motion before they part, an impact afterwards.

Two balls of 1 kg and radius 0.1 m slide on one line without gravity; the file draws them 0.05 m
inside one another. The oracle is the conservation of momentum: until they have parted nothing
acts, and a rigid impact without restitution leaves both with the mean of their velocities.
"""

import warnings

import numpy as np
import pytest

import heelstrike as hs

BALL = """<body name="{0}" pos="{1} 0 0"><joint name="{0}" type="slide" axis="1 0 0"/>
<geom name="{0}" type="sphere" size=".1" mass="1"/></body>"""
FAR = hs.Plane(hs.Rigid(), point=(0, 0, -100))


@pytest.fixture(scope="module")
def sim(tmp_path_factory):
    path = tmp_path_factory.mktemp("balls") / "balls.xml"
    bodies = BALL.format("a", 0) + BALL.format("b", 0.15) + BALL.format("c", 1)
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    with pytest.warns(hs.HeelstrikeWarning, match=r"before they have parted.* a and b \(50 mm\)"):
        robot = hs.load(path)
    assert not [d for d in robot.fidelity if d.concerns != "file"]
    return hs.Simulator(hs.Scene(robot, FAR, gravity=0), dt=1e-3, control=None)


def test_what_overlaps_at_the_start_touches_once_it_has_parted(sim):
    """The balls pass through one another, part, and meet in an impact when they come back."""
    run = sim.run(0.5, q0=[0, 0, 0], v0=[1.0, -1.0, 0])  # 0.15 m inside, out by 0.35 m each
    assert np.abs(run.data.v.values - [1, -1, 0]).max() == 0
    sim.state["v"] = np.array([[-1.0, 2.0, 0]])
    run = sim.run(0.6)
    assert np.abs(run.data.v.values[0, -1] - [0.5, 0.5, 0]).max() < 1e-9
    depth = 0.2 - np.abs(np.diff(run.data.q.values[0, :, :2] + [0, 0.15]))
    assert depth.max() < 3.1e-3  # v dt


def test_what_is_apart_at_the_start_touches(sim):
    """From a start without overlap the same pair has its impact."""
    run = sim.run(0.3, q0=[0, 0.2, 0], v0=[1.0, 0, 0])
    assert np.abs(run.data.v.values[0, -1] - [0.5, 0.5, 0]).max() < 1e-9


def test_worlds_of_a_batch_part_by_themselves(sim):
    """Worlds that start inside and apart, beside one another, have the bits they have alone."""
    q0 = np.array([[0, 0.02 * k, 0] for k in range(5)])
    v0 = np.tile([1.0, 0, 0], (5, 1))
    both = sim.run(0.5, worlds=5, q0=q0, v0=v0).data
    for world in range(5):
        alone = sim.run(0.5, worlds=1, q0=q0[world], v0=v0[world]).data
        assert np.array_equal(alone.v.values[0], both.v.values[world])
    assert np.abs(both.v.values[:3, -1] - [1, 0, 0]).max() == 0
    assert np.abs(both.v.values[3:, -1] - [0.5, 0.5, 0]).max() < 1e-9


def test_parts_of_a_whole_keep_what_overlaps(sim):
    """`combine` keeps the pairs; those of different parts are not among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = hs.combine({"one": sim.robot, "two": sim.robot})
    names = [{whole.shapes[i].name for i in pair} for pair in whole.overlapping]
    assert names == [{"one/a", "one/b"}, {"two/a", "two/b"}]
