"""Lanes of the code of a group's member: what differs from member to member comes from tables."""

from __future__ import annotations

from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.real import Real


class MemberTables:
    """Constants and places that differ from member to member, in the GPU's constant memory."""

    def __init__(self, group: int, real: Real) -> None:
        self.group, self.real = group, real
        self.rows: dict[str, dict[tuple[str, ...], int]] = {real.name: {}, "i32": {}}

    def name(self, kind: str) -> str:
        return f'@"{kind} of {self.group}"'

    def row(self, kind: str, values: tuple[str, ...]) -> int:
        """Return the index of the first value of a row, which is added if it is new."""
        rows = self.rows[kind]
        return rows.setdefault(values, len(rows)) * len(values)

    def text(self) -> list[str]:
        lines = []
        for kind, rows in self.rows.items():
            values = [value for row in rows for value in row]
            listed = ", ".join(f"{kind} {value}" for value in values)
            if values:
                whole = f"private addrspace(4) constant [{len(values)} x {kind}] [{listed}]"
                lines.append(f"{self.name(kind)} = {whole}")
        return lines


class MemberLanes(Lanes):
    """Lanes of a member's code: constants that differ come from a table."""

    def __init__(
        self,
        real: Real,
        flags: str,
        prefix: str,
        tables: MemberTables,
        number: str,
        lines: list[str],
    ) -> None:
        super().__init__(1, real, lines, WARP, flags, prefix)
        self.tables, self.number = tables, number

    def const(self, x: float | tuple[float, ...]) -> str:
        if not isinstance(x, tuple):
            return super().const(x)
        values = tuple(self._literal(y) for y in x)
        return values[0] if len(set(values)) == 1 else self.own(self.real.name, values)

    def elsewhere(self, number: str) -> MemberLanes:
        """Return lanes for the code of a function."""
        lanes = MemberLanes(self.real, self.flags, self.prefix, self.tables, number, [])
        lanes.intrinsics = self.intrinsics
        return lanes

    def own(self, kind: str, values: tuple[str, ...]) -> str:
        """Load the member's own of these values, one for each member."""
        space, size = "ptr addrspace(4)", 4 if kind == "i32" else self.real.bytes
        where = f"{space} {self.tables.name(kind)}, i64 {self.number}"
        where = f"{space} {self.line(f'getelementptr {kind}, {where}')}"
        where = self.line(f"getelementptr {kind}, {where}, i64 {self.tables.row(kind, values)}")
        return self.line(f"load {kind}, {space} {where}, align {size}")
