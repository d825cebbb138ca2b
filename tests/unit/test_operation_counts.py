"""Operations of a step, counted exactly: what a change of the code costs, on any machine.

Oracle: tests/operation_counts.json, the counts of the last change that was meant to alter them. The
counter itself is checked against Program.counts. After a change that is meant:

    python tools/operation_counts.py write
"""

import json
from importlib.metadata import version

import pytest

import heelstrike as hs
from heelstrike.bench.standing import missing
from tools import operation_counts
from tools.operation_counts import CASES, FILE, QUICK, changes, check

KEPT = json.loads(FILE.read_text())
SAME_CASADI = pytest.mark.skipif(
    KEPT["casadi"] != version("casadi"),
    reason=f"counted with CasADi {KEPT['casadi']}, which simplifies in its own way",
)


@SAME_CASADI
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.nightly) for name in CASES],
)
def test_a_step_has_as_many_operations_as_before(name):
    if missing((name.split(", ")[0],)):
        pytest.skip("needs HEELSTRIKE_DATA")
    found = check([name])
    hint = "if this is meant: python tools/operation_counts.py write"
    assert not found, "\n".join([*found, hint])


def test_kinds_sum_up_to_the_operations_of_the_program(monkeypatch):
    """The counter beside Program.counts, for a ball on a plane."""
    ball = hs.Scene(hs.load("ball"), hs.Plane())
    monkeypatch.setattr(operation_counts.hs, "Scene", lambda *parts: ball)
    monkeypatch.setattr(operation_counts.hs, "Servo", lambda reference: None)
    found = operation_counts.counted("biped14, linear-spring")
    counts = hs.Simulator(ball).program.counts(())
    assert found["operations"] == vars(counts)
    assert sum(found["kinds"].values()) == sum(found["operations"].values())


def test_a_message_names_what_grew():
    before = {
        "operations": {"additions": 10, "divisions": 1},
        "kinds": {"torque": 5, "contact force": 6},
    }
    now = {
        "operations": {"additions": 13, "divisions": 1},
        "kinds": {"torque": 4, "contact force": 8, "new": 2},
    }
    assert changes("hoap1, rigid", before, now) == [
        "hoap1, rigid: 11 -> 14 (+3) operations (additions 10 -> 13 (+3))",
        "  blocks: contact force 6 -> 8 (+2), new 0 -> 2 (+2), torque 5 -> 4 (-1)",
    ]
    assert changes("hoap1, rigid", now, now) == []
