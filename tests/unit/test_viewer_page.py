"""The viewer in headless Chromium: what a person would see, by its pixels.

Oracles: a page whose robot is hidden (the robot's pixels differ), the player's own time and the
simulator's own depth (what is typed in the page arrives), the browser's console and network (no
error, nothing from elsewhere). Needs playwright and a Chromium: HEELSTRIKE_CHROMIUM, or one that
the shell finds.
"""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from PIL import Image, ImageSequence

import heelstrike as hs
from heelstrike.view.browser import quantities
from heelstrike.view.browser.export import export
from heelstrike.view.browser.export_curves import AXES
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.live_viewer import LiveViewer
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import run_arrays
from heelstrike.view.browser.server import address, serving
from heelstrike.view.browser.show import background

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
SIZE = {"width": 900, "height": 420}
PATIENCE = 60.0
"""How long a picture or a value is waited for [s]; software draws slowly on a busy machine."""


@pytest.fixture
def page(browser):
    """A page that must neither complain nor ask anything of other hosts."""
    opened, wrong = browser.new_page(viewport=SIZE), []
    opened.on("console", lambda said: wrong.append(said.text) if _complains(said) else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: wrong.append(asked.url) if _elsewhere(asked.url) else None)
    yield opened
    opened.close()
    assert not wrong


def _complains(said) -> bool:
    """Whether a line of the console is an error, other than viser's when a node is dragged."""
    harmless = "Unable to preventDefault inside passive event listener"
    return said.type == "error" and not said.text.startswith(harmless)


def _elsewhere(url: str) -> bool:
    here = ("http://localhost:", "blob:http://localhost:", "blob:null", "file:", "data:")
    return not url.startswith(here)


@pytest.fixture(scope="module")
def falling():
    """hoap1 falls from 20 cm: it moves, and so do its pixels."""
    scene = hs.load_scene("stand")
    q0, v0 = scene.start
    return scene.simulator().run(0.3, q0=q0 + 0.2 * (np.arange(len(q0)) == 2), v0=v0)


def picture(page) -> np.ndarray:
    """The middle of the page, where the robot is, as (rows, columns, 3)."""
    seen = page.screenshot(timeout=1e3 * PATIENCE)
    pixels = np.asarray(Image.open(io.BytesIO(seen)).convert("RGB"), dtype=int)
    return pixels[:, 330 : SIZE["width"] - 340]


def drawn(page) -> np.ndarray:
    """The picture of what was asked just now, if the machine is not too busy to draw it yet: so
    what is wanted of it is asked again, by `until`.
    """
    page.wait_for_timeout(500)
    return picture(page)


