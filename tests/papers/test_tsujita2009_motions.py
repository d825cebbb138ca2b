"""[Tsujita2009] tables I and II, figs 6 and 7: hrp2's nine motions against the printed numbers.

f_n over v_c is one number a posture: 6.501 to 6.550, 6.650 to 6.710, 6.850 to 6.868 m kg/s by the
printed roundings of the paper's own simplified computation. Robot, gains and line are ours.
"""

from __future__ import annotations

import numpy as np
import pytest

from heelstrike.impact import estimate
from heelstrike.motion import state
from heelstrike.papers import paper
from heelstrike.papers.tsujita2009 import motions
from heelstrike.papers.tsujita2009.mass import TABLE, impulse, law
from heelstrike.papers.tsujita2009.motions import error
from heelstrike.papers.tsujita2009.table2 import ROUNDED, TABLE_2, TABLE_3


def test_the_printed_errors_follow_from_the_printed_values():
    """(24) of table II's own columns, to what their roundings allow."""
    for full_peak, full_impulse, peak, peak_error, own, own_error in TABLE_2.values():
        assert abs(error(full_peak, peak) - peak_error) < 0.2
        least, most = (error(full_impulse + s * ROUNDED, own - s * ROUNDED) for s in (-1, 1))
        assert least - ROUNDED < own_error < most + ROUNDED
    for name, (_, missed) in TABLE_3.items():
        full, alone = TABLE_2[name][1], impulse(*TABLE[name][:2])
        least, most = (error(full + s * ROUNDED, alone) for s in (-1, 1))
        assert least - ROUNDED < missed < most + ROUNDED


@pytest.mark.nightly
def test_a_row_of_tables_1_and_2_by_the_simplified_computation():
    """B-2: 6 kg at 0.7 m/s; 4.7 N s."""
    made = motions.motion("B-2")
    q, v = state(motions.robot(), made, made.settings["hits"])
    own = estimate(motions.robot(), q, motions.HAND, v=v, law=law())
    assert abs(own.virtual_mass[0] - 6.0) < 1e-3
    assert abs(own.speed[0] - 0.7) < 1e-3
    assert 6.6 < own.impulse[0] / 0.7 < 6.8  # ours by 1 % of theirs: gains are ours
    assert round(float(own.impulse[0]), 1) == TABLE_2["B-2"][4]
    assert np.all(np.abs(made.torque)[:, 6:] < motions.robot().torque_limit[6:])


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("item", "missing"),
    # by (11) with hrp2's gains eight impulses miss the table's, posture A by more than 6 %;
    # OpenHRP3's hand was 2 % faster in A-1, so f_max and f_err differ; fig 6 has no scale, so where
    # the hands are cannot be known
    [("table1", 0), ("fig6", 3), ("table2", 9), ("table2-elastic", 3), ("table3-errors", 0),
     ("fig7", 0)],
)  # fmt: skip
def test_items_reproduce_but_for_what_the_page_tells(item, missing):
    result = paper("tsujita2009").run(item)
    assert len(result.rows) - result.held == missing


@pytest.mark.nightly
def test_hrp4c_or_why_not(monkeypatch):
    result = paper("tsujita2009").run("hrp4c")
    if not result.rows:
        assert "set HEELSTRIKE_DATA" in result.claim
        pytest.skip("HEELSTRIKE_DATA is not set: no HRP-4C")
    assert len(result.rows) - result.held == 1  # with 8 kg its soles rock
    monkeypatch.delenv("HEELSTRIKE_DATA")
    assert "set HEELSTRIKE_DATA" in paper("tsujita2009").run("hrp4c").claim
