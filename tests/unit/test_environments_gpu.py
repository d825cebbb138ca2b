"""Environments on a GPU of paper (tests/gpu.py), beside the CPU's own, bit by bit.

Tensors are those of PyTorch where it is installed, on a CPU, and else of a stand-in that has
NumPy's functions under the same names. That a real GPU copies nothing: benchmarks/environments.py.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.compile import cuda_batch, dlpack
from heelstrike.environments.on_gpu import GpuArrays
from heelstrike.errors import HeelstrikeError
from tests import gpu
from tests.toppler import scene

AT_EXIT = """
import builtins
from types import SimpleNamespace
import numpy as np
from heelstrike.compile import cuda_batch, dlpack
dlpack.CUDA = cuda_batch.CUDA = 1  # DLPack's number of a CPU
room = np.zeros(32, np.float32)
buffer = SimpleNamespace(handle=room.ctypes.data, device_id=0, room=room)
array = cuda_batch.DeviceArray(buffer, (1, 1, 32), room.dtype)
builtins.kept = np.from_dlpack(array)  # outlives all modules
dropped = np.from_dlpack(array)
assert len(dlpack._alive) == 2
del dropped
assert len(dlpack._alive) == 1
"""
WORLDS = 37
"""One tile and a part of another."""
BUSY = {"vary": {"ground.friction.mu_k": (0.6, 0.9)}, "episode": 0.2, "noise": (0.05, 1.0)}
PUSHED = {"pushes": hs.Pushes(force=(5, 40), wait=(0.05, 0.2)), "episode": 0.3}


class Cuda:
    """Of the stand-in: writes down who waits for whom."""

    def __init__(self):
        self.said = []
        self.now = self.named("caller")

    def named(self, name):
        return SimpleNamespace(
            wait_stream=lambda other: self.said.append((name, other.name)), name=name
        )

    def current_stream(self, device):
        return self.now

    def ExternalStream(self, handle):
        return self.named(handle)

    @contextmanager
    def stream(self, stream):
        self.said.append(("enter", stream.name))
        yield
        self.said.append(("leave", stream.name))


def lying(array):
    """Where a device's array lies, as NumPy's."""
    size = int(np.prod(array.shape)) * array.dtype.itemsize
    memory = (ctypes.c_char * size).from_address(int(array.buffer.handle))
    found = np.frombuffer(memory, array.dtype).reshape(array.shape)
    memory.owner = array.buffer  # lives as long as the array's memory is used
    return found


@pytest.fixture
def driver(monkeypatch):
    return gpu.install(monkeypatch)


@pytest.fixture(params=["stand-in", "torch"])
def torch(request, driver, monkeypatch):
    if request.param == "torch":
        real = pytest.importorskip("torch", reason="torch is not installed")
        monkeypatch.setattr(dlpack, "CUDA", 1)  # DLPack's number of a CPU
        monkeypatch.setattr(cuda_batch, "CUDA", 1)
        monkeypatch.setattr(GpuArrays, "stream", lambda self: nullcontext())
        return real
    module = ModuleType("torch")
    vars(module).update({name: getattr(np, name) for name in np.__all__})
    module.from_dlpack, module.cuda, module.Tensor = lying, Cuda(), Cuda  # SciPy looks for one
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def both(**options):
    return [hs.Environments(scene(), WORLDS, device=d, **options) for d in ("cpu", "cuda")]


def played(envs, steps):
    """Everything that a number of random actions gave, and the state."""
    found = [envs.reset(seed=5)[0]]
    rng = np.random.default_rng(1)
    for _ in range(steps):
        action = rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
        found += envs.step(action)[:4]
    return [np.asarray(each) for each in found], envs.sim.state.copy()


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_worlds_have_the_bits_of_the_cpu(mode):
    (ours, state), (theirs, its_state) = (played(e, 25) for e in both(autoreset=mode, **BUSY))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    for name, value in state.items():
        np.testing.assert_array_equal(value, its_state[name], err_msg=name)
    assert sum(late.sum() for late in ours[4::4]) >= WORLDS


@pytest.mark.usefixtures("torch")
def test_pushes_are_the_cpus():
    """Up to the last bits of sines, which grow while a box topples: 3e-4 measured."""
    (ours, _), (theirs, _) = (played(e, 25) for e in both(**PUSHED))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.astype(float), other.astype(float), atol=3e-3)
    assert np.abs(ours[-4][:, 5:7]).max() > 0.1  # they move


def test_a_thousand_actions_copy_nothing(torch, driver):
    envs = hs.Environments(scene(), WORLDS, device="cuda", **BUSY, pushes=PUSHED["pushes"])
    envs.reset(seed=0)
    action = torch.zeros(envs.action_space.shape, dtype=torch.float32)
    driver.copied.update({"in": 0, "out": 0, "over": 0})
    for _ in range(1000):
        seen, *_ = envs.step(action)
    assert driver.copied == {"in": 0, "out": 0, "over": 0}
    assert type(seen) is type(action)


def test_the_callers_stream_waits_and_is_waited_for(torch):
    if not isinstance(torch.cuda, Cuda):
        pytest.skip("only the stand-in writes down who waits")
    envs = hs.Environments(scene(), WORLDS, device="cuda")
    torch.cuda.said.clear()
    envs.step(np.zeros(envs.action_space.shape))
    s = gpu.STREAM
    assert torch.cuda.said == [(s, "caller"), ("enter", s), ("leave", s), ("caller", s)]


def test_arrays_of_a_simulator_where_they_lie(torch):
    """A run's ends without a copy, and parameters that are written there."""
    sim = hs.Simulator(scene(), control=hs.Servo(), worlds=WORLDS, device="cuda")
    run = sim.run(steps=20, record="final")
    for name in ("q", "v", "peak_force", "failed"):
        tiles = np.asarray(torch.from_dlpack(sim.device_array(name)))
        rows = tiles.swapaxes(1, 2).reshape(-1, tiles.shape[1])[:WORLDS]
        np.testing.assert_array_equal(np.squeeze(rows), run.data[name], err_msg=name)
    reference = torch.from_dlpack(sim.device_array("servo.q_ref"))
    assert tuple(reference.shape) == (2, sim.robot.nv, 32)
    reference[:, 6] = 0.5
    sim.step(300)
    assert np.abs(sim.state["q"][:, 7] - 0.5).max() < 0.1
    with pytest.raises(HeelstrikeError, match=r"did you mean 'servo\.q_ref'"):
        sim.device_array("servo.qref")


def test_arrays_that_outlive_python_do_no_harm():
    made = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr


@pytest.mark.usefixtures("driver")
def test_without_torch_a_sentence(monkeypatch):
    sim = hs.Simulator(scene(), control=hs.Servo(), device="cuda")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(HeelstrikeError, match="pip install torch"):
        hs.Environments(sim)


def test_docs_tell_the_figures_of_the_gpu_as_they_were_measured():
    root = Path(__file__).parents[2]
    measured = json.loads((root / "benchmarks/results/environments-h200.json").read_text())
    page = (root / "docs/environments.md").read_text()
    names = {"hoap1": "hoap1", "g1_29dof_rev_1_0": "Unitree G1"}
    for row in measured["rows"]:
        rates = (f"{row[kind]:.0f}" for kind in ("bare_million_steps_per_s", "million_steps_per_s"))
        cells = [f"{names[row['robot']]}, {row['worlds']:,} worlds", *rates]
        assert f"| {' | '.join(cells)} | {row['overhead']:.0%}".replace("%", " %") in page
    assert measured["copies"]["to_host"] == 0
    off = max(row.get("largest_difference", 0.0) for row in measured["rows"])
    assert f"at most {off:.2g}".replace("e-0", "e-") in page
