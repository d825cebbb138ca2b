"""Environments against Gymnasium's own checker, its SyncVectorEnv over single worlds, and the
simulator stepped by hand: bit by bit, for a world does the same in any batch.

Random numbers against the same formula in Python's whole numbers, which do not wrap around.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import heelstrike as hs
from heelstrike.environments import SingleEnvironment, random_numbers
from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.target import CompileTarget
from tests.toppler import scene

WORLDS = 5
STAND = "heelstrike.environments:heelstrike/Stand-v0"
BUSY = {
    "pushes": hs.Pushes(force=(5, 40), wait=(0.05, 0.2), body="trunk"),
    "vary": {"ground.friction.mu_k": (0.3, 0.6), "arm.mass": lambda u: 0.2 + 0.1 * u},
    "episode": 0.5,
    "noise": (0.05, 0.5),
    "terminated": lambda s: s.gravity[:, 2] > -0.9,
    "observation": lambda s: s.xp.concatenate([s.joined("height", "v", "load"), s.action], 1),
}
"""All that can differ from world to world; falls and time limits both happen."""


def made(worlds=WORLDS, **options):
    return hs.Environments(scene(), worlds, **options)


def actions(envs, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, *envs.action_space.shape)).astype(np.float32)


def test_gymnasium_checks_the_single_world():
    env = gymnasium.make(STAND)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*infinity")  # no bound holds for a velocity
        check_env(env.unwrapped)


def test_gymnasium_makes_many_worlds_and_wraps_them():
    envs = gymnasium.make_vec(STAND, num_envs=3, episode=0.2)
    assert isinstance(envs.unwrapped, hs.Environments)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    wrapped = RecordEpisodeStatistics(envs)
    seen, _ = wrapped.reset(seed=1)
    assert seen in envs.observation_space
    total, still = 0.0, np.zeros(envs.action_space.shape)
    for _ in range(10):
        seen, reward, _, late, info = wrapped.step(still)
        total += reward
    assert late.all()
    assert info["episode"]["l"].tolist() == [10, 10, 10]
    np.testing.assert_allclose(info["episode"]["r"], total, rtol=1e-6)  # float32, other order


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_worlds_do_as_they_would_alone(mode):
    """Observations, rewards, ends and restarts of Gymnasium's loop over single environments."""
    ours = made(autoreset=mode, **BUSY)
    alone = [lambda: SingleEnvironment(scene(), **BUSY)] * WORLDS
    theirs = SyncVectorEnv(alone, autoreset_mode=AutoresetMode[mode.upper()])
    np.testing.assert_array_equal(ours.reset(seed=7)[0], theirs.reset(seed=7)[0])
    fell = late = 0
    for action in actions(ours, 80):
        mine, other = ours.step(action), theirs.step(action)
        for ours_is, theirs_is in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_array_equal(ours_is, theirs_is.astype(ours_is.dtype))
        last = other[4].get("_final_obs", np.zeros(WORLDS, bool))
        np.testing.assert_array_equal(mine[4].get("_final_obs", last), last)
        for world in np.flatnonzero(last):
            found = mine[4]["final_obs"][world]
            np.testing.assert_array_equal(found, other[4]["final_obs"][world])
        fell, late = fell + mine[2].sum(), late + mine[3].sum()
    assert fell > 2
    assert late > 2


def test_steps_are_the_simulators():
    """The same references by hand; the observation says what the state says."""
    envs = made(hold=7, scale=0.2, noise=(0, 0))
    sim = hs.Simulator(scene(), control=hs.Servo(), worlds=WORLDS, dtype="float32")
    envs.reset(seed=0)
    sim.reset()
    for action in actions(envs, 5):
        seen = envs.step(action)[0]
        reference = np.zeros((WORLDS, sim.robot.nv))
        reference[:, 6:] = np.float32(0.2) * action
        before = sim.state["impulse"]
        sim.parameters["servo.q_ref"] = reference
        sim.step(7)
        for name, value in sim.state.copy().items():
            np.testing.assert_array_equal(envs.sim.state[name], value, err_msg=name)
    q, v = sim.state["q"], sim.state["v"]
    force = (sim.state["impulse"] - before) / 7e-3 / (9.81 * sim.robot.mass)
    x, y, z, w = q[:, 3:7].T
    gravity = np.stack([2 * (w * y - x * z), -2 * (y * z + w * x), 2 * (x * x + y * y) - 1], 1)
    expected = np.concatenate([q[:, 2:3], gravity, v, q[:, 7:], force], 1)
    np.testing.assert_allclose(seen, expected, atol=2e-6)  # rounding of float32


