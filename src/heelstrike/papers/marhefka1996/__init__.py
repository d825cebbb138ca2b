"""Simulation of Contact Using a Nonlinear Damping Model (Marhefka, Orin), every figure.

What the paper claims, where each equation is, what does not reproduce:
docs/papers/marhefka1996.md.
"""

from __future__ import annotations

from heelstrike.papers import Item, Paper

PAPER = Paper(
    name="marhefka1996",
    title="Simulation of Contact Using a Nonlinear Damping Model",
    authors="D. W. Marhefka, D. E. Orin",
    source="IEEE International Conference on Robotics and Automation, 1996",
    items={
        "poisson": Item("Poisson's hypothesis (2), and two springs", "poisson:poisson"),
        "fig1": Item("the linear spring and damper, and its three weaknesses", "linear:fig1"),
        "eq16": Item("the damping of low speeds, (16) and (17)", "low_speed:low_speed"),
        "fig2": Item("phase diagram", "phase:fig2"),
        "fig3": Item("e against impact speed, for ten alphas", "restitution:fig3"),
        "fig4": Item("force against depth, for four alphas", "hysteresis:fig4"),
        "fig5": Item("force against depth, for four stiffnesses", "hysteresis:fig5"),
        "fig6": Item("force against time, for four stiffnesses", "hysteresis:fig6"),
        "fig7": Item("force against depth, for three masses", "hysteresis:fig7"),
        "fig8": Item("a foot that is set down, loaded and lifted", "foot:fig8"),
        "independence": Item("e depends on neither m, k nor n", "independence:independence"),
        "sticking": Item("the force pulls only below v = -2/(3 alpha)", "sticking:sticking"),
        "two-alphas": Item("another damping on the way out (future work)", "two_alphas:two_alphas"),
        "identify": Item("parameters from measurements (future work)", "identify:identify"),
        "cubes": Item("real tosses of a cube (future work)", "cubes:cubes"),
        "operations": Item("one extra multiplication", "operations:operations"),
    },
)
