"""Exported programs against the live kernel: the same bits as a .hs file and in C, and CasADi's own
values to rounding.
"""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import FileError, ProgramError
from heelstrike.ir.loop import counted
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.runtime import container, export_c
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.container import CodeTarget
from heelstrike.runtime.export import export
from heelstrike.runtime.export_casadi import export_casadi
from heelstrike.runtime.exported import load_exported
from tests.flight import flight

RNG = np.random.default_rng(0)


def everything() -> Program:
    """Memory that starts at no round number, infinity and zero, a table, a loop, two outputs."""
    p = Program("everything")
    x = p.memory("x", 2, initial=np.array([0.1, -np.pi]))
    rate = p.input("rate", 1)
    with p.block("step"):
        angle = p.let("angle", x[0] + rate * ca.sin(x[1]))
        p.update_max("largest", x)
    value, _ = table(p, "profile", 5).at(angle)
    with counted(p, "weights", 3) as loop:
        weight = loop.constants(np.array([[0.3], [0.2], [0.7]]))
        total = loop.carry("total", ca.SX(0))
        with p.block("weigh"):
            loop.next(total, total + weight * value)
    with p.block("end"):
        p.update("x", ca.vertcat(angle, x[1] + 0.1 * total))
        p.output("both:x", ca.vertcat(angle, total))
        p.output("square", x @ x.T)
    return p


RATES = np.linspace(0.1, 2.0, 11)[:, None]
PROFILE = np.array([[0.0], [1.0], [0.5], [2.0], [-1.0]])


def rollout(kernel, steps: int = 9, every: int = 2) -> dict[str, np.ndarray]:
    batch = kernel.batch(len(RATES))
    batch.set(rate=RATES, profile=PROFILE)
    batch.run(steps=steps, every=every)
    return {port.name: batch.get(port.name) for port in kernel.layout.ports}


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(a[x].tobytes() == b[x].tobytes() for x in a)


# .hs files


@pytest.mark.parametrize(
    "options", [{}, {"width": 1}, {"width": 4, "level": 1}, {"dtype": "float32"}]
)
def test_an_exported_program_has_the_bits_of_the_live_one(tmp_path, options):
    live = compile_program(everything(), **options)
    kernel = load_exported(export(everything(), tmp_path / "a.hs", **options))
    assert same_bits(rollout(kernel), rollout(live))
    assert same_bits(rollout(load_exported(export(live, tmp_path / "b.hs"))), rollout(live))
    assert (tmp_path / "a.hs").read_bytes() == (tmp_path / "b.hs").read_bytes()
    assert np.isfinite(rollout(live)["x"]).all()


def test_the_chosen_outputs_are_exported(tmp_path):
    kernel = load_exported(export(everything(), tmp_path / "a.hs", outputs=["square"]))
    assert [port.name for port in kernel.layout.outputs] == ["square"]


