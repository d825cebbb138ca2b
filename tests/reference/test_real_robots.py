"""Recordings of iCub and Cassie: what is read of them, and their models beside MuJoCo's.

Oracles: the feet's poses that the iCub's own file has; scipy's rotations; MuJoCo's model of the
same file for the loops of Cassie and for robots in the air, where no contact law matters.
"""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from models import data_file
from scipy.spatial.transform import Rotation

from heelstrike.errors import FileError
from heelstrike.validation import cassie_landing as landings
from heelstrike.validation import icub_models, icub_recording, icub_robot
from heelstrike.validation.cassie import Cassie
from heelstrike.validation.cassie_models import Lander, MujocoLander
from heelstrike.validation.icub import Swaying, Walking
from heelstrike.validation.icub_models import MujocoWalker, Walker
from heelstrike.validation.measured_set import Cases


@cache
def walking() -> Cases:
    return Walking().read(data_file("icub_walking.npz"))


@cache
def cassie() -> Cases:
    return Cassie().read(data_file("cassie_landing_train.npz"))


def test_soles_are_where_the_file_has_them():
    """Rotation about fixed axes; 15 mm: the base estimate's height is 11 mm off the feet's."""
    path = data_file("icub_walking.npz")
    data_file("robots/icub.urdf")
    made = icub_recording.read(path, Walking.columns)
    with np.load(path) as data:
        taken = icub_recording.taken_at(data["time"])
        even = np.arange(taken[0], taken[-1], 1 / icub_recording.RATE)
        wanted = [np.interp(even, taken, data["left_foot_position"][:, k]) for k in range(3)]
    still = np.zeros(icub_robot.robot().nv)
    for frame in range(0, len(made), 150):
        found = icub_robot.soles(made.filed[frame], still)[0][0]
        assert np.abs(found - np.array(wanted)[:, frame]).max() < 0.015


def test_forces_are_zeroed():
    """A foot in the air carries nothing, both together the weight on the average, to 2 %."""
    force = walking().measured[..., :2]
    flying = force[..., 1] > 0.95 * icub_recording.weight()
    assert abs(np.median(force[..., 0][flying])) < 3
    assert abs(force.sum(axis=-1).mean() / icub_recording.weight() - 1) < 0.02


def test_phases_of_a_step():
    """Every phase occurs, and a foot that touches has carried nothing just before."""
    phase = Walking().phase(walking())
    assert set(np.unique(phase)) == {0, 1, 2}
    alone = walking().measured[phase == 2][:, :2].min(axis=-1)
    assert alone.max() < 0.1 * icub_recording.weight() + 1e-9


def test_imu_of_a_steady_turn():
    """A base that turns about the vertical at w feels w^2 r towards the axis, and gravity."""
    w, frames = 0.7, 5
    t = np.arange(frames) / icub_recording.RATE
    q = np.zeros((frames, 7))
    q[:, 3:7] = Rotation.from_euler("z", (w * t)[:, None]).as_quat()
    v = np.tile([0, 0, 0, 0, 0, w], (frames, 1))
    gyro, acceleration = icub_models.imu(q, v)
    turn, place = icub_robot.IMU
    assert np.allclose(gyro @ turn.T, [0, 0, w], atol=1e-12)
    local = acceleration @ turn.T
    wanted = [-(w**2) * place[0], -(w**2) * place[1], icub_robot.GRAVITY]
    assert np.allclose(local, wanted, atol=1e-5)  # differences over two frames


def test_spin_of_a_quaternion():
    """Against the rotation vector between two near rotations."""
    one = Rotation.from_euler("xyz", [0.3, -0.8, 2.0])
    step = np.array([0.2, -0.4, 0.5]) * 1e-6
    rate = ((one * Rotation.from_rotvec(step)).as_quat() - one.as_quat()) / 1e-6
    assert np.allclose(icub_recording.spin(one.as_quat(), rate), step / 1e-6, atol=1e-5)


def test_icub_in_the_air_moves_as_in_mujoco():
    """The same servo, 10 m above the ground: 4 mrad/s and 0.2 mm; damping is explicit there."""
    cases = walking().chosen(slice(0, 1))
    q0 = cases.given["q0"].copy()
    q0[:, 2] += 10.0
    cases = cases.with_given(q0=q0)
    values = {"leg.stiffness": 3e3, "hip_roll.stiffness": 2e3, "lean": 1.0}
    ours = Walker(None, None).predict(cases, {k: np.array([x]) for k, x in values.items()})[0, 0]
    theirs = MujocoWalker().one(cases, {**values, "k": 1e3, "b": 50.0, "mu": 0.5})[0]
    assert np.abs(ours[:, 9:12] - theirs[:, 9:12]).max() < 4e-3
    assert np.abs(ours[:, 2:5] - theirs[:, 2:5]).max() < 2e-4
    assert not theirs[:, :2].any()


