"""Code of groups without warps on a GPU: the root block, and strided groups.

The first warp of one warp group hosts the root block; all warps share the members of a strided
group, each in a loop over its own, or one member after another where they are small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from heelstrike.codegen.cuda.apart import ApartFunctions
from heelstrike.codegen.cuda.call_code import CalledFunctions
from heelstrike.codegen.cuda.member_code import MemberEmitter
from heelstrike.codegen.cuda.member_lanes import MemberLanes, MemberTables
from heelstrike.codegen.cuda.schedule import Schedule
from heelstrike.codegen.cuda.units import Places, Unit

MAX_UNROLLED = 200
"""Operations of a warp's members of a strided group, at most, that are not in a loop."""


class MemberWork(NamedTuple):
    """Work on each member of a group without warps."""

    emit: Callable[[MemberEmitter], None]
    size: int = 0
    """Number of operations of a member."""
    ahead: Sequence[Places] = ()
    """Values that are loaded while the member before is computed."""
    once: Sequence[Places] = ()
    """Values of all members that are loaded once."""


class HostedEmitter(MemberEmitter):
    """Emits a warp group's share of the work of groups without warps."""

    def __init__(
        self,
        lanes: MemberLanes,
        plan: Schedule,
        ports: dict[str, str],
        group: int,
        tables: list[MemberTables],
        calls: CalledFunctions,
        apart: ApartFunctions,
    ) -> None:
        super().__init__(lanes, plan, ports, group, f"group{group}", calls, apart)
        self.tables = tables
        self.root = len(plan.sizes)
        """Index of the root block's group."""
        self.is_host = group == plan.host
        """Whether this warp group hosts the root block."""

    def read_ahead(self, group: int, units: Sequence[Unit]) -> list[Places]:
        """Return what each member of a strided group reads from global or local memory."""
        made = {places for unit in units for places in unit.written}
        read = dict.fromkeys(w for unit in units if not unit.needs for w in unit.read)
        return [w for w in read if w not in made and self.is_far(group, w)]

    def read_once(self, units: Sequence[Unit]) -> list[Places]:
        """Return what is the same for all members of a strided group, such as a guard's need."""
        made = {place for unit in units for place in unit.writes}
        read = dict.fromkeys(w for unit in units for w in unit.read)
        return [w for w in read if len(set(w)) == 1 and w[0] not in made]

    def is_far(self, group: int, places: Places) -> bool:
        """Return whether each member has a value of its own there, which takes long to load."""
        far = places[0].array in self.ports or places in self.plan.private[group]
        return far and places[0] not in self.plan.slots and len(set(places)) > 1

    def hosted(self, group: int, work: MemberWork) -> None:
        """Emit work of a group without warps: a strided group, or the root block on its host."""
        if group != self.root:
            short = self.plan.rows(group) * work.size <= MAX_UNROLLED
            (self.unrolled if short else self.in_turn)(group, work)
        elif self.is_host:
            head = self.new_label("each")
            goes = self.lanes.line(f"icmp eq i64 {self.lanes.number}, 0")
            self.branch_to(goes, f"{head}.work", f"{head}.over")
            self.begin(f"{head}.work")
            work.emit(self.member(group, "%zero"))
            self.lanes.lines.append(f"  br label %{head}.over")
            self.begin(f"{head}.over")

    def unrolled(self, group: int, work: MemberWork) -> None:
        """Emit the work on this warp's members of a strided group, one after another.

        All values are loaded first.
        """
        b, warps, count = self.lanes, self.plan.warps, self.plan.members[group - self.root]
        first = self.opaque("%warp")
        members: list[tuple[MemberEmitter, str | None]] = []
        for row in range(self.plan.rows(group)):
            k = b.line(f"add i32 {first}, {row * warps}")
            sure = (row + 1) * warps <= count
            own = k if sure else self.at_most(k, count - 1)
            member = self.member(group, b.line(f"zext i32 {own} to i64"), row)
            if members:
                member.bases = members[0][0].ports_known()
                member.know(members[0][0], work.once)
            for places in (*work.once, *work.ahead):
                member.load(places)
            members.append((member, None if sure else b.line(f"icmp slt i32 {k}, {count}")))
        for member, goes in members:
            head = self.new_label("each")
            if goes is not None:
                self.branch_to(goes, f"{head}.work", f"{head}.over")
                self.begin(f"{head}.work")
            member.label = self.label
            work.emit(member)
            self.label = member.label
            if goes is not None:
                b.lines.append(f"  br label %{head}.over")
                self.begin(f"{head}.over")

    def in_turn(self, group: int, work: MemberWork) -> None:
        """Emit a loop over this warp's members of a strided group.

        A round loads the values of the next member before it works on its own.
        """
        b, warps, count = self.lanes, self.plan.warps, self.plan.members[group - self.root]
        head, before = self.new_label("each"), self.label
        at_start = self.member(group, self.numbered(self.at_most("%warp", count - 1)))
        starts = [at_start.load(places) for places in work.ahead]
        for places in work.once:
            at_start.load(places)
        known = at_start.ports_known()
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        first = len(b.lines)
        b.lines += [""] * (1 + len(starts))
        goes = b.line(f"icmp slt i32 %{head}.k, {count}")
        self.branch_to(goes, f"{head}.work", f"{head}.over")
        self.begin(f"{head}.work")
        b.lines.append(f"  %{head}.up = add i32 %{head}.k, {warps}")
        ahead = self.member(group, self.numbered(self.at_most(f"%{head}.up", count - 1)))
        ahead.bases = dict(known)
        nexts = [ahead.load(places) for places in work.ahead]
        member = self.member(group, self.numbered(f"%{head}.k"))
        member.here = {places: f"%{head}.a{k}" for k, places in enumerate(work.ahead)}
        member.know(at_start, work.once)
        member.bases = dict(known)
        work.emit(member)
        b.lines.append(f"  br label %{head}, !llvm.loop !0")
        ends = f"%{member.label} ]"
        b.lines[first] = f"  %{head}.k = phi i32 [ %warp, %{before} ], [ %{head}.up, {ends}"
        for k, (start, following) in enumerate(zip(starts, nexts, strict=True)):
            pair = f"[ {start}, %{before} ], [ {following}, {ends}"
            b.lines[first + 1 + k] = f"  %{head}.a{k} = phi {b.values} {pair}"
        self.begin(f"{head}.over")

    def member(self, group: int, number: str, row: int | None = None) -> MemberEmitter:
        """Return an emitter for a member of a group without warps."""
        b = self.lanes
        lanes = MemberLanes(b.real, b.flags, b.prefix, self.tables[group], number, b.lines)
        lanes.intrinsics = b.intrinsics
        member = MemberEmitter(
            lanes, self.plan, self.ports, group, self.label, self.calls, self.apart, row
        )
        member.is_apart = self.is_apart
        return member

    def new_label(self, name: str) -> str:
        return f"{self.lanes.prefix}{name}{len(self.lanes.lines)}"

    def branch_to(self, goes: str, one: str, other: str) -> None:
        self.lanes.lines.append(f"  br i1 {goes}, label %{one}, label %{other}")

    def opaque(self, number: str) -> str:
        """Return a number that LLVM does not know; else it keeps a pointer for every place."""
        return self.lanes.line(f'call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 {number})')

    def numbered(self, number: str) -> str:
        """Return the number of a member, opaque and as wide as an address."""
        return self.lanes.line(f"zext i32 {self.opaque(number)} to i64")

    def at_most(self, number: str, last: int) -> str:
        """Return the smaller of a number and the last one."""
        over = self.lanes.line(f"icmp sgt i32 {number}, {last}")
        return self.lanes.line(f"select i1 {over}, i32 {last}, i32 {number}")
