"""Inverse of a loop's matrix Lambda, whose rows may be redundant.

P is the inverse of Lambda, but for rows that no motion of the loop can change, such as those across
the plane of a planar mechanism. With C = (Lambda + mu)^-1, mu a small share of the largest diagonal
entry of rows of equal units,

    P = C + mu C^2 + mu^2 C^3 + mu^3 C^4       eigenvalues (1 - (mu / (x + mu))^4) / x
      = (C + mu C^2) (1 + mu^2 C^2)

which are proximal iterations [Carpentier2021] of the loop by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.ir.program import Program
from heelstrike.spatial.ldl import LdlFactor, factor
from heelstrike.spatial.vector import SX, symmetric

PASSES = 4
"""Terms of P."""
SMALL = 6
"""Rows of a loop up to which P is a matrix."""
SOFTNESS, SOFTNESS_SINGLE = 1e-6, 1e-3
"""mu, in float64 and in float32."""

Keep = Callable[[str, SX], SX]
"""`Program.let` or `Program.variable`."""


@dataclass(frozen=True)
class Mobility:
    """Lambda of a loop, factored or, where it is small, inverted."""

    scale: SX
    """1 over the root of the largest diagonal entry of rows of equal units, (m,)."""
    matrix: LdlFactor
    """Factor of the scaled Lambda + mu."""
    softness: SX
    """mu of the scaled Lambda."""
    inverse: SX | None
    """P, (m, m)."""

    @staticmethod
    def of(mobility: SX, scale: SX, softness: SX) -> Mobility:
        """Return the factor of Lambda, (m, m)."""
        m = mobility.shape[0]
        eye, scales = SX(ca.DM.eye(m)), scale @ scale.T
        found = Mobility(scale, factor(mobility * scales + softness * eye), softness, None)
        if m > SMALL:
            return found
        C = symmetric(found.matrix.solve(eye))
        square = symmetric(C @ C)
        half = C + softness * square
        P = symmetric(half + softness * softness * (half @ square))
        return replace(found, inverse=symmetric(scales * P))

    def solve(self, right: SX) -> SX:
        """Return P times columns."""
        if self.inverse is not None:
            return ca.densify(self.inverse @ right)
        scales = ca.repmat(self.scale, 1, right.shape[1])
        start = scales * right
        found = self.matrix.solve(start)
        for _ in range(PASSES - 1):
            found = self.matrix.solve(start + self.softness * found)
        return scales * found

    def kept(self, keep: Keep) -> Mobility:
        """Return it with new symbols for what `solve` reads."""
        if self.inverse is not None:
            upper = ca.triu(self.inverse)
            own = SX(upper.sparsity(), keep("mobility", upper.nz[:]))
            return replace(self, inverse=ca.densify(ca.triu2symm(own)))
        matrix = self.matrix.renamed(lambda x: keep("mobility", x))
        return replace(self, scale=keep("scale", self.scale), matrix=matrix)

    def assign(self, p: Program, new: Mobility) -> None:
        """Assign the values of another one to these, which are variables; inside a block."""
        if self.inverse is not None:
            assert new.inverse is not None
            p.assign(ca.triu(self.inverse).nz[:], ca.triu(new.inverse).nz[:])
            return
        p.assign(self.scale, new.scale)
        self.matrix.assign(p, new.matrix)
