"""Checks of a user's law at states that a point may well have, made when the law is defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from heelstrike.contact.law import Contact
from heelstrike.contact.surface_law import PointState
from heelstrike.contact.tracing import TracedLaw
from heelstrike.errors import HeelstrikeError


def check_finite(traced: TracedLaw, values: Mapping[str, Any], memory_size: int) -> None:
    """Raise HeelstrikeError for a force law without a finite value at a state a point may have.

    The states: touching or 1 mm deep, going in, resting or coming out at 0.1 m/s, sliding or not,
    loaded or not, in the first step of a contact and in the second.
    """
    states = (
        (Contact(d, rate, 1e-3, None, np.array([slip, 0]), np.zeros(2), load), f"{load:g} N")
        for d, rate, slip, load in product((0, 1e-3), (0, 0.1, -0.1), (0, 0.1), (0, 10))
    )
    for c, load in states:
        for step, outputs in _two_steps(traced, c, values, memory_size):
            if all(np.all(np.isfinite(output)) for output in outputs.values()):
                continue
            raise HeelstrikeError(
                f"law '{traced.name}' returns no finite number at depth {c.depth:g} m, depth_rate "
                f"{c.depth_rate:g} m/s, slip {c.slip[0]:g} m/s, normal_force {load}, in the {step} "
                "step of a contact",
                remedy="make its divisors safe, e.g. c.slip_speed or ca.fmax(c.depth, 1e-9)",
            )


def check_target(traced: TracedLaw, values: Mapping[str, Any], memory_size: int) -> None:
    """Raise HeelstrikeError for a target that is not finite, or whose compliance is not positive.

    The states: touching or 1 mm deep, going in, resting or coming out at 0.1 m/s, sliding or not,
    in the first step of a contact and in the second; dt is 1 ms.
    """
    for d, rate, slip in product((0, 1e-3), (0, 0.1, -0.1), (0, 0.1)):
        state = PointState(d, rate, np.array([slip, 0]), np.zeros(2), 1e-3, 9.81, None)
        for step, outputs in _two_steps(traced, state, values, memory_size):
            where = (
                f"at depth {d:g} m, depth_rate {rate:g} m/s, slip {slip:g} m/s, in the {step} step "
                "of a contact"
            )
            for name, output in outputs.items():
                if not np.all(np.isfinite(output)):
                    raise HeelstrikeError(
                        f"law '{traced.name}' returns no finite {name} {where}",
                        path=name,
                        value=output,
                        remedy="make its divisors safe, e.g. ca.fmax(s.depth, 1e-9)",
                    )
                positive = name in ("compliance", "compliance_out", "smoothing")
                if (positive and output[0] <= 0) or (name in ("mu_s", "mu_k") and output[0] < 0):
                    raise HeelstrikeError(
                        f"law '{traced.name}' returns {name} {output[0]:g} {where}",
                        path=name,
                        value=output[0],
                        allowed="more than 0" if positive else "at least 0",
                    )


def _two_steps(
    traced: TracedLaw, state: Contact | PointState, values: Mapping[str, Any], memory_size: int
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Yield the outputs of the first step of a contact and of the second."""
    own = [np.atleast_1d(np.asarray(value, dtype=float)) for value in values.values()]
    memory = np.zeros(memory_size)
    for step in ("first", "second"):
        results = traced.at(replace(state, memory=memory), own)
        outputs = {name: np.array(value).ravel() for name, value in results.items()}
        memory = outputs["memory"]
        yield step, outputs
