"""Parameters from motions, against those that the motions were simulated with.

Two balls are thrown at a slant, their poses are told with noise, and the law's parameters are
sought again. The oracle is what they were made with: it lies in an interval of 95 % that often.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.motions import differences, motions, pose_errors

BALL = hs.load("ball")
NOISE = 1e-3, 2e-2  # [m], [rad]
MU = ("ground.friction.mu_s", "ground.friction.mu_k")
ROUGH = (0.05, 0.8)
LAWS = {
    "hunt-crossley": (
        hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.3), hs.Kinetic(mu=0.2)),
        {
            "ground.normal.k": (4e3, 1e5),
            "ground.normal.alpha": (0.06, 1.5),
            "ground.friction.mu": ROUGH,
        },
    ),
    "rigid": (
        hs.Rigid(restitution=0.5, friction=hs.Coulomb(0.2, 0.2)),
        {"ground.restitution": (0.1, 1.0), MU: ROUGH},
    ),
    "implicit": (
        hs.Elastic(hs.LinearSpring(k=2e4, c=40, damping="both"), hs.Coulomb(0.2, 0.2), True),
        {"ground.normal.k": (4e3, 1e5), "ground.normal.c": (8.0, 200.0), MU: ROUGH},
    ),
}


def simulator(law):
    return hs.Simulator(hs.Scene(BALL, hs.Plane(name="ground", law=law)), dt=1e-3)


def thrown(sim):
    """Two balls that bounce twice or so: a table without noise."""
    q0 = np.array([[0, 0, 0.2, 0, 0, 0, 1.0], [0, 0, 0.3, 0, 0, 0, 1]])
    v0 = np.zeros((2, 6))
    v0[:, 0] = 2.0, 2.5  # it slides in the first impact, so that mu is felt
    run = sim.run(0.5, q0=q0, v0=v0, worlds=2, record=("q",), every=10, progress=False)
    return {"time": run.data.time.values, "q": run.data.q.values, "v0": v0}


def told(table, random):
    """With noise on all poses but the first."""
    q = table["q"].copy()
    later = q[:, 1:]
    later[..., :3] += NOISE[0] * random.normal(size=later[..., :3].shape)
    turns = Rotation.from_rotvec(NOISE[1] * random.normal(size=(later[..., 0].size, 3)))
    turned = Rotation.from_quat(later[..., 3:].reshape(-1, 4)) * turns
    later[..., 3:] = turned.as_quat().reshape(later[..., 3:].shape)
    return table | {"q": q}


def held(name, seeds):
    """How often each parameter lies in its interval, and the fits."""
    law, search = LAWS[name]
    sim = simulator(law)
    table = thrown(sim)
    true = {path: float(sim.parameters[path].ravel()[0]) for path in simulator(law).parameters}
    sim = simulator(law)
    fits = [
        hs.identify(told(table, np.random.default_rng(seed)), sim, search, noise=NOISE, sets=24)
        for seed in seeds
    ]
    inside = [
        [low <= true[path] <= high for path, (low, high) in fit.intervals.items()] for fit in fits
    ]
    return np.sum(inside, axis=0), fits


@pytest.mark.parametrize("name", ["hunt-crossley", "rigid"])
def test_parameters_of_thrown_balls_are_found_again(name):
    inside, fits = held(name, range(6))
    # of six intervals at 95 % three or more miss once in 450
    assert np.all(inside >= 4)
    for fit in fits:
        # of noise in units of its size, 600 numbers: known to 3 %
        assert fit.residual == pytest.approx(1, abs=0.15)
        assert not fit.unresolved
        for path, (low, high) in fit.intervals.items():
            assert high / low < 3, path


@pytest.mark.nightly
@pytest.mark.parametrize("name", LAWS)
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    inside, _ = held(name, range(100, 160))
    # 57 of 60 expected; below 51 happens once in 250; roughness widens intervals: more is fine
    assert np.all(inside >= 51), inside


def test_a_recording_and_a_law_are_enough():
    """Without noise, from the recording's own robot, step and worlds; the simulator has them."""
    law = hs.Elastic(hs.HuntCrossley(k=2e4, alpha=0.3), hs.Kinetic(mu=0.2))
    q0 = np.array([[0, 0, 0.2, 0, 0, 0, 1.0], [0, 0, 0.3, 0, 0, 0, 1]])
    run = simulator(law).run(0.3, q0=q0, worlds=2, every=10, progress=False)
    search = {"normal.k": (4e3, 1e5), "normal.alpha": (0.06, 1.5)}
    fit = hs.identify(run, hs.Elastic(hs.HuntCrossley(), hs.Kinetic()), search, sets=24)
    # the same step and code: exact but for where the last cloud lay
    assert fit.values == pytest.approx({"normal.k": 2e4, "normal.alpha": 0.3}, rel=1e-3)
    assert float(fit.model.parameters["ground.normal.k"].ravel()[0]) == fit.values["normal.k"]


