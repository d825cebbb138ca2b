"""The simulator against itself.

However a motion is simulated (a run, steps, halves, many worlds, a saved state) and whatever is
recorded, the bits must be the same: the oracle is the plainest way.
"""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.record.variables import standard
from heelstrike.simulate import rollout
from heelstrike.simulate.target import CompileTarget

BALL = hs.load("ball")
HOAP = hs.load("hoap1", collide="feet")
RUBBER = hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.3), hs.Bristle())
THROWN = {"q0": [0, 0, 0.06, 0, 0, 0, 1], "v0": [0.5, 0.1, 0, 0, 3.0, 1.0]}
"""A ball 1 cm above the ground that flies sideways and spins."""


def ball(law=RUBBER, **options) -> hs.Simulator:
    return hs.Simulator(hs.Scene(BALL, hs.Plane(law=law)), **options)


def same(a, b) -> None:
    assert a.keys() == b.keys()
    for name, value in a.items():
        assert np.array_equal(value, b[name], equal_nan=True), name


def test_steps_make_what_a_run_records():
    run = ball().run(steps=150, **THROWN, record=["q", "v"])
    sim = ball()
    sim.reset(**THROWN)
    for k in range(151):
        assert np.array_equal(run.data["q"][0, k], sim.state["q"])
        assert np.array_equal(run.data["v"][0, k], sim.state["v"])
        state = sim.step()
    assert state["clock"] == 151
    assert sim.time == 151 * 1e-3
    assert run.data["peak_depth"] > 0


def test_two_halves_make_a_whole():
    whole, halves = ball(), ball()
    run = whole.run(steps=200, **THROWN)
    first = halves.run(steps=77, **THROWN)
    second = halves.run(steps=123)
    same(whole.state.copy(), halves.state.copy())
    assert float(run.data["touching"].sum()) > 10
    for name in standard(whole.scene, ()):
        joined = np.concatenate([first.data[name][:, :-1], second.data[name]], axis=1)
        assert np.array_equal(run.data[name], joined, equal_nan=True), name
    assert np.array_equal(second.data["time"], np.arange(77, 201) * 1e-3)
    assert np.array_equal(run.data["peak_force"], second.data["peak_force"])


def test_steps_in_one_call_or_many():
    one, many = ball(worlds=3), ball(worlds=3)
    for sim in (one, many):
        sim.reset(**THROWN)
    one.step(60)
    for _ in range(60):
        many.step()
    same(one.state.copy(), many.state.copy())


@pytest.mark.parametrize("wall_time", [0.0, 1e-4, 10.0])
def test_chunks_change_nothing(monkeypatch, wall_time):
    plain, cut = ball(worlds=3), ball(worlds=3)
    whole = plain.run(steps=300, **THROWN, record=["q", "zmp"], every=7)
    monkeypatch.setattr(rollout, "CHUNK_TIME", wall_time)
    parts = cut.run(steps=300, **THROWN, record=["q", "zmp"], every=7)
    same(plain.state.copy(), cut.state.copy())
    for name in ("q", "zmp", "time"):
        assert np.array_equal(whole.data[name], parts.data[name], equal_nan=True), name


@pytest.mark.parametrize("every", [1, 7, 20])
def test_every_keeps_some_of_the_records(every):
    full = ball().run(steps=100, **THROWN, record=["q", "force"])
    some = ball().run(steps=100, **THROWN, record=["q", "force"], every=every)
    assert some.data.sizes["time"] == 100 // every + 1
    for name in ("time", "q", "force"):
        axis = 0 if name == "time" else 1
        kept = np.take(full.data[name].values, range(0, 101, every), axis=axis)
        assert np.array_equal(some.data[name], kept), name


def test_what_is_recorded_changes_no_bits():
    sims = [ball() for _ in range(4)]
    runs = [
        sim.run(steps=100, **THROWN, record=record)
        for sim, record in zip(sims, ("standard", "final", "kinetic", ["zmp", "q"]), strict=True)
    ]
    for sim in sims[1:]:
        same(sims[0].state.copy(), sim.state.copy())
    standard_, final, kinetic, pair = (run.data for run in runs)
    assert np.array_equal(standard_["kinetic"], kinetic["kinetic"])
    assert np.array_equal(standard_["zmp"], pair["zmp"], equal_nan=True)
    assert "q" not in kinetic
    assert "time" not in final.sizes
    assert np.array_equal(final["q"], standard_["q"][:, -1])
    assert np.array_equal(final["peak_force"], standard_["peak_force"])
    assert np.array_equal(final["peak_force"], standard_["normal_force"][:, :-1].max("time"))


