"""Worlds shared out over several GPUs, beside the CPU's own bits and those of one GPU.

Without a GPU two mock ones stand in (tests/gpu.py), which fail where memory, a stream or a kernel
is used while another GPU is current. Where cuda-core finds a real one, the tests that need no mock
run on it; with a single GPU, "cuda:0,0" makes two batches with streams of their own.
"""

from __future__ import annotations

import copy
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.runtime.cuda.driver import device_count
from heelstrike.simulate import target
from heelstrike.sweeps import sweep as sweeping
from heelstrike.sweeps.definition import define_sweep
from heelstrike.sweeps.plan import SweepPlan
from tests import folding, gpu

WORLDS = 71
"""Three tiles on one GPU; of two parts, one has a tile and a part of another, the other alike."""
DEVICES = "cuda:0,0", "cuda:0,1", "cuda:1", "cuda:1,0,1"
mocked = pytest.mark.skipif(gpu.REAL, reason="only the mock GPUs can show it")


@pytest.fixture
def driver(monkeypatch):
    """Return the driver of the mock GPUs; None where there is a real one."""
    return None if gpu.REAL else gpu.install(monkeypatch)


@pytest.fixture(params=DEVICES)
def device(request, driver):
    """Return some GPUs by number."""
    if driver is None and "1" in request.param and device_count() < 2:
        pytest.skip("this machine has one GPU")
    return request.param


def box(device, **options):
    """Return a simulator of a box with two corners, which is small and compiles fast."""
    edge = [("box", (0.1, y, -0.05)) for y in (-0.05, 0.05)]
    law = hs.Elastic(hs.HuntCrossley(k=2e5, alpha=0.5), hs.Bristle())
    scene = hs.Scene(hs.load("box", points=edge), hs.Plane(law=law))
    options = {"dtype": "float32", "worlds": WORLDS} | options
    return hs.Simulator(scene, dt=1e-3, device=device, **options)


def starts(sim):
    """Return starts that are higher from world to world."""
    q = np.tile(sim.robot.pose("stance"), (sim.worlds, 1))
    q[:, 2] += np.linspace(0, 5e-3, sim.worlds)
    return q


