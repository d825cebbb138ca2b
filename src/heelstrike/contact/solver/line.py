"""Search along a direction, over the rounds of a loop.

A round evaluates the slope of a convex function at one place of the line. The place is accepted
where the slope is small beside that at the start; else it becomes an end of the stretch in which
the lowest point lies, and the next round looks where the straight line through the ends' slopes is
zero.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.law import SX, where

LINE = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
"""State of a search: where to look, then the near end with its slope and the far end with its
slope, and the slope at the start."""
NARROW = 1e-5
"""A stretch of the line that is not divided further. Friction turns over within a thousandth of a
direction and less; from a place beside such a bend the next direction leads back across it."""


def new_line(start: SX) -> SX:
    """Return the state of a search whose slope at the start is known."""
    return ca.vertcat(1, 0, start, 1, 0, start)


def fits(line: SX, slope: SX) -> SX:
    """Return whether a place on the line is near enough to its lowest point."""
    start, near, far = ca.fabs(line[5]), line[1], line[3]
    beyond = slope > 0.25 * start
    short = ca.logic_and(slope < -0.75 * start, line[0] < 1)
    return ca.logic_or(ca.logic_not(ca.logic_or(beyond, short)), far - near < NARROW)


def narrowed(line: SX, slope: SX) -> SX:
    """Return the line with the place just tried as one of its ends, and where to look next."""
    at, near, near_slope, far, far_slope, start = ca.vertsplit(line)
    above = slope > 0
    near, near_slope = where(above, near, at), where(above, near_slope, slope)
    far, far_slope = where(above, at, far), where(above, slope, far_slope)
    rise = far_slope - near_slope
    share = -near_slope / where(rise > 0, rise, 1)
    look = near + (far - near) * ca.fmax(0.1, ca.fmin(0.9, share))
    return ca.vertcat(look, near, near_slope, far, far_slope, start)
