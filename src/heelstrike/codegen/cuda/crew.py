"""A crew's code on a GPU with a warp a limb: a block holds 32 worlds, each warp works on one limb.

schedule.py says which warp does what, and when a barrier stands between. All warps of a block
see the same worlds, so all make the same rounds of a loop. The members of a swarm are shared out
among all warps: each crew has the swarm's code, in a loop over the members that are its warp's. The
hub is worked on by the first warp of one crew. What hub and swarms make goes through memory from
phase to phase, shared or, of what only a member itself reads, its thread's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from heelstrike.codegen.cuda.crews import Places
from heelstrike.codegen.cuda.member import Member, MemberLanes, Tables
from heelstrike.codegen.cuda.plan import Part, Rounds, Schedule, Segment
from heelstrike.ir.code import CLOCK, FAILED, Commit, PackedCode, Place

BARRIER = "  call void @llvm.nvvm.barrier0()"


class Crew(Member):
    """The code of one crew, and of its share of the swarms."""

    def __init__(
        self,
        lanes: MemberLanes,
        plan: Schedule,
        ports: dict[str, str],
        crew: int,
        tables: list[Tables],
    ) -> None:
        super().__init__(lanes, plan, ports, crew)
        self.tables = tables
        self.hub = len(plan.sizes)
        self.is_host = crew == plan.host
        self.label = f"crew{crew}"
        self.inside: tuple[Rounds, str] | None = None
        """The loop that is open, and whether a world was done before this round."""

    def begin(self, label: str) -> None:
        """A stretch of code that may be jumped to."""
        self.lanes.lines.append(f"{label}:")
        self.label = label

    # work

    def part(self, part: Part) -> None:
        """Its phases, once or round by round."""
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
        """What this crew carries itself: its own values, and whether a world is done."""
        end = rounds.end
        assert end.done is not None
        count = [self.all(end.rounds)] if end.rounds and self.is_host else []
        return [*(old for old, _ in rounds.carried[self.group]), *count, self.all(end.done[0])]

    def phases(self, segment: Segment) -> None:
        for row in segment.phases:
            for unit in row[self.group]:
                self.unit(unit)
            for group in range(self.hub, len(row)):
                if units := row[group]:
                    self.guest(group, partial(self.shared, units))
            self.lanes.lines.append(BARRIER)
            self.forget()

    def guest(self, group: int, work: Callable[[Member], None]) -> None:
        """Work of a group that has no warps: the hub's, if this crew is its host, or a swarm's."""
        b, head, hub = self.lanes, f"{self.lanes.prefix}each{len(self.lanes.lines)}", self.hub
        if group == hub and not self.is_host:
            return
        before = self.label
        b.lines.append(f"  br label %{head}")
        self.begin(head)
        if group == hub:
            goes, number, ends = b.line(f"icmp eq i64 {b.number}, 0"), "0", []
            back = f"  br label %{head}.over"
        else:  # every n-th member, from the warp's number on
            again = f"[ %{head}.up, %{head}.work ]"
            b.lines.append(f"  %{head}.k = phi i32 [ %warp, %{before} ], {again}")
            goes = b.line(f"icmp slt i32 %{head}.k, {self.plan.members[group - hub]}")
            # opaque, or LLVM keeps a pointer for every place
            own = b.line(f'call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 %{head}.k)')
            number = b.line(f"zext i32 {own} to i64")
            ends = [f"  %{head}.up = add i32 %{head}.k, {self.plan.warps}"]
            back = f"  br label %{head}, !llvm.loop !0"
        b.lines.append(f"  br i1 {goes}, label %{head}.work, label %{head}.over")
        self.begin(f"{head}.work")
        lanes = MemberLanes(b.real, b.flags, b.prefix, self.tables[group], number, b.lines)
        lanes.intrinsics = b.intrinsics
        work(Member(lanes, self.plan, self.ports, group))
        b.lines += [*ends, back]
        self.begin(f"{head}.over")

    def shared(self, units: list[PackedCode], member: Member) -> None:
        """A member's blocks of a phase."""
        for unit in units:
            member.unit(unit)
        if self.inside is not None:
            rounds, over = self.inside
            made = [pair for pair in rounds.carried[member.group] if pair[1] in member.here]
            self.take([pair for pair in made if pair[1] in self.plan.soon], over, member)

    def advance(self, part: Rounds, over: str) -> str:
        """Ends a round: carried values take their next ones; whether a world goes on."""
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
            late = [pair for pair in pairs if pair[1] not in self.plan.soon]
            if late and group >= self.hub:
                self.guest(group, partial(self.take, late, over))
        self.store(b.select(ends, b.const(1.0), zero), self.all(end.done[0]))
        b.lines.append(BARRIER)
        return goes_on

    def take(self, pairs: list[tuple[Places, Places]], over: str, member: Member) -> None:
        """A member's carried values take their next ones."""
        for old, new in pairs:
            value = member.lanes.select(over, member.load(old), member.load(new))
            member.store(value, old)

    def begin_commit(self, commit: Commit) -> tuple[str, str]:
        """Says in shared memory whether this crew's next values are sound; returns when the world
        failed, and its clock.
        """
        b = self.lanes.careful()
        failed = self.load(self.all(Place(FAILED, 0)))
        total = b.const(0.0)
        for _, following in self.plan.memory[self.group]:
            total = b.fma(b.const(0.0), self.load(following), total)
        if commit.failure is not None and self.is_host:
            fails = b.compare("une", self.load(self.all(commit.failure)), b.const(0.0))
            total = b.select(fails, b.const(float("nan")), total)
        first = self.plan.sound + sum(self.plan.sizes[: self.group])
        slots = [first + k for k in range(self.size)]
        self.to_shared(total, slots)
        for group in self.remembering():
            self.guest(group, partial(self.look, slots))
        clock = self.load(self.all(Place(CLOCK, 0)))
        return failed, clock

    def remembering(self) -> list[int]:
        """Groups without warps that have memory."""
        return [k for k, own in enumerate(self.plan.memory) if own and k >= self.hub]

    def look(self, slots: list[int], member: Member) -> None:
        """Whether a member's next values are sound, too."""
        b, total = member.lanes.careful(), self.from_shared(slots)
        for _, following in self.plan.memory[member.group]:
            total = b.fma(b.const(0.0), member.load(following), total)
        self.to_shared(total, slots)

    def end_commit(self, failed: str, clock: str) -> None:
        """Takes the next values, if every warp's are sound."""
        b, zero = self.lanes.careful(), self.lanes.const(0.0)
        total = zero
        for warp in range(self.plan.warps):
            total = b.add(total, self.from_shared([self.plan.sound + warp] * self.size))
        sound = b.compare("oeq", total, zero)
        alive = b.compare("olt", failed, zero)
        keeps = b.both(alive, sound)
        values = [(old, self.load(new)) for old, new in self.plan.memory[self.group]]
        if self.is_host:
            fails = b.both(alive, b.invert(sound))
            self.store(b.select(fails, clock, failed), self.all(Place(FAILED, 0)))
            values.append((self.all(Place(CLOCK, 0)), b.add(clock, b.const(1.0))))
        kept = f"w{self.group}kept"
        b.lines.append(f"  br i1 {keeps}, label %{kept}, label %{kept}.over")
        self.begin(kept)
        for places, value in values:
            self.store(value, places)
        for group in self.remembering():
            self.guest(group, self.remember)
        b.lines.append(f"  br label %{kept}.over")
        self.begin(f"{kept}.over")

    def remember(self, member: Member) -> None:
        """A member's memory takes its next values."""
        for old, new in self.plan.memory[member.group]:
            member.store(member.load(new), old)
