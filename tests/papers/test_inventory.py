"""Every figure, table and statement of the papers that is reproduced has an item with rows.

Oracle: the list below, written down from the papers themselves before the items were written and
independently of them. An entry names what the paper says, a pattern that the quantities of its rows
match, and how many rows match at least. The nightly tests run items that take minutes; they also
check that every row that differs says why, that every row that reproduces a printed number is near
it, and that the pages have the same statuses and numbers as the run.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from heelstrike import papers
from heelstrike.papers import NAMES, paper
from heelstrike.papers.report import UNEXPLAINED, Status
from tools.paper_pages import read

SAME = 0.05
"""How far a number may be from that of the page, as a share of it: machines differ in last bits."""
SENSITIVE = {
    ("rengifo2009", "fig13"),
    ("rengifo2009", "fig14"),
    ("rengifo2009", "section5"),
    ("rengifo2009", "states"),
    ("sugihara2006", "cost"),
    ("sugihara2006", "fig6"),
    ("sugihara2006", "fig7"),
    ("sugihara2006", "fig8"),
    ("sugihara2006", "vertices"),
    ("sugihara2006", "fig9"),
}
"""Items whose numbers a last bit moves (falls, leaps, false impacts) or a machine's speed does; of
these only the statuses are compared with the page."""
QUICK = {
    "marhefka1996": ("fig5", "fig7", "operations"),
    "rengifo2009": ("restitution", "eq2"),
    "sugihara2006": ("rebound",),
    "tsujita2009": ("table3",),
}
"""A second each; the items' own tests run more of them."""


class Said(NamedTuple):
    """What a paper says, and where we look at it."""

    item: str
    what: str
    rows: str = "."
    """Pattern of the quantities."""
    least: int = 1


