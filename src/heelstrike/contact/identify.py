"""Parameters of the Hunt-Crossley law from measurements: what [Marhefka1996] leaves to future work.

    e   = e(alpha v_i)                  closed form, heelstrike.contact.restitution  -> alpha
    f_n = k d^n (1 + 3/2 alpha d')      [Marhefka1996] (6), (18)                     -> k, n, alpha

by least squares, with standard errors s^2 (J^T J)^-1 at the solution, s^2 the residual's variance:
right where the noise is in e, or in f_n, independent and equally large in all samples. Speeds,
depths and depth rates are taken as exact. Signs: d > 0 inside, d' > 0 going in, f_n > 0 repels.

The fit of forces works with F = k d_0^n, the force at a middle depth d_0 of the data, in place of
k: k [N/m^n] and n are so entangled that k alone has no digits where n is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

from heelstrike.contact.hunt_crossley import HuntCrossley
from heelstrike.contact.restitution import Floats, restitution
from heelstrike.errors import HeelstrikeError

BLIND = 1e8
"""Condition of the scaled slopes above which the data do not tell the parameters apart."""


@dataclass(frozen=True)
class Fit:
    """Parameters found, and how well."""

    values: Mapping[str, float]
    """By name: alpha [s/m], and of forces k [N/m^n] and n [-]."""
    errors: Mapping[str, float]
    """Standard error of each, in its unit; 0 for one that was given."""
    residual: float
    """Root mean square of what the law leaves unexplained: of e [-], or of the force [N]."""
    samples: int
    """That were used."""

    def law(self, **known: Any) -> HuntCrossley:
        """The law with these parameters, and with others that are known: `fit.law(k=5e4)`."""
        n = self.values.get("n", 1.0)
        if n < 1:
            raise HeelstrikeError(
                f"n = {n:.4g} (standard error {self.errors['n']:.2g}) is below 1, and no law has "
                "that; if flat faces touch fit again with n=1"
            )
        return HuntCrossley(**(dict(self.values) | known))

    def __str__(self) -> str:
        found = (
            f"{name} = {value:.6g} +- {self.errors[name]:.2g}"
            for name, value in self.values.items()
        )
        return f"{', '.join(found)}; residual {self.residual:.3g}, {self.samples} samples"


def fit_restitution(speed: ArrayLike, e: ArrayLike) -> Fit:
    """alpha from coefficients of restitution e [-] measured at impact speeds [m/s].

    Neither mass, stiffness nor exponent matters: balls and hammers may stand in one list.
    """
    v, measured = _samples(speed=speed, e=e)
    if len(v) < 2:
        raise HeelstrikeError("one impact gives no standard error; measure e at least twice")
    if np.any(v <= 0):
        raise HeelstrikeError("impact speeds are above 0 m/s; leave the others out")
    if np.any(measured < 0):
        raise HeelstrikeError("e is the speed after over the speed before, both positive: not < 0")
    if not measured.any():
        raise HeelstrikeError("no impact rebounds, so alpha may be as large as you like")
    if np.mean(measured) >= 1:
        raise HeelstrikeError(
            f"these impacts lose no energy (mean e = {np.mean(measured):.4g}), so no alpha > 0 "
            "explains them"
        )

    def model(x: Floats) -> Floats:
        return restitution(np.exp(x[0]), v) - measured

    low = np.clip(1 - measured.mean(), 1e-6, 0.999)  # e = 1 - alpha v at low speed, (5)
    solution, covariance, residual = _solve(model, np.array([np.log(low / v.mean())]), ("alpha",))
    alpha = float(np.exp(solution[0]))
    error = alpha * float(np.sqrt(covariance[0, 0]))
    return Fit({"alpha": alpha}, {"alpha": error}, residual, len(v))


def fit_force(
    depth: ArrayLike, depth_rate: ArrayLike, force: ArrayLike, n: float | None = None
) -> Fit:
    """k, n and alpha from samples of depth [m], its rate [m/s] and normal force [N]; n if known.

    Samples out of contact (depth <= 0) are left out, so a whole recording will do.
    """
    d, rate, f = _samples(depth=depth, depth_rate=depth_rate, force=force)
    d, rate, f = _touching(d, rate, f)
    names = ("k", "alpha") if n is not None else ("k", "alpha", "n")
    if len(d) <= len(names):
        raise HeelstrikeError(
            f"{len(d)} samples in contact are too few for {', '.join(names)}; "
            f"give at least {len(names) + 1}, from the way in and the way out"
        )
    middle = float(np.sqrt(np.mean(d**2)))
    scaled = d / middle

    def model(x: Floats) -> Floats:
        power = scaled ** (x[2] if n is None else n)
        return np.maximum(np.exp(x[0]) * power * (1 + 1.5 * x[1] * rate), 0) - f

    start = _log_linear(scaled, rate, f, n)
    solution, covariance, residual = _solve(model, start, names)
    exponent = float(solution[2]) if n is None else float(n)
    alpha = float(solution[1])
    if alpha < 0:
        raise HeelstrikeError(
            f"alpha = {alpha:.3g} s/m: the force is larger on the way out than on the way in; "
            "depth_rate is positive going in, perhaps its sign is to be changed"
        )
    k = float(np.exp(solution[0]) * middle**-exponent)
    slope = np.array([1.0, 0.0, -np.log(middle)])[: len(names)]  # of log k
    spread = np.sqrt(np.diag(covariance))
    errors = {"k": k * float(np.sqrt(slope @ covariance @ slope)), "alpha": float(spread[1])}
    errors["n"] = float(spread[2]) if n is None else 0.0
    return Fit({"k": k, "alpha": alpha, "n": exponent}, errors, residual, len(d))


def _samples(**given: ArrayLike) -> tuple[Floats, ...]:
    """Flat arrays of one length, all finite."""
    arrays = {name: np.asarray(value, dtype=float).ravel() for name, value in given.items()}
    sizes = {name: array.size for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise HeelstrikeError(f"one value a sample in each: {listed}")
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise HeelstrikeError(f"{name} has values that are no numbers; leave these samples out")
    return tuple(arrays.values())


def _touching(d: Floats, rate: Floats, f: Floats) -> tuple[Floats, Floats, Floats]:
    """The samples in contact; refuses depths of the other sign."""
    inside = d > 0
    outside = float(np.abs(f[~inside]).sum())
    if outside > float(np.abs(f[inside]).sum()):
        raise HeelstrikeError(
            "most of the force acts at depths <= 0; depth is penetration, positive inside: perhaps "
            "its sign, or its zero, is to be changed"
        )
    if not inside.any():
        raise HeelstrikeError("no sample is in contact: every depth is <= 0")
    if not np.any(f[inside] > 0):
        raise HeelstrikeError(
            "no sample shows compression: no force is above 0 in contact; f_n > 0 repels"
        )
    return d[inside], rate[inside], f[inside]


def _log_linear(scaled: Floats, rate: Floats, f: Floats, n: float | None) -> Floats:
    """Where to start: log f = log F + n log(d/d_0) + 3/2 alpha d', weighted by f."""
    use = f > 0
    logs, heavy = np.log(scaled[use]), f[use]
    columns = [np.ones_like(logs), rate[use], *([logs] if n is None else [])]
    target = np.log(f[use]) - (0 if n is None else n * logs)
    matrix = np.column_stack(columns) * heavy[:, None]
    x: Floats = np.linalg.lstsq(matrix, target * heavy, rcond=None)[0].astype(float)
    x[1] /= 1.5
    if n is None:
        x[2] = np.clip(x[2], 0.5, 5)
    return x


def _solve(
    model: Callable[[Floats], Floats], start: Floats, names: tuple[str, ...]
) -> tuple[Floats, Floats, float]:
    """Solution, covariance, root mean square of the residual."""
    made = least_squares(model, start, x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12)
    size = np.linalg.norm(made.jac, axis=0)
    if np.any(size == 0) or np.linalg.cond(made.jac / size) > BLIND:
        raise HeelstrikeError(
            f"the samples do not tell {', '.join(names)} apart; they need several depths, and "
            "rates on the way in and on the way out"
        )
    left = len(made.fun) - len(start)
    variance = float(made.fun @ made.fun) / left
    covariance = variance * np.linalg.inv(made.jac.T @ made.jac)
    return made.x, covariance, float(np.sqrt(np.mean(made.fun**2)))
