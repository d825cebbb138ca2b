"""Which shapes of a scene touch: one another, and edges and round parts of the ground.

One code serves all contacts of shapes, so that their laws must have one structure: that of the law
between bodies, or else of the first surface with edges. Other surfaces are touched at points only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.parameters import structure
from heelstrike.robot.robot import WORLD
from heelstrike.scene.shape_contact import EdgePair, ShapeContact, SolidPart, shape_contact_of

if TYPE_CHECKING:
    from heelstrike.scene.scene import Scene

SELF = "self"
"""First word of the paths of a law of contact between bodies."""
MAX_PAIRS = 4000
"""Largest number of pairs of shapes of bodies; each is part of the compiled step."""


def touching_shapes(
    scene: Scene, self_contact: bool | SurfaceLaw, edges: bool
) -> ShapeContact | None:
    """Return the shapes that may touch, as the scene's arguments say; None: there are none."""
    if not isinstance(self_contact, bool | SurfaceLaw):
        raise ParameterError("self_contact", self_contact, "True, False or a surface law")
    if not isinstance(edges, bool):
        raise ParameterError("edges", edges, "True or False")
    law = SELF if SELF in scene.materials else scene.surfaces[0].name if scene.surfaces else ""
    pairs = _pairs(scene) if self_contact and law and not _is_literal(scene.laws[law]) else []
    solids, found = _edges(scene, law if pairs else "") if edges else ([], [])
    if found and not pairs:
        law = found[0].law
    return shape_contact_of(scene.robot, law, pairs, solids, found)


def _pairs(scene: Scene) -> list[tuple[int, int]]:
    """Return the pairs of shapes of bodies.

    Two bodies of which one carries a surface that the other touches are served by that.
    """
    shapes, served = scene.robot.shapes, [set(x) for x in scene.groups if len(x) == 2]
    pairs = scene.robot.self_pairs
    if len(pairs) > MAX_PAIRS:
        raise HeelstrikeError(
            f"{len(pairs)} pairs of shapes may touch one another",
            path="self_contact",
            allowed=f"at most {MAX_PAIRS}",
            remedy="take fewer parts, collide='feet', or self_contact=False",
        )
    return [(i, j) for i, j in pairs if {shapes[i].body, shapes[j].body} not in served]


def _edges(scene: Scene, law: str) -> tuple[list[SolidPart], list[EdgePair]]:
    """Return solids of surfaces in the world, and the shapes that may touch them.

    Their laws have the structure of `law`; "": of the first.
    """
    solids: list[SolidPart] = []
    found: list[EdgePair] = []
    laws = scene.laws
    kinds: dict[str, object] = {}
    for k, surface in enumerate(scene.surfaces):
        parts = [] if surface.body is not None else surface.solids()
        for n, solid in enumerate(parts):
            own = []
            for i in scene.robot.ground_shapes if solid.meets_shapes else ():
                body = scene.robot.shapes[i].body
                name = scene.law_of(body, surface.name)
                if _is_literal(laws[name]) or not scene.may_touch(k, WORLD, body):
                    continue
                law = law or name
                for key in {law, name} - kinds.keys():
                    kinds[key] = structure(laws[key])
                if kinds[law] == kinds[name]:
                    own.append(EdgePair(i, len(solids), name))
            if own:
                found += own
                title = f"{surface.name} {solid.name}".strip()
                solids.append(
                    SolidPart(title, k, n, solid.closed, solid.is_round, solid.disc is not None)
                )
    return solids, found


def _is_literal(law: SurfaceLaw) -> bool:
    """Return whether a law couples by a paper's rule, which knows contact points only."""
    return law.coupling is not None and law.coupling.literal
