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
from PIL import Image

import heelstrike as hs
from heelstrike.view.browser.export import export
from heelstrike.view.browser.export_curves import AXES
from heelstrike.view.browser.live_panel import LivePanel
from heelstrike.view.browser.live_simulation import LiveSimulation
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import run_arrays
from heelstrike.view.browser.server import address, serving
from heelstrike.view.browser.show import background
from tools.chromium import FLAGS, PLACE

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(
    PLACE is None, reason="no Chromium found; name it by HEELSTRIKE_CHROMIUM"
)
SIZE = {"width": 900, "height": 420}
PATIENCE = 60.0
"""How long a picture or a value is waited for [s]; software draws slowly on a busy machine."""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=PLACE, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page that must neither complain nor ask anything of other hosts."""
    opened, wrong = browser.new_page(viewport=SIZE), []
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: wrong.append(asked.url) if _elsewhere(asked.url) else None)
    yield opened
    opened.close()
    assert not wrong


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


def test_a_recording_is_seen_and_the_slider_moves_it(page, falling):
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


def test_a_slider_of_a_live_scene_changes_the_depth(page):
    """Half the stiffness, twice the depth, from the page through the simulator."""
    live = LiveSimulation(hs.load_scene("stand"))
    live.advance(2000)
    with serving(port=0) as opened, background(LivePanel(opened, live).play):
        page.goto(f"{address(opened)}/?fixedDpr=0.5")
        field(page, "normal.k [N/m^n]").wait_for(timeout=1e3 * PATIENCE)
        until(lambda: live.time > 2.5, page)
        before = live.values.arrays["depth"][-1].max()
        write(page, "normal.k [N/m^n]", 10000)
        until(lambda: live.sim.parameters["ground.normal.k"][0] == 10000.0, page)
        changed = live.time
        until(lambda: live.time > changed + 1.5, page)
        after = live.values.arrays["depth"][-1].max()
    assert after / before == pytest.approx(2.0, rel=0.1)  # it still rocks a little


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
