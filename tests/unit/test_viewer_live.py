"""Live scenes of the viewer, without a browser: simulation, panel, pushes, rewinding, choices.

Oracles: statics (m g = sum of k d), momentum (F t = m v), the same steps made once more (rewinding
is exact), Hooke's law of the dragging arrow, pillow (films).
"""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from PIL import Image, ImageSequence

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.placement import placements
from heelstrike.scene.files.overrides import law_names
from heelstrike.simulate import target
from heelstrike.view.browser import live_history
from heelstrike.view.browser.law_sliders import law_sliders
from heelstrike.view.browser.live_panel import LivePanel
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.live_viewer import LiveViewer
from heelstrike.view.browser.prepare import prepare
from heelstrike.view.browser.scene_choice import Choice
from heelstrike.view.browser.server import serving
from heelstrike.view.render.gif import gif


@pytest.mark.parametrize("name", hs.scenes())
def test_every_law_parameter_of_a_scene_has_a_slider(name):
    scene = hs.load_scene(name)
    parameters = scene.simulator().parameters
    found = law_sliders(scene.scene, parameters)
    assert set(found) == set(scene.scene.laws)
    for owner, own in found.items():
        for slider in own:
            assert slider.path.startswith(f"{owner}.")
            assert slider.low <= slider.value == parameters[slider.path][0] <= slider.high


@pytest.fixture(scope="module")
def live():
    return LiveSimulation(hs.load_scene("stand"))


def test_a_parameter_changes_the_depth_without_compiling(live, monkeypatch):
    """m g = k * sum of depths, for the law's exponent 1, before and after."""
    monkeypatch.setattr(target, "cached_kernel", None)  # a compilation would fail
    weight = live.scene.robot.mass * 9.81
    live.reset()
    sums = {}
    for k in (2e4, 1e4):
        live.request(lambda k=k: live.set("ground.normal.k", k))
        live.frame()
        assert live.change_time < 1.0
        live.advance(2500)
        sums[k] = np.maximum(live.values.arrays["depth"][-1], 0).sum()
        # it still rocks a little
        assert k * sums[k] == pytest.approx(weight, rel=0.02)
    live.set("ground.normal.k", 2e4)


def test_the_ground_stays_below_a_robot_that_goes_far(ball):
    """By whole tiles, within its plane: 50 m away the grid is there, and its lines are in place."""
    with serving(port=0) as opened:
        view = LivePanel(opened, ball).scene_view
        (ground,), tile = view.world_node._grounds, 5 * 0.02
        first = np.array(ground._grid.position)
        view.world_node.follow(np.array([50.03, -7.0, 2.0]))
        moved = np.array(ground._grid.position) - first
        np.testing.assert_allclose(moved, [50.0, -7.0, 0.0], atol=tile)
        np.testing.assert_allclose(moved / tile, np.round(moved / tile), atol=1e-6)
        view.world_node.follow(None)
        np.testing.assert_allclose(ground._grid.position, first)


def test_a_mistake_is_told_and_nothing_changes(live):
    live.reset()
    live.request(lambda: live.set("ground.friction.mu_k", -1.0))
    live.frame()
    assert "mu_k" in live.note
    assert live.sim.parameters["ground.friction.mu_k"][0] == 0.6


def test_paused_time_stands(live):
    live.reset()
    live.paused = True
    before = live.time
    live.frame()
    assert live.time == before
    live.paused = False
    live.frame()
    assert live.time > before


def test_a_push_gives_its_impulse_and_is_over_after_a_reset():
    """F t = m v of a ball in the air."""
    made = LiveSimulation(hs.load_scene("bouncing-ball"))
    mass, begin = made.scene.robot.mass, made.scene.start[1][0]
    steps = round(0.03 / made.scene.content.simulation.dt)
    made.push("ball", [2.0, 0.0, 0.0], 0.02)
    force, point = made.pushes()["ball"]
    assert force.tolist() == [2.0, 0.0, 0.0]
    np.testing.assert_array_equal(point, made.scene.robot.bodies[0].com)
    made.advance(steps)
    assert not made.pushes()
    assert made.sim.state["v"][0] == pytest.approx(begin + 2.0 * 0.02 / mass, rel=1e-9)
    made.reset()
    made.advance(steps)
    assert made.sim.state["v"][0] == begin


def test_what_is_remembered_has_every_step_once(live):
    live.reset()
    live.advance(50)
    live.advance(70)
    steps = np.diff(live.values.time) / 1e-3
    np.testing.assert_allclose(steps, 1.0, rtol=1e-9)
    assert live.values.time[-1] == pytest.approx(live.time)
    np.testing.assert_array_equal(live.values.arrays["q"][-1], live.sim.state["q"])