INVENTORY = {
    "marhefka1996": [
        Said("poisson", "(2) reduces to (1)", "P_r / P_c", 3),
        Said("poisson", "k_receding = e k_compressing", "as printed", 3),
        Said("eq16", "(16), (17) give (5)", r"e by \(1[67]\)", 8),
        Said("fig1", "(3) force jumps at impact", "first touch"),
        Said("fig1", "(3) sticks before separation", "before separation"),
        Said("fig1", "(4) e of four dampers", r"e by \(4\), b", 4),
        Said("fig1", "e without tension", "e zeroed", 4),
        Said("fig1", "e depends on m", "over m"),
        Said("fig1", "e depends on k", "over k"),
        Said("fig1", "e does not depend on v", "over v_i"),
        Said("fig2", "contours of (19)", r"distance from \(19\)", 2),
        Said("fig2", "bounded by -2/(3 alpha)", "lowest v"),
        Said("fig3", "e of ten alphas", "e at 1 m/s, alpha", 10),
        Said("fig3", "(5) at low speed", r"\(1 - e\)"),
        Said("fig3", "levels out", "de/dv at 4"),
        Said("fig4", "four alphas: area is the loss", "area, alpha", 4),
        Said("fig4", "damping reduces the depth", "ratio of successive depths"),
        Said("fig4", "continuous, never negative", "first or last sample|least force", 2),
        Said("fig5", "equal areas for four k", "area, k", 4),
        Said("fig5", "equal areas", "spread of the losses"),
        Said("fig6", "four k: force in time", "F_max, k|contact time, k", 8),
        Said("fig6", "more impulsive", "ratio of successive F_max"),
        Said("fig7", "area proportional to m, three masses", "area, m|spread of loss / m", 4),
        Said("fig8", "large initial force", "largest F"),
        Said("fig8", "damped out in support", "depth at 0.5 s", 3),
        Said("fig8", "continuous and outward on lifting", "least F,", 6),
        Said("fig8", "load of the support", "load in support"),
        Said("independence", "e of neither m, k nor n", "spread of e", 4),
        Said("sticking", "(22) sticky only below", "samples that break the rule"),
        Said("two-alphas", "different damping: properties hold", "spread of e"),
        Said("two-alphas", "sticking virtually eliminated", "lifts that stick"),
        Said("identify", "a way to find the parameters", "from 10 e|from 76 forces", 4),
        Said("cubes", "comparison with experiment", "position|rotation", 20),
        Said("operations", "one extra multiplication", "extra multiplications", 3),
    ],
    "rengifo2009": [
        Said("fig2", "impulse m v, then m g", "impulse beyond|force after", 6),
        Said("fig4", "(0, 5000), (1, 5000), (5, 5000): height", "kp [015]: depth", 9),
        Said("fig4", "no steady penetration when kp > 0", "surfaces at", 6),
        Said("fig5", "peak force m g - m kv v", "peak force over m", 9),
        Said("fig5", "independent of mass", "0.1, 1, 10 kg"),
        Said("restitution", "e from 0 to 1", "least e|largest e", 2),
        Said("restitution", "by kp/kv", "kp = kv", 4),
        Said("eq2", "steady depth of (2) and (4)", "depth at rest", 6),
        Said("eq2", "sticking force before separation", "least force|what it asks for", 2),
        Said("fig6", "v_s", "v where friction"),
        Said("fig6", "friction to m g sin(alpha)", "friction at 1 s"),
        Said("fig6", "velocity to zero", "v at 0.55 s"),
        Said("fig6", "slides for ever at mu < tan alpha", "slides|mu 0.3"),
        Said("takeoff", "sticking at high velocity", "least force|least speed", 2),
        Said("independence", "masses by 0.1, 1, 10", "masses times", 2),
        Said("section5", "false impacts, epsilon 0 and both signs", "broken", 9),
        Said("section5", "a load presses it in", "sinks under load", 2),
        Said("edges", "edges are two vertices, faces four", "first touch", 5),
        Said("states", "10 ways, 100 states", "ways of a foot|states", 2),
        Said("cop", "(18), (19)", "support"),
        Said("stability", "fixed steps", "."),
        Said("fig11", "heights of the eight vertices, five steps"),
        Said("fig12", "within 0.2 mm in stance"),
        Said("fig13", "normal forces, false impacts"),
        Said("fig14", "false impacts with epsilon"),
    ],
    "sugihara2006": [
        Said("rebound", "(13) rebounds too strongly, (14) less", r"\(14\) .*: e", 7),
        Said("stability", "(14) reduces the risk of divergence", "stable area"),
        Said("maps", "the same of a robot", "hoap1"),
        Said("points", "burst of the number of contact points", "most points", 4),
        Said("fig3", "the two terms of (33) as lambda grows", "share of steps", 2),
        Said("choices", "(19) and (21)", "crouching|standing", 8),
        Said("fig6", "1 ms: both stable", r"\b1 ms", 2),
        Said("fig6", "2.5 ms: (13) throws it up, (14) does not", r"2\.5 ms", 2),
        Said("fig6", "largest stable step of each law", "largest", 2),
        Said("fig7", "chatter by lambda 0.01, 0.1, 1, 4", "lambda .*chatter|chatter.*lambda", 4),
        Said("fig7", "sinks at lambda about 7", "lambda 7|lambda about 7"),
        Said("vertices", "sinks at lambda about 7", "10 vertices a sole: lambda from which"),
        Said("fig8", "spread over the sole's vertices", "spread", 2),
        Said("fig9", "CoG loci alike", "distance of the loci"),
        Said("fig9", "CoG acceleration shakes", "shaking"),
        Said("fig9", "dither of the sole", "dither"),
        Said("fig10", "walks"),
        Said("fig11", "falls"),
        Said("fig12", "jumps", "air"),
        Said("cost", "1.5 ms a cycle"),
    ],
    "tsujita2009": [
        Said("table1", "nine motions"),
        Said("table2", "f_max of nine motions, two ways", r"[ABC]-[123].*f_max", 18),
        Said("table2", "f_n of nine motions, two ways", r"[ABC]-[123].*f_n\b", 18),
        Said("table2", "f_err, f_nerr of nine motions", r"[ABC]-[123].*f_n?err", 18),
        Said("table3", "f_max of nine motions", r"[ABC]-[123]: f_max", 9),
        Said("table3", "f_n of nine motions", r"[ABC]-[123]: f_n", 9),
        Said("table3-errors", "f_err, f_nerr of nine motions", r"[ABC]-[123].*f_n?err", 18),
        Said("fig6", "postures"),
        Said("fig7", "force histories, type C"),
        Said("bounds", "18 entries of table II", "table II"),
        Said("base", "(1)-(4), 1e5 kg", "1e5", 6),
        Said("assumptions", "(7), (8), (14)", ".", 3),
        Said("fig3", "C_r1 0.016 at 1 ms, C_r3 1/4 at 0.1 ms", ".", 2),
        Said("fig4", "C_r3 under 1 to 100 DOF", "."),
        Said("faster", "faster forward dynamics", "."),
        Said("zmp", "ZMP during the impact", "."),
        Said("plan", "planned by SQP", "."),
    ],
}


