"""Random programs of variables, guards, loops and memory.

Oracle: the program without memory, compiled for one lane with its guards, which does everything in
the order in which it is written. Other lane widths, no guards, smaller functions, and the program
with memory, whose outputs are a phase of their own, must have the same bits.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen import calls, llvm
from heelstrike.codegen.cpu import object_code
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.real import FLOAT64
from heelstrike.ir.guard import guarded, reopened
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.program import Program
from heelstrike.runtime.kernel import Kernel

WORLDS = 11


class Writer:
    """Writes a random program; the same one for a seed, with memory or with an input."""

    def __init__(self, seed, memory):
        self.rng = np.random.default_rng(seed)
        self.p = p = Program("random")
        x = p.memory("x", 3) if memory else p.input("x", 3)
        self.number = 0
        self.closed = []
        lets, variables = self.statements(ca.vertsplit(x), [], self.some(4, 14), 0, True)
        values = lets + variables
        with p.block("end"):
            end = [ca.fmax(-5, ca.fmin(5, self.expression(values))) for _ in range(3)]
            if memory:
                p.update("x", ca.vertcat(*end))
            p.output("end", ca.vertcat(*end))
            for v in variables:
                p.output(self.name(), v)

    def some(self, low, high):
        return int(self.rng.integers(low, high))

    def name(self):
        self.number += 1
        return f"n{self.number}"

    def expression(self, values):
        a, b, c = (values[self.some(0, len(values))] for _ in range(3))
        forms = [
            lambda: a + b * c * 0.3,
            lambda: ca.sin(a) - b,
            lambda: ca.if_else(a < b, c, a),
            lambda: 0.5 * a,
            lambda: ca.cos(a) * b,
            lambda: ca.fmin(ca.fmax(a, -3), 3),
        ]
        return forms[self.some(0, len(forms))]()

    def statements(self, lets, variables, count, depth, outside):
        """Write statements; return the lets and variables that exist after them."""
        lets, variables, known = list(lets), list(variables), len(self.closed)
        for _ in range(count):
            kind = self.some(0, 13) if depth < 3 else 0
            if kind < 6:
                self.block(lets, variables, outside)
            elif kind == 10:
                self.similar_guards(lets, variables)
            elif kind < 8:
                self.guard(lets, variables, depth)
            elif kind > 10:
                self.again(lets, variables, depth)
            elif kind < 9:
                with counted(self.p, self.name(), self.some(1, 4)) as loop:
                    carried, inner = self.round(loop, lets, variables, depth)
                # all lanes make the same last round, unless a loop or a guard is around it
                lets += inner if outside else carried
            else:
                with repeated(self.p, self.name(), self.some(2, 9)) as loop:
                    carried, _ = self.round(loop, lets, variables, depth)
                lets += [*carried, loop.rounds]
        del self.closed[known:]
        return lets, variables

    def guard(self, lets, variables, depth):
        """Write a guard with a result, which may be reopened until the scope around it ends."""
        values = lets + variables
        need = self.expression(values) > self.expression(values)
        with guarded(self.p, self.name(), need) as guard:
            inner = self.statements(lets, variables, self.some(1, 5), depth + 1, False)
            left = self.result(guard, inner[0] + inner[1])
        self.closed.append((guard, *inner))
        variables.append(left)

    def again(self, lets, variables, depth):
        """Reopen a guard, or write one within it, which read what was made in it."""
        if not self.closed:
            return
        guard, own, changing = self.closed[self.some(0, len(self.closed))]
        known = [*lets, *own], [*variables, *changing]
        if self.some(0, 2):
            scope = reopened(self.p, guard)
        else:
            scope = guarded(
                self.p, self.name(), self.expression(lets + variables) > 0, within=guard
            )
        with scope as guard:
            inner = self.statements(*known, self.some(1, 4), depth + 1, False)
            left = self.result(guard, inner[0] + inner[1])
        variables.append(left)

    def result(self, guard, values):
        with self.p.block(self.name(), **self.tag()):
            return guard.leave(self.name(), self.expression(values), self.some(0, 2))

    def tag(self):
        """Return a random tag of a block."""
        return {"member": [None, 0, 1][self.some(0, 3)]}

    def block(self, lets, variables, outside):
        values = lets + variables
        with self.p.block(self.name(), **self.tag()):
            for _ in range(self.some(1, 4)):
                kind = self.some(0, 6)
                if kind == 0:
                    variables.append(self.p.variable(self.name(), self.expression(values)))
                elif kind < 4 and variables:
                    target = variables[self.some(0, len(variables))]
                    self.p.assign(target, self.expression(values))
                elif kind == 4 and outside:
                    self.p.output(self.name(), self.expression(values))
                else:
                    lets.append(self.p.let(self.name(), self.expression(values)))

    def similar_guards(self, lets, variables):
        """Write guards of the same form, each with its own choice of variables."""
        rng, seed = self.rng, self.some(0, 1 << 30)
        for k in range(len(variables)):
            own = variables[k:] + variables[:k]
            self.rng = np.random.default_rng(seed)
            chosen = own[: self.some(1, 3)] + lets[: self.some(0, 2)]
            with guarded(self.p, self.name(), self.expression(chosen) > 0):
                with self.p.block("similar", member=k):
                    inner = self.p.let(self.name(), self.expression(chosen))
                with self.p.block("more", member=k):
                    self.p.assign(own[0], self.expression([inner, *chosen]))
        self.rng = rng

    def round(self, loop, lets, variables, depth):
        """Write a loop's body; return what it carries, and that with the lets of a round."""
        values = lets + variables
        carried = [loop.carry(self.name(), self.expression(values)) for _ in range(self.some(0, 3))]
        inner, _ = self.statements(lets + carried, variables, self.some(1, 4), depth + 1, False)
        with self.p.block(self.name()):
            for value in carried:
                loop.next(value, self.expression(values + carried))
            if loop.rounds is not None:
                more = values + carried
                loop.until(self.expression(more) > self.expression(more))
        return carried, inner[len(lets) :]


def compiled(traced, width, guards):
    module = llvm.emit(traced, width, FLOAT64, guards=guards)
    layout = Layout.of(traced, module.width, FLOAT64, module.frame_size)
    return Kernel(layout, object_code(module, 1))


def check(seed, monkeypatch):
    monkeypatch.setattr(calls, "FUNCTION_SIZE", [5, 20, 60, 1500][seed % 4])
    x = np.random.default_rng([seed, 1]).normal(size=(WORLDS, 3))
    plain, stepped = Writer(seed, memory=False).p, Writer(seed, memory=True).p
    expected = compiled(plain.trace(), 1, True)(x=x)
    for width, guards in ((1, False), (4, True), (8, False)):
        found = compiled(plain.trace(), width, guards)(x=x)
        for name, value in expected.items():
            assert np.array_equal(found[name], value), (name, width, guards)
    names = list(expected)
    for outputs in (names, [names[seed % len(names)]]):
        traced = stepped.trace(outputs)
        for width, guards in ((1, True), (8, True), (4, False)):
            batch = compiled(traced, width, guards).batch(WORLDS)
            batch.set(x=x)
            batch.run(steps=1)
            assert np.array_equal(batch.get("x"), expected["end"]), (width, guards)
            for name in outputs:
                assert np.array_equal(batch.output(name)[:, 0], expected[name]), (name, width)


@pytest.mark.parametrize("seed", range(6))
def test_bits_of_random_programs(seed, monkeypatch):
    check(seed, monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6, 300))
def test_bits_of_more_random_programs(seed, monkeypatch):
    check(seed, monkeypatch)