@pytest.mark.nightly
def test_the_pushes_of_a_scene_come_again_beside_ones_own():
    """Two runs of the same steps, with a push of one's own between them, end alike."""
    made = LiveSimulation(hs.load_scene("push"))
    made.advance(2000)
    first = made.sim.state["q"].copy()
    made.push("WAIST", [3.0, 0.0, 0.0], 0.1)
    made.advance(10)
    made.reset()
    made.advance(2000)
    np.testing.assert_array_equal(made.sim.state["q"], first)


def test_a_world_that_diverges_is_told():
    scene = hs.load_scene("stand")
    made = LiveSimulation(scene)
    made.set("ground.normal.k", 1e12)
    made.advance(500)
    assert made.failed
    assert "diverged" in made.note
    made.set("ground.normal.k", 2e4)
    made.reset()
    assert not made.failed


def test_the_panel_shows_the_state_of_the_simulator(live):
    live.reset()
    with serving(port=0) as opened:
        panel = LivePanel(opened, live)
        live.push("WAIST", [5.0, 0.0, 0.0], 1.0)
        panel.frame()
        q = live.sim.state["q"]
        np.testing.assert_allclose(panel.scene_view.robots[0].bodies[0].position, q[:3], atol=1e-12)
        arrow = (panel.arrow.shafts, panel.arrow.heads)
        length = sum(part.node.batched_scales[0, 2] for part in arrow)
        assert length * panel.scene_view.scale == pytest.approx(5.0, rel=1e-5)


DT = 2e-4
"""Time step of the bouncing ball [s]."""


@pytest.fixture(scope="module")
def ball():
    return LiveSimulation(hs.load_scene("bouncing-ball"))


@pytest.mark.parametrize("law", law_names())
def test_sliders_have_words_and_units(law):
    """No label is a symbol; parameters with a unit show it; the solver's are apart."""
    scene = hs.SceneFile(Choice(hs.load_scene("box-drop").document, "box-drop", law=law).document())
    (sliders,) = law_sliders(scene.scene, scene.simulator().parameters).values()
    labels = [slider.label for slider in sliders]
    assert len(set(labels)) == len(labels)
    for slider in sliders:
        words = slider.label.partition(" [")[0]
        assert len(words) > 6
        assert slider.path.split(".")[-1] not in words.split()[:1] or words == "restitution"
        assert ("[" in slider.meaning) == ("[" in slider.label)
        assert slider.path in slider.hint
        name = slider.path.split(".")[-1]
        assert slider.numerical == (
            name in ("smoothing", "lam", "epsilon", "correction", "allowance")
        )


def test_going_back_and_on_repeats_every_bit(ball):
    """The memory of laws and the clock come back too: the same steps end alike."""
    ball.reset()
    for _ in range(40):
        ball.advance(150)
    end, end_time = ball.sim.state["q"].copy(), ball.time
    back = float(ball.values.time[-1]) - 0.6
    chunk = ball.history.at(back)
    assert abs(chunk.end - back) < 0.031
    ball.rewind(back)
    assert ball.time == pytest.approx(chunk.end)
    assert ball.history.end == chunk.end
    ball.advance(round((end_time - ball.time) / DT))
    np.testing.assert_array_equal(ball.sim.state["q"], end)


def test_the_history_has_the_last_seconds(ball, monkeypatch):
    monkeypatch.setattr(live_history, "LENGTH", 0.5)
    ball.reset()
    for _ in range(40):
        ball.advance(150)
    history = ball.history
    assert history.end - history.begin == pytest.approx(0.5, abs=0.031)
    # five steps of 0.2 ms between two records
    np.testing.assert_allclose(np.diff(ball.values.time), 1e-3, rtol=1e-9)
    ball.rewind(0.0)  # as far as it goes
    assert ball.time == pytest.approx(history.begin)


def test_a_slider_goes_back_and_run_goes_on_from_there(ball):
    ball.reset()
    ball.advance(4500)
    ball.advance(500)
    with serving(port=0) as opened:
        panel = LivePanel(opened, ball)
        panel.rewind.back(0.1)
        panel.frame()
        assert ball.paused
        assert ball.time == pytest.approx(1.0 + DT)
        shown = panel.scene_view.robots[0].bodies[0].position
        np.testing.assert_allclose(shown, ball.history.sample(0.9)["q"][:3], atol=1e-12)
        panel.toggle()
        assert not ball.paused
        assert ball.time == pytest.approx(0.9 + DT)
        assert panel.rewind.shown_time is None


