"""The tossed cubes: reading, beginning, simulating and judging a toss.

Oracles: a flight in closed form; errors put in on purpose; a toss that was simulated itself, which
must be found again by the parameters it was made with and by no others. What the real tosses come
to is judged row by row in test_marhefka1996.py; here, that they are read as their file says.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.papers import paper
from heelstrike.papers.marhefka1996 import tosses
from heelstrike.papers.marhefka1996.cubes import CANDIDATES, Candidate, scores
from heelstrike.papers.marhefka1996.tosses import HALF, RATE, Errors, errors, read, simulate

LAW = hs.Elastic(hs.HuntCrossley(k=3e3, alpha=1.0), hs.Kinetic(mu=0.3))
FRAMES = 60


def states(q, v):
    """Rows as in the file: position, quaternion wxyz, velocity (world), angular velocity (body)."""
    linear = Rotation.from_quat(q[:, 3:]).apply(v[:, :3])
    return np.concatenate([q[:, :3], q[:, [6, 3, 4, 5]], linear, v[:, 3:]], axis=1)


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """A file of four tosses that were simulated with LAW."""
    scene = hs.Scene(hs.load("cube"), hs.Plane(law=LAW))
    sim = hs.Simulator(scene, dt=1 / (10 * RATE))
    random = np.random.default_rng(5)
    turned = Rotation.from_quat(random.normal(size=(4, 4))).as_quat()
    q0 = np.concatenate([np.tile([0, 0, 0.16], (4, 1)), turned], axis=1)
    v0 = np.concatenate([random.normal(0, 0.6, (4, 3)), random.normal(0, 2, (4, 3))], axis=1)
    run = sim.run(steps=10 * FRAMES, q0=q0, v0=v0, worlds=4, every=10, progress=False)
    rows = [states(run.data.q.values[k], run.data.v.values[k]) for k in range(4)]
    path = tmp_path_factory.mktemp("tosses") / tosses.FILE
    offset = np.cumsum([0, *map(len, rows)])
    np.savez(path, x=np.concatenate(rows).astype(np.float32), offset=offset)
    return path


def test_velocity_of_a_flight():
    """A parabola and one turn, in frames: the velocity at the last of them."""
    t = np.arange(9) / RATE
    v0, spin = np.array([0.8, -0.3, 0.5]), np.array([3.0, -1.0, 2.0])
    position = t[:, None] * v0 - [[0, 0, 9.81 / 2]] * t[:, None] ** 2
    rotations = Rotation.from_rotvec([0.3, 0.2, -1]) * Rotation.from_rotvec(t[:, None] * spin)
    velocity, found = tosses.flight(position, rotations)
    np.testing.assert_allclose(velocity, v0 - [0, 0, 9.81 * t[-1]], atol=1e-12)
    np.testing.assert_allclose(found, spin, atol=1e-12)


def test_an_invented_toss_is_found_again(invented):
    """Started three frames before it can touch, simulated with its own law."""
    made = read(invented)
    assert len(made) == 4
    start = made.position[:, 0, 2]
    assert np.all(start > np.sqrt(3) * HALF)
    off = errors(made, simulate(made, LAW))
    # the parabola is off symplectic Euler's by g dt / 2 = 3 mm/s; impacts make more of it
    assert off.position[0, :, :4].max() < 3e-4
    assert np.median(off.width) < 2
    assert np.median(off.degrees) < 2


def test_the_score_finds_the_friction(invented):
    """The geometric mean of e_q is least at the mu that the tosses were made with."""
    made = read(invented)
    mu = np.array([0.15, 0.25, 0.3, 0.35, 0.6])
    score = scores(Candidate(LAW, {}, {}), {"friction.mu": mu}, made)
    assert score.shape == (5,)
    assert np.argmin(score) == 2


@pytest.mark.filterwarnings("ignore::heelstrike.errors.HeelstrikeWarning")
def test_what_diverges_never_wins(invented):
    law = hs.Elastic(hs.LinearSpring(), hs.Kinetic())
    sets = {"normal.k": np.array([3e3, 1e9]), "normal.c": np.array([20, 1e6])}
    score = scores(Candidate(law, {}, {}), sets, read(invented))
    assert score[0] < 10
    assert score[1] == np.inf


def test_sets_share_a_run_bit_for_bit(invented):
    """Parameters times tosses in one run are the runs of each alone."""
    made = read(invented)
    k = np.array([1e3, 5e3])
    both = simulate(made, LAW, {"ground.normal.k": k})
    for i in range(2):
        alone = simulate(made, LAW, {"ground.normal.k": k[i : i + 1]})
        np.testing.assert_array_equal(both[i], alone[0])


def test_errors_are_what_was_put_in(invented):
    made = read(invented)
    moved = np.concatenate([made.position + np.array([1e-3, 0, 0]), -made.quaternion], axis=-1)
    turned = Rotation.from_quat(made.quaternion[0, :5]) * Rotation.from_rotvec([0, 0, 0.1])
    moved[0, :5, 3:] = turned.as_quat()
    off = errors(made, moved)
    np.testing.assert_allclose(off.width, 100 * 1e-3 / (2 * HALF), rtol=1e-9)
    # an arc cosine near 1 keeps half the digits
    np.testing.assert_allclose(off.rotation[0, :5], 0.1, atol=1e-7)
    assert np.nanmax(off.rotation[1:]) < 1e-7
    np.testing.assert_allclose(off.e_q[1:], 1e-6 / HALF, rtol=1e-6)


def test_means_end_with_the_toss():
    off = Errors(np.array([[0.01, 0.03, np.nan]]), np.array([[0.1, 0.1, np.nan]]))
    assert off.width[0] == pytest.approx(100 * 0.02 / 0.1048)
    assert off.e_q[0] == pytest.approx(5e-4 / HALF + 0.01)


def test_no_data_is_a_sentence(monkeypatch, tmp_path):
    for folder in (None, str(tmp_path)):
        if folder is None:
            monkeypatch.delenv("HEELSTRIKE_DATA", raising=False)
        else:
            monkeypatch.setenv("HEELSTRIKE_DATA", folder)
        result = paper("marhefka1996").run("cubes")
        assert result.rows == ()
        assert "set HEELSTRIKE_DATA" in result.claim
        assert result.draw is None


def test_files_that_hold_no_tosses(tmp_path):
    np.savez(tmp_path / "other.npz", y=np.zeros(3))
    with pytest.raises(HeelstrikeError, match="lacks the arrays x and offset"):
        read(tmp_path / "other.npz")
    high = np.tile([0, 0, 1.0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], (9, 1))
    np.savez(tmp_path / "high.npz", x=high, offset=[0, 9])
    with pytest.raises(HeelstrikeError, match="never comes near the ground"):
        read(tmp_path / "high.npz")


def test_the_real_tosses():
    """As their description says: 440, resting 51.2 mm high, in free flight before they touch."""
    path = tosses.data_file()
    if path is None:
        pytest.skip("HEELSTRIKE_DATA is not set: no tosses")
    made = read(path)
    assert len(made) == 440
    last = np.array([row[np.isfinite(row)][-1] for row in made.position[..., 2]])
    assert np.median(last) == pytest.approx(51.2e-3, abs=5e-4)
    off = errors(made, simulate(made, None))
    # three frames of flight: the data's own 2 mm
    assert np.median(off.position[0, :, 3]) < 2e-3
    assert np.degrees(np.median(off.rotation[0, :, 3])) < 2


@pytest.mark.parametrize("name", list(CANDIDATES))
def test_what_was_found_lies_in_the_ranges(name):
    candidate = CANDIDATES[name]
    assert list(candidate.found) == list(candidate.ranges)
    for path, (least, most) in candidate.ranges.items():
        assert least <= candidate.found[path] <= most
