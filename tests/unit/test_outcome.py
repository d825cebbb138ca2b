"""What became of a motion, told from recordings that were made by hand.

Oracle: the recordings' own construction, a robot that stands, sinks, slides or tilts by known
amounts.
"""

import numpy as np
import pytest
import xarray as xr

import heelstrike as hs
from heelstrike.motion import Humanoid, Motion, outcome

DT, STEPS = 1e-3, 200


@pytest.fixture(scope="module")
def human():
    return Humanoid.of(hs.load("hoap1", collide="feet"))


@pytest.fixture(scope="module")
def still(human):
    times = np.arange(STEPS + 1) * DT
    return Motion(times, np.tile(human.pose, (STEPS + 1, 1)), feet=np.full((STEPS + 1, 2), 0.5))


class Made:
    """Enough of a recording."""

    def __init__(self, human, **changes):
        robot, n = human.robot, STEPS + 1
        points = len(robot.points)
        values = {
            "q": (("time", "coordinate"), np.tile(human.pose, (n, 1))),
            "com": (("time", "axis"), np.tile(human.com(human.pose), (n, 1))),
            "slip": (("time", "point", "axis"), np.zeros((n, points, 3))),
            "normal_force": (
                ("time", "point"),
                np.full((n, points), robot.mass * robot.gravity / points),
            ),
            "touching": (("time", "point"), np.ones((n, points), dtype=bool)),
        }
        for name, change in changes.items():
            change(values[name][1])
        bodies = [robot.bodies[point.body].name for point in robot.points]
        coords = {"time": np.arange(n) * DT, "point_body": ("point", bodies)}
        self.data = xr.Dataset(values, coords).expand_dims("world")
        self.data["failed"] = "world", [-1]


def test_who_stands_is_not_lost(human, still):
    found = outcome(still, Made(human), human)
    assert found.stood
    assert np.isnan(found.lost_at)
    assert max(found.off, found.slid, found.lag, found.air, found.way) < 1e-12
    assert found.tilt < 1e-7  # an arccos near 1 has half of the digits


def test_who_sinks_is_lost_where_a_tenth_of_the_height_is_gone(human, still):
    def sink(com):
        com[:, 2] -= np.linspace(0, 0.2 * com[0, 2], STEPS + 1)

    found = outcome(still, Made(human, com=sink), human)
    assert not found.stood
    assert found.lost_at == pytest.approx(0.1, abs=2e-3)  # half way; the soles are at z = 0
    table = Motion(still.times, still.q)  # without feet its height alone counts
    assert outcome(table, Made(human, com=sink), human).lost_at == found.lost_at


def test_who_diverges_is_lost_there(human, still):
    made = Made(human)
    made.data["failed"] = "world", [50]
    found = outcome(still, made, human)
    assert not found.stood
    assert found.lost_at == pytest.approx(50 * DT)


def test_a_push_aside_is_seen_only_where_the_motion_tells_the_place(human, still):
    def aside(com):
        com[:, 1] += np.linspace(0, com[0, 2], STEPS + 1)

    assert not outcome(still, Made(human, com=aside), human).stood
    assert outcome(Motion(still.times, still.q), Made(human, com=aside), human).stood


def test_slip_tilt_lag_and_flight_are_measured(human, still):
    ankle = next(j.iq for j in human.robot.joints if j.name == "L_AAA")

    def tilted(q):
        q[:, ankle] += 0.02  # a joint of the foot itself: the sole turns as much

    def slides(slip):
        slip[:100, :, 0] = 0.05

    def flies(touching):
        touching[20:70] = False

    made = Made(human, q=tilted, slip=slides, touching=flies)
    found = outcome(still, made, human)
    assert found.tilt == pytest.approx(0.02, rel=1e-6)
    assert found.lag == pytest.approx(0.02, rel=1e-6)
    assert found.slid == pytest.approx(0.05 * 100 * DT)
    assert found.air == pytest.approx(50 * DT)


def test_a_recording_without_poses_is_a_sentence(human, still):
    made = Made(human)
    made.data = made.data.drop_vars(["q", "slip"])
    with pytest.raises(hs.HeelstrikeError, match="lacks q, slip"):
        outcome(still, made, human)