def test_a_robot_flies_in_a_process_without_casadi_and_pinocchio(tmp_path):
    """The loader's imports are checked in a process that has imported nothing else."""
    robot = hs.load("hoap1", collide="feet")
    path = export(flight(robot), tmp_path / "flight.hs")
    script = (
        "import sys\n"
        "import numpy as np\n"
        "from heelstrike.runtime.exported import load_exported\n"
        f"batch = load_exported({str(path)!r}).batch(3)\n"
        f"ones = np.ones({robot.nv})\n"
        "batch.set(dt=[1e-3], gravity=[0, 0, -9.81])\n"
        "batch.set(**{'servo.kp': 60 * ones, 'servo.q_ref': 0.1 * ones})\n"
        "batch.run(steps=50)\n"
        f"np.save({str(tmp_path / 'q.npy')!r}, batch.get('q'))\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not {'casadi', 'pinocchio', 'scipy', 'coal'} & loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    batch = compile_program(flight(robot)).batch(3)
    ones = np.ones(robot.nv)
    batch.set(dt=[1e-3], gravity=[0, 0, -9.81])
    batch.set(**{"servo.kp": 60 * ones, "servo.q_ref": 0.1 * ones})
    batch.run(steps=50)
    assert batch.get("q").tobytes() == np.load(tmp_path / "q.npy").tobytes()


def test_the_file_is_a_header_in_json_and_object_code(tmp_path):
    live = compile_program(everything())
    data = export(live, tmp_path / "a.hs").read_bytes()
    line, _, rest = data.partition(b"\n")
    size = int(line.split(b" ")[-1])
    header = json.loads(rest[:size])
    assert rest[size:] == live.code
    assert header["layout"]["outputs"] == {"both:x": [2], "square": [2, 2]}
    (tmp_path / "other").touch()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.hs", "other")]
    assert modes[0] == modes[1]  # exported for others, as any file: the cache's are not


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (lambda t: replace(t, features=t.features + ",+steam"), "this CPU lacks steam"),
        (lambda t: replace(t, triple="riscv64-unknown-linux-gnu"), "made for riscv64 linux"),
        (lambda t: replace(t, triple=t.triple.split("-")[0] + "-apple-darwin23.1"), "darwin"),
    ],
)
def test_another_cpus_file_is_refused(tmp_path, monkeypatch, target, sentence):
    elsewhere = target(container.this_machine())
    with monkeypatch.context() as patch:
        patch.setattr(container, "this_machine", lambda: elsewhere)
        path = export(everything(), tmp_path / "a.hs", width=2)
    with pytest.raises(ProgramError, match=f"cannot run on this machine.*{sentence}"):
        load_exported(path)


def test_a_lesser_cpus_file_of_another_vendors_name_is_taken(tmp_path, monkeypatch):
    """This CPU has all features that it needs; names of vendors and CPUs do not matter."""
    this = container.this_machine()
    system = this.triple.split("-", 2)
    lesser = CodeTarget(f"{system[0]}-conda-{system[2]}", "old", this.features.replace("+", "-", 1))
    with monkeypatch.context() as patch:
        patch.setattr(container, "this_machine", lambda: lesser)
        path = export(everything(), tmp_path / "a.hs", width=2)
    assert same_bits(rollout(load_exported(path)), rollout(compile_program(everything(), width=2)))


def test_damaged_missing_and_foreign_files_are_said(tmp_path):
    path = export(everything(), tmp_path / "a.hs", width=2)
    good = path.read_bytes()
    for data in (good[:-1], good + b"\0", good[:200] + b"?" + good[201:], b"", b"\x7fELF" * 99):
        path.write_bytes(data)
        with pytest.raises(ProgramError, match=r"cannot use .*a\.hs"):
            load_exported(path)
    with pytest.raises(ProgramError, match=r"cannot read .*b\.hs: No such file"):
        load_exported(tmp_path / "b.hs")
    with pytest.raises(FileError, match=r"cannot write .*a\.hs"):
        export(everything(), tmp_path / "none" / "a.hs")
    with pytest.raises(ProgramError, match=r"is a \.hs file, not 'a\.so'"):
        export(everything(), tmp_path / "a.so")
    with pytest.raises(ProgramError, match="already"):
        export(compile_program(everything()), tmp_path / "a.hs", width=2)


# C

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "everything.h"

#define W EVERYTHING_WIDTH
#define BYTES(size) ((size) * W * sizeof(EVERYTHING_REAL))

static void *make(size_t bytes) {
    size_t whole = (bytes + EVERYTHING_ALIGNMENT - 1) / EVERYTHING_ALIGNMENT * EVERYTHING_ALIGNMENT;
    void *array = aligned_alloc(EVERYTHING_ALIGNMENT, whole);
    memset(array, 0, whole);
    return array;
}

