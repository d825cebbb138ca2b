"""Shapes of bodies and solids of the ground as convex shapes, from the rows of their tables."""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.geometry import Convex, box
from heelstrike.contact.geometry.cells import CellTable
from heelstrike.contact.geometry.convex import PlacedCorners
from heelstrike.ir.program import Program
from heelstrike.scene.shape_contact import PLACED_CORNERS, ShapeContact
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.edges_near import PlacedSolid


def placed_shape(
    p: Program,
    contact: ShapeContact,
    cells: CellTable | None,
    row: SX,
    frame: SX,
    origin: SX,
) -> Convex:
    """Return a shape in world axes, from an origin; inside a block."""
    turn, offset = ca.reshape(frame[:9], 3, 3), frame[9:] - origin
    end = -PLACED_CORNERS if contact.cells else row.numel()
    columns = ca.reshape(row[11:end], 3, -1)
    vertices = p.let("vertices", turn @ columns + ca.repmat(offset, 1, columns.shape[1]))
    half_axes, corners = None, None
    if contact.is_curved:
        half_axes = p.let("half axes", turn @ ca.reshape(row[2:11], 3, 3))
    if contact.cells:
        assert cells is not None
        first, size, own, place = ca.vertsplit(row[end:], [0, 1, 2, 11, PLACED_CORNERS])
        rotation = p.let("turn", turn @ ca.reshape(own, 3, 3))
        corners = PlacedCorners(
            cells, first, rotation, p.let("offset", turn @ place + offset), size
        )
    return Convex(vertices, half_axes, row[1], corners=corners)


def solid_shape(contact: ShapeContact, solid: PlacedSolid) -> Convex:
    """Return a solid of the ground as a shape; those of a scene share one form."""
    shape = box(solid.centre, solid.axes.T @ ca.diag(solid.half))
    if not contact.meets_round:
        return shape
    axes = solid.axes.T
    disc = ca.horzcat(solid.disc * axes[:, :2], zeros()) if contact.meets_cylinders else None
    # lengths of its box may be 0: normals and edges are told, and those too many do no harm
    return Convex(shape.vertices, disc, solid.ball, normals=axes, edges=axes)
