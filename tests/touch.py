"""Laws on plain numbers, for tests."""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.contact.law import Contact, force_and_memory
from heelstrike.contact.surface_law import PointState


def normal(law, depth, rate=0.0, dt=1e-3):
    """f_n of the bare law, nothing clamped."""
    c = Contact(*map(ca.DM, (depth, rate, dt)), ca.DM(0, 1), ca.DM(2, 1), ca.DM(2, 1), ca.DM(0))
    return float(law.force(c))


def tangent(law, slip, normal_force=10.0, position=(0, 0), memory=()):
    """f_t of the bare law, and its next memory."""
    memory = ca.DM(list(memory) or [0] * law.memory_size)
    c = Contact(
        ca.DM(1e-3),
        ca.DM(0),
        ca.DM(1e-3),
        memory,
        ca.DM(slip),
        ca.DM(position),
        ca.DM(normal_force),
    )
    return tuple(np.array(x).ravel() for x in force_and_memory(law.force(c), memory))


def surface(law):
    """Elastic.force with numbers: (d, rate, slip, position, dt, memory) to a tuple of arrays."""
    sizes = (1, 1, 2, 2, 1, law.memory_size)
    symbols = [ca.SX.sym(f"x{i}", n) for i, n in enumerate(sizes)]
    d, rate, slip, position, dt, memory = symbols
    touch = law.force(PointState(d, rate, slip, position, dt, ca.SX(9.81), memory))
    f = ca.Function("touch", symbols, [touch.touching, touch.normal, touch.tangent, touch.memory])

    def touched(d, rate=0.0, slip=(0, 0), position=(0, 0), dt=1e-3, memory=None):
        memory = np.zeros(law.memory_size) if memory is None else memory
        values = f(d, rate, slip, position, dt, memory)
        return tuple(np.array(x).ravel() for x in values)

    return touched
