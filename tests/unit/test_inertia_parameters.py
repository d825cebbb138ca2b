"""Inertias, damping and friction of a robot as run-time parameters, and their search.

Oracles: a robot that was built with these numbers; the definition of the pseudo-inertia; a swing in
closed form, T = 2 pi sqrt(I / (m g l)).
"""

from dataclasses import replace

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.identification.inertia import NAMES, assembled
from heelstrike.step.freed import MOMENTS, is_physical, numbers
from tests.robot_files import mjcf

OTHER = np.array([0.6, 0.02, -0.01, -0.4, 4e-3, 5e-3, 3e-3, 2e-4, -1e-4, 3e-4])
"""Mass [kg], centre of mass [m], moments [kg m^2]."""


def with_numbers(body, values):
    inertia = np.empty((3, 3))
    for (i, j), value in zip(MOMENTS, values[4:], strict=True):
        inertia[i, j] = inertia[j, i] = value
    return replace(body, mass=values[0], com=values[1:4], inertia=inertia)


def swinging(robot, **options):
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3)
    return sim, sim.run(0.3, q0=[0.5], v0=[0.2], progress=False, **options).data.q.values


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A pendulum with damping and dry friction."""
    path = tmp_path_factory.mktemp("robot") / "pendulum.xml"
    path.write_text(
        mjcf(
            """<body name="bob"><joint name="swing" type="hinge" axis="0 1 0"/>
            <inertial pos="0 0 -0.5" mass="1" diaginertia="4e-3 5e-3 6e-3"/></body>"""
        )
    )
    made = hs.load(path)
    return replace(
        made, damping=np.array([0.02]), friction=np.array([0.05]), model=None, source=None
    )


def test_a_varied_robot_moves_as_one_built_with_these_numbers(robot):
    name, joint = robot.bodies[0].name, robot.joints[0].name
    built = replace(
        robot,
        bodies=(with_numbers(robot.bodies[0], OTHER),),
        damping=np.array([0.07]),
        friction=np.array([0.02]),
    )
    _, expected = swinging(built)
    vary = {
        f"{name}.inertia": np.stack([OTHER, numbers(robot.bodies[0])]),
        f"{joint}.damping": [0.07, 0.02],
        f"{joint}.friction": [0.02, 0.05],
    }
    _, found = swinging(robot, worlds=2, vary=vary)
    # constants are folded when they are traced, inputs are not: round-off
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(found[1], swinging(robot)[1][0], atol=1e-12)


def test_numbers_that_no_body_has_are_refused(robot):
    sim = hs.Simulator(hs.Scene(robot), dt=1e-3)
    name = robot.bodies[0].name
    flat = OTHER.copy()
    flat[4] = 1.0  # more than yy + zz
    with pytest.raises(hs.ParameterError, match="moments xx yy zz xy xz yz that a body can have"):
        sim.parameters[f"{name}.inertia"] = flat
    with pytest.raises(hs.HeelstrikeError, match="cannot both vary"):
        sim.run(steps=1, vary={f"{name}.mass": [1.0]})
    with pytest.raises(hs.ParameterError, match="a number above 0"):
        sim.parameters[f"{robot.joints[0].name}.damping"] = -1.0
    with pytest.raises(hs.UnknownNameError):
        sim.parameters["nothing.inertia"] = OTHER


def test_every_set_of_factors_is_an_inertia_and_one_is_the_own(robot):
    name = robot.bodies[0].name
    random = np.random.default_rng(3)
    factors = np.exp(random.uniform(-1.5, 1.5, (200, len(NAMES))))
    factors[0] = 1
    values = {f"{name}.inertia.{n}": factors[:, k] for k, n in enumerate(NAMES)}
    made = assembled(robot, values)[f"{name}.inertia"]
    np.testing.assert_allclose(made[0], numbers(robot.bodies[0]), rtol=1e-12, atol=1e-15)
    assert is_physical(made).all()
    # and ten independent numbers: their derivatives at the own value are
    eye = np.exp(1e-4 * np.eye(len(NAMES)))
    steps = assembled(robot, {f"{name}.inertia.{n}": eye[:, k] for k, n in enumerate(NAMES)})
    slopes = (steps[f"{name}.inertia"] - made[0]) / 1e-4
    scale = np.maximum(np.abs(slopes).max(axis=0), 1e-300)
    assert np.linalg.matrix_rank(slopes / scale, tol=1e-3) == len(NAMES)
    with pytest.raises(hs.UnknownNameError, match="com_w"):
        assembled(robot, {f"{name}.inertia.com_w": np.ones(2)})


def test_identify_finds_damping_and_centre_of_mass_and_says_what_is_flat(robot):
    """A swing shows damping over inertia and m g l over inertia, never the mass by itself."""
    free = replace(robot, friction=np.zeros(1), damping=np.array([0.03]))
    name, joint = free.bodies[0].name, free.joints[0].name
    sim = hs.Simulator(hs.Scene(free), dt=1e-3)
    run = sim.run(1.5, q0=[0.6], v0=[0.0], every=10, progress=False)
    search = {f"{joint}.damping": (3e-3, 0.3), f"{name}.inertia.mass": (0.3, 3.0)}
    fit = hs.identify(run, sim, search, sets=12, noise=(1e-3, 1e-3))
    # damping / mass is what the swing shows: both factors together cannot be told apart
    ratio = fit.values[f"{joint}.damping"] / fit.values[f"{name}.inertia.mass"]
    assert ratio == pytest.approx(0.03, rel=1e-4)
    assert {x for group in fit.unresolved for x in group.names} == set(search)
