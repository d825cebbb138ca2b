"""Memory, steps, recording, failure, loops and tables, against numpy; and the same bits
whatever the lanes, chunks, threads and recordings.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.llvm import emit
from heelstrike.codegen.real import FLOAT64
from heelstrike.errors import ProgramError
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.threads import MIN_TILES, PIECES_PER_THREAD

SX = ca.SX
PIECES = 2 * PIECES_PER_THREAD * MIN_TILES
"""Tiles of which two threads take as many pieces as they ever do."""
WIDTHS = [1, 2, 4, 8]
RNG = np.random.default_rng(0)


def oscillator() -> Program:
    """z'' = -k z with symplectic Euler, its largest height, its path and when it first fell."""
    p = Program("oscillator")
    z, v = p.memory("z", 1, initial=1.0), p.memory("v", 1)
    k, dt = p.input("k", 1), p.input("dt", 1)
    with p.block("step"):
        new_v = p.let("v", v - k * z * dt)
        p.update("v", new_v)
        p.update("z", z + new_v * dt)
        p.update_max("top", z)
        p.update_sum("path", ca.fabs(new_v) * dt)
        p.update_first("fell", z < 0)
    with p.block("record"):
        p.output("height", z)
        p.output("energy", k * z**2 / 2 + v**2 / 2)
    return p


def simulate(k, dt, steps):
    """The same in numpy; fused multiply-adds make the last bits differ."""
    z, v = np.ones_like(k), np.zeros_like(k)
    heights, path = [], np.zeros_like(k)
    for _ in range(steps):
        heights.append(z)
        v = v - k * z * dt
        path = path + np.abs(v) * dt
        z = z + v * dt
    return np.array(heights), z, v, path


def test_rollout_against_numpy():
    k = RNG.uniform(1, 100, size=(13, 1))
    batch = compile_program(oscillator()).batch(13)
    batch.set(k=k, dt=[1e-2])
    batch.run(steps=200)
    heights, z, v, path = simulate(k, 1e-2, 200)
    # 200 steps of rounding, of values about 1 (v up to 10)
    assert np.allclose(batch.get("height")[..., 0], heights[..., 0].T, rtol=0, atol=1e-12)
    assert np.allclose(batch.get("z"), z, rtol=0, atol=1e-12)
    assert np.allclose(batch.get("v"), v, rtol=0, atol=1e-11)
    assert np.allclose(batch.get("path"), path, rtol=0, atol=1e-11)
    assert np.allclose(batch.get("top")[:, 0], heights.max(axis=0)[:, 0], rtol=0, atol=1e-12)
    assert np.array_equal(batch.get("fell")[:, 0], (heights < 0).argmax(axis=0)[:, 0])
    assert np.array_equal(batch.get("clock"), np.full((13, 1), 200.0))
    assert np.array_equal(batch.get("failed"), np.full((13, 1), -1.0))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_chunks_lanes_and_threads_give_the_same_bits(width, threads, chunk):
    k = RNG.uniform(1, 100, size=(21, 1))
    batches = []
    for w, t, c in ((1, 1, 1000), (width, threads, chunk)):
        batch = compile_program(oscillator(), width=w).batch(21)
        batch.set(k=k, dt=[1e-2])
        heights = []
        for start in range(0, 1000, c):
            batch.run(steps=min(c, 1000 - start), threads=t)
            heights.append(batch.get("height"))
        batches.append((batch.state(), np.concatenate(heights, axis=1)))
    for name, value in batches[0][0].items():
        assert np.array_equal(value, batches[1][0][name]), name
    assert np.array_equal(batches[0][1], batches[1][1])


@pytest.mark.parametrize("worlds", [PIECES, PIECES + 5, 300])
def test_each_piece_of_a_batch_is_stepped_once(worlds):
    """Many pieces on two threads, as on one."""
    k = RNG.uniform(1, 100, size=(worlds, 1))
    ends = []
    for threads in (1, 2):
        batch = compile_program(oscillator(), width=1).batch(worlds)
        batch.set(k=k, dt=[1e-2])
        batch.run(steps=30, threads=threads)
        ends.append(batch.state())
    for name, value in ends[0].items():
        assert np.array_equal(value, ends[1][name]), name


def test_one_step_after_threads_that_recorded_nothing():
    """A single step makes room for its record, whatever the threads before it left."""
    batch, alone = (compile_program(oscillator(), width=4).batch(9) for _ in range(2))
    for one, threads in ((batch, 2), (alone, 1)):
        one.set(k=[9.0], dt=[1e-2])
        one.run(steps=1, every=10, threads=threads)
        one.run(steps=4, every=10, threads=threads)
        one.run()
    assert batch.get("height").shape == (9, 1, 1)
    assert np.array_equal(batch.get("height"), alone.get("height"))


def test_recording_changes_no_bits_and_decimates():
    k = RNG.uniform(1, 100, size=(9, 1))
    ends, records = [], {}
    for every in (1, 10, 7):
        batch = compile_program(oscillator()).batch(9)
        batch.set(k=k, dt=[1e-2])
        parts = []
        for chunk in (33, 50, 17):
            batch.run(steps=chunk, every=every)
            parts.append(batch.get("height"))
        records[every] = np.concatenate(parts, axis=1)
        ends.append(batch.state())
    quiet = compile_program(oscillator(), outputs=[]).batch(9)
    quiet.set(k=k, dt=[1e-2])
    quiet.run(steps=100)
    for state in ends:
        for name, value in quiet.state().items():
            assert np.array_equal(value, state[name]), name
    assert np.array_equal(records[10], records[1][:, ::10])
    assert np.array_equal(records[7], records[1][:, ::7])


def test_stopped_saved_loaded_in_a_new_process_and_continued(tmp_path):
    k = RNG.uniform(1, 100, size=(9, 1))
    whole = compile_program(oscillator()).batch(9)
    whole.set(k=k, dt=[1e-2])
    whole.run(steps=150)
    half = compile_program(oscillator()).batch(9)
    half.set(k=k, dt=[1e-2])
    half.run(steps=60)
    np.savez(tmp_path / "half.npz", k=k, **half.state())
    code = f"""
