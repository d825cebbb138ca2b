"""Arguments of public calls against values that no run can serve: each is refused in a sentence.

The oracle is the kind of error: a HeelstrikeError that names the argument, and a simulator that
runs on as if nothing had been asked.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError

Q0 = [0, 0, 0.06, 0, 0, 0, 1.0]
ODD = ["x", "", None, [], [[]], {}, 1j, float("nan"), float("inf"), -1, 0, 2**64, 1e300, object()]


@pytest.fixture(scope="module")
def sim():
    return hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(name="ground")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("duration", "x"),
        ("duration", 1e300),
        ("q0", "x"),
        ("q0", [1j] * 7),
        ("q0", [0.0] * 7),
        ("q0", [np.nan] * 7),
        ("v0", [[], []]),
        ("every", 2**64),
        ("every", 1.5),
        ("steps", 2**64),
        ("worlds", 10**9),
        ("worlds", 10**30),
        ("worlds", "x"),
        ("vary", "x"),
        ("vary", [1]),
        ("vary", {3: 1}),
        ("vary", {"gravity": [0, 0]}),
        ("vary", {"ground.normal.k": 1j}),
        ("vary", {"ground.normal.k": []}),
        ("vary", np.array([])),
        ("threads", np.array([])),
        ("threads", 0),
        ("worlds", 0),
        ("record", np.zeros((2, 2))),
        ("record", 3),
        ("record", [3]),
        ("threads", "x"),
        ("threads", 2**70),
    ],
)
def test_runs_refuse(sim, name, value):
    options = {"q0": Q0, "duration": 0.002} | {name: value}
    if name == "steps":
        del options["duration"]
    with pytest.raises(HeelstrikeError) as caught:
        sim.run(**options)
    assert len(str(caught.value)) < 600
    assert sim.run(0.002, q0=Q0, worlds=1).data.sizes["time"] == 3


def test_a_step_that_is_far_too_small_is_refused(sim):
    """Where the number of steps is infinite."""
    with pytest.raises(HeelstrikeError, match="steps is"):
        sim.run(1.0, q0=Q0, vary={"dt": 1e-320})
    sim.parameters["dt"] = 1e-3


def test_the_number_of_worlds_that_fit_is_named(sim):
    with pytest.raises(HeelstrikeError, match=r"GB are free; \d+ worlds fit"):
        sim.run(0.01, q0=Q0, worlds=10**10)
    assert sim.run(0.002, q0=Q0).data.sizes["world"] == 1
    with pytest.raises(HeelstrikeError, match=r"worlds need at least .* GB are free"):
        hs.Simulator(sim.scene, worlds=10**12)  # a run compared the steps of all worlds, for hours


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("name", ["force", "duration", "at", "point", "worlds", "body"])
def test_pushes_refuse(sim, name, value):
    if (name, value) in [("at", 0), ("at", 2**64), ("at", 1e300), ("duration", 1e300)]:
        pytest.skip("a time, if a late one")
    if name in ("at", "point", "worlds") and value is None:
        pytest.skip("None is a choice")
    if name == "duration" and value == 2**64:
        pytest.skip("a time, if a long one")
    options = {"body": "ball", "force": [1.0, 0.0, 0.0], "duration": 0.1} | {name: value}
    before = len(sim.plan.pushes)
    with pytest.raises(HeelstrikeError):
        sim.push(**options)
    assert len(sim.plan.pushes) == before


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    "name", ["dt", "control", "worlds", "integrator", "dtype", "stops", "math"]
)
def test_simulators_refuse(sim, name, value):
    if value is None and name in ("control", "dtype", "stops"):
        pytest.skip("None is a choice")
    if name == "worlds" and isinstance(value, int) and 0 < value < 2**53:
        pytest.skip("a count")
    with pytest.raises(HeelstrikeError):
        hs.Simulator(sim.scene, **{name: value})


@pytest.mark.parametrize("value", ["x", [np.nan] * 7, [], 1j, [[0.0]]])
def test_states_refuse(sim, value):
    before = np.array(sim.state["q"])
    with pytest.raises(HeelstrikeError):
        sim.state["q"] = value
    assert np.array_equal(sim.state["q"], before)


SCENE = hs.Scene(hs.load("foot"), hs.Plane())
SPRINGS = hs.Elastic(hs.HuntCrossley(k=[1e4, 2e4]))
DAMPED = {"stall_torque": 5.0, "no_load_speed": 20.0}


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: hs.Terrain(kinds=5), "kinds"),
        (lambda: hs.Terrain(kinds=[np.zeros(2)]), "kinds"),
        (lambda: hs.Terrain(cell=1e-9), "cell"),
        (lambda: hs.Terrain(tile=1e300), "grain|cell|tread"),
        (lambda: hs.Terrain(tread=1e-4), "tread"),
        (lambda: hs.Terrain(grain=1e-300), "grain"),
        (lambda: hs.Rays("a", align=np.zeros((2, 2))), "align"),
        (lambda: hs.Rays("a", shapes="no"), "shapes"),
        (lambda: hs.Rays.heights("a", size=1.0), "size"),
        (lambda: hs.Rays.heights("a", size=(1.0, 0.0)), "size"),
        (lambda: hs.Rays.heights("a", size=(1e9, 1e9)), "spacing"),
        (lambda: hs.Rays.heights("a", spacing=1e-9), "spacing"),
        (lambda: hs.Rays.heights("a", above="x"), "above"),
        (lambda: hs.Rays.depth("a", pixels=5), "pixels"),
        (lambda: hs.Rays.depth("a", pixels=(1.5, 2)), "pixels"),
        (lambda: hs.Rays.depth("a", pixels=(10**5, 10**5)), "pixels"),
        (lambda: hs.Rays.depth("a", pitch="x"), "pitch"),
        (lambda: hs.Motors(delay=10**400).resolved(SCENE.robot, 1e-3), "delay"),
        (lambda: hs.Motors(delay=-1.0).resolved(SCENE.robot, 1e-3), "delay"),
        (
            lambda: hs.Motors(**DAMPED, friction={"slide": "x"}).resolved(SCENE.robot, 1e-3),
            "friction",
        ),
        (lambda: hs.Simulator(SCENE, dt=np.zeros((2, 2))), "dt"),
        (lambda: hs.SpringDamper("a", name="a\0b"), "name"),
        (lambda: hs.Plane(name="a\0b"), "name"),
        (lambda: hs.Simulator(hs.Scene(SCENE.robot, hs.Sphere(radius=[1.0, 2.0]))), "one number"),
        (lambda: hs.Simulator(hs.Scene(SCENE.robot, hs.Plane(SPRINGS))), "one number"),
        (lambda: hs.Factor("x", 1.0), "low"),
        (lambda: hs.Factor(1.0, np.inf), "high"),
        (lambda: hs.Commands({}), "ranges"),
        (lambda: hs.Pushes(duration=10**400), "duration"),
        (lambda: hs.Pushes(wait=(0.0, 10**400)), "wait"),
    ],
)
def test_what_is_made_refuses(call, argument):
    with pytest.raises(HeelstrikeError, match=argument) as error:
        call()
    assert len(str(error.value)) < 400
