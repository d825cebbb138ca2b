"""Every recorded variable: dimensions, unit, meaning, and how it derives from a step's outputs.

Units are written as UDUNITS and the CF conventions write them: "m s-1". Angles and lengths share
`q`, `v` and `torque`; the units of their entries are in the coordinate that `units_from` names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from heelstrike.errors import HeelstrikeError, UnknownNameError, nearest
from heelstrike.scene.scene import Scene
from heelstrike.step.elements import ELEMENTS, RAY, element_names, element_of, owner_of
from heelstrike.step.inputs import WORKS
from heelstrike.step.outputs import ENDED, LIMIT

AXES = ("x", "y", "z")
Outputs: TypeAlias = Mapping[str, np.ndarray]
"""Outputs of steps by name, (worlds, records, ...)."""


Need: TypeAlias = Literal[
    "contacts", "coupled law", "self-contact", "springs", "constraints", "spatial tendons"
]
"""What a scene must have so that some variables have a meaning there."""


@dataclass(frozen=True)
class Source:
    """Derivation of a variable from outputs of the step."""

    outputs: tuple[str, ...]
    value: Callable[[Outputs], np.ndarray]
    sensed: str = ""
    """Value of the step that a sensor measures; empty: no sensor measures the variable."""
    index: int | None = None
    """Entry of that value; None: all of it."""


def output(name: str) -> Source:
    """Return a source that is an output as it is."""
    return Source((name,), lambda outputs: outputs[name], name)


def entry(name: str, index: int = 0) -> Source:
    """Return a source that is one entry of an output."""
    return Source((name,), lambda outputs: outputs[name][..., index], name, index)


def touches() -> Source:
    """Return a source that says where a point is in the ground or carries a force.

    A loaded point that moves over a convex surface is a little above it after a step.
    """
    return Source(
        ("depth", "normal"),
        lambda outputs: (outputs["depth"] > 0) | (outputs["normal"] != 0),
        "touching",
    )


def work(name: str) -> Source:
    """Return a source that is one of the works that the step accumulates."""
    return entry("work", WORKS.index(name))


@dataclass(frozen=True)
class Variable:
    """A quantity that may be recorded."""

    dims: tuple[str, ...]
    """Dimensions after world and time."""
    units: str
    """Unit; empty where entries have units of their own."""
    long_name: str
    source: Source | None = None
    """None for what is known at the end of a run only: such a variable has no time."""
    units_from: str | None = None
    """Coordinate that holds the unit of each entry."""
    kind: Literal["f", "i", "b"] = "f"
    """NumPy's letter: f floating, i integer, b boolean."""
    needs: Need | None = None
    """What a scene must have so that the variable has a meaning there."""

    @property
    def final(self) -> bool:
        """True if the variable is known at the end only, and has no time."""
        return self.source is None


def _contact(dims: tuple[str, ...], units: str, long_name: str, source: Source) -> Variable:
    return Variable(dims, units, long_name, source, needs="contacts")


def _between_shapes(dims: tuple[str, ...], units: str, long_name: str, name: str) -> Variable:
    return Variable(dims, units, long_name, output(name), needs="self-contact")


def _energy(long_name: str, source: Source) -> Variable:
    return Variable((), "J", long_name, source)