import numpy as np
from heelstrike.runtime.compiler import compile_program
from tests.unit.test_rollout import oscillator
saved = dict(np.load(r"{tmp_path / "half.npz"}"))
batch = compile_program(oscillator(), width=2).batch(9)
batch.set(dt=[1e-2], **saved)
batch.run(steps=90)
np.savez(r"{tmp_path / "end.npz"}", **batch.state())
"""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
    end = np.load(tmp_path / "end.npz")
    for name, value in whole.state().items():
        assert np.array_equal(value, end[name]), name


def test_reset_of_some_worlds():
    batch = compile_program(oscillator()).batch(5)
    batch.set(k=[10.0], dt=[1e-2])
    batch.run(steps=20)
    before = batch.state()
    mask = np.array([True, False, False, True, False])
    batch.reset(mask, z=[0.5])
    after = batch.state()
    assert np.array_equal(after["z"][mask], [[0.5], [0.5]])
    assert np.array_equal(after["clock"][:, 0], [0, 20, 20, 0, 20])
    for name in before:
        assert np.array_equal(after[name][~mask], before[name][~mask]), name


def test_memory_updated_in_parts():
    p = Program("parts")
    x = p.memory("x", 3, initial=np.array([1.0, 2.0, 3.0]))
    with p.block("head"):
        p.update_part("x", 0, x[1])
    with pytest.raises(ProgramError, match="gets no next value for entries 1, 2"):
        compile_program(p)
    with p.block("tail"):
        p.update_part("x", 1, ca.vertcat(x[2], x[0]))
    batch = compile_program(p).batch(2)
    batch.run(steps=2)
    assert np.array_equal(batch.get("x"), [[3.0, 1.0, 2.0]] * 2)
    with pytest.raises(ProgramError, match="no memory 'x' with entries 2 to 4"), p.block("over"):
        p.update_part("x", 2, SX([1, 2]))


def runaway() -> Program:
    p = Program("runaway")
    x, rate = p.memory("x", 2, initial=1.0), p.input("rate", 1)
    with p.block("step"):
        p.update("x", x * rate)
        p.fail_when(ca.fabs(x[0]) > 1e6)
    return p


@pytest.mark.parametrize("width", WIDTHS)
def test_a_failing_world_is_marked_frozen_and_leaves_the_others_alone(width):
    rates = np.array([[1.0], [10.0], [0.5], [np.nan], [1e200], [2.0]])
    kernel = compile_program(runaway(), width=width)
    batch = kernel.batch(6)
    batch.set(rate=rates)
    batch.run(steps=50)
    # 10^7 > 1e6 in step 7; NaN at once; 1e200 is over the limit in step 1; 2^20 > 1e6 in step 20
    assert np.array_equal(batch.get("failed")[:, 0], [-1, 7, -1, 0, 1, 20])
    assert np.array_equal(batch.get("x")[:, 0], [1.0, 1e7, 0.5**50, 1.0, 1e200, 2.0**20])
    assert np.array_equal(batch.get("clock")[:, 0], [50, 7, 50, 0, 1, 20])
    for i, rate in enumerate(rates):
        alone = kernel.batch(1)
        alone.set(rate=rate)
        alone.run(steps=50)
        for name in ("x", "failed", "clock"):
            assert np.array_equal(alone.get(name)[0], batch.get(name)[i])


def roots() -> Program:
    """Newton's method for x^3 = a: lanes finish at different counts."""
    p = Program("roots")
    a = p.input("a", 1)
    with repeated(p, "newton", limit=12) as loop:
        x = loop.carry("x", a)
        with p.block("newton"):
            new = p.let("x", x - (x**3 - a) / (3 * x**2))
            loop.next(x, new)
            loop.until(ca.fabs(new - x) <= 1e-14 * ca.fabs(new))
    with p.block("out"):
        p.output("root", x)
        p.output("rounds", loop.rounds)
        p.output("unfinished", loop.unfinished)
    return p


