"""Coupled laws that a user writes, as a function or as a class.

Oracles: hs.Rigid with the same equation, to the bit; the recurrence of implicit Euler for a mass on
a spring; for mistakes, the sentence that names the mistake and the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.parameters import parameters, structure
from heelstrike.runtime.key import digest

DT = 1e-3
G = 9.81


@hs.coupled_law
def bouncing(s, e=0.5, mu_s=0.6, mu_k=0.4):
    """Rigid ground with restitution."""
    return hs.ContactTarget(velocity=e * ca.fmax(s.depth_rate, 0), mu_s=mu_s, mu_k=mu_k)


@dataclass(frozen=True)
class Bouncing(hs.SurfaceLaw):
    """Rigid ground with restitution."""

    e: float = 0.5
    mu_s: float = 0.6
    mu_k: float = 0.4

    def target(self, state):
        out = self.e * ca.fmax(state.depth_rate, 0)
        return hs.ContactTarget(velocity=out, mu_s=self.mu_s, mu_k=self.mu_k)


@hs.coupled_law
def spring(s, k=2e4):
    """Spring whose force is that at the end of the step, d + dt d'."""
    return hs.ContactTarget(velocity=s.depth / s.dt, compliance=1 / (k * s.dt**2))


@hs.coupled_law(memory=1)
def yielding(s, steps=10.0, rate=5e-3):
    """Ground that gives way for the first steps of a contact."""
    return hs.ContactTarget(velocity=hs.where(s.memory < steps, -rate, 0)), s.memory + 1


class Ice(hs.SurfaceLaw):
    """Rigid ground without friction or parameters."""

    def target(self, state):
        return hs.ContactTarget()


def simulator(robot, law):
    return hs.Simulator(
        hs.Scene(hs.load(robot, collide="feet"), hs.Plane(law, name="ground")), dt=DT
    )


def tumbled(law):
    """Positions of a cube that is thrown, lands on a corner and slides."""
    turned = np.array([0.1, 0.2, 0.3, 0.9])
    q0 = [0, 0, 0.2, *turned / np.linalg.norm(turned)]
    return simulator("cube", law).run(0.4, q0=q0, v0=[1.0, 0, 0, 0, 2.0, 0]).data["q"].values


@pytest.mark.parametrize("law", [bouncing, Bouncing()], ids=["function", "class"])
def test_a_users_rigid_law_is_as_good_as_ours(law):
    """The same target gives the same bits, whoever wrote it."""
    ours = tumbled(hs.Rigid(restitution=0.5, friction=hs.Coulomb(0.6, 0.4)))
    assert np.ptp(ours[..., 2]) > 0.05
    assert np.array_equal(tumbled(law), ours)


def test_a_compliant_law_follows_its_closed_form():
    """A ball on the spring moves as implicit Euler has it, and comes to m g / k in the mean."""
    robot, k = hs.load("ball"), 2e4
    mass = float(sum(body.mass for body in robot.bodies))
    run = simulator("ball", spring).run(0.1, q0=[0, 0, 0.05 + 1e-3, 0, 0, 0, 1])
    depth = 0.05 - run.data["q"].values[0, :, 2]
    d, w, expected = -1e-3, 0.0, [-1e-3]
    for _ in range(depth.size - 1):
        force = max(k * (d + DT * (w + DT * G)) / (1 + k * DT**2 / mass), 0) if d > 0 else 0
        w += DT * (G - force / mass)
        d += DT * w
        expected.append(d)
    assert max(expected) > mass * G / k
    # rounding of 100 steps; 1e-17 measured
    assert np.abs(depth - expected).max() < 1e-13


def test_memory_is_carried_from_step_to_step():
    """The ground gives way for ten steps of a contact, then holds."""
    run = simulator("ball", yielding).run(0.05, q0=[0, 0, 0.05 - 1e-6, 0, 0, 0, 1])
    depth = 0.05 - run.data["q"].values[0, :, 2]
    # 10 steps at 5e-3 m/s, less than g dt; the solver meets a velocity to 1e-6 of the largest one
    assert depth[10] == pytest.approx(1e-6 + 5e-5, abs=1e-9)
    assert depth[-1] == pytest.approx(depth[10], abs=1e-9)


def test_a_law_without_parameters():
    """A cube on a law without friction keeps its speed."""
    run = simulator("cube", Ice()).run(0.1, v0=[1.0, 0, 0, 0, 0, 0])
    assert run.data["v"].values[0, -1, 0] == pytest.approx(1.0, abs=1e-9)


@dataclass(frozen=True)
class Belt(hs.SurfaceLaw):
    """Conveyor that gives points a velocity along x; the target is made of numbers."""

    def target(self, state):
        return hs.ContactTarget(velocity=0.0, mu_s=1.0, mu_k=1.0, slip=(0.2, 0.0))


def test_a_target_of_plain_numbers():
    """A cube on a conveyor moves with it."""
    run = simulator("cube", Belt()).run(0.1)
    # the solver meets a velocity to 1e-6 of the largest one
    assert run.data["v"].values[0, -1, :2] == pytest.approx([0.2, 0.0], abs=1e-6)


