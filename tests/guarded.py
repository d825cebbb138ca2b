"""A program with limbs whose rounds change variables under guards, for tests of a GPU's kernel.

It is shaped like a solver on a robot's tree: a trunk with arms and legs that are chains of joints.
Each round makes trial values, judges them over all limbs, factors the limbs that changed, and
solves inward and outward. The numbers mean nothing, but every value goes the way it would there.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import Loop, repeated
from heelstrike.ir.program import Program

SX = ca.SX
LIMBS = {"left leg": 4, "right leg": 4, "left arm": 5, "right arm": 5}
"""Joints of each limb; the trunk has one more."""
JOINTS = sum(LIMBS.values()) + 1
SPANS = {
    limb: range(sum(list(LIMBS.values())[:k]), sum(list(LIMBS.values())[: k + 1]))
    for k, limb in enumerate(LIMBS)
}
ROUNDS = 40


class GuardedSweep:
    """The program under construction: its variables, by joint or by limb."""

    def __init__(self) -> None:
        self.p = p = Program("guarded_sweep")
        self.x = p.memory("x", JOINTS, 0.3)
        self.v, self.count = p.memory("v", JOINTS), p.memory("count", 1)
        self.target, self.stiffness = p.input("target", JOINTS), p.input("stiffness", 1)
        self.a: dict[int, SX] = {}
        self.da: dict[int, SX] = {}
        self.slope: dict[int, SX] = {}
        self.pivot: dict[int, SX] = {}
        self.handed: dict[str, SX] = {}
        self.bias: dict[str, SX] = {}

    def build(self) -> Program:
        p = self.p
        for limb, span in SPANS.items():
            with p.block("begin", limb=limb):
                for i in span:
                    self._declare(i)
                self.handed[limb] = p.variable("handed", self._inward(span, {})[0])
        with p.block("begin", limb="trunk"):
            self._declare(JOINTS - 1)
            shift = p.variable("shift", SX(1))
            count = p.variable("count", SX(0))
        with repeated(p, "newton", ROUNDS) as loop:
            self._round(loop, shift, count)
        for limb, span in {**SPANS, "trunk": range(JOINTS - 1, JOINTS)}.items():
            with p.block("integrate", limb=limb):
                for i in span:
                    v = p.let("v", 0.9 * self.v[i] + 0.01 * self.a[i])
                    p.update_part("v", i, v)
                    p.update_part("x", i, self.x[i] + 0.01 * v)
        with p.block("count", limb="trunk"):
            p.update("count", self.count + count)
        with p.block("record"):
            assert loop.rounds is not None
            p.output("rounds", loop.rounds)
            p.output("a", ca.vertcat(*(self.a[i] for i in range(JOINTS))))
        return p

    def _declare(self, i: int) -> None:
        p = self.p
        self.a[i] = p.variable("a", 0.5 * (self.target[i] - self.x[i]))
        self.da[i] = p.variable("da", ca.sin(self.x[i]))
        self.slope[i] = p.variable("slope", self.stiffness)
        self.pivot[i] = p.variable("pivot", 1 / (2 + self.stiffness + self.x[i] ** 2))

    def _inward(self, span: range, pivots: dict[int, SX]) -> tuple[SX, dict[int, SX]]:
        """Return what a limb hands to the trunk, and its new pivots."""
        inertia, found = SX(1), {}
        for i in reversed(span):
            d = inertia + 2 + self.slope.get(i, self.stiffness) + ca.cos(self.x[i]) ** 2
            found[i] = 1 / d
            inertia = 1 + inertia - 0.5 * inertia * inertia * pivots.get(i, found[i])
            inertia = ca.sqrt(1 + inertia**2) + 0.1 * ca.sin(inertia + self.x[i])
        return inertia, found

    def _round(self, loop: Loop, shift: SX, count: SX) -> None:
        p, limbs = self.p, {**SPANS, "trunk": range(JOINTS - 1, JOINTS)}
        rho, changed, facts = {}, {}, []
        for limb, span in limbs.items():
            for i in span:
                with p.block("trial", limb=limb, member=i):
                    now = p.let("now", self.a[i] + shift * self.da[i])
                    rest = self.target[i] - now - 0.2 * now**3 - self.x[i]
                    rho[i] = p.let("rho", rest)
                    steep = ca.if_else(ca.fabs(now) > 0.4, 2 * self.stiffness, self.stiffness)
                    changed[i] = p.let("changed", steep != self.slope[i])
                    p.assign(self.slope[i], steep)
                    p.assign(self.a[i], now)
            with p.block("facts", limb=limb):
                own = ca.vertcat(*(ca.fabs(rho[i]) for i in span))
                facts.append(p.let("size", ca.mmax(own)))
        with p.block("judged"):
            size = p.let("size", ca.mmax(ca.vertcat(*facts)))
            goes = p.let("goes", size > 0.03)
            p.assign(shift, ca.if_else(size > 1, 0.5, 1))
            loop.until(ca.logic_not(goes))
        with guarded(p, "direction", goes):
            self._direction(rho, changed, count)

    def _direction(self, rho: dict[int, SX], changed: dict[int, SX], count: SX) -> None:
        p = self.p
        for limb, span in SPANS.items():
            with p.block("need", limb=limb):
                need = p.let("need", ca.mmax(ca.vertcat(*(changed[i] for i in span))))
            with guarded(p, f"factor of {limb}", need), p.block("factor", limb=limb):
                handed, pivots = self._inward(span, self.pivot)
                p.assign(self.handed[limb], handed)
                for i, pivot in pivots.items():
                    p.assign(self.pivot[i], pivot)
        for limb, span in SPANS.items():
            with p.block("inward", limb=limb):
                bias = SX(0)
                for i in reversed(span):
                    bias = 0.3 * bias + self.pivot[i] * (rho[i] - 0.1 * bias)
                self.bias[limb] = p.let("bias", bias)
        with p.block("solve", limb="trunk"):
            d = 2 + sum(self.handed.values(), SX(0)) + self.slope[JOINTS - 1]
            moved = 3 * (rho[JOINTS - 1] + 0.1 * sum(self.bias.values(), SX(0))) / d
            moved = p.let("moved", moved)
            p.assign(count, count + 1)
            p.assign(self.da[JOINTS - 1], moved)
        for limb, span in SPANS.items():
            with p.block("outward", limb=limb):
                outer, found = moved, {}
                for i in span:
                    found[i] = 3 * self.pivot[i] * (rho[i] - 0.2 * outer)
                    outer = 0.5 * outer + 0.1 * ca.sin(found[i])
                found = {i: p.let("da", x) for i, x in found.items()}
            for i in span:
                with p.block("direction", limb=limb, member=i):
                    p.assign(self.da[i], found[i] + 0.01 * ca.tanh(found[i]))


def guarded_sweep() -> Program:
    """Return the program."""
    return GuardedSweep().build()


def guarded_values(worlds: int) -> dict[str, np.ndarray]:
    """Return values for it with which worlds make different rounds, and change different limbs."""
    rng = np.random.default_rng(5)
    return {
        "target": rng.normal(size=(worlds, JOINTS)) * rng.uniform(0, 1, (worlds, 1)),
        "stiffness": np.array([0.7]),
        "x": rng.normal(size=(worlds, JOINTS)),
    }
