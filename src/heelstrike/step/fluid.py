"""Box 8 of [Sugihara2006], Fig. 4: drag of a fluid, explicit (robot/fluid.py has the formulas)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.fluid import Drag
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, constant


def drag_force(drag: Drag, pose: Transform, moving: MotionVector) -> ForceVector:
    """Return the drag on a body, about its origin and in its axes; `moving` is its velocity."""
    axes, centre = constant(drag.rotation), constant(drag.centre)
    v = axes.T @ (moving.at(centre) - pose.unrotate(constant(drag.wind)))
    w = axes.T @ moving.angular
    a, d = drag.box, float(drag.box.mean())
    b, c = np.roll(a, -1), np.roll(a, -2)
    f = _resist(v, 3 * np.pi * drag.viscosity * d, drag.density / 2 * b * c)
    n = _resist(w, np.pi * drag.viscosity * d**3, drag.density / 64 * a * (b**4 + c**4))
    force = axes @ f
    return ForceVector(force, add_cross(axes @ n, centre, force))


def _resist(x: SX, linear: float, quadratic: np.ndarray) -> SX:
    return -(linear + SX(quadratic) * ca.fabs(x)) * x