def differs(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pixels that are not alike."""
    return float((np.abs(one - other).max(axis=-1) > 12).mean())


def until(holds, page) -> None:
    """Waits for something; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        page.wait_for_timeout(100)


def field(page, label):
    """The number beside a slider."""
    row = page.get_by_text(label, exact=True).locator("xpath=ancestor::*[.//input][1]")
    return row.locator("input").last


def write(page, label, value) -> None:
    field(page, label).fill(str(value))
    page.keyboard.press("Enter")


def test_a_recording_is_seen_moved_by_the_slider_and_filmed(page, falling, tmp_path):
    with serving(port=0) as opened:
        player = Player(opened, [run_arrays(falling, "fall")])
        page.goto(f"{address(opened)}/?fixedDpr=0.5")
        field(page, "time [s]").wait_for(timeout=1e3 * PATIENCE)
        until(lambda: opened.get_clients(), page)

        def shown() -> list[np.ndarray]:
            """The robot, its absence, and the robot again."""
            pictures = []
            for hide in (False, True, False):
                player.scene_view.hide(0, hide)
                pictures.append(drawn(page))
            return pictures

        def seen() -> bool:
            first, empty, again = pictures[:] = shown()
            return differs(first, empty) > 0.03 and differs(first, again) < 0.005

        pictures: list[np.ndarray] = []
        until(seen, page)
        before = pictures[0]
        write(page, "time [s]", 0.2)
        until(lambda: abs(player.time - 0.2) < 1e-3, page)
        until(lambda: seen() and differs(before, pictures[0]) > 0.02, page)
        assert len(download(page, "Screenshot", "PNG", tmp_path)) == 1
        film = download(page, "Film", "GIF", tmp_path)
        assert len(film) == 3  # of 0.3 s, 10 a second
        assert differs(film[0], film[-1]) > 0.02  # it fell


def download(page, label, kind, folder) -> list[np.ndarray]:
    """Click a button of the panel and return the frames of the picture that arrives."""
    with page.expect_download(timeout=1e3 * PATIENCE) as got:
        page.get_by_text(label, exact=True).click()
    got.value.save_as(path := folder / label)
    with Image.open(path) as drawn:
        assert drawn.format == kind
        return [np.asarray(x.convert("RGB"), int) for x in ImageSequence.Iterator(drawn)]


def test_a_slider_of_a_live_scene_changes_the_depth(page):
    """Half the stiffness, twice the depth, from the page through the simulator."""
    live = LiveSimulation(hs.load_scene("stand"))
    live.advance(2000)
    with serving(port=0) as opened, background(LiveViewer(opened, live).play):
        page.goto(f"{address(opened)}/?fixedDpr=0.5")
        field(page, "stiffness [N/m]").wait_for(timeout=1e3 * PATIENCE)
        until(lambda: live.time > 2.5, page)
        before = live.values.arrays["depth"][-1].max()
        write(page, "stiffness [N/m]", 10000)
        until(lambda: live.sim.parameters["ground.normal.k"][0] == 10000.0, page)
        changed = live.time
        until(lambda: live.time > changed + 1.5, page)
        after = live.values.arrays["depth"][-1].max()
    assert after / before == pytest.approx(2.0, rel=0.1)  # it still rocks a little


def choose(page, label, option) -> None:
    """Choose an option of a dropdown."""
    row = page.get_by_text(label, exact=True).first.locator("xpath=ancestor::*[.//input][1]")
    row.locator("input:not([type=hidden])").first.click()
    page.get_by_role("option", name=option, exact=True).click()


def ticks(page, axis: int = 1) -> list[list[str]]:
    """The labels of the vertical axis of each plot, or of that of time (0)."""
    plots = "Object.values(window.__viserTestpoints.uplots)"
    return page.evaluate(f"{plots}.map(x => x.chart.axes[{axis}]._values)")


def test_the_time_axis_of_a_scene_that_just_began(page):
    """After one step its labels, of three decimals, are different ones."""
    live = LiveSimulation(hs.load_scene("bouncing-ball"))
    live.advance(1)
    live.paused = True
    with serving(port=0) as opened, background(LiveViewer(opened, live).play):
        page.goto(f"{address(opened)}/?fixedDpr=0.5")
        field(page, "rewind [s]").wait_for(timeout=1e3 * PATIENCE)
        until(lambda: any(ticks(page, 0)), page)
        assert all(len(set(labels)) == len(labels) for labels in ticks(page, 0))


def pixel(client, box, place) -> np.ndarray:
    """Where a page shows a place of its world."""
    camera = client.camera
    ahead = np.array(camera.look_at) - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 0, 1])
    right /= np.linalg.norm(right)
    ray, half = place - np.array(camera.position), np.tan(camera.fov / 2)
    x, y = ray @ right / (ray @ ahead), ray @ np.cross(right, ahead) / (ray @ ahead)
    share = np.array([1 + x / half / camera.aspect, 1 - y / half]) / 2
    return np.array([box["x"], box["y"]]) + share * [box["width"], box["height"]]


