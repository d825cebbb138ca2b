"""What is refused before a run: a start inside a surface, and steps that no rest survives.

Oracle: a mass m on a spring k is stable under the symplectic step up to dt = 2 sqrt(m / k).
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.simulate.start import contacts_at

AT = [0, 0, 0.06, 0, 0, 0, 1]


def ball_on(law, dt):
    return hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=dt)


@pytest.mark.parametrize("k", [1e3, 5e4, 1e6])
def test_the_limit_is_that_of_a_spring(k):
    law = hs.Elastic(hs.LinearSpring(k=k, c=0.0), None)
    limit = 2 / np.sqrt(k)  # 1 kg
    ball_on(law, 0.99 * limit).check_start(AT)
    with pytest.raises(hs.HeelstrikeError, match="above the largest stable step of 'ground'"):
        ball_on(law, 1.01 * limit).check_start(AT)


def test_steps_that_the_check_rejects_do_diverge():
    """The same scene, run all the same, is thrown off the ground."""
    law = hs.Elastic(hs.LinearSpring(k=1e6, c=0.0))
    sim = ball_on(law, 4e-3)  # twice the limit
    with pytest.raises(hs.HeelstrikeError, match="choose dt <="):
        sim.check_start(AT)
    with pytest.warns(hs.HeelstrikeWarning):
        run = sim.run(1.0, q0=AT)
    assert run.data["com"].sel(axis="z").max() > 10 * AT[2]


@pytest.mark.parametrize(
    "law",
    [
        hs.Rigid(),
        hs.MicroMacro(),
        hs.Elastic(hs.LinearSpring(k=1e8), hs.Coulomb(), implicit=True),
    ],
)
def test_laws_that_are_solved_for_bear_any_step(law):
    ball_on(law, 0.02).check_start(AT)


def test_an_implicit_servo_makes_a_sole_heavy():
    """Free joints let a corner of a sole move like 0.03 kg; held ones do not."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane(hs.Elastic(hs.LinearSpring(k=2e5, c=0.0), None)))
    held = hs.Simulator(scene, dt=2e-3, control=hs.Servo())
    held.check_start(robot.pose("stance"))
    with pytest.raises(hs.HeelstrikeError, match="effective mass"):
        hs.Simulator(scene, dt=8e-3, control=hs.Servo()).check_start(robot.pose("stance"))


@pytest.mark.parametrize(("height", "fine"), [(0.05, True), (0.041, True), (0.039, False)])
def test_a_start_inside(height, fine):
    """1 cm is allowed: the ball's radius is 5 cm."""
    sim = ball_on(hs.Elastic(), 1e-3)
    at = [0, 0, height, 0, 0, 0, 1]
    if fine:
        sim.check_start(at)
        return
    with pytest.raises(hs.HeelstrikeError, match=r"'ball.0' starts 11 mm inside 'ground'"):
        sim.check_start(at)


SURFACES = {
    "flat": hs.Plane(),
    "slope": hs.Plane(slope=(0.2, -0.1)),
    "ramp": hs.Plane(normal=(0.1, 0.0, 1.0), point=(0.0, 0.0, 0.3)),
    "stairs": hs.Stairs(name="stairs"),
}


@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_on_ground(surface):
    """The deepest point of the placed robot just touches, from above and from below."""
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, surface)
    for sunk in (0.0, 0.2):
        q = robot.pose("stance")
        q[2] -= sunk
        q = robot.on_ground(q, surface)
        assert contacts_at(scene, q)[0].max() == pytest.approx(0, abs=1e-8)
    assert robot.on_ground("stance", surface, drop=0.1)[2] == pytest.approx(q[2] + 0.1, abs=1e-8)
    sim = hs.Simulator(scene, control=hs.Servo())
    assert sim.place(robot.pose("stance"), drop=0.1)[2] == pytest.approx(q[2] + 0.1)
    assert np.allclose(sim.start["q"], sim.place(drop=0.1), rtol=0, atol=1e-8)


def knee_beyond(by: float) -> tuple[hs.Robot, np.ndarray]:
    """Return hoap1 and a pose whose left knee is so far below its range [rad]."""
    robot = hs.load("hoap1", collide="feet")
    q, knee = robot.pose("stance"), next(j for j in robot.joints if j.name == "L_KN")
    q[knee.iq] = robot.lower[knee.iq] - by
    return robot, q