@pytest.mark.parametrize("width", WIDTHS)
def test_loop_until_every_lane_is_done(width):
    a = np.r_[RNG.uniform(0.5, 30, size=30), 1e9][:, None]
    kernel = compile_program(roots(), width=width)
    out = kernel(a=a)
    assert np.allclose(out["root"][:-1], np.cbrt(a[:-1]), rtol=1e-14)
    assert len(np.unique(out["rounds"])) > 3
    assert np.array_equal(out["unfinished"][:, 0], np.r_[np.zeros(30), 1.0])
    assert out["rounds"][-1] == 12
    scalar = compile_program(roots(), width=1)
    for i in range(len(a)):
        alone = scalar(a=a[i])
        for name in out:
            assert np.array_equal(out[name][i], alone[name]), name


@pytest.mark.parametrize("width", WIDTHS)
def test_what_only_an_output_reads_of_a_loop(width):
    """A step's loop makes it in its last round, though no step needs it."""
    p = Program("root")
    a, x = p.input("a", 1), p.memory("x", 1, 1.0)
    with repeated(p, "newton", limit=50) as loop:
        y = loop.carry("y", x + a)
        with p.block("newton"):
            slope = p.let("slope", 3 * y**2)
            new = p.let("y", y - (y**3 - a) / slope)
            loop.next(y, new)
            loop.until(ca.fabs(new - y) <= 1e-12 * ca.fabs(new))
    with p.block("end"):
        p.update("x", y)
        p.output("slope", slope)
    batch = compile_program(p, width=width).batch(5)
    values = RNG.uniform(1, 8, size=(5, 1))
    batch.set(a=values)
    batch.run(2)
    assert np.allclose(batch.get("slope")[:, -1], 3 * np.cbrt(values) ** 2, rtol=1e-10)


@pytest.mark.parametrize("remembers", [False, True])
def test_what_only_an_output_reads_of_a_loop_that_is_its_own(remembers):
    """Nobody reads what the loop carries: the record makes the loop for what is let in it."""
    p = Program("halving")
    a = p.input("a", 1)
    if remembers:
        x = p.memory("x", 1)
    with repeated(p, "halving", limit=60) as loop:
        y = loop.carry("y", a)
        with p.block("halve"):
            half = p.let("half", 1 + (y - 1) / 2)
            loop.next(y, half)
            loop.until(half == y)
    with p.block("end"):
        if remembers:
            p.update("x", x + 1)
        p.output("last", half)
    batch = compile_program(p).batch(2)
    batch.set(a=[[3.0], [1.0]])
    batch.run(1)
    assert np.ravel(batch.get("last")).tolist() == [1.0, 1.0]


