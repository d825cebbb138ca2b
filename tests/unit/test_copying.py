"""Copies of simulators and recordings against the original: they go on with the same bits."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError

Q0 = [0, 0, 0.06, 0, 0, 0, 1.0]


@pytest.fixture
def sim():
    made = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(name="ground")))
    made.parameters["ground.normal.k"] = 4e4
    made.run(0.05, q0=Q0)
    return made


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_with_the_same_bits(sim, copied):
    other = copied(sim)
    assert other.parameters["ground.normal.k"] == 4e4
    one, two = (own.run(0.05).data for own in (sim, other))
    for name in ("q", "v", "force", "time"):
        assert np.array_equal(one[name].values, two[name].values)
    sim.step(10)
    assert not np.array_equal(sim.state["q"], other.state["q"])  # nothing is shared


def test_a_recording_is_pickled(sim):
    run = sim.run(0.01)
    again = pickle.loads(pickle.dumps(run))
    assert again.data.identical(run.data)
    assert again.robot.name == "ball"
    assert copy.deepcopy(run).data.identical(run.data)


def test_a_law_in_a_function_cannot_be_pickled_but_copied():
    @hs.normal_law
    def local(c, k=1e4):
        return k * c.depth

    scene = hs.Scene(hs.load("ball"), hs.Plane(law=hs.Elastic(local(), None)))
    sim = hs.Simulator(scene)
    with pytest.raises(HeelstrikeError, match="cannot be pickled: a law"):
        pickle.dumps(sim)
    assert copy.deepcopy(sim).worlds == 1


def finals(sim):
    """Return where the ball is after some steps, in another process."""
    sim.step(20)
    return sim.state["q"].tolist()


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_other_processes_take_a_simulator(sim, way):
    with multiprocessing.get_context(way).Pool(1) as pool:
        there = pool.apply(finals, (sim,))
    assert there == finals(sim)


def test_two_threads_at_once_raise(sim):
    """The second one, at once; the first goes on."""
    inside, go_on = threading.Event(), threading.Event()
    usual = sim.compiled.batch

    def slow(*arguments):
        inside.set()
        assert go_on.wait(20)
        return usual(*arguments)

    sim.compiled.batch = slow
    failures = []

    def work():
        try:
            sim.step(1)
        except HeelstrikeError as error:
            failures.append(error)

    first = threading.Thread(target=work)
    first.start()
    assert inside.wait(20)
    for call in (sim.step, lambda: sim.run(0.01), lambda: sim.reset(q0=Q0)):
        with pytest.raises(HeelstrikeError, match="two threads use one simulator"):
            call()
    go_on.set()
    first.join()
    assert not failures
    sim.step(1)
