"""Errata of [Marhefka1996]: what is printed, and what is meant or left open."""

from heelstrike.papers.errata import Erratum

ERRATA = (
    Erratum(
        "(19)",
        "a product of two roots",
        "one root of the product",
        "Both radicands are negative; merged, the formula solves (8) (item fig2).",
    ),
    Erratum(
        "figs 4 to 7 against (6), (20)",
        "force positive in the figures, and sticky where it is positive in (20)",
        "figures: force on the ground; (6), (20): force on the mass",
        "(6) is negative in compression.",
    ),
    Erratum(
        "figs 4 to 7: gravity",
        "nothing is said",
        "none",
        "(8) has none. With gravity the impacts of fig 5 at 10 and 30 kN/m and of fig 7 at 100 "
        "kg would not separate, and e of fig 4 at alpha 0.4 would be 0.646 instead of 0.712.",
    ),
    Erratum(
        "(4)",
        "e of the linear law",
        "for b^2 < 4 m k, tension kept",
        'With tension "simply set to zero" e is exp(-2 zeta B): 0.506 instead of 0.444 at b = '
        "50 N s/m (item fig1).",
    ),
    Erratum(
        "section 1, after (2)",
        "k_receding = e k_compressing",
        "e^2, for Poisson's e",
        "Energy of a spring: v_out = sqrt(k_r/k_c) v_in, sqrt(e) v_in as printed (item poisson).",
    ),
    Erratum(
        "(6)",
        "for all x",
        "no force where x < 0",
        "The text states this for the phase diagram.",
    ),
    Erratum(
        "4.2",
        "e is fairly independent of m, k and n at small alpha v_i",
        "fully, at all speeds",
        "They cancel in (19) at x = 0, as the text then shows (item independence).",
    ),
    Erratum(
        "fig 8",
        "load, its duration, where the ramp of the lift starts, what follows are not given",
        "500, 1000, 2000 N or none; lift at 0.5 s; both readings of the ramp",
        "Until 0.1 s everything is given. Of six readings one contradicts the text: x_d held "
        "and the ramp from the actual x pulls (item fig8).",
    ),
)
