"""Code of one warp group on a GPU with a warp per limb: a block slice computes 32 worlds.

planner.py decides which warp does what, and where a barrier stands between. All warps of a block
slice compute the same worlds, so all make the same rounds of a loop. Work of groups without warps
(hosted_code.py) goes through memory from phase to phase: shared memory, or local memory for values
that only the member itself reads. That of a strided group is a function that all warp groups call
(apart.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from heelstrike.codegen.cuda.apart import Argument
from heelstrike.codegen.cuda.hosted_code import HostedEmitter, MemberWork
from heelstrike.codegen.cuda.member_code import MemberEmitter
from heelstrike.codegen.cuda.schedule import Part, Rounds, Segment
from heelstrike.codegen.cuda.units import Places, Unit
from heelstrike.ir.code import CLOCK, FAILED, Commit, Place

BARRIER = "  call void @llvm.nvvm.barrier0()"


class WarpGroupEmitter(HostedEmitter):
    """Emits the code of one warp group, and of its share of the strided groups."""

    inside: tuple[Rounds, str] | None = None
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
                self.hosted(self.root, MemberWork(partial(self.hosted_units, units, 0)))
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
        inside = self.inside
        if inside is not None and not self.plan.early.isdisjoint(
            new for _, new in inside[0].carried[group]
        ):
            arguments.append(Argument("i1", "%over", inside[1]))

        def code() -> list[str]:
            lanes = self.lanes.elsewhere("%none")  # each member brings its own number
            inner = WarpGroupEmitter(
                lanes, self.plan, self.ports, self.group, self.tables, self.calls, self.apart
            )
            inner.is_apart, inner.label = True, "entry"
            inner.inside = None if inside is None else (inside[0], "%over")
            emit, size = partial(inner.hosted_units, units, depth), sum(unit.size for unit in units)
            ahead, once = inner.read_ahead(group, units), inner.read_once(units)
            inner.hosted(group, MemberWork(emit, size, ahead, once))
            return lanes.lines

        self.lanes.lines.append(self.apart.call(arguments, code, id(units)))

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
                self.hosted(group, MemberWork(partial(self.take, late, over), len(late)))
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
            self.hosted(group, self.commit_work(group, partial(self.add_finite, slots)))
        clock = self.load(self.all(Place(CLOCK, 0)))
        return failed, clock

    def hosted_memory(self) -> list[int]:
        """Return the groups without warps that have memory."""
        return [k for k, own in enumerate(self.plan.memory) if own and k >= self.root]

    def commit_work(self, group: int, emit: Callable[[MemberEmitter], None]) -> MemberWork:
        """Return work on the next values of a group's memory."""
        found = [following for _, following in self.plan.memory[group]]
        return MemberWork(emit, len(found), [w for w in found if self.is_far(group, w)])

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
            self.hosted(group, self.commit_work(group, self.take_memory))
        b.lines.append(f"  br label %{kept}.over")
        self.begin(f"{kept}.over")

    def take_memory(self, member: MemberEmitter) -> None:
        """Let a member's memory take its next values."""
        for old, new in self.plan.memory[member.group]:
            member.store(member.load(new), old)
