"""The measured square, elbow and landings: what is read, refused and predicted.

Oracles: MuJoCo, which must agree with us as long as nothing touches; numbers that were put into a
file; the scatter that the sets' constants state.
"""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.validation import cassie_landing, elbow, square
from heelstrike.validation import elbow_faults as faults
from heelstrike.validation import elbow_physics as physics
from heelstrike.validation import elbow_recording as recording
from heelstrike.validation.cassie import Cassie
from heelstrike.validation.files import data_file
from heelstrike.validation.measured_set import BASELINE
from heelstrike.validation.validate import FOLD

FRAMES = 30


def drops(height=0.25):
    """A square that falls flat on the ground and stays there, frames of 1/250 s."""
    t = np.arange(FRAMES) / square.RATE
    z = np.maximum(height - 9.81 * t**2 / 2 - 2 * t, square.HALF + square.GROUND)
    vz = np.where(z > square.HALF + square.GROUND, -9.81 * t - 2, 0)
    zero = np.zeros(FRAMES)
    return np.stack([zero, z, zero - square.TURN, zero, vz, zero], axis=1)[None]


def tosses():
    """An elbow that falls to 5 mm above the ground, frames of 1/148 s."""
    t = np.arange(FRAMES) / elbow.RATE
    x = np.zeros((1, FRAMES, 15))
    x[..., 3], x[..., 7] = 1.0, 0.3
    x[..., 2] = np.maximum(0.25 - elbow.GRAVITY * t**2 / 2 - t, 0.03)
    x[..., 10] = np.where(x[..., 2] > 0.03, -elbow.GRAVITY * t - 1, 0)
    return x


SETS = {"square": (square.Square, drops), "elbow": (lambda: elbow.Elbow({}), tosses)}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "lacks the array x"),
        ({"x": np.zeros((1, 9, 2))}, "x has the shape"),
        ({"ids": np.array([1, 2])}, "ids has the shape"),
        ("nan", r"7, row 4: .* is nan; leave this case out of the file, or cut it before row 4"),
        ("rate", "velocities say .* frames a second; resample the data"),
        ("high", "never comes near the ground"),
        ("text", "not (of )?numbers"),
        ("turned", "quaternion has the length 0, not 1|theta moves .* rad, but"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, change, message):
    make, rows = SETS[name]
    data = {"x": rows(), "ids": np.array([7])}
    velocity = slice(3, 5) if name == "square" else slice(8, 11)
    if change == "nan":
        data["x"][0, 4, 1] = np.nan
    elif change == "rate":
        data["x"][..., velocity] *= 2
    elif change == "text":
        data["x"] = data["x"].astype(str)
    elif change == "turned":
        data["x"][..., 3:7] *= name == "square"
        data["x"][..., 2] += np.arange(FRAMES) * (name == "square")
    elif change == "high":
        data["x"][..., 1 if name == "square" else 2] += 1
    else:
        data |= change
    path = tmp_path / "mine.npz"
    np.savez(path, **{key: value for key, value in data.items() if value is not None})
    with pytest.raises(hs.FileError, match=message) as raised:
        make().read(path)
    assert raised.value.path == str(path)


@pytest.mark.parametrize("name", SETS)
def test_mujoco_flies_as_we_do(tmp_path, name):
    """Poses until three frames after the start, before anything touches."""
    make, rows = SETS[name]
    path = tmp_path / "mine.npz"
    np.savez(path, x=rows(), ids=np.array([7]))
    about = make()
    cases = about.read(path).cut(4)
    models = about.models()
    ours = models[BASELINE]().predict(cases, {})[0]
    theirs = models["mujoco"]().predict(
        cases, {"k": np.array([1e4]), "b": np.array([100.0]), "mu": np.array([0.2])}
    )[0]
    # both symplectic; damping is implicit here and in MuJoCo's Euler: round-off
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    assert ours[0, -1, 1 if name == "square" else 2] < ours[0, 0, 1 if name == "square" else 2]


