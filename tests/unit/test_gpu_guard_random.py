"""Random programs of variables, guards and loops with limbs: a warp per limb has the CPU's bits."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.cuda import apart, called, groups, level, limb_kernel, planner
from heelstrike.codegen.cuda.groups import LITTLE_WORK
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.ir.guard import guarded, reopened
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.table import table
from tests.gpu_threads import LANES, same_bits
from tests.unit.test_guard_random import Writer

LIMBS = ("left", "right", "trunk")
HEIGHTS = np.random.default_rng(3).normal(size=(5, 2))
"""A table of two columns."""


class LimbWriter(Writer):
    """Writes random programs whose blocks have limbs; some guards have none."""

    def __init__(self, seed, memory):
        self.loose = False
        """Whether blocks belong to no limb: such guards, counted loops and look-ups are called."""
        self.table = None
        super().__init__(seed, memory)

    def statements(self, lets, variables, count, depth, outside):
        lets, variables, known = list(lets), list(variables), len(self.closed)
        for _ in range(count):
            kind = self.some(0, 18) if depth < 3 else 0
            if kind > 13:
                self.called(kind, lets, variables, depth, outside)
                continue
            if kind < 7:
                self.block(lets, variables, outside)
            elif kind < 9:
                self.similar_guards(lets, variables)
            elif kind < 11:
                self.guard(lets, variables, depth)
            elif kind < 13:
                self.again(lets, variables, depth)
            else:
                with repeated(self.p, self.name(), self.some(2, 14)) as loop:
                    carried, _ = self.round(loop, lets, variables, depth)
                lets += [*carried, loop.rounds]
        del self.closed[known:]
        return lets, variables

    def called(self, kind, lets, variables, depth, outside):
        """Write a look-up, a counted loop, or a guard of blocks that belong to no limb."""
        if kind == 14:
            if self.table is None:
                self.table = table(self.p, "heights", len(HEIGHTS), HEIGHTS.shape[1])
            with self.p.block(self.name(), **self.tag()):
                u = self.p.let(self.name(), self.expression(lets + variables))
            value, slope = self.table.at(u)
            lets += [*ca.vertsplit(value), *ca.vertsplit(slope)]
        elif kind == 15:
            with counted(self.p, self.name(), self.some(1, 4)) as loop:
                carried, inner = self.round(loop, lets, variables, depth)
            lets += inner if outside else carried
        else:
            before, self.loose = self.loose, True
            self.guard(lets, variables, depth)
            self.loose = before
            if kind == 17 and depth == 0:
                self.remember()

    def remember(self):
        """Update a memory within the last guard."""
        guard, lets, variables = self.closed[-1]
        name = self.name()
        old = self.p.memory(name, 2)
        with reopened(self.p, guard), self.p.block(self.name(), **self.tag()):
            new = [self.expression([*lets, *variables, old[k]]) for k in range(2)]
            self.p.update_within(name, 0, ca.fmax(-5, ca.fmin(5, ca.vertcat(*new))))

    def tag(self):
        return {"limb": None if self.loose else [*LIMBS, None][self.some(0, 4)]}

    def similar_guards(self, lets, variables):
        """Write guards of the same form for both sides, each with its own variables."""
        rng, seed, p = self.rng, self.some(0, 1 << 30), self.p
        for k, limb in enumerate(LIMBS[: min(2, len(variables))]):
            own = variables[k:] + variables[:k]
            self.rng = np.random.default_rng(seed)
            chosen = own[: self.some(1, 3)] + lets[: self.some(0, 2)]
            with guarded(p, self.name(), self.expression(chosen) > 0):
                with p.block("similar", limb=limb):
                    inner = p.let(self.name(), self.expression(chosen))
                with p.block("more", limb=limb):
                    p.assign(own[0], self.expression([inner, *chosen]))
        self.rng = rng


def check(seed, monkeypatch):
    """Compare the bits of a program; return whether it can be spread over warps."""
    monkeypatch.setattr(level, "MIN_GUARDED", [0, 10][seed % 2])
    monkeypatch.setattr(apart, "MIN_APART", [0, 20][seed // 4 % 2])
    monkeypatch.setattr(groups, "LITTLE_WORK", [0, LITTLE_WORK][seed // 8 % 2])
    for module in (apart, planner, limb_kernel):
        monkeypatch.setattr(module, "MAX_REGISTER_CELLS", [255, 0][seed // 2 % 2])
    monkeypatch.setattr(called, "MIN_CALLED", [0, 20, 300][seed % 3])
    program = LimbWriter(seed, memory=True).p
    names = list(program.outputs)[: seed % 3]
    if schedule(program.trace(names), 8, few=True) is None:
        return False
    x = np.random.default_rng([seed, 1]).normal(size=(LANES, 3))
    same_bits(program, names, 3, x=x, **({"heights": HEIGHTS} if program.tables else {}))
    return True


def test_bits_of_random_programs(monkeypatch):
    assert sum(check(seed, monkeypatch) for seed in range(40, 70)) >= 10


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(70, 370, 30))
def test_bits_of_more_random_programs(first, monkeypatch):
    assert any(check(seed, monkeypatch) for seed in range(first, first + 30))
