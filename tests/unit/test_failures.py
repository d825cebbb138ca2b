"""Reports and results of runs that diverge, are interrupted, or raise an error.

The advice is taken and must help: the oracle is a second run with the step that the first one's
warning names. Integrators are each other's oracle as the step falls.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import warnings

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.runtime import cache
from heelstrike.simulate import compiled_scene as machine

BALL = hs.load("ball")
HOAP = hs.load("hoap1", collide="feet")
FALLING = [0, 0, 0.06, 0, 0, 0, 1]
"""1 cm above the ground."""


def ball(**options) -> hs.Simulator:
    law = hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.3), hs.Kinetic())
    return hs.Simulator(hs.Scene(BALL, hs.Plane(law=law)), **options)


@pytest.fixture(scope="module")
def compiled() -> hs.Simulator:
    """hoap1 on a linear spring: compiled once, its parameters belong to each test."""
    floor = hs.Plane(law=hs.Elastic(hs.LinearSpring(), hs.Kinetic()))
    return hs.Simulator(hs.Scene(HOAP, floor), control=hs.Servo(reference=HOAP.pose("stance")))


@pytest.fixture
def standing(compiled):
    before = dict(compiled.parameters.items())
    yield compiled
    compiled.run(steps=1, worlds=1, q0=HOAP.pose("stance"), record=RECORD)
    compiled.parameters.update(before)


RECORD = ["q", "v"]
"""Always the same, so that nothing is compiled twice."""
RAISED = HOAP.pose("stance") + np.r_[0, 0, 0.01, np.zeros(HOAP.nq - 3)]


@pytest.mark.parametrize("stiff", [{"k": 1e8}, {"c": 5e3}])
def test_the_advice_after_a_divergence_helps(standing, stiff):
    sim = standing
    for name, value in stiff.items():
        sim.parameters[f"ground.normal.{name}"] = value
    with pytest.warns(hs.HeelstrikeWarning) as caught:
        run = sim.run(20.0, q0=RAISED, record=RECORD)
    step = int(run.data["failed"][0])
    assert step == run.data["steps"][0] == sim.failed[0] > 0
    assert len(caught) == 1
    sentence = str(caught[0].message)
    assert f"diverged at step {step} (t = {step * 1e-3:.4g} s)" in sentence
    assert re.search(r"contact '\w+_sole\.\d' on 'ground'", sentence)
    advised = re.search(r"try dt <= (\S+) s.* ([\d.e+]+) times smaller", sentence)
    sim.parameters["dt"] = float(advised[1])
    calm = sim.run(2.0, q0=RAISED, record=RECORD, every=100)
    assert abs(calm.data["q"][0, -1, 2] - HOAP.pose("stance")[2]) < 1e-3
    assert np.abs(calm.data["v"][0, -1]).max() < 0.02
    # the other advice: a softer law at the same step, on which Kinetic still creeps and chatters
    sim.parameters["dt"] = 1e-3
    for name in ("k", "c"):
        path = f"ground.normal.{name}"
        sim.parameters[path] = sim.parameters[path] / float(advised[2])
    soft = sim.run(2.0, q0=RAISED, record=RECORD, every=100)
    assert np.abs(soft.data["v"][0, -1]).max() < 0.5


def test_steps_tell_of_a_divergence(standing):
    standing.parameters["ground.normal.k"] = 1e11
    standing.reset(q0=RAISED)
    with pytest.warns(hs.HeelstrikeWarning, match="the run diverged at step"):
        _ = [standing.step() for _ in range(1000)]


def test_a_world_that_diverges_stops_alone_and_is_reported_once(standing):
    sim = standing
    vary = {"ground.normal.k": np.array([2e4, 1e11, 2e4])}
    with pytest.warns(hs.HeelstrikeWarning, match="1 of 3 worlds diverged, first world 1 at step"):
        run = sim.run(1.0, q0=RAISED, worlds=3, vary=vary, record="final")
    failed = run.data["failed"].values
    assert failed[1] > 0
    assert list(failed[[0, 2]]) == [-1, -1]
    assert list(run.data["steps"]) == [1000, failed[1], 1000]
    assert np.array_equal(run.data["q"][0], run.data["q"][2])
    frozen = sim.state["q"][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.1, record="final")
    assert np.array_equal(sim.state["q"][1], frozen)
    sim.reset(worlds=np.array([False, True, False]))
    sim.parameters["ground.normal.k"] = 2e4
    sim.run(1.0, record="final")
    assert (sim.failed == -1).all()
    # the same 1000 steps as the others have made at first
    assert np.array_equal(sim.state["q"][1], run.data["q"][0])


def test_ctrl_c_returns_what_was_computed():
    sim = ball()
    sim.run(steps=10, q0=FALLING, record=["q"], every=1000)
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    run = sim.run(steps=10**9, q0=FALLING, record=["q"], every=1000)
    timer.join()
    steps = int(run.data["steps"][0])
    assert 0 < steps < 10**9
    assert signal.getsignal(signal.SIGINT) is before
    assert sim.time[0] == steps * 1e-3
    assert run.info["steps"] == steps
    assert run.data.sizes["time"] in (-(-steps // 1000), steps // 1000 + 1)
    # a run of as many steps is the same run
    again = ball().run(steps=steps, q0=FALLING, record="final")
    assert np.array_equal(again.data["q"][0], sim.state["q"])


def test_a_recording_that_does_not_fit_raises_before_it_starts():
    sim = ball()
    with pytest.raises(hs.HeelstrikeError, match=r"would take \d+\.\d GB.*every=10"):
        sim.run(1e7)
    assert sim.time[0] == 0
    assert np.array_equal(sim.state["q"], BALL.pose("stance"))


def test_single_precision():
    double, single = ball(), ball(dtype="float32")
    ends = [sim.run(0.2, q0=FALLING).data for sim in (double, single)]
    assert single.state["q"].dtype == np.float32
    assert ends[1]["q"].dtype == np.float32
    # 200 steps of numbers about 1 at 6e-8, and an impact that multiplies by 10
    assert np.allclose(ends[0]["q"], ends[1]["q"], rtol=0, atol=1e-4)
    assert not np.array_equal(ends[0]["q"], ends[1]["q"])


def test_integrators_agree_as_the_step_falls():
    """10 ms on the ground, in which nothing leaves it; rk4 at the smallest step is the truth."""

    def heights(integrator, *steps):
        sim, found = ball(integrator=integrator), []
        for dt in steps:
            sim.parameters["dt"] = dt
            end = sim.run(0.01, q0=[0, 0, 0.048, 0, 0, 0, 1], v0=[0, 0, -0.2, 0, 0, 0]).data
            assert (end["depth"] > 0).all()
            found.append(end["q"].values[0, -1, 2])
        return np.array(found)

    truth = heights("rk4", 1e-5)
    for integrator, order in (("symplectic", 1), ("euler", 1), ("rk4", 4)):
        error = np.abs(heights(integrator, 1e-3, 5e-4, 2.5e-4) - truth)
        # the ratio of errors is 2^order but for the next order's share, less than 15 % here
        assert np.allclose(error[:-1] / error[1:], 2**order, rtol=0.15), integrator


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_an_explicit_servo_that_cannot_hold_raises_an_error(integrator):
    sentence = r"joint '\w+' in steps of 0.01 s: kd dt / I = .* > 2; choose dt <= (\S+) s"
    with pytest.raises(hs.HeelstrikeError, match=sentence) as refused:
        hs.Simulator(hs.Scene(HOAP), dt=0.01, control=hs.Servo(), integrator=integrator)
    dt = float(re.search(sentence, str(refused.value))[1])
    hs.Simulator(hs.Scene(HOAP), dt=0.99 * dt, control=hs.Servo(), integrator=integrator)
    hs.Simulator(hs.Scene(HOAP), dt=0.01, control=hs.Servo())


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (
            lambda: hs.Simulator(BALL),
            r"takes a scene, not an object of type Robot; pass hs\.Scene\(robot",
        ),
        (lambda: ball(integrator="leapfrog"), "no integrator 'leapfrog'; .*symplectic"),
        (lambda: ball(dtype="double"), "no dtype 'double'; dtypes: float64, float32"),
        (lambda: ball(dt=0.0), "dt is 0.0; allowed: a time step above 0 s"),
        (lambda: ball(worlds=0), "worlds is 0; allowed: an integer above 0"),
        (lambda: ball(control="pd"), r"control is 'pd'; allowed: hs\.Servo"),
        (lambda: ball(sensors=("nose",)), "nose"),
        (lambda: ball().run(), "either a duration .*; pass duration or steps="),
        (lambda: ball().run(1.0, steps=5), "duration or steps=, not both"),
        (lambda: ball().run(-1.0), "duration is -1.0; allowed: a finite time above 0 s"),
        (lambda: ball().run(steps=1.5), "steps is 1.5; allowed: an integer above 0"),
        (lambda: ball().run(1.0, every=0), "every is 0; allowed: an integer above 0"),
        (
            lambda: ball().run(1.0, q0=[0, 0, 1]),
            r"q0 is \[.*\]; allowed: 7 finite numbers for ball",
        ),
        (
            lambda: ball().run(1.0, v0=[np.nan] * 6),
            r"v0 is \[.*nan.*; allowed: 6 finite numbers for ball",
        ),
        (lambda: ball().run(1.0, record="froce"), "no variable 'froce'; did you mean 'force'"),
        (
            lambda: ball().run(1.0, record=["ball.air_time"]),
            "'ball.air_time' is measured by a sensor in every step, .*sensors=",
        ),
        (
            lambda: hs.Simulator(hs.Scene(BALL)).run(1.0, record=["cop"]),
            "'cop' is recorded at contacts, and there are none; give the scene a surface",
        ),
        (
            lambda: ball().run(1.0, vary={"ground.normal.K": 1.0}),
            "no parameter 'ground.normal.K'; did you mean 'ground.normal.k'",
        ),
        (
            lambda: ball().run(1.0, worlds=3, vary={"ground.normal.k": [1.0, 2.0]}),
            r"ground.normal.k is \[1.0, 2.0\]; allowed: 1 finite number for all .* \(3, 1\)",
        ),
        (
            lambda: ball().run(1.0, worlds=2, vary={"dt": [1e-3, 2e-3]}),
            "dt differs from world to world.*; pass steps=",
        ),
        (lambda: ball().run(1.0, vary={"balls.mass": 2.0}), "no parameter 'balls.mass'"),
        (lambda: ball().parameters["gravitation"], "did you mean 'gravity'"),
        (
            lambda: ball(worlds=2).reset(worlds=[True]),
            "worlds is an array of bool, shape .* 2 booleans",
        ),
        (lambda: ball(worlds=2).reset(worlds=[0, 1]), "worlds is an array of int64, .* 2 booleans"),
        (lambda: ball().linearize("gravitas"), "did you mean 'gravity'"),
        (lambda: ball().observe("kinetics"), "did you mean 'kinetic'"),
    ],
)
def test_mistakes_raise_errors_that_name_them(mistake, sentence):
    with pytest.raises(hs.HeelstrikeError, match=sentence):
        mistake()


def test_a_second_simulator_of_the_same_scene_traces_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("HEELSTRIKE_CACHE", str(tmp_path))
    monkeypatch.setattr(
        cache, "source_digest", lambda: cache.SOURCE_AT_IMPORT
    )  # even while one edits it
    first, second = ball(), ball()
    first.step()

    def traced(*arguments):
        raise AssertionError("traced again")

    monkeypatch.setattr(machine, "step_program", traced)
    second.parameters["ground.normal.k"] = 2.1e4  # not part of the code
    second.step()
    assert np.array_equal(first.state["clock"], second.state["clock"])
    with pytest.raises(AssertionError, match="traced again"):
        ball(integrator="euler").step()
