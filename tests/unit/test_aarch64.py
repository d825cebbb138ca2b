"""Steps on ARM (AArch64, NEON): the same bits as on this CPU.

Oracle: the batch of this CPU. The emitter fuses and orders every operation itself and calls no
library, so that nothing is left to an architecture but IEEE arithmetic.
"""

import numpy as np
import pytest

import heelstrike as hs
from benchmarks.other_cpu import ARM, ForeignBatch, cross_compiled

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(ARM.missing() is not None, reason=str(ARM.missing())),
]
WORLDS, STEPS = 5, 60
LAWS = {
    "elastic": hs.Elastic(hs.HuntCrossley(), hs.Bristle()),
    "rigid": hs.Rigid(),
    "micro-macro": hs.MicroMacro(),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("robot", ["cube", "biped14"])
def test_bits_of_a_step_on_arm(robot, law, dtype, tmp_path):
    """Robots fall onto the ground: in flight, at impact and after."""
    scene = hs.Scene(
        hs.load(robot, collide="feet" if robot == "biped14" else "all"), hs.Plane(law=LAWS[law])
    )
    control = hs.Servo() if robot == "biped14" else None
    sim = hs.Simulator(scene, 1e-3, control, worlds=WORLDS, dtype=dtype)
    q0 = np.tile(sim.place(drop=0.002), (WORLDS, 1))
    q0[:, 2] += 0.001 * np.arange(WORLDS)
    sim.reset(q0=q0)
    here = sim.compiled.batch(())
    made = cross_compiled(sim.program, ARM, dtype)
    assert "fmla\tv" in made.assembly  # on vectors
    there = ForeignBatch(made, here, tmp_path)
    there.run(STEPS)
    here.run(STEPS)
    touched = here.get("peak_force").max(axis=1)
    assert (touched > 0).sum() >= 3  # what is compared holds contacts
    for port in made.layout.memory:
        assert here.get(port.name).tobytes() == there.get(port.name).tobytes(), port.name
