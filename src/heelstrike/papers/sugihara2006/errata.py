"""Errata of [Sugihara2006]: what is printed, and what is meant or left open."""

from heelstrike.papers.errata import Erratum

ERRATA = (
    Erratum(
        "(13), (14), (15)",
        "f = -k d - c d'",
        "f = k d + c d'; the branch d' > 0 stays compression",
        "With d > 0 for penetration (4) and the force along the normal (9), (33), the printed "
        "force would pull the robot in.",
    ),
    Erratum(
        "(14), on the way out",
        "f = k (d + d' dt)",
        "the same, at least 0",
        "Negative in the last step, where |d'| dt > d: the floor would hold the robot for a step.",
    ),
    Erratum(
        "(2)",
        "b = H' q' + b-hat, and b-hat is the gravity force",
        "b-hat also contains -1/2 d(q'^T H q')/dq",
        "A particle in polar coordinates, m = 1, r = 1, r' = 0.5, th' = 2: q'' = (4, -2) with b, "
        "(4, 0) with b - H' q' in its place, (0, 0) with gravity alone.",
    ),
    Erratum(
        "(20), (21), (24)",
        "b-hat",
        'b, as in (1) and step 8; forces="b-hat" is the literal choice',
        "With b-hat a contact misses its velocity by K^T H^-1 (b - b-hat) dt: item choices "
        "measures it under the soles of a crouching robot, with b-hat and with b.",
    ),
    Erratum(
        "(19)",
        "K^T dq' = dv",
        "K^T dq' + K'^T q' dt = dv; bias=\"drop\" is the literal choice",
        "The term is of the order of dt: item choices measures it under the soles of a crouching "
        "robot, without it and with it. A ball that rolls sinks at v^2 dt / R.",
    ),
    Erratum(
        "(17)",
        "H q' + b = ...",
        "H q'' + b = ...",
        "(16), of which it is the short form, and the units. Perhaps only in our copy of the text.",
    ),
    Erratum(
        "II-B against III-B",
        "static where the slip speed is at most epsilon (7); where the whole speed is (25)",
        "the whole speed, |v_i|",
        "By the slip speed a point that falls flat is static, and its rebound e (29) is never "
        "used: a fall at 1 m/s with e = 0.5 leaves at 0 by (7), at 0.5 m/s by (25).",
    ),
    Erratum(
        "(7), (25): epsilon",
        "a tiny value",
        "at least mu_K g dt / 2",
        "Below that a slider is never caught: it ends in a cycle of two speeds whose sum is "
        "mu_K g dt. The consistent rule needs no epsilon.",
    ),
    Erratum(
        "(32)",
        "A is a positive semidefinite square matrix",
        "only without points of K; A^T A + lambda is, always",
        "The columns of a kinetic point hold mu_K (26), its row does not: A is not symmetric.",
    ),
    Erratum(
        "(36)",
        "friction beyond mu_S f_nu is replaced by mu_K f_nu, point by point, after (33)",
        'literal with rule="paper"; the consistent rule seeks forces inside the cones',
        "Normal forces stay those of the sticking solution, so that corners with little load slide "
        "below the friction angle of the body, at tan = mu_S / (1 + mu_S h/a).",
    ),
    Erratum(
        "IV-D",
        "mu_S = 0 with mu_K = 0.4",
        "literal in the reproduction; otherwise friction is at most mu_K f_nu",
        "(36) then raises friction: a push of 0.01 N at rest meets 19.62 N against it. This "
        "rule causes the dither that the text describes.",
    ),
    Erratum(
        "IV-C: the membrane",
        "the rigid floor is covered by a 0.0005 m elastic membrane",
        'both readings: below="both", the membrane presses on where the floor carries; '
        'below="rigid", it does not',
        "The paper does not say. With four vertices a sole only the first has smooth forces at "
        "lambda 1 and 4, as fig 7 has them (item fig7); with ten, the second has them too, and "
        "falls at lambda about 7 (item vertices).",
    ),
    Erratum(
        "IV-C: lambda",
        "the robot penetrates the floor at lambda about 7",
        "under (33) the floor yields at g dt lambda (m/n)^2 for every lambda > 0; from which "
        "lambda the robot falls depends on the number of vertices, which the paper does not print",
        "Its minimum for n symmetric points, in closed form; item fig7 measures the speed, item "
        "vertices the limit: about 7 with ten vertices a sole, our choice.",
    ),
    Erratum(
        "(33): lambda",
        "a number",
        "1/kg^2, for A is in 1/kg",
        "Units of the two terms. So 0.01 to 4 hold for 5 kg on eight vertices only.",
    ),
    Erratum(
        "III-A",
        "(14) weakens the rebound and reduces the risk of divergence",
        "true under explicit integration, or with next to no damper; under the symplectic "
        "integration of IV-A the stable region of (14) is a third of that of (13)",
        "Jury's criterion for the 2 x 2 matrix of a step; items stability, rebound and maps.",
    ),
    Erratum(
        "IV-A",
        "first-order symplectic",
        "v first, then q; forces from the start of the step",
        "The paper does not say. Our choice, as in most simulators.",
    ),
    Erratum(
        "IV-B: k and c of the floor",
        "4410 N/m, 282 N s/m of the floor",
        "of each contact point",
        "The burst of the number of contact points requires it. (4.5 kg x 9.8 / 10 mm and "
        "critical damping give both numbers: an inference.)",
    ),
    Erratum("IV-B", "Fig. 6(C), Fig. 6(D)", "(A) and (B)", "The labels under the figure."),
    Erratum("IV-B, IV-C", "c in N/m s^-1", "N s/m", "Units of c d'."),
)
