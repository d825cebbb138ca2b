"""Arguments and results of routines (routine.py): matrices, and trees of them.

A tree is a dataclass, tuple, list or mapping. The form of an argument is all that decides which
code is traced: types, shapes, operations, which symbols are the same, and which are variables.
Numbers that tracing would fold (0, 1, -1) and numbers in expressions belong to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.ir.block import SX, BlockTag
from heelstrike.ir.code import Place
from heelstrike.ir.graph import column, graph
from heelstrike.ir.number import is_number, value_of
from heelstrike.ir.program import Program

FOLDED = (0.0, 1.0, -1.0)
"""Numbers that CasADi folds while it builds an expression."""
LABEL = {"label": True}
"""Metadata of a dataclass's field that says which one a thing is, such as a body's number. It does
not belong to the form: the function of a routine cannot read it, but may return it."""


def is_label(of: Field[Any]) -> bool:
    """Return whether a field is a label."""
    return "label" in of.metadata


@dataclass
class Parts:
    """Parts of a tree that do not belong to its form, in order."""

    p: Program
    reader: BlockTag
    """Block that reads them."""
    symbols: list[tuple[Place, SX]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    expressions: list[SX] = field(default_factory=list)
    labels: list[object] = field(default_factory=list)

    def add(self, value: Any) -> object:
        """Add the parts of a value; return its form, but for which symbols are the same."""
        if isinstance(value, ca.SX):
            return self._add_matrix(value)
        if isinstance(value, tuple | list):
            return (type(value), *map(self.add, value))
        if isinstance(value, Mapping):
            return (type(value), *((key, self.add(part)) for key, part in value.items()))
        if is_dataclass(value) and not isinstance(value, type):
            return self._add_dataclass(value)
        if isinstance(value, np.ndarray):
            return value.shape, value.tobytes()
        return type(value), repr(value) if isinstance(value, float) else value

    def _add_dataclass(self, value: Any) -> object:
        """Add a dataclass; a frozen one is examined once."""
        known = self.p.forms.get(id(value))
        if known is None:
            own = Parts(self.p, self.reader)
            known = value, own.add_fields(value), own  # the value stays alive, and its id its own
            if value.__dataclass_params__.frozen:
                self.p.forms[id(value)] = known
        own = known[2]
        self.symbols += own.symbols
        self.numbers += own.numbers
        self.expressions += own.expressions
        self.labels += own.labels
        return known[1]

    def add_fields(self, value: Any) -> object:
        """Add the fields of a dataclass; return its form."""
        form: list[object] = [type(value)]
        for f in fields(value):
            part = getattr(value, f.name)
            if is_label(f):
                self.labels.append(part)
            else:
                form.append(self.add(part))
        return tuple(form)

    def _add_matrix(self, value: SX) -> object:
        entries = tuple([self._add_entry(entry) for entry in value.nonzeros()])
        rows, columns = shape = value.shape
        is_dense = len(entries) == rows * columns
        return (shape, entries) if is_dense else (shape, entries, tuple(value.sparsity().find()))

    def _add_entry(self, entry: SX) -> object:
        place = self.p.known_place(entry)
        if place is not None:  # the usual case, fast
            self.symbols.append((place, entry))
            return place in self.p.variables
        if entry.is_constant():
            number = float(entry)
            if number in FOLDED:
                return repr(number)
            self.numbers.append(number)
            return "number"
        if not entry.is_symbolic():
            self.expressions.append(entry)
            return "expression"
        self.p.places_of((entry,), self.reader)  # raises an error for a symbol that is no number
        self.numbers.append(value_of(entry))
        return "number"

    def form_of_expressions(self) -> object:
        """Return the form of all expressions together, and add their symbols."""
        if not self.expressions:
            return None
        whole = ca.vertcat(*self.expressions)
        symbols, numbers = self.p.places_of(ca.symvar(whole), self.reader)
        self.symbols += symbols
        are_variables = tuple(place in self.p.variables for place, _ in symbols)
        return are_variables, graph(column([x for _, x in symbols]), whole, numbers)

    def form_of_symbols(self) -> tuple[tuple[int, ...], dict[Place, SX]]:
        """Return which symbols are the same, and one for each place."""
        order: dict[Place, int] = {}
        same = tuple([order.setdefault(place, len(order)) for place, _ in self.symbols])
        return same, dict(self.symbols)


def with_symbols(value: Any, parts: Parts, symbols: dict[Place, SX], numbers: SX) -> Any:
    """Return arguments with other symbols, by place, and with symbols in place of numbers."""
    p, reader = parts.p, parts.reader
    whole = column(parts.expressions)
    if read := p.places_of(ca.symvar(whole), reader)[0]:
        new = [symbols[place] for place, _ in read]
        whole = ca.substitute(whole, ca.vertcat(*(x for _, x in read)), ca.vertcat(*new))
    left, expressions = iter(numbers.nonzeros()), iter(whole.nonzeros())
    labels = iter(range(len(parts.labels)))

    def changed(entry: SX) -> SX:
        if entry.is_constant():
            return entry if float(entry) in FOLDED else next(left)
        if not entry.is_symbolic():
            return next(expressions)
        return next(left) if is_number(entry) else symbols[p.place_of(entry, reader)]

    def matrix(x: SX) -> SX:
        entries = [changed(entry) for entry in x.nonzeros()]
        return SX(x.sparsity(), ca.vertcat(*entries)) if entries else x

    return mapped(value, matrix, lambda _: LabelNumber(next(labels)))


class LabelNumber:
    """Place holder of a label while a routine is traced."""

    def __init__(self, number: int) -> None:
        self.number = number


def mapped(value: Any, matrix: Callable[[SX], SX], own: Callable[[Any], Any]) -> Any:
    """Return a tree with its matrices and its labels changed."""
    if isinstance(value, ca.SX):
        return matrix(value)
    if isinstance(value, tuple | list):
        return type(value)([mapped(part, matrix, own) for part in value])
    if isinstance(value, Mapping):
        return {key: mapped(part, matrix, own) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {}
        for f in fields(value):
            part = getattr(value, f.name)
            parts[f.name] = own(part) if is_label(f) else mapped(part, matrix, own)
        return type(value)(**parts)
    return value


class Tree:
    """A result whose entries are symbols and constants."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.matrices: list[SX] = []
        mapped(value, self._found, lambda x: x)
        self.parts = [x.nonzeros() for x in self.matrices]
        """Entries of each matrix."""
        self.shapes = [
            None if x.is_column() and x.is_dense() else x.sparsity() for x in self.matrices
        ]
        """Sparsity of each matrix that is no dense column."""

    def _found(self, matrix: SX) -> SX:
        self.matrices.append(matrix)
        return matrix

    def filled(self, columns: Iterable[SX], labels: list[object]) -> Any:
        """Return the tree with other entries, a column for each matrix, and with labels in place of
        their numbers.
        """
        pairs = zip(columns, self.shapes, strict=True)
        matrices = (new if shape is None else SX(shape, new) for new, shape in pairs)

        def own(found: object) -> object:
            return labels[found.number] if isinstance(found, LabelNumber) else found

        return mapped(self.value, lambda _: next(matrices), own)
