"""A mass at rest in the ground that an external force pulls off: [Marhefka1996] (20) to (22), and
[Rengifo2009] section I, which doubts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike as hs
from heelstrike.papers.report import finished

if TYPE_CHECKING:
    import xarray as xr

MASS, STIFFNESS, ALPHA = 50.0, 50e3, 0.4
"""[kg], [N/m], [s/m], of [Marhefka1996] fig 2."""
DEPTH = 0.01
"""Where the pull begins [m], ours."""
DT = 5e-6
"""[s]"""


@hs.controller  # type: ignore[untyped-decorator]
def pull(s: Any, force: float = 1e3) -> Any:
    """Return a constant force upward."""
    return force + 0 * s.q


def pulled_off(
    law: hs.Elastic | hs.FeedbackLinearized, pulls: np.ndarray, steps: int, every: int
) -> xr.Dataset:
    """Depth, depth rate and normal force over time, without weight: one world a pull [N]."""
    scene = hs.Scene(hs.load("foot"), hs.Plane(law=law), gravity=0.0)
    sim = hs.Simulator(scene, dt=DT, control=pull, integrator="rk4")
    run = sim.run(
        steps=steps,
        q0=[-DEPTH],
        v0=[0.0],
        worlds=len(pulls),
        vary={"controller.force": pulls, "foot.mass": np.full(len(pulls), MASS)},
        record=("depth", "depth_rate", "normal_force"),
        every=every,
        progress=False,
        check=False,
    )
    return finished(run, steps)
