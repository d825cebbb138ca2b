"""Tables of a program: arrays of the caller's, looked up by linear interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockTag
from heelstrike.ir.code import Lookup, Port
from heelstrike.ir.program import Program


@dataclass(frozen=True)
class Table:
    """An array that the caller sets once for all worlds."""

    p: Program
    port: Port

    def at(self, u: SX) -> tuple[SX, SX]:
        """Return value and slope d/du of each column at row number u, counted from 0.

        Beyond the ends the value is held and the slope is 0. Call it outside blocks.
        """
        columns = self.port.shape[1]
        return self._look_up([u], columns, 1)

    def row(self, u: SX) -> SX:
        """Return row number u, a whole number counted from 0, as a column.

        Beyond the ends the row is the last one there. It may be called inside a block, which is
        closed before the look-up and opened again after it.
        """
        p = self.p
        tag = p.close_block()
        place = p.new_value("row")[1]
        p.add(Block(BlockTag(f"row of {self.port.name}"), [(place, SX(u))]))
        values, places = p.new_values(self.port.name, self.port.shape[1])
        p.statements.append(Lookup(self.port, (place,), tuple(places)))
        p.open_again(tag)
        return values

    def at2(self, u: SX, v: SX) -> tuple[SX, SX]:
        """Return value and slopes (d/du, d/dv) at row u and column v, bilinear."""
        value, slopes = self._look_up([u, v], 1, 3)  # the third is the twist, for derivatives
        return value, slopes[:2]

    def _look_up(self, arguments: list[SX], columns: int, slopes: int) -> tuple[SX, SX]:
        p = self.p
        reads = []
        results = []
        for x in arguments:
            _, place = p.new_value("argument")
            results.append((place, SX(x)))
            reads.append(place)
        p.add(Block(BlockTag(f"argument of {self.port.name}"), results))
        values, places = zip(*(p.new_value(self.port.name) for _ in range(columns)), strict=True)
        rates, rate_places = zip(
            *(p.new_value(f"{self.port.name} slope") for _ in range(columns * slopes)), strict=True
        )
        p.statements.append(Lookup(self.port, tuple(reads), (*places, *rate_places)))
        return ca.vertcat(*values), ca.vertcat(*rates)


def table(p: Program, name: str, rows: int, columns: int = 1) -> Table:
    """Declare a table of at least two rows (for `at2` also two columns)."""
    if rows < 2:
        raise ProgramError(
            f"table '{name}' has {rows} rows", path=name, value=rows, allowed="at least two rows"
        )
    p.check_new(name)
    p.tables[name] = Port(name, (rows, columns))
    return Table(p, p.tables[name])
