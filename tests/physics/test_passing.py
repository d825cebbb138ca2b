"""Thin things are not passed by what moves further than their thickness in a step.

Oracles: momentum and restitution of an impact, and that nothing ends on the other side. Starts are
spread over the distance of a step, so that every phase of meeting the surface occurs.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import heelstrike as hs

SPEED, WORLDS = 10.0, 24  # [m/s]
BODIES = {
    "ball": '<geom name="body" type="sphere" size="0.004" mass="1"/>',
    "cube": '<geom name="body" type="box" size="0.05 0.05 0.05" mass="1"/>',
}
SHELL = (
    '<body name="shell" pos="0 0 -1"><freejoint/>'
    '<geom name="shell" type="box" size="0.3 0.3 0.001" mass="1"/></body>'
)


def loaded(folder, kind: str, more: str = "") -> hs.Robot:
    """Return a free body, and others."""
    path = folder / "body.xml"
    body = f'<body name="body"><freejoint/>{BODIES[kind]}</body>'
    path.write_text(f"<mujoco><worldbody>{body}{more}</worldbody></mujoco>")
    return hs.load(path)


def starts(robot: hs.Robot, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return q and v of worlds whose first body falls from heights that differ by less than v dt.

    A cube falls with a corner first.
    """
    q, v = np.tile(robot.pose("zero"), (WORLDS, 1)), np.zeros((WORLDS, robot.nv))
    q[:, 2] = 0.1 + SPEED * dt * np.arange(WORLDS) / WORLDS
    half = np.arccos(np.sqrt(1 / 3)) / 2  # turns (1, 1, 1) to z
    axis = np.array([1, -1, 0]) / np.sqrt(2)
    q[:, 3:7] = [*np.sin(half) * axis, np.cos(half)]
    # Rodrigues' formula: -z in the body's frame, about the axis by minus the angle
    angle = 2 * half
    down = -np.array([0, 0, 1.0]) * np.cos(angle) + np.cross(axis, [0, 0, 1.0]) * np.sin(angle)
    v[:, :3] = SPEED * down
    if robot.nq > 7:
        q[:, 7:] = [0, 0, 0, 0, 0, 0, 1]
    return q, v


@pytest.mark.parametrize("dt", [1e-3, 2e-3])
@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("cube", hs.Rigid()),
        ("ball", hs.Rigid()),
        pytest.param("ball", hs.Signorini(), marks=pytest.mark.nightly),
    ],
)
def test_a_plate_of_1_cm_is_not_passed(tmp_path, kind, law, dt):
    """A cube's corner and a small ball that move 1 or 2 cm in a step stop at the plate."""
    robot = loaded(tmp_path, kind)
    plate = hs.Box(law, "plate", point=(0, 0, -0.005), size=(1, 1, 0.01))
    sim = hs.Simulator(hs.Scene(robot, plate, gravity=0), dt=dt, worlds=WORLDS)
    q, v = starts(robot, dt)
    data = sim.run(0.03, q0=q, v0=v).data
    # where the next step ends less than halfway inside, the point is stopped there
    halfway = (0.01 + (0.008 if kind == "ball" else 0)) / 4
    assert float(data["depth"].max()) < halfway
    assert (data.q.values[:, -1, 2] > (-0.001 if kind == "ball" else 0.03)).all()


def test_a_ball_rebounds_from_a_plate(tmp_path):
    """The rebound is e v, whether or not the ball was inside before it was stopped."""
    robot = loaded(tmp_path, "ball")
    plate = hs.Box(hs.Rigid(restitution=0.6), "plate", point=(0, 0, -0.005), size=(1, 1, 0.01))
    sim = hs.Simulator(hs.Scene(robot, plate, gravity=0), dt=2e-3, worlds=WORLDS)
    q, v = starts(robot, 2e-3)
    data = sim.run(0.03, q0=q, v0=v).data
    assert np.linalg.norm(data.v.values[:, -1, :3], axis=1) == pytest.approx(0.6 * SPEED, rel=1e-6)
    assert (data.q.values[:, -1, 2] > 0.01).all()
    some = data["depth"].max(["time", "point"]).values > 0
    assert some.any()
    assert not some.all()


