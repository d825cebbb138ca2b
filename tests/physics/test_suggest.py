"""Promises of hs.suggest: depth at rest, restitution, stability, and a report of what is reduced.

Oracles: the weight over the points, load / depth = k; the closed forms of restitution, of a linear
spring and damper (linear_spring.py) and of Hunt and Crossley (restitution.py); the stability of a
mass on a spring and a damper, k dt^2 / m + 2 c dt / m < 4.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.contact.choose import NAMES
from heelstrike.contact.choose.normal import alpha_of
from heelstrike.contact.restitution import damping_ratio, linear_restitution, restitution
from heelstrike.contact.stability import step_radius
from heelstrike.simulate.start import contacts_at
from tests.models import data_file

MEETING = [0, 0, 0.050001, 0, 0, 0, 1]
"""The ball of 5 cm, above the ground."""


def stands(robot: hs.Robot, law: object, dt: float, seconds: float = 1.5) -> hs.Recording:
    """From its first pose, 1 mm above the ground, on its own servo."""
    control = hs.Servo() if robot.kp.any() else None
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=dt, control=control)
    q = np.array(next(iter(robot.poses.values()), robot.neutral))
    q[2] += contacts_at(sim.scene, q)[0].max() + 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # ground that does work on the robot is told so
        return sim.run(seconds, q0=q)


def test_hoap1_stands_at_the_depth_that_was_wanted():
    robot = hs.load("hoap1", collide="feet")
    found = hs.suggest(robot, "hunt-crossley", dt=1e-3, depth=5e-4)
    measured = hs.yardsticks(stands(robot, found.law, 1e-3), settle=1.0)
    # the servo sways for a while: 0.4 % measured
    assert measured.mean_depth == pytest.approx(5e-4, rel=0.02)
    assert found.depth == pytest.approx(5e-4, rel=1e-3)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", ["hoap1", "hrp2", "g1", "ball"])
def test_every_robot_stands_on_every_suggestion(model, name):
    robot = hs.load(data_file("robots/g1.xml") if model == "g1" else model, collide="feet")
    found = hs.suggest(robot, name, dt=1e-3)
    run = stands(robot, found.law, 1e-3)
    measured = hs.yardsticks(run, settle=1.0)
    assert measured.failed < 0
    assert np.abs(run.data["v"].values[0, -1]).max() < (0.5 if name == "poisson-spring" else 5e-3)
    if found.k is not None:  # others rest where they touch
        # a membrane's floor is met within a step, so a little below it
        within = 0.1 if name == "micro-macro" else 0.03
        assert measured.mean_depth == pytest.approx(found.depth, rel=within)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3, 4e-3])
@pytest.mark.parametrize("name", ["linear-spring", "hunt-crossley", "timestep-damper"])
@pytest.mark.parametrize("model", ["hoap1", "hrp2", "ball"])
def test_what_is_suggested_is_stable_at_rest_by_the_closed_form(model, name, dt):
    """Whatever was wished for, here a floor that is hard and dead."""
    found = hs.suggest(hs.load(model, collide="feet"), name, dt=dt, depth=1e-5, restitution=0.01)
    k, c, mass = found.k, found.c, found.support.normal_mass
    extra = k * dt if name == "timestep-damper" else 0.0
    assert step_radius(k, c + extra, mass, dt, "symplectic") < 1
    assert step_radius(k, c + 2 * extra, mass, 2 * dt, "symplectic") < 1 + 1e-6  # twice the step


@pytest.mark.parametrize("e", [0.3, 0.7])
@pytest.mark.parametrize("name", [n for n in NAMES if n != "micro-macro"])
def test_the_ball_rebounds_as_was_wanted(name, e):
    robot, dt = hs.load("ball"), 1e-4
    found = hs.suggest(robot, name, dt=dt, restitution=e, speed=0.5)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=found.law)), dt=dt)
    sim.parameters["gravity"] = np.zeros(3)  # as in the closed forms
    run = sim.run(0.15, q0=MEETING, v0=[0, 0, -0.5, 0, 0, 0])
    rebound = run.data["v"].values[0, -1, 2] / 0.5
    # the step cuts the ends of the impact: 0.006 measured, of feedback-linearized, falling as dt
    assert rebound == pytest.approx(e, abs=0.01)
    assert found.restitution == pytest.approx(e, abs=1e-3)


def test_stiffness_gives_way_to_the_step_and_says_by_how_much():
    ball, dt = hs.load("ball"), 1e-2
    found = hs.suggest(ball, "linear-spring", dt=dt, depth=1e-5)
    assert found.k == pytest.approx(0.5 * 1.0 / dt**2)  # of 1 kg, half of the room
    assert found.depth == pytest.approx(9.81 / found.k)
    told = " ".join(found.reasons)
    assert "k is reduced to" in told
    assert "1.96 mm" in told
    assert hs.suggest(ball, "implicit", dt=dt, depth=1e-5).depth == pytest.approx(1e-5)


def test_damping_gives_way_to_the_step_and_says_what_is_left():
    found = hs.suggest(hs.load("hoap1", collide="feet"), "linear-spring", dt=4e-3, restitution=0.05)
    assert any(reason.startswith("c is reduced to") for reason in found.reasons)
    k, c, support = found.k, found.c, found.support
    assert c == pytest.approx(support.normal_mass / 4e-3 - k * 4e-3)
    z = c / (2 * np.sqrt(k * support.impact_mass))
    assert found.restitution == pytest.approx(linear_restitution(z), rel=1e-6)
    assert found.restitution > 0.05


LEG = """<body name="{0}hip" pos="{1} 0"><joint name="{0}x" axis="1 0 0"/>
    <geom size=".04" mass=".5" {2}/><body pos="0 0 0"><joint name="{0}y" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 -.14 0 -.2" size=".02" mass=".6" {2}/>
    <body name="{0}shin" pos="-.14 0 -.2"><joint name="{0}k" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .14 0 -.2" size=".01" mass=".05" {2}/>
    <geom pos=".14 0 -.2" size=".02" mass=".02"/></body></body></body>"""
DRAWN = 'contype="0" conaffinity="0"'


@pytest.fixture(scope="module")
def quadruped(tmp_path_factory):
    """16.7 kg on four feet that stop 0.14 kg each at first, and carry 4.2 kg."""
    corners = {"a": ".25 .18", "b": ".25 -.18", "c": "-.25 .18", "d": "-.25 -.18"}
    legs = "".join(LEG.format(name, at, DRAWN) for name, at in corners.items())
    motors = "".join(f'<position joint="{i}{j}" kp="60" kv="1"/>' for i in corners for j in "xyk")
    path = tmp_path_factory.mktemp("quadruped") / "quadruped.xml"
    path.write_text(
        f"""<mujoco><worldbody><body pos="0 0 .5"><freejoint/><geom type="box" size=".3 .15 .06"
        mass="12" {DRAWN}/>{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>"""
    )
    return hs.load(path)


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])  # [m/s]
def test_light_feet_land_at_the_stated_speed(quadruped, speed):
    """The trunk comes down after the feet: the ground takes energy, and never throws it up.

    With damping for the feet alone the ground did 123 J of work in the fall of 0.5 m/s, 2 J of
    energy.
    """
    found = hs.suggest(quadruped, "hunt-crossley", dt=1e-3, speed=speed)
    assert found.support.normal_mass < 0.1 * found.support.load / found.support.gravity
    assert any("come down" in reason for reason in found.reasons)
    sim = hs.Simulator(hs.Scene(quadruped, hs.Plane(found.law)), dt=1e-3, control=hs.Servo())
    start = sim.place(quadruped.pose("zero"), drop=speed**2 / (2 * 9.81))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # ground that does work on the robot is told so
        run = sim.run(0.8, q0=start)
    assert run.data["failed"].values < 0
    assert run.data["q"].values.reshape(-1, quadruped.nq)[:, 2].max() <= start[2]
    assert run.data["work_contact"].values.ravel()[-1] < 0


def test_a_dead_floor_still_settles():
    """c / k, the time in which an overdamped spring comes back, stays below a second."""
    for name in ("linear-spring", "hunt-crossley", "implicit"):
        found = hs.suggest(hs.load("ball"), name, dt=1e-4, restitution=0.0)
        assert found.c / found.k < 1.0
        assert "takes longer to settle" in found.reasons[-1 if name == "implicit" else -2]
    assert hs.suggest(hs.load("ball"), "rigid", restitution=0.0).law.restitution == 0


def test_loads_are_the_weight_over_the_points_that_touch():
    support = hs.suggest(hs.load("hoap1", collide="feet")).support
    assert support.points == 8
    assert support.points * support.load == pytest.approx(
        hs.load("hoap1", collide="feet").mass * 9.81
    )
    ramp = hs.load_scene("brick-on-a-ramp")
    slope = hs.suggest(ramp.scene, q=ramp.start[0]).support
    assert slope.points * slope.load == pytest.approx(
        ramp.robot.mass * 9.81 * np.cos(np.radians(20)), rel=1e-4
    )
    stack = hs.load_scene("box-stack")
    lowest = hs.suggest(stack.scene, q=stack.start[0]).support
    assert lowest.points * lowest.load == pytest.approx(stack.robot.mass * 9.81)


@pytest.mark.parametrize(("damping", "adhesive"), [("compression", 0), ("both", 0), ("both", 1)])
def test_damping_ratio_and_restitution_are_inverse(damping, adhesive):
    for e in (0.05, 0.3, 0.9):
        z = damping_ratio(e, damping, bool(adhesive))
        assert linear_restitution(z, damping, bool(adhesive)) == pytest.approx(e, rel=1e-9)
    assert damping_ratio(1.0) == 0


def test_alpha_and_restitution_are_inverse():
    for e in (0.05, 0.3, 0.9):
        assert float(restitution(alpha_of(e, 0.7), 0.7)) == pytest.approx(e, rel=1e-6)


def test_it_prints_its_reasons_in_80_columns():
    text = str(
        hs.suggest(
            hs.load("hoap1", collide="feet"), hs.LinearSpring(), friction=hs.Coulomb(0.4, 0.3)
        )
    )
    assert max(map(len, text.splitlines())) <= 80
    for part in ("8 points carry 49.05 N", "required 1 mm", "mu_s=0.4", "N s/m", "reasons"):
        assert part in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"law": "hertz"}, "no law 'hertz'"),
        ({"law": "bristle"}, "'bristle' is a friction law; allowed: linear-spring"),
        ({"depth": 0.0}, "depth is 0.0; allowed: a number above 0"),
        ({"restitution": 1.2}, "restitution is 1.2; allowed: a number from 0 to 1"),
        ({"q": [0.0]}, r"q has shape \(1,\); allowed: 27 numbers for hoap1"),
    ],
)
def test_mistakes_are_sentences(options, said):
    with pytest.raises(hs.HeelstrikeError, match=said):
        hs.suggest(hs.load("hoap1", collide="feet"), **options)
