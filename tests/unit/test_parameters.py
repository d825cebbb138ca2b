"""Parameters by path, copies with other values, and what decides over compiled code.

Oracle: the paths and values as the laws' fields spell them; for structure, that two laws have the
same one exactly when their traced operations and clamps are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
import pytest

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import (
    check_numbers,
    parameters,
    static,
    structure,
    with_values,
)
from heelstrike.runtime.key import digest

SURFACE = Elastic(TimestepDamper(LinearSpring(k=5512, c=158)), Kinetic(mu=0.4))


def test_paths():
    """A parameter's path is the way to it; exponents and choices have none."""
    found = parameters(SURFACE, "ground.")
    assert {path: value.tolist() for path, value in found.items()} == {
        "ground.normal.law.k": [5512.0],
        "ground.normal.law.c": [158.0],
        "ground.friction.mu": [0.4],
        "ground.friction.epsilon": [1e-3],
    }
    assert set(parameters(HuntCrossley())) == {"k", "alpha"}
    assert set(parameters(HuntCrossley(alpha_restitution=0))) == {"k", "alpha", "alpha_restitution"}
    assert set(parameters(Elastic(PoissonSpring(), None))) == {"normal.k", "normal.e"}


def test_with_values():
    """A copy with numbers or symbols in place; the original and the rest stay."""
    k = ca.SX.sym("k")
    other = with_values(SURFACE, {"normal.law.k": k, "friction.mu": 0.5})
    assert other.normal.law.k is k
    assert other.friction == Kinetic(mu=0.5)
    assert other.normal.law.c == 158
    assert SURFACE.normal.law.k == 5512
    with pytest.raises(HeelstrikeError, match=r"mu is -1\.0"):
        with_values(SURFACE, {"friction.mu": -1.0})


def test_structure_is_blind_to_parameters():
    """Stiffer ground is the same code."""
    for one, other in [
        (LinearSpring(k=1), LinearSpring(k=2)),
        (HuntCrossley(alpha_restitution=0.1), HuntCrossley(alpha_restitution=0.2)),
        (Elastic(friction=Bristle(k_t=1e3)), Elastic(friction=Bristle(k_t=1e4))),
    ]:
        assert digest(structure(one)) == digest(structure(other))


def test_structure_sees_choices():
    """Everything else is other code."""
    different = [
        LinearSpring(),
        LinearSpring(damping="both"),
        LinearSpring(damping="both", adhesive=True),
        HuntCrossley(),
        HuntCrossley(n=1.5),
        HuntCrossley(alpha_restitution=0.2),
        PoissonSpring(),
        TimestepDamper(PoissonSpring()),
        TimestepDamper(),
        Kinetic(),
        Bristle(),
        Elastic(),
        Elastic(friction=None),
        Elastic(friction=Kinetic()),
        Elastic(PoissonSpring()),
    ]
    assert len({digest(structure(law)) for law in different}) == len(different)


def soft(power):
    """A law class by a user, who edits its body and not its name."""

    @dataclass(frozen=True)
    class Soft(NormalLaw):
        k: float = 1e4

        def force(self, c):
            return self.k * c.depth**power

    return Soft()


def test_structure_sees_the_body_of_a_users_class():
    """The same class name with another equation is other code."""
    assert digest(structure(soft(1.5))) == digest(structure(soft(1.5)))
    assert digest(structure(soft(1.5))) != digest(structure(soft(2.5)))


@dataclass(frozen=True)
class Node:
    """Something with parameters that is no law."""

    gains: np.ndarray = field(default_factory=lambda: np.array([1.0, 2.0]))
    limit: float | None = None
    order: int = static(2)
    name: str = "arm"

    def __post_init__(self):
        check_numbers(self, gains=(0, 10), limit=(0, 5))


def test_vectors_and_none():
    """A vector is one parameter; None is none, and part of the code."""
    assert parameters(Node())["gains"].tolist() == [1, 2]
    assert set(parameters(Node(limit=3))) == {"gains", "limit"}
    kinds = [Node(), Node(limit=3), Node(order=3), Node(name="leg"), Node(gains=np.ones(3))]
    assert len({digest(structure(node)) for node in kinds}) == len(kinds)
    assert digest(structure(Node(limit=1))) == digest(structure(Node(limit=2)))
    with pytest.raises(HeelstrikeError, match=r"Node: gains is \[1.0, 11.0\]; allowed: 0 to 10"):
        Node(gains=np.array([1.0, 11.0]))
    with pytest.raises(HeelstrikeError, match="limit is 'high'; allowed: a number"):
        Node(limit="high")
