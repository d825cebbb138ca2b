"""Simulators on a GPU, beside the CPU's own float32, bit by bit.

Without a GPU a paper one stands in (tests/gpu.py), which shows that everything around a launch is
right. Where cuda-core finds a real one, the same tests run on it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from tests import gpu

WORLDS = 37
"""One tile and a part of another."""
LAWS = {
    "elastic": hs.Elastic(hs.HuntCrossley(k=2e5, alpha=0.5), hs.Bristle()),
    "rigid": hs.Rigid(),
}


@pytest.fixture
def driver(monkeypatch):
    """Return the driver of the mock GPU; None where there is a real one."""
    return None if gpu.REAL else gpu.install(monkeypatch)


def box(device, law="elastic", **more):
    """Return a simulator of a box with two corners, which is small and compiles fast."""
    edge = [("box", (0.1, y, -0.05)) for y in (-0.05, 0.05)]
    scene = hs.Scene(hs.load("box", points=edge), hs.Plane(law=LAWS[law]))
    return hs.Simulator(scene, dt=1e-3, device=device, **({"dtype": "float32"} | more))


def starts(sim, worlds=WORLDS):
    """Return starts that are higher from world to world."""
    q = np.tile(sim.robot.pose("stance"), (worlds, 1))
    q[:, 2] += np.linspace(0, 5e-3, worlds)
    return q


def both(work, law="elastic"):
    """Return the results of some work on a simulator of the CPU and of one of the GPU."""
    return [work(box(device, law)) for device in ("cpu", "cuda")]


def assert_same(runs):
    ours, theirs = (run.data for run in runs)
    assert [run.attrs["device"] for run in (ours, theirs)] == ['"cpu"', '"cuda"']
    assert set(ours.data_vars) == set(theirs.data_vars)
    for name in ours.data_vars:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("law", LAWS)
def test_a_run_has_the_bits_of_the_cpu(law):
    """Parameters and starts differ by world; there is a push, and every third step is recorded."""

    def work(sim):
        sim.push(body="box", force=[40, 0, 0], duration=5e-3)
        mu = {"ground.friction.mu_k": np.linspace(0.2, 0.6, WORLDS)}
        q = starts(sim)
        return sim.run(steps=60, q0=q, worlds=WORLDS, vary=mu, every=3, record="standard")

    runs = both(work, law)
    assert_same(runs)
    assert float(runs[1].data.normal_force.max()) > 0


@pytest.mark.usefixtures("driver")
def test_a_humanoid_under_its_servo():
    robot = hs.load("biped14", collide="feet")
    runs = []
    for device in ("cpu", "cuda"):
        scene = hs.Scene(robot, hs.Plane(law=LAWS["elastic"]))
        sim = hs.Simulator(scene, 1e-3, hs.Servo(), dtype="float32", device=device, worlds=3)
        runs.append(sim.run(steps=20, q0=robot.pose("stance")))
    assert_same(runs)


@pytest.mark.usefixtures("driver")
def test_steps_resets_and_state():
    def work(sim):
        sim.run(steps=5, q0=starts(sim), worlds=WORLDS)
        sim.step(3)
        sim.reset(worlds=np.arange(WORLDS) % 2 == 0)
        sim.step(2)
        sim.state["v"] = np.linspace(0, 1, sim.robot.nv)
        sim.step()
        return sim.state.copy() | sim.observe("depth", "normal_force") | {"t": sim.time}

    ours, theirs = both(work)
    assert set(ours) == set(theirs)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.usefixtures("driver")
def test_a_torque_of_one_world_is_set_not_written_in_place():
    def work(sim):
        sim.torque = [0, 0, 40, 0, 0, 0]
        sim.step(10)
        return np.array(sim.state["v"]).ravel()

    ours, theirs = both(work)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_some_worlds_begin_anew(dtype):
    """Worlds of the mask are reset; the others stay as they are, also one that diverged."""
    mask = np.arange(WORLDS) % 3 > 0
    mask[-1] = True  # whose copies fill the last tile

    def work(sim):
        sim.run(steps=20, q0=starts(sim))
        fast = np.finfo(dtype).max / 4
        sim.state["v"] = np.where(np.arange(WORLDS)[:, None] == 3, fast, sim.state["v"])
        sim.step()
        before = sim.state.copy()
        sim.reset(worlds=mask, q0=starts(sim) + 1e-3, v0=np.full(sim.robot.nv, 0.1))
        return before, sim.state.copy()

    sims = [box(device, worlds=WORLDS, dtype=dtype) for device in ("cpu", "cuda")]
    (_, ours), (before, theirs) = map(work, sims)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
        np.testing.assert_array_equal(before[name][~mask], theirs[name][~mask], err_msg=name)
    assert before["failed"][3] >= 0
    assert (theirs["v"][mask] == np.dtype(dtype).type(0.1)).all()


def test_a_reset_copies_nothing_back(driver):
    if driver is None:
        pytest.skip("only the mock GPU counts what is copied")
    sim = box("cuda", worlds=WORLDS)
    sim.step(3)
    driver.copied.update({"in": 0, "out": 0})
    sim.reset(worlds=np.arange(WORLDS) < 5)
    assert driver.copied["out"] == 0
    numbers = sum(np.size(sim.state.initial(name)) for name in sim.state)
    # one byte of the mask per lane, and one tile of every number
    assert driver.copied["in"] == 64 + numbers * 32 * 4
    with pytest.raises(HeelstrikeError, match=r"mask of worlds has shape \(3,\)"):
        sim.compiled.batch().reset(np.ones(3, bool))
    with pytest.raises(HeelstrikeError, match="no memory 'speed'; memories: clock"):
        sim.compiled.batch().reset(speed=[1.0])


def test_what_is_not_looked_at_is_not_copied(driver):
    """A thousand steps copy only clock, failures and the work of the ground, for warnings."""
    if driver is None:
        pytest.skip("only the mock GPU counts what is copied")
    sim = box("cuda", worlds=WORLDS)
    sim.run(steps=1, record="final")
    numbers = 2 + 2 * sim.state["work"].shape[1]  # time, failures; work before and after
    driver.copied.update({"in": 0, "out": 0})
    run = sim.run(steps=1000, record="final")
    tile = 64 * 4  # bytes of one number of all worlds, filled up
    assert driver.copied == {"in": 0, "out": numbers * tile, "over": driver.copied["over"]}
    sim.step(10)
    assert run.data.steps.values.tolist() == [1000] * WORLDS  # what was kept, not what is now


@pytest.mark.usefixtures("driver")
def test_too_many_worlds_are_refused_with_how_many_fit():
    with pytest.raises(HeelstrikeError, match=r"GB are free; \d+ worlds fit"):
        box("cuda", worlds=10**9).step()


def test_without_a_gpu_a_sentence():
    if gpu.REAL:
        pytest.skip("there is a GPU")
    with pytest.raises(HeelstrikeError, match=r"heelstrike\[cuda\]|no usable GPU"):
        box("cuda")


@pytest.mark.usefixtures("driver")
def test_choices():
    scene = hs.Scene(hs.load("ball"), hs.Plane())
    assert hs.Simulator(scene, device="cuda").state["q"].dtype == np.float32
    with pytest.raises(HeelstrikeError, match='math="fast" is available for float32 on a GPU'):
        hs.Simulator(scene, math="fast")
    with pytest.raises(HeelstrikeError, match="no device 'tpu'; did you mean 'cpu'"):
        hs.Simulator(scene, device="tpu")


@pytest.mark.skipif(gpu.REAL, reason="the mock GPU has two multiprocessors, a real one more")
@pytest.mark.parametrize(
    ("worlds", "grid", "block"),
    [(20, 1, 32), (64, 2, 32), (65, 2, 64), (256, 4, 64)],
)
def test_few_worlds_are_spread_over_the_multiprocessors(driver, worlds, grid, block):
    """The mock GPU has two; a block has two tiles of 32 worlds only if there are more tiles."""
    sim = hs.Simulator(hs.Scene(hs.load("cube"), hs.Plane()), device="cuda", worlds=worlds)
    sim.step()
    assert (driver.config.grid, driver.config.block) == (grid, block)
    assert driver.config.shmem_size == 0


@pytest.mark.parametrize("record", ["final", "standard"])
def test_shares_of_a_batch_have_the_bits_of_the_cpu(driver, record):
    """Of 300 worlds there are more blocks than the mock GPU holds: three shares of them are stepped
    in turns, unless several records are written."""
    sims = [box(device, worlds=300) for device in ("cpu", "cuda")]
    runs = [sim.run(steps=40, q0=starts(sim, 300), record=record, every=4) for sim in sims]
    assert_same(runs)
    if driver is not None:
        driver.launches = 0
        sims[1].step(40)
        assert driver.launches == 3 * 5  # of 8 steps: ten tiles are 2.5 waves


def test_what_is_copied_has_arrived_before_a_launch(driver):
    """The driver's copies are in a stream for which those of batches do not wait."""
    if driver is None:
        pytest.skip("only the mock GPU counts")
    sim = box("cuda", worlds=WORLDS)
    sim.step()
    driver.waits = 0
    sim.state["v"] = np.zeros(sim.robot.nv)
    sim.compiled.batch().snapshot("q")
    assert driver.waits == 2


@pytest.mark.usefixtures("driver")
def test_another_thread_may_use_a_simulator():
    """No GPU is current for a new thread: each use of one makes it current."""

    def later(sim):
        sim.step(3)
        sim.reset(worlds=np.arange(WORLDS) < 5)
        return sim.run(steps=10, every=2, record="standard")

    sims = [box(device, worlds=WORLDS) for device in ("cpu", "cuda")]
    for sim in sims:
        sim.step(2)
    with ThreadPoolExecutor(1) as pool:
        assert_same([pool.submit(later, sim).result() for sim in sims])
