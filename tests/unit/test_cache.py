"""Kernels from the cache have the bits of freshly compiled ones; files of another key are not used.

The oracle is `compile_program` itself; that nothing was traced or compiled is shown by taking away
the means to do so.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.codegen import cpu
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.errors import ProgramError
from heelstrike.ir.program import Program
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.runtime import cache, cache_folder, container
from heelstrike.runtime.cache import cached_kernel, cached_ptx
from heelstrike.runtime.cache_folder import clear_cache, trim
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.container import CodeTarget
from heelstrike.runtime.key import digest
from tests.flight import flight, in_flight
from tests.models import data_file

KEY = ("growth", 1)
CALL = "cached_kernel("


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HEELSTRIKE_CACHE", str(tmp_path / "cache"))
    # files that someone edits while the tests run are not what they are about
    monkeypatch.setattr(cache, "source_digest", lambda: cache.SOURCE_AT_IMPORT)


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "cache"


def growth() -> Program:
    """x' = rate x, and the largest x so far, which starts at -inf."""
    p = Program("growth")
    x = p.memory("x", 2, initial=np.array([0.1, -0.3]))
    rate = p.input("rate", 1)
    with p.block("step"):
        p.update("x", x + rate * x)
        p.update_max("top", x)
    with p.block("record"):
        p.output("square", x * x)
        p.output("cube", x**3)
    return p


def never() -> Program:
    raise AssertionError("a hit must not trace")


def rollout(kernel) -> dict[str, np.ndarray]:
    batch = kernel.batch(11)
    batch.set(rate=np.linspace(-0.1, 0.2, 11)[:, None])
    batch.run(steps=7)
    return {port.name: batch.get(port.name) for port in kernel.layout.ports}


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(a[x].tobytes() == b[x].tobytes() for x in a)


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


# hits


@pytest.mark.parametrize("options", [{}, {"width": 1}, {"dtype": "float32"}, {"outputs": ["cube"]}])
def test_a_hit_has_the_bits_of_a_compiled_kernel(options):
    live = compile_program(growth(), **options)
    cached_kernel(KEY, growth, **options)
    kernel = cached_kernel(KEY, never, **options)
    assert kernel.code == live.code
    assert same_bits(rollout(kernel), rollout(live))


def test_each_option_has_its_own_file(folder):
    different = [{}, {"width": 1}, {"width": 2}, {"dtype": "float32"}, {"level": 2}]
    different += [{"outputs": ["cube"]}, {"outputs": ["square"]}, {"outputs": []}]
    for n, options in enumerate(different):
        cached_kernel(KEY, growth, **options)
        assert len(list(folder.iterdir())) == n + 1
    assert set(rollout(cached_kernel(KEY, never, outputs="cube"))) >= {"cube", "x"}


def test_another_key_is_another_program(folder):
    cached_kernel(KEY, growth)
    for other in [("growth", 2), ("growth", 1.0), ("growth", True), ("growth", "1"), ("growth",)]:
        with pytest.raises(AssertionError, match="must not trace"):
            cached_kernel(other, never)


