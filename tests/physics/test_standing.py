"""hoap1 dropped from 0.05 m, and G1, stand on every elastic law at dt = 1 ms.

Oracles: the weight, which the ground carries in the end, and the energy ledger. All laws stand in
one scene, each a plane of its own; in every world another plane is at height 0 and the rest are far
below, so one compiled step serves all.

Parameters: what a law feels is not the robot's weight but 1 / lambda_max of all touching points,
0.61 kg for hoap1 and 0.49 kg for G1, sideways 0.095 and 0.27 kg: kappa = 0.03 and 0.1, gamma = 0.3
and 0.4 for the springs and dampers below; kappa + 2 gamma = 1.5 and 0.8 for the bristles (limit 4).
LinearSpring with c = 800 on G1 has gamma = 1.6, and chatters where it damps both ways. alpha is
larger than for impacts, as 3/2 alpha f_n is all the damping there is at rest.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import heelstrike as hs
from tests.models import data_file
from tests.slide import hardening

WORKS = tuple(f"work_{of}" for of in ("contact", "friction", "control", "stops", "joints", "push"))
RECORDED = ("com", "normal_force", "kinetic", "potential", *WORKS)


def laws(k, c, alpha, k_sphere):
    """Every normal law, plain and in a TimestepDamper, by a name for its plane."""
    plain = {
        "compression": hs.LinearSpring(k, c),
        "both": hs.LinearSpring(k, c, damping="both"),
        "adhesive": hs.LinearSpring(k, c, damping="both", adhesive=True),
        "hunt-crossley": hs.HuntCrossley(k, alpha),
        "sphere": hs.HuntCrossley(k_sphere, alpha, n=1.5),
        "two-alphas": hs.HuntCrossley(k, alpha, alpha_restitution=alpha / 2),
        "poisson": hs.PoissonSpring(k, e=0.3),
        "user": hardening(k=k, stiffer=1e9, alpha=alpha),
    }
    return plain | {f"timestep {name}": hs.TimestepDamper(law) for name, law in plain.items()}


def standing(robot, pose, height, normal, friction):
    """2 s on each of the laws, one a world."""
    names = list(normal)
    planes = [hs.Plane(name=name, law=hs.Elastic(normal[name], friction)) for name in names]
    sim = hs.Simulator(hs.Scene(robot, *planes), dt=1e-3, control=hs.Servo())
    below = np.full((len(names), len(names), 3), [0.0, 0.0, -100.0])
    below[range(len(names)), range(len(names))] = 0
    vary = {f"{name}.point": below[i] for i, name in enumerate(names)}
    q0 = robot.pose(pose).copy()
    q0[2] += height
    start = {"q0": q0, "worlds": len(names), "vary": vary}
    return sim.run(2.0, record=RECORDED, progress=False, **start).data


def check(data, robot, names, sinks, unaccounted):
    """Stands, carried by the ground, every joule accounted for."""
    assert (data.failed.values == -1).all()
    com = data.com.values[:, :, 2]
    weight = robot.mass * 9.81
    force = data.normal_force.values.sum(axis=-1) / weight
    energy = data.kinetic + data.potential - sum(data[work] for work in WORKS)
    left = np.abs((energy - energy.isel(time=0)).values).max(axis=1)
    assert np.abs(com[:, -1] - com[:, -200:].min(axis=1)).max() < 1e-3
    for world, name in enumerate(names):
        assert com[world, -1] > com[world, 0] - sinks, name
        # Poisson's spring knows no rest: it chatters between its two stiffnesses, in the mean right
        restless = "poisson" in name
        now = force[world, -200:].mean() if restless else force[world, -1]
        assert now == pytest.approx(1, abs=5e-3 if restless else 5e-4), name
        assert left[world] < unaccounted, name


def test_hoap1_drops_and_stands():
    robot = hs.load("hoap1", collide="feet")
    normal = laws(k=2e4, c=200, alpha=2, k_sphere=5e5)
    friction = hs.Bristle(mu_s=0.8, mu_k=0.6, k_t=2e4, c_t=60)
    data = standing(robot, "stance", 0.05, normal, friction)
    # falls 50 mm, then sinks by the law's depth; the symplectic step is m g v dt / 2 = 0.024 J off
    # at touch-down, of the 2.5 J of the fall
    check(data, robot, list(normal), sinks=0.052, unaccounted=0.03)
    touched = data.normal_force.values.sum(axis=-1) > 0
    assert (touched.argmax(axis=1) == 101).all()


def g1():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # meshes are not at hand
        return hs.load(data_file("robots/g1.xml"), collide="feet")


CHOSEN = ("compression", "hunt-crossley", "timestep compression")


@pytest.mark.parametrize(
    "chosen", [CHOSEN, pytest.param(None, marks=pytest.mark.nightly)], ids=["some", "all"]
)
def test_g1_stands(chosen):
    robot = g1()
    normal = laws(k=5e4, c=200, alpha=0.5, k_sphere=1.5e6)
    normal = {name: law for name, law in normal.items() if name in (chosen or normal)}
    friction = hs.Bristle(mu_s=0.8, mu_k=0.6, k_t=2e4, c_t=100)
    data = standing(robot, "stand", 0.0, normal, friction)
    # its pose begins 1 mm too deep: it rises, and the symplectic step is m g v dt / 2 off
    check(data, robot, list(normal), sinks=1e-3, unaccounted=0.03)
    assert robot.mass == pytest.approx(33.34, abs=0.01)
