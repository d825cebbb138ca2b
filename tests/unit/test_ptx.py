"""PTX of programs, as far as it can be checked without a GPU: its instructions and schedules.

That a GPU's worlds have the CPU's bits was measured; benchmarks/gpu.md has the figures.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import heelstrike as hs
from heelstrike.codegen.cuda.module import Ptx
from heelstrike.codegen.cuda.planner import MAX_SHARED, SHARED, schedule
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.codegen.cuda.registers import limb_registers, resident_slices, slices_in_step
from heelstrike.codegen.cuda.schedule import Rounds, Segment, loops, segments, work
from heelstrike.errors import ProgramError
from heelstrike.ir.code import Code, flatten
from heelstrike.robot import load
from heelstrike.runtime.cuda.kernel import CudaKernel
from tests import gripper
from tests.flight import flight
from tests.models import data_file
from tests.unit.test_rollout import oscillator, points, roots, runaway


@pytest.mark.parametrize("make", [oscillator, runaway, roots, points])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_ptx_rounds_every_operation(make, dtype):
    """Every sum and product says .rn, so ptxas may not fuse; nothing is approximate or flushed,
    but for the start of correctly rounded sequences (test_gpu_rounding.py).
    """
    text = make_ptx(make(), dtype=dtype).text
    check_exact(text, dtype)
    assert f".entry {make().name}(" in text


@pytest.mark.parametrize(("mapping", "registers"), [("world", 128), ("part", 255)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_ptx_of_a_robot(dtype, mapping, registers):
    ptx = make_ptx(flight(load("hoap1", collide="feet")), dtype=dtype, mapping=mapping)
    check_exact(ptx.text, dtype)
    limited = mapping == "part" or dtype == "float32"
    assert (f".maxnreg {registers}" in ptx.text) == limited
    assert ("bar.sync" in ptx.text or "barrier.sync" in ptx.text) == (mapping == "part")


@pytest.mark.parametrize(
    ("name", "warps"), [("hoap1", [2, 2]), ("hrp2", [2, 1, 2]), ("biped14", [2])]
)
def test_every_limb_gets_a_warp(name, warps):
    """Two legs, two arms, a head; those that do the same form a warp group. The root block is
    hosted.
    """
    program = flight(load(name, collide="feet")).trace()
    plan = schedule(program)
    assert plan is not None
    assert plan.sizes == warps
    check_order(program.step, plan)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("law", [hs.Elastic(), pytest.param(hs.Rigid(), marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", [pytest.param("hrp2", marks=pytest.mark.nightly), "hoap1"])
def test_a_block_finds_its_registers_and_shared_memory(name, law, dtype):
    """A multiprocessor of Hopper: 65,536 registers, 16,384 a quarter, and 227 kB of shared memory.
    hrp2 has five warps, which do not go over four quarters alike.
    """
    sim = hs.Simulator(hs.Scene(load(name, collide="feet"), hs.Plane(law=law)), control=hs.Servo())
    check_resources(make_ptx(sim.program, [], dtype))


def test_bodies_that_touch_one_another():
    """A gripper and a cube: two fingers, the slide that carries them, and a free body."""
    program = gripper.simulator(few=True, dtype="float32").program
    ptx = make_ptx(program, [], "float32")
    check_exact(ptx.text, "float32")
    check_resources(ptx)
    traced = program.trace([])
    plan = schedule(traced)
    assert plan is not None
    assert [part.loop.name for part, _, _ in loops(plan.parts)] == ["swept"]
    check_carried(plan)
    check_order(traced.step, plan)


@pytest.mark.nightly
def test_a_slice_that_takes_most_of_the_shared_memory_is_alone():
    """Closed loops in float64 take more than half of it."""
    scene = hs.Scene(load(data_file("robots/cassie.xml"), collide="feet"), hs.Plane(hs.Rigid()))
    program = hs.Simulator(scene).program
    ptx = make_ptx(program, [], "float64")
    assert ptx.shared > SHARED
    assert ptx.tiles == 1
    check_resources(ptx)
    assert make_ptx(program, [], "float64", arch="sm_80").shared == 0  # less: a thread per world


def check_resources(ptx):
    (registers,) = map(int, re.findall(r"\.maxnreg (\d+)", ptx.text))
    warps = ptx.threads * ptx.tiles // 32
    assert warps > 1
    assert -(-warps // 4) * 32 * registers <= 16_384
    assert ptx.shared * ptx.tiles <= MAX_SHARED


def test_the_rounds_of_a_servo_go_over_warps():
    """A loop in the middle; carried values stay where they are computed. Limbs do for their joints
    what every step does; the search for torques under a guard is a strided group.
    """
    scene = hs.Scene(load("hoap1", collide="feet"), hs.Plane())
    traced = hs.Simulator(scene, control=hs.Servo()).program.trace([])
    plan = schedule(traced)
    assert plan is not None
    assert [type(part) for part in plan.parts] == [Segment, Rounds, Segment]
    work = [
        [
            sum(unit.size for s in segments([part]) for row in s.phases for unit in row[group])
            for part in plan.parts
        ]
        for group in range(len(plan.sizes) + len(plan.members))
    ]
    _, leg, root, turns, joints = work
    assert min(leg) > 100
    assert max(leg) == leg[1]
    assert 10 < root[0] < 100 < min(root[1:])  # after the rounds, the base in flight
    assert turns[0] == turns[1] == 0 < turns[2]  # turned again after the rounds, in flight
    assert joints[0] < joints[2] < 20 < 200 < joints[1]
    assert plan.members == [1, 20, 20]
    assert plan.loops
    guarded = sum(
        unit.size
        for s in segments(plan.parts)
        for row in s.phases
        for own in row
        for unit in own
        if unit.needs
    )
    assert guarded > 3000
    assert plan.size == sum(map(sum, work)) - guarded  # which stands apart
    check_carried(plan)
    check_order(traced.step, plan)
    assert schedule(traced, size=10**4) is None  # no shared memory is that large


OF_BODIES = {
    *("need of pass", "need of accepted", "force", "left", "coupled loads"),
    *("contact power", "impulse", "peaks"),
}
"""Kinds of blocks that belong to the limbs of bodies that touch, not to the root block."""


@pytest.mark.parametrize(
    "law", [pytest.param(hs.Rigid(), marks=pytest.mark.nightly), hs.MicroMacro()]
)
def test_coupled_laws_go_over_warps(law):
    """One loop of Newton's rounds for contacts and joints; joints are strided groups."""
    scene = hs.Scene(load("hoap1", collide="feet"), hs.Plane(law=law))
    traced = hs.Simulator(scene, control=hs.Servo()).program.trace([])
    plan = schedule(traced)
    assert plan is not None
    assert plan.sizes == [2, 2]  # legs are packed, and arms
    assert plan.members == [1, 20, 8, 20, 26]
    assert [part.loop.name for part, _, _ in loops(plan.parts)] == ["swept"]
    root = {unit.codes[0].tag.kind for _, group, unit in work(plan.parts) if group == 2}
    assert root.isdisjoint(OF_BODIES)
    check_carried(plan)
    check_order(traced.step, plan)