def test_a_hit_imports_no_casadi(folder):
    """The test runs in a process of its own, because tracing imports CasADi."""
    cached_kernel(KEY, growth)
    script = (
        "import sys\n"
        "from heelstrike.runtime.cache import cached_kernel\n"
        "def never(): raise AssertionError\n"
        f"kernel = cached_kernel({KEY!r}, never)\n"
        "assert kernel.layout.name == 'growth'\n"
        "assert not {'casadi', 'pinocchio'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_changed_parameter_compiles_nothing(folder, monkeypatch):
    robot = hs.load("hoap1", collide="feet")
    start = time.perf_counter()
    sim = in_flight(robot, control=hs.Servo(), worlds=4)
    sim.step()
    cold = time.perf_counter() - start
    for name in ("compile_object", "object_code"):
        monkeypatch.setattr(cpu, name, never)
    start = time.perf_counter()
    for gain in (10.0, 20.0, 30.0):
        sim.parameters["servo.kp"] = np.full(robot.nv, gain)
        sim.parameters["gravity"] = [0, 0, -gain]
        sim.parameters["dt"] = 1e-3 / gain
        sim.step()
    # microseconds against most of a second; a fifth leaves room for a busy machine
    assert time.perf_counter() - start < cold / 5
    assert len(list(folder.iterdir())) == 1


# robots


def test_another_robot_is_not_taken_for_this_one(monkeypatch):
    """Each of these robots differs in one number, or one word, deep inside."""
    robot = hs.load("hoap1", collide="feet")
    body, joint = robot.bodies[3], robot.joints[3]
    heavier = replace(body, mass=body.mass * (1 + 1e-15))
    others = [
        replace(robot, bodies=_changed(robot.bodies, 3, heavier)),
        replace(robot, bodies=_changed(robot.bodies, 3, replace(body, com=body.com + 1e-9))),
        replace(robot, bodies=_changed(robot.bodies, 3, replace(body, inertia=2 * body.inertia))),
        replace(robot, joints=_changed(robot.joints, 3, replace(joint, axis=-joint.axis))),
        replace(robot, joints=_changed(robot.joints, 3, replace(joint, kind="prismatic"))),
        replace(robot, armature=robot.armature + 1e-9),
        replace(robot, damping=robot.damping + 1e-9),
        replace(robot, points=robot.points[:-1]),
        replace(robot, gravity=1.62),
        hs.load("hrp2", collide="feet"),
    ]
    keys = [digest(fingerprint(r)) for r in (robot, *others)]
    assert len(set(keys)) == len(keys)
    assert digest(fingerprint(hs.load("hoap1", collide="feet"))) == keys[0]
    in_flight(robot).step()
    monkeypatch.setattr(Program, "trace", lambda *_: never())
    in_flight(robot).step()
    varied = in_flight(robot)
    varied.free_masses(body.name)
    for sim in (in_flight(others[0]), in_flight(robot, integrator="euler"), varied):
        with pytest.raises(AssertionError, match="must not trace"):
            sim.step()


def _changed(items: tuple, i: int, item: object) -> tuple:
    return (*items[:i], item, *items[i + 1 :])


def test_g1_from_cache_to_running():
    robot = hs.load(data_file("robots/g1.xml"), collide="feet")
    key = ("flight", fingerprint(robot))
    start = time.process_time()
    live = cached_kernel(key, lambda: flight(robot))
    cold = time.process_time() - start
    start = time.process_time()
    kernel = cached_kernel(key, never)
    batch = kernel.batch(1)
    batch.set(dt=[1e-3], gravity=[0.0, 0.0, -9.81])
    batch.run()
    warm = time.process_time() - start
    assert kernel.code == live.code
    # 0.02 s measured, 0.1 s promised; the rest is for a busy machine
    assert warm < 0.3, f"cold {cold:.3f} s, from cache {warm:.3f} s"


# files that must not be used


def test_another_cpu_is_not_this_one(folder, monkeypatch):
    """Neither by the name of the file, nor by its content under the right name."""
    cached_kernel(KEY, growth)
    path = only_file(folder)
    elsewhere = CodeTarget(container.this_machine().triple, "mill", "+steam")
    with monkeypatch.context() as patch:
        patch.setattr(cache, "this_machine", lambda: elsewhere)
        cache.environment.cache_clear()
        with pytest.raises(AssertionError, match="must not trace"):
            cached_kernel(KEY, never)
        cached_kernel(KEY, growth)
        assert len(list(folder.iterdir())) == 2
    cache.environment.cache_clear()
    live = cached_kernel(KEY, never)
    with monkeypatch.context() as patch:
        patch.setattr(container, "this_machine", lambda: elsewhere)
        path.write_bytes(container.pack(live.layout, live.code, path.stem))
    with pytest.raises(AssertionError, match="must not trace"):
        cached_kernel(KEY, never)


def test_a_file_of_another_key_is_ignored_and_rewritten(folder):
    cached_kernel(KEY, growth)
    mine = only_file(folder)
    good = mine.read_bytes()
    cached_kernel(("growth", 2), growth)
    (other,) = set(folder.iterdir()) - {mine}
    mine.write_bytes(other.read_bytes())
    cached_kernel(KEY, growth)
    assert mine.read_bytes() == good


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_a_file_cut_short_is_ignored_and_rewritten(folder, share):
    live = cached_kernel(KEY, growth)
    path = only_file(folder)
    good = path.read_bytes()
    path.write_bytes(good[: int(share * len(good))])
    with pytest.raises(AssertionError, match="must not trace"):
        cached_kernel(KEY, never)
    assert same_bits(rollout(cached_kernel(KEY, growth)), rollout(live))
    assert path.read_bytes() == good


def test_an_altered_byte_is_noticed_wherever_it_is(folder):
    cached_kernel(KEY, growth)
    path = only_file(folder)
    good = path.read_bytes()
    # all of the first line and the header's start, then samples
    for at in (*range(140), *range(140, len(good), 97), len(good) - 1):
        bad = bytearray(good)
        bad[at] ^= 1
        with pytest.raises(ProgramError):
            container.unpack(bytes(bad))
    path.write_bytes(bytes(bad))
    cached_kernel(KEY, growth)
    assert path.read_bytes() == good


def test_what_others_could_have_written_is_not_run(folder):
    cached_kernel(KEY, growth)
    only_file(folder).chmod(0o620)
    with pytest.raises(AssertionError, match="must not trace"):
        cached_kernel(KEY, never)


def test_source_that_changed_under_a_process_is_not_cached(folder, monkeypatch):
    monkeypatch.setattr(cache, "source_digest", lambda: "edited meanwhile")
    cached_kernel(KEY, growth)
    assert list(folder.iterdir()) == []


def test_only_source_that_decides_the_code_is_part_of_the_key(monkeypatch, tmp_path):
    """A comment in the viewer keeps every kernel; one in a law or the emitter does not."""
    monkeypatch.undo()  # the true digest
    package = tmp_path / "heelstrike"
    shutil.copytree(Path(hs.__file__).parent, package, ignore=shutil.ignore_patterns("*.xml"))
    monkeypatch.setattr(hs, "__file__", str(package / "__init__.py"))
    before = cache.source_digest()
    for other in ("view/plot.py", "cli/run.py", "record/summary.py", "simulate/simulator.py"):
        with open(package / other, "a") as file:
            file.write("# a comment\n")
    assert cache.source_digest() == before
    found = {before}
    deciding = ["contact/laws/elastic.py", "step/step.py", "codegen/llvm.py", "parameters.py"]
    for path in (*deciding, "impact/hit.py"):
        with open(package / path, "a") as file:
            file.write("# a comment\n")
        found.add(cache.source_digest())
    assert len(found) == 6


def test_every_package_that_traces_programs_is_part_of_the_key():
    """A program is made by Program(...) and compiled through the cache by cached_kernel(...)."""
    root = Path(hs.__file__).parent
    sources = {path: path.read_text() for path in root.rglob("*.py")}
    users = {path.relative_to(root).parts[0] for path, text in sources.items() if CALL in text}
    assert users - {"runtime"} == {"simulate", *cache.PROGRAM_PACKAGES}
    tracing = {p.relative_to(root).parts[0] for p, text in sources.items() if " Program(" in text}
    assert "simulate" not in tracing  # its program is step's
    assert tracing & users <= set(cache.PROGRAM_PACKAGES)


def test_the_source_is_part_of_the_key(monkeypatch):
    cached_kernel(KEY, growth)
    cache.environment.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(cache, "SOURCE_AT_IMPORT", "of another day")
        with pytest.raises(AssertionError, match="must not trace"):
            cached_kernel(KEY, never)
    cache.environment.cache_clear()


# the folder


def test_files_are_the_owners_only(folder):
    cached_kernel(KEY, growth)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(folder).stat().st_mode) == 0o600