def test_a_start_is_no_end():
    """Even where the start would count as one: Gymnasium's loop asks nobody after a reset."""
    envs = made(terminated=lambda s: s.steps >= 0)
    envs.reset(seed=0)
    still = np.zeros(envs.action_space.shape)
    assert [envs.step(still)[2].all() for _ in range(4)] == [True, False, True, False]


def test_lanes_without_a_world_follow_the_last_one():
    """Else they would fall for ever, and cost rounds of the solver."""
    envs = made(**BUSY)
    envs.reset(seed=0)
    for action in actions(envs, 60):
        envs.step(action)
    for name in envs.sim.state:
        last = envs.sim.device_array(name)[-1, :, WORLDS - 1 :]
        np.testing.assert_array_equal(last, last[:, :1] + 0 * last, err_msg=name)


@pytest.mark.parametrize("worlds", [1, 5])
def test_what_was_handed_out_stays(worlds):
    """Also where a state alone is seen, and where one world's is a view elsewhere."""
    hooks = {"observation": lambda s: s.joined("v"), "reward": lambda s: s.action[:, 0]}
    envs = made(worlds, autoreset="same_step", episode=0.02, **hooks)
    envs.reset(seed=0)
    action = np.full(envs.action_space.shape, 0.5)
    found = envs.step(action)
    info = found[4]
    kept = [np.array(each) for each in (*found[:4], info["final_obs"])]
    envs.step(0 * action)
    for one, other in zip(kept, (*found[:4], info["final_obs"]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (kept[1] == 0.5).all()


def test_the_simulator_may_be_used_between():
    """Runs that record, looks and other pushes leave the worlds' memory where it is."""
    one, other = made(**BUSY), made(**BUSY)
    for envs in (one, other):
        envs.reset(seed=0)
    for k, action in enumerate(actions(one, 12)):
        found, expected = one.step(action), other.step(action)
        np.testing.assert_array_equal(found[0], expected[0])
        other.sim.step(5)
        run = one.sim.run(steps=5, record=["q", "force"])
        assert run.data["q"].shape == (WORLDS, 6, 8)
        one.sim.observe("com")
        if k == 6:
            for envs in (one, other):
                envs.sim.push("trunk", [1, 0, 0], duration=0.01)
    assert "push1.force" in one.sim.parameters  # the environment's own is left alone


def test_seeds_repeat_and_differ():
    envs = made(**BUSY)
    first, again = envs.reset(seed=3)[0], envs.reset(seed=[3, 4, 5, 6, 9])[0]
    np.testing.assert_array_equal(first[:4], again[:4])
    assert (first[4] != again[4]).any()
    assert len({row.tobytes() for row in again}) == WORLDS
    following = envs.reset()[0]
    assert (following != again).any(axis=1).all()
    np.testing.assert_array_equal(made(**BUSY).reset(seed=3)[0], first)


def test_a_world_that_diverges_ends_and_the_others_go_on():
    envs, calm = made(), made()
    for each in (envs, calm):
        each.reset(seed=0)
    action = np.zeros(envs.action_space.shape)
    fast = envs.sim.state["v"]
    fast[2] = 1e30
    envs.sim.state["v"] = fast
    *_, ended, _, _ = envs.step(action)
    calm.step(action)
    assert ended.tolist() == [False, False, True, False, False]
    seen, reward, ended, _, _ = envs.step(np.zeros_like(action))
    expected = calm.step(np.zeros(action.shape))[0]
    assert np.isfinite(seen).all()
    assert reward[2] == 0
    assert not ended.any()
    np.testing.assert_array_equal(np.delete(seen, 2, 0), np.delete(expected, 2, 0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_action_that_is_not_finite_is_refused(value):
    envs = made()
    before = envs.reset(seed=0)[0]
    action = np.zeros(envs.action_space.shape)
    action[2, 0] = value
    with pytest.raises(HeelstrikeError, match="an action is not finite"):
        envs.step(action)
    assert np.isfinite(before).all()
    assert np.isfinite(envs.step(0 * np.ones_like(action))[0]).all()


def test_without_autoreset_the_user_resets():
    envs = made(autoreset="disabled", terminated=lambda s: s.steps > 30, hold=10)
    start = envs.reset(seed=0)[0]
    still = np.zeros(envs.action_space.shape)
    ends = [envs.step(still)[2].all() for _ in range(5)]
    assert ends == [False, False, False, True, True]
    mask = np.arange(WORLDS) % 2 == 0
    seen = envs.reset(seed=0, options={"reset_mask": mask})[0]
    np.testing.assert_array_equal(seen[mask], start[mask])
    assert (seen[~mask] != start[~mask]).any(axis=1).all()


def test_hooks_and_starts_of_the_users():
    """What they are given is what the state holds."""

    def start(draw):
        q = draw.q0 + 0 * draw.uniform(len(draw.q0))
        q[:, 2] += draw.uniform(1, 0.1, 0.2)[:, 0]
        return q, draw.v0 + 0 * draw.uniform(len(draw.v0))

    envs = made(
        start=start,
        observation=lambda s: s.xp.stack([s.height, s.joints[:, 0], s.force[:, 0, 2]], 1),
        reward=lambda s: s.action[:, 0],
        action="torque",
        dtype="float64",
    )
    seen, _ = envs.reset(seed=0)
    assert seen.dtype == np.float64
    rise = seen[:, 0] - envs.sim.robot.pose("stance")[2]
    assert np.all((rise > 0.1) & (rise < 0.2))
    action = np.linspace(-2, 2, WORLDS)[:, None]
    seen, reward, *_ = envs.step(action)
    np.testing.assert_array_equal(reward, np.clip(action[:, 0], -1, 1))
    np.testing.assert_array_equal(envs.sim.state["q"][:, 7], seen[:, 1])
    assert (seen[:, 2] == 0).all()  # in the air
    pushed = envs.sim.parameters["servo.torque"].shape, envs.sim.device_array("servo.torque")
    assert pushed[1][0, 6, :WORLDS].tolist() == (5 * np.clip(action[:, 0], -1, 1)).tolist()


def test_nothing_is_compiled_or_kept_in_the_loop(monkeypatch):
    envs = made(64, **BUSY)
    envs.reset(seed=0)
    monkeypatch.setattr(CompileTarget, "kernel", lambda *_: pytest.fail("compiles"))
    chosen = actions(envs, 4)

    def held():
        for k in range(200):
            envs.step(chosen[k % 4])
        gc.collect()  # when Python collects by itself depends on what ran before
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        held()
        before = held()
        # bytes in 200 steps; one array of a number a world that is kept in each makes 70,000
        assert held() - before < 40_000
    finally:
        tracemalloc.stop()


def test_draws_are_those_of_whole_numbers():
    def mix(x):
        x = ((x ^ x >> 16) * 0x7FEB352D) % 2**32
        x = ((x ^ x >> 15) * 0x846CA68B) % 2**32
        return x ^ x >> 16

    golden, other = 0x9E3779B9, 0x85EBCA6B
    for seed, episode, k in [(0, 0, 0), (1, 2, 3), (2**31 + 5, 10**6, -7), (2**40 + 1, 9, 2)]:
        s = (seed ^ seed >> 32) % 2**32
        a = mix((s + golden * episode) % 2**32)
        b = mix((mix(s ^ other) + episode) % 2**32)
        expected = mix(mix((a + golden * k) % 2**32) ^ b) >> 8
        own = random_numbers.fold_seeds([seed])
        found = random_numbers.stream(own, random_numbers.other(own), np.array([episode], np.int32))
        assert random_numbers.bits(*found, np.array([k], np.int32)).tolist() == [expected]


def test_draws_are_spread_evenly():
    """Mean, variance and the correlation between worlds, episodes and counters of 2^18 numbers:
    within four of their standard deviations.
    """
    worlds, n = 512, 512
    k = np.arange(n, dtype=np.int32)
    found = []
    for episode in (0, 1):
        own = random_numbers.fold_seeds(range(worlds))
        a, b = random_numbers.stream(
            own, random_numbers.other(own), np.full(worlds, episode, np.int32)
        )
        found.append(random_numbers.bits(a[:, None], b[:, None], k) * 2.0**-24)
    u = found[0]
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(u.mean() - 1 / 2) < 4 * np.sqrt(1 / 12 / u.size)
    assert abs(u.var() - 1 / 12) < 4 * np.sqrt(1 / 180 / u.size)
    for one, two in [(u[1:], u[:-1]), (u[:, 1:], u[:, :-1]), (u, found[1])]:
        assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 4 / np.sqrt(one.size)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hold": 0}, "hold is 0; allowed: an integer above 0"),
        ({"episode": 1e-3}, r"at least one action, 0\.02 s"),
        ({"autoreset": "never"}, "autoreset modes: next_step, same_step, disabled"),
        ({"action": "speed"}, "actions: position, torque"),
        ({"scale": [0.1, 0.2]}, "allowed: one number above 0, or one for each of the 1 joints"),
        ({"noise": 0.1}, "noise is 0.1; allowed: two numbers of at least 0"),
        ({"vary": {"dt": (1e-3, 2e-3)}}, "share one time step; remove dt from vary"),
        ({"vary": {"ground.friction.mu": (0, 1)}}, "did you mean"),
        ({"vary": {"ground.friction.mu_k": (-1, 1)}}, "mu_k"),
        ({"vary": {"ground.friction.mu_k": 0.5}}, r"\(low, high\)"),
        ({"vary": {"arm.mass": lambda u: 0.5}}, r"arm.mass is \(\); allowed: \(count, 1\)"),
        ({"reward": lambda s: s.q}, r"reward returned .* shape \(5, 8\); return \(5,\)"),
        ({"observation": lambda s: s.height}, r"observation returned .* \(5,\); return \(5, n\)"),
        ({"observation": lambda s: s.joined("hight")}, "no quantity 'hight'"),
        ({"observation": lambda s: s.q.astype(int)}, "returned an array of int64; return real"),
        ({"terminated": lambda s: s.height}, "returned an array of float32; return booleans"),
        ({"start": lambda draw: draw.q0}, r"shapes \(8,\); return q, \(5, 8\), and v, \(5, 7\)"),
        ({"start": lambda draw: (draw.q0, draw.v0)}, r"shapes \(8,\) and \(7,\); return"),
        ({"pushes": hs.Pushes(body="tail")}, "tail"),
    ],
)
def test_wrong_arguments_get_sentences(options, said):
    with pytest.raises(HeelstrikeError, match=said):
        made(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"force": 10}, r"force is 10; allowed: \(smallest, largest\), both at least 0"),
        ({"force": (0, "1")}, r"force is \(0, '1'\); allowed"),
        ({"wait": 1}, "wait is 1; allowed"),
        ({"wait": np.array(1.0)}, r"wait is array\(1\.\); allowed"),
        ({"duration": "x"}, "duration is 'x'; allowed: times above 0 s"),
    ],
)
def test_wrong_pushes_get_sentences(options, said):
    with pytest.raises(HeelstrikeError, match=said):
        hs.Pushes(**options)