/* rates from standard input, one a world; x after the steps, then every record of square, out */
int main(void) {
    enum { WORLDS = 11, STEPS = 9, EVERY = 2, RECORDS = 5, TILES = (WORLDS + W - 1) / W };
    const int sizes[EVERYTHING_PORTS] = {
        [EVERYTHING_PORT_RATE] = EVERYTHING_SIZE_RATE,
        [EVERYTHING_PORT_CLOCK] = EVERYTHING_SIZE_CLOCK,
        [EVERYTHING_PORT_FAILED] = EVERYTHING_SIZE_FAILED,
        [EVERYTHING_PORT_X] = EVERYTHING_SIZE_X,
        [EVERYTHING_PORT_LARGEST] = EVERYTHING_SIZE_LARGEST,
        [EVERYTHING_PORT_BOTH_X] = EVERYTHING_SIZE_BOTH_X,
        [EVERYTHING_PORT_SQUARE] = EVERYTHING_SIZE_SQUARE,
    };
    const EVERYTHING_REAL x0[] = EVERYTHING_INITIAL_X, largest0[] = EVERYTHING_INITIAL_LARGEST;
    const EVERYTHING_REAL profile[] = {0.0, 1.0, 0.5, 2.0, -1.0};
    void *ports[EVERYTHING_PORTS];
    int64_t strides[EVERYTHING_PORTS] = {0}, records[EVERYTHING_PORTS] = {0};
    for (int p = 0; p < EVERYTHING_PORTS; p++) {
        int is_output = p == EVERYTHING_PORT_BOTH_X || p == EVERYTHING_PORT_SQUARE;
        strides[p] = BYTES(sizes[p]) * (is_output ? RECORDS : 1);
        records[p] = is_output ? BYTES(sizes[p]) : 0;
        ports[p] = make(TILES * strides[p] + sizeof profile);
    }
    memcpy(ports[EVERYTHING_PORT_PROFILE], profile, sizeof profile);
    EVERYTHING_REAL *rate = ports[EVERYTHING_PORT_RATE], *x = ports[EVERYTHING_PORT_X];
    EVERYTHING_REAL *largest = ports[EVERYTHING_PORT_LARGEST];
    EVERYTHING_REAL *failed = ports[EVERYTHING_PORT_FAILED];
    for (int i = 0; i < WORLDS; i++)
        if (fread(&rate[i], sizeof *rate, 1, stdin) != 1) return 1;
    for (int t = 0; t < TILES; t++)
        for (int w = 0; w < W; w++) {
            failed[t * W + w] = -1;
            for (int i = 0; i < 2; i++) {
                x[(2 * t + i) * W + w] = x0[i];
                largest[(2 * t + i) * W + w] = largest0[i];
            }
        }
    void *frames = make(EVERYTHING_FRAME_BYTES);
    everything(ports, strides, records, frames, 0, TILES, STEPS, EVERY, 0);
    fwrite(x, 1, TILES * strides[EVERYTHING_PORT_X], stdout);
    fwrite(ports[EVERYTHING_PORT_SQUARE], 1, TILES * strides[EVERYTHING_PORT_SQUARE], stdout);
    return 0;
}
"""

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) on the PATH")


@needs_cc
@pytest.mark.parametrize("link", ["everything.o", "everything.so"])
@pytest.mark.parametrize("options", [{}, {"width": 1}, {"dtype": "float32", "width": 4}])
def test_a_c_program_has_the_bits_of_the_live_kernel(tmp_path, link, options):
    live = compile_program(everything(), **options)
    files = export_c.export_c(live, tmp_path)
    assert files.library == tmp_path / "everything.so", files.note
    (tmp_path / "main.c").write_text(MAIN)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "main", f"-Wl,-rpath,{tmp_path}"]
    command = ["cc", "main.c", str(tmp_path / link), *flags, "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    real, width = live.layout.real.dtype, live.layout.width
    given = RATES.astype(real).tobytes()
    done = subprocess.run([tmp_path / "main"], input=given, check=True, capture_output=True)
    values = np.frombuffer(done.stdout, dtype=real)
    tiles = -(-len(RATES) // width)
    x, square = values[: tiles * 2 * width], values[tiles * 2 * width :]
    expected = rollout(live)
    worlds = x.reshape(tiles, 2, width).transpose(0, 2, 1).reshape(-1, 2)[: len(RATES)]
    assert worlds.tobytes() == expected["x"].tobytes()
    worlds = square.reshape(tiles, 5, 4, width).transpose(0, 3, 1, 2).reshape(-1, 5, 2, 2)
    assert worlds[: len(RATES)].tobytes() == expected["square"].tobytes()


def test_without_a_c_compiler_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    live = compile_program(everything(), width=2)
    (tmp_path / "everything.so").write_text("of an earlier export")
    files = export_c.export_c(live, tmp_path)
    assert files.library is None
    assert "no C compiler (cc) on the PATH" in files.note
    assert files.object.read_bytes() == live.code
    assert sorted(tmp_path.iterdir()) == sorted([files.header, files.object])


def test_a_name_that_c_keeps_for_itself_is_refused(tmp_path):
    p = Program("double")
    x = p.input("x", 1)
    with p.block("all"):
        p.output("y", 2 * x)
    with pytest.raises(ProgramError, match="cannot be called 'double'"):
        export_c.export_c(compile_program(p, width=1), tmp_path)


def test_names_that_c_would_confuse_get_numbers():
    p = Program("names")
    x = p.input("a.b", 1)
    with p.block("all"):
        p.output("a_b", x)
        p.output("A b", 2 * x)
    text = export_c.header(compile_program(p, width=1).layout)
    ports = [line.split()[1:] for line in text.splitlines() if "_PORT_A" in line]
    assert ports == [["NAMES_PORT_A_B", "0"], ["NAMES_PORT_A_B_1", "1"], ["NAMES_PORT_A_B_2", "2"]]


# CasADi


def test_a_casadi_function_agrees_with_the_kernel():
    robot = hs.load("hoap1", collide="feet")
    names = ["forward_dynamics", "mass_matrix", "com", f"jacobian:{robot.bodies[-1].name}"]
    program = quantities(robot, names)
    function = export_casadi(program, names)
    kernel = compile_program(program)
    q = robot.neutral + 0.1 * RNG.normal(size=robot.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    v, a, tau = RNG.normal(size=(3, robot.nv))
    inputs = {"q": q, "v": v, "a": a, "tau": tau, "gravity": np.array([9.81])}
    live = kernel(**inputs)
    values = function(**inputs)
    for name in names:
        value = np.array(values[name.replace(":", "_")]).reshape(live[name].shape)
        # rounding of a*b + c, once or twice, grown by the condition of the mass matrix
        scale = np.abs(live[name]).max()
        assert np.allclose(value, live[name], rtol=0, atol=1e-10 * scale), name
    assert function.size_out("mass_matrix") == (robot.nv, robot.nv)


def test_a_casadi_functions_matrix_keeps_its_rows():
    p = Program("rows")
    x = p.input("x", 3)
    with p.block("first"):
        y = p.let("y", 2 * x)
        z = p.let("z", y + 1)  # of the same block's let
    with p.block("second"):
        p.output("m", ca.vertcat(z.T, (z * y).T))
    m = np.array(export_casadi(p)([1.0, 2.0, 3.0]))
    assert np.array_equal(m, [[3, 5, 7], [6, 20, 42]])
    slopes = np.array(export_casadi(p).jacobian()([1.0, 2.0, 3.0], m))
    # column by column: z = 2 x + 1 and z y = (2 x + 1) 2 x, whose slope is 8 x + 2
    assert np.array_equal(
        slopes, np.kron(np.eye(3), [[2], [0]]) + np.kron(np.diag([10, 18, 26]), [[0], [1]])
    )


def test_what_casadi_cannot_hold_is_said():
    with pytest.raises(ProgramError, match="has memory, tables, loops; allowed: straight-line"):
        export_casadi(everything())
    p = Program("plain")
    x = p.input("x", 1)
    with p.block("all"):
        p.output("a:b", x)
        p.output("a.b", 2 * x)
        p.output("c", x + ca.SX.sym("stranger"))
    with pytest.raises(ProgramError, match="several names become a_b"):
        export_casadi(p, ["a:b", "a.b"])
    with pytest.raises(ProgramError, match="no output d"):
        export_casadi(p, ["d"])
    with pytest.raises(ProgramError, match="stranger"):
        export_casadi(p, ["c"])