def assert_same(found, device):
    for other in ("cpu", "cuda"):
        assert set(found[device]) == set(found[other])
        for name, values in found[device].items():
            np.testing.assert_array_equal(values, found[other][name], err_msg=f"{name}, {other}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_recording_has_the_bits_of_the_cpu_and_of_one_gpu(device, dtype):
    """Friction, starts and pushes differ by world, and every third step is recorded."""
    found = {}
    for each in ("cpu", "cuda", device):
        sim = box(each, dtype=dtype)
        force = np.linspace(0, 40, 3 * WORLDS).reshape(-1, 3)
        sim.push(body="box", force=force, duration=5e-3)
        mu = {"ground.friction.mu_k": np.linspace(0.2, 0.6, WORLDS)}
        run = sim.run(steps=40, q0=starts(sim), vary=mu, every=3, record="standard")
        assert float(run.data.normal_force.max()) > 0
        found[each] = dict(run.data.data_vars)
    assert_same(found, device)


def test_steps_masks_pushes_and_observations(device):
    found = {}
    for each in ("cpu", "cuda", device):
        sim = box(each)
        sim.run(steps=5, q0=starts(sim), record="final")
        sim.step(3)
        sim.reset(worlds=np.arange(WORLDS) % 3 == 0, v0=np.full(6, 0.1))
        sim.step(2)
        sim.push("box", [5, 0, 9], 2e-3, worlds=np.arange(WORLDS) > 30)
        sim.state["v"] = np.linspace(0, 1, WORLDS)[:, None] * np.ones(sim.robot.nv)
        sim.step(4)
        seen = {f"seen {name}": x for name, x in sim.observe("depth", "normal_force").items()}
        sim.step()
        found[each] = sim.state.copy() | seen | {"time": sim.time}
    assert_same(found, device)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("worlds", [1, 2, 3])
def test_fewer_worlds_than_parts(worlds):
    """Parts without a world are left out."""
    found = {}
    for each in ("cpu", "cuda", "cuda:0,0,0"):
        sim = box(each, worlds=worlds)
        run = sim.run(steps=10, record="standard")
        found[each] = dict(run.data.data_vars) | sim.state.copy()
    assert_same(found, "cuda:0,0,0")


@mocked
def test_all_gpus_are_launched_before_one_is_waited_for(driver):
    sim = box("cuda:0,1")
    sim.step()
    driver.order.clear()
    sim.step(5)
    assert driver.order == [("launch", 0), ("launch", 1)]
    assert sim.state["q"].shape == (WORLDS, 7)
    assert driver.order[2:] == [("wait", 0), ("wait", 1)]


@mocked
def test_a_kernel_is_made_once_for_an_architecture_and_loaded_once_on_a_gpu(driver, monkeypatch):
    made, make = [], target.cached_ptx
    monkeypatch.setattr(target, "cached_ptx", lambda *of: made.append(of[4]) or make(*of))
    sim = box("cuda:0,1,0")
    kernels = sim.compiled.kernel(()).kernels
    assert made == ["sm_90"]
    assert [kernel.device.device_id for kernel in kernels] == [0, 1, 0]
    assert kernels[0] is kernels[2]
    monkeypatch.setattr(gpu.Device, "architectures", ["90", "120"])
    other = box("cuda:0,1")
    other.step(3)
    assert made == ["sm_90", "sm_120", "sm_90"]
    texts = [kernel.ptx.text for kernel in other.compiled.kernel().kernels]
    assert [text.split(".target ")[1].split()[0] for text in texts] == ["sm_90", "sm_120"]


@mocked
@pytest.mark.parametrize(
    ("law", "device", "worlds", "few"),
    [
        (hs.Rigid(), "cuda", 128, True),  # 64 for each of the two multiprocessors of a mock GPU
        (hs.Rigid(), "cuda", 129, False),
        (hs.Elastic(), "cuda", 128, False),  # no loop: a warp per limb anyway
        (hs.Rigid(), "cuda:0,1", 256, True),
        (hs.Rigid(), "cuda:0,1,0", 192, True),  # two thirds of them on the first GPU
        (hs.Rigid(), "cuda:0,1,0", 193, False),
    ],
)
def test_few_worlds_of_bodies_that_touch(law, device, worlds, few, driver, monkeypatch, tmp_path):
    """Their kernel is another one, which is chosen by what the fullest GPU gets."""

    def asked(*options):
        raise InterruptedError(options[-1])

    monkeypatch.setattr(target, "cached_ptx", asked)
    scene = hs.Scene(folding.chain(tmp_path), hs.Plane(law))
    sim = hs.Simulator(scene, worlds=worlds, device=device)
    with pytest.raises(InterruptedError, match=str(few)):
        sim.compiled.kernel(())


def test_another_thread_may_use_a_simulator(device):
    """Which GPU is current is a matter of a thread."""

    def later(sim):
        sim.step(3)
        sim.reset(worlds=np.arange(WORLDS) < 40)
        return dict(sim.run(steps=10, every=2, record="standard").data.data_vars)

    found = {}
    for each in ("cpu", "cuda", device):
        sim = box(each)
        sim.step(2)
        with ThreadPoolExecutor(1) as pool:
            found[each] = pool.submit(later, sim).result()
    assert_same(found, device)


def test_copies_of_a_simulator_stay_on_its_gpus(device):
    sim = box(device)
    sim.step(4)
    other = copy.deepcopy(sim)
    assert other.device == device
    for each in (sim, other):
        each.step(3)
    np.testing.assert_array_equal(sim.state["q"], other.state["q"])


@mocked
@pytest.mark.parametrize(("which", "free"), [(0, 1000), (1, 1000), (None, 2000)])
def test_memory_of_all_gpus_is_checked(driver, which, free):
    """Worlds are shared out evenly, so the GPU with the least free memory decides."""
    sim = box("cuda:0,1", worlds=2001)
    each = sim.compiled.kernel(()).world_bytes
    driver.free = 1000 * each
    if which is not None:
        driver.taken[which] = 500 * each
    found = r"GB of memory, shared out evenly, and .* GB on GPU 0, .* GB on GPU 1 are free; "
    with pytest.raises(HeelstrikeError, match=f"{found}{free} worlds fit"):
        sim.step()
    assert sim.compiled.kernel(()).max_worlds == free
    twice = box("cuda:1,1", worlds=2001)
    fit = 500 if which == 1 else 1000
    with pytest.raises(HeelstrikeError, match=rf"and [\d.e-]+ GB on GPU 1 are free; {fit} worlds"):
        twice.step()


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    "text", ["cuda:", "cuda:a", "cuda:-1", "cuda:0,", "cuda:0 1", "cuda:9999 "]
)
def test_texts_that_name_no_gpu_are_refused(text):
    allowed = 'allowed: numbers of GPUs after the colon, such as "cuda:1" or "cuda:0,1"'
    with pytest.raises(ParameterError) as caught:
        box(text)
    assert str(caught.value) == f"device is '{text}'; {allowed}"


