"""Shapes of moving bodies that may touch, in the program of a step: tables of pairs and shapes."""

from __future__ import annotations

import numpy as np

from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.scene.self_contact import SelfContact


class ShapeTables:
    """Tables of the shapes of a scene."""

    def __init__(self, p: Program, contact: SelfContact) -> None:
        self.contact = contact
        arrays = shape_tables(contact)
        self.pairs, self.shapes = (table(p, name, *array.shape) for name, array in arrays.items())


def shape_tables(contact: SelfContact | None) -> dict[str, np.ndarray]:
    """Return the arrays that the step looks up, by the names of its tables."""
    if contact is None:
        return {}
    return {"self.pairs": contact.pair_table(), "self.shapes": contact.shape_table()}