LEVERS = RNG.normal(size=(6, 3))


def points() -> Program:
    """A counted loop over the rows of a constant table, with memory read inside it."""
    p = Program("points")
    x = p.input("x", 3)
    anchor = p.memory("anchor", 1)
    with counted(p, "points", 6) as loop:
        lever = loop.constants(LEVERS)
        total = loop.carry("total", SX.zeros(3))
        moved = loop.carry("moved", anchor)
        with p.block("force"):
            f = p.let("f", ca.cross(lever, x) + anchor)
            loop.next(total, total + f)
            loop.next(moved, moved + ca.dot(lever, x))
    with p.block("out"):
        p.update("anchor", moved)
        p.output("total", total)
        p.output("last", f)
    return p


@pytest.mark.parametrize("width", WIDTHS)
def test_counted_loop_over_a_constant_table(width):
    x = RNG.normal(size=(11, 3))
    batch = compile_program(points(), width=width).batch(11)
    batch.set(x=x)
    batch.run(steps=3)
    moved = (x @ LEVERS.T).sum(axis=1)
    for step in range(3):
        f = np.cross(LEVERS[None], x[:, None]) + step * moved[:, None, None]
        assert np.allclose(batch.get("total")[:, step], f.sum(axis=1), atol=1e-13)
        assert np.allclose(batch.get("last")[:, step], f[:, -1], atol=1e-13)
    assert np.allclose(batch.get("anchor")[:, 0], 3 * moved, atol=1e-13)


def test_a_loop_inside_a_loop():
    """Power iteration: the outer loop until done, the inner over rows of a constant matrix."""
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    p = Program("power")
    start = p.input("start", 3)
    with repeated(p, "iterate", limit=200) as outer:
        x = outer.carry("x", start)
        with counted(p, "rows", 3) as inner:
            column = inner.constants(matrix)  # symmetric: rows are columns
            y = inner.carry("y", SX.zeros(3))
            entries = inner.carry("entries", x)
            with p.block("column"):
                inner.next(y, y + column * entries[0])
                inner.next(entries, ca.vertcat(entries[1:], entries[0]))
        with p.block("normalise"):
            new = p.let("x", y / ca.norm_2(y))
            outer.next(x, new)
            outer.until(ca.norm_2(new - x) < 1e-13)
    with p.block("out"):
        p.output("x", x)
        p.output("unfinished", outer.unfinished)
    starts = RNG.uniform(0.1, 1, size=(10, 3))
    out = compile_program(p)(start=starts)
    vector = np.linalg.eigh(matrix)[1][:, -1]
    assert np.allclose(out["x"], vector * np.sign(vector[0]), atol=1e-11)
    assert not out["unfinished"].any()


def tables() -> Program:
    """Look-ups in a motion of 7 rows and 3 columns, and in a field of 5 x 6."""
    p = Program("tables")
    u, w = p.input("u", 1), p.input("w", 1)
    value, slope = table(p, "motion", 7, 3).at(u)
    height, tilt = table(p, "field", 5, 6).at2(u, w)
    with p.block("out"):
        for name, x in {"value": value, "slope": slope, "height": height, "tilt": tilt}.items():
            p.output(name, x)
    return p


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", WIDTHS)
def test_tables(width, dtype):
    grid, columns, field = np.arange(7.0), RNG.normal(size=(7, 3)), RNG.normal(size=(5, 6))
    us = np.r_[RNG.uniform(-1, 8, size=40), 0.0, 3.0, 4.0, 6.0][:, None]
    ws = RNG.uniform(-1, 6, size=(44, 1))
    kernel = compile_program(tables(), width=width, dtype=dtype)
    given = {"motion": columns, "field": field}
    out = kernel(u=us, w=ws, **given)
    for i in (0, 17, 43):  # all lanes at one place: other loads, the same bits
        alike = kernel(u=np.tile(us[i], (44, 1)), w=np.tile(ws[i], (44, 1)), **given)
        for name, value in alike.items():
            assert np.array_equal(value, np.tile(out[name][i], (44, 1))), name
    tolerance = 1e-14 if dtype == "float64" else 3e-6
    for k in range(3):
        expected = np.interp(us[:, 0], grid, columns[:, k])
        assert np.allclose(out["value"][:, k], expected, atol=tolerance)
    cell = np.clip(np.floor(us[:, 0]), 0, 5).astype(int)
    rise = columns[cell + 1] - columns[cell]
    held = (us < 0) | (us > 6)
    assert np.allclose(out["slope"], np.where(held, 0, rise), atol=tolerance)
    rows, cols = np.clip(us[:, 0], 0, 4), np.clip(ws[:, 0], 0, 5)
    i, j = np.minimum(rows.astype(int), 3), np.minimum(cols.astype(int), 4)
    a, b = rows - i, cols - j
    corners = field[i, j], field[i, j + 1], field[i + 1, j], field[i + 1, j + 1]
    expected = (corners[0] * (1 - b) + corners[1] * b) * (1 - a)
    expected += (corners[2] * (1 - b) + corners[3] * b) * a
    assert np.allclose(out["height"][:, 0], expected, atol=tolerance)
    along = (corners[2] - corners[0]) * (1 - b) + (corners[3] - corners[1]) * b
    across = (corners[1] - corners[0]) * (1 - a) + (corners[3] - corners[2]) * a
    along = np.where((us[:, 0] < 0) | (us[:, 0] > 4), 0, along)
    across = np.where((ws[:, 0] < 0) | (ws[:, 0] > 5), 0, across)
    assert np.allclose(out["tilt"], np.stack([along, across], axis=1), atol=tolerance)


