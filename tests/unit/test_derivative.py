"""Directional derivatives against central differences of the same program.

A central difference with step h errs by h^2 f'''/6 and by eps/h: 1e-6 gives nine digits at best.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from heelstrike.errors import ProgramError
from heelstrike.ir.derivative import Derivative
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.robot import load
from heelstrike.robot.convert import from_pinocchio
from heelstrike.runtime.compiler import compile_program
from heelstrike.simulate.linearize import Linearizer
from tests.flight import flight
from tests.models import random_tree

SX = ca.SX
RNG = np.random.default_rng(5)
STEP = 1e-6


def everything() -> Program:
    """Memory through a loop until done and a counted loop with constants, both kinds of tables."""
    p = Program("everything")
    x, k = p.memory("x", 2), p.input("k", 1)
    anchor = p.memory("anchor", 3)
    value, slope = table(p, "curve", 6, 2).at(2 + x[0])
    height, tilt = table(p, "field", 5, 6).at2(2 + x[1], 2 + x[0])
    with repeated(p, "newton", limit=30) as loop:
        y = loop.carry("y", SX(1))
        with p.block("newton"):
            new = p.let("y", y - (y**3 + y - x[0] - k) / (3 * y**2 + 1))
            loop.next(y, new)
            loop.until(ca.fabs(new - y) < 1e-14)
    with counted(p, "points", 3) as loop:
        lever = loop.constants(np.array([[1.0], [2.0], [-0.5]]))
        anchors = loop.carry("anchors", anchor)
        total, last = loop.carry("total", SX(0)), loop.carry("last", SX(0))
        with p.block("push"):
            push = p.let("push", ca.sin(lever * x[0]) + anchors[0] * x[1])
            loop.next(anchors, ca.vertcat(anchors[1:], anchors[0] + 0.1 * push))
            loop.next(last, push)
            loop.next(total, total + push**2)
    with p.block("step"):
        p.update("anchor", anchors)
        first = x[0] + 0.1 * (y + k * total + value[0] * slope[1] + height)
        p.update("x", ca.vertcat(first, x[1] * last + tilt[0] * tilt[1] + k * value[1]))
        p.output("unused", total)
    return p


def test_every_kind_of_item():
    p = everything()
    d = Derivative(p, "slope")
    sizes = {"x": 2, "anchor": 3, "k": 1}
    for name, size in sizes.items():
        d.seed(name, d.program.input(f"direction of {name}", size))
    d.trace()
    with d.program.block("out"):
        for name in ("x", "anchor"):
            d.program.output(f"change of {name}", d.next_tangent(name))
    slope, step = compile_program(d.program), compile_program(p, outputs=[])
    tables = {"curve": RNG.normal(size=(6, 2)), "field": RNG.normal(size=(5, 6))}
    point = {"x": np.array([0.3, -0.4]), "anchor": RNG.normal(size=3), "k": np.array([0.7])}

    def after(**at):
        batch = step.batch(1)
        batch.set(**at, **tables)
        batch.run()
        return np.r_[batch.get("x")[0], batch.get("anchor")[0]]

    for _ in range(5):
        direction = {name: RNG.normal(size=size) for name, size in sizes.items()}
        plus, minus = (
            after(**{n: point[n] + s * STEP * direction[n] for n in sizes}) for s in (1, -1)
        )
        out = slope(
            **point,
            clock=[0.0],
            failed=[-1.0],
            **tables,
            **{f"direction of {name}": x for name, x in direction.items()},
        )
        found = np.r_[out["change of x"], out["change of anchor"]]
        assert np.allclose(found, (plus - minus) / (2 * STEP), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["hoap1", "tree with every joint"])
def test_linearized_flight(name):
    """A and B of a servo-driven step, on the tangent space: quaternions move on their sphere."""
    robot = load("hoap1", collide="feet") if name == "hoap1" else from_pinocchio(random_tree(2))
    nv, program = robot.nv, flight(robot)
    inputs = ("servo.q_ref", "servo.kp", "dt")
    slopes = Linearizer(robot, program, inputs)
    rng = np.random.default_rng(1)
    q, v = move(robot, robot.neutral, rng.normal(size=nv)), rng.normal(size=nv)
    values = {"dt": np.array([2e-3]), "gravity": np.array([0.0, 0.0, -9.81])}
    values |= {"servo.kp": np.full(nv, 50.0), "servo.kd": np.full(nv, 2.0)}
    values["servo.q_ref"] = rng.normal(size=nv)
    found = slopes(q=q, v=v, **values)
    step = compile_program(program)
    n = 2 * nv + sum(slopes.inputs.values())
    start = [(q, v, values)]
    for s in (1, -1):
        for i in range(n):
            part = s * STEP * np.eye(n)[i]
            moved = dict(values)
            place = 2 * nv
            for key, size in slopes.inputs.items():
                moved[key] = values[key] + part[place : place + size]
                place += size
            start.append((move(robot, q, part[:nv]), v + part[nv : 2 * nv], moved))
    batch = step.batch(len(start))
    batch.set(q=np.array([x[0] for x in start]), v=np.array([x[1] for x in start]))
    batch.set(**{key: np.array([x[2][key] for x in start]) for key in values})
    batch.run()
    ends_q, ends_v = batch.get("q"), batch.get("v")
    columns = [
        np.r_[
            difference(robot, ends_q[1 + n + i], ends_q[1 + i]), ends_v[1 + i] - ends_v[1 + n + i]
        ]
        / (2 * STEP)
        for i in range(n)
    ]
    expected = np.array(columns).T
    ours = np.hstack([found.state, *(found.inputs[key] for key in inputs)])
    scale = np.abs(expected).max()
    assert np.abs(ours - expected).max() < 1e-7 * scale


def move(robot, q, dq):
    return pin.integrate(robot.model, q, dq)


def difference(robot, a, b):
    """Return Pinocchio's difference, except for plane angles, where it rounds 1e-6 rad to 0."""
    d = pin.difference(robot.model, a, b)
    for joint in robot.joints:
        if joint.kind in ("continuous", "planar"):
            k, i = joint.iq + joint.nq - 2, joint.iv + joint.nv - 1
            (c, s), (cb, sb) = a[k : k + 2], b[k : k + 2]
            d[i] = np.arctan2(c * sb - s * cb, c * cb + s * sb)
    return d


def test_misuse_is_a_sentence():
    d = Derivative(everything(), "slope")
    with pytest.raises(ProgramError, match="the direction of 'x' has 1 values; allowed: 2"):
        d.seed("x", SX(1))
    with pytest.raises(ProgramError, match="no memory or input 'z'"):
        d.symbol("z")