def test_where_the_folder_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("HEELSTRIKE_CACHE")
    assert cache_folder.cache_folder() == tmp_path / "xdg" / "heelstrike"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder.cache_folder() == tmp_path / ".cache" / "heelstrike"


def test_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("HEELSTRIKE_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    for folder in (None, tmp_path / "given"):
        cached_kernel(KEY, growth, folder=folder)
        with pytest.raises(AssertionError, match="must not trace"):
            cached_kernel(KEY, never, folder=folder)
    assert list(tmp_path.iterdir()) == []
    assert clear_cache() == 0


def test_a_folder_that_cannot_be_made_or_written_means_no_cache(tmp_path, folder, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    assert cached_kernel(KEY, growth, folder=tmp_path / "file" / "cache").layout.name == "growth"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cached_kernel(KEY, growth).layout.name == "growth"
    assert list(folder.iterdir()) == []  # and leaves nothing behind


def test_clearing_takes_only_what_is_the_caches(folder):
    for n in range(3):
        cached_kernel(("growth", n), growth, width=1)
    mine = [folder / "mine.hs", folder / "mine.kernel"]
    for path in mine:
        path.write_text("keep")
    assert clear_cache() == 3
    assert sorted(folder.iterdir()) == mine


def test_what_was_not_used_for_longest_goes_first(folder):
    for n in range(3):
        cached_kernel(("growth", n), growth, width=1)
    files = sorted(folder.iterdir())
    for path in files:
        os.utime(path, (1.0, 1.0))
    cached_kernel(("growth", 1), never, width=1)  # used now
    (used,) = (path for path in files if path.stat().st_mtime > 1)
    trim(folder, max_bytes=int(1.5 * used.stat().st_size))
    assert list(folder.iterdir()) == [used]


def test_files_that_a_dead_process_left_go_as_well(folder):
    folder.mkdir()
    (folder / ".heelstrike-0123456789ab.kernel").write_text("unfinished")
    cached_kernel(KEY, growth)
    assert only_file(folder).suffix == cache_folder.SUFFIX


# many processes


def fill(folder: str, start: float) -> list[bytes]:
    """Fill the cache, in one of several processes that begin at the same moment."""
    time.sleep(max(0.0, start - time.time()))
    results = []
    for n in range(3):
        kernel = cached_kernel(("growth", n), growth, width=2, folder=folder)
        results.append(rollout(kernel)["x"].tobytes())
    return results


def test_processes_that_fill_it_at_once(folder):
    context = multiprocessing.get_context("spawn")
    start = time.time() + 3.0
    with context.Pool(4) as pool:
        results = pool.starmap(fill, [(str(folder), start)] * 4)
    live = rollout(compile_program(growth(), width=2))["x"].tobytes()
    assert results == [[live] * 3] * 4
    files = list(folder.iterdir())
    assert len(files) == 3  # no temporary file is left
    for path in files:
        assert container.unpack(path.read_bytes()).key == path.stem


# keys


def test_a_key_has_no_order_in_dicts_and_knows_arrays():
    x = np.arange(6.0).reshape(2, 3)
    assert digest({"a": 1, "b": x}) == digest({"b": x.copy(), "a": 1})
    assert digest(np.asfortranarray(x)) == digest(x)
    assert digest((1, 2)) == digest([1, 2])
    assert digest(np.int64(3)) == digest(3)
    different = [x, x.ravel(), x.astype(np.float32), x.astype(int), x + 0.5, x.tobytes()]
    different += [0.0, -0.0, 0, False, None, "", b"", (), ((),), {}, "ab", ("a", "b"), ("ab", "")]
    different += [
        x.tolist(),
        {"a": 1},
        {"a": 2},
        {"b": 1},
        ("a", 1),
        {"a": {"b": 1}},
        [["a"], ["b"]],
    ]
    assert len({digest(item) for item in different}) == len(different)


@pytest.mark.parametrize("item", [object(), {1, 2}, np.array([object()]), Path("x"), lambda: 0])
def test_what_cannot_be_a_key_is_said(item):
    with pytest.raises(ProgramError, match=r"key\['law'\]\[0\] is an? .*; allowed: numbers"):
        cached_kernel({"law": [item]}, growth)


def test_ptx_is_cached_as_well(folder):
    """The key holds program, number type, GPU and math; a hit traces nothing."""
    first = cached_ptx(KEY, growth, ["square"], "float32", "sm_90", "exact")
    (path,) = folder.glob("*.kernel")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = cached_ptx(KEY, never, ["square"], "float32", "sm_90", "exact")
    assert again.as_bytes() == first.as_bytes()
    fresh = make_ptx(growth(), ["square"], "float32", "sm_90", "exact")
    assert fresh.layout.as_dict() == first.layout.as_dict()
    assert numbers(fresh.text) == numbers(first.text)  # LLVM counts its labels on
    for other in (("float64", "sm_90", "exact"), ("float32", "sm_80", "exact")):
        assert cached_ptx(KEY, growth, ["square"], *other).text != first.text
    path.write_bytes(path.read_bytes()[:-1])
    mended = cached_ptx(KEY, growth, ["square"], "float32", "sm_90", "exact")
    assert numbers(mended.text) == numbers(first.text)


def numbers(ptx: str) -> list[str]:
    """Return the instructions on floating-point numbers."""
    return [line for line in ptx.splitlines() if ".f32" in line]


def test_laws_with_exchanged_parameters_have_kernels_of_their_own(folder):
    """The graph refers to parameters by their order, which is therefore part of the key."""

    def first():
        @hs.normal_law
        def law(c, a=5e4, b=10.0):
            return a * c.depth + b * c.depth_rate

        return law

    def second():
        @hs.normal_law
        def law(c, b=5e4, a=10.0):
            return b * c.depth + a * c.depth_rate

        return law

    peaks = [hs.impact.point_impact(1.0, 1.0, law=made()).peak for made in (first, second)]
    assert np.array_equal(*peaks)
    assert len(list(folder.iterdir())) == 2