@pytest.mark.parametrize(
    ("size", "in_memory", "shared", "slices"),
    [
        (3_000, False, 60_000, 3),
        (30_000, False, 40_000, 2),
        (130_000, True, 100_000, 2),
        (130_000, True, 60_000, 3),
        (130_000, True, 30_000, 4),
    ],
)
def test_slices_fit_into_a_multiprocessor(size, in_memory, shared, slices):
    """Its 65,536 registers and 228 kB of shared memory, of which a block takes one for itself."""
    assert resident_slices(size, in_memory, shared) == slices
    assert slices * 4 * 32 * limb_registers(4, slices) <= 65_536
    assert slices * (shared + 1024) <= 228 * 1024
    assert slices_in_step(size, True, slices, shared) == (2 if slices == 2 else 1)


def check_carried(plan):
    """Loops carry every value exactly once, by one group."""
    for rounds, _, _ in loops(plan.parts):
        pairs = [
            pair
            for own in rounds.carried
            for old, new in own
            for pair in zip(old, new, strict=True)
        ]
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == set(rounds.end.carried)


def check_order(step, plan):
    """Every block is scheduled; readers follow what they read, behind a barrier and through shared
    memory if another group computes it.
    """
    done = set()
    for segment in segments(plan.parts):
        for row in segment.phases:
            own = [set() for _ in row]
            for group, units in enumerate(row):
                for unit in units:
                    for places in unit.read:
                        for member, place in enumerate(places):
                            made = {(p, m) for p, m, _ in done | own[group] if p == place}
                            if not made or (place, member, group) in done | own[group]:
                                continue
                            assert place in {p for p, _, _ in done}
                            assert place in plan.slots
                    own[group] |= {(p, m, group) for w in unit.written for m, p in enumerate(w)}
            done = done.union(*own)
    codes = [part for item in step for part in flatten(item) if isinstance(part, Code)]
    written = {place for place, _, _ in done}
    assert all(place in written for code in codes for place in code.writes)
    assert plan.address_slot == max(plan.slots.values()) + 1 + plan.warps
    assert plan.ports <= 16 * (plan.values - plan.address_slot)
    check_slots(plan)


