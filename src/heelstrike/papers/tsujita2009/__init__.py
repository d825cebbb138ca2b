"""Contact Dynamics Modeling of a Humanoid Robot for Tasks Utilizing Impact Dynamics (Tsujita,
Konno, Uchiyama).

What the paper claims, where each equation is, what does not reproduce:
docs/papers/tsujita2009.md.
"""

from __future__ import annotations

from heelstrike.papers import Item, Paper

PAPER = Paper(
    name="tsujita2009",
    title=("Contact Dynamics Modeling of a Humanoid Robot for Tasks Utilizing Impact Dynamics"),
    authors="T. Tsujita, A. Konno, M. Uchiyama",
    source="2009",
    items={
        "table1": Item("the nine motions", "table1:table1"),
        "fig6": Item("the three postures, pictures", "table1:fig6"),
        "table2": Item("simplified and full, rigid floor", "table2:table2"),
        "table2-elastic": Item("simplified and full, elastic floor", "table2:table2_elastic"),
        "table3": Item("peak force and impulse of a virtual mass", "mass:table3"),
        "table3-errors": Item("what a virtual mass misses", "table2:table3_errors"),
        "fig7": Item("force against time, type C", "table2:fig7"),
        "hrp4c": Item("the same on HRP-4C; needs HEELSTRIKE_DATA", "hrp4c:hrp4c"),
        "bounds": Item("f_max = c v_c and f_n between two bounds, any robot", "bounds:bounds"),
        "base": Item("the virtual base against links that are fixed, (1)-(5)", "base:base"),
        "assumptions": Item("the neglected terms, (7), (8), (14)", "assumptions:assumptions"),
        "limits": Item("torque limits that bite, (12)", "limits:limits"),
        "fig3": Item("operations against the sampling time, (18)-(23)", "operations:fig3"),
        "fig4": Item("operations against the degrees of freedom", "operations:fig4"),
        "faster": Item("the scheme in faster forward dynamics", "faster:faster"),
        "zmp": Item("ZMP during the impact", "zmp:zmp"),
        "plan": Item("a planned punch and a planned nailing blow", "planned:planned"),
    },
)
