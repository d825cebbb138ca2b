"""Quantities that follow from the forces of a hit: histories, ZMP, neglected terms."""

from __future__ import annotations

import numpy as np

from heelstrike.impact.hit import Hit
from heelstrike.impact.kernels import HitResult
from heelstrike.impact.motion import motion_kernel
from heelstrike.impact.results import History, Neglected
from heelstrike.impact.support import margin, support, zmp_of

Arrays = dict[str, np.ndarray]


def history_of(hit: Hit, dt: float, given: Arrays, turning: np.ndarray, ran: HitResult) -> History:
    """Return joint motions and, by inverse dynamics, the ZMP at every step."""
    force, u = ran.records["force"][..., 0], ran.records["deviation"]
    phi_d, phi_dd = turning[:, None, :] + u, ran.records["acceleration"]
    time = dt * np.arange(force.shape[1])
    zmp = margins = None
    if hit.held and len(support(hit, given["q"][0])[0]) > 2:
        kernel = motion_kernel(hit, ("wrench",))
        zmp, margins = np.empty((*force.shape, 2)), np.empty(force.shape)
        for k, q in enumerate(given["q"]):
            wrench = kernel(
                q=q, turning=phi_d[k], rate=phi_dd[k], force=force[k][:, None], point=hit.point,
                direction=hit.direction, gravity=[hit.robot.gravity],
            )["wrench"]  # fmt: skip
            corners, height = support(hit, q)
            zmp[k] = zmp_of(wrench, height)
            margins[k] = np.nan_to_num(margin(zmp[k], corners), nan=-np.inf)
    return History(time, force, phi_d, phi_dd, zmp, margins)


def neglected_of(
    hit: Hit, own: Arrays, given: Arrays, turning: np.ndarray, ran: HitResult
) -> Neglected:
    """Return the neglected terms at first touch, where the joints are fastest."""
    kernel = motion_kernel(hit, ("coriolis", "weight", "drift"))
    found = kernel(
        q=given["q"], turning=turning, rate=np.zeros(hit.n), force=[0.0], point=hit.point,
        direction=hit.direction, gravity=[hit.robot.gravity],
    )  # fmt: skip
    return Neglected(
        coriolis=np.linalg.norm(found["coriolis"], axis=1),
        weight=np.linalg.norm(found["weight"], axis=1),
        drift=np.abs(found["drift"][:, 0]),
        angle=np.abs(turning).max(axis=1) * ran.duration,
        force=np.linalg.norm(own["j"], axis=1) * ran.peak,
        acceleration=ran.peak / own["m_a"][:, 0],
        load=ran.load,
    )
