"""How many operations a law takes.

Oracle: counting by hand in the printed equations. [Marhefka1996] section 2 says of Hunt-Crossley
beside the linear law: "requiring only one extra multiplication to calculate contact forces". Counts
are integers, so there is no tolerance.
"""

from __future__ import annotations

import casadi as ca
import pytest

from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.tracing import trace_law
from heelstrike.ir.graph import graph
from heelstrike.ir.operations import Counts, count

X, V, K, B, LAMBDA = (ca.SX.sym(name) for name in ("x", "v", "k", "b", "lambda"))


def operations(expression):
    return count(graph(ca.vertcat(X, V, K, B, LAMBDA), expression).operations)


def test_the_papers_claim_as_its_equations_are_printed():
    """(6) takes one multiplication more than (3); factored, none."""
    linear = operations(B * V + K * X)
    printed = operations(LAMBDA * X * V + K * X)
    factored = operations((LAMBDA * V + K) * X)
    assert linear == factored == Counts(additions=1, multiplications=2)
    assert printed == Counts(additions=1, multiplications=3)


@pytest.mark.parametrize(
    ("law", "counts"),
    [
        (LinearSpring(damping="both"), Counts(additions=1, multiplications=2)),
        (LinearSpring(), Counts(additions=1, multiplications=2, choices=1)),
        # k d (1 + (3/2 alpha) d'): alpha is a run-time parameter, so 3/2 alpha is not folded
        (HuntCrossley(), Counts(additions=1, multiplications=4)),
        (HuntCrossley(n=1.5), Counts(additions=1, multiplications=4, functions=1)),
        (TimestepDamper(), Counts(additions=2, multiplications=3, choices=2)),
        # a select is written as two halves and their sum
        (PoissonSpring(), Counts(additions=1, multiplications=3, choices=4)),
    ],
)
def test_our_laws(law, counts):
    """As compiled, with every parameter a run-time input."""
    assert count(trace_law(law).graph.operations) == counts
