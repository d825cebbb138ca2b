"""The gripper of examples/grip.py. Oracle: Coulomb, m a = m g - 2 mu N while the can slides."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import heelstrike as hs

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "grip.py"))
WEIGHT, DT = 0.3 * 9.81, 1e-3
DEPTH = 1e-7
"""Of the fingers in the can at the start [m]."""
FORCE = 500 * (EXAMPLE["SQUEEZE"] - DEPTH)
"""Of each servo [N]."""


def held(law: hs.Rigid | hs.Signorini, shares: list[float]) -> xr.Dataset:
    """Return a hold in the air; `shares` are friction over the least that carries the can.

    The palm sags under the can's weight at first, by 2.5 mm.
    """
    touch, squeeze = EXAMPLE["TOUCH"], EXAMPLE["SQUEEZE"]
    servo = hs.Servo(reference=EXAMPLE["pose"](0.1, touch + squeeze, 0.16))
    sim = hs.Simulator(EXAMPLE["scene"](law), dt=DT, control=servo)
    mu = np.array(shares) * WEIGHT / (2 * FORCE)
    varied = {"ground.friction.mu_s": mu, "ground.friction.mu_k": mu}
    q0 = EXAMPLE["pose"](0.1, touch + DEPTH, 0.16)
    return sim.run(0.5, q0=q0, worlds=len(mu), vary=varied).data


@pytest.mark.nightly  # tests/physics/test_gripper.py has the closed form of a cube
def test_a_can_slides_as_coulomb_says():
    """Below the least friction it becomes faster, above it slower, both by 2 % of gravity."""
    data = held(hs.Signorini(), [0.98, 1.02])
    fall = -np.diff(data["v"].sel(joint="can.vz").values, axis=1) / DT
    # Signorini is solved to 1e-7 m/s in a step of 1 ms
    assert fall[0, 50:400] == pytest.approx(0.02 * 9.81, abs=1e-4)
    assert fall[1, 50:200] == pytest.approx(-0.02 * 9.81, abs=1e-4)


@pytest.fixture(scope="module")
def on_rigid() -> xr.Dataset:
    """The law of the example: the first world holds the can, from the others it slides."""
    return held(hs.Rigid(), [1.7, 0.1, 0.2, 0.34, 0.5, 0.7, 0.9, 0.98])


def test_a_can_that_is_held_does_not_creep(on_rigid):
    """It neither slides nor turns in 0.4 s."""
    data = on_rigid.isel(world=0)
    q = data["q"]
    place = (q.sel(coordinate="can.z") - q.sel(coordinate="lift")).values[100:]
    assert np.ptp(place) < 1e-12  # of 0.16 m: rounding
    assert np.abs(q.sel(coordinate=["can.qx", "can.qy", "can.qz"]).values).max() < 1e-6
    pressed = np.abs(data["self_force"].isel(axis=0).values[100:, :2])
    assert pressed == pytest.approx(FORCE, rel=1e-6)


def test_a_can_that_slides_meets_its_law(on_rigid):
    """In every step, whatever friction is: contact points of a finger come together and part, and
    one that is no longer there does not count. It stood for a speed of 1,000 m/s, of which 7e-7 is
    where passes end.
    """
    assert on_rigid["solver_residual"].values[1:].max() < 1e-5
