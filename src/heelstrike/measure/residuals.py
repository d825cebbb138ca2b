"""Residuals of contacts in Signorini's condition and Coulomb's law.

    0 <= f_n,  u_n+ >= 0,  f_n u_n+ = 0                                Signorini, at the velocity
    |f_t| <= mu_s f_n,     f_t . u_t+ + mu_k f_n |u_t+| = 0            Coulomb, most dissipation

and both as one complementarity problem, [LeLidec2024] (15): with Gamma = (0, 0, mu |u_t|),

    K_mu  contains  f,      its dual  contains  u + Gamma,      f . (u + Gamma) = 0

The paper's residuals of an impulse, a velocity and their product are divided by dt, so that runs
with different steps compare: N, m/s^2, W; f is a force, an impulse over dt. Points inside at the
start of a step count; the largest over points and steps is told. Elastic laws are held to the same:
how far they give way shows.

Departs from the paper: K takes mu_s, Gamma takes mu_k.
"""

from __future__ import annotations

import numpy as np

from heelstrike.measure.window import Window


def residuals(w: Window) -> dict[str, float]:
    """Return the largest of each residual; NaN if nothing touched."""
    speed = np.linalg.norm(w.slip, axis=-1)
    bound = w.mu_k * np.maximum(w.normal, 0) * speed
    lifted = w.outward + w.mu_k * speed  # along the normal, of u + Gamma
    found = {
        "cone_violation": np.maximum(w.tangent - w.mu_s * np.maximum(w.normal, 0), 0),
        "adhesion": np.maximum(-w.normal, 0),
        "approach": np.maximum(-w.outward, 0),
        "complementarity": np.abs(w.normal * w.outward),
        "dissipation_gap": np.abs(w.power + bound),
        "ncp_primal": outside(w.tangent, w.normal, np.ones_like(w.mu_s), w.mu_s),
        "ncp_dual": outside(speed, lifted, w.mu_k, np.ones_like(w.mu_k)) / w.dt,
        "ncp_complementarity": np.abs(w.power + w.normal * lifted),
    }
    return {name: largest(values[w.touching]) for name, values in found.items()}


def outside(radial: np.ndarray, axial: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance of (radial, axial) from the cone a radial <= b axial; a, b >= 0, not
    both 0.
    """
    length = np.hypot(a, b)
    beside = np.maximum(a * radial - b * axial, 0) / length
    behind = b * radial + a * axial < 0  # the tip is nearest
    return np.where(behind, np.hypot(radial, axial), beside)


def largest(values: np.ndarray) -> float:
    """Return the largest value; NaN if there is none or any is NaN."""
    return float(values.max()) if values.size else float("nan")
