"""Simulated stability of a ball at rest against the closed form, over stiffness and step.

Oracle: k dt^2 / m + 2 c dt / m < 4 for a mass on a spring and a damper (contact/stability.py).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.measure.laws import under
from heelstrike.measure.resting import NotAtRestError, rest_pose, still
from heelstrike.measure.stability import STEP_SIZES, last_stable, stability_map


def ball(law: str) -> hs.SceneFile:
    return under(hs.load_scene("bouncing-ball"), law, 1e-3, (1e-3, 0.3))[0]


@pytest.mark.parametrize(("law", "cells"), [("hunt-crossley", 1), ("timestep-damper", 1)])
def test_the_largest_simulated_step_is_that_of_the_closed_form(law, cells):
    found = stability_map(ball(law))
    assert found.mass == pytest.approx(1.0)
    limited = [i for i in range(len(found.k)) if found.unstable[:, i].any()]
    assert len(limited) > 15
    simulated = np.array([found.largest(i) for i in limited])
    ratio = found.closed[limited] / simulated
    cell = STEP_SIZES[1] / STEP_SIZES[0]
    assert (ratio < cell ** (cells + 0.2)).all()
    assert (ratio > 1 / cell**0.2).all()


def test_a_damper_of_one_direction_bears_a_little_more():
    """On the way out there is no damping: the closed form of the way in is on the safe side."""
    found = stability_map(ball("linear-spring"))
    limited = [i for i in range(len(found.k)) if found.unstable[:, i].any()]
    ratio = found.closed[limited] / np.array([found.largest(i) for i in limited])
    assert ((ratio > 0.5) & (ratio < 1.3)).all()


def test_what_is_solved_for_rests_in_any_step():
    found = stability_map(ball("rigid"))
    assert not len(found.k)
    assert not found.unstable.any()
    assert np.isinf(found.closed).all()
    assert found.largest() == STEP_SIZES[-1]


def test_the_last_stable_step_is_that_before_the_first_that_is_not():
    steps = np.array([1.0, 2.0, 3.0, 4.0])
    assert last_stable(steps, np.array([True, True, False, True])) == 2
    assert last_stable(steps, np.array([False, True, True, False])) == 0
    assert last_stable(steps, np.array([True] * 4)) == 4
    assert last_stable(steps, np.array([False] * 4)) == 0


def test_stability_is_judged_in_the_pose_of_the_start():
    """Neither pushes nor motions nor another pose to go to."""
    push, drop, hand = map(hs.load_scene, ("push", "humanoid-drop", "hand-and-object"))
    assert push.content.push
    assert not still(push).content.push
    assert drop.control.reference is not None
    assert still(drop).control.reference is None
    assert still(hand).control.reference is None


def test_what_falls_is_judged_where_it_comes_to_rest():
    """The box starts on a corner, the foot in the air: both lie flat when they are judged."""
    box = still(under(hs.load_scene("box-drop"), "rigid", 1e-3, (1e-3, 0.3))[0])
    turned = Rotation.from_quat(rest_pose(box, box.simulator(bare=True))[3:]).as_matrix()
    assert np.abs(turned[2]).max() == pytest.approx(1, abs=1e-6)  # a face is below
    foot = under(hs.load_scene("foot"), "hunt-crossley", 1e-3, (1e-3, 0.3))[0]
    found = stability_map(foot, np.ones(1))
    # 25 kg and the implicit servo's share at steps of 10 ms: two cells below the closed form
    assert 0.6 < found.largest() / found.closed[0] < 1.05


def test_a_scene_that_never_rests_says_so(tmp_path):
    """A fixed foot whose servo holds it in the air touches nothing, in whatever step."""
    path = tmp_path / "lifted.toml"
    path.write_text(
        '[[robot]]\nmodel = "foot"\njoints = { slide = 0.03 }\n[servo]\nkp = 2e4\nkd = 500.0\n'
        '[[surface]]\ntype = "plane"\nlaw = "rigid"\n'
    )
    with pytest.raises(NotAtRestError, match="does not touch the ground"):
        stability_map(hs.load_scene(path), np.ones(1))
    found = hs.compare_laws(hs.load_scene(path), "scene").as_dict()["columns"][0]
    assert found["measures"]["stable_dt"] is None
    assert "does not come to rest" in found["said"][0]
