"""A pair of point and surface: what it reads, and its state in a step."""

from __future__ import annotations

from dataclasses import dataclass, field

from heelstrike.contact.surface_law import PointState, SurfaceLaw
from heelstrike.ir.arguments import LABEL
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Pair
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import (
    IMPULSE_MEMORY,
    SurfaceState,
)


@dataclass(frozen=True)
class MovingBody:
    """A moving body of a pair."""

    number: int = field(metadata=LABEL)
    pose: Transform
    """Its placement in the world."""
    motion: MotionVector
    """Its velocity, in world axes."""


@dataclass(frozen=True)
class PairInputs:
    """All that a pair of point and surface reads: symbols, and choices that decide its code."""

    position: SX
    """The point, of a sphere or an ellipsoid its centre, in the frame of its body [m]."""
    radius: float
    """Radius of a sphere; 0: a point [m]."""
    half_axes: SX | None
    """Half axes of an ellipsoid as columns, in the frame of its body, (3, 3) [m]; None: it is no
    ellipsoid."""
    extent: float
    """Largest half axis of a sphere or an ellipsoid [m]."""
    rolling_lever: float
    """Radius at which a sphere or an ellipsoid rolls [m]."""
    body: MovingBody | None
    """Body of the point; None: it is fixed."""
    carrier: MovingBody | None
    """Body that the surface rides on; None: the world."""
    surface: SurfaceState | None
    """Surface that the point may touch; None for a contact of two shapes."""
    part: int
    """Index in the surface's parts."""
    law: SurfaceLaw
    memory: SX
    """What the pair remembers of the last step, a column."""
    last: SX | None
    """Normal force of a coupled pair in the last step [N]."""
    gravity: SX
    """In world axes, (3,) [m/s^2]."""
    dt: SX
    """Time step [s]."""
    since_memory: SX
    """Time for which the present slip has lasted since the memory was written [s]."""
    behind: SX | float
    """Time by which velocities are behind coordinates [s]."""
    flow: SX
    """Velocity of the surface's material beyond that of its body, in its frame [m/s]."""
    halfway: SX | None = None
    """Depth from which on a contact may leave by the other side [m]; None: nothing is thin."""
    present: SX | None = None
    """1 where the pair exists; None: it always does."""

    @property
    def travel(self) -> SX:
        """Distance that the surface's material has moved, in its frame [m]."""
        return zeros() if self.surface is None else self.surface.travel


def pair_inputs(state: StepState, k: int) -> PairInputs:
    """Return what pair k reads."""
    inputs, pair = state.inputs, state.scene.pairs[k]
    law = inputs.surfaces.laws[pair.law]
    last = None
    if law.couples:
        assert inputs.impulses is not None
        last = inputs.impulses[IMPULSE_MEMORY * state.plan.coupled_pairs.index(k) + 2]

    def moving(body: int | None) -> MovingBody | None:
        if body is None or body == WORLD:
            return None
        return MovingBody(body, state.poses[body], state.motions[body])

    return PairInputs(
        position=constant(pair.point.position),
        radius=pair.point.radius,
        half_axes=None if pair.point.half_axes is None else constant(pair.point.half_axes),
        extent=pair.point.roundness,
        rolling_lever=pair.point.lever,
        body=moving(pair.point.body),
        carrier=moving(pair.carrier),
        surface=state.surfaces[pair.surface],
        part=pair.part,
        law=law,
        memory=inputs.law_memories[k],
        last=last,
        gravity=state.gravity,
        dt=state.dt,
        since_memory=state.since_memory,
        behind=state.behind,
        flow=state.surfaces[pair.surface].surface.material_velocity,
        halfway=_halfway(state, pair),
    )


def _halfway(state: StepState, pair: Pair) -> SX | None:
    """Return half the depth at which a point is in the middle of a thin surface [m].

    It is None for surfaces that are not thin, and for those on bodies.
    """
    thickness = state.surfaces[pair.surface].surface.thickness
    if thickness is None or pair.carrier is not None:
        return None
    return (thickness + 2 * pair.point.radius) / 4


@dataclass(frozen=True)
class Side:
    """A moving body that takes part in a contact."""

    body: int = field(metadata=LABEL)
    lever: SX
    """Vector from the body's origin to the contact, in world axes [m]."""
    sign: float
    """1 for the body of the point, -1 for the one that carries the surface."""
    lever_rate: SX
    """Rate of the lever; of a sphere, that of its centre [m/s]."""
    share: float
    """Part of the step after which a coupled contact has the velocity of its target: 1, the end;
    0.5, the middle, where the contact moves over an ellipsoid."""
    motion: MotionVector
    """Velocity of the body, in world axes."""


@dataclass(frozen=True)
class PairState:
    """A pair of point and surface in this step, with the force between them, as symbols."""

    position: SX
    """Position of the contact point in the world [m]."""
    depth: SX
    """Signed depth [m]."""
    depth_rate: SX
    """Rate of the depth, positive while approaching [m/s]."""
    slip: SX
    """Velocity along the two tangents, (2,) [m/s]."""
    normal: SX
    """Normal force [N]."""
    tangent: SX
    """Friction along the two tangents, (2,) [N]."""
    memory: SX
    """Memory of the pair for the next step."""
    axes: SX
    """Tangents and normal as rows, in the world, (3, 3)."""
    sides: tuple[Side, ...]
    """Moving bodies of the pair."""
    flow: SX
    """Velocity of the surface's material, beyond that of its body, in the world [m/s]."""
    moment: SX | None
    """Friction against rolling, about the two tangents, and spinning, (3,) [N m]; None: none."""
    point: PointState | None = None
    """State from which a law that couples sets its target."""
    passes: SX | None = None
    """1 where it will be past the middle of a box after the step; None: nothing keeps it from
    that, or nothing is thin."""