VARIABLES: dict[str, Variable] = {
    "q": Variable(("coordinate",), "", "coordinates of the joints", output("q"), "coordinate_unit"),
    "v": Variable(("joint",), "", "velocities of the joints", output("v"), "velocity_unit"),
    "torque": Variable(
        ("joint",), "", "torque or force applied by the control", output("torque"), "torque_unit"
    ),
    "passive_torque": Variable(
        ("joint",),
        "",
        "torque or force of joint damping and springs",
        output("passive_torque"),
        "torque_unit",
        needs="springs",
    ),
    "contact_position": _contact(
        ("point", "axis"), "m", "position of a contact point", output("position")
    ),
    "depth": _contact(("point",), "m", "penetration, negative above the surface", output("depth")),
    "depth_rate": _contact(
        ("point",),
        "m s-1",
        "rate of penetration, positive when approaching",
        output("depth_rate"),
    ),
    "slip": _contact(
        ("point", "axis"), "m s-1", "tangential velocity on the surface", output("slip")
    ),
    "touching": Variable(
        ("point",),
        "1",
        "whether a point is in the ground or carries a force",
        touches(),
        kind="b",
        needs="contacts",
    ),
    "normal_force": _contact(("point",), "N", "normal contact force", output("normal")),
    "force": _contact(
        ("point", "axis"), "N", "contact force on the robot, world axes", output("force")
    ),
    "body_force": _contact(
        ("body", "axis"), "N", "net contact force on a body", output("body_force")
    ),
    "body_moment": _contact(
        ("body", "axis"),
        "N m",
        "net contact moment on a body about the world's origin",
        output("body_moment"),
    ),
    "cop": _contact(("body", "axis"), "m", "centre of pressure of a body", output("cop")),
    "zmp": _contact(("axis",), "m", "zero moment point", output("zmp")),
    "self_pair": Variable(
        ("slot",),
        "1",
        "pair of shapes that touch, an index of shape_pair; -1: none",
        output("self_pair"),
        kind="i",
        needs="self-contact",
    ),
    "self_depth": _between_shapes(("slot",), "m", "penetration of two shapes", "self_depth"),
    "self_force": _between_shapes(
        ("slot", "axis"), "N", "contact force on the first shape, world axes", "self_force"
    ),
    "self_position": _between_shapes(
        ("slot", "axis"), "m", "centre of pressure between two shapes", "self_position"
    ),
    "com": Variable(("axis",), "m", "centre of mass", output("com")),
    "com_velocity": Variable(
        ("axis",), "m s-1", "velocity of the centre of mass", output("com_velocity")
    ),
    "momentum": Variable(("axis",), "kg m s-1", "linear momentum", output("momentum")),
    "angular_momentum": Variable(
        ("axis",),
        "kg m2 s-1",
        "angular momentum about the centre of mass",
        output("angular_momentum"),
    ),
    "kinetic": _energy("kinetic energy", entry("kinetic")),
    "potential": _energy("potential energy", entry("potential")),
    "work_contact": _energy(
        "work done on the robot by normal contact forces", work("work_contact")
    ),
    "work_friction": _energy("work done on the robot by friction", work("work_friction")),
    "work_control": _energy("work done on the robot by the control", work("work_control")),
    "work_stops": _energy("work done on the robot by joint stops", work("work_stops")),
    "work_joints": _energy(
        "work done by joint damping, springs, dry friction and gravity compensation",
        work("work_joints"),
    ),
    "work_push": _energy("work done on the robot by pushes", work("work_push")),
    "solver_rounds": Variable(
        (), "1", "evaluations of the coupled problem", entry("rounds"), needs="coupled law"
    ),
    "solver_unfinished": Variable(
        (),
        "1",
        "whether they reached their limit",
        Source(("ended",), lambda outputs: outputs["ended"][..., 0] == LIMIT),
        kind="b",
        needs="coupled law",
    ),
    "solver_ended": Variable(
        (),
        "1",
        "criterion that ended the solve: "
        + ", ".join(f"{number} {name}" for number, name in ENDED.items()),
        entry("ended"),
        kind="i",
        needs="coupled law",
    ),
    "solver_residual": Variable(
        (),
        "m s-1",
        "velocity by which contacts miss their law",
        entry("residual"),
        needs="coupled law",
    ),
    "constraint_force": Variable(
        ("constraint_row",),
        "",
        "force of an equality constraint on its first body or joint, world axes",
        output("constraint_force"),
        "constraint_unit",
        needs="constraints",
    ),
    "constraint_error": Variable(
        ("constraint",),
        "m",
        "length by which a constraint misses, angles in rad",
        output("constraint_error"),
        needs="constraints",
    ),
    "spring_force": Variable(
        ("spring",),
        "N",
        "pull of a spring between bodies or of a spatial tendon, without its stops",
        output("spring_force"),
        needs="spatial tendons",
    ),
    "peak_force": Variable(("point",), "N", "largest normal contact force since the reset"),
    "peak_depth": Variable(("point",), "m", "largest penetration since the reset"),
    "impulse": Variable(("body", "axis"), "N s", "impulse of contact on a body since the reset"),
    "lost_contacts": Variable(
        (), "1", "contacts of shapes that found no slot, summed over the steps", kind="i"
    ),
    "failed": Variable((), "1", "step at which a world failed, -1 if none", kind="i"),
    "steps": Variable((), "1", "steps that a world made", kind="i"),
    "q0": Variable(("coordinate",), "", "coordinates at the start", units_from="coordinate_unit"),
    "v0": Variable(("joint",), "", "velocities at the start", units_from="velocity_unit"),
}
"""Variables by name; those with a source may be named in `record=`."""

SOURCES: dict[str, Source] = {
    name: variable.source for name, variable in VARIABLES.items() if variable.source is not None
}
"""Sources of the variables that have a time."""
OPTIONAL = ("momentum", "angular_momentum")
"""Variables that are recorded only if they are named."""


