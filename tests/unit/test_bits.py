"""A world has the same bits, whatever its neighbours are.

Oracle: the scalar build (W = 1) at LLVM's level 1, one world at a time. Equality is of bits, so
there is no tolerance.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen import calls, llvm
from heelstrike.dynamics.quantities import quantities
from heelstrike.ir.program import Program
from heelstrike.robot import load
from heelstrike.runtime.compiler import compile_program
from tests.flight import flight

WORLDS = 1000
NAMES = ["forward_dynamics", "mass_matrix", "com", "kinetic_energy", "mass_solve"]


def states(robot, dtype, seed=1):
    rng = np.random.default_rng(seed)
    q = np.tile(robot.pose("stance"), (WORLDS, 1))
    q[:, 7:] += rng.normal(size=(WORLDS, robot.nq - 7))
    quaternion = rng.normal(size=(WORLDS, 4))
    q[:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    v, a, tau = rng.normal(size=(3, WORLDS, robot.nv))
    inputs = {"q": q, "v": v, "a": a, "tau": tau}
    return {name: x.astype(dtype) for name, x in inputs.items()} | {"gravity": [9.81]}


def row(inputs, i):
    return {name: x[i] if np.ndim(x) == 2 else x for name, x in inputs.items()}


@pytest.fixture(scope="module")
def robot():
    return load("hoap1", collide="feet")


@pytest.fixture(scope="module")
def program(robot):
    return quantities(robot, NAMES)


@pytest.fixture(scope="module", params=["float64", "float32"])
def reference(request, robot, program):
    """Inputs, and the scalar build's outputs for every world alone."""
    inputs = states(robot, request.param)
    kernel = compile_program(program, width=1, dtype=request.param, level=1)
    worlds = [kernel(**row(inputs, i)) for i in range(WORLDS)]
    return request.param, inputs, {name: np.array([w[name] for w in worlds]) for name in NAMES}


@pytest.fixture(scope="module")
def kernel(program, reference):
    """The usual build: the widest lanes at level 2."""
    return compile_program(program, dtype=reference[0])


def assert_same_bits(found, expected):
    for name, value in found.items():
        assert np.array_equal(value.view(np.uint8), expected[name].view(np.uint8)), name


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_lane_width(program, reference, width):
    dtype, inputs, expected = reference
    kernel = compile_program(program, width=width, dtype=dtype)
    assert_same_bits(kernel(**inputs), expected)


@pytest.mark.parametrize("level", [0, 1, 3])
def test_optimisation_level(program, reference, level):
    dtype, inputs, expected = reference
    kernel = compile_program(program, dtype=dtype, level=level)
    assert_same_bits(kernel(**inputs), expected)


def test_threads(kernel, reference):
    _, inputs, expected = reference
    for threads in (1, 2, 3):
        assert_same_bits(kernel(threads=threads, **inputs), expected)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 31, 33, 999])
def test_batch_size_and_company(kernel, reference, size):
    """A few worlds alone, and the same ones in another order beside others."""
    _, inputs, expected = reference
    chosen = np.random.default_rng(size).permutation(WORLDS)[:size]
    some = {name: x[chosen] if np.ndim(x) == 2 else x for name, x in inputs.items()}
    assert_same_bits(kernel(**some), {name: x[chosen] for name, x in expected.items()})


@pytest.mark.parametrize("name", NAMES)
def test_one_output_or_all(program, reference, name):
    dtype, inputs, expected = reference
    kernel = compile_program(program, outputs=[name], dtype=dtype)
    assert_same_bits(kernel(**inputs), {name: expected[name]})


def test_how_blocks_are_gathered_into_functions(program, reference, monkeypatch):
    dtype, inputs, expected = reference
    for size, passes in ((1, 1), (100_000, 3)):
        monkeypatch.setattr(calls, "FUNCTION_SIZE", size)
        monkeypatch.setattr(llvm, "PASS_TILES", passes)
        assert_same_bits(compile_program(program, dtype=dtype)(**inputs), expected)


def test_uniform_input_and_the_same_value_for_each_world(robot):
    """A parameter that is set once, and the same parameter set per world."""
    kernel = compile_program(flight(robot))
    inputs = states(robot, "float64")
    common = {"dt": [1e-3], "gravity": [0.0, 0.0, -9.81]}
    common |= {"servo.kp": robot.kp, "servo.kd": robot.kd, "servo.q_ref": np.zeros(robot.nv)}
    state = {"q": inputs["q"], "v": inputs["v"]}
    ends = []
    for parameters in (common, {k: np.tile(x, (WORLDS, 1)) for k, x in common.items()}):
        batch = kernel.batch(WORLDS)
        batch.set(**state, **parameters)
        batch.run(steps=3)
        ends.append(batch.state())
    assert_same_bits(*ends)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_lane_does_not_read_its_neighbour(program, robot, width):
    """A world of NaNs does not affect the others, whatever its lane is."""
    inputs = states(robot, "float64")
    few = {name: x[:width] if np.ndim(x) == 2 else x for name, x in inputs.items()}
    kernel = compile_program(program, width=width)
    healthy = kernel(**few)
    for lane in range(width):
        ill = {name: np.array(x) for name, x in few.items()}
        for name in ("q", "v", "a", "tau"):
            ill[name][lane] = np.nan
        found = kernel(**ill)
        others = np.arange(width) != lane
        for name in NAMES:
            assert np.array_equal(found[name][others], healthy[name][others]), (name, lane)
            assert np.isnan(found[name][lane]).any(), (name, lane)


def test_a_masked_branch_of_nan_leaves_no_trace():
    """if_else is a select: 0 * NaN would be NaN."""
    p = Program("masked")
    x = p.input("x", 1)
    with p.block("only"):
        p.output("y", ca.if_else(x > 0, ca.sqrt(x), -x))
    y = compile_program(p)(x=np.array([[4.0], [-3.0], [0.0]]))["y"]
    assert np.array_equal(y.ravel(), [2.0, 3.0, 0.0])