def test_values_and_paths():
    """A law is a law; called, it is a copy with other numbers, which have paths."""
    other = bouncing(e=0.2)
    assert repr(other) == "bouncing(e=0.2, mu_s=0.6, mu_k=0.4)"
    assert isinstance(other, hs.SurfaceLaw)
    assert other.couples
    assert other.coupling == hs.CouplingRule()
    assert parameters(other).keys() == {"e", "mu_s", "mu_k"}
    many = simulator("ball", other).run(
        0.4, worlds=2, q0=[0, 0, 0.2, 0, 0, 0, 1], vary={"ground.e": [0.0, 0.8]}
    )
    rests, rebounds = many.data["q"].values[:, -1, 2]
    assert rests == pytest.approx(0.05, abs=2e-3)  # the depth that one step of the fall reaches
    assert 0.1 < rebounds < 0.2


def test_the_recording_keeps_the_source():
    """What was run can be read in the recording."""
    run = simulator("ball", bouncing).run(0.01)
    assert "velocity=e * ca.fmax" in str(run.data.attrs)


def test_structure_is_the_equation():
    """The cache sees the body of a law, not its values."""

    def law(power):
        @dataclass(frozen=True)
        class Ground(hs.SurfaceLaw):
            e: float = 0.5

            def target(self, state):
                return hs.ContactTarget(velocity=self.e * ca.fmax(state.depth_rate, 0) ** power)

        return Ground

    def key(made):
        return digest(structure(made))

    assert key(law(1)()) == key(law(1)(e=0.1))
    assert key(law(1)()) != key(law(2)())
    assert key(bouncing) == key(bouncing(e=0.1))
    assert key(hs.Rigid()) == key(hs.Rigid(restitution=0.3))
    assert key(hs.Rigid()) != key(hs.Rigid(rule="paper"))


def test_rules_of_a_scene_must_agree():
    """A user's law follows the consistent rule, so that hs.Signorini does not go with it."""
    scene = hs.Scene(
        hs.load("cube"), hs.Plane(bouncing, name="a"), hs.Plane(hs.Signorini(), name="b")
    )
    with pytest.raises(hs.HeelstrikeError, match="rule is 'consistent' and 'exact'"):
        hs.Simulator(scene)


# mistakes


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (lambda s: s.depth, r"must return hs\.ContactTarget\(velocity="),
        (lambda s: hs.ContactTarget(s.slip), "must return a velocity of 1 component, not 2"),
        (lambda s: hs.ContactTarget(slip=s.depth), "must return a slip of 2 components, not 1"),
        (lambda s: (hs.ContactTarget(), s.depth), r"must return hs\.ContactTarget"),
        (lambda s: hs.ContactTarget(s.speed), "has no 'speed'; it has depth, depth_rate, slip"),
        (lambda s: hs.ContactTarget(max(s.depth, 0)), "branches on a symbol in line"),
        (lambda s: hs.ContactTarget(ca.erf(s.depth)), "the operation erf cannot be compiled"),
        (lambda s: hs.ContactTarget(1 / s.depth), "returns no finite velocity at depth 0 m"),
        (lambda s: hs.ContactTarget(compliance=s.depth), "compliance 0 .*allowed: more than 0"),
        (lambda s, mu=-1.0: hs.ContactTarget(mu_s=mu), "mu_s -1 at .*allowed: at least 0"),
        (lambda s, force=1.0: hs.ContactTarget(force), "'force' has the name of an attribute"),
        (lambda s, e: hs.ContactTarget(e), "parameter 'e' needs a number as its default"),
    ],
)
def test_mistakes_are_sentences(law, sentence):
    with pytest.raises(hs.HeelstrikeError, match=sentence):
        hs.coupled_law(law)


def test_declared_memory_must_be_returned():
    with pytest.raises(hs.TraceError, match=r"must return \(hs\.ContactTarget, next memory\)"):
        hs.coupled_law(memory=1)(lambda s: hs.ContactTarget())
    with pytest.raises(hs.ParameterError, match="memory is -1"):
        hs.coupled_law(memory=-1)(lambda s: hs.ContactTarget())


def test_a_surface_and_its_law_name_parameters_differently():
    """Both have paths that begin with the name of the surface."""
    law = hs.coupled_law(lambda s, velocity=0.1: hs.ContactTarget(velocity))
    with pytest.raises(hs.ParameterError, match="a law without a parameter 'velocity'") as error:
        hs.Plane(law)
    assert error.value.path == "law"


def test_a_law_defines_force_or_target():
    """A class with neither is reported, and so is one that branches."""

    class Nothing(hs.SurfaceLaw):
        pass

    class Branches(hs.SurfaceLaw):
        def target(self, state):
            return hs.ContactTarget(1.0 if state.depth_rate > 0 else 0.0)

    class Flat(hs.SurfaceLaw):
        def target(self, state):
            return hs.ContactTarget(slip=0.2)

    with pytest.raises(hs.TraceError, match="'Flat' must return a slip of 2 components, not 1"):
        simulator("ball", Flat()).run(0.01)
    with pytest.raises(hs.HeelstrikeError, match="Nothing defines neither force"):
        simulator("ball", Nothing()).run(0.01)
    with pytest.raises(hs.TraceError, match="law 'Branches' branches on a symbol"):
        simulator("ball", Branches()).run(0.01)
