"""Closed loops as programs: bits, a GPU's kernel, derivatives, recordings, and what is refused.

Oracles: the scalar build for bits; differences of steps for derivatives; Pinocchio's tree for the
grouping of loops.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.dynamics.loops import constrained_roots, loops_of
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.constraints import Connect, JointCoupling
from heelstrike.robot.robot import WORLD
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.step import step_program
from tests import mechanisms
from tests.gpu_threads import LANES, same_bits


@pytest.fixture(scope="module")
def robot():
    return mechanisms.parallelogram(False)


@pytest.fixture(scope="module")
def standing(robot):
    """A leg of parallel links on its sole, under a servo."""
    q = robot.pose("zero")
    q[2], q[7:] = 0.07 + 0.3 * np.cos(0.3) - 1e-9, [0.3, -0.3, 0.3]
    servo = hs.Servo(kp={"front": 200.0}, kd={"front": 5.0}, reference=q)
    scene = hs.Scene(robot, hs.Plane(law=hs.Rigid()))
    sim = hs.Simulator(scene, dt=1e-3, control=servo)
    sim.reset(q0=q)
    return sim


def values_of(sim) -> dict[str, np.ndarray]:
    batch = sim.compiled.batch(())
    ports = (*batch.layout.inputs, *batch.layout.memory)
    return {port.name: batch.get(port.name)[0] for port in ports}


def test_bits_do_not_depend_on_lanes(standing):
    """Twenty worlds that land, eight at a time and each alone."""
    program, values = step_program(standing.plan, ["constraint_force"]), values_of(standing)
    rng = np.random.default_rng(0)
    many = {name: np.tile(x, (20, 1)) for name, x in values.items()}
    many["v"] = 0.3 * rng.normal(size=many["v"].shape)
    for dtype in ("float64", "float32"):
        wide = compile_program(program, width=8, dtype=dtype).batch(20)
        wide.set(**many)
        wide.run(30, 30)
        alone = compile_program(program, width=1, dtype=dtype, level=1).batch(20)
        alone.set(**many)
        alone.run(30, 30)
        for name in ("q", "v", "constraint_force"):
            np.testing.assert_array_equal(wide.get(name), alone.get(name), err_msg=name)


@pytest.mark.nightly
def test_a_gpu_kernel_has_the_same_bits(standing):
    """A warp per limb: loops of two limbs meet at a third one."""
    values = {name: np.tile(x, (LANES, 1)) for name, x in values_of(standing).items()}
    values["v"] = 0.2 * np.random.default_rng(1).normal(size=values["v"].shape)
    values["v"][:, 2] = -0.5
    record = ["q", "constraint_force", "constraint_error", "rounds"]
    ours, _ = same_bits(step_program(standing.plan, record), record, 6, "float32", **values)
    assert ours.output("rounds").max() > 1
    assert np.abs(ours.output("constraint_force")).max() > 1


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.nightly)])
def test_ptx_of_a_step(standing, dtype):
    assert ".entry" in make_ptx(standing.program, [], dtype).text


@pytest.mark.parametrize("law", [None, pytest.param(hs.Rigid(), marks=pytest.mark.nightly)])
def test_linearize_against_differences_of_steps(robot, standing, law):
    """In the air, along motions that open the loop too; standing by velocities: those by places
    have a kink where a point leaves the ground."""
    sim = standing
    if law is None:
        sim = hs.Simulator(hs.Scene(robot), dt=1e-3)
        sim.reset(q0=standing.start["q"])
    v0 = np.zeros(robot.nv) if law else 0.3 * np.random.default_rng(2).normal(size=robot.nv)
    q0 = sim.start["q"]
    if law:
        sim.run(0.5, q0=q0)  # it comes to rest
        q0, v0 = (np.array(sim.state[x]) for x in ("q", "v"))
    else:
        sim.reset(q0=q0, v0=v0)
    values = values_of(sim)
    exact = sim.linearize().state
    batch = compile_program(step_program(sim.plan, [], thorough=True), width=1).batch(1)

    def step(dq, dv):
        batch.set(**(values | {"q": pin.integrate(robot.model, q0, dq), "v": v0 + dv}))
        batch.run(1, 1)
        return batch.get("q")[0], batch.get("v")[0]

    h, nv, columns = 1e-7, robot.nv, []
    for k in range(nv if law else 0, 2 * nv):
        change = np.zeros(2 * nv)
        change[k] = h
        (q1, v1), (q2, v2) = step(*np.split(change, 2)), step(*np.split(-change, 2))
        moved = pin.difference(robot.model, q2, q1)
        columns.append(np.concatenate([moved, v1 - v2]) / (2 * h))
    expected = np.column_stack(columns)
    # velocities change by 1 / dt times a misclosure; rounding of a step over h
    exact = exact[:, -expected.shape[1] :]
    assert np.abs(exact - expected).max() < 1e-5 * np.abs(expected).max()


def test_recordings_name_constraints(standing, tmp_path):
    run = standing.run(0.01, q0=standing.start["q"])
    assert run.data.constraint.values.tolist() == ["pin"]
    assert run.data.constraint_row.values.tolist() == ["pin.x", "pin.y", "pin.z"]
    assert run.data.constraint_force.attrs["units"] == "N"
    run.save(tmp_path / "run.nc")
    again = hs.Recording.load(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.data.constraint_force, run.data.constraint_force)
    with pytest.raises(HeelstrikeError, match="ball has none"):
        hs.Simulator(hs.Scene(hs.load("ball"))).run(0.01, record=["constraint_force"])


def test_starts_are_closed_or_refused(standing, robot):
    q = standing.start["q"].copy()
    q[8] += 1e-4
    standing.reset(q0=q)
    moved = np.array(standing.state["q"])
    assert np.abs(moved[7:] - q[7:]).max() < 1e-4
    assert robot.constraints
    q[8] += 0.3
    with pytest.raises(HeelstrikeError, match=r"'pin' by 0.0\d+ most; .*robot.close\(q0\)"):
        standing.reset(q0=q)


def test_what_cannot_hold_constraints_is_refused(robot):
    with pytest.raises(HeelstrikeError, match=r'euler does not hold .* integrator="symplectic"'):
        hs.Simulator(hs.Scene(robot), integrator="euler")
    floor = hs.Plane(law=hs.Rigid(rule="paper"))
    with pytest.raises(HeelstrikeError, match="literal rules of papers do not hold"):
        hs.Simulator(hs.Scene(robot, floor))


def test_loops_meet_where_their_branches_do(robot):
    """A leg's own loop at its trunk; one with the world, and what shares its joints, there."""
    (own,) = loops_of(robot)
    assert own.meets == robot.body("trunk")
    assert own.joints == {robot.body(name) for name in ("front", "foot", "back")}
    assert constrained_roots(robot) == set()
    zero = np.zeros(3)
    held = robot.with_constraints(
        Connect("hold", robot.body("foot"), zero, WORLD, zero),
        JointCoupling("hinge", robot.body("back"), None, (0.0,)),
    )
    (whole,) = loops_of(held)
    assert whole.meets == WORLD
    assert whole.numbers == (0, 1, 2)
    assert constrained_roots(held) == {0}
    apart = replace(held, constraints=held.constraints[2:])
    (single,) = loops_of(apart)
    assert single.meets == robot.body("trunk")
    assert single.rows == 1
