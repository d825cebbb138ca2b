"""Surfaces and laws of a scene in the program of a step: parameters as symbols, heights as tables.

A belt or a moving floor carries its material along; the distance that the material has moved is a
memory where a law remembers places on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heelstrike.contact.laws.patch import MEMORY, Patch
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.parameters import with_values
from heelstrike.scene.scene import Pair, Scene
from heelstrike.scene.surfaces import Surface
from heelstrike.spatial.vector import SX, zeros

SLOT_HEAD = 3
"""First part of the memory of a slot: the normal of its first contact in the frame of its second
body, (3,)."""
TURNS = 2
"""Rows of a contact against rolling and spinning (turning.py)."""
IMPULSE_MEMORY = 4
"""Memory of a coupled point: the last force in the axes of its surface, (3,) [N], and 0 apart,
1 stuck or 2 sliding."""


@dataclass(frozen=True)
class SurfaceState:
    """A surface whose parameters are symbols, at one moment."""

    surface: Surface
    travel: SX
    """Distance that its material has moved since the start, along the axes of its frame [m]."""


class Surfaces:
    """All surfaces of a scene, and the laws of surfaces and bodies, as symbols."""

    def __init__(self, p: Program, scene: Scene, values: Mapping[str, SX]) -> None:
        self.p, self.values = p, values
        self.surfaces = [with_symbols(p, surface, values) for surface in scene.surfaces]
        self.laws: dict[str, SurfaceLaw] = {s.name: s.law for s in self.surfaces}
        """Laws with symbols as parameters, by the names that pairs use for them."""
        for key, law in scene.materials.items():
            self.laws[key] = with_values(law, values, f"{key}.")
        placed = {
            pair.surface
            for pair in scene.pairs
            if scene.laws[pair.law].memory_size and not pair.point.extent
        }
        self.travels = [
            p.memory(f"{surface.name}.travel", 3) if k in placed else None
            for k, surface in enumerate(scene.surfaces)
        ]

    def after(self, time: SX) -> list[SurfaceState]:
        """Return the surfaces a time [s] after the start of the step."""
        return [
            SurfaceState(
                surface, zeros() if travel is None else travel + time * surface.material_velocity
            )
            for surface, travel in zip(self.surfaces, self.travels, strict=True)
        ]

    def advance(self, dt: SX) -> None:
        """Move the material on by a step; to be called inside a block."""
        for state, travel in zip(self.after(dt), self.travels, strict=True):
            if travel is not None:
                self.p.update(f"{state.surface.name}.travel", state.travel)


def surface_tables(scene: Scene) -> dict[str, np.ndarray]:
    """Return the arrays that the step looks up, by the names of its tables."""
    return {
        f"{surface.name}.{name}": array
        for surface in scene.surfaces
        for name, array in surface.tables().items()
    }


def with_symbols(p: Program, surface: Surface, values: Mapping[str, SX]) -> Surface:
    """Return a surface with parameters as symbols, and its arrays as tables of the program."""
    found = with_values(surface, values, f"{surface.name}.")
    arrays = surface.tables()
    return found.from_tables(
        {name: table(p, f"{surface.name}.{name}", *x.shape) for name, x in arrays.items()}
    )


def memory_size(scene: Scene, pair: Pair) -> int:
    """Return the number of values that a pair carries from step to step.

    These are the memory of its law and, where the law has one, what `tangent_position` needs: of a
    sphere, an ellipsoid or a hull the position itself, (2,); of a point on tangents that change
    also the point on the surface's material, (3,). Then the angle of rolling and spinning friction,
    (3,).
    """
    law, extent = scene.laws[pair.law], pair.point.extent
    patch = patch_of(law, pair.point.roundness)
    turning = MEMORY if patch is not None and not law.couples else 0
    if not law.memory_size:
        return turning
    vary = scene.surfaces[pair.surface].tangents_vary(extent, pair.part)
    return law.memory_size + (2 if extent else 5 if vary else 0) + turning


def slot_memory_size(scene: Scene) -> int:
    """Return the number of values that a slot of self-contact carries from step to step.

    These are its normal (SLOT_HEAD), the memory of the law and how far each contact has slipped,
    (2,), the angle of rolling and spinning friction, (3,), and what coupled contacts and their rows
    against turning remember.
    """
    contact = scene.shape_contact
    if contact is None:
        return 0
    law, turns = scene.laws[contact.law], slots_turn(scene)
    explicit = contact.points * tangent_memory_size(law) + MEMORY * (turns and not law.couples)
    coupled = IMPULSE_MEMORY * (contact.points + TURNS * turns) if law.couples else 0
    return SLOT_HEAD + explicit + coupled


def slots_turn(scene: Scene) -> bool:
    """Return whether round shapes that touch in slots resist rolling and spinning."""
    contact = scene.shape_contact
    return contact is not None and patch_of(scene.laws[contact.law], contact.rolls) is not None


def tangent_memory_size(law: SurfaceLaw) -> int:
    """Return the number of values of a law, and of slip, that a contact of two shapes keeps."""
    return law.memory_size + 2 if law.memory_size else 0


def patch_of(law: SurfaceLaw, extent: float | bool) -> Patch | None:
    """Return the friction of a law against rolling and spinning of a point of some extent [m]."""
    return getattr(law, "patch", None) if extent else None
