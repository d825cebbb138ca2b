"""Environments under the learners of Stable-Baselines3 and rsl_rl themselves.

Oracles: Stable-Baselines3's own checks of shapes and seeds in `learn`, rsl_rl's runner, and the
observations and rewards of the environments without an adapter.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments import Environments

SCENE = hs.Scene(hs.load("hoap1", collide="feet"), hs.Plane())


def made(worlds=4, **options):
    options = {"autoreset": "same_step", "episode": 0.2, "hold": 10} | options
    return Environments(SCENE, worlds, **options)


def critic(s):
    return s.joined("q", "v")


def test_critics_see_a_group_of_their_own():
    envs = made(critic=critic)
    _, info = envs.reset(seed=0)
    assert info["critic"].shape == (4, SCENE.robot.nq + SCENE.robot.nv)
    for _ in range(25):
        *_, info = envs.step(np.zeros(envs.action_space.shape))
        assert np.array_equal(info["critic"], np.hstack([envs.sim.state["q"], envs.sim.state["v"]]))
    with pytest.raises(hs.HeelstrikeError, match=r"critic returned an array of shape \(4,\)"):
        made(critic=lambda s: s.height)


def test_lengths_of_episodes_are_read_and_assigned():
    envs = made()
    envs.reset(seed=0)
    assert envs.max_episode_steps == 20
    envs.episode_steps = [18, 0, 19, 5]
    assert np.array_equal(envs.episode_steps, [18, 0, 19, 5])
    truncated = envs.step(np.zeros(envs.action_space.shape))[3]
    assert np.array_equal(truncated, [False, False, True, False])
    assert np.array_equal(envs.episode_steps, [19, 1, 0, 6])


def test_stable_baselines_learns_and_sees_what_the_environments_show():
    sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    plain, adapted = made(), hs.adapters.sb3(made())
    adapted.seed(3)
    first = adapted.reset()
    assert np.array_equal(first, plain.reset(seed=[3, 4, 5, 6])[0])
    ends = 0
    for _ in range(25):
        action = np.full(plain.action_space.shape, 0.3, np.float32)
        observation, reward, terminated, truncated, info = plain.step(action)
        seen, given, done, infos = adapted.step(action)
        assert np.array_equal(seen, observation)
        assert np.array_equal(given, reward)
        assert np.array_equal(done, terminated | truncated)
        for i in np.flatnonzero(done):
            assert np.array_equal(infos[i]["terminal_observation"], info["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] == (truncated[i] and not terminated[i])
            ends += 1
    assert ends
    model = sb3.PPO("MlpPolicy", adapted, n_steps=16, batch_size=32, n_epochs=1, device="cpu")
    model.learn(128)
    assert model.num_timesteps == 128


def test_stable_baselines_films_what_the_environments_show(tmp_path):
    """The picture of each world is that of the environments; its recorder writes a film."""
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    recorders = pytest.importorskip("stable_baselines3.common.vec_env", reason="no sb3")
    adapted = hs.adapters.sb3(made(2, render_mode="rgb_array", width=32))
    film = recorders.VecVideoRecorder(adapted, tmp_path, lambda step: step == 0, video_length=3)
    film.reset()
    for _ in range(4):
        film.step(np.zeros((2, adapted.action_space.shape[0])))
    assert [path.stat().st_size > 500 for path in tmp_path.glob("*.mp4")] == [True]
    assert np.array_equal(adapted.get_images(), adapted.envs.render())
    assert made().render() is None
    assert hs.adapters.sb3(made()).get_images() == [None] * 4


def test_the_runner_of_rsl_rl_learns():
    runners = pytest.importorskip("rsl_rl.runners", reason="rsl-rl-lib is not installed")
    import torch

    env = hs.adapters.rsl_rl(made(8, critic=critic))
    assert set(env.get_observations().keys()) == {"policy", "critic"}
    model = {"class_name": "MLPModel", "hidden_dims": [16], "activation": "elu"}
    noise = {"distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 0.3}}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
        "actor": model | noise,
        "critic": dict(model),
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 1, "num_mini_batches": 2},
    }
    runner = runners.OnPolicyRunner(env, settings, log_dir=None, device="cpu")
    before = [p.clone() for p in runner.alg.actor.parameters()]
    runner.learn(3, init_at_random_ep_len=True)
    after = list(runner.alg.actor.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(torch.isfinite(p).all() for p in after)


def test_what_adapters_refuse():
    with pytest.raises(hs.ParameterError, match=r"envs is 3; allowed: hs\.Environments"):
        hs.adapters.sb3(3)
    for adapt in (hs.adapters.sb3, hs.adapters.rsl_rl):
        with pytest.raises(hs.HeelstrikeError, match='pass autoreset="same_step"'):
            adapt(made(autoreset="next_step"))