@pytest.mark.parametrize("name", SETS)
def test_constants_are_what_the_training_cases_show(name):
    make, _ = SETS[name]
    about = make()
    path = data_file(f"{about.stem}_train.npz")
    if path is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no measurements")
    cases = about.read(path)
    said = about.calibration(cases.chosen(cases.ids % 5 != 1))
    if name == "square":
        assert abs(said["height of the ground, left [mm]"]) < 0.15
        assert abs(said["angle at rest, left [deg]"]) < 0.05
        assert said["scatter of angles at rest [deg]"] == pytest.approx(0.21, abs=0.01)
        assert said["scatter of heights at rest [mm]"] == pytest.approx(0.5, abs=0.02)
    else:
        half = 1e3 * elbow.SHORT * elbow.LENGTH / 4
        assert said["height of a block that lies flat [mm]"] == pytest.approx(half, abs=0.15)
        assert said["its scatter [mm]"] == pytest.approx(0.4, abs=0.05)
        assert said["its tilt, each axis [deg]"] == pytest.approx(0.6, abs=0.05)
        for session in ("first", "second"):
            left = said[f"tilt of the board that is left, {session} session [deg]"]
            assert np.abs(left).max() < 0.1


@pytest.mark.parametrize("number", [7, 407])
def test_elbow_is_put_on_a_level_board(number):
    """A toss on a known board, turned and moved as the files are, comes back."""
    t = np.arange(60) / elbow.RATE
    q = np.zeros((60, 8))
    q[:, 2] = np.maximum(0.2 - t, elbow.SHORT * 0.025)  # comes to rest on the board
    q[:, 6] = 1.0
    tilted = recording.level(number).inv()
    states = np.zeros((60, 15))
    states[:, :3] = tilted.apply(q[:, :3])
    states[:, 2] += 0.012
    states[:, 3:7] = (tilted * Rotation.from_quat(q[:, 3:7])).as_quat()[:, [3, 0, 1, 2]]
    found = recording.on_board("file", "toss", states, number)
    np.testing.assert_allclose(found[:, 3:7], q[:, 3:7], atol=1e-4)  # normal to second order
    np.testing.assert_allclose(found[:, 2], q[:, 2] - recording.TILTED, atol=2e-5)


def test_elbow_momentum_is_mujocos():
    """Angular momentum of poses by differences, in a flight of MuJoCo with a hinge that turns."""
    about = elbow.Elbow({})
    model = elbow.peer(about.robot)
    data = mujoco.MjData(model)
    data.qpos[:] = [0, 0, 2, 0.5, 0.5, -0.5, 0.5, 0.4]
    data.qvel[:] = [0.3, 0.2, 1, 5, -7, 3, 9]
    data.qpos[2], poses, kept = 2.0, [], []
    for _ in range(20):
        mujoco.mj_subtreeVel(model, data)
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        kept.append(data.subtree_angmom[1].copy())
        poses.append(data.qpos[[0, 1, 2, 4, 5, 6, 3, 7]].copy())
        mujoco.mj_step(model, data, elbow.SUBSTEPS)
    ours = [physics.state(np.array(poses[k - 2 : k + 3]), 2) for k in range(2, 18)]
    momenta = np.array([one.angular_momentum() for one in ours])
    # parabolas through five frames of 6.8 ms at 10 rad/s: 1 %
    size = np.linalg.norm(kept[0])
    np.testing.assert_allclose(momenta, kept[2:18], atol=0.02 * size)
    low = np.array([one.corners()[:, 2].min() for one in ours])
    np.testing.assert_allclose(low, recording.lowest(np.array(poses[2:18])), atol=1e-4)


