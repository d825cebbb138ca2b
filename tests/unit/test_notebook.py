"""What a notebook shows of robots, scenes and simulators.

Oracles: the objects' own numbers in the table; the box's colour among the pixels of the picture.
"""

from __future__ import annotations

import base64
import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import heelstrike as hs
from heelstrike.view.pages import notebook
from heelstrike.view.render.surface_solids import plane_normal


def picture(html: str) -> np.ndarray:
    """Return the picture of a card, (rows, columns, 3), 0 to 1."""
    found = re.search(r"data:image/png;base64,([^\"]+)", html)
    assert found is not None
    return np.asarray(Image.open(BytesIO(base64.b64decode(found[1]))).convert("RGB")) / 255


def blue_share(html: str) -> float:
    """Return the share of pixels in the blue of the bundled box."""
    image = picture(html)
    return float((image[..., 2] - image[..., 0] > 0.12).mean())


@pytest.fixture(scope="module")
def box() -> hs.Robot:
    return hs.load("box")


def test_a_robot_is_a_picture_with_its_numbers(box):
    html = box._repr_html_()
    assert f"{box.mass:.4g} kg" in html
    assert "0, free base" in html
    assert blue_share(html) > 0.2


def test_a_scene_shows_the_robot_before_its_stairs(box):
    """The stairs climb towards the usual camera, which would look at their back."""
    scene = hs.Scene(box, hs.Stairs(name="stairs", point=(0.2, 0, 0)), hs.Plane(law=hs.Rigid()))
    html = scene._repr_html_()
    assert "stairs (Stairs)" in html
    assert "Rigid(" in html
    assert blue_share(html) > 0.05


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_simulator_shows_its_present_state(box, worlds):
    sim = hs.Simulator(hs.Scene(box, hs.Plane(name="floor")), dt=2e-3, worlds=worlds)
    before = sim._repr_html_()
    assert "0 s, steps of 2 ms" in before
    assert sim.compiled.outputs is None  # nothing was compiled
    sim.parameters["floor.normal.k"] = 1234.0
    sim.run(0.1, q0=sim.place(drop=0.1))
    after = sim._repr_html_()
    assert "0.1 s, steps of 2 ms" in after
    assert "k=1234," in after


def test_a_robot_that_cannot_be_rendered_is_a_table(box, monkeypatch):
    def refuse(*args: object) -> None:
        raise hs.HeelstrikeError("no ray tracer")

    monkeypatch.setattr(notebook, "robot_solids", refuse)
    html = box._repr_html_()
    assert "<img" not in html
    assert "contact points" in html


def test_planes_are_drawn_with_their_slope():
    """z = 0.3 x has the normal (-0.3, 0, 1)."""
    surface = {
        "kind": "Plane",
        "normal": (0, 0, 1),
        "point": (0, 0, 0),
        "slope": np.array([0.3, 0]),
    }
    assert plane_normal(surface) == pytest.approx(np.array([-0.3, 0, 1]) / np.sqrt(1.09))
    assert plane_normal(surface | {"slope": None}) == pytest.approx([0, 0, 1])