def test_place_names_joints_that_start_out_of_range_and_leaves_fixed_robots():
    robot, q = knee_beyond(0.25)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo())
    with pytest.warns(hs.HeelstrikeWarning, match="'L_KN' of hoap1 .* 0.25 rad outside its range"):
        sim.place(q)
    foot = hs.Simulator(hs.Scene(hs.load("foot"), hs.Plane()))
    assert foot.place([0.3]).tolist() == [0.3]
    with pytest.raises(hs.HeelstrikeError, match="applies to a free base"):
        foot.place(drop=0.1)


def test_runs_name_joints_that_start_out_of_range():
    """Of all worlds the worst joint is named, with its value and range; not without stops."""
    robot, q = knee_beyond(0.25)
    fine = np.array(robot.pose("stance"))
    fine[2] = q[2] = fine[2] + 0.1
    sim = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo(), worlds=3)
    knee = next(j for j in robot.joints if j.name == "L_KN").iq
    low, high = robot.lower[knee], robot.upper[knee]
    expected = (
        rf"'L_KN' of hoap1 starts at {q[knee]:.4g} rad in world 1, 0.25 rad outside its range of "
        rf"{low:.4g} to {high:.4g} rad; 1 more joint is"
    )
    other = q.copy()
    other[next(j for j in robot.joints if j.name == "R_KN").iq] = low - 0.1
    with pytest.warns(hs.HeelstrikeWarning, match=expected):
        sim.run(steps=1, q0=[fine, q, other])
    sim.run(steps=1, q0=[fine, q, other], check=False)
    for stops in (hs.Stops(), None):
        lone = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo(), stops=stops)
        lone.begin_at(q)
        if stops is None:
            lone.run(steps=1)
            continue
        with pytest.warns(hs.HeelstrikeWarning, match="outside its range"):
            lone.run(steps=1)


@pytest.mark.parametrize("by", [0.0, 1e-12, 9e-3])  # [rad]
def test_joints_on_their_stops_are_no_reason_to_warn(by):
    """Rounding, and what a stop yields by under the torque limit of its joint, 0.01 rad."""
    robot, q = knee_beyond(by)
    hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo()).place(q, drop=0.1)


def test_on_ground_without_a_base_or_a_surface():
    with pytest.raises(hs.HeelstrikeError, match="applies to a free base"):
        hs.load("foot").on_ground()
    ball = hs.load("ball")
    aside = hs.Box(point=(5.0, 0.0, 0.0), size=(1.0, 1.0, 1.0))
    with pytest.raises(hs.HeelstrikeError, match="touches no surface within"):
        ball.on_ground(surface=aside)
    with pytest.raises(hs.ParameterError, match="7 numbers"):
        ball.on_ground([0.0, 1.0])


def test_runs_do_not_start_inside():
    """`run` checks all worlds, with the parameters that they have then, and the first start."""
    inside, outside = [0, 0, 0.0, 0, 0, 0, 1], AT
    sim = ball_on(hs.Elastic(hs.LinearSpring(k=1e3), None), 1e-3)
    sim.begin_at(inside)
    with pytest.raises(hs.HeelstrikeError, match="starts 50 mm inside 'ground'"):
        sim.run(0.01)
    with pytest.raises(hs.HeelstrikeError, match="starts 50 mm inside 'ground'"):
        sim.run(0.01, q0=[outside, inside], worlds=2)
    many = np.tile(outside, (100, 1)) + np.arange(100)[:, None] * [0.1, 0, 0, 0, 0, 0, 0]
    many[70, 2] = 0.0
    with pytest.raises(hs.HeelstrikeError, match="starts 50 mm inside 'ground'"):
        sim.run(0.01, q0=many, worlds=100)
    sim.run(0.01, q0=inside, worlds=1, vary={"ground.point": [0, 0, -0.06]})


def test_bristles_of_light_robots():
    """2 c_t dt / m = 4: the error of a tangential velocity is reversed in every step."""
    law = hs.Elastic(hs.LinearSpring(k=1e3, c=10.0), hs.Bristle(k_t=1e-9, c_t=1.99e3))
    ball_on(law, 0.25e-3).check_start(AT)
    with pytest.raises(hs.HeelstrikeError, match="is not stable: c_t"):
        ball_on(law, 1e-3).check_start(AT)


def test_many_starts_where_nothing_touches():
    """A scene without surfaces has no depths to compare."""
    q0 = np.tile([0, 0, 0, 0, 0, 0, 1.0], (300, 1))
    q0[:, 0] = np.linspace(0, 1, 300)
    sim = hs.Simulator(hs.Scene(hs.load("ball")), dt=1e-3, worlds=300)
    data = sim.run(steps=2, q0=q0, record=("q",), progress=False).data
    assert data.q.values[:, -1, 0] == pytest.approx(q0[:, 0])