def test_a_shell_is_not_passed_by_a_ball(tmp_path):
    """A shell of 2 mm and a ball of 8 mm, both free, go on together: v / 2."""
    robot = loaded(tmp_path, "ball", SHELL)
    scene = hs.Scene(robot, hs.Plane(hs.Rigid(), point=(0, 0, -100)), gravity=0)
    sim = hs.Simulator(scene, dt=2e-3, worlds=WORLDS)
    q, v = starts(robot, 2e-3)
    data = sim.run(0.03, q0=q, v0=v).data
    above = data.q.values[:, -1, 2] - data.q.values[:, -1, 9]
    assert (above > 0.002).all()
    assert float(data["self_depth"].max()) < (0.008 + 0.002) / 4
    assert data.v.values[:, -1, 8] == pytest.approx(-SPEED / 2, rel=1e-6)
    alone = hs.Simulator(scene, dt=2e-3).run(0.03, q0=q[7], v0=v[7]).data.q.values[0]
    assert np.array_equal(alone, data.q.values[7])


def test_a_cube_and_a_shell_go_on_together(tmp_path):
    """Without gravity nothing acts after the impact: no step ends at the limit of rounds, where
    relative velocities are rounding of 5 m/s, and momentum is shared by both.
    """
    robot = loaded(tmp_path, "cube", SHELL)
    scene = hs.Scene(robot, hs.Plane(hs.Rigid(), point=(0, 0, -100)), gravity=0)
    sim = hs.Simulator(scene, dt=1e-3, worlds=WORLDS)
    q, v = starts(robot, 1e-3)
    data = sim.run(0.03, q0=q, v0=v).data
    assert not data["solver_unfinished"].any()
    assert data.v.values[:, -1, 8] == pytest.approx(-SPEED / 2, rel=1e-6)


def test_elastic_laws_count_shapes_that_pass(tmp_path):
    """Balls pass a free shell on springs at 2 ms, also where they were never inside; the count is
    that of the balls behind it. At 0.05 ms they are stopped, and nothing is counted.
    """
    robot = loaded(tmp_path, "ball", SHELL)
    law = hs.Elastic(hs.LinearSpring(k=4e6, c=0))
    scene = hs.Scene(robot, hs.Plane(law, point=(0, 0, -100)), gravity=0)
    for dt in (2e-3, 5e-5):
        sim = hs.Simulator(scene, dt=dt, worlds=WORLDS)
        q, v = starts(robot, dt)
        q[:, 2] -= 0.05
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = sim.run(0.015, q0=q, v0=v, every=1 if dt == 2e-3 else 20).data
        behind = data.q.values[:, -1, 2] < data.q.values[:, -1, 9] - 0.004
        said = [x for x in caught if "passed the middle of other shapes" in str(x.message)]
        assert behind.any() == bool(said) == (dt == 2e-3)
        counted = sim.state["passed_contacts"][:, 0]
        assert (counted[behind] >= 1).all()
        unseen = behind & (data["self_depth"].values.max(axis=(1, 2)) <= 0)
        assert unseen.any() == (dt == 2e-3)


@pytest.mark.parametrize("many", [False, True])
def test_elastic_laws_count_what_passes(tmp_path, many):
    """Balls at 10 m/s pass a plate of 1 cm on springs at 2 ms, some of them without ever being
    inside: a warning says so. None does at 0.1 ms. With many bodies those far off are skipped."""
    more = "".join(
        f'<body pos="{k} 0 5"><freejoint/><geom type="sphere" size="0.01" mass="1"/></body>'
        for k in range(1, 6)
    )
    robot = loaded(tmp_path, "ball", more if many else "")
    law = hs.Elastic(hs.LinearSpring(k=4e6, c=0))
    plate = hs.Box(law, "plate", point=(0, 0, -0.005), size=(1, 1, 0.01))
    for dt in (2e-3, 1e-4):
        sim = hs.Simulator(hs.Scene(robot, plate, gravity=0), dt=dt, worlds=WORLDS)
        q, v = starts(loaded(tmp_path, "ball"), dt)
        q0, v0 = np.tile(robot.pose("zero"), (WORLDS, 1)), np.zeros((WORLDS, robot.nv))
        q0[:, :7], v0[:, :6] = q, v
        if dt == 2e-3:
            with pytest.warns(hs.HeelstrikeWarning, match="passed the middle of 'plate'"):
                data = sim.run(0.03, q0=q0, v0=v0).data
        else:
            data = sim.run(0.03, q0=q0, v0=v0).data
        behind = (data.q.values[:, -1, 2] < -0.02).sum()
        assert (behind > 0) == (dt == 2e-3)
        if dt == 2e-3:
            unseen = (data.q.values[:, -1, 2] < -0.02) & (data["depth"].values.max(axis=(1, 2)) < 0)
            assert unseen.any()
