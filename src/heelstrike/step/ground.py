"""The surfaces of a scene in a program: parameters as symbols, heights as tables, and how far their
material has moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.parameters import with_values
from heelstrike.scene.scene import Pair, Scene
from heelstrike.scene.surfaces import HeightField, Surface
from heelstrike.spatial.vector import SX, zeros


@dataclass(frozen=True)
class Ground:
    """A surface whose parameters are symbols, and how far its material has moved."""

    surface: Surface
    travel: SX
    """Along the axes of its frame since the start [m]."""


class Grounds:
    """All surfaces, and the laws of surfaces and bodies."""

    def __init__(self, p: Program, scene: Scene, values: Mapping[str, SX]) -> None:
        self.p = p
        self.surfaces = [traced(p, surface, values) for surface in scene.surfaces]
        self.laws: dict[str, SurfaceLaw] = {s.name: s.law for s in self.surfaces}
        for key, law in scene.materials.items():
            self.laws[key] = with_values(law, values, f"{key}.")
        placed = {
            pair.surface
            for pair in scene.pairs
            if scene.laws[pair.law].memory_size and not pair.point.radius
        }
        self.travels = [
            p.memory(f"{surface.name}.travel", 3) if k in placed else None
            for k, surface in enumerate(scene.surfaces)
        ]

    def after(self, time: SX) -> list[Ground]:
        """A while after the start of a step [s]."""
        return [
            Ground(
                surface, zeros() if travel is None else travel + time * surface.material_velocity
            )
            for surface, travel in zip(self.surfaces, self.travels, strict=True)
        ]

    def advance(self, dt: SX) -> None:
        """Moves the material on; inside a block."""
        for ground, travel in zip(self.after(dt), self.travels, strict=True):
            if travel is not None:
                self.p.update(f"{ground.surface.name}.travel", ground.travel)


def heights_name(surface: Surface) -> str:
    """Of a height field's table."""
    return f"{surface.name}.heights"


def traced(p: Program, surface: Surface, values: Mapping[str, SX]) -> Surface:
    """With parameters as symbols, and heights as a table."""
    found = with_values(surface, values, f"{surface.name}.")
    if isinstance(found, HeightField):
        found = found.from_table(table(p, heights_name(surface), *found.shape))
    return found


def memory_size(scene: Scene, pair: Pair) -> int:
    """What a pair carries from step to step: its law's memory, and what tells its place on the
    surface, if the law has a use for it: of a sphere the place itself, (2,); of a point on tangents
    that change, with that the point on the surface's material, (3,).
    """
    size, radius = scene.laws[pair.law].memory_size, pair.point.radius
    if not size:
        return 0
    bends = scene.surfaces[pair.surface].tangents_vary(radius, pair.part)
    return size + (2 if radius else 5 if bends else 0)


def place(own: SX, axes: SX, memory: SX, rolled: SX, moved: SX, touching: SX) -> tuple[SX, SX]:
    """Where a contact is on its surface, along its tangents `axes`, (2, 3), and what to remember.

    `own` is the point on the surface's material. Tangents that change sum up what the point moved
    along them, so that a law's anchor stays where it is; a sphere, whose contact moves while it
    rolls, sums up its slip: `rolled` until now, `moved` until the next step.
    """
    if memory.numel() == 2:
        return memory + rolled, ca.if_else(touching, memory + moved, 0)
    if memory.numel() == 5:
        along = memory[:2] + axes @ (own - memory[2:])
        return along, ca.vertcat(along, own)
    return axes @ own, memory