def test_loops_of_cassie_close():
    """Names, signs and zeros of the map: rod and heel spring meet within 1 mm, by MuJoCo."""
    model = mujoco.MjModel.from_xml_path(str(data_file("robots/cassie.xml")))
    data = mujoco.MjData(model)
    with np.load(data_file("cassie_landing_train.npz")) as file:
        rows = np.concatenate([file[f"x_{number:02d}"][::20] for number in file["ids"]])
    for row in rows.astype(float):
        data.qpos[:] = model.key_qpos[0]
        data.qpos[:7] = [*row[4:7], *row[:4]]
        for name, angle in zip(landings.JOINTS, row[7:23], strict=True):
            data.joint(name).qpos = angle
        mujoco.mj_kinematics(model, data)
        for side in landings.SIDES:
            spring = data.body(f"{side}-heel-spring")
            anchor = model.eq_data[1 if side == "left" else 3, 3:6]
            end = spring.xpos + spring.xmat.reshape(3, 3) @ anchor
            length = np.linalg.norm(end - data.body(f"{side}-achilles-rod").xpos)
            assert abs(length - 0.5012) < 1.1e-3


def test_cassie_in_the_air_moves_as_in_mujoco():
    """10 ms with torques, springs and loops, grounds far below: rates to 0.1 of up to 14 rad/s.

    MuJoCo's loops are made as hard as they can be; its springs are explicit.
    """
    data_file("robots/cassie.xml")
    cases = cassie().chosen(np.array([4, 12]))
    cases = cases.with_given(ground=cases.given["ground"] - 10.0)
    ours = Lander(None, None).predict(cases, {})[0]
    peer = MujocoLander()
    peer.model.eq_solref[:] = 2 * peer.model.opt.timestep, 1
    peer.model.eq_solimp[:, :2] = 0.9999
    theirs = peer.one(cases, {"k": 1e3, "b": 50.0, "mu": 0.5, "depth": 1e-3})
    assert np.abs(ours - theirs)[:, :20].max() < 0.1


def test_a_foot_stops_where_it_gets_no_lower():
    """A parabola that falls by 20 mm and rises again; one that falls by 4 mm does not count."""
    t = np.arange(40)
    assert landings.first_stop(0.02 * ((t - 20) / 20.0) ** 2) == 20
    assert landings.first_stop(0.004 * ((t - 20) / 20.0) ** 2) is None


def test_landings_that_cannot_be_read(tmp_path):
    """Errors name file, landing, row and remedy."""
    with np.load(data_file("cassie_landing_train.npz")) as file:
        good = {"ids": np.array([7]), **{f"{k}_07": file[f"{k}_07"] for k in "txu"}}
    path = tmp_path / "cassie_landing_test.npz"
    bad = good["x_07"].copy()
    bad[3, 9] = np.nan
    high = good["x_07"].copy()
    high[:, 6] += np.linspace(0, 1, len(high))
    for change, said in (
        ({"x_07": bad}, "landing 7, row 3: left-hip-yaw is nan"),
        ({"ids": np.array([7, 8])}, "lacks the array t_08"),
        ({"t_07": 2 * good["t_07"]}, "s apart, not 0.0005"),
        ({"x_07": high}, "never lands"),
    ):
        np.savez(path, **{**good, **change})
        with pytest.raises(FileError, match=said) as raised:
            Cassie().read(path)
        assert str(path) in str(raised.value)
        assert raised.value.remedy


def test_recordings_that_cannot_be_read(tmp_path):
    """Errors name file, row and remedy."""
    with np.load(data_file("icub_sway.npz")) as file:
        good = {name: file[name][:400] if name != "joints" else file[name] for name in file}
    path = tmp_path / "icub_sway_test.npz"
    missing = {name: x for name, x in good.items() if name != "q"}
    late = good["time"].copy()
    late[50:] += 1.0
    names = good["joints"].copy()
    names[2] = "tail"
    for table, said in (
        (missing, "lacks the array q"),
        ({**good, "time": late}, "row 50 is"),
        ({**good, "time": 10 * good["time"]}, "row 221 is"),
        ({**good, "joints": names}, "no joint 'tail'"),
    ):
        np.savez(path, **table)
        with pytest.raises(FileError, match=said) as raised:
            Swaying().read(path)
        assert raised.value.remedy
    np.savez(path, **good)
    assert len(Swaying().read(path)) == 2
    with pytest.raises(FileError, match="no window"):
        Walking().read(path)
