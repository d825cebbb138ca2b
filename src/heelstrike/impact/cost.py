"""Operations of the three schemes, as [Tsujita2009] counts them and as our programs have them.

    C1 = {47/3 n^3 + 63 n^2 + 509/2 n + 88 + 6 sum n_i^2 + 18 n_k} T_i          scheme (a)     (18)
    C2 = {47/3 n^3 + 63 n^2 + 242 n + 73 + 6 sum n_i^2 + 18 n_k}
         + (2 n^2 + 25 n - 6) T_i                                               scheme (b)     (20)
    C3 = (373 n - 371) T_i                                        articulated bodies           (22)
    T_i = t_total / t_s                                                                        (19)

C_r1 = C2 / C1 (21), C_r3 = C2 / C3 (23). (22) is printed without T_i, which the text's "about 1/4"
needs. Integration is not counted in theirs; in ours it is, one evaluation a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.dynamics.quantities import quantities
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.full_inertia import full_inertia_program
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.krylov import krylov_program
from heelstrike.impact.simplified import Plan, simplified_program
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot

KEPT = ("m_a", "j", "inverse", "base_yield")
"""Results of steps 1b and 2b that later steps need."""


@dataclass(frozen=True)
class Cost:
    """Additions, multiplications and divisions of each scheme for a number of steps."""

    anew: Fraction
    """Scheme (a), C1."""
    kept: Fraction
    """Scheme (b), C2."""
    articulated: Fraction
    """C3, with T_i."""

    @property
    def ratio_1(self) -> float:
        """C_r1 of (21)."""
        return float(self.kept / self.anew)

    @property
    def ratio_3(self) -> float:
        """C_r3 of (23)."""
        return float(self.kept / self.articulated)


def printed(n: int, arms: Sequence[Fraction | int], colliding: Fraction | int, steps: int) -> Cost:
    """Return the paper's counts; `arms` are n_i, `colliding` is n_k."""
    common = Fraction(47, 3) * n**3 + 63 * n**2
    split = 6 * sum(Fraction(a) ** 2 for a in arms) + 18 * Fraction(colliding)
    return Cost(
        anew=(common + Fraction(509, 2) * n + 88 + split) * steps,
        kept=common + 242 * n + 73 + split + (2 * n**2 + 25 * n - 6) * Fraction(steps),
        articulated=Fraction((373 * n - 371) * steps),
    )


@dataclass(frozen=True)
class OperationCounts:
    """Operations of our own programs."""

    setup: int
    """Steps 1b and 2b, once."""
    step: int
    """Steps 3b to 7b."""
    anew: int
    """Steps 1a to 5a."""
    articulated: int
    """Forward dynamics of the same robot by articulated bodies."""
    basis: int
    """Setup of the Krylov form, beyond the setup that all forms need."""
    quick: int
    """A step of the Krylov form."""

    def cost(self, steps: int) -> Cost:
        """Return the cost of a number of steps."""
        kept = Fraction(self.setup + self.step * steps)
        return Cost(Fraction(self.anew * steps), kept, Fraction(self.articulated * steps))

    def faster(self, steps: int) -> int:
        """Return the operations of the Krylov form for a number of steps."""
        return self.setup + self.basis + self.quick * steps


def traced(
    robot: Robot, link: str, base: VirtualBase | None = None, modes: int = 10
) -> OperationCounts:
    """Count the programs that `estimate` compiles, with the paper's contact and (11), (12)."""
    made = hit(robot, link, base=base)
    plan = Plan(made.n, LinearSpring(k=1e4, c=300.0), "symplectic")
    setup = _count(made.program(), KEPT)
    shown = ("force",)
    return OperationCounts(
        setup=setup,
        step=_count(simplified_program(plan), shown),
        anew=_count(full_inertia_program(made, plan), shown),
        articulated=_count(quantities(robot, ["forward_dynamics"]), ("forward_dynamics",)),
        basis=_basis(made, modes) - setup,
        quick=_count(krylov_program(plan, modes), shown),
    )


def _basis(made: Hit, modes: int) -> int:
    return _count(made.program(modes), (*KEPT, "size", "damping", "damping_loads"))


def _count(program: Program, outputs: Sequence[str]) -> int:
    return program.counts(outputs).arithmetic
