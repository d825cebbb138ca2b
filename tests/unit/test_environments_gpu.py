"""Environments on a mock GPU (tests/gpu.py), beside the CPU's own, bit by bit.

Tensors are those of PyTorch where it is installed, on a CPU, and else of a stand-in that has
NumPy's functions under the same names. That a real GPU copies nothing: benchmarks/environments.py.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments import settings
from heelstrike.environments.cuda_graph import GraphReplay
from heelstrike.environments.gpu_arrays import GpuArrays
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.cuda import dlpack
from tests import gpu
from tests.toppler import scene

AT_EXIT = """
import builtins
from types import SimpleNamespace
import numpy as np
from heelstrike.runtime.cuda import dlpack
dlpack.CUDA = 1  # DLPack's number of a CPU
room = np.zeros(32, np.float32)
buffer = SimpleNamespace(handle=room.ctypes.data, device_id=0, room=room)
array = dlpack.DeviceArray(buffer, (1, 1, 32), room.dtype)
builtins.kept = np.from_dlpack(array)  # outlives all modules
dropped = np.from_dlpack(array)
assert len(dlpack._alive) == 2
del dropped
assert len(dlpack._alive) == 1
"""
WORLDS = 37
"""One tile and a part of another."""
BUSY = {"vary": {"ground.friction.mu_k": (0.5, 0.8)}, "episode": 0.2, "noise": (0.05, 1.0)}
PUSHES = {"pushes": hs.Pushes(force=(5, 40), wait=(0.05, 0.2))}
PUSHED = {"pushes": hs.Pushes(force=(5, 40), wait=(0.05, 0.2)), "episode": 0.3}


TERRAIN = hs.Terrain(("flat", "rough"), levels=2, tile=0.6, platform=0.2)
DRAWN = {
    "commands": hs.Commands(
        {"vx": (-0.1, 0.2), "turn": hs.Graded((0, 0), (0, 1))}, wait=(0.05, 0.1)
    ),
    "changes": hs.Changes({"ground.friction.mu_k": (0.3, 0.6)}, wait=(0.03, 0.06)),
    "vary": {"servo.kp": hs.Factor(0.8, 1.2, each=True), "gravity": hs.Factor(0.9, 1.1)},
    "terrain": TERRAIN,
    "curriculum": lambda p: 0.3 * p.share + 0.1 * p.level + 1e-3 * p.actions,
    "observation": lambda s: {
        "body": s.joined("height", "v", "command"),
        "drawn": s.joined("gravity"),
    },
    "reward": lambda s: {"up": s.height, "rate": (s.action - s.last_action).sum(1), "all": s.level},
    "critic": lambda s: s.joined("level", *s.parameters),
    "episode": 0.15,
}
"""All that an environment can draw, and functions of it."""


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

    def ExternalStream(self, handle, device):
        return self.named(handle)

    @contextmanager
    def stream(self, stream):
        self.said.append(("enter", stream.name))
        yield
        self.said.append(("leave", stream.name))


def where(mask, one, other, out=None):
    """PyTorch's: NumPy's has no `out`."""
    found = np.where(mask, one, other)
    if out is not None:
        out[...] = found
    return found


class Graph:
    """A mock CUDA graph: the operations of PyTorch and our launches, done again on the same
    memory. What is captured is done as well, in place of the first replay.
    """

    open = None
    made = 0

    def __init__(self):
        self.tape, self.replays = [], 0
        Graph.made += 1

    def note(self, work, arguments, options, found):
        self.tape.append((work, arguments, options, found))

    def replay(self):
        self.replays += 1
        for work, arguments, options, found in self.tape if self.replays > 1 else ():
            new = work(*arguments, **options)
            if hasattr(found, "copy_") and new.data_ptr() != found.data_ptr():
                found.copy_(new)


@contextmanager
def capture(graph, stream, capture_error_mode):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, work, types, arguments=(), options=None):
            found = work(*arguments, **(options or {}))
            graph.note(work, arguments, options or {}, found)
            return found

    assert stream == gpu.STREAM
    Graph.open = graph
    try:
        with Watch():
            yield
    finally:
        Graph.open = None


def noted(launch, *arguments):
    """A launch, which a graph that is being captured holds on to."""
    launch(*arguments)
    if Graph.open is not None:
        Graph.open.note(launch, arguments, {}, None)


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
        monkeypatch.setattr(GpuArrays, "stream", lambda self: nullcontext())
        monkeypatch.setattr(GpuArrays, "external_stream", lambda self: self.sim.stream)
        for name, double in (("CUDAGraph", Graph), ("graph", capture)):
            monkeypatch.setattr(real.cuda, name, double)
        launch = sys.modules["cuda.core"].launch
        monkeypatch.setattr(sys.modules["cuda.core"], "launch", partial(noted, launch))
        return real
    module = ModuleType("torch")
    vars(module).update({name: getattr(np, name) for name in np.__all__})
    module.where = where
    module.from_dlpack, module.cuda, module.Tensor = lying, Cuda(), Cuda  # SciPy looks for one
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(settings, "make_replay", lambda *_: None)  # NumPy has no graphs
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


def parts(found):
    """Arrays of nested tuples and dicts."""
    if isinstance(found, dict | tuple | list):
        values = found.values() if isinstance(found, dict) else found
        return [array for value in values for array in parts(value)]
    return [np.array(found)]


def drawn(device, **options):
    """All results of 24 actions in environments that draw all they can."""
    ground = TERRAIN.surface(scene().surfaces[0].law)
    made = hs.Scene(scene().robot, ground)
    options = DRAWN | {"autoreset": "same_step"} | options
    envs = hs.Environments(made, WORLDS, device=device, **options)
    found = parts(envs.reset(seed=2))
    rng = np.random.default_rng(1)
    for _ in range(24):
        action = rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
        seen, reward, fell, late, info = envs.step(action)
        kept = {name: info[name] for name in ("critic", "reward_terms")}
        found += parts((seen, reward, fell, late, kept))
    return found


@pytest.mark.usefixtures("torch")
def test_what_episodes_draw_has_the_bits_of_the_cpu():
    for one, other in zip(drawn("cpu"), drawn("cuda"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_what_episodes_draw_has_the_same_bits_in_a_graph(real_torch, mode):
    plain, graph = (drawn("cuda", graph=graph, autoreset=mode) for graph in (False, True))
    assert Graph.made == 1
    for one, other in zip(plain, graph, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_thousand_actions_copy_nothing(torch, driver):
    envs = hs.Environments(scene(), WORLDS, device="cuda", **BUSY, pushes=PUSHED["pushes"])
    envs.reset(seed=0)
    action = torch.zeros(envs.action_space.shape, dtype=torch.float32)
    driver.copied.update({"in": 0, "out": 0, "over": 0})
    for _ in range(1000):
        seen, *_ = envs.step(action)
    assert driver.copied == {"in": 0, "out": 0, "over": 0}
    assert type(seen) is type(action)


def test_an_action_that_is_not_finite_ends_its_world_alone(torch):
    """Nothing is read from the GPU, so that it cannot be refused; the others go on."""
    calm, odd = (hs.Environments(scene(), WORLDS, device="cuda") for _ in range(2))
    for envs in (calm, odd):
        envs.reset(seed=0)
    action = torch.zeros(calm.action_space.shape, dtype=torch.float32)
    wrong = 1 * action
    wrong[3] = float("nan")
    for given in (wrong, action):
        seen, _, fell, *_ = odd.step(given)
        expected = calm.step(action)[0]
        assert np.flatnonzero(np.asarray(fell)).tolist() == ([3] if given is wrong else [])
        mine, theirs = (np.delete(np.asarray(x), 3, 0) for x in (seen, expected))
        np.testing.assert_array_equal(mine, theirs)
    assert np.isfinite(np.asarray(seen)).all()


class Tensor(np.ndarray):
    def clone(self):
        return self.copy()


def test_work_is_done_once_captured_once_and_then_replayed():
    """By a graph that doubles whatever lies where the action lay when it was captured."""
    done, replayed, out = [], [], np.zeros(3).view(Tensor)
    moved, places = {}, iter([[1], [2]])

    def work(action, pushes):
        done.append(pushes)
        moved["action"] = action
        out[...] = 2 * action
        return out, {"final": out}

    def replay():
        replayed.append(1)
        out[...] = 2 * moved["action"]

    graph = SimpleNamespace(replay=replay)
    cuda = SimpleNamespace(CUDAGraph=lambda: graph)
    cuda.graph = lambda graph, stream, capture_error_mode: nullcontext()
    arrays = SimpleNamespace(external_stream=lambda: 7, xp=SimpleNamespace(cuda=cuda))
    arrays.launched, held = next(places), []
    act = GraphReplay(arrays, work, lambda *given: held.append(given), required=False)
    found = [act(np.full(3, float(k)), False) for k in range(4)]
    assert (len(done), len(replayed)) == (2, 3)
    assert [seen.tolist() for seen, _ in found[1:]] == [[2.0 * k] * 3 for k in (1, 2, 3)]
    assert [info["final"][0] for _, info in found[1:]] == [2.0, 4.0, 6.0]
    act(np.zeros(3), True)  # pushes are other work
    assert done == [False, False, True]
    arrays.launched = next(places)
    act(np.zeros(3), False)
    assert (len(done), len(replayed)) == (4, 3)


@pytest.fixture
def real_torch(torch):
    if isinstance(torch.cuda, Cuda):
        pytest.skip("only PyTorch has graphs")
    Graph.made = 0
    return torch


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_a_graph_has_the_bits_of_what_it_captured(real_torch, mode):
    """Resets of all and of some worlds between, and a parameter that is set anew."""

    def work(graph):
        envs = hs.Environments(
            scene(), WORLDS, device="cuda", autoreset=mode, graph=graph, **BUSY, **PUSHES
        )
        found, state = played(envs, 12)
        found.append(np.asarray(envs.reset(options={"reset_mask": np.arange(WORLDS) % 2 == 0})[0]))
        envs.sim.parameters["ground.normal.k"] = 9e3
        for k in range(12):
            action = np.full(envs.action_space.shape, 0.1 * k - 0.5, np.float32)
            *answer, info = envs.step(action)
            found += [np.asarray(each) for each in (*answer, *info.values()) if each != {}]
        return found, state, envs.sim.state.copy()

    plain, graphs = work(False), None
    assert Graph.made == 0
    graphs = work(True)
    assert Graph.made == 2  # with pushes and without; a value that is set anew moves nothing
    for one, other in zip(plain[0], graphs[0], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(plain[1:], graphs[1:], strict=True):
        assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


def test_arrays_that_a_graph_gave_stay_as_they_are(real_torch):
    envs = hs.Environments(scene(), WORLDS, device="cuda", **BUSY)
    envs.reset(seed=0)
    still = real_torch.zeros(envs.action_space.shape)
    given = [envs.step(still) for _ in range(6)]
    kept = [[np.asarray(each).copy() for each in step[:4]] for step in given]
    envs.step(still + 1)
    for now, then in zip(given, kept, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(now[:4], then, strict=True))
    assert Graph.made == 1


def test_functions_of_ones_own_are_asked_every_time(real_torch):
    """A graph would not ask them again; who knows better says so."""
    asked = []

    def reward(s):
        asked.append(1)
        return s.height

    envs = hs.Environments(scene(), WORLDS, device="cuda", reward=reward)
    still = real_torch.zeros(envs.action_space.shape)
    asked.clear()
    for _ in range(5):
        envs.step(still)
    assert (len(asked), Graph.made) == (5, 0)
    envs = hs.Environments(scene(), WORLDS, device="cuda", reward=reward, graph=True)
    asked.clear()
    for _ in range(5):
        envs.step(still)
    assert (len(asked), Graph.made) == (2, 1)
    with pytest.raises(HeelstrikeError, match='graph=True needs device="cuda"; omit it'):
        hs.Environments(scene(), WORLDS, graph=True)


def test_worlds_that_moved_are_captured_anew(real_torch):
    """By a parameter that gets a value a world, and by a run that records: other arrays."""
    envs = hs.Environments(scene(), WORLDS, device="cuda")
    still = real_torch.zeros(envs.action_space.shape)
    for _ in range(3):
        envs.step(still)
    envs.sim.parameters["ground.normal.alpha"] = np.linspace(0.4, 0.5, WORLDS)
    for _ in range(3):
        envs.step(still)
    assert Graph.made == 2
    envs.sim.run(steps=2, record=["q"])
    clock = np.asarray(envs.sim.state["clock"])
    for _ in range(3):
        envs.step(still)
    assert Graph.made == 3
    assert (envs.sim.state["clock"] == clock + 3 * envs.hold).all()
    for _ in range(2):
        envs.sim.push("trunk", [1, 0, 0], 0.5)  # another program each time
    for _ in range(3):
        envs.step(still)
    assert Graph.made == 4
    assert np.abs(envs.sim.state["v"][:, 0]).min() > 0.01


def test_what_cannot_be_captured_runs_without(real_torch, monkeypatch):
    @contextmanager
    def refuse(graph, **_):
        raise RuntimeError("not while capturing\nmore")
        yield

    monkeypatch.setattr(real_torch.cuda, "graph", refuse)
    envs = hs.Environments(scene(), WORLDS, device="cuda")
    still = real_torch.zeros(envs.action_space.shape)
    envs.step(still)
    with pytest.warns(hs.HeelstrikeWarning, match="not while capturing; actions run without"):
        envs.step(still)
    envs.step(still)
    assert not envs.graph
    envs = hs.Environments(scene(), WORLDS, device="cuda", graph=True)
    envs.step(still)
    with pytest.raises(HeelstrikeError, match="or omit graph=True"):
        envs.step(still)


def test_the_callers_stream_waits_and_is_waited_for(torch):
    if not isinstance(torch.cuda, Cuda):
        pytest.skip("only the stand-in writes down who waits")
    envs = hs.Environments(scene(), WORLDS, device="cuda")
    torch.cuda.said.clear()
    envs.step(np.zeros(envs.action_space.shape))
    s = gpu.STREAM
    assert torch.cuda.said == [(s, "caller"), ("enter", s), ("leave", s), ("caller", s)]


@pytest.mark.skipif(not gpu.REAL, reason="there is no GPU")
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_a_real_graph_has_the_bits_of_what_it_captured(mode):
    """Pushed, felled and begun anew; what is captured is replayed, not done again by Python."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def work(graph):
        options = {"autoreset": mode, "graph": graph, **BUSY, **PUSHES}
        envs = hs.Environments(scene(), 1000, device="cuda", **options)
        found = [envs.reset(seed=5)[0]]
        for k in range(60):
            action = torch.full(envs.action_space.shape, 0.03 * k - 0.9, device="cuda")
            found += envs.step(action)[:4]
        return envs, [each.cpu().numpy() for each in found], envs.sim.state.copy()

    (_, plain, state), (envs, ours, its_state) = work(False), work(True)
    assert [made.graph is not None for made in envs._replay._graphs.values()] == [True, True]
    for one, other in zip(plain, ours, strict=True):
        np.testing.assert_array_equal(one, other)
    for name, value in state.items():
        np.testing.assert_array_equal(value, its_state[name], err_msg=name)
    assert sum(late.sum() for late in ours[4::4]) >= 1000


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
