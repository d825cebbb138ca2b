"""Energies and works of a recording against each other, and many worlds against one.

Kinetic + potential - work of contact, friction, control, stops, joints and pushes stays what it was
at the start, up to the integrator's error: its order is measured on a sliding, rocking box whose
corners stay in contact. Oracle of the worlds: the same simulator, one world at a time.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

LAWS = {
    "linear-spring": hs.LinearSpring(k=3e4, c=100, damping="both"),
    "hunt-crossley": hs.HuntCrossley(k=2e4, alpha=0.3),
    "timestep-damper": hs.TimestepDamper(hs.HuntCrossley(k=2e4, alpha=0.3)),
}
FRICTIONS = {"none": None, "kinetic": hs.Kinetic(mu=0.3, epsilon=0.0), "bristle": hs.Bristle()}
PAIRS = [
    ("linear-spring", "none"),
    ("hunt-crossley", "kinetic"),
    ("hunt-crossley", "bristle"),
    ("timestep-damper", "none"),
]
WORKS = tuple(f"work_{of}" for of in ("contact", "friction", "control", "stops", "joints", "push"))
RECORDED = ("kinetic", "potential", "depth", *WORKS)
ORDER = {"symplectic": 1, "euler": 1, "rk4": 4}


def unaccounted(data):
    """Energy that no work accounts for, since the start [J]."""
    energy = data.kinetic + data.potential - sum(data[name] for name in WORKS)
    return (energy - energy.isel(time=0)).values


@pytest.mark.parametrize("integrator", ORDER)
@pytest.mark.parametrize(("law", "friction"), PAIRS)
def test_energy_balance_closes_to_the_order_of_the_integrator(law, friction, integrator):
    """Work is force times the velocity half a step later, or rk4's own sum: nothing is estimated.

    A bristle remembers its anchor from step to step; under rk4 all four stages see the same one,
    so the order stays.
    """
    box = hs.load("box")
    ground = hs.Plane(law=hs.Elastic(LAWS[law], FRICTIONS[friction]))
    sim = hs.Simulator(hs.Scene(box, ground), integrator=integrator)
    q0 = box.pose("stance").copy()
    q0[2] -= 2e-3
    v0 = [1, 0.4, -0.1, 0.05, 0.1, 0.5]
    left = []
    for steps in (20, 40, 80):
        vary = {"dt": 4e-3 / steps}
        start = {"q0": q0, "v0": v0, "vary": vary}
        data = sim.run(steps=steps, record=RECORDED, progress=False, **start).data
        assert ((data.depth.values[0] > 0).sum(axis=-1) == 4).all()
        left.append(np.abs(unaccounted(data)).max())
    orders = np.log2(left[:-1]) - np.log2(left[1:])
    # 0.1 measured: the next term of the error
    np.testing.assert_allclose(orders, ORDER[integrator], atol=0.15)


def test_a_thousand_stiffnesses_in_one_call_are_a_thousand_runs():
    """Bit for bit: a world's numbers depend on its neighbours in nothing."""
    ball, worlds, steps = hs.load("ball"), 1000, 200
    law = hs.Elastic(hs.HuntCrossley(), hs.Bristle())
    scene = hs.Scene(ball, hs.Plane(name="ground", law=law))
    k = np.geomspace(1e3, 1e6, worlds)
    q0 = ball.pose("stance").copy()
    q0[2] += 0.02
    v0 = [0.5, 0, -1, 0, 3, 0]
    together = hs.Simulator(scene, dt=5e-4)
    vary = {"ground.normal.k": k}
    run = together.run(steps=steps, q0=q0, v0=v0, worlds=worlds, vary=vary, progress=False)
    alone = hs.Simulator(scene, dt=5e-4)
    for world, stiffness in enumerate(k):
        alone.parameters["ground.normal.k"] = stiffness
        alone.reset(q0=q0, v0=v0)
        state = alone.step(steps)
        for name in ("q", "v"):
            assert run.data[name].values[world].tobytes() == np.asarray(state[name]).tobytes()
    assert len(np.unique(run.data.v.values[:, 2])) > 990  # they do differ
    assert (run.data.peak_force.values > 0).all()
