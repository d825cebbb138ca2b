"""Balanced Micro/Macro Contact Model (Sugihara, Nakamura).

What the paper claims, where each equation is, what does not reproduce:
docs/papers/sugihara2006.md.
"""

from __future__ import annotations

from heelstrike.papers import Item, Paper

PAPER = Paper(
    name="sugihara2006",
    title="Balanced Micro/Macro Contact Model for Forward Dynamics of Rigid Multibody",
    authors="T. Sugihara, Y. Nakamura",
    source="IEEE International Conference on Robotics and Automation, 2006",
    items={
        "rebound": Item("one bounce by (13) and by (14), at large steps", "rebound:rebound"),
        "stability": Item("where a step by (13) and by (14) is stable", "stability:stability"),
        "maps": Item("stable steps against stiffness, implicit steps too", "maps:maps"),
        "points": Item("the burst of the number of contact points", "points:points"),
        "fig3": Item("the two terms of (33) against lambda", "fig3:fig3"),
        "fig5": Item("size, mass and joints of the robot", "fig5:fig5"),
        "choices": Item("what (19) and (21) leave out, standing and crouching", "choices:choices"),
        "fig6": Item("the robot dropped from 0.05 m", "fig6:fig6"),
        "fig7": Item("normal force of a sole's vertex, standing up, by lambda", "fig7:fig7"),
        "fig8": Item("its distribution over the sole's vertices", "fig8:fig8"),
        "vertices": Item("the lambda at which it fails, by vertices", "vertices:vertices"),
        "fig9": Item("the centre of mass of a walk, by static friction", "fig9:fig9"),
        "fig10": Item("a walk, as a film strip", "films:fig10"),
        "fig11": Item("a walk that falls", "films:fig11"),
        "fig12": Item("a jump", "films:fig12"),
        "cost": Item("the mean time of a cycle", "cost:cost"),
    },
)
