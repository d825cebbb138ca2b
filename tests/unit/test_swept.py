"""The swept problem on random numbers: its solutions obey Signorini's and Coulomb's laws.

Oracles: the conditions themselves, point by point; scipy's nnls where there is no friction; for one
point the roots of its own equation in the direction of slip.

Tolerances are those at which the passes end, as shares of the largest free velocity: SETTLED for
what a pass still changes, STICKS for the slip of a point that sticks, TURNING for the direction of
one that slides.
"""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq, nnls

import heelstrike as hs
from heelstrike.contact.solver.criteria import USUAL, Accuracy, Ended
from heelstrike.contact.solver.links import Link, pull_sum, pulls_by_body
from heelstrike.contact.solver.passes import is_at_bound
from heelstrike.contact.solver.rows import Arm, Row
from heelstrike.contact.solver.semidefinite import root_of
from heelstrike.contact.solver.start import Motion, Start
from heelstrike.contact.solver.state import full
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.ir.guard import reopened
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.spatial.ldl import factor

RUBBING, SETTLED, STICKS, TURNING = USUAL.rubbing, USUAL.settled, USUAL.sticks, USUAL.turning
SINGLE = ("active", "slid", "fresh", "mu_s", "mu_k", "smoothing")
INPUTS = {"target": 3, "past": 3, "levers": 3, "axes": 9} | dict.fromkeys(SINGLE, 1)
"""Inputs of the problem: numbers per point."""
SCALARS = ("rounds", "ended", "residual")
SMOOTHING = hs.Rigid().smoothing
"""The default, 1e-3. SETTLED limits what a pass changes, not what is left to be changed: softer
passes change less at a time and end further from the solution. At 1e-2 the median error of
test_without_friction_it_is_a_quadratic_program is 7.2e-7 for 16 points, just above SETTLED."""
MANY = Accuracy(rounds=1000)
"""Enough rounds for all passes to converge; another test counts how many they need."""