def check_slots(plan):
    """A slot holds the value that its reader expects, in two rounds of each loop."""
    held = {}
    walk(plan, plan.parts, held)
    inputs = [plan.slots[p] for own in plan.inputs for places in own for p in set(places)]
    assert not set(inputs) & held.keys()


def walk(plan, parts, held):
    for part in parts:
        if isinstance(part, Rounds):
            carried = {place for own in part.carried for old, _ in own for place in old}
            for _ in range(2):
                walk(plan, part.parts, held)
                held |= {plan.slots[place]: place for place in plan.slots.keys() & carried}
            continue
        for row in part.phases:
            new = {}
            for unit in (unit for units in row for unit in units):
                for place in plan.slots.keys() & set(unit.reads):
                    given = place.array is not None  # an input, there from the beginning
                    slot = plan.slots[place]
                    assert given or place in (held.get(slot), new.get(slot))
                for place in plan.slots.keys() & set(unit.writes):
                    assert new.setdefault(plan.slots[place], place) == place
            held |= new


def test_programs_without_limbs_take_a_thread_per_world():
    assert make_ptx(flight(load("cube"))).tiles == 2
    assert make_ptx(points()).tiles == 2
    assert make_ptx(flight(load("hoap1", collide="feet"))).tiles == 1
    with pytest.raises(ProgramError, match="use mapping='world'"):
        make_ptx(points(), mapping="part")
    with pytest.raises(ProgramError, match="mapping is 'block'; allowed"):
        make_ptx(points(), mapping="block")


def check_exact(text, dtype):
    bits, text = dtype[-2:], re.sub(r"\{\n\t\.reg \.b32 scale,[^}]*\}", "", text)
    instructions = set(re.findall(rf"^\s+([a-z][a-z.]*\.f{bits})\s", text, re.MULTILINE))
    assert instructions
    for name in instructions:
        assert "approx" not in name
        assert "ftz" not in name
        if name.split(".")[0] in ("add", "sub", "mul", "fma", "rcp", "div", "sqrt"):
            assert ".rn." in name, name


@pytest.mark.parametrize("mapping", ["world", "part"])
@pytest.mark.parametrize("math", ["exact", "fast"])
def test_every_next_value_is_looked_at_for_nan(math, mapping):
    """0 x is 0, or NaN: once for each value of the memory, once for those of packed blocks."""
    program = flight(load("biped14", collide="feet"))
    ptx = make_ptx(program, math=math, mapping=mapping)
    own = [port for port in ptx.layout.memory if port.name not in ("clock", "failed")]
    values = sum(port.size for port in own)
    looks = len(re.findall(r"fma\.rn(?:\.ftz)?\.f32\s+%\w+, %\w+, 0f00000000, ", ptx.text))
    assert looks == (values if mapping == "world" else values - 14)  # joints of one leg: q and v


def test_fast_ptx_is_another_thing():
    text = make_ptx(flight(load("hoap1", collide="feet")), math="fast").text
    assert ".ftz." in text
    assert "approx" in text


def test_misuse_is_a_sentence():
    with pytest.raises(ProgramError, match="math is 'wild'; allowed: 'exact', 'fast'"):
        make_ptx(oscillator(), math="wild")
    with pytest.raises(ProgramError, match="dtype is 'float16'; allowed: float64, float32"):
        make_ptx(oscillator(), dtype="float16")
    with pytest.raises(ProgramError, match="arch is 'hopper'; allowed: 'sm_'"):
        make_ptx(oscillator(), arch="hopper")


def test_saved_ptx_carries_its_layout(tmp_path):
    ptx = make_ptx(points())
    ptx.save(tmp_path / "points.ptx")
    loaded = Ptx.load(tmp_path / "points.ptx")
    assert loaded.text == ptx.text
    assert loaded.layout.as_dict() == ptx.layout.as_dict()
    (tmp_path / "other.ptx").write_text(ptx.text)
    with pytest.raises(ProgramError, match="not a PTX file of Heelstrike"):
        Ptx.load(tmp_path / "other.ptx")
    with pytest.raises(ProgramError, match="cannot read"):
        Ptx.load(tmp_path / "none.ptx")


def test_the_gpu_side_imports_no_tracer():
    code = "import heelstrike.runtime.cuda.kernel, sys; sys.exit('casadi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_gpu_is_a_sentence():
    try:
        from cuda.bindings import driver

        if driver.cuInit(0)[0] == 0:
            pytest.skip("there is a GPU here")
    except ImportError:
        pass
    with pytest.raises(ProgramError, match=r"cuda-core|no usable GPU"):
        CudaKernel(make_ptx(oscillator()))
