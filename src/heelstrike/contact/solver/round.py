"""A round of the swept problem (swept.py): what its contacts and its joints share."""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.contact.law import SX
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.passes import Passes
from heelstrike.ir.program import Program


@dataclass(frozen=True)
class Round:
    """A round, as symbols."""

    p: Program
    dt: SX
    """Time step [s]."""
    tolerance: SX
    """Relative tolerance of r."""
    step: SX
    """Place of the trial on the line."""
    closing: SX
    """1 in the last rounds before the limit, in which impulses are those of the last pass."""
    last: SX
    """1 in the last round before the limit."""
    passes: Passes
    thorough: bool
    """Derivatives are taken: a pass ends only after a step of Newton's."""

    @property
    def single(self) -> SX:
        """1 where the rules of float32 hold."""
        return self.tolerance > SINGLE