def test_the_size_of_a_table_is_not_in_the_code():
    """256 x 256 compiles as fast as 8 x 8: the same instructions, other constants."""
    lines = []
    for size in (8, 256):
        p = Program("field")
        u, w = p.input("u", 1), p.input("w", 1)
        height, _ = table(p, "field", size, size).at2(u, w)
        with p.block("out"):
            p.output("height", height)
        lines.append(emit(p.trace(), 8, FLOAT64).text.count("\n"))
        kernel = compile_program(p)
        field = RNG.normal(size=(size, size))
        inner = kernel(u=[1.0], w=[2.0], field=field)["height"]
        assert inner == field[1, 2]
    assert lines[0] == lines[1]


def test_misuse_is_a_sentence():
    p = oscillator()
    with pytest.raises(ProgramError, match="no memory 'w' to update; memories: z, v"), p.block("b"):
        p.update("w", SX(1))
    with (
        pytest.raises(ProgramError, match="memory 'z' is updated with 2 values; allowed: 1"),
        p.block("b"),
    ):
        p.update("z", SX([1, 2]))
    with pytest.raises(ProgramError, match="no clock before its first memory"):
        Program("empty").clock.shape  # noqa: B018
    with pytest.raises(ProgramError, match="never ends"), repeated(p, "endless", 3):
        pass
    with (
        pytest.raises(ProgramError, match="makes 4 rounds, but its table of constants has 3 rows"),
        counted(p, "short", 4) as loop,
    ):
        loop.constants(np.ones((3, 2)))
    with (
        pytest.raises(ProgramError, match="'outer' is not the innermost"),
        counted(p, "outer", 2) as outer,
        counted(p, "inner", 2),
    ):
        outer.constants(np.ones((2, 1)))
    with pytest.raises(ProgramError, match="at least two rows"):
        table(p, "short table", 1)
    kernel = compile_program(oscillator())
    batch = kernel.batch(3)
    with pytest.raises(ProgramError, match=r"mask of worlds has shape \(2,\); allowed: \(3,\)"):
        batch.reset(np.array([True, False]))
    with pytest.raises(ProgramError, match="no memory 'y'; memories: clock"):
        batch.reset(y=[1.0])
    with pytest.raises(ProgramError, match="no port 'y'"):
        batch.get("y")


def test_an_output_may_have_the_name_of_a_memory():
    """The memory holds what the last step left, the output what each step began with."""
    p = Program("count")
    x = p.memory("x", 1)
    with p.block("step"):
        p.update("x", x + 1)
        p.output("x", x)
        with pytest.raises(ProgramError, match="already has an output named 'x'"):
            p.output("x", x)
    batch = compile_program(p).batch(2)
    batch.run(3)
    assert batch.get("x").tolist() == [[3.0], [3.0]]
    assert batch.output("x")[0, :, 0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ProgramError, match="no output 'y'; outputs: x"):
        batch.output("y")
