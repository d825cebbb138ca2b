"""Shapes of moving bodies that may touch, in the program of a step: tables of pairs and shapes."""

from __future__ import annotations

import numpy as np

from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.scene.shape_contact import ShapeContact

PAIRS, SHAPES, EDGES, CLOSED = "self.pairs", "self.shapes", "edge.pairs", "edge.closed"
RIDGES = "ridge.pairs"
"""Names of the tables."""


class ShapeTables:
    """Tables of the shapes of a scene."""

    def __init__(self, p: Program, contact: ShapeContact) -> None:
        self.contact = contact
        tables = {name: table(p, name, *x.shape) for name, x in shape_tables(contact).items()}
        self.shapes = tables[SHAPES]
        """Bodies, sizes and vertices, see `ShapeContact.shape_table`."""
        self.pairs = tables.get(PAIRS)
        """Pairs of shapes of bodies; None: there are none."""
        self.edges = tables.get(EDGES)
        """Pairs of shape and solid; None: there are none."""
        self.closed = tables.get(CLOSED)
        """Faces of each solid that can be touched."""
        self.ridges = tables.get(RIDGES)
        """Pairs of shape and field; None: there are none."""
        self.fields = [
            {key: tables[_name(k, key)] for key in part.ridges.tables}
            for k, part in enumerate(contact.fields)
        ]
        """Tables of each field's ridges."""


def shape_tables(contact: ShapeContact | None) -> dict[str, np.ndarray]:
    """Return the arrays that the step looks up, by the names of its tables."""
    if contact is None:
        return {}
    found = {PAIRS: contact.pair_table()} if contact.pairs else {}
    found[SHAPES] = contact.shape_table()
    if contact.edges:
        closed = [part.closed.ravel().astype(float) for part in contact.solids]
        found |= {EDGES: contact.edge_table(), CLOSED: np.array([*closed, closed[-1]])}
    if contact.ridges:
        found[RIDGES] = contact.ridge_table()
    for k, part in enumerate(contact.fields):
        found |= {_name(k, key): values for key, values in part.ridges.tables.items()}
    return found


def _name(field: int, key: str) -> str:
    return f"ridge.{field}.{key}"
