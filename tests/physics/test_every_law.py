"""Every law on every motion, as benchmarks.motions measures it.

Oracles: the gait's own end for hoap1; for SR1's public patterns the ways that they walk in MuJoCo 4
(0.45, 0.46 and 0.90 m, benchmarks/motion_peer.py); for what falls, the stability of a spring in
fixed steps, kappa + 2 gamma < 4 (contact/stability.py).
"""

from functools import cache

import pytest

from benchmarks.motion_cases import Ground, hoap1, sr1
from benchmarks.motions import DT, one
from heelstrike.motion import Humanoid

WALKS = [
    "MicroMacro",
    "Rigid",
    "Signorini",
    "FeedbackLinearized",
    "HuntCrossley",
    "TimestepDamper",
    "LinearSpring",
    "LinearSpring, implicit",
]
PATTERNS = {"SR1 q1": 0.45, "SR1 q2": 0.46, "SR1 q3": 0.90}
"""Way in MuJoCo [m]."""


@cache
def small():
    return hoap1()


@cache
def tall():
    return sr1()


def went(case, law, motion):
    laws = Ground.under(case, DT).laws()
    return one(case, Humanoid.of(case.robot), case.motions[motion], laws[law])


@pytest.mark.nightly
@pytest.mark.parametrize("law", WALKS)
@pytest.mark.parametrize("motion", ["stand up", "walk", "jump", "punch"])
def test_hoap1_ends_where_its_motion_ends(law, motion):
    found = went(small(), law, motion)
    assert found["stood"]
    assert found["off"] < 0.03 * 0.275  # m; a membrane's friction slides most, 5.6 mm in 8 steps
    if motion == "jump":
        assert found["air"] > 0.1


@pytest.mark.nightly
@pytest.mark.parametrize("motion", PATTERNS)
@pytest.mark.parametrize("law", WALKS)
def test_sr1_walks_as_far_as_in_mujoco(law, motion):
    if tall() is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no SR1")
    found = went(tall(), law, motion)
    assert found["stood"]
    # open loop: soles that rock and slide add up to some centimetres
    assert abs(found["way"] - PATTERNS[motion]) < 0.05


def test_friction_that_is_damped_too_much_for_the_step_slides():
    """The ground's points hold by kappa + 2 gamma < 4; beyond, the soles shake and slide."""
    case = hoap1("stand up")
    limits = Ground.under(case, DT).limits(DT)
    assert max(limits["normal"], limits["along"]) < 4 < limits["c_t x 5"]
    calm, shaken = (
        went(case, law, "stand up") for law in ("LinearSpring", "LinearSpring, c_t x 5")
    )
    assert shaken["slid"] > 50 * calm["slid"]


@pytest.mark.nightly
def test_soft_ground_tips_sr1s_third_pattern():
    """Not for want of damping or steps: a stiffness of three times as much holds it."""
    if tall() is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no SR1")
    assert not went(tall(), "HuntCrossley, 0.3 mm", "SR1 q3")["stood"]
    assert Ground.under(tall(), DT).limits(DT)["normal"] < 1
