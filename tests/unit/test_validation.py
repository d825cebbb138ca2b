"""Parameters at run time: what construction refuses, a running simulator refuses, too.

Oracles: the error of the constructor for the same numbers; a plane of fixed normal for its slope;
a robot loaded with another mass for a mass that is set.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import heelstrike as hs

AT = [0, 0, 0.052, 0, 0, 0, 1]


@pytest.fixture(scope="module")
def sim():
    law = hs.Elastic(hs.HuntCrossley(k=1e4), hs.Bristle(c_t=20, k_t=1e4))
    return hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law, name="ground")))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("dt", 0.0, "a time step above 0"),
        ("ground.normal.k", -1.0, "0 to 1e"),
        ("ground.friction.mu_s", [0.5, -0.1], "0 to 1000"),
        ("ground.point", [[0, 0, 0], [0, 0, 1e9]], "-1e"),
        ("box.mass", 0.0, "a mass above 0 kg"),
        ("box.mass", [1.0, -2.0], "a mass above 0 kg"),
        ("bocks.mass", 1.0, "no parameter 'bocks.mass'"),
    ],
)
def test_values_out_of_range(sim, path, value, said):
    sim.run(steps=1, q0=AT, worlds=2)
    with pytest.raises(hs.HeelstrikeError, match=said):
        sim.parameters[path] = value


@pytest.mark.parametrize("mu_s", [0.18, [0.9, 0.18]])
def test_friction_that_rises_when_sliding_begins(sim, mu_s):
    """mu_k is 0.6: the next step raises as hs.Bristle does; both numbers together are fine."""
    with pytest.raises(hs.ParameterError) as built:
        hs.Bristle(mu_s=0.18)
    paths = "ground.friction.mu_s", "ground.friction.mu_k"
    before = {path: sim.parameters[path] for path in paths}
    try:
        with pytest.raises(hs.ParameterError, match="at most mu_s") as raised:
            sim.run(steps=1, q0=AT, worlds=2, vary={"ground.friction.mu_s": mu_s})
        assert raised.value.path == "ground.friction.mu_k"
        assert raised.value.remedy == built.value.remedy
        with pytest.raises(hs.ParameterError, match="at most mu_s"):
            sim.step()
        sim.parameters["ground.friction.mu_k"] = 0.1
        sim.step()
    finally:
        sim.parameters.update({path: value[..., :1].ravel()[:1] for path, value in before.items()})


def test_coulomb_and_signorini():
    with pytest.raises(hs.ParameterError, match="at most mu_s"):
        hs.Coulomb(mu_s=0.18)
    ground = hs.Plane(hs.Signorini(friction=hs.Coulomb(0.5, 0.5)), name="ground")
    sim = hs.Simulator(hs.Scene(hs.load("ball"), ground), worlds=2)
    with pytest.raises(hs.ParameterError, match="mu_s = mu_k"):
        sim.run(steps=1, q0=AT, vary={"ground.friction.mu_k": [0.5, 0.4]})


def test_servo():
    """Gains below 0 are refused, and limits that the compiled step does not have."""
    robot = hs.load("hoap1", collide="feet")
    robot = replace(robot, torque_limit=np.where(robot.torque_limit < 1e30, 1e30, 1e30))
    sim = hs.Simulator(hs.Scene(robot, hs.Plane()), control=hs.Servo(kp=60.0, kd=2.0))
    with pytest.raises(hs.ParameterError, match="at least 0"):
        sim.parameters["servo.kp"] = -sim.parameters["servo.kp"]
    with pytest.raises(hs.HeelstrikeError, match="does not limit the torque of joint"):
        sim.parameters["servo.limit"] = np.full(robot.nv, 10.0)


def test_a_mass_that_is_set_is_that_of_the_robot():
    box = hs.load("box")
    heavy = replace(
        box,
        bodies=tuple(replace(b, mass=3 * b.mass, inertia=3 * b.inertia) for b in box.bodies),
        model=None,
    )
    ground = hs.Plane(hs.Elastic(hs.LinearSpring(k=1e4, c=50.0), None))
    runs = []
    for robot in (box, heavy):
        sim = hs.Simulator(hs.Scene(robot, ground))
        if robot is box:
            sim.parameters["box.mass"] = 3 * box.mass
        sim.begin_at(AT)
        sim.step(200)
        runs.append(sim.state["q"][2])
    assert runs[0] == pytest.approx(runs[1], rel=1e-12)


def test_a_slope_is_a_parameter():
    """Worlds on slopes move as each does on a plane with that normal."""
    law = hs.Elastic(hs.HuntCrossley(k=1e4), hs.Bristle(c_t=20, k_t=1e4))
    box, slopes = hs.load("box"), np.array([[0.0, 0.0], [0.3, -0.1], [-1.5, 0.4]])
    sim = hs.Simulator(hs.Scene(box, hs.Plane(law, name="ground", slope=(0.0, 0.0))))
    q0 = [0, 0, 0.3, 0, 0, 0, 1]
    run = sim.run(0.4, q0=q0, worlds=3, vary={"ground.slope": slopes}, record=("q",))
    for world, slope in enumerate(slopes):
        plane = hs.Plane(law, name="ground", normal=(-slope[0], -slope[1], 1.0))
        own = hs.Simulator(hs.Scene(box, plane)).run(0.4, q0=q0, record=("q",))
        # the normal's last bits differ; impacts of corners magnify them
        assert np.abs(run.data.q.values[world, -1] - own.data.q.values[0, -1]).max() < 1e-7
    with pytest.raises(hs.ParameterError, match="-2 to 2"):
        sim.parameters["ground.slope"] = (3.0, 0.0)
    with pytest.raises(hs.ParameterError, match="default where slope is passed"):
        hs.Plane(normal=(0, 1, 1), slope=(0, 0))


def test_no_static_friction_is_no_rise():
    """mu_s = 0 is the set-up of [Sugihara2006] section IV-D; under bristles it has no meaning."""
    assert hs.Coulomb(mu_s=0.0, mu_k=0.4).mu_k == 0.4
    with pytest.raises(hs.ParameterError, match="at most mu_s"):
        hs.Coulomb(mu_s=1e-3, mu_k=0.4)
    with pytest.raises(hs.ParameterError, match="at most mu_s"):
        hs.Bristle(mu_s=0.0, mu_k=0.4)