def items(quick: bool):
    """Items of all papers, those that are quick or the others."""
    return [(n, item) for n in NAMES for item in paper(n).items if (item in QUICK[n]) == quick]


def judged_by_nothing(source):
    """Lines of rows that hold whatever comes out: a literal True, or a value beside itself."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        if getattr(call.func, "id", "") in ("near", "meets"):
            ours, beside = ast.dump(call.args[1]), call.args[2:3]
            beside += [word.value for word in call.keywords if word.arg in ("least", "most")]
            constant = isinstance(call.args[1], ast.Constant)
            if constant or ours in [ast.dump(other) for other in beside]:
                yield call.lineno
        if getattr(call.func, "id", "") in ("shown", "Row"):
            given = [*call.args[2:3], *(k.value for k in call.keywords if k.arg == "reproduced")]
            for holds in given:
                same = isinstance(holds, ast.Compare) and any(
                    ast.dump(holds.left) == ast.dump(other) for other in holds.comparators
                )
                if same or (isinstance(holds, ast.Constant) and holds.value is True):
                    yield call.lineno


def test_no_row_holds_whatever_comes_out():
    wrong = "shown(q, x, True)\nRow(q, x, x >= x)\nnear(q, x, x, 1)\nmeets(q, 3, least=2)\n"
    right = "shown(q, x, x > 0)\nnear(q, x, y, 1)\nmeets(q, x, most=y)"
    assert [*judged_by_nothing(wrong + right)] == [1, 2, 3, 4]
    sources = sorted(Path(papers.__file__).parent.rglob("*.py"))
    assert len(sources) > 50
    found = {str(one): [*judged_by_nothing(one.read_text())] for one in sources}
    assert not {one: lines for one, lines in found.items() if lines}


def test_every_paper_has_a_list():
    assert set(INVENTORY) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_has_its_item(name):
    named = {said.item for said in INVENTORY[name]}
    assert named <= set(paper(name).items)


@pytest.mark.parametrize(
    ("name", "item"),
    [
        *(pytest.param(*one) for one in items(quick=True)),
        *(pytest.param(*one, marks=pytest.mark.nightly) for one in items(quick=False)),
    ],
)
def test_what_the_paper_says_has_rows(name, item):
    """And a row that differs says why, one that holds meets the number that is printed."""
    rows = paper(name).run(item).rows
    if item in ("cubes", "hrp4c") and not rows:
        pytest.skip("HEELSTRIKE_DATA is not set, or has not what this item needs")
    for said in INVENTORY[name]:
        if said.item == item:
            found = [row for row in rows if re.search(said.rows, row.quantity)]
            assert len(found) >= said.least, said.what
    for row in rows:
        assert row.why != UNEXPLAINED, row.quantity
        if row.status is Status.reproduced and isinstance(row.theirs, int | float):
            # one digit of the papers' tables: 3 % of 1.7
            assert abs(row.ours - row.theirs) <= 0.03 * abs(row.theirs) + (row.tolerance or 0)
    told = {row.quantity: row for row in read(name)[item].rows}
    anew = "python tools/paper_pages.py writes the pages anew"
    assert {row.quantity: row.status for row in rows} == {
        quantity: row.status for quantity, row in told.items()
    }, anew
    if (name, item) not in SENSITIVE:
        for row in rows:
            page = told[row.quantity].ours
            if row.ours is None or page is None or not np.isfinite(page):
                assert row.ours == page or not np.isfinite(row.ours), anew
                continue
            assert abs(row.ours - page) <= max(SAME * abs(page), row.tolerance or 0), (
                f"{row.quantity}: {row.ours:.6g}, on the page {page:.6g}; {anew}"
            )
