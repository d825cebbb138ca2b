"""Which shapes of a scene touch: one another, and edges, ridges and round parts of the ground.

One code serves all contacts of shapes, so that their laws must have one structure: that of the law
between bodies, or else of the first surface with edges. Other surfaces are touched at points only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.parameters import structure
from heelstrike.robot.bounding_box import bounding_box
from heelstrike.robot.convex import convex_shape
from heelstrike.robot.robot import WORLD
from heelstrike.scene.ground_parts import EdgePair, Ground, RidgePair, RidgePart, SolidPart
from heelstrike.scene.ridge_lines import ridges_of
from heelstrike.scene.shape_contact import ShapeContact, shape_contact_of

if TYPE_CHECKING:
    from heelstrike.scene.scene import Scene

SELF = "self"
"""First word of the paths of a law of contact between bodies."""
FLAT_KINDS = "box", "cylinder", "mesh"
"""Kinds of shapes that touch ridges; capsules do by points of their own (ridge.py)."""
REACH = 0.02
"""Distance from a shape up to which ridges of a mesh are listed [m]."""
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
    ground = _ground(scene, law if pairs else "") if edges else Ground()
    found = [x.law for x in ground.edges] + [x.law for x in ground.ridges]
    if found and not pairs:
        law = found[0]
    return shape_contact_of(scene.robot, law, pairs, ground)


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


def _ground(scene: Scene, law: str) -> Ground:
    """Return what shapes may touch of surfaces in the world.

    Laws have the structure of `law`; "": of the first.
    """
    found, kinds = Ground(), [structure(scene.laws[law])] if law else []
    for k, surface in enumerate(scene.surfaces):
        if surface.body is not None:
            continue
        for n, solid in enumerate(surface.solids()):
            own = (
                _shapes_on(scene, k, scene.robot.ground_shapes, kinds) if solid.meets_shapes else []
            )
            if own:
                found.edges += [EdgePair(i, len(found.solids), name) for i, name in own]
                title = f"{surface.name} {solid.name}".strip()
                rest = solid.closed, solid.is_round, solid.disc is not None
                found.solids.append(SolidPart(title, k, n, *rest))
        if surface.has_ridges:
            _add_ridges(scene, k, kinds, found)
    return found


def _add_ridges(scene: Scene, k: int, kinds: list[object], found: Ground) -> None:
    """Add the ridges of surface k, and the shapes that may touch them: all that are not round."""
    shapes = scene.robot.shapes
    flat = [i for i in scene.robot.ground_shapes if shapes[i].kind in FLAT_KINDS]
    own = _shapes_on(scene, k, flat, kinds)
    if not own:
        return
    boxes = [bounding_box(convex_shape(shapes[i])) for i, _ in own]
    reach = max(float(np.linalg.norm(box.half)) for box in boxes) + REACH
    ridges = ridges_of(scene.surfaces[k], reach)
    if ridges is not None:
        found.ridges += [RidgePair(i, len(found.fields), name) for i, name in own]
        found.fields.append(RidgePart(scene.surfaces[k].name, k, ridges))


def _shapes_on(
    scene: Scene, k: int, shapes: Iterable[int], kinds: list[object]
) -> list[tuple[int, str]]:
    """Return those of some shapes that may touch surface k, and their laws.

    `kinds` holds the structure that laws must have, if it is known.
    """
    found = []
    for i in shapes:
        body = scene.robot.shapes[i].body
        name = scene.law_of(body, scene.surfaces[k].name)
        law = scene.laws[name]
        if _is_literal(law) or not scene.may_touch(k, WORLD, body):
            continue
        kinds += [] if kinds else [structure(law)]
        if kinds[0] == structure(law):
            found.append((i, name))
    return found


def _is_literal(law: SurfaceLaw) -> bool:
    """Return whether a law couples by a paper's rule, which knows contact points only."""
    return law.coupling is not None and law.coupling.literal
