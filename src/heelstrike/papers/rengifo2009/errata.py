"""Errata of [Rengifo2009]: what is printed, and what is meant or left open."""

from heelstrike.papers.errata import Erratum

ERRATA = (
    Erratum(
        "II-A: kp/kv",
        "e goes from 0 to 1 as kp/kv goes from 0 to infinity",
        "e is a function of kp/kv^2",
        "The closed form e = exp(-zeta acos(zeta) / sqrt(1 - zeta^2)), zeta = kv / (2 sqrt(kp)). "
        "At kp/kv = 1: 0.341, 0.133, 0.044, 0.014 for kp = 5, 50, 500, 5000 (item restitution).",
    ),
    Erratum(
        "II-A: greatest force",
        "depends on kv alone",
        "if kv^2 >= kp",
        "The maximum of the closed form. kp = 1e4, kv = 50: 90.88 times m at 1 m/s, not 59.81 "
        "(item fig5).",
    ),
    Erratum(
        "II-A: kp > 0",
        "interpenetration converges toward zero",
        "reaches zero in finite time, at e times the impact speed",
        "On the way out (3) has no damper: a quarter of an undamped oscillation (item fig4).",
    ),
    Erratum(
        "(4), on leaving",
        "nothing is said",
        "f_n falls from m g to 0 at once",
        "(3) is 0 at p = 0 on the way out, so f_n = m g there.",
    ),
    Erratum(
        "(9)",
        "(8) rewritten, with one threshold v_s",
        "uphill the limit is left at (g/kv)(mu cos + sin); and mu > tan(alpha) is needed",
        "(8) with p' < 0: friction and gravity point the same way (item fig6).",
    ),
    Erratum(
        "(10)",
        "A q_a' + H = ...",
        "A q_a + H = ...",
        "q_a holds accelerations already. Perhaps only in our copy of the text.",
    ),
    Erratum(
        "(11)",
        "one copy of the text: omega = R V",
        "omega = R omega, in the inertial frame on the right",
        "The other copy, and units.",
    ),
    Erratum(
        "after (11)",
        "d(V')/dt = V' - omega x V, and the same dot on omega",
        "d(V)/dt on the left",
        "Units: the left side is a third derivative as printed.",
    ),
    Erratum(
        "before (13)",
        "the contact set: phi = 0",
        "phi <= 0; here d > 0",
        "A fixed step never meets phi = 0, and (17) acts on a penetration.",
    ),
    Erratum(
        "(13)",
        "columns of D_i in the order n, x, y",
        "x, y, n",
        "The order of f_i, with which they are multiplied.",
    ),
    Erratum(
        "(19)",
        "f_n = max(0, f_n') after the pseudo-inverse",
        'literal with rule="paper"; the default seeks forces that do not pull',
        "Least-norm forces are linear over a sole, so a corner pulls as soon as |x|/a + |y|/b > 1. "
        "Clipped, the rest no longer sums to the weight: 1.225 of it at s = 1.9 (item cop).",
    ),
    Erratum(
        "(20)",
        "sign(f_x') min(|f_x'|, mu f_n cos theta), theta = atan(f_y'/f_x')",
        "f_t min(1, mu f_n / |f_t|)",
        "sin theta < 0 reverses f_y even where nothing is cut: (3, -4) with mu f_n = 10 becomes "
        "(3, 8). With atan2 it is cos theta < 0 and f_x.",
    ),
    Erratum("fig 9", "cos in the second block", "sin", "(20)."),
    Erratum(
        "V: epsilon",
        "kp (epsilon - p) with epsilon = +1e-6 m of height",
        "epsilon = -1e-6 m; in our law epsilon is a depth",
        "The text describes a steady interpenetration. A height above the ground has no force: "
        "item section5 counts more false impacts with + than with 0, and none with -.",
    ),
    Erratum(
        "V: a load",
        "presses the foot in, for a while",
        "not if the law includes the load",
        "(18) includes the load in the force, so the acceleration does not change. A force that "
        "(18) does not include leaves p = -F / (m kp) permanently (item section5).",
    ),
    Erratum(
        "IV against fig 11",
        "five steps; four steps",
        "five",
        "The text; the caption differs.",
    ),
    Erratum(
        "figs 4, 5",
        "mass, height of the fall, integrator and step are not given",
        "1 kg; 0.1, 0.5 and 1 m; RK4 at 10 us",
        "Our choice; the results of (1), (3) have a closed form.",
    ),
    Erratum(
        "(2), (3)",
        "kp, kv in both",
        "N/m and N s/m in (2), 1/s^2 and 1/s in (3)",
        "Units.",
    ),
)
