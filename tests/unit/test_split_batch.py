"""Worlds shared out over several batches, beside one batch of all of them, bit by bit.

The parts are batches of the CPU, with lanes as ever, so that this needs no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, ProgramError
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.split_batch import SplitBatch, even_shares
from heelstrike.simulate.target import CompileTarget

WORLDS = 37
"""Neither a multiple of lanes nor of parts."""
PARTS = 1, 2, 3, 5


@dataclass
class Split:
    """A kernel whose batches are split."""

    kernel: Kernel
    parts: int

    @property
    def layout(self):
        return self.kernel.layout

    def batch(self, worlds):
        return SplitBatch([self.kernel.batch(n) for n in even_shares(worlds, self.parts)])


@pytest.fixture
def both(monkeypatch):
    """Return a function that does some work on a simulator, plainly and in parts."""
    plain = CompileTarget.kernel

    def found(work, parts, **options):
        results = [work(box(**options))]
        with monkeypatch.context() as patch:
            patch.setattr(CompileTarget, "kernel", lambda *given: Split(plain(*given), parts))
            sim = box(**options)
            results.append(work(sim))
            assert isinstance(sim.compiled.batch(), SplitBatch)
            assert len(sim.compiled.batch().parts) == min(parts, sim.worlds)
        return results

    return found


def box(law="elastic", **options):
    """Return a simulator of a box with two corners, which is small and compiles fast."""
    edge = [("box", (0.1, y, -0.05)) for y in (-0.05, 0.05)]
    laws = {"elastic": hs.Elastic(hs.HuntCrossley(k=2e5), hs.Bristle()), "rigid": hs.Rigid()}
    scene = hs.Scene(hs.load("box", points=edge), hs.Plane(law=laws[law]))
    return hs.Simulator(scene, dt=1e-3, **({"worlds": WORLDS} | options))


def starts(sim):
    """Return starts that are higher from world to world."""
    q = np.tile(sim.robot.pose("stance"), (sim.worlds, 1))
    q[:, 2] += np.linspace(0, 5e-3, sim.worlds)
    return q


def assert_same(results):
    one, other = results
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("law", ["elastic", "rigid"])
@pytest.mark.parametrize("parts", PARTS)
def test_a_recording_has_the_same_bits(both, law, parts):
    """Parameters, starts and pushes differ by world, and every third step is recorded."""

    def work(sim):
        sim.push(body="box", force=np.linspace(0, 40, 3 * sim.worlds).reshape(-1, 3), duration=5e-3)
        mu = {"ground.friction.mu_k": np.linspace(0.2, 0.6, sim.worlds)}
        if law == "rigid":
            mu["ground.friction.mu_s"] = np.linspace(0.6, 0.9, sim.worlds)
        first = sim.run(steps=60, q0=starts(sim), vary=mu, every=3, record="standard")
        later = sim.run(steps=7, every=2, record=["q", "normal_force"])  # recorded by other code
        assert float(first.data.normal_force.max()) > 0
        names = [f"later {name}" for name in later.data.data_vars]
        return dict(first.data.data_vars) | dict(zip(names, later.data.values(), strict=True))

    assert_same(both(work, parts, law=law))


@pytest.mark.parametrize("parts", PARTS)
def test_steps_resets_pushes_and_state(both, parts):
    def work(sim):
        sim.step(3)
        sim.reset(worlds=np.arange(WORLDS) % 3 == 0, q0=starts(sim), v0=np.full(6, 0.1))
        sim.step(2)
        sim.push("box", [5, 0, 9], 2e-3, worlds=np.arange(WORLDS) > 17)  # compiles once more
        sim.state["v"] = np.linspace(0, 1, WORLDS)[:, None] * np.ones(sim.robot.nv)
        sim.step(4, threads=2)
        sim.torque = np.linspace(-1, 1, sim.robot.nv)
        sim.step()
        sim.reset(worlds=np.arange(WORLDS) == WORLDS - 1)
        ball = {f"seen {k}": x for k, x in sim.observe("depth", "normal_force").items()}
        sim.step()
        return sim.state.copy() | ball | {"time": sim.time, "failed": sim.failed}

    assert_same(both(work, parts))


@pytest.mark.parametrize("parts", PARTS)
def test_a_world_that_fails_is_reported_by_its_own_number(both, parts):
    """The others go on; the last world of all is in the last part."""

    def work(sim):
        v = np.zeros((WORLDS, sim.robot.nv))
        v[[20, WORLDS - 1], 0] = np.finfo(float).max / 4
        sim.state["v"] = v
        with pytest.warns(HeelstrikeWarning) as caught:
            run = sim.run(steps=20, record="final")
        assert np.flatnonzero(run.data.failed >= 0).tolist() == [20, WORLDS - 1]
        return dict(run.data.data_vars) | {"said": [str(each.message) for each in caught]}

    assert_same(both(work, parts))


@pytest.mark.parametrize("worlds", [1, 2, 40])
def test_other_numbers_of_worlds(both, worlds):
    """There are no more parts than worlds."""

    def work(sim):
        sim.step()
        run = sim.run(steps=20, worlds=worlds, record="standard")
        return dict(run.data.data_vars) | {"q": np.atleast_2d(sim.state["q"])}

    assert_same(both(work, 3))


# the batch itself


WORLDS_OF_SPRINGS = 10
TABLE = np.array([[0.0, 1.0], [2.0, 5.0], [3.0, 4.0]])
SET = {
    "k": np.linspace(1, 2, WORLDS_OF_SPRINGS)[:, None],
    "drive": [0.1, 0.2],
    "x": np.arange(2.0 * WORLDS_OF_SPRINGS).reshape(-1, 2),
}
"""A row per world; for all worlds alike; memory."""


@pytest.fixture(scope="module")
def kernel():
    """Return a program with memory, inputs, a table and an output."""
    p = Program("springs")
    k, drive = p.input("k", 1), p.input("drive", 2)
    x, v = p.memory("x", 2, np.array([1.0, 2.0])), p.memory("v", 2)
    height, _ = table(p, "heights", *TABLE.shape).at(x[0])
    with p.block("step"):
        p.output("force", k * x)
        faster = p.let("faster", v - 0.1 * (k * x - drive) + 0.01 * height)
        p.update("v", faster)
        p.update("x", x + 0.1 * faster)
    return compile_program(p, width=4)


def pair(kernel, parts=3, **values):
    """Return a plain batch and a split one, with the same values."""
    found = kernel.batch(WORLDS_OF_SPRINGS), Split(kernel, parts).batch(WORLDS_OF_SPRINGS)
    for batch in found:
        batch.set(heights=TABLE, **(SET | values))
    return found


def assert_equal(one, other):
    """Assert that two batches hold the same bits in every port."""
    for port in one.layout.inputs + one.layout.tables + one.layout.memory:
        np.testing.assert_array_equal(one.get(port.name), other.get(port.name), err_msg=port.name)
    np.testing.assert_array_equal(one.output("force"), other.output("force"))
    assert one.steps_made == other.steps_made
    assert_same([one.state(), other.state()])


@pytest.mark.parametrize("parts", [1, 2, 3, 10, 64])
def test_worlds_are_shared_out_evenly(parts):
    for worlds in (1, 9, 10, 64, 65_536):
        shares = even_shares(worlds, parts)
        assert sum(shares) == worlds
        assert len(shares) == min(parts, worlds)
        assert max(shares) - min(shares) <= 1
        assert min(shares) > 0


def test_values_steps_and_records(kernel):
    plain, split = pair(kernel)
    assert [part.worlds for part in split.parts] == [4, 3, 3]
    assert_equal(plain, split)
    for batch in (plain, split):
        batch.run(7, every=3)
        batch.run(5, every=3)  # from another phase on
    assert_equal(plain, split)
    assert split.output("force").shape == (WORLDS_OF_SPRINGS, 1, 2)
    for batch in (plain, split):
        batch.peek()
        batch.steps_made = 0
        batch.set(k=[3.0], drive=np.ones((WORLDS_OF_SPRINGS, 2)))  # alike now, by world now
        batch.run(4, every=2)
    assert_equal(plain, split)
    np.testing.assert_array_equal(plain.get("force"), split.get("force"))
    assert split.view("x") is None


@pytest.mark.parametrize("mask", ["all", "some", "none", "of one part"])
def test_resets(kernel, mask):
    chosen = {
        "all": None,
        "some": np.arange(WORLDS_OF_SPRINGS) % 3 == 0,
        "none": np.zeros(WORLDS_OF_SPRINGS, bool),
        "of one part": np.arange(WORLDS_OF_SPRINGS) > 7,
    }[mask]
    batches = pair(kernel)
    for batch in batches:
        batch.run(5)
        batch.reset(chosen, x=SET["x"] + 0.5, v=[1.0, -1.0])
        batch.run(2)
    assert_equal(*batches)


def test_another_batch_is_continued_part_by_part(kernel):
    """Both then work on the same arrays."""
    old, new = pair(kernel), pair(kernel, k=[9.0], x=[0.0, 0.0])
    for one, other in zip(old, new, strict=True):
        one.run(3)
        other.continue_from(one)
        other.run(4)
    assert_equal(*new)
    assert_same([old[1].state(), new[1].state()])
    with pytest.raises(ProgramError, match="only if the same worlds lie in each part"):
        old[1].continue_from(pair(kernel, parts=2)[1])


def test_a_snapshot_stays_as_it_is(kernel):
    plain, split = pair(kernel)
    kept = split.snapshot("x", "v")
    before = plain.snapshot("x", "v")
    split.run(3)
    assert (list(kept), len(kept)) == (["x", "v"], 2)
    assert_same([before, dict(kept)])


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (lambda b: b.set(k=np.ones((4, 1))), r"input 'k' has shape \(4, 1\).*or \(10, 1\)"),
        (lambda b: b.set(heights=np.ones((3, 3))), r"table 'heights' has shape \(3, 3\)"),
        (lambda b: b.set(kk=[1.0]), "no input 'kk'; inputs: k, drive"),
        (lambda b: b.set(k="stiff"), "'k' is 'stiff'; allowed: numbers"),
        (lambda b: b.get("kk"), "no port 'kk'"),
        (lambda b: b.output("kk"), "no output 'kk'"),
        (lambda b: b.reset(np.ones(4, bool)), r"mask of worlds has shape \(4,\).*\(10,\)"),
        (lambda b: b.reset(kk=[1.0]), "no memory 'kk'"),
        (lambda b: b.run(-1), "steps"),
    ],
)
def test_mistakes_have_the_sentences_of_a_plain_batch(kernel, work, sentence):
    said = []
    for batch in pair(kernel):
        with pytest.raises(HeelstrikeError, match=sentence) as caught:
            work(batch)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_what_one_array_or_stream_would_hold_is_refused(kernel):
    split = pair(kernel)[1]
    with pytest.raises(ProgramError, match=r"no array holds 'x'.*one simulator for each GPU"):
        split.device_array("x")
    with pytest.raises(ProgramError, match=r"no stream has the steps.*one simulator for each GPU"):
        _ = split.stream_handle
