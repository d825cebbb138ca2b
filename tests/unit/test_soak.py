"""Long runs against the clock and the system's counts: nothing grows, time is exact.

HEELSTRIKE_SOAK sets how long scenes are compiled and run [s]; the nightly run takes an hour.
"""

from __future__ import annotations

import gc
import itertools
import os
import time

import numpy as np
import pytest

import heelstrike as hs

STEPS = int(float(os.environ.get("HEELSTRIKE_SOAK_STEPS", "1e8")))
SECONDS = float(os.environ.get("HEELSTRIKE_SOAK", "3600"))
GROWTH = 60e6
"""Memory that a process may gain after its first rounds [bytes]: arenas of the allocator."""


ROBOTS = ("ball", "cube")
SURFACES = (
    hs.Plane(hs.Elastic(hs.HuntCrossley(), hs.Kinetic())),
    hs.Plane(hs.Rigid()),
    hs.Stairs(hs.Elastic(hs.LinearSpring(), hs.Bristle()), rise=0.05, run=0.2, count=3),
)


def handles() -> int:
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


def resident() -> int:
    """Return the memory that this process uses [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.nightly
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
def test_memory_and_files_stay_flat(tmp_path, monkeypatch):
    """Scenes are compiled anew in each round: the cache is off."""
    monkeypatch.setenv("HEELSTRIKE_CACHE", "off")
    until, rounds, first = time.monotonic() + SECONDS, 0, (0, 0)
    while time.monotonic() < until or rounds < 6:
        for robot, surface in itertools.product(ROBOTS, SURFACES):
            sim = hs.Simulator(hs.Scene(hs.load(robot), surface))
            run = sim.run(0.05, q0=[0, 0, 0.3, 0, 0, 0, 1])
            run.save(tmp_path / "run.nc")
            hs.Recording.load(tmp_path / "run.nc").summary()
        rounds += 1
        gc.collect()
        if rounds == 4:
            first = resident(), handles()
    grown, opened = resident() - first[0], handles() - first[1]
    scenes = rounds * len(ROBOTS) * len(SURFACES)
    print(f"{scenes} scenes: {grown / 1e6:+.1f} MB, {opened:+d} file handles after {rounds} rounds")
    assert grown < GROWTH
    assert opened <= 0


@pytest.mark.nightly
def test_time_and_rotations_after_many_steps():
    """A spinning ball in free flight: the clock counts steps, the quaternion keeps its norm."""
    sim = hs.Simulator(hs.Scene(hs.load("ball"), gravity=0.0), dt=1e-3)
    run = sim.run(steps=STEPS, q0=[0, 0, 1, 0, 0, 0, 1], v0=[0, 0, 0, 1, 2, 3], record="final")
    q = run.data["q"].values[0] if "q" in run.data else np.array(sim.state["q"])
    assert int(run.data["steps"][0]) == STEPS
    assert sim.time[0] == STEPS * 1e-3
    # each step normalizes it, so that its norm is off by a rounding alone
    assert abs(np.linalg.norm(q[3:7]) - 1) < 1e-14