def test_a_loss_makes_it_a_search_with_a_bootstrap():
    law, search = LAWS["hunt-crossley"]
    sim = simulator(law)
    table = thrown(sim)
    mu = {"ground.friction.mu": search["ground.friction.mu"]}

    def loss(found):
        return np.log(np.nanmean(found.position**2, axis=-1))

    fit = hs.identify(table, simulator(law), mu, loss=loss, sets=32, rounds=8)
    assert fit.values["ground.friction.mu"] == pytest.approx(0.2, rel=0.02)
    assert fit.samples == 2
    low, high = fit.intervals["ground.friction.mu"]
    assert low <= fit.values["ground.friction.mu"] <= high
    with pytest.raises(HeelstrikeError, match="one number a motion"):
        hs.identify(table, simulator(law), mu, loss=lambda found: found.position, sets=4)


def test_differences_are_what_was_put_in():
    """A turn by a rotation vector and a shift; the sign of a quaternion does not matter."""
    random = np.random.default_rng(1)
    start = Rotation.from_quat(random.normal(size=(5, 4)))
    turn = 0.5 * random.normal(size=(5, 3))
    measured = np.concatenate([random.normal(size=(5, 3)), start.as_quat()], axis=1)
    moved = np.concatenate(
        [measured[:, :3] + 0.1, -(start * Rotation.from_rotvec(turn)).as_quat()], 1
    )
    linear, angular = differences(BALL, moved, measured)
    np.testing.assert_allclose(linear, 0.1, atol=1e-14)
    np.testing.assert_allclose(angular, turn, atol=1e-14)
    failed = pose_errors(BALL, np.full((5, 7), np.inf), measured)
    assert np.all(failed.position == np.inf)
    assert np.all(failed.angle == np.inf)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": np.arange(51) * 0.0101}, "no multiple of the simulator's dt"),
        ({"time": np.arange(51) ** 2.0}, "equal steps"),
        ({"time": np.arange(9) * 0.01}, "with 9 times"),
        ({"v0": np.zeros((2, 5))}, "has 7 coordinates and 6 velocities"),
        ({"v0": np.full((2, 6), np.nan)}, "finite q and v"),
    ],
)
def test_unusable_motions_are_a_sentence(change, said):
    law, search = LAWS["hunt-crossley"]
    q = np.tile([0, 0, 0.2, 0, 0, 0, 1.0], (2, 51, 1))
    table = {"time": np.arange(51) * 0.01, "q": q, "v0": np.zeros((2, 6))} | change
    with pytest.raises(HeelstrikeError, match=said):
        hs.identify(table, simulator(law), search)


def test_what_goes_with_what_is_a_sentence():
    law, search = LAWS["hunt-crossley"]
    table = {"time": np.arange(3) * 0.01, "q": np.zeros((3, 7)), "v0": np.zeros(6)}
    with pytest.raises(HeelstrikeError, match="say which of the simulator's parameters"):
        hs.identify(table, simulator(law))
    with pytest.raises(HeelstrikeError, match="with a table of poses give a simulator"):
        hs.identify(table, law, {"normal.k": (1e3, 1e5)})
    with pytest.raises(HeelstrikeError, match="lacks v0"):
        hs.identify({"time": table["time"], "q": table["q"]}, simulator(law), search)
    with pytest.raises(HeelstrikeError, match=r"did you mean 'ground\.normal\.k'"):
        hs.identify(table, simulator(law), {"ground.normal.kk": (1, 2)})
    with pytest.raises(HeelstrikeError, match="no motions"):
        hs.identify([], simulator(law), search)
    with pytest.raises(HeelstrikeError, match="are for motions"):
        hs.identify({"height": [3, 2, 1]}, simulator(law), search)


def test_motions_of_unlike_length_stand_side_by_side():
    short = {"time": np.arange(3) * 0.01, "q": np.zeros((3, 7)), "v0": np.zeros(6)}
    long = {"time": np.arange(5) * 0.01, "q": np.ones((5, 7)), "v0": np.ones(6)}
    both = motions([short, long])
    assert both.q.shape == (2, 5, 7)
    assert np.isnan(both.q[0, 3:]).all()
    assert both.v0.tolist() == [[0] * 6, [1] * 6]
    with pytest.raises(HeelstrikeError, match="at one rate"):
        motions([short, long | {"time": np.arange(5) * 0.02}])