@pytest.mark.usefixtures("driver")
def test_a_gpu_that_is_not_there_is_refused():
    count = device_count()
    some = "number 0, this machine's only GPU" if count == 1 else f"numbers 0 to {count - 1} of"
    for text in (f"cuda:{count}", f"cuda:0,{count}"):
        with pytest.raises(ParameterError) as caught:
            box(text)
        assert str(caught.value).startswith(f"device is '{text}'; allowed: {some}")
    for text in ("cuda0", "gpu", 7, None):
        with pytest.raises(UnknownNameError, match="no device"):
            box(text)


@pytest.mark.usefixtures("driver")
def test_a_recording_names_its_gpus():
    sim = box("cuda:0,0")
    run = sim.run(steps=2, record="final")
    assert sim.device == json.loads(run.data.attrs["device"]) == "cuda:0,0"
    assert "float32 on cuda:0,0" in repr(sim)
    names = json.loads(run.data.attrs["gpus"])
    assert list(names) == ["0"]
    assert names["0"]
    assert "gpus" not in box("cpu").run(steps=2, record="final").data.attrs


@pytest.mark.usefixtures("driver")
def test_what_one_gpu_would_hold_is_refused(monkeypatch):
    """Arrays in place, a stream, and environments, which need both."""
    sim = box("cuda:0,0")
    with pytest.raises(HeelstrikeError, match=r"no array holds 'clock'.*simulator for each GPU"):
        sim.device_array("clock")
    with pytest.raises(HeelstrikeError, match="no stream has the steps of all worlds"):
        _ = sim.stream
    with pytest.raises(ParameterError, match=r"one device.*hs.Environments for each GPU"):
        hs.Environments("stand", 8, device="cuda:0,0")


# sweeps

AXES = {"grid": {"ground.normal.k": [2e4, 3e4, 4e4]}, "worlds": 72, "duration": 0.02}


def test_a_sweep_has_the_bits_of_the_cpu(device):
    ours, theirs = (hs.sweep(box(each), **AXES).data for each in ("cpu", device))
    assert json.loads(theirs.attrs["device"]) == device
    assert ours.equals(theirs)


@mocked
def test_chunks_are_for_all_gpus(driver, monkeypatch):
    monkeypatch.setattr(sweeping, "MAX_GPU_CHUNK", 256)
    plan = SweepPlan.of(None, {"ground.normal.k": (2e4, 3e4)}, 3000, 3)
    studies = [define_sweep(box(text), plan, 0.01) for text in ("cuda", "cuda:0,1")]
    assert [sweeping.chunk_size(study, shared=False) for study in studies] == [256, 512]
    driver.free = 2 * 200 * studies[0].kernel.world_bytes
    assert [study.max_chunk for study in studies] == [200, 400]


@pytest.mark.usefixtures("driver")
def test_a_cluster_hands_out_gpus_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ParameterError, match=r'"cuda" on a Ray cluster.*workers has one GPU'):
        hs.sweep(box("cuda:0,0"), **AXES, ray="local")
