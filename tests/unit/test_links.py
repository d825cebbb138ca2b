"""Bits of scenes in which moving bodies touch one another.

Oracle: lanes of width 1 with all guards, one thread. Equality is of bits, so there is no tolerance.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from benchmarks.tower import heaped, tower
from heelstrike.codegen.cpu import object_code
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.real import REALS
from heelstrike.runtime.kernel import Kernel
from heelstrike.step.step import step_program
from tests import gripper

WORLDS, STEPS = 11, 40
RECORD = ["q", "normal", "rounds"]


def stack(dtype):
    """Return three cubes, which are eliminated along the graph of their contacts."""
    return hs.Simulator(tower(*4 * [hs.Rigid()]), dtype=dtype), np.array(heaped(3))


def gripped(dtype):
    """Return fingers at a cube, whose links share the joint of both fingers."""
    return gripper.simulator(dtype=dtype), gripper.start()


SCENES = {"stack": stack, "gripper": gripped}


@cache
def start(name, dtype):
    """Return the step of a scene, and values of its inputs: some worlds rest, others tumble."""
    sim, q0 = SCENES[name](dtype)
    values = dict(sim.parameters.items()) | sim.compiled.tables()
    fast = np.where(np.arange(WORLDS) % 3 > 0, 0.5, 0.0)[:, None]
    v0 = fast * np.random.default_rng(0).normal(size=(WORLDS, sim.plan.robot.nv))
    return step_program(sim.plan, RECORD).trace(RECORD), values | {"q": q0, "v": v0}


def run(name, width=1, guards=True, threads=1, dtype="float64"):
    """Return what is recorded of a few steps."""
    (traced, values), real = start(name, dtype), REALS[dtype]
    module = emit(traced, width, real, guards=guards)
    layout = Layout.of(traced, module.width, real, module.frame_size)
    batch = Kernel(layout, object_code(module, 2)).batch(WORLDS)
    batch.set(**values)
    batch.run(STEPS, threads=threads)
    return {key: np.array(batch.output(key)) for key in RECORD}


@cache
def reference(name, dtype):
    return run(name, dtype=dtype)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize(
    ("width", "guards", "threads", "dtype"),
    [
        (4, True, 2, "float64"),
        (8, False, 1, "float64"),
        pytest.param(8, True, 3, "float32", marks=pytest.mark.nightly),
    ],
)
def test_same_bits(name, width, guards, threads, dtype):
    expected = reference(name, dtype)
    for key, value in run(name, width, guards, threads, dtype).items():
        assert np.array_equal(value.view(np.uint8), expected[key].view(np.uint8)), key
    rounds = expected["rounds"]
    assert rounds[::3].mean() < rounds[1::3].mean()  # worlds differ
    assert np.isfinite(expected["q"]).all()
    assert (expected["normal"] > 0).any(axis=(0, 1)).sum() > 8  # contacts of all kinds
