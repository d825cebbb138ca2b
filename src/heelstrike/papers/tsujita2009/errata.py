"""Errata of [Tsujita2009]: what is printed, and what is meant or left open."""

from heelstrike.papers.errata import Erratum

ERRATA = (
    Erratum(
        "(22)",
        "C_3 = 373 n - 371",
        "times T_i",
        "C_2 in (23) counts all steps. Without T_i C_r3 would be 264 at 0.1 ms; with it 0.264, "
        "the quarter of the text (item fig3).",
    ),
    Erratum(
        "III: the damper on the way out",
        "nothing is said",
        "it acts only while the depth grows",
        "Of three readings this one gives f_n of table III on all nine rows, the others on none "
        "(item table3). The paper does not say it.",
    ),
    Erratum(
        "III",
        "spring coefficient k and damper coefficient k",
        "damper coefficient c",
        "Units, N s/m.",
    ),
    Erratum("table II", "f_max of the simplified computation in N s", "N", "Units."),
    Erratum(
        "tables II, III: f_max",
        "119.7 to 300.7 N at 0.4, 0.7, 1.0 m/s",
        "c v_c = 120, 210, 300 N for any robot",
        "The force falls from its first value as the reduced mass is below c^2/k = 9 kg. The "
        "tables deviate by up to 0.25 % in both directions: their v_c are rounded.",
    ),
    Erratum(
        "(1), (2)",
        "M_q, I_q",
        "M_g, I_g",
        "(3), and the text below. Perhaps only in our copy of the text.",
    ),
    Erratum(
        "(12)",
        "the cases >, <, < leave |tau| = tau_max open",
        "clamped",
        "Both neighbours agree there.",
    ),
    Erratum(
        "II-B",
        "the headings of joint velocities and accelerations have no dots",
        "phi', phi''",
        "The text that follows them. Perhaps only in our copy of the text.",
    ),
    Erratum("(21), (23)", "C_r1 and C_r3", "there is no C_r2", "It is not used."),
    Erratum(
        "II-C",
        "C_r3 below one under 100 DOF",
        "up to 96",
        "(20) and (22): 0.9963 at 96, 1.0515 at 100 (item fig4).",
    ),
    Erratum(
        "(15)",
        "J* phi''",
        "with the yielding of the base itself, J_b H_b^-1 J_b^T F",
        "It is 1e-5 of 1/m_a with 1e5 kg, all of it for a free robot; we include it.",
    ),
    Erratum(
        "III: v_c, m_a",
        "one decimal",
        "v_c = f_max/c and m_a = 4.000, 5.992, 7.997 kg meet every column of table III at once",
        "A fit within the printed rounding, not a prediction.",
    ),
    Erratum(
        "III",
        "gains, torque limits, postures, arms, end of contact, rule of the impulse are not given",
        "ours, stated with the items",
        "Table II can be fitted, not predicted. m_a v' = -f + D (v_c - v) with D = 876, 1144, "
        "1628 N s/m gives all nine f_n of the simplified computation.",
    ),
    Erratum(
        "(10), in the impact",
        "phi_ref is not given",
        "continues at the velocities before the impact",
        "Our choice.",
    ),
    Erratum(
        "III: the virtual mass",
        "as in its reference [10]",
        "m_a = 1 / (n^T J H^-1 J^T n)",
        "With K_d = 0 the simplified computation is a point mass of that size.",
    ),
)