def test_many_worlds_keep_the_end_alone():
    sim = ball()
    assert "time" not in sim.run(steps=2, worlds=65).data.sizes
    assert "time" in sim.run(steps=2, worlds=64).data.sizes
    assert "time" in sim.run(steps=2, worlds=65, record="standard").data.sizes


def test_worlds_resizes_and_starts_anew():
    sim = ball()
    sim.run(steps=50, **THROWN)
    run = sim.run(steps=10, worlds=5)
    assert sim.worlds == 5
    assert sim.state["q"].shape == (5, 7)
    assert np.array_equal(run.data["q0"], np.tile(THROWN["q0"], (5, 1)))
    assert np.array_equal(sim.time, np.full(5, 0.01))
    sim.parameters["ground.normal.k"] = [1e4, 2e4, 3e4, 4e4, 5e4]
    sim.run(steps=1, worlds=1)
    assert sim.parameters["ground.normal.k"] == 1e4
    assert sim.state["q"].shape == (7,)


def test_another_number_of_worlds_is_compiled_once(monkeypatch):
    made, kernel = [], CompileTarget.kernel
    monkeypatch.setattr(CompileTarget, "kernel", lambda *of: made.append(of) or kernel(*of))
    ball().run(steps=2, worlds=8, record=["q"])
    assert len(made) == 1


def test_varied_worlds_are_bit_for_bit_those_run_alone():
    """Every kind of parameter at once: a law's, a body's, the servo's, gravity, and the step."""
    rng = np.random.default_rng(3)
    scene = hs.Scene(HOAP, hs.Plane(law=hs.Elastic(hs.LinearSpring(), hs.Bristle())))
    sim, n = hs.Simulator(scene, control=hs.Servo()), 10
    vary = {
        "ground.normal.k": rng.uniform(1e4, 4e4, n),
        "ground.velocity": rng.normal(size=(n, 3)) * [0.1, 0.1, 0],
        "WAIST.mass": rng.uniform(1, 3, n),
        "gravity": rng.normal([0, 0, -9], 0.5, (n, 3)),
        "servo.kp": sim.parameters["servo.kp"] * rng.uniform(0.5, 2, (n, 1)),
        "dt": rng.uniform(5e-4, 2e-3, n),
    }
    q0 = np.tile(HOAP.pose("stance"), (n, 1))
    v0 = 0.3 * rng.normal(size=(n, HOAP.nv))
    together = sim.run(steps=20, q0=q0, v0=v0, worlds=n, vary=vary, record=["q", "force"])
    state = sim.state.copy()
    assert float(together.data["force"].max()) > 1
    assert np.array_equal(together.data["world_time"], np.outer(vary["dt"], np.arange(21)))
    for i in range(n):
        own = {path: values[i] for path, values in vary.items()}
        alone = sim.run(steps=20, q0=q0[i], v0=v0[i], worlds=1, vary=own, record=["q", "force"])
        assert np.array_equal(alone.data["force"][0], together.data["force"][i])
        same(
            {name: value[0] for name, value in sim.state.copy().items()},
            {name: value[i] for name, value in state.items()},
        )


def test_reset_touches_the_masked_worlds_alone():
    sim = ball(worlds=5)
    sim.run(steps=60, **THROWN)
    before = sim.state.copy()
    assert before["contact memory"].all()
    mask = np.array([True, False, False, True, False])
    sim.reset(worlds=mask)
    after = sim.state.copy()
    for name, value in after.items():
        assert np.array_equal(value[~mask], before[name][~mask]), name
    for name in ("contact memory", "work", "peak_force", "impulse", "clock"):
        assert not after[name][mask].any(), name
    assert np.array_equal(after["q"][mask], np.tile(THROWN["q0"], (2, 1)))
    sim.reset(worlds=mask, q0=BALL.pose("stance"))
    assert np.array_equal(sim.state["q"][mask], np.tile(BALL.pose("stance"), (2, 1)))
    assert not sim.state["v"][mask].any()
    sim.reset()
    assert np.array_equal(sim.state["q"], np.tile(THROWN["q0"], (5, 1)))


@pytest.mark.parametrize("worlds", [1, 4])
def test_a_state_brought_back_goes_on_bit_for_bit(worlds, tmp_path):
    sim = ball(worlds=worlds)
    sim.reset(**THROWN)
    sim.step(40)
    kept = sim.state.copy()
    sim.state.save(tmp_path / "state.npz")
    sim.step(50)
    end = sim.state.copy()
    sim.state.update(kept)
    sim.step(50)
    same(end, sim.state.copy())
    other = ball(worlds=worlds)
    other.state.load(tmp_path / "state.npz")
    other.step(50)
    same(end, other.state.copy())


