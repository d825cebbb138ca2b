"""Motions in files: what is written is read again, and what is wrong is a sentence.

Oracles: the arrays that were written; for SR1's public patterns the way that they walk in MuJoCo 4
(0.45 and 0.90 m, MODELS of the data).
"""

import os

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.motion import Motion, play

DATA = os.environ.get("HEELSTRIKE_DATA")


@pytest.fixture(scope="module")
def foot():
    return hs.load("hoap1", collide="feet")


def test_a_motion_is_read_as_it_was_written(tmp_path, foot):
    q = np.tile(foot.pose("stance"), (3, 1))
    torque = np.arange(3 * foot.nv, dtype=float).reshape(3, foot.nv)
    motion = Motion([0, 0.5, 1], q, torque, "hoap1", "still", {"a": 1.5}, np.full((3, 2), 0.5))
    read = Motion.load(motion.save(tmp_path / "still.nc"))
    np.testing.assert_array_equal(read.q, q)
    np.testing.assert_array_equal(read.torque, torque)
    np.testing.assert_array_equal(read.feet, motion.feet)
    assert (read.robot, read.name, read.settings) == ("hoap1", "still", {"a": 1.5})
    assert read.duration == 1


def test_a_finer_motion_goes_through_the_same_poses_without_corners(foot):
    """A sine sampled at 100 Hz: a cubic spline is off by h^4/384, straight lines by h^2/8."""
    t = np.arange(101) / 100
    q = np.tile(foot.pose("stance"), (101, 1))
    q[:, 10] += np.sin(2 * np.pi * t)
    motion = Motion(t, q, np.zeros((101, foot.nv)), feet=np.full((101, 2), 0.5))
    finer = motion.finer(1000)
    assert finer.duration == 1
    assert np.shape(finer.torque) == (1001, foot.nv)
    np.testing.assert_allclose(np.asarray(finer.q)[::10], q, atol=1e-12)
    wanted = q[0, 10] + np.sin(2 * np.pi * np.asarray(finer.times))
    inner = slice(50, -50)  # a spline's ends are guessed
    bound = (2 * np.pi * 0.01) ** 4 / 384  # 4e-8; straight lines: 5e-4
    assert np.abs(np.asarray(finer.q)[:, 10] - wanted)[inner].max() < 1.1 * bound
    with pytest.raises(hs.HeelstrikeError, match="poses a second"):
        motion.finer(0)


def test_a_csv_table_moves_the_joints_that_it_names(tmp_path, foot):
    path = tmp_path / "wave.csv"
    path.write_text("time,L_SFE,R_SFE\n0,0.1,0.2\n0.5,0.3,0.4\n1,0.5,0.6\n")
    motion = play(foot, path)
    left = next(joint for joint in foot.joints if joint.name == "L_SFE")
    np.testing.assert_allclose(np.asarray(motion.q)[:, left.iq], [0.1, 0.3, 0.5])
    np.testing.assert_allclose(motion.times, [0, 0.5, 1])
    others = [joint.iq for joint in foot.joints[1:] if joint.name not in ("L_SFE", "R_SFE")]
    np.testing.assert_array_equal(np.asarray(motion.q)[1, others], foot.pose("stance")[others])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("time,NO_SUCH\n0,1\n1,2\n", "a joint 'NO_SUCH' that hoap1 has not"),
        ("L_SFE\n0\n1\n", "no column 'time'"),
        ("time,L_SFE\n0,x\n1,2\n", "no table of numbers"),
        ("", "needs a line of joint names"),
    ],
)
def test_a_broken_table_is_a_sentence(tmp_path, foot, text, sentence):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(hs.HeelstrikeError, match=sentence):
        play(foot, path)


def test_a_file_that_is_no_motion_is_a_sentence(tmp_path, foot):
    with pytest.raises(hs.HeelstrikeError, match="there is no file"):
        Motion.load(tmp_path / "none.nc")
    (tmp_path / "bad.nc").write_bytes(b"junk")
    with pytest.raises(
        hs.HeelstrikeError, match=r"damaged; allowed: a file that Motion\.save wrote"
    ):
        Motion.load(tmp_path / "bad.nc")
    (tmp_path / "bad.npz").write_bytes(b"junk")
    with pytest.raises(hs.HeelstrikeError, match="not a file of plain arrays"):
        play(foot, tmp_path / "bad.npz")


@pytest.mark.skipif(DATA is None, reason="HEELSTRIKE_DATA is not set")
@pytest.mark.parametrize(
    ("array", "way"), [pytest.param("q1", 0.45, marks=pytest.mark.nightly), ("q3", 0.90)]
)
def test_sr1_walks_its_public_patterns(array, way):
    robot = hs.load(f"{DATA}/robots/sr1.xml", collide="feet")
    table = np.load(f"{DATA}/sr1_walk.npz")
    names = [str(name) for name in table["names"]]
    motion = play(robot, f"{DATA}/sr1_walk.npz", array=array)
    servo = hs.Servo(
        kp=dict(zip(names, table["pgain"], strict=True)),
        kd=dict(zip(names, table["dgain"], strict=True)),
        reference=motion,
    )
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.6))
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law)), dt=1e-3, control=servo)
    com = sim.run(motion.duration, q0=motion.start, every=10).data["com"].values[0]
    assert abs(com[-1, 0] - com[0, 0] - way) < 0.05 * 0.9  # MuJoCo's slip and ours differ
    assert com[:, 2].min() > 0.9 * com[0, 2]
