"""Code of one warp group on a GPU with a warp per limb: a block slice computes 32 worlds.

planner.py decides which warp does what, and where a barrier stands between. All warps of a block
slice compute the same worlds, so all make the same rounds of a loop. All warps share the members of
a strided group: each warp group has the strided group's code, in a loop over the members of its
warp. The root block is hosted by the first warp of one warp group. Results of the root block and of
strided groups go through memory from phase to phase: shared memory, or local memory for values that
only the member itself reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from heelstrike.codegen.cuda.apart import ApartFunctions, Argument
from heelstrike.codegen.cuda.call_code import CalledFunctions
from heelstrike.codegen.cuda.member_code import MemberEmitter
from heelstrike.codegen.cuda.member_lanes import MemberLanes, MemberTables
from heelstrike.codegen.cuda.schedule import Part, Rounds, Schedule, Segment
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import CLOCK, FAILED, Commit, Place

BARRIER = "  call void @llvm.nvvm.barrier0()"
MAX_UNROLLED = 200
"""Operations of a warp's members of a strided group, at most, that are not in a loop."""


class WarpGroupEmitter(MemberEmitter):
    """Emits the code of one warp group, and of its share of the strided groups."""

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
        self.inside: tuple[Rounds, str] | None = None
        """The open loop, and whether a world was done before this round."""

    # work

    def part(self, part: Part) -> None:
        """Emit the phases of a part, once or round by round."""
        if isinstance(part, Segment):
            self.phases(part)
            return
        end = part.end
        assert end.done is not None
        b, head, before = self.lanes, f"w{self.group}round{len(self.lanes.lines)}", self.label
        kept = self.kept(part)
        starts = [self.load(places) for places in kept]
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        first = len(b.lines)
        b.lines += [""] * (1 + len(kept))
        self.here |= {places: f"%{head}.c{k}" for k, places in enumerate(kept)}
        over = b.compare("une", self.here[self.all(end.done[0])], b.const(0.0))
        outer, self.inside = self.inside, (part, over)
        for inner in part.parts:
            self.part(inner)
        self.inside = outer
        goes_on = self.advance(part, over)
        b.lines.append(f"  br label %{head}.end")
        self.begin(f"{head}.end")
        b.lines += [
            f"  %{head}.up = add i64 %{head}.k, 1",
            f"  %{head}.in = icmp slt i64 %{head}.up, {part.loop.limit}",
            f"  %{head}.on = and i1 %{head}.in, {goes_on}",
            f"  br i1 %{head}.on, label %{head}, label %{head}.over",
        ]
        ends = f"%{head}.end ]"
        b.lines[first] = f"  %{head}.k = phi i64 [ 0, %{before} ], [ %{head}.up, {ends}"
        for k, (places, start) in enumerate(zip(kept, starts, strict=True)):
            pair = f"[ {start}, %{before} ], [ {self.here[places]}, {ends}"
            b.lines[first + 1 + k] = f"  %{head}.c{k} = phi {b.values} {pair}"
        self.begin(f"{head}.over")

    def kept(self, rounds: Rounds) -> list[Places]:
        """Return what this warp group carries: its own values, and whether a world is done."""
        end = rounds.end
        assert end.done is not None
        count = [self.all(end.rounds)] if end.rounds and self.is_host else []
        return [*(old for old, _ in rounds.carried[self.group]), *count, self.all(end.done[0])]

    def phases(self, segment: Segment) -> None:
        for row in segment.phases:
            self.units(row[self.group])
            if units := row[self.root]:
                self.hosted(self.root, partial(self.hosted_units, units, 0))
            for group in range(self.root + 1, len(row)):
                if units := row[group]:
                    self.shared(group, units)
            self.lanes.lines.append(BARRIER)
            self.forget()

    def shared(self, group: int, units: list[Unit], depth: int = 0) -> None:
        """Emit the work of a strided group, under the guards that all of it shares."""
        needs = {
            place for unit in units for need in unit.needs[depth : depth + 1] for place in need
        }
        if len(needs) == 1 and all(len(unit.needs) > depth for unit in units):
            inner = partial(self.shared, group, units, depth + 1)
            self.branch(self.all(needs.pop()), units, inner)
        else:
            self.call_shared(group, units, depth)

    def call_shared(self, group: int, units: list[Unit], depth: int) -> None:
        """Emit the call of a function with the work of a strided group."""
        arguments = [Argument.same("i32", "%warp"), *self.pointers(units, group)]
        if self.inside is not None:
            arguments.append(Argument("i1", "%over", self.inside[1]))

        def code() -> list[str]:
            lanes = self.lanes.elsewhere("%number")
            inner = WarpGroupEmitter(
                lanes, self.plan, self.ports, self.group, self.tables, self.calls, self.apart
            )
            inner.is_apart, inner.label = True, "entry"
            inner.inside = None if self.inside is None else (self.inside[0], "%over")
            reads, size = inner.read_ahead(group, units), sum(unit.size for unit in units)
            work = partial(inner.hosted_units, units, depth)
            inner.hosted(group, work, reads, size, inner.read_once(units))
            return lanes.lines

        self.lanes.lines.append(self.apart.call(id(units), arguments, code))

    def read_ahead(self, group: int, units: Sequence[Unit]) -> list[Places]:
        """Return what each member of a strided group reads from global or local memory."""
        made = {places for unit in units for places in unit.written}
        read = dict.fromkeys(w for unit in units if not unit.needs for w in unit.read)
        return [w for w in read if w not in made and self.is_far(group, w)]

    def read_once(self, units: Sequence[Unit]) -> list[Places]:
        """Return what is the same for all members of a strided group."""
        made = {place for unit in units for place in unit.writes}
        read = dict.fromkeys(w for unit in units for w in unit.read)
        return [w for w in read if len(set(w)) == 1 and w[0] not in made]

    def is_far(self, group: int, places: Places) -> bool:
        """Return whether each member has a value of its own there, which takes long to load."""
        far = places[0].array in self.ports or places in self.plan.private[group]
        return far and places[0] not in self.plan.slots and len(set(places)) > 1

    def hosted(
        self,
        group: int,
        work: Callable[[MemberEmitter], None],
        reads: Sequence[Places] = (),
        size: int = 0,
        same: Sequence[Places] = (),
    ) -> None:
        """Emit work of a group without warps: a strided group, or the root block on its host.

        `reads` are values that are loaded while the member before is computed, `same` values of
        all members that are loaded once; `size` is the number of operations of a member.
        """
        if group != self.root:
            rows = self.plan.rows(group)
            strided = self.unrolled if rows * size <= MAX_UNROLLED else self.in_turn
            strided(group, work, reads, same)
        elif self.is_host:
            head = self.new_label("each")
            goes = self.lanes.line(f"icmp eq i64 {self.lanes.number}, 0")
            self.branch_to(goes, f"{head}.work", f"{head}.over")
            self.begin(f"{head}.work")
            work(self.member(group, "%zero"))
            self.lanes.lines.append(f"  br label %{head}.over")
            self.begin(f"{head}.over")

    def unrolled(
        self,
        group: int,
        work: Callable[[MemberEmitter], None],
        reads: Sequence[Places],
        same: Sequence[Places],
    ) -> None:
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
                member.know(members[0][0], same)
            for places in (*same, *reads):
                member.load(places)
            members.append((member, None if sure else b.line(f"icmp slt i32 {k}, {count}")))
        for member, goes in members:
            head = self.new_label("each")
            if goes is not None:
                self.branch_to(goes, f"{head}.work", f"{head}.over")
                self.begin(f"{head}.work")
            member.label = self.label
            work(member)
            self.label = member.label
            if goes is not None:
                b.lines.append(f"  br label %{head}.over")
                self.begin(f"{head}.over")

    def in_turn(
        self,
        group: int,
        work: Callable[[MemberEmitter], None],
        reads: Sequence[Places],
        same: Sequence[Places],
    ) -> None:
        """Emit a loop over this warp's members of a strided group.

        A round loads the values of the next member before it works on its own.
        """
        b, warps, count = self.lanes, self.plan.warps, self.plan.members[group - self.root]
        head, before = self.new_label("each"), self.label
        ahead = self.member(group, self.numbered(self.at_most("%warp", count - 1)))
        starts = [ahead.load(places) for places in reads]
        for places in same:
            ahead.load(places)
        at_start, known = ahead, ahead.ports_known()
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        first = len(b.lines)
        b.lines += [""] * (1 + len(reads))
        goes = b.line(f"icmp slt i32 %{head}.k, {count}")
        self.branch_to(goes, f"{head}.work", f"{head}.over")
        self.begin(f"{head}.work")
        b.lines.append(f"  %{head}.up = add i32 %{head}.k, {warps}")
        ahead = self.member(group, self.numbered(self.at_most(f"%{head}.up", count - 1)))
        ahead.bases = dict(known)
        nexts = [ahead.load(places) for places in reads]
        member = self.member(group, self.numbered(f"%{head}.k"))
        member.here = {places: f"%{head}.a{k}" for k, places in enumerate(reads)}
        member.know(at_start, same)
        member.bases = dict(known)
        work(member)
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
        return MemberEmitter(
            lanes, self.plan, self.ports, group, self.label, self.calls, self.apart, row
        )

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

    def hosted_units(self, units: list[Unit], depth: int, member: MemberEmitter) -> None:
        """Emit a member's blocks of a phase, and take next values that can be taken early."""
        member.units(units, depth)
        if self.inside is not None:
            rounds, over = self.inside
            made = [pair for pair in rounds.carried[member.group] if pair[1] in member.here]
            self.take([pair for pair in made if pair[1] in self.plan.early], over, member)

    def advance(self, part: Rounds, over: str) -> str:
        """End a round: carried values take their next values. Return whether a world goes on."""
        b, zero, end = self.lanes, self.lanes.const(0.0), part.end
        assert end.done is not None
        finishes = self.load(self.all(end.done[1]))
        ends = b.either(over, b.compare("une", finishes, zero))
        new = [
            (old, b.select(over, self.load(old), self.load(following)))
            for old, following in part.carried[self.group]
        ]
        if end.rounds is not None and self.is_host:
            rounds = self.load(self.all(end.rounds))
            more = b.add(rounds, b.const(1.0))
            new.append((self.all(end.rounds), b.select(over, rounds, more)))
        b.intrinsics.add("declare i32 @llvm.nvvm.barrier0.or(i32)")
        left = b.line(f"zext i1 {b.invert(ends)} to i32")
        any_left = b.line(f"call i32 @llvm.nvvm.barrier0.or(i32 {left})")
        goes_on = b.line(f"icmp ne i32 {any_left}, 0")  # and the others have read the old ones
        for places, value in new:
            self.store(value, places)
        for group, pairs in enumerate(part.carried):
            late = [pair for pair in pairs if pair[1] not in self.plan.early]
            if late and group >= self.root:
                self.hosted(group, partial(self.take, late, over), (), len(late))
        self.store(b.select(ends, b.const(1.0), zero), self.all(end.done[0]))
        b.lines.append(BARRIER)
        return goes_on

    def take(self, pairs: list[tuple[Places, Places]], over: str, member: MemberEmitter) -> None:
        """Let a member's carried values take their next values."""
        for old, new in pairs:
            value = member.lanes.select(over, member.load(old), member.load(new))
            member.store(value, old)

    def begin_commit(self, commit: Commit) -> tuple[str, str]:
        """Store in shared memory whether this warp group's next values are finite.

        Return the step in which the world failed, and its clock.
        """
        b = self.lanes.careful()
        failed = self.load(self.all(Place(FAILED, 0)))
        total = b.const(0.0)
        for _, following in self.plan.memory[self.group]:
            total = b.fma(b.const(0.0), self.load(following), total)
        if commit.failure is not None and self.is_host:
            fails = b.compare("une", self.load(self.all(commit.failure)), b.const(0.0))
            total = b.select(fails, b.const(float("nan")), total)
        first = self.plan.finite_slot + sum(self.plan.sizes[: self.group])
        slots = [first + k for k in range(self.size)]
        self.to_shared(total, slots)
        for group in self.hosted_memory():
            self.hosted(group, partial(self.add_finite, slots), *self.following(group))
        clock = self.load(self.all(Place(CLOCK, 0)))
        return failed, clock

    def hosted_memory(self) -> list[int]:
        """Return the groups without warps that have memory."""
        return [k for k, own in enumerate(self.plan.memory) if own and k >= self.root]

    def following(self, group: int) -> tuple[list[Places], int]:
        """Return the next values of a strided group's memory, and their number."""
        found = [following for _, following in self.plan.memory[group]]
        return [w for w in found if self.is_far(group, w)], len(found)

    def add_finite(self, slots: list[int], member: MemberEmitter) -> None:
        """Check whether a member's next values are finite, too."""
        b, total = member.lanes.careful(), self.from_shared(slots)
        for _, following in self.plan.memory[member.group]:
            total = b.fma(b.const(0.0), member.load(following), total)
        self.to_shared(total, slots)

    def end_commit(self, failed: str, clock: str) -> None:
        """Take the next values if those of every warp are finite."""
        b, zero = self.lanes.careful(), self.lanes.const(0.0)
        total = zero
        for warp in range(self.plan.warps):
            total = b.add(total, self.from_shared([self.plan.finite_slot + warp] * self.size))
        finite = b.compare("oeq", total, zero)
        alive = b.compare("olt", failed, zero)
        keeps = b.both(alive, finite)
        values = [(old, self.load(new)) for old, new in self.plan.memory[self.group]]
        if self.is_host:
            fails = b.both(alive, b.invert(finite))
            self.store(b.select(fails, clock, failed), self.all(Place(FAILED, 0)))
            values.append((self.all(Place(CLOCK, 0)), b.add(clock, b.const(1.0))))
        kept = f"w{self.group}kept"
        b.lines.append(f"  br i1 {keeps}, label %{kept}, label %{kept}.over")
        self.begin(kept)
        for places, value in values:
            self.store(value, places)
        for group in self.hosted_memory():
            self.hosted(group, self.take_memory, *self.following(group))
        b.lines.append(f"  br label %{kept}.over")
        self.begin(f"{kept}.over")

    def take_memory(self, member: MemberEmitter) -> None:
        """Let a member's memory take its next values."""
        for old, new in self.plan.memory[member.group]:
            member.store(member.load(new), old)