def test_a_state_is_read_and_written_by_name():
    sim = ball()
    view = sim.state["q"]
    view[2] = 0.2
    sim.state["v"] = [1, 0, 0, 0, 0, 0]
    sim.step()
    assert np.array_equal(sim.state["q"], view)
    assert view[0] == 1e-3
    assert {"q", "v", "work", "contact memory", "clock"} <= set(sim.state)
    with pytest.raises(hs.HeelstrikeError, match=r"no state 'velocity'; states: .*\bq\b"):
        sim.state["velocity"]
    with pytest.raises(hs.HeelstrikeError, match=r"v is \[1, 2\]; allowed: .*\(6,\)"):
        sim.state["v"] = [1, 2]
    with pytest.raises(hs.HeelstrikeError, match="cannot be removed"):
        del sim.state["q"]


def test_files_that_hold_no_state_of_this_scene(tmp_path):
    ball(worlds=2).state.save(tmp_path / "two.npz")
    (tmp_path / "text.npz").write_text("no state")
    with pytest.raises(hs.HeelstrikeError, match="another number of worlds"):
        ball().state.load(tmp_path / "two.npz")
    for name, fault in (("text.npz", "not a file of plain arrays"), ("missing.npz", "no file")):
        with pytest.raises(hs.HeelstrikeError, match=fault):
            ball().state.load(tmp_path / name)


def test_observing_is_what_a_run_records_and_moves_nothing():
    sensors = ("ball.gyro", "ball.accelerometer")
    sim = ball(sensors=sensors)
    sim.run(steps=60, **THROWN)
    before = sim.state.copy()
    names = standard(sim.scene, sensors)
    observed = sim.observe(*names)
    same(before, sim.state.copy())
    run = sim.run(steps=1)
    assert run.data["touching"][0, 0].all()
    for name in names:
        assert np.array_equal(observed[name], run.data[name][:, 0], equal_nan=True), name


@pytest.mark.parametrize("name", [3, ["com"]])
def test_what_is_observed_is_named_one_by_one(name):
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()))
    with pytest.raises(hs.HeelstrikeError, match="one by one"):
        sim.observe(name)


def test_reset_of_no_world_changes_nothing():
    """Under a servo that holds the start, too: a mask may be false everywhere."""
    foot = hs.load("foot")
    sim = hs.Simulator(hs.Scene(foot), control=hs.Servo(), worlds=3)
    sim.step(5)
    before = sim.state.copy()
    sim.reset(worlds=np.zeros(3, bool))
    assert all(np.array_equal(sim.state[name], value) for name, value in before.items())


@pytest.mark.parametrize("documented", [hs.Simulator, hs.Simulator.run, hs.Recording, hs.suggest])
def test_examples_of_docstrings_run(documented, tmp_path, monkeypatch):
    """The examples in docstrings print what they say."""
    monkeypatch.chdir(tmp_path)
    names = {"hs": hs, "np": np}
    finder = doctest.DocTestFinder(recurse=False)
    (examples,) = finder.find(documented, documented.__qualname__, globs=names)
    assert len(examples.examples) > 2
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_robot_scene_and_simulator_show_themselves_in_a_line():
    sim = hs.Simulator(hs.Scene(hs.load("hoap1", collide="feet"), hs.Plane(name="ground")), dt=1e-3)
    assert repr(sim.robot) == "<Robot hoap1: 20 joints, free base, 5 kg, 8 points>"
    assert repr(sim.scene) == "<Scene of hoap1 on ground: 8 contact pairs>"
    assert repr(sim) == "<Simulator of hoap1: 1 world(s), dt 0.001 s, symplectic, float64 on cpu>"
    sim.parameters["dt"] = [[2e-3]]  # a row per world
    assert "dt = 0.002\n" in repr(sim.parameters)


def test_public_names_without_an_optional_package():
    """dir() lists all names; hasattr() of one that needs a missing package is False."""
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import heelstrike as hs\n"
        "assert {'Environments', 'load', 'Plane', 'impact'} <= set(dir(hs))\n"
        "assert hasattr(hs, 'Plane') and not hasattr(hs, 'Environments')\n"
        "try: hs.Environments\n"
        "except AttributeError as error: assert 'heelstrike[gym]' in str(error)\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
