"""What is refused before a run: a start inside a surface, and steps that no rest survives.

Oracle: a mass m on a spring k is stable under the symplectic step up to dt = 2 sqrt(m / k).
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

AT = [0, 0, 0.06, 0, 0, 0, 1]


def ball_on(law, dt):
    return hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=dt)


@pytest.mark.parametrize("k", [1e3, 5e4, 1e6])
def test_the_limit_is_that_of_a_spring(k):
    law = hs.Elastic(hs.LinearSpring(k=k, c=0.0))
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
    scene = hs.Scene(robot, hs.Plane(hs.Elastic(hs.LinearSpring(k=2e5, c=0.0))))
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
