"""PTX of programs, as far as it can be judged without a GPU: what its instructions may be.

That a GPU's worlds have the CPU's bits was measured; benchmarks/gpu.md has the figures.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import heelstrike as hs
from heelstrike.compile.code import Code, inner
from heelstrike.compile.cuda import CudaKernel, Ptx
from heelstrike.compile.gpu_schedule import schedule
from heelstrike.compile.ptx import make_ptx
from heelstrike.dynamics.flight import flight
from heelstrike.errors import ProgramError
from heelstrike.robot import load
from tests.unit.test_rollout import oscillator, points, roots, runaway


@pytest.mark.parametrize("make", [oscillator, runaway, roots, points])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_ptx_rounds_every_operation(make, dtype):
    """Every sum and product says .rn, so ptxas may not fuse; nothing is approximate or flushed."""
    text = make_ptx(make(), dtype=dtype).text
    check_exact(text, dtype)
    assert f".entry {make().name}(" in text


@pytest.mark.parametrize(("mapping", "registers"), [("world", 128), ("part", 168)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_ptx_of_a_robot(dtype, mapping, registers):
    ptx = make_ptx(flight(load("hoap1")), dtype=dtype, mapping=mapping)
    check_exact(ptx.text, dtype)
    assert (f".maxnreg {registers}" in ptx.text) == (dtype == "float32")
    assert ("bar.sync" in ptx.text or "barrier.sync" in ptx.text) == (mapping == "part")


@pytest.mark.parametrize(("name", "warps"), [("hoap1", 4), ("hrp2", 5), ("biped14", 2)])
def test_every_limb_gets_a_warp(name, warps):
    """Two legs, two arms, a head."""
    program = flight(load(name)).trace()
    plan = schedule(program)
    assert plan is not None
    assert plan.warps == warps
    check_order(program.step, plan)


def test_the_rounds_of_a_servo_go_over_warps():
    """A loop in the middle: each of its blocks once, and what it carries where it is computed."""
    scene = hs.Scene(load("hoap1"), hs.Plane())
    traced = hs.Simulator(scene, control=hs.Servo()).program.trace([])
    plan = schedule(traced)
    assert plan is not None
    assert [segment.loop is not None for segment in plan.segments] == [False, True, False]
    work = [sum(code.size for row in s.phases for code in row[2]) for s in plan.segments]
    assert all(size > 100 for size in work)  # a leg's warp works before, in and after the loop
    end = plan.segments[1].advance
    assert all(plan.owner[old] == plan.owner[new] for old, new in end.carried)
    assert len({plan.owner[old] for old, _ in end.carried}) == plan.warps
    check_order(traced.step, plan)
    assert schedule(traced, size=10**4) is None  # no shared memory is that large


def check_order(step, plan):
    """Every block in one warp (a loop's start in all), readers after the barrier they need."""
    placed = {}
    for number, segment in enumerate(plan.segments):
        for phase, row in enumerate(segment.phases):
            for warp, codes in enumerate(row):
                for k, code in enumerate(codes):
                    placed.setdefault(id(code), []).append(((number, phase), warp, k))
    codes = [part for item in step for part in inner(item) if isinstance(part, Code)]
    assert set(placed) == {id(code) for code in codes}
    made = {place: placed[id(code)] for code in codes for place in code.writes}
    for code in codes:
        for phase, warp, k in placed[id(code)]:
            for place in code.reads:
                if place not in made or len(made[place]) > 1:
                    continue
                ((before, other, n),) = made[place]
                if other == warp:
                    assert (before, n) < (phase, k)
                else:
                    assert before < phase
                    assert place in plan.crossing


def test_programs_without_limbs_take_a_thread_a_world():
    assert make_ptx(flight(load("cube"))).tiles == 2
    assert make_ptx(points()).tiles == 2
    assert make_ptx(flight(load("hoap1"))).tiles == 1
    with pytest.raises(ProgramError, match="use mapping='world'"):
        make_ptx(points(), mapping="part")
    with pytest.raises(ProgramError, match="mapping is"):
        make_ptx(points(), mapping="block")


def check_exact(text, dtype):
    bits = dtype[-2:]
    instructions = set(re.findall(rf"^\s+([a-z][a-z.]*\.f{bits})\s", text, re.MULTILINE))
    assert instructions
    for name in instructions:
        assert "approx" not in name
        assert "ftz" not in name
        if name.split(".")[0] in ("add", "sub", "mul", "fma", "rcp", "div", "sqrt"):
            assert ".rn." in name, name


def test_fast_ptx_is_another_thing():
    text = make_ptx(flight(load("hoap1")), math="fast").text
    assert ".ftz." in text
    assert "approx" in text


def test_misuse_is_a_sentence():
    with pytest.raises(ProgramError, match="math is 'exact' or 'fast', not 'wild'"):
        make_ptx(oscillator(), math="wild")
    with pytest.raises(ProgramError, match="no number type 'float16'"):
        make_ptx(oscillator(), dtype="float16")


def test_saved_ptx_carries_its_layout(tmp_path):
    ptx = make_ptx(points())
    ptx.save(tmp_path / "points.ptx")
    loaded = Ptx.load(tmp_path / "points.ptx")
    assert loaded.text == ptx.text
    assert loaded.layout.as_dict() == ptx.layout.as_dict()
    (tmp_path / "other.ptx").write_text(ptx.text)
    with pytest.raises(ProgramError, match="no PTX of Heelstrike"):
        Ptx.load(tmp_path / "other.ptx")
    with pytest.raises(ProgramError, match="cannot be read"):
        Ptx.load(tmp_path / "none.ptx")


def test_the_gpu_side_imports_no_tracer():
    code = "import heelstrike.compile.cuda, sys; sys.exit('casadi' in sys.modules)"
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