def thrown(about, frames=25):
    """Poses of an elbow that MuJoCo throws, its hinge turning."""
    model = elbow.peer(about.robot)
    data = mujoco.MjData(model)
    data.qpos[:] = [0, 0, 2, 0.5, 0.5, -0.5, 0.5, 0.4]
    data.qvel[:] = [0.3, 0.2, 1, 5, -7, 3, 9]
    poses = []
    for _ in range(frames):
        poses.append(data.qpos[[0, 1, 2, 4, 5, 6, 3, 7]].copy())
        mujoco.mj_step(model, data, elbow.SUBSTEPS)
    return np.array(poses)


def test_elbow_centres_of_mass_are_found_from_a_flight():
    """What is put into MuJoCo's elbow: each block is half of the mass, so offsets count half."""
    about = elbow.Elbow({})
    first, second = (0.004, -0.003, 0.002), (-0.002, 0.005, -0.004)
    about.robot = replace(
        about.robot,
        bodies=tuple(
            replace(body, com=body.com + off)
            for body, off in zip(about.robot.bodies, (first, second), strict=True)
        ),
    )
    found, _ = faults.centres([faults.Flight(thrown(about))])
    shared = first[1] + second[1]  # along the hinge's axis
    put_in = [first[0], shared, first[2], second[0], second[2]]
    # MuJoCo's Euler steps bend the path of the centre of mass by a few micrometres
    np.testing.assert_allclose(found, np.array(put_in) / 2, atol=1e-4)


def test_a_wrong_sign_of_the_elbows_hinge_is_seen():
    poses = thrown(elbow.Elbow({}))
    assert all(better == 0 for _, better in faults.readings([faults.Flight(poses)]).values())
    poses[:, 7] *= -1
    counts = faults.readings([faults.Flight(poses)])
    assert counts["sign of the hinge"] == (1, 1)


def test_elbow_moments_are_found_from_impacts():
    """Changes of velocity by impulses on the lowest corner, in MuJoCo with thin-walled blocks."""
    model = elbow.peer(elbow.Elbow({elbow.THICKNESS: 1e-6}).robot)
    data, random = mujoco.MjData(model), np.random.default_rng(0)

    def now():
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        first = Rotation.from_quat(data.qpos[[4, 5, 6, 3]])
        com, speed = data.subtree_com[1].copy(), data.subtree_linvel[1].copy()
        spin, hinge = first.apply(data.qvel[3:6]), float(data.qpos[7])
        return physics.State(com, speed, first, spin, hinge, float(data.qvel[6]))

    pairs = []
    for _ in range(20):
        data.qpos[3:7] = Rotation.random(random_state=random).as_quat()
        data.qpos[7] = random.uniform(-np.pi, np.pi)
        data.qvel[:] = random.normal(0, 3, 7)
        before = now()
        corners = before.corners()
        low, jacobian = int(corners[:, 2].argmin()), np.zeros((3, model.nv))
        hit = 1 if low < len(corners) / 2 else 2
        mujoco.mj_jac(model, data, jacobian, None, corners[low], hit)
        impulse = [*random.normal(0, 0.2, 2), 1.0]  # [N s]
        change = np.zeros((1, model.nv))
        mujoco.mj_solveM(model, data, change, (jacobian.T @ impulse)[None])
        data.qvel += change[0]
        pairs.append((before, now()))
    over, _ = faults.moments(pairs)
    np.testing.assert_allclose(over, [1.8, 1.48, 1.48], rtol=1e-4)  # a closed box without thickness
    # with the moments of the blocks the hinge passes no moment on
    assert np.abs(physics.hinge_impulses(pairs, over)[:, 0]).max() < 1e-4


def test_cassies_springs_rest_as_the_training_landings_show():
    """No landing of the fold that is judged is in the constants."""
    about = Cassie()
    path = data_file(f"{about.stem}_train.npz")
    if path is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no measurements")
    cases = about.read(path)
    given = cases.chosen(cases.ids % about.parts != FOLD).given
    found = cassie_landing.rests(given["q0"], given["torque"][0, given["row"]])
    for name, angle in cassie_landing.REST.items():
        assert angle == pytest.approx(found[name], abs=1e-4)