def test_a_live_scene_is_dragged_rewound_filmed_and_replaced(page, tmp_path):
    """A ball, by a hand that does what a person's would."""
    live = LiveSimulation(hs.load_scene("bouncing-ball"))
    for _ in range(40):
        live.advance(250)
    live.paused = True
    with serving(port=0) as opened:
        viewer = LiveViewer(opened, live)
        with background(viewer.play):
            page.goto(f"{address(opened)}/?fixedDpr=0.5")
            field(page, "rewind [s]").wait_for(timeout=1e3 * PATIENCE)
            for topic in quantities.topics(live.values):
                if topic != "contact":  # which is shown first
                    choose(page, "curves of", topic)
                    page.wait_for_timeout(500)
                shown = ticks(page)
                assert shown
                assert all(len(set(labels)) == len(labels) > 1 for labels in shown), shown

            (client,) = opened.get_clients().values()
            box = page.locator("canvas").first.bounding_box()
            ball = viewer.panel.scene_view.robots[0].bodies[0].position
            begin = pixel(client, box, ball + viewer.panel.scene_view.world_node.node.position)
            page.mouse.move(*begin)
            page.mouse.down()
            for k in range(1, 9):
                page.mouse.move(begin[0], begin[1] - 6 * k)
                page.wait_for_timeout(50)
            until(lambda: live.pushes(), page)
            force, _ = live.pushes()["ball"]
            assert force[2] > 0.8 * np.linalg.norm(force)  # up, as the pointer went
            page.mouse.up()
            until(lambda: not live.pushes(), page)

            write(page, "rewind [s]", -1.9)
            until(lambda: viewer.panel.rewind.shown_time is not None, page)
            assert live.time == pytest.approx(2.0, abs=1e-2)
            for label, kind in (("Screenshot", "PNG"), ("Film", "GIF")):
                if label == "Film":  # a short one
                    live.request(lambda: live.rewind(0.4))
                frames = download(page, label, kind, tmp_path)
                assert len(frames) == (1 if label == "Screenshot" else 5)  # 10 a second
                for frame in frames:  # the ball is red, the rest of the picture grey
                    assert ((frame[..., 0] - frame[..., 2]) > 50).mean() > 0.003

            choose(page, "law", "linear-spring")
            until(lambda: viewer.live is not live, page)
            field(page, "damping [N s/m]").wait_for(timeout=1e3 * PATIENCE)

            def framed() -> bool:
                """The new scene's robot lies wholly in the picture, once the panels are there."""
                shift = viewer.panel.scene_view.world_node.node.position
                points = viewer.live.values.vertices(-1) + shift
                box = page.locator("canvas").first.bounding_box()
                seen = np.array([pixel(client, box, place) for place in points])
                low, size = [box["x"], box["y"]], [box["width"], box["height"]]
                inside = (seen > low).all() and (seen < np.add(low, size)).all()
                return bool(inside) and np.ptp(seen[:, 1]) > 0.1 * size[1]

            until(framed, page)


def test_a_phone_shows_the_legs(browser):
    """The panel opens folded, and the robot's lowest points are above its header."""
    size = {"width": 390, "height": 844}
    live = LiveSimulation(hs.load_scene("stand"))
    live.paused = True
    page = browser.new_page(viewport=size, is_mobile=True, has_touch=True)
    with serving(port=0) as opened:
        viewer = LiveViewer(opened, live)
        with background(viewer.play):
            page.goto(f"{address(opened)}/?fixedDpr=0.5")
            header = page.get_by_text("Controls: stand")
            header.wait_for(timeout=1e3 * PATIENCE)
            until(lambda: header.bounding_box()["y"] > 0.9 * size["height"], page)
            (client,) = opened.get_clients().values()
            shift = viewer.panel.scene_view.world_node.node.position
            points = live.values.vertices(-1)[::20] + shift
            box = page.locator("canvas").first.bounding_box()
            seen = np.array([pixel(client, box, place) for place in points])
            assert seen.min() > 0
            assert seen[:, 0].max() < size["width"]
            assert seen[:, 1].max() < header.bounding_box()["y"] - 20
            assert np.ptp(seen[:, 1]) > 0.3 * size["height"]
            header.tap()
            until(lambda: header.bounding_box()["y"] < 0.6 * size["height"], page)
    page.close()


def test_an_exported_page_plays_by_itself(page, falling, tmp_path):
    path = export([run_arrays(falling)], tmp_path / "fall.html")
    page.goto(path.as_uri())
    clock = page.frame_locator("iframe").locator("input").first
    clock.wait_for(timeout=1e3 * PATIENCE)
    until(lambda: float(clock.input_value()) > 0, page)  # it plays at once

    def shown(moment: str) -> np.ndarray:
        clock.fill(moment)
        return drawn(page)

    def moved() -> bool:
        """There and back: the same moment is the same picture, another is another."""
        one, other, again = (shown(moment) for moment in ("0.25", "0.0", "0.25"))
        return differs(one, other) > 0.02 and differs(one, again) < 0.005

    until(moved, page)
    end = falling.data.time.values[-1]

    def follows() -> bool:
        """A line in each of four plots is where the clock is; which may go on meanwhile."""
        places = page.eval_on_selector_all(".plot i", "all => all.map(x => x.style.left)")
        wanted = 100 * (AXES[0] + AXES[2] * min(float(clock.input_value()) / end, 1))
        return len(places) == 4 and all(abs(float(x[:-1]) - wanted) < 1 for x in places)

    until(follows, page)