def test_seeds_may_be_numbers_of_numpy():
    """Below 0 and of any kind of theirs, as Python's."""
    for seeds in ([0, 1, 2, 3, 4], [-1, 7, 2**31, 0, 5]):
        wanted, _ = made().reset(seed=seeds)
        found, _ = made().reset(seed=np.array(seeds))
        np.testing.assert_array_equal(found, wanted)


def test_other_mistakes_get_sentences():
    with pytest.raises(HeelstrikeError, match=r"Pushes: force is \(5, 1\); allowed"):
        hs.Pushes(force=(5, 1))
    with pytest.raises(HeelstrikeError, match="scene is 3; allowed: the name or file of a scene"):
        hs.Environments(3)
    sim = hs.Simulator(scene(), worlds=2)
    with pytest.raises(HeelstrikeError, match="worlds is 3; allowed: 2, which the simulator has"):
        hs.Environments(sim, 3)
    with pytest.raises(HeelstrikeError, match="dtype is 'float32'; allowed: float64"):
        hs.Environments(sim, dtype="float32")
    with pytest.raises(HeelstrikeError, match="worlds is 0; allowed: an integer above 0"):
        made(0)
    with pytest.raises(HeelstrikeError, match="no servo"):
        hs.Environments(sim)
    envs = made()
    with pytest.raises(HeelstrikeError, match=r"actions have the shape \(5, 2\); pass \(5, 1\)"):
        envs.step(np.zeros((5, 2)))
    with pytest.raises(HeelstrikeError, match=r"\(1,\) and the type bool; pass 5 booleans"):
        envs.reset(options={"reset_mask": [True]})
    with pytest.raises(HeelstrikeError, match="no option 'mask'"):
        envs.reset(options={"mask": [True] * 5})
    with pytest.raises(HeelstrikeError, match="the type int64; pass 5 booleans"):
        envs.reset(options={"reset_mask": [1, 0, 1, 0, 2]})
    with pytest.raises(HeelstrikeError, match="numbers from -1 to 1"):
        envs.step(np.full((5, 1), 1j))
    with pytest.raises(HeelstrikeError, match="finite ends"):
        made(commands=hs.Commands({"speed": (np.nan, 1.0)}))
    with pytest.raises(HeelstrikeError, match="finite numbers"):
        made(commands=hs.Commands({"speed": lambda u: u + np.inf}))
    envs = made(curriculum=lambda p: 0.5, episode=0.02, autoreset="same_step")
    envs.reset(seed=0)
    with pytest.raises(HeelstrikeError, match=r"curriculum .* shape \(\); return \(5,\), a level"):
        envs.step(np.zeros((5, 1)))
    with pytest.raises(HeelstrikeError, match=r"seed is \[1, 2\]; allowed: one integer, or 5"):
        envs.reset(seed=[1, 2])