def variable(name: str) -> Variable:
    """Return a variable; raise UnknownNameError if no name of a recording is like this.

    Names are those of VARIABLES, names of elements ("WAIST.gyro"), and both with the label of a
    sensor ("WAIST.gyro:noisy").
    """
    base, _, label = name.rpartition(":")
    plain = base if base and label.isidentifier() else name
    if name == plain and name in VARIABLES:
        return VARIABLES[name]
    if plain in SOURCES:  # a labelled sensor, whose output is its sample
        return replace(VARIABLES[plain], source=_own_output(name, VARIABLES[plain].dims))
    element = element_of(plain)
    if element is None:
        raise unknown_variable(name, [])
    long_name = f"{element.long_name}: {plain.rpartition('.')[0]}"
    dims = tuple(ray_dimension(name) if dim == RAY else dim for dim in element.dims)
    own = _own_output(name, dims)
    return Variable(dims, element.units, long_name, own, kind=element.kind)


def ray_dimension(name: str) -> str:
    """Return the dimension of the rays of a sensor."""
    return f"{name.replace('/', ':').replace(' ', '_')}.{RAY}"


def _own_output(name: str, dims: tuple[str, ...]) -> Source:
    """Return a source that is an output of the same name."""
    return output(name) if dims else entry(name)


def unknown_variable(name: str, more: Iterable[str], path: str = "record") -> UnknownNameError:
    """Return the error for a name that is none of those that may be recorded, nor of `more`."""
    choices = [*SOURCES, *more]
    if nearest(name, choices) is None:
        choices = [*SOURCES, *(f"NAME.{quantity}" for quantity in ELEMENTS)]
    return UnknownNameError("variable", name, choices, path=path)


def source(name: str) -> Source:
    """Return the source of a variable with a time."""
    found = variable(name).source
    if found is None:
        raise unknown_variable(name, [])
    return found


def needed_outputs(names: Iterable[str]) -> list[str]:
    """Return the outputs of the step that variables derive from, in a stable order."""
    return sorted({output for name in names for output in source(name).outputs})


def derive(names: Iterable[str], outputs: Outputs) -> dict[str, np.ndarray]:
    """Return variables from outputs of the step."""
    return {name: source(name).value(outputs) for name in names}


def check_variables(
    scene: Scene, names: Sequence[str], sensors: Collection[str], path: str = "record"
) -> None:
    """Raise if a variable is unknown, or has no meaning in a scene with these sensors."""
    for name in names:
        if name in sensors:
            continue
        if (element := element_of(name)) is not None:
            owner_of(scene, name, path)
            if not element.alone and path == "record":
                raise HeelstrikeError(
                    f"'{name}' is measured by a sensor in every step, and there is none",
                    path=path,
                    value=name,
                    remedy=f"pass sensors=['{name}'] to hs.Simulator",
                )
            continue
        if name not in SOURCES:
            raise unknown_variable(name, element_names(scene), path)
        _check_need(scene, name, path)


def _check_need(scene: Scene, name: str, path: str) -> None:
    """Raise if a scene does not have what a variable needs."""
    needs = VARIABLES[name].needs
    if needs == "self-contact" and scene.shape_contact is None:
        raise HeelstrikeError(
            f"'{name}' is recorded between shapes of bodies, and none may touch",
            path=path,
            value=name,
            remedy="load the robot with collide='all', and leave self_contact=True",
        )
    if needs == "constraints" and not scene.robot.constraints:
        raise HeelstrikeError(
            f"'{name}' is recorded of equality constraints, and {scene.robot.name} has none",
            path=path,
            value=name,
            remedy="give it some: docs/closed-loops.md",
        )
    if needs == "spatial tendons" and not scene.robot.spatial_tendons:
        raise HeelstrikeError(
            f"'{name}' is recorded of springs between bodies, and there are none",
            path=path,
            value=name,
            remedy="give the scene some: hs.Scene(..., springs=[hs.SpringDamper(...)])",
        )
    if needs == "contacts" and not scene.pairs:
        raise HeelstrikeError(
            f"'{name}' is recorded at contacts, and there are none",
            path=path,
            value=name,
            remedy="give the scene a surface, hs.Plane(...), and the robot contact points",
        )


def standard(scene: Scene, sensors: Sequence[str]) -> tuple[str, ...]:
    """Return the variables that are recorded by default: those of the scene, and its sensors."""
    available = {
        "contacts": bool(scene.pairs),
        "self-contact": scene.shape_contact is not None,
        "springs": bool(scene.robot.springs or scene.robot.tendons),
        "constraints": bool(scene.robot.constraints),
        "spatial tendons": bool(scene.robot.spatial_tendons),
        "coupled law": any(law.couples for law in scene.laws.values()),
    }
    needs = {name: VARIABLES[name].needs for name in SOURCES if name not in OPTIONAL}
    names = [name for name, need in needs.items() if need is None or available[need]]
    return tuple(dict.fromkeys([*names, *sensors]))
