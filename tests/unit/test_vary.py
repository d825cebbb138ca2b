"""Every number that domain randomisation draws varies per world; the oracle is a world alone."""

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.simulate.parameter_paths import fill_rows, parameter_targets

WORLDS = 3


@pytest.fixture(scope="module")
def sim():
    """Return hoap1 with motors and a noisy sensor on a slope, all paths compiled at once."""
    robot = hs.load("hoap1", collide="feet")
    sim = hs.Simulator(
        hs.Scene(robot, hs.Plane(name="ground", slope=[0.02, 0.0])),
        control=hs.Servo(),
        motors=hs.Motors(delay=1e-3, max_delay=4e-3, friction=0.1),
        sensors=[hs.Sensor("WAIST.gyro", bias=0.1)],
        worlds=WORLDS,
    )
    sim.compiled.add_parameters([path for path in PATHS if path not in sim.parameters])
    return sim


PATHS = {
    "servo.kp": 0.5,
    "servo.kd": 0.5,
    "R_KN.armature": 2.0,
    "motors.friction": 2.0,
    "motors.delay": 4.0,
    "R_AAA.mass": 1.3,
    "WAIST.com": 1.2,
    "R_LFE.inertia": 1.1,
    "gravity": 0.9,
    "ground.slope": 2.0,
    "WAIST.gyro.bias": 3.0,
}
"""Paths, and the factor on their values in the second world."""


def moved(sim, worlds, rows):
    """Return q and the gyro after some steps in which the servo bends a knee."""
    robot = sim.robot
    sim.run(steps=1, q0=robot.pose("stance"), worlds=worlds, vary=rows, record="final", check=False)
    bent = np.array(sim.parameters["servo.q_ref"])
    knee = next(joint.iv for joint in robot.joints if joint.name == "R_KN")
    bent[..., knee] += 0.2
    sim.parameters["servo.q_ref"] = bent
    sim.step(20)
    return np.hstack(
        [sim.state["q"].reshape(worlds, -1), sim.sensors["WAIST.gyro"].reshape(worlds, -1)]
    )


@pytest.mark.parametrize("path", list(PATHS))
def test_a_path_varies_per_world(sim, path):
    own = np.atleast_2d(sim.parameters[path])[0]
    rows = np.stack([own, PATHS[path] * own, own])
    many = moved(sim, WORLDS, {path: rows, "sensors.seed": np.zeros(WORLDS)})
    sim.parameters[path] = own
    assert np.array_equal(many[0], many[2])
    assert not np.array_equal(many[0], many[1])


def test_factors_and_entries_of_vectors(sim):
    paths = ("servo.kp_scale", "servo.kp.R_KN", "WAIST.com.z", "gravity.x")
    targets = {path: parameter_targets(sim, path) for path in paths}
    base = {t.port: np.atleast_2d(sim.parameters[t.port])[0] for x in targets.values() for t in x}
    values = dict(
        zip(paths, np.array([[2.0, 3.0], [5.0, 6.0], [0.1, 0.2], [1.0, 2.0]]), strict=True)
    )
    rows = fill_rows(base, targets, values)
    knee = next(joint.iv for joint in sim.robot.joints if joint.name == "R_KN")
    expected = np.outer([2.0, 3.0], base["servo.kp"])
    expected[:, knee] = 2.0 * 5.0, 3.0 * 6.0
    assert np.array_equal(rows["servo.kp"], expected)
    assert np.array_equal(rows["WAIST.com"][:, 2], [0.1, 0.2])
    assert np.array_equal(rows["WAIST.com"][:, :2], np.tile(base["WAIST.com"][:2], (2, 1)))


def test_centre_of_mass_and_inertia_do_not_both_vary(sim):
    with pytest.raises(hs.HeelstrikeError, match="centre of mass and inertia of 'WAIST'"):
        sim.parameters["WAIST.inertia"] = np.ones(10)
