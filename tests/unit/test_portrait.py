"""Portraits, by what a person would check on them.

Oracles: pixels. A dot is of the dots' colour; lengths are to one another as perspective has them.
"""

from __future__ import annotations

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.view import plot
from heelstrike.view.render.film_strip import GAP
from heelstrike.view.render.portrait import ABOVE, BELOW, portrait

WIDTH = 3.0
"""Of the pictures here [inch]."""


def halves(path):
    """The two pictures of a portrait, without labels and scale."""
    image = matplotlib.image.imread(path)[..., :3]
    down = slice(round(ABOVE * plot.DPI) + 3, image.shape[0] - round(BELOW * plot.DPI) - 3)
    cell = round((WIDTH - GAP) / 2 * plot.DPI)
    return image[down, 3 : cell - 3], image[down, -cell + 3 : -3]


def test_lengths_are_alike_in_all_pictures(tmp_path):
    """A box of 0.1 by 0.2 m, from its end and from its side: as wide as perspective has it."""
    box = hs.load("box")
    path = portrait([(box, "stance", 0), (box, "stance", 90)], tmp_path / "a.png", width=WIDTH)
    blue = [np.argwhere(half[..., 2] - half[..., 0] > 0.12)[:, 1] for half in halves(path)]
    end, side = (np.ptp(columns) + 1 for columns in blue)
    # the nearest face is the widest: 0.1 m and 0.05 m before the middle, which is 0.575 m away
    assert side / end == pytest.approx(2 * (0.575 - 0.1) / (0.575 - 0.05), rel=0.05)


def test_contact_points_are_marked(tmp_path):
    box = hs.load("box")
    dot = np.array(matplotlib.colors.to_rgb(plot.COLOURS[1]))
    count = []
    for points in (False, True):
        path = portrait([(box, "stance", 35)], tmp_path / "p.png", points=points, width=2)
        image = matplotlib.image.imread(path)[..., :3]
        count.append(int(np.all(np.abs(image - dot) < 0.05, axis=-1).sum()))
    assert count[0] == 0
    assert count[1] > 8 * 4  # eight corners


def test_mistakes_are_sentences(tmp_path):
    ball, path = hs.load("ball"), tmp_path / "x.png"
    for shots, options, match in (
        ([], {}, "nothing to draw; pass at least one"),
        ([(ball, "stance", 0)], {"labels": ["a", "b"]}, "2 labels for 1 pictures"),
        ([(ball, [0, 0], 0)], {}, "ball has 7 coordinates, but the pose has 2"),
        ([(ball, "crouch", 0)], {}, "no pose 'crouch'"),
    ):
        with pytest.raises(hs.HeelstrikeError, match=match):
            portrait(shots, path, **options)
    with pytest.raises(hs.HeelstrikeError, match="unknown picture format 'jpgg'"):
        portrait([(ball, "stance", 0)], tmp_path / "x.jpgg")
    assert not list(tmp_path.iterdir())