def test_without_gymnasium_a_sentence(monkeypatch):
    for name in list(sys.modules):
        if name.startswith("heelstrike.environments"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(HeelstrikeError, match=r"heelstrike\[gym\]"):
        hs.Environments  # noqa: B018


def test_gymnasium_records_a_film(tmp_path):
    """Its own RecordVideo, of one world by its name."""
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    env = gymnasium.make("heelstrike/Stand-v0", render_mode="rgb_array", width=32)
    film = gymnasium.wrappers.RecordVideo(env, str(tmp_path))
    film.reset(seed=0)
    for _ in range(3):
        film.step(np.zeros(env.action_space.shape, np.float32))
    film.close()
    assert [path.stat().st_size > 500 for path in tmp_path.glob("*.mp4")] == [True]


def test_pictures_show_the_robot_where_it_is():
    """Gymnasium passes render_mode; a robot that moved looks different, and the size stays."""
    env = gymnasium.make("heelstrike/Stand-v0", render_mode="rgb_array", width=48)
    env.reset(seed=0)
    before = env.render()
    assert before.dtype == np.uint8
    assert before.shape[1:] == (48, 3)
    for _ in range(10):
        env.step(np.full(env.action_space.shape, 0.8, np.float32))
    after = env.render()
    assert after.shape == before.shape
    assert np.abs(after.astype(int) - before.astype(int)).max() > 60
    assert env.metadata["render_fps"] == 50
    assert hs.Environments("stand", 2).render() is None
    with pytest.raises(hs.UnknownNameError, match="no render_mode 'human'"):
        hs.Environments("stand", render_mode="human")
