"""Section 2: "requiring only one extra multiplication to calculate contact forces".

Operations of the traced laws, counted exactly: of the linear law (3), of (6) as it is printed, of
(6) with the depth taken out as a factor, and of the law that comes with Heelstrike, which is given
alpha in place of lambda = 3/2 alpha k.
"""

from __future__ import annotations

import heelstrike as hs
from heelstrike.contact.law import SX, Contact, NormalLaw
from heelstrike.ir.operations import Counts
from heelstrike.papers.report import Result, near, shown
from heelstrike.parameters import parameters, with_values


@hs.normal_law
def printed(c: Contact, k: float = 1e4, lam: float = 6e3) -> SX:
    """(6) as it is printed, n = 1."""
    return lam * c.depth * c.depth_rate + k * c.depth


@hs.normal_law
def factored(c: Contact, k: float = 1e4, lam: float = 6e3) -> SX:
    """(6), n = 1, with the depth as a factor."""
    return (lam * c.depth_rate + k) * c.depth


def count(law: NormalLaw) -> Counts:
    """Exact numbers of operations from depth, rate and parameters to the force."""
    p = hs.Program("law")
    sizes = {"depth": 1, "depth_rate": 1, "dt": 1, "slip": 2, "position": 2}
    given = {name: p.input(name, size) for name, size in sizes.items()}
    values = {path: p.input(path, value.size) for path, value in parameters(law).items()}
    c = Contact(memory=SX(0, 1), normal_force=SX(0), **given)
    with p.block("law"):
        p.output("force", with_values(law, values).force(c))
    return p.counts()


def operations() -> Result:
    """Multiplications beyond the linear law's."""
    linear = count(hs.LinearSpring(damping="both"))
    nonlinear = {
        "as printed": (printed, ""),
        "depth as a factor": (factored, "The same force as one product: no multiplication more."),
        "hunt-crossley": (
            hs.HuntCrossley(),
            "The second is 3/2 alpha: alpha, not lambda, is the parameter, and may change while it "
            "runs.",
        ),
    }
    rows = [near("multiplications of (3)", linear.multiplications, None, 0, 2)]
    for name, (law, remark) in nonlinear.items():
        found = count(law)
        extra = found.multiplications - linear.multiplications
        more = found.additions - linear.additions
        rows += [
            shown(f"extra multiplications, {name}", extra, extra <= 1, "only one", remark),
            shown(f"extra additions, {name}", more, more <= 0, "none"),
        ]
    return Result(
        "operations",
        "cost of the force",
        "The nonlinear law requires only one extra multiplication.",
        tuple(rows),
    )
