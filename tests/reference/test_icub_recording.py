"""What is read of the iCub's recordings: when frames were taken, how the base moved, its momentum.

Oracles: a motion that was made up, which must come back; free fall, in which no ground pushes;
statics; on the real recordings the accelerometer, which takes no part in what is tested.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from heelstrike.validation import icub_balance, icub_base, icub_recording
from heelstrike.validation.files import data_file
from heelstrike.validation.icub import Swaying, Walking

if data_file("robots/icub.urdf") is None:
    pytest.skip("HEELSTRIKE_DATA is not set: no iCub", allow_module_level=True)

from heelstrike.validation.icub_robot import GRAVITY, IMU, RATE, robot, soles, weight

FRAMES = 6 * RATE


def test_frames_that_were_written_down_late():
    """A recorder that stalls for 160 ms, jitters by 3 ms, and loses two frames."""
    taken = np.arange(400) / RATE
    taken[250:] += 2 / RATE
    written = taken + np.random.default_rng(0).exponential(1e-3, 400).clip(0, 3e-3)
    written[100:116] = taken[116] + 1e-5 * np.arange(16)
    written = np.maximum.accumulate(written)
    found = icub_recording.taken_at(written)
    # frames before a loss and at the end have few later ones that bound their jitter
    assert np.abs(found - taken).max() <= 3e-3 + 1e-9
    assert np.mean(np.abs(found - taken) < 5e-4) > 0.97
    assert np.abs(written - taken).max() > 0.1


def motion():
    """Coordinates of a robot that bends knees and ankles on a left sole that stands still."""
    t = np.arange(FRAMES) / RATE
    q = np.tile(robot().neutral, (FRAMES, 1))
    at = {joint.name: joint.iq for joint in robot().joints}
    q[:, at["l_hip_pitch"]] = 0.2 * np.sin(2 * np.pi * 0.9 * t)
    q[:, at["l_ankle_roll"]] = 0.1 * np.sin(2 * np.pi * 1.3 * t)
    start = soles(q[0], np.zeros(robot().nv))
    wanted = Rotation.from_euler("xyz", np.stack([0.05 * np.sin(2 * np.pi * 1.3 * t)] * 3, axis=1))
    q[:, 3:7] = wanted.as_quat()
    for own in q:
        own[:3] += start[0][0] - soles(own, np.zeros(robot().nv))[0][0]
    return q


def test_the_base_comes_back_from_gyroscope_and_soles():
    """Oracle: the made-up base; the file's is off by 1 deg and 10 mm, four times a second."""
    q = motion()
    t = np.arange(FRAMES) / RATE
    shaken = q.copy()
    wrong = np.sin(2 * np.pi * 4 * t)[:, None]
    shaken[:, :3] += 0.01 * wrong
    shaken[:, 3:7] = (
        Rotation.from_rotvec(np.radians(1) * wrong * [1, 1, 0]) * Rotation.from_quat(q[:, 3:7])
    ).as_quat()
    gyro = icub_base.velocities(q)[:, 3:6] @ IMU[0] + [0.01, -0.02, 0.005]  # and a bias
    force = np.stack([np.full(FRAMES, weight()), np.zeros(FRAMES)], axis=1)
    found = icub_base.moved(shaken, gyro, force)
    inner = slice(RATE, -RATE)  # filters begin and end
    turned = Rotation.from_quat(found[:, 3:7]) * Rotation.from_quat(q[:, 3:7]).inv()
    # a seventh of what was put in: the filter of 0.2 Hz begins with the wrong pose
    assert np.degrees(turned[inner].magnitude()).max() < 0.15
    assert np.linalg.norm(found[inner, :3] - q[inner, :3], axis=1).max() < 2e-3


def test_no_ground_pushes_in_free_fall():
    q = np.tile(motion()[0], (40, 1))
    q[:, 2] -= GRAVITY / 2 * (np.arange(40) / RATE) ** 2
    # central differences of a parabola are exact; at the ends they are not
    np.testing.assert_allclose(icub_balance.forces(q)[3:-3].sum(axis=1), 0, atol=1e-6 * weight())


def test_a_still_robot_weighs_what_it_weighs():
    found = icub_balance.forces(np.tile(motion()[0], (9, 1)))
    np.testing.assert_allclose(found.sum(axis=1), weight(), rtol=1e-9)
    assert np.all(found > 0.3 * weight())  # nearly symmetric


@pytest.mark.parametrize(("about", "first"), [(Walking, 520), (Swaying, 250)])
def test_the_accelerometer_agrees_better_with_the_corrected_base(about, first):
    """Oracle: accelerometer and sum of the forces, which take no part in the correction."""
    path = data_file(f"{about.stem}.npz")
    if path is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no recording")
    made = icub_recording.read(path, about.columns)
    judged = slice(first, -30)
    ours, filed = (icub_balance.check(made, q, judged) for q in (made.q, made.filed))
    for name in ("accelerometer [m/s2]", "sum of the forces [% of weight]"):
        assert ours[name] < 0.85 * filed[name]
    if about is Walking:  # swaying is too slow to tell the delay
        assert ours["lag of the forces [ms]"] == pytest.approx(1e3 * icub_recording.DELAY)
