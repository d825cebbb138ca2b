"""A step of a servo-driven robot that touches nothing: what every step is made of before contact.

The servo and joint damping act at the end of the step: with q+ = q + dt v+ and v+ = v + dt a,

    tau = kp (q_ref - q - dt v) + kd (v_ref - v) - d v - (dt (kd + d) + dt^2 kp) a

and the last term joins the diagonal of H, so light joints and stiff servos stay stable at any dt.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics.aba import aba
from heelstrike.dynamics.bodies import varied
from heelstrike.dynamics.integrate import INTEGRATORS, euler, rk4
from heelstrike.dynamics.kinematics import kinematics
from heelstrike.dynamics.position_error import has_scalar_position, position_error
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.vector import SX


def flight(robot: Robot, integrator: str = "symplectic", vary: Sequence[str] = ()) -> Program:
    """A program whose memory is q and v; inputs dt, gravity (positive down), kp, kd, q_ref and
    v_ref (by velocity index).

    A servo's stiffness acts on joints whose position is one number, its damping on every joint.
    Under "euler" and "rk4" it acts explicitly. Torque limits, joint stops and dry friction are left
    out. Masses of the bodies named in `vary` are inputs "NAME.mass" [kg].
    """
    if integrator not in INTEGRATORS:
        raise HeelstrikeError(
            f"no integrator '{integrator}'; integrators: {', '.join(INTEGRATORS)}"
        )
    p = Program("flight")
    q, v = p.memory("q", robot.nq, initial=robot.neutral), p.memory("v", robot.nv)
    dt, pull = p.input("dt", 1), p.input("gravity", 1)
    kp, kd, q_ref, v_ref = (p.input(name, robot.nv) for name in ("kp", "kd", "q_ref", "v_ref"))
    gravity = ca.vertcat(0, 0, -pull)
    bodies = varied(p, robot, vary)

    def acceleration(at_q: SX, at_v: SX, ahead: SX | float = 0.0) -> SX:
        # expressions, not lets: each joint's share is computed where its limb needs it
        lag = position_error(robot, at_q, q_ref)
        drag = kd + SX(robot.damping)
        stiff = kp * SX(ca.DM(has_scalar_position(robot)))
        tau = stiff * (lag - ahead * at_v) + kd * (v_ref - at_v) - SX(robot.damping) * at_v
        diagonal = SX(robot.armature) + ahead * (drag + ahead * stiff)
        kin = kinematics(p, robot, at_q, at_v, bodies)
        return aba(p, robot, kin, at_v, tau, gravity, diagonal)

    if integrator == "rk4":
        new_q, new_v = rk4(p, robot, q, v, dt, acceleration)
        with p.block("end"):
            p.update("q", new_q)
            p.update("v", new_v)
        return p
    symplectic = integrator == "symplectic"
    a = acceleration(q, v, dt if symplectic else 0.0)
    euler(p, robot, q, v, a, dt, symplectic)
    return p