class Bodies:
    """Bodies with any inverse inertia in place of a robot's tree; Lambda^-1 = L L^T."""

    velocities = frozenset()

    def __init__(self, p, inverse):
        self.p, size = p, inverse.shape[0]
        with p.block("bodies"):
            self.root = p.let("root", root_of(inverse))
            self.force = p.variable("force", ca.SX(size, 1))
            self.stiffness = [p.variable("stiffness", ca.SX(6, 6)) for _ in range(size // 6)]
        self.loads = {n: n for n in range(size // 6)}

    def set_force(self, body, force):
        self.p.assign(self.force[6 * body : 6 * body + 6], force)

    def set_stiffness(self, body, stiffness):
        self.p.assign(self.stiffness[body], stiffness)

    def factor(self, bodies, joint, diagonal):
        """Do nothing: `_moved` factors."""

    def solve(self, rho):
        with self.p.block("solve"):
            x = self.p.let("moved", self._moved(self.force))
        return ca.SX(0, 1), {n: x[6 * n : 6 * n + 6] for n in range(x.numel() // 6)}

    def accept(self, step, accepted):
        """Do nothing: there are no closed loops."""

    def share(self, one, other):
        return True

    def inverse(self, pulls):
        with self.p.block("inverse"):
            (own,) = pulls
            columns = ca.SX(self.force.numel(), next(iter(own.values())).shape[1])
            for body, wrenches in own.items():
                columns[6 * body : 6 * body + 6, :] = wrenches
            return {(0, 0): self.p.let("inverse", columns.T @ self._moved(columns))}

    def _moved(self, forces):
        """Return L (1 + L^T K L)^-1 L^T f."""
        root = self.root
        matrix = root.T @ ca.diagcat(*self.stiffness) @ root + ca.DM.eye(root.shape[1])
        return root @ factor(ca.densify(matrix)).solve(root.T @ forces)


@cache
def kernel(bodies, points, accuracy=MANY, tolerance=1e-9, soft=False, pair=False):
    """Compile the problem; points belong to bodies in turn, of a pair all to the first two."""
    p, n, size = Program("swept"), points, 6 * bodies
    inverse, free = p.input("inverse", size**2), p.input("free", size)
    x = {name: p.input(name, k * n) for name, k in INPUTS.items()}
    groups = 1 if pair else bodies
    y, own = p.input("y", 6 * groups), p.input("own", groups)
    offset = p.input("offset", 3)
    compliance = p.input("compliance", 1) if soft else None
    rows = []
    for j in range(n):
        point = {name: x[name][k * j : k * (j + 1)] for name, k in INPUTS.items()}
        lever = point.pop("levers")
        arms = (Arm(j % bodies, lever),)
        if pair:
            with p.block("lever", member=j):
                arms = Arm(0, lever), Arm(1, p.let("lever", lever + offset), -1.0)
        axes = ca.reshape(point.pop("axes"), 3, 3).T
        rows.append(Row(arms=arms, axes=axes, compliance=compliance, **point))
    problem = SweptProblem(p, ca.SX(1), ca.SX(tolerance), accuracy)
    start = Start(p, ca.SX(tolerance))
    tree = Bodies(p, ca.reshape(inverse, size, size))
    twists = {b: free[6 * b : 6 * b + 6] for b in range(bodies)}
    for b in range(groups):
        mapped = {j: row for j, row in enumerate(rows) if row.arms[0].body == b}
        link = Link(0, 1, offset, rows[0].arms[0].lever if n == 1 else None) if pair else None
        coast = link.relative(twists) if link else twists[b]
        known = None if link else y[6 * b : 6 * b + 6]
        motion = Motion(coast, coast, link.size(twists) if link else None)
        body = start.body(b, "limb", mapped, own[b], motion, known, link)
        problem.add_body(body)
        with reopened(p, body.touch):
            pulls = pulls_by_body(p, [link], [body.wrench]) if link else {}
            with p.block("guess"):
                for number, own in pulls.items():
                    tree.set_force(number, pull_sum(ca.SX(number), own, None))
                if not link:
                    tree.set_force(b, body.wrench)
                    tree.set_stiffness(b, full(body.stiffness))
    nothing = ca.SX(0, 1)
    s = problem.solve(tree, [], nothing, tree.solve({})[1], {}, nothing)
    impulses, slides, twists = [ca.SX(0)] * n, [ca.SX(0)] * n, []
    for body in problem.bodies:
        with reopened(p, body.touch) as touch, p.block("left"):
            twists.append(touch.leave("twist", body.twist))
            for point in body.points:
                impulses[point.number] = touch.leave("f", s.impulses[point.number])
                slides[point.number] = touch.leave("slides", s.slides[point.number])
    with p.block("out"):
        p.output("f", ca.horzcat(*impulses).T)
        p.output("slides", ca.vertcat(*slides))
        p.output("groups", ca.vertcat(*twists))
        for name in SCALARS:
            p.output(name, getattr(s, name))
    return compile_program(p)


def solved(problem, **options):
    """Solve all problems; return impulses, the twists that they cause, and the other results."""
    worlds, points = problem["active"].shape
    bodies = problem["free"].shape[1] // 6
    inputs = {k: v.reshape(worlds, -1) for k, v in problem.items() if k not in ("maps", "shares")}
    out = kernel(bodies, points, **options)(**inputs)
    wrenches = np.einsum("ijab,ija->ib", problem["maps"], out["f"])
    twists = problem["free"] + np.einsum("iab,ib->ia", problem["inverse"], wrenches)
    scalars = {name: out[name].reshape(worlds) for name in SCALARS}
    scalars["unfinished"] = scalars["ended"] == Ended.LIMIT
    return out | scalars | {"twists": twists, "wrenches": wrenches}


def skew(x):
    return np.cross(np.eye(3), x)


def rotation(rng):
    q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return q * np.linalg.det(q)


def feet(rng, bodies, points, mu_s, mu_k, fresh=True, flat=True, rank=None):
    """Return bodies in a tree of `rank` joints that land on points, flat or in any direction."""
    size = 6 * bodies
    units = np.where(np.arange(size) % 6 < 3, 1, 5)[:, None]
    j = rng.normal(size=(size, rank or size + 2)) * units
    inverse, free = j @ j.T * 10 ** rng.uniform(-1, 1), j @ rng.normal(size=j.shape[1])
    turns = [rotation(rng)] * points if flat else [rotation(rng) for _ in range(points)]
    levers = rng.normal(size=(points, 3)) * 0.1
    if flat:
        levers[:, 2] = -0.05
        levers = levers @ turns[0]
    maps = np.zeros((points, 3, size))
    for k, axes in enumerate(turns):
        b = 6 * (k % bodies)
        maps[k, :, b : b + 6] = np.hstack([axes, -axes @ skew(levers[k])])
    free = free * -np.sign((maps @ free)[:, 2].mean())
    approach = np.abs((maps @ free)[:, 2])
    active = rng.random(points) < 0.85
    targets = np.zeros((points, 3))
    targets[:, 2] = rng.choice([0, 1]) * rng.uniform(0, 0.5, points) * approach
    own = mean_compliances(maps, inverse, bodies)
    shares = own[np.arange(points) % bodies]
    past, slid = np.zeros((points, 3)), np.zeros(points)
    if not fresh:
        normal = rng.uniform(0, 1 / points, points) * approach / (shares + 1e-12) * active
        angle, share = rng.uniform(0, 2 * np.pi, points), rng.uniform(0, mu_s, points)
        past = np.array([share * np.cos(angle), share * np.sin(angle), np.ones(points)]).T
        past, slid = past * normal[:, None], (rng.random(points) < 0.3) * active
    same = np.ones(points)
    y = np.concatenate(
        [field(maps[b::bodies, :, 6 * b :][..., :6], past[b::bodies]) for b in range(bodies)]
    )
    return {
        **{"inverse": inverse, "free": free, "levers": levers, "axes": np.array(turns)},
        **{"target": targets, "past": past, "active": active, "slid": slid, "own": own},
        **{"y": y, "fresh": fresh * same, "offset": np.zeros(3), "shares": shares},
        **{"mu_s": mu_s * same, "mu_k": mu_k * same, "smoothing": SMOOTHING * same, "maps": maps},
    }


def mean_compliances(maps, inverse, bodies):
    """Return the velocity per impulse of contacts of each body, each by itself."""
    own = np.einsum("jab,bc,jac->j", maps, inverse, maps) / 3
    return np.array([own[b::bodies].sum() / max(1, own[b::bodies].size) for b in range(bodies)])


def field(maps, past):
    """Return y for which G y comes nearest to past impulses."""
    return np.linalg.lstsq(maps.reshape(-1, 6), past.ravel(), rcond=None)[0]


def stacked(problems):
    return {k: np.array([x[k] for x in problems], float) for k in problems[0]}


def relative(p, twists):
    """Return the twists of bodies that touch the ground, or of the first beside the second."""
    if p["own"].shape[1] == twists.shape[1] // 6:
        return twists
    a, b = twists[:, :6], twists[:, 6:]
    return a - b - np.pad(np.cross(b[:, 3:], p["offset"]), ((0, 0), (0, 3)))


def touching(p):
    """Return 1 for the entries of twists of bodies that touch: others stay at zero."""
    groups = p["own"].shape[1]
    any_of = [p["active"][:, b::groups].any(axis=1) for b in range(groups)]
    return np.repeat(np.array(any_of).T, 6, axis=1)


def judged(p, out):
    """Return the violation of each condition, relative to what the passes leave: at most 1."""
    active, f, slides = p["active"] > 0, out["f"], out["slides"] > 0
    left = np.einsum("ijab,ib->ija", p["maps"], out["twists"]) - p["target"]
    before = np.einsum("ijab,ib->ija", p["maps"], p["free"])
    speeds = np.maximum(np.abs(before).max(-1), np.abs(p["target"]).max(-1)) * active
    scale = np.maximum(speeds.max(1), 1e-9)[:, None]
    normal, tangent = f[..., 2], np.linalg.norm(f[..., :2], axis=-1)
    slip = np.linalg.norm(left[..., :2], axis=-1)
    pressed, rho = active & (normal > 0), p["smoothing"] * p["shares"]
    mu = np.where(slides, p["mu_k"], np.maximum(p["mu_s"], p["mu_k"]))
    edge = mu * normal
    sliding, sticks = pressed & slides & (tangent > 0), pressed & ~slides
    against = left[..., :2] + slip[..., None] * f[..., :2] / np.maximum(tangent, 1e-300)[..., None]
    ends = SETTLED * scale  # velocity
    loose = RUBBING * edge + ends / p["shares"]  # impulse
    turning = 2 * (ends + rho * (TURNING * edge + loose))
    deepest = ends + sticks * mu * STICKS * scale
    met = (out["groups"] - relative(p, out["twists"])) * touching(p)
    shares = {
        "no force where it does not touch": np.abs(f).max(-1) / 1e-300 * ~active,
        "no pull": -normal / 1e-300,
        "inside the cone": (tangent - edge) / (loose + 1e-12 * edge) * active,
        "nothing goes in": -left[..., 2] / deepest * active,
        "pressed or leaving": np.abs(left[..., 2]) / deepest * pressed,
        "sticks": slip / (STICKS * scale) * sticks,
        "friction opposes slip": np.linalg.norm(against, axis=-1) / turning * sliding,
        "all of it": (edge - tangent) / loose * (sliding & (slip > turning)),
        "velocities follow from impulses": np.abs(met).max(1, keepdims=True) / ends,
    }
    return {name: np.broadcast_to(x, active.shape) for name, x in shares.items()}


SHAPES = [(1, 1), (1, 4), (1, 16), (2, 3), (3, 6)]
SHAPES += [pytest.param(*x, marks=pytest.mark.nightly) for x in ((2, 8), (4, 4))]
"""Numbers of bodies and points; a body with one point has three coordinates, else six."""


@pytest.mark.parametrize(("bodies", "points"), SHAPES)
def test_signorini_and_coulomb(bodies, points):
    """Inactive points, fewer joints than directions, mu 0 to 1.5, mu_s <, =, > mu_k, any memory."""
    rng = np.random.default_rng(points)
    problems = []
    for _ in range(300):
        mu_s, rank = rng.uniform(0, 1.5), rng.integers(1, 6 * bodies + 7)
        mu_k = mu_s * rng.choice([0.5, 1, 1.3])
        fresh, flat = rng.random(2) < (0.5, 0.7)
        problems.append(feet(rng, bodies, points, mu_s, mu_k, fresh, flat, rank))
    p = stacked(problems)
    out = solved(p)
    ended = out["unfinished"] == 0
    assert np.isfinite(out["f"]).all()
    assert np.isfinite(out["twists"]).all()
    # the rest is jammed: friction as strong as the normal impulse that it makes, or nearly
    assert ended.mean() > 0.75
    for name, share in judged(p, out).items():
        assert share[ended].max() <= 1, name
    assert 0.1 < (out["slides"] > 0)[ended].mean() < 0.9


def test_inelastic_landing_never_gains_energy():
    """With targets of 0 the twists that are left have no more kinetic energy than the free ones."""
    rng = np.random.default_rng(5)
    p = stacked([feet(rng, 1, 4, *rng.uniform(0, 1.2, 2), rng.random() < 0.5) for _ in range(300)])
    p["target"] *= 0
    out = solved(p)
    inertia = np.linalg.inv(p["inverse"])
    free, left = (np.einsum("ia,iab,ib->i", v, inertia, v) for v in (p["free"], out["twists"]))
    # 2 SETTLED of the fastest point's speed at most
    assert (left / free)[out["unfinished"] == 0].max() < 1 + 4 * SETTLED


@pytest.mark.parametrize("points", [4, 16])
def test_without_friction_it_is_a_quadratic_program(points):
    """min |L^T G^T f + c|^2 over f >= 0, L c = V_free - (targets of one rigid motion), by nnls."""
    rng = np.random.default_rng(points)
    p = stacked([feet(rng, 1, points, 0, 0, rng.random() < 0.5, flat=False) for _ in range(200)])
    wanted = p["free"] * -0.3
    p["target"] = np.einsum("ijab,ib->ija", p["maps"], wanted) * [0, 0, 1]
    out = solved(p)
    assert (out["unfinished"] == 0).all()
    errors = []
    for i in range(200):
        normals = p["maps"][i, p["active"][i] > 0, 2]
        root = np.linalg.cholesky(p["inverse"][i])
        offset = np.linalg.solve(root, p["free"][i] - wanted[i])
        f, _ = nnls(root.T @ normals.T, -offset)
        twist = p["free"][i] + p["inverse"][i] @ normals.T @ f
        scale = np.abs(p["maps"][i, :, 2] @ p["free"][i]).max()
        errors.append(np.abs(normals @ (out["twists"][i] - twist)).max(initial=0) / scale)
    # passes end when they change less than SETTLED; a slow one may still be 50 of these away
    assert np.median(errors) < SETTLED
    assert np.max(errors) < 100 * SETTLED


def sliding_roots(a, left, mu):
    """Return impulses of one sliding point: f_n > 0 stops it, friction opposes the slip left."""
    angles = np.linspace(-np.pi, np.pi, 721)

    def impulse(angle):
        way = np.array([-mu * np.cos(angle), -mu * np.sin(angle), 1])
        return way * -left[2] / (a[2] @ way)

    def across(angle):
        slip = (left + a @ impulse(angle))[:2]
        return slip[1] * np.cos(angle) - slip[0] * np.sin(angle)

    found = []
    values = [across(x) for x in angles]
    for x, y, one, other in zip(angles, angles[1:], values, values[1:], strict=False):
        if one * other <= 0:
            angle = brentq(across, x, y, xtol=1e-13)
            f = impulse(angle)
            slip = (left + a @ f)[:2]
            if f[2] > 0 and slip @ [np.cos(angle), np.sin(angle)] >= 0:
                found.append(f)
    return found


@pytest.mark.parametrize(("mu_s", "mu_k"), [(0.5, 0.5), (0.9, 0.4), (0.0, 0.3)])
def test_one_point(mu_s, mu_k):
    """Sticks if that impulse is in the cone; slides by a root of its own equation otherwise."""
    rng = np.random.default_rng(8)
    p = stacked([feet(rng, 1, 1, mu_s, mu_k) for _ in range(200)])
    p["active"][:] = 1
    out = solved(p)
    kinds = []
    for i in np.flatnonzero(out["unfinished"] == 0):
        g = p["maps"][i, 0]
        a, left = g @ p["inverse"][i] @ g.T, g @ p["free"][i] - p["target"][i, 0]
        stuck = -np.linalg.solve(a, left)
        if left[2] >= 0 and not out["f"][i].any():
            kinds.append("apart")
        elif np.linalg.norm(stuck[:2]) <= max(mu_s, mu_k) * stuck[2]:
            kinds.append("sticks")
            assert np.abs(out["f"][i, 0] - stuck).max() < 1e-3 * np.abs(stuck).max()
            assert np.abs(a @ (out["f"][i, 0] - stuck)).max() < STICKS * np.abs(left).max()
        else:
            kinds.append("slides")
            roots = sliding_roots(a, left, mu_k)
            errors = [np.abs(a @ (out["f"][i, 0] - f)).max() for f in roots]
            # SMOOTHING times what may still turn, 1e-3, of a velocity of this size
            assert min(errors) < 1e-5 * np.abs(left).max()
    assert {"sticks", "slides"} <= set(kinds)


@pytest.mark.parametrize("points", [1, 4])
def test_between_two_bodies(points):
    """Impulses between moving bodies obey the same conditions; masses differ up to a millionfold.

    That they are equal and opposite is how they enter: the twists follow from them.
    """
    rng = np.random.default_rng(9)
    problems = [feet(rng, 2, points, 0.8, 0.5) for _ in range(50)]
    for x in problems:
        x["offset"] = rng.normal(size=3)
        heavy = np.repeat([1, 10 ** rng.uniform(-3, 0)], 6)
        x["inverse"] = x["inverse"] * np.outer(heavy, heavy)
        for j in range(points):
            levers = x["levers"][j], x["levers"][j] + x["offset"]
            axes = x["axes"][j]
            own = [np.hstack([axes, -axes @ skew(lever)]) for lever in levers]
            x["maps"][j] = np.hstack([own[0], -own[1]])
        x["own"] = mean_compliances(x["maps"], x["inverse"], 1)
        x["shares"], x["y"] = np.repeat(x["own"], points), np.zeros(6)
        if (x["maps"] @ x["free"])[:, 2].mean() > 0:
            x["free"] = -x["free"]
    p = stacked(problems)
    out = solved(p, pair=True)
    ended = out["unfinished"] == 0
    assert ended.mean() > 0.9
    for name, share in judged(p, out).items():
        assert share[ended].max() <= 1, name
    assert (out["f"] != 0).any(axis=(1, 2)).mean() > 0.5


def test_soft_normal():
    """A compliance c of its own, without friction, one point: f = -(u - target) / (A + c)."""
    rng = np.random.default_rng(10)
    p = stacked([feet(rng, 1, 1, 0, 0) for _ in range(50)])
    p["active"][:] = 1
    for c in (1e-4, 1.0, 1e6):
        out = solved(p | {"compliance": np.full((50, 1), c)}, soft=True)
        g = p["maps"][:, 0, 2]
        a = np.einsum("ia,iab,ib->i", g, p["inverse"], g)
        left = np.einsum("ia,ia->i", g, p["free"]) - p["target"][:, 0, 2]
        f = np.maximum(-left, 0) / (a + c)
        assert np.allclose(out["f"][:, 0, 2], f, rtol=1e-8, atol=0)  # Newton ends at 1e-9


@pytest.mark.parametrize(("mu_s", "mu_k", "allowed"), [(0.3, 0.3, 0.06), (1.0, 0.4, 0.12)])
def test_rounds(mu_s, mu_k, allowed):
    """A foot of four points that lands at random is rarely unfinished after a step's rounds."""
    rng = np.random.default_rng(11)
    p = stacked([feet(rng, 1, 4, mu_s, mu_k) for _ in range(300)])
    out = solved(p, accuracy=USUAL)
    assert out["unfinished"].mean() < allowed
    assert ((out["rounds"] == USUAL.rounds) >= out["unfinished"]).all()


@pytest.mark.parametrize(
    ("load", "share", "at_bound"),
    [
        (1.0, 1.0, True),
        (1.0, 0.9995, True),
        (1.0, 0.98, False),
        (1e-6, 0.98, True),  # what is missing, 1e-8 N s, is below the slack
        (1e-6, 0.9, False),
        (0.0, 0.0, True),
    ],
)
def test_friction_is_at_its_bound_within_what_passes_resolve(load, share, at_bound):
    """A thousandth of the bound, or the impulse that stops a slip that passes leave: 2.5e-8 N s."""
    bound = 0.5 * load
    f = ca.SX([0.6 * share * bound, 0.8 * share * bound, load])
    found = is_at_bound(f, ca.SX(bound), ca.SX(2.5e-8))
    assert bool(ca.evalf(found)) == at_bound
