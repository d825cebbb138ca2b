"""The Krylov form as a differentiable CasADi function, for planning, in steps of 0.5 ms.

    (1 + dt T + dt^2 K) z+ = z + dt (|j|_A e_1 f - K s),    s+ = s + dt z+

with T = W^T K_d W, K = W^T K_p W of krylov.py. The servo is implicit, so that its fast modes do not
need small steps; contact and target are symplectic. First order: 1 to 2 % of the impulse, which
`estimate` then computes exactly.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.surface_law import PointState
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.target import SKIN, Target, check_law
from heelstrike.spatial.vector import SX, zeros


def smooth_hit(m: int, law: NormalLaw, target: Target, dt: float, steps: int) -> ca.Function:
    """Return the function (T (m, m), K (m, m), |j|_A, v_c) -> impulse, forces, z, s and rates of z
    at every step.
    """
    check_law(law)
    if law.memory_size:
        raise HeelstrikeError(
            f"a law with memory cannot be planned with: {law!r}; take one without"
        )
    step = _step(m, law, target, dt)
    t, k, size, speed = ca.MX.sym("T", m, m), ca.MX.sym("K", m, m), ca.MX.sym("j"), ca.MX.sym("v")
    left = ca.inv(ca.MX.eye(m) + dt * t + dt**2 * k)
    start = ca.vertcat(ca.DM.zeros(2 * m + 2), float(target.velocity), 0)  # type: ignore[arg-type]
    states, forces, rates = step.mapaccum(steps)(
        start, ca.repmat(left, 1, steps), ca.repmat(k, 1, steps), ca.repmat(size, 1, steps),
        ca.repmat(speed, 1, steps),
    )  # fmt: skip
    impulse = states[2 * m + 3, -1]
    return ca.Function(
        "smooth", [t, k, size, speed],
        [impulse, forces, states[:m, :], states[m : 2 * m, :], rates],
        ["T", "K", "j", "v"], ["impulse", "forces", "z", "s", "rates"],
    )  # fmt: skip


def _step(m: int, law: NormalLaw, target: Target, dt: float) -> ca.Function:
    state = SX.sym("state", 2 * m + 4)
    z, s = state[:m], state[m : 2 * m]
    hand, moved, rate, impulse = ca.vertsplit(state[2 * m :])
    left, k = SX.sym("left", m, m), SX.sym("k", m, m)
    size, speed = SX.sym("size"), SX.sym("speed")
    depth = hand - moved - float(target.gap) + SKIN  # type: ignore[arg-type]
    point = PointState(
        depth, speed - size * z[0] - rate, zeros(2), zeros(2), SX(dt), SX(0), SX(0, 1)
    )
    force = Elastic(law, friction=None).force(point).normal
    right = z - dt * (k @ s)
    right[0] = right[0] + dt * size * force
    new_z = left @ right
    pull = (force - float(target.k) * moved - float(target.c) * rate) / float(target.mass)  # type: ignore[arg-type]
    new_rate = rate + dt * pull
    new_hand = hand + dt * (speed - size * new_z[0])
    following = ca.vertcat(
        new_z, s + dt * new_z, new_hand, moved + dt * new_rate, new_rate, impulse + dt * force
    )
    return ca.Function("step", [state, left, k, size, speed], [following, force, (new_z - z) / dt])
