"""Takes docs/images/viewer*.png, the pictures of docs/viewer.md, in headless Chromium.

    python tools/viewer_pictures.py

Needs playwright, and a Chromium: HEELSTRIKE_CHROMIUM, or one that the shell finds.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from chromium import FLAGS, PLACE
from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from heelstrike.cli.run import chosen_scene
from heelstrike.view.browser import LiveSimulation, export, run_arrays
from heelstrike.view.browser.live_viewer import LiveViewer
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.browser.server import address, serving
from heelstrike.view.browser.show import background

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = (1360, 800)
LOADS = 12_000
"""Time that a page takes to draw itself by software [ms]."""


def main() -> None:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=PLACE, args=FLAGS)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.set_default_timeout(300_000)
        for take in (recordings, live, exported):
            take(page)
        browser.close()


def recordings(page: Page) -> None:
    """A push on hard and on soft ground."""
    runs = [_run("push"), _run("soft", "ground.normal.k=3e3")]
    with serving(label="Heelstrike: hoap1") as server:
        player = Player(server, runs)
        player.seek(1.95)
        page.goto(address(server))
        page.wait_for_timeout(LOADS)
        _tick(page, "CoP")
        _tick(page, "ZMP")
        _take(page, "viewer.png")


def live(page: Page) -> None:
    """A body is dragged while the robot stands, with friction cones and the CoP."""
    shown = LiveSimulation(chosen_scene("stand", None, {}, []))
    shown.advance(2000)
    with serving(label="Heelstrike: stand") as server:
        viewer = LiveViewer(server, shown)
        with background(viewer.play):
            page.goto(address(server))
            page.wait_for_timeout(LOADS)
            _tick(page, "friction cones")
            _row(page, "stiffness [N/m]").locator("input").last.fill("10000")
            page.wait_for_timeout(2500)
            shown.request(lambda: _drag(viewer))
            end = shown.time + 0.15
            while shown.time < end:
                time.sleep(0.005)
            shown.request(viewer.panel.toggle)
            _take(page, "viewer-live.png")


def _drag(viewer: LiveViewer) -> None:
    """Pull the chest of hoap1 forward."""
    view = viewer.panel.scene_view
    chest = view.robots[0].bodies[0].position + view.world_node.node.position
    place = chest + np.array([0.04, 0.0, 0.1])
    viewer.panel.dragging.take(0, place, place + np.array([0.12, 0.0, 0.02]))


def exported(page: Page) -> None:
    with TemporaryDirectory() as folder:
        path = export([_run("drop", scene="humanoid-drop")], Path(folder) / "drop.html")
        page.goto(path.as_uri())
        page.wait_for_timeout(LOADS)
        page.frame_locator("iframe").locator("input").first.fill("0.4")
        _take(page, "viewer-page.png")


def _row(page: Page, label: str) -> Locator:
    """A line of the panel."""
    return page.get_by_text(label, exact=True).first.locator("xpath=ancestor::*[.//input][1]")


def _tick(page: Page, label: str) -> None:
    _row(page, label).locator("input").check(force=True)


def _run(label: str, *settings: str, scene: str = "push") -> RunArrays:
    return run_arrays(chosen_scene(scene, None, {}, list(settings)).run(), label)


def _take(page: Page, name: str) -> None:
    """The page without the remark that it is drawn by software."""
    page.wait_for_timeout(LOADS)
    for frame in page.frames:
        frame.evaluate(
            "document.querySelectorAll('[class*=Notification-root]').forEach(x => x.remove())"
        )
    page.wait_for_timeout(1000)
    path = IMAGES / name
    page.screenshot(path=path, timeout=300_000)
    with Image.open(path) as picture:
        picture.convert("RGB").save(path, optimize=True)
    print(f"wrote {path.name}, {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
