"""What episodes draw: commands, changes, varied parameters, levels and places on a terrain.

Oracles: a world alone, which must draw what it draws in a batch; the formulas of the ranges; the
heights of the terrain's grid and the compiled step that rests on them.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments.curriculum import by_survival
from tests.toppler import robot, scene

WORLDS = 5
ASKED = hs.Commands({"vx": (-0.2, 0.3), "turn": (0.5, 1.0)}, wait=(0.1, 0.3), zero=0.25)
SLIPPERY = hs.Changes({"ground.friction.mu_k": (0.3, 0.6)}, wait=(0.05, 0.1))


def made(worlds=WORLDS, ground=None, **options):
    own = scene() if ground is None else hs.Scene(robot(), ground)
    return hs.Environments(own, worlds, **({"hold": 10, "episode": 0.4} | options))


def still(envs):
    return np.zeros(envs.action_space.shape, np.float32)


def played(envs, actions=60, seed=0):
    """Commands, and friction, before each action, (actions + 1, worlds, ...)."""
    envs.reset(seed=seed)
    commands, friction = [], []
    for k in range(actions + 1):
        state = envs._observe()
        commands.append(state.command)
        friction.append(state.parameters["ground.friction.mu_k"][:, 0])
        if k < actions:
            envs.step(still(envs))
    return np.array(commands), np.array(friction)


def test_commands_and_changes_depend_on_the_world_alone():
    options = {"commands": ASKED, "changes": SLIPPERY, "autoreset": "same_step"}
    commands, friction = played(made(**options))
    for world in range(WORLDS):
        alone = played(made(1, **options), seed=world)
        np.testing.assert_array_equal(alone[0][:, 0], commands[:, world])
        np.testing.assert_array_equal(alone[1][:, 0], friction[:, world])


def test_commands_can_be_given_at_a_reset():
    """They are observed at once, and hold until the first draw."""
    envs = made(commands=ASKED, observation=lambda s: s.command)
    own = np.arange(2.0 * WORLDS).reshape(WORLDS, 2)
    seen, _ = envs.reset(seed=0, options={"commands": own})
    np.testing.assert_array_equal(seen, own)
    for _ in range(9):  # 0.09 s; the first draw is after 0.1 s at least
        seen = envs.step(still(envs))[0]
    np.testing.assert_array_equal(seen, own)
    with pytest.raises(hs.HeelstrikeError, match="5 rows of vx, turn"):
        envs.reset(options={"commands": own[0]})
    with pytest.raises(hs.HeelstrikeError, match="have no commands"):
        made().reset(options={"commands": own})


def test_commands_stay_in_their_ranges_and_change_in_time():
    commands, friction = played(made(64, commands=ASKED, changes=SLIPPERY, episode=10.0))
    zero = (commands == 0).all(-1)
    vx, turn = commands[~zero].T
    assert vx.min() >= -0.2
    assert vx.max() < 0.3
    assert turn.min() >= 0.5
    assert turn.max() < 1.0
    assert 0.15 < zero.mean() < 0.35  # 0.25 of about 250 draws: three standard deviations are 0.08
    changed = (commands[1:] != commands[:-1]).any(-1)
    # 0.6 s over a mean wait of 0.2 s, rounded up to whole actions of 10 ms
    assert 2 < changed.sum(0).mean() < 3.5
    assert (friction[0] == np.float32(0.6)).all()  # its own value, until the first change
    assert (np.diff(friction, axis=0) != 0).sum(0).min() >= 5
    assert (friction[11:] < 0.6).all()


def test_changed_parameters_begin_with_their_own_values():
    envs = made(changes=SLIPPERY, autoreset="same_step", episode=0.2)
    envs.reset(seed=0)
    own = []
    for _ in range(20):
        envs.step(still(envs))
        own.append(envs.sim.parameters["ground.friction.mu_k"][:, 0])
    assert (own[18] != np.float32(0.6)).all()
    assert (own[19] == np.float32(0.6)).all()  # a new episode


def test_factors_scale_vectors_together_or_entry_by_entry():
    path = "servo.kp"
    own = np.atleast_2d(made().sim.parameters[path])[0]
    together = made(vary={path: hs.Factor(0.5, 1.5)})
    each = made(
        vary={path: hs.Factor(0.5, 1.5, each=True), "gravity": ((0, 0, -9.9), (0, 0, -9.7))}
    )
    for envs in (together, each):
        envs.reset(seed=0)
        drawn = envs.sim.parameters[path]
        factor = drawn[:, own > 0] / own[own > 0]
        assert ((factor >= 0.5) & (factor <= 1.5)).all()
        assert len(np.unique(factor[:, 0])) == WORLDS
        np.testing.assert_array_equal(envs._observe().parameters[path], drawn)
    down = each.sim.parameters["gravity"]
    assert ((down[:, 2] > -9.9) & (down[:, 2] < -9.7) & (down[:, 0] == 0)).all()


def test_ranges_that_are_assigned_are_drawn_from_the_next_episode_on():
    path = "ground.friction.mu_k"
    envs = made(vary={path: (0.3, 0.4)}, critic=lambda s: s.parameters[path])
    envs.reset(seed=0)
    before = envs.sim.parameters[path]
    envs.vary = {path: hs.Factor(0.9, 1.0)}  # of 0.6, the scene's own
    np.testing.assert_array_equal(envs.sim.parameters[path], before)
    _, info = envs.reset()
    assert ((info["critic"] >= np.float32(0.54)) & (info["critic"] <= 0.6)).all()
    with pytest.raises(hs.HeelstrikeError, match="did you mean"):
        envs.vary = {"ground.friction.mu": (0, 1)}
    with pytest.raises(hs.HeelstrikeError, match="vary is 3"):
        envs.vary = 3
    assert list(envs.vary) == [path]
    with pytest.raises(TypeError, match="does not support item assignment"):
        envs.vary[path] = (0, 1)


def test_a_curriculum_sets_levels_and_graded_ranges_follow():
    pushes = hs.Pushes(hs.Graded((0, 0), (8, 8)), wait=(0.05, 0.05), body="trunk")
    asked = hs.Commands({"vx": hs.Graded((0, 0), (1, 1))}, zero=0.0)
    envs = made(
        curriculum=by_survival,
        pushes=pushes,
        commands=asked,
        vary={"ground.friction.mu_k": hs.Graded((0.6, 0.6), (0.4, 0.4))},
        autoreset="same_step",
        episode=0.2,
        terminated=lambda s: s.steps > 1e9,
    )
    envs.reset(seed=0)
    for k in range(100):
        state = envs._observe()
        np.testing.assert_allclose(envs.level, 0.1 * (k // 20), atol=1e-6)  # float32
        np.testing.assert_allclose(state.command[:, 0], state.level, atol=1e-6)
        friction = 0.6 - 0.2 * state.level
        np.testing.assert_allclose(
            state.parameters["ground.friction.mu_k"][:, 0], friction, atol=1e-6
        )
        envs.step(still(envs))
    force = envs.sim.parameters["push0.force"]
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), 8 * 0.4, rtol=1e-5)


def test_observations_are_dicts_and_rewards_have_terms():
    def reward(s):
        return {"upright": -s.gravity[:, 2], "effort": -((s.action - s.last_action) ** 2).sum(1)}

    envs = made(
        observation=lambda s: {"body": s.joined("gravity", "twist"), "asked": s.command},
        reward=reward,
        commands=ASKED,
        autoreset="same_step",
        episode=0.1,
    )
    seen, _ = envs.reset(seed=0)
    assert seen in envs.observation_space
    assert {n: x.shape for n, x in seen.items()} == {"body": (5, 9), "asked": (5, 2)}
    last = 0 * still(envs)
    for k in range(25):
        action = np.full_like(last, 0.1 * (k % 3))
        seen, total, _, late, info = envs.step(action)
        terms = info["reward_terms"]
        np.testing.assert_array_equal(total, terms["upright"] + terms["effort"])
        np.testing.assert_array_equal(terms["effort"], -((action - last) ** 2).sum(1))
        if late.any():
            assert info["final_obs"].keys() == seen.keys()
        last = np.where(late[:, None], 0, action)


def test_worlds_begin_on_their_tiles_and_rest_there():
    """The robot rests on platforms at height 0, and the observed height is that above ground."""
    terrain = hs.Terrain(("flat", "stairs", "rough"), levels=3, tile=0.6, platform=0.2)
    envs = made(64, terrain.surface(scene().surfaces[0].law), terrain=terrain, noise=(0, 0))
    envs.reset(seed=0)
    for _ in range(20):
        envs.step(still(envs))
    q = envs.sim.state["q"]
    away = q[:, None, :2] - terrain.origins.reshape(1, -1, 3)[..., :2]
    tile = np.linalg.norm(away, axis=-1).argmin(1)
    assert np.abs(away[np.arange(64), tile]).max() < 1e-3
    assert len(np.unique(tile)) == 9
    np.testing.assert_allclose(q[:, 2], 0.1, atol=1e-3)  # stands on its end, springs of 1e4 N/m
    rows = np.minimum((3 * envs.level).astype(int), 2)
    np.testing.assert_array_equal(rows, tile // 3)


def test_heights_above_ground_are_those_of_the_compiled_step():
    terrain = hs.Terrain(levels=2, tile=0.8, platform=0.2, seed=3)
    field = terrain.surface(scene().surfaces[0].law)
    envs = made(1, field, terrain=terrain)
    rng = np.random.default_rng(0)
    places = rng.uniform(-0.5, 0.5, (200, 2)) * terrain.size
    found = envs._observe().ground(*places.T.astype(np.float32))
    inside = [
        float(field._at(*u)[0]) for u in (places / terrain.size + 0.5) * (np.array(field.shape) - 1)
    ]
    np.testing.assert_allclose(found, inside, atol=2e-5)  # float32: 5e-7 m on walls 0.1 / 0.02


def test_terrain_is_seeded_level_and_flat_at_the_edges_of_tiles():
    terrain = hs.Terrain(seed=1)
    grid = terrain.heights
    assert np.array_equal(grid, hs.Terrain(seed=1).heights)
    assert not np.array_equal(grid, hs.Terrain(seed=2).heights)
    cells = round(terrain.tile / terrain.cell)
    assert (grid[::cells] == 0).all()
    assert (grid[:, ::cells] == 0).all()
    tile = {
        kind: grid[-cells:, i * cells : (i + 1) * cells] for i, kind in enumerate(terrain.kinds)
    }
    assert (tile["flat"] == 0).all()
    np.testing.assert_allclose(np.abs(np.diff(tile["slope"], axis=0)).max() / 0.02, 0.3)
    assert np.unique(np.diff(np.unique(tile["stairs"]))).round(9).tolist() == [0.02]
    assert 0.015 < tile["rough"].max() <= 0.02
    assert tile["stones"].min() == tile["gaps"].min() == -0.1
    width = (tile["gaps"][cells // 2] < 0).sum() * terrain.cell
    assert width % 0.06 == pytest.approx(0, abs=0.021)  # cells of 0.02 m
    middle = grid[cells // 2 :: cells, cells // 2 :: cells]
    assert (middle == 0).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"vary": {"servo.kp": ((0, 1), (2, 3))}}, "kp"),
        ({"vary": {"ground.friction.mu_k": hs.Factor(-1, 1)}}, "mu_k"),
        ({"terrain": hs.Terrain()}, "does not have this terrain"),
        ({"terrain": 3}, r"terrain is 3; allowed: hs\.Terrain"),
        ({"observation": lambda s: s.command}, "no commands"),
        ({"observation": lambda s: {"a": s.height}}, "observation 'a' returned"),
        ({"reward": lambda s: {"up": s.q}}, "reward 'up' returned"),
        ({"changes": hs.Changes({"ground.mu": (0, 1)})}, "did you mean"),
    ],
)
def test_wrong_arguments_get_sentences(options, said):
    with pytest.raises(hs.HeelstrikeError, match=said):
        made(**options)


def test_wrong_settings_get_sentences():
    with pytest.raises(hs.HeelstrikeError, match="Commands: wait is 3; allowed"):
        hs.Commands({"vx": (0, 1)}, wait=3)
    with pytest.raises(hs.HeelstrikeError, match="zero is 2; allowed: a share from 0 to 1"):
        hs.Commands({"vx": (0, 1)}, zero=2)
    with pytest.raises(hs.HeelstrikeError, match="no kind 'stair'"):
        hs.Terrain(("stair",))
    with pytest.raises(hs.HeelstrikeError, match="tiles larger than their platform"):
        hs.Terrain(tile=0.3)
