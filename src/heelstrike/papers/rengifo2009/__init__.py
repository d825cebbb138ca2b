"""A Penalty-based Approach for Contact Forces Computation in Bipedal Robots (Rengifo et al.).

What the paper claims, where each equation is, what does not reproduce:
docs/papers/rengifo2009.md.
"""

from __future__ import annotations

from heelstrike.papers import Item, Paper

PAPER = Paper(
    name="rengifo2009",
    title="A Penalty-based Approach for Contact Forces Computation in Bipedal Robots",
    authors="C. Rengifo, Y. Aoustin, C. Chevallereau, F. Plestan",
    source="IEEE-RAS International Conference on Humanoid Robots, 2009",
    items={
        "fig2": Item("a rigid impact as the limit of the law", "ball:fig2"),
        "fig4": Item("a bouncing ball: height", "ball:fig4"),
        "fig5": Item("a bouncing ball: force", "ball:fig5"),
        "restitution": Item("restitution by kp/kv^2", "restitution:restitution"),
        "eq2": Item("spring and damper (2) against (4)", "penalty:eq2"),
        "fig6": Item("a brick on a ramp", "brick:fig6"),
        "takeoff": Item("a foot pulled off fast", "takeoff:takeoff"),
        "independence": Item("one kp, kv for every robot", "independence:independence"),
        "fig11": Item("a walk of five steps: heights of the vertices", "gait:fig11"),
        "fig12": Item("a walk: vertices about the ground", "gait:fig12"),
        "fig13": Item("a walk: normal forces, false impacts", "gait:fig13"),
        "fig14": Item("a walk: false impacts by epsilon", "gait:fig14"),
        "section5": Item("a foot loaded and unloaded: false impacts", "load:section5"),
        "edges": Item("heel, toe and flat landings", "edges:edges"),
        "states": Item("vertex, edge and face contacts, counted", "states:visited"),
        "cop": Item("least norm, clipped, and the weight", "cop:cop"),
        "stability": Item("fixed steps: where they gain", "stability:stability"),
    },
)