def test_dragging_pulls_like_a_spring_at_the_point_taken(live):
    """f = scale (x - p) at p, up to four weights: the arrow ends at the pointer."""
    live.reset()
    live.advance(20)
    with serving(port=0) as opened:
        panel = LivePanel(opened, live)
        panel.frame()
        robot, view = live.scene.robot, panel.scene_view
        body = robot.body("r_hand")
        name = robot.bodies[body].name
        R, p = placements(robot, live.history.now["q"])[body]
        shift = np.asarray(view.world_node.node.position)
        place = R @ np.array([0.0, 0.01, -0.02]) + p + shift
        pointer = place + np.array([0.05, 0.02, 0.04])
        panel.dragging.take(body, place, pointer)
        panel.dragging.pull()
        force, point = live.pushes()[name]
        np.testing.assert_allclose(point, [0.0, 0.01, -0.02], atol=1e-12)
        np.testing.assert_allclose(force, view.scale * np.array([0.05, 0.02, 0.04]), rtol=1e-9)
        panel.dragging.move(place + np.array([1e3, 0.0, 0.0]))
        panel.dragging.pull()
        assert np.linalg.norm(live.pushes()[name][0]) == pytest.approx(4 * panel.weight)
        panel.dragging.drop()
        assert not live.pushes()


def test_a_push_away_from_the_centre_of_mass_turns_a_body(ball):
    """d omega = r x F t / I of a ball in the air."""
    ball.reset()
    body = ball.scene.robot.bodies[0]
    ball.push("ball", [0.0, 0.5, 0.0], 0.01, point=[0.02, 0.0, 0.0])
    ball.advance(round(0.02 / DT))
    inertia = body.inertia[2, 2]
    assert ball.sim.state["v"][5] == pytest.approx(0.02 * 0.5 * 0.01 / inertia, rel=1e-6)


def test_another_scene_takes_the_place_of_a_live_one(ball):
    """The old one goes on until the new one is compiled; a mistake leaves it in place."""
    ball.reset()
    with serving(port=0) as opened:
        viewer = LiveViewer(opened, ball)
        before = viewer.panel.scene_view.world_node.name
        given = ball.scene.document
        viewer.open(Choice(given, "bouncing-ball", law="linear-spring"))
        viewer.open(Choice(given, "bouncing-ball", law="poisson-spring"))  # the last one counts
        begun, end = ball.time, time.monotonic() + 120
        while viewer.live is ball and time.monotonic() < end:
            viewer.frame()
        assert ball.time > begun + 0.1
        law = viewer.live.scene.scene.laws["ground"]
        assert type(law.normal).__name__ == "PoissonSpring"
        # pages keep the poses of nodes whose names come again: the old scene's shift, say
        assert viewer.panel.scene_view.world_node.name != before
        shown = viewer.live
        viewer._arrived(Choice(given, "x"), HeelstrikeError("no such scene"))
        assert viewer.live is shown
        assert "no such scene" in shown.note


def test_a_scene_that_cannot_be_compiled_is_told():
    document = hs.load_scene("bouncing-ball").document
    document.data["surface"][0]["law"]["normal"]["k"] = -1.0
    with pytest.raises(HeelstrikeError, match="k is -1"):
        prepare(Choice(document, "bouncing-ball"))


def test_a_chosen_robot_stands_on_ground_that_suits_it():
    """The document of the other process is that of hs.robot_scene, with the law's numbers."""
    given = hs.load_scene("bouncing-ball").document
    for law in (None, "linear-spring"):
        choice = Choice(given, "bouncing-ball", "box", law or "as in the scene")
        assert prepare(choice).data == hs.robot_scene("box", law).document.data


def test_a_film_has_all_its_frames():
    """Each is another picture, in its own colours up to those of the palette."""
    still = np.zeros((30, 40, 3), np.uint8) + 200
    pictures = []
    for k in range(12):
        now = still.copy()
        now[5:15, 3 * k : 3 * k + 6] = (20 * k, 10, 90)
        pictures.append(Image.fromarray(now))
    with Image.open(io.BytesIO(gif(pictures, 10))) as film:
        assert film.n_frames == 12
        assert film.info["duration"] == 100
        frames = [np.asarray(x.convert("RGB"), int) for x in ImageSequence.Iterator(film)]
    for frame, picture in zip(frames, pictures, strict=True):
        # 13 colours of at most 128, of every frame but some between the eight that are sampled
        assert np.abs(frame - np.asarray(picture, int)).max() <= 40
