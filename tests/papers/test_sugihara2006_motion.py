"""[Sugihara2006], figs 9 to 12 and cost: hoap1 walks, falls and jumps on the floor of IV-C.

Oracles: the gait's own way; that a walker stays up and a faller does not. Exactly the rows known
not to hold as the paper states them may fail.
"""

import numpy as np
import pytest

from heelstrike.papers import paper
from heelstrike.papers.sugihara2006.walking import gait, walks
from tests.rows import item_holds

NOT_AS_STATED = {
    "fig9": {"literal rule, floor alone below: lowest centre of mass [m]"},
    "fig10": {"way of the centre of mass [mm]"},
    "fig11": set(),
    "fig12": set(),
    # judged by nothing
    "cost": {"one world, walking [ms]", "MuJoCo's step, one world, the same gait [ms]"},
}

pytestmark = pytest.mark.nightly  # a minute of compiling each


@pytest.mark.parametrize("item", NOT_AS_STATED)
def test_rows(item):
    item_holds("sugihara2006", item, NOT_AS_STATED[item], stated=False)


def test_pictures_are_drawn(tmp_path):
    for item in ("fig9", "fig10", "fig11", "fig12"):
        figure = paper("sugihara2006").run(item).draw()
        figure.savefig(tmp_path / f"{item}.png")
        assert (tmp_path / f"{item}.png").stat().st_size > 10_000


def test_the_consistent_rule_walks_the_gaits_own_way():
    settings = gait().settings
    way = settings["length"] * (settings["steps"] - 1)
    for walked in walks("consistent", "rigid"):
        assert abs(walked.com[-1, 0] - walked.com[0, 0] - way) < 0.02 * way
        assert np.abs(walked.com[-1, 1]) < 2e-3
