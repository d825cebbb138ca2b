"""Reverse gradients of a step against central differences, and against forward directions.

Coupled laws are compared in copies of them that are solved to 1e-10, as Signorini's is: differences
of a step that ends at its usual limits are those of the limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.contact.surface_law import CouplingRule
from heelstrike.ir.adjoint import Adjoint
from heelstrike.ir.guard import guarded
from heelstrike.simulate.adjoint import DifferentiableStep
from tests import gpu, toppler
from tests.folding import balls

INPUTS = ["servo.q_ref", "ground.normal.k", "gravity"]
DISCRETE = ("clock", "joint friction, expected")
"""Memories of whole numbers."""
OPEN = ("contact field", "impulse memory", "peak_force", "peak_depth")
"""Memories of coupled laws from which the next solve starts, and on which its result does not
depend, since forces of redundant points are not unique; and peaks, which are bends at rest."""
HEAVY = hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.5), hs.Bristle())


def standing(law=None, worlds=2, steps=30, **options):
    """Return hoap1 on its feet after some steps, in worlds that are pushed differently."""
    robot = hs.load("hoap1", collide="feet")
    ground = hs.Plane(law or HEAVY, name="ground")
    scene = hs.Scene(robot, ground, self_contact=False, edges=False)
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=worlds, **options)
    v0 = np.zeros((worlds, robot.nv))
    v0[:, 0] = np.linspace(0.05, 0.4, worlds)
    sim.run(steps=steps, q0=robot.pose("stance"), v0=v0, record="final")
    return sim


def differences(f, x, u, w, columns, of_state, share):
    """Return the central differences of w . f along entries of x or u, (worlds, columns).

    Steps are this share of an entry.
    """
    found = []
    for j in columns:
        at = x if of_state else u
        step = share * max(1e-3 if of_state else 1.0, np.abs(at[:, j]).max())
        moved = np.zeros_like(at)
        moved[:, j] = step
        ends = [(x + s * moved, u) if of_state else (x, u + s * moved) for s in (1, -1)]
        high, low = ((w * f(*end)).sum(axis=1) for end in ends)
        found.append((high - low) / (2 * step))
    return np.array(found).T


def assert_gradients(sim, inputs, every=7, left_out=(), share=1e-6):
    """Compare gradients; memories that are left out are neither moved nor part of the loss."""
    f = DifferentiableStep(sim, inputs)
    x, u = f.state(sim), f.input_values(sim)
    own = {name: name not in left_out for name in f.sizes}
    w = np.random.default_rng(0).normal(size=x.shape)
    w *= np.concatenate([np.full(n, own[name]) for name, n in f.sizes.items()])
    by_state, by_input = f.pullback(x, u, f(x, u), w)
    moved = {name: known and name not in DISCRETE for name, known in own.items()}
    smooth = np.concatenate([np.full(n, moved[name]) for name, n in f.sizes.items()])
    for columns, gradient, of_state in (
        (np.flatnonzero(smooth)[::every], by_state, True),
        (np.arange(0, u.shape[1], every), by_input, False),
    ):
        expected = differences(f, x, u, w, columns, of_state, share)
        scale = np.abs(expected).max(axis=0) + 1e-6 * np.abs(expected).max()
        # of second order in the steps, of sums with rounding 1e-16 / share
        assert np.abs(expected).max() > 1e-3
        assert np.all(np.abs(gradient[:, columns] - expected) <= 1e-4 * scale)


def test_gradient_of_a_standing_robot():
    assert_gradients(standing(), INPUTS)


def test_gradient_with_motors_and_a_torque_limit_that_is_reached():
    motors = hs.Motors(stall_torque=3.0, no_load_speed=1.0, time_constant=2e-3, friction=0.05)
    sim = standing(motors=motors)
    # torques of dry friction are 100 times smaller than others, and lose as many digits in the sum
    assert_gradients(sim, ["servo.q_ref", "motors.stall_torque"], share=1e-5)


def test_gradient_on_a_height_field():
    robot = hs.load("ball")
    heights = np.random.default_rng(0).uniform(0, 0.05, (6, 6))
    ground = hs.HeightField(HEAVY, name="ground", heights=heights, size=(1.0, 1.0))
    sim = hs.Simulator(hs.Scene(robot, ground), worlds=3)
    q0 = robot.neutral + np.array([[0.03, 0.01, 0, 0, 0, 0, 0]]) * np.arange(3)[:, None]
    q0[:, 2] = 0.058  # some millimetres in the ground
    sim.run(steps=2, q0=q0, record="final", check=False)
    assert_gradients(sim, ["ground.scale", "ground.normal.k"], every=3)


@dataclass(frozen=True)
class Rigid(hs.Rigid):
    coupling: ClassVar = CouplingRule("exact")


@dataclass(frozen=True)
class MicroMacro(hs.MicroMacro):
    coupling: ClassVar = CouplingRule("exact")


@dataclass(frozen=True)
class FeedbackLinearized(hs.FeedbackLinearized):
    coupling: ClassVar = CouplingRule("exact")


@dataclass(frozen=True)
class Implicit(hs.Elastic):
    coupling: ClassVar = CouplingRule("exact")


DRY = hs.Coulomb(0.4, 0.4)
COUPLED = {
    "rigid": (Rigid(friction=DRY), "ground.friction.mu_k"),
    "signorini": (hs.Signorini(friction=DRY), "ground.friction.mu_k"),
    "micro-macro": (
        MicroMacro(thickness=1e-5, rigid=Rigid(friction=DRY)),
        "ground.membrane.normal.k",
    ),
    "feedback": (FeedbackLinearized(friction=DRY), "ground.friction.mu_k"),
    "implicit": (Implicit(hs.LinearSpring(k=2e4, c=200), DRY, implicit=True), "ground.normal.k"),
}


def coupled_states(sim):
    """Return 0, 1 or 2 of contacts that are apart, stick or slide, (worlds, points)."""
    return sim.compiled.batch().get("impulse memory")[:, 3::4]


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[] if x == "rigid" else pytest.mark.nightly) for x in COUPLED]
)
def test_gradient_of_a_box_that_sticks_and_one_that_slides(name):
    law, path = COUPLED[name]
    robot = toppler.robot()
    scene = hs.Scene(robot, hs.Plane(law, name="ground"), self_contact=False, edges=False)
    sim = hs.Simulator(scene, control=hs.Servo(), worlds=2)
    v0 = np.zeros((2, robot.nv))
    v0[:, [0, 1, 5, 6]] = [0, 0, 0, 0.3], [0.4, 0.2, 1.0, 0.3]
    inside = robot.pose("stance")
    inside[2] -= 5e-4  # on the surface itself a law has a bend
    sim.run(steps=20, q0=inside, v0=v0, record="final", check=False)
    assert 1 in coupled_states(sim)[0]
    assert 2 in coupled_states(sim)[1]
    assert_gradients(sim, ["servo.q_ref", path], every=2, left_out=OPEN)


@pytest.mark.nightly
@pytest.mark.parametrize("name", COUPLED)
def test_gradient_of_hoap1_under_coupled_laws(name):
    law, path = COUPLED[name]
    sim = standing(law)
    assert coupled_states(sim).any()
    # the solver ends at its tolerance: implicit's worst entry is off by 1.7e-4 with a share of 1e-6
    assert_gradients(sim, ["servo.q_ref", path], left_out=OPEN, share=1e-5)


@pytest.mark.parametrize(
    "law", [HEAVY, pytest.param(hs.Rigid(), marks=pytest.mark.nightly)], ids=["elastic", "rigid"]
)
def test_shapes_that_are_apart_change_no_gradient(law):
    """A robot as it is loaded beside one whose shapes cannot touch, bit for bit."""

    def gradients(**options):
        robot = hs.load("biped14")
        scene = hs.Scene(robot, hs.Plane(law, name="ground"), **options)
        sim = hs.Simulator(scene, control=hs.Servo())
        sim.run(steps=30, q0=sim.place(), record="final")
        f = DifferentiableStep(sim, ["servo.q_ref", "gravity"])
        x, u = f.state(sim), f.input_values(sim)
        motion = slice(1, 1 + robot.nq + robot.nv)
        w = np.zeros_like(x)
        w[:, motion] = np.random.default_rng(0).normal(size=robot.nq + robot.nv)
        by_state, by_input = f.pullback(x, u, f(x, u), w)
        return scene, by_state[:, motion], by_input

    usual, *found = gradients()
    alone, *expected = gradients(self_contact=False, edges=False)
    assert len(usual.shape_contact.pairs) == 19
    assert alone.shape_contact is None
    assert np.abs(expected[1]).max() > 1e-3
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("law", [HEAVY, hs.Rigid()], ids=["elastic", "rigid"])
def test_a_world_whose_shapes_touch_is_named(law, tmp_path):
    """A ball falls on another one: in world 0 it is 10 mm above, in world 1 0.1 mm inside."""
    robot = balls(tmp_path, "0 0 0.1", "0 0 0.3")
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law, name="ground")), worlds=2)
    f = DifferentiableStep(sim, ["gravity"])
    q0 = np.tile(sim.start["q"], (2, 1))
    q0[:, 9] = 0.3 + np.array([1e-2, -1e-4])
    v0 = np.zeros((2, robot.nv))
    v0[:, 8] = -0.1
    sim.reset(q0=q0, v0=v0)
    x, u = f.state(sim), f.input_values(sim)
    after = f(x, u)
    with pytest.raises(hs.HeelstrikeError, match="ball0 on ball1 touches in world 1"):
        f.pullback(x, u, after, np.ones_like(x))
    x[1] = x[0]
    fall = np.zeros_like(x)
    fall[:, f.sizes["clock"] + 9] = 1.0  # height of the upper ball, dt^2 g after a step
    _, by_gravity = f.pullback(x, u, f(x, u), fall)
    assert np.allclose(by_gravity, [0, 0, 1e-6], rtol=1e-12)


def test_gradient_over_steps_equals_forward_directions():
    """Of v after a step with respect to v before it, where linearize has a matrix."""
    sim = standing(worlds=1)
    f = DifferentiableStep(sim, ["servo.q_ref"])
    x, u = f.state(sim), f.input_values(sim)
    after, nv = f(x, u), sim.robot.nv
    first = f.sizes["clock"] + f.sizes["q"]
    forward = sim.linearize("servo.q_ref")
    for i in (0, 7, nv - 1):
        w = np.zeros_like(x)
        w[0, first + i] = 1.0
        by_state, by_input = f.pullback(x, u, after, w)
        row = forward.state[nv + i, nv:]
        assert np.allclose(by_state[0, first : first + nv], row, atol=1e-9 * np.abs(row).max())
        row = forward.inputs["servo.q_ref"][nv + i]
        assert np.allclose(by_input[0], row, atol=1e-9 * np.abs(row).max())


def test_gradients_may_have_no_parameters():
    """The height of a thrown ball after a step, whose slope by the velocity is dt."""
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()), worlds=2)
    f = DifferentiableStep(sim, [])
    x, u = f.state(sim), f.input_values(sim)
    x[:, f.sizes["clock"] + 2] = 1.0
    height = np.zeros_like(x)
    height[:, f.sizes["clock"] + 2] = 1.0
    by_state, by_input = f.pullback(x, u, f(x, u), height)
    vertical = f.sizes["clock"] + f.sizes["q"] + 2
    assert np.allclose(by_state[:, vertical], 1e-3, rtol=1e-12)
    assert u.shape == by_input.shape == (2, 0)


def test_adjoint_of_variables_in_guards():
    """x+ = x^3 where x > 0, else 5 x; the variable changes twice."""
    p = hs.Program("guarded")
    x = p.memory("x", 1)
    with p.block("start"):
        y = p.variable("y", 5 * x)
    with guarded(p, "cube", x > 0), p.block("cube"):
        p.assign(y, x**2)
    with guarded(p, "again", x > 0), p.block("again"):
        p.assign(y, y * x)
    with p.block("end"):
        p.update("x", y)
    adjoint = Adjoint(p, "gradient")
    adjoint.trace({"x": adjoint.program.input("w", 1)})
    with adjoint.program.block("out"):
        adjoint.program.output("slope", adjoint.of("x"))
    kernel = hs.compile_program(adjoint.program)
    at = np.array([[-2.0], [0.5], [3.0]])
    slopes = kernel(x=at, w=[2.0], clock=[0.0], failed=[-1.0])["slope"]
    assert np.allclose(slopes, 2 * np.where(at > 0, 3 * at**2, 5), rtol=1e-14)


@pytest.mark.parametrize(
    "law", [HEAVY, pytest.param(hs.Rigid(), marks=pytest.mark.nightly)], ids=["elastic", "rigid"]
)
def test_a_gpu_has_the_bits_of_a_cpu_in_float32(law, monkeypatch):
    """The program in PTX, run by the mock GPU of tests/gpu.py."""

    def gradients(device):
        robot = toppler.robot()
        scene = hs.Scene(robot, hs.Plane(law, name="ground"), self_contact=False, edges=False)
        options = {"device": device, "dtype": "float32", "worlds": 3}
        sim = hs.Simulator(scene, control=hs.Servo(), **options)
        v0 = np.zeros((3, robot.nv))
        v0[:, 0] = 0.0, 0.3, 0.6
        sim.reset(q0=robot.pose("stance"), v0=v0)
        sim.step(10)
        f = DifferentiableStep(sim, ["servo.q_ref", "gravity"])
        x, u = f.state(sim), f.input_values(sim)
        w = np.random.default_rng(2).normal(size=x.shape)
        return f.pullback(x, u, f(x, u), w)

    expected = gradients("cpu")
    gpu.install(monkeypatch)
    found = gradients("cuda")
    assert np.abs(expected[0]).max() > 0.1
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_what_has_no_reverse_sweep_is_refused():
    ball = hs.Scene(hs.load("ball"), hs.Plane(hs.Rigid(patch=hs.Patch())))
    with pytest.raises(hs.HeelstrikeError, match=r"sim\.linearize"):
        DifferentiableStep(hs.Simulator(ball), [])
    with pytest.raises(hs.UnknownNameError, match=r"servo\.q_ref"):
        DifferentiableStep(standing(), ["servo.qref"])
    f = DifferentiableStep(standing(), ["servo.q_ref"])
    with pytest.raises(hs.ParameterError, match=r"shape \(2, 109\)"):
        f(np.zeros(109), np.zeros((2, 26)))


def test_torch_descends_through_many_steps():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    sim = standing(steps=5)
    f = hs.adapters.torch_step(sim, ["servo.q_ref"])
    x = torch.tensor(f.step.state(sim))
    u = torch.tensor(f.step.input_values(sim), requires_grad=True)

    def loss(u, x=x):
        for _ in range(10):
            x = f(x, u)
        return x[:, 1:30].square().sum()

    value = loss(u)
    value.backward()
    moved = torch.zeros_like(u)
    moved[0, 9] = 1e-6
    with torch.no_grad():
        expected = (loss(u + moved) - loss(u - moved)) / 2e-6
    assert float(u.grad[0, 9]) == pytest.approx(float(expected), rel=1e-4)
    for wrong in (x.long(), x.numpy()):
        with pytest.raises(hs.ParameterError, match=r"x is an array of int64|of float64 of shape"):
            f(wrong, u)


def test_jax_has_the_same_gradient():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    sim = standing(steps=5)
    f = hs.adapters.jax_step(sim, ["servo.q_ref"])
    x, u = f.step.state(sim), f.step.input_values(sim)
    w = np.random.default_rng(1).normal(size=x.shape)
    by_x, by_u = jax.jit(jax.grad(lambda x, u: (w * f(x, u)).sum(), argnums=(0, 1)))(x, u)
    expected = f.step.pullback(x, u, f.step(x, u), w)
    assert np.allclose(by_x, expected[0])
    assert np.allclose(by_u, expected[1])
    with pytest.raises(hs.ParameterError, match=r"x is an array of int64 of shape \(2, 109\)"):
        f(x.astype(int), u)


def test_absent_packages_are_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "heelstrike.adapters.jax_gradient", raising=False)
    with pytest.raises(hs.HeelstrikeError, match=r"heelstrike\[jax\]"):
        hs.adapters.jax_step(None, [])
