"""Sweeps: which world gets what, and a store whose bytes depend on nothing else.

Oracles: the simulator's own batch run with the same values, bit by bit; NumPy's Philox read from
its start; closed forms of the distributions; and for everything that may disturb a sweep (kills,
damage, chunks, threads, lanes, a mock GPU) the bytes of an undisturbed one.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import heelstrike as hs
from benchmarks.processes import waited, workers_of
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime import compiler
from heelstrike.runtime.compiler import compile_program
from heelstrike.simulate.start import contacts_at
from heelstrike.simulate.start_depths import start_depths
from heelstrike.sweeps import job as jobs
from heelstrike.sweeps import store
from heelstrike.sweeps import sweep as sweeping
from heelstrike.sweeps.axes import Random, grid_values
from heelstrike.sweeps.cluster import work
from heelstrike.sweeps.definition import SweepDefinition, define_sweep
from heelstrike.sweeps.fell import FallCriterion
from heelstrike.sweeps.plan import SweepPlan
from heelstrike.sweeps.store import locked
from tests import gpu, toppler
from tests.cli import call

BALL = """
about = "a ball falls"
[simulation]
duration = 0.1
[[object]]
model = "ball"
drop = 0.02
[[surface]]
type = "plane"
[surface.law]
normal = { type = "hunt-crossley", k = 5e4, alpha = 0.1 }
friction = { type = "kinetic", mu = 0.3 }
"""
GRID = {"ground.normal.k": "1e4:1e5:log:7"}
RANDOM = {"ground.normal.alpha": (0.0, 0.5)}
WORLDS = 42


@pytest.fixture(autouse=True)
def desk(monkeypatch, tmp_path):
    """80 columns, no colour, in a folder with one scene."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.toml").write_text(BALL)


def swept(folder="made", scene="ball.toml", grid=GRID, random=RANDOM, worlds=WORLDS, **options):
    return hs.sweep(scene, grid, random, worlds, 3, folder=folder, **options)


def content(folder="made"):
    """What a finished store holds, but the chunk's size."""
    assert sorted(path.name for path in Path(folder).iterdir()) == ["sweep.json", "sweep.nc"]
    return (Path(folder) / "sweep.nc").read_bytes()


@pytest.fixture
def whole():
    """The bytes of a sweep that nothing disturbed."""
    swept("whole", threads=1)
    return content("whole")


# which world gets what


def test_grids():
    assert grid_values("k", "0:1:5") == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert grid_values("k", "0:1:lin:5") == grid_values("k", [0, 0.25, 0.5, 0.75, 1])
    assert grid_values("k", "1e3:1e6:log:4") == (1e3, 1e4, 1e5, 1e6)
    assert grid_values("k", "0.2, 0.4,0.8") == (0.2, 0.4, 0.8)
    found = grid_values("k", "3:700:log:50")
    # to the 12 digits that a grid keeps
    np.testing.assert_allclose(found, np.geomspace(3, 700, 50), rtol=5e-12)


def test_grids_multiply_in_order_and_repeat():
    plan = SweepPlan.of({"a": [1, 2], "b": [10, 20, 30]}, None, 12, 0)
    found = plan.values(0, 12)
    assert found["a"].tolist() == [1, 1, 1, 2, 2, 2] * 2
    assert found["b"].tolist() == [10, 20, 30] * 4
    assert SweepPlan.of({"a": [1, 2], "b": [10, 20, 30]}, None, None, 0).worlds == 6


def test_draws_are_those_of_a_stream_read_at_any_place():
    """World i has the i-th number of NumPy's Philox under its key."""
    key = int.from_bytes(sha256(b"7 x").digest()[:16], "little")
    raw = np.random.Philox(key=key).random_raw(1000)
    wanted = 2.0 + 3.0 * ((raw >> np.uint64(11)) * 2.0**-53)
    random = Random(2.0, 5.0)
    np.testing.assert_array_equal(random.draw(7, "x", 0, 1000), wanted)
    for first, last in ((0, 1), (1, 2), (3, 17), (400, 1000)):
        np.testing.assert_array_equal(random.draw(7, "x", first, last), wanted[first:last])
    assert not np.isin(random.draw(8, "x", 0, 1000), wanted).any()
    assert not np.isin(random.draw(7, "y", 0, 1000), wanted).any()


@pytest.mark.parametrize(
    ("random", "mean", "sigma"),
    [
        (Random(2.0, 5.0), 3.5, 3 / np.sqrt(12)),
        (Random(3.0, 0.5, "normal"), 3.0, 0.5),
        (Random(0.01, 100.0, "log"), 0.0, np.log(1e4) / np.sqrt(12)),  # of the logarithm
    ],
)
def test_distributions_have_their_moments(random, mean, sigma):
    values = random.draw(0, "x", 0, 100_000)
    values = np.log(values) if random.kind == "log" else values
    # five standard errors of a mean, and of a deviation
    assert abs(values.mean() - mean) < 5 * sigma / np.sqrt(1e5)
    assert abs(values.std() / sigma - 1) < 5 / np.sqrt(2e5)


def test_worlds_have_the_bits_of_a_batch_run():
    """Parameter, entry of a vector, factor of one, masses, start: as the simulator has them."""
    grid = {"ground.normal.k": [2e4, 5e4], "start.drop": [0.01, 0.02, 0.03]}
    random = {"robot.mass_scale": (0.5, 2), "gravity.x": (0, 1), "gravity_scale": (0.5, 1)}
    found = swept(None, grid=grid, random=random).data
    scene = hs.load_scene("ball.toml")
    sim = scene.simulator()
    values = {path: found[path].values for path in [*grid, *random]}
    gravity = np.stack([values["gravity.x"], 0 * values["gravity.x"], np.full(WORLDS, -9.81)], 1)
    (body,) = sim.robot.bodies
    vary = {
        "ground.normal.k": values["ground.normal.k"],
        "gravity": gravity * values["gravity_scale"][:, None],
        f"{body.name}.mass": body.mass * values["robot.mass_scale"],
    }
    q0 = np.tile(scene.start[0], (WORLDS, 1))
    q0[:, 2] += values["start.drop"] - 0.02
    run = sim.run(0.1, q0=q0, worlds=WORLDS, vary=vary, record="final").data
    for name in ("peak_force", "peak_depth", "impulse", "failed", "steps", "q", "v"):
        np.testing.assert_array_equal(found[name], run[name], err_msg=name)
    assert len(np.unique(found["peak_force"])) == WORLDS


def test_a_simulator_with_a_law_of_ones_own():
    """It starts where it was put; it is not changed."""

    @hs.normal_law
    def mine(c, k=3e4):
        return k * c.depth

    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=hs.Elastic(mine(), None))))
    start = sim.robot.neutral + np.eye(7)[2] * 0.2
    sim.begin_at(start)
    before = repr(sim.parameters)
    ks = np.linspace(1e4, 4e4, 5)
    found = hs.sweep(sim, {"ground.normal.k": ks, "ball.mass_scale": [1, 2]}, duration=0.3)
    assert repr(sim.parameters) == before
    run = sim.run(0.3, q0=start, worlds=5, vary={"ground.normal.k": ks}, record="final")
    np.testing.assert_array_equal(found.data["q"][::2], run.data["q"])
    assert found.path is None
    assert found.info["sweep"]["scene"] is None


def test_a_joint_that_starts_elsewhere_is_held_there():
    scene = '[[robot]]\nmodel = "hoap1"\ndrop = 0.0\n[servo]\n[[surface]]\ntype = "plane"\n'
    Path("robot.toml").write_text(scene)
    study = define_sweep("robot.toml", SweepPlan.of({"start.q.R_KN": [0.1, 0.2]}, None, None, 0))
    rows = study.rows((0, 2))
    joint = next(j for j in study.sim.robot.joints if j.name == "R_KN")
    assert (
        rows["servo.q_ref"][:, joint.iv].tolist() == rows["q"][:, joint.iq].tolist() == [0.1, 0.2]
    )


def test_starts_are_checked_in_every_world_as_it_is():
    """Lower or with a foot bent down hoap1 starts well; both together are 13.6 mm in the ground.
    Oracle of the depths: Pinocchio, one world at a time.
    """
    text = '[[robot]]\nmodel = "hoap1"\ndrop = 0.01\n[servo]\n[[surface]]\ntype = "plane"\n'
    Path("robot.toml").write_text(text)
    both = {"start.q.root.z": [0.2963, 0.2883], "start.q.R_AFE": [-0.2414, 0.0586]}
    study = define_sweep("robot.toml", SweepPlan.of(both, None, None, 0))
    rows = study.rows((0, 4))
    found = start_depths(study.sim.plan, {**study.job.base, **rows})
    wanted = [contacts_at(study.sim.scene, q)[0] for q in rows["q"]]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)  # rounding of sums of some metres
    said = r"world 3, start\.q\.root\.z = 0\.2883, start\.q\.R_AFE = 0\.0586: .* 13\.\d mm inside"
    with pytest.raises(HeelstrikeError, match=said):
        study.check()
    for path in both:
        define_sweep("robot.toml", SweepPlan.of({path: both[path]}, None, None, 0)).check()


def test_ground_that_rises_into_a_start_is_refused():
    """By 19 mm under a ball that starts 20 mm above it, or 1 mm: 18 mm inside."""
    heights = {"ground.point.z": [0.0, 0.019], "start.drop": [0.02, 0.001]}
    with pytest.raises(HeelstrikeError, match=r"world 3, .*starts 18 mm inside 'ground'"):
        swept(grid=heights, worlds=None, random=None)
    field = BALL.replace('type = "plane"', 'type = "height-field"\nheights = [[0, 0], [0, 0]]')
    Path("ball.toml").write_text(field)
    with pytest.raises(HeelstrikeError, match=r"world 3, .*starts 18 mm inside"):
        swept(grid=heights, worlds=None, random=None)


def test_paths_that_are_no_names_in_a_file():
    """Bodies of parts have a slash, laws of a body on a surface have spaces."""
    law = hs.Elastic(hs.HuntCrossley(k=2e4), None)
    robot = hs.combine({"a": hs.load("ball"), "b": hs.load("ball")})
    scene = hs.Scene(robot, hs.Plane(), materials={"a/ball on ground": law})
    sim = hs.Simulator(scene)
    sim.begin_at(robot.neutral + np.tile(np.eye(7)[2], 2))
    grid = {"a/ball on ground.normal.k": [1e4, 2e4], "b/ball.mass_scale": [1, 2]}
    found = hs.sweep(sim, grid, duration=0.01)
    names = ["a:ball_on_ground.normal.k", "b:ball.mass_scale"]
    assert list(found.info["varied"]) == names
    assert found.data[names[0]].values.tolist() == [1e4, 1e4, 2e4, 2e4]
    assert found.data[names[0]].attrs["units"] == "N/m^n"
    assert "b:ball.mass_scale 1 to 2, 2 values" in str(found.summary())


def test_who_fell():
    """Low, tilted by 70 degrees about x, turned about the vertical: by the definition."""
    judge = FallCriterion(0, 0.3, (0.0, 0.0, 1.0))
    tilt, turn = np.radians(70) / 2, np.radians(170) / 2
    q = np.array(
        [
            [0, 0, 0.4, 0, 0, 0, 1],
            [0, 0, 0.2, 0, 0, 0, 1],
            [0, 0, 0.4, np.sin(tilt), 0, 0, np.cos(tilt)],
            [0, 0, 0.4, 0, 0, np.sin(turn), np.cos(turn)],
        ]
    )
    assert compile_program(judge.program(7))(q=q)["fell"].ravel().tolist() == [0, 1, 1, 0]


def test_a_robot_whose_servo_is_weak_falls():
    weak = {"servo.kp_scale": [0.001, 1.0], "servo.kd_scale": [0.05]}
    found = hs.sweep("stand", weak, duration=2.0)
    assert found.data["fell"].values.tolist() == [True, False]


# the same bytes


@pytest.mark.parametrize("options", [{"threads": 2}, {"chunk": 5}, {"chunk": 16, "threads": 2}])
def test_bytes_do_not_depend_on_chunks_and_threads(whole, options):
    swept(**options)
    assert content() == whole


def test_bytes_do_not_depend_on_the_lanes(whole, monkeypatch):
    """Chunks by workers of 2, 4, 8 and 1 lanes, from a program that was sent as bytes."""
    widths, used = iter([2, 4, 8, 1] * 3), []

    class Mixed(jobs.Worker):
        def work(self, *arguments):
            sent = pickle.loads(pickle.dumps(self.job))
            self.kernel, self._batch = sent.kernel(next(widths)), None
            used.append(self.kernel.layout.width)
            return super().work(*arguments)

    monkeypatch.setattr(sweeping, "Worker", Mixed)
    job = SweepDefinition.job
    with_program = property(lambda study: jobs.with_program(job.func(study), study.sim))
    monkeypatch.setattr(SweepDefinition, "job", with_program)
    swept(chunk=5)
    assert set(used) == {1, 2, 4, 8}
    assert content() == whole


class Killed(Exception):
    pass


def die_after(chunks, monkeypatch, **options):
    """A sweep that dies when it has written so many chunks."""
    left, write = [chunks], sweeping.Store.write

    def die(self, *arguments):
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        write(self, *arguments)

    with monkeypatch.context() as here:
        here.setattr(sweeping.Store, "write", die)
        with pytest.raises(Killed):
            swept(**options)


def test_resumed_sweep_has_the_same_bytes(whole, monkeypatch):
    """Twice killed, one chunk damaged, one cut short, one lost; parts of files left behind."""
    die_after(2, monkeypatch, chunk=5)
    die_after(4, monkeypatch, resume=True)
    files = sorted(Path("made/chunks").iterdir())
    assert len(files) == 6
    damaged = bytearray(files[1].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    files[1].write_bytes(damaged)
    files[2].write_bytes(files[2].read_bytes()[:100])
    files[3].unlink()
    Path("made/.heelstrike-0123456789ab.nc").write_bytes(b"half")
    found = swept(resume=True)
    assert found.meter.made == (WORLDS - 3 * 5) * 100
    assert content() == whole
    again = swept(resume=True)
    assert again.meter.made == 0
    assert again.data.equals(found.data)


def test_sweep_that_is_killed_for_good_is_resumed(whole):
    """SIGKILL of a process, as soon as it has kept a chunk."""
    words = ["sweep", "ball.toml", "--grid", "ground.normal.k=1e4:1e5:log:7", "--seed", "3"]
    words += ["--random", "ground.normal.alpha=0:0.5", "--worlds", "42", "-o", "made"]
    process = subprocess.Popen([sys.executable, "-m", "heelstrike", *words, "--chunk", "1"])
    until = time.monotonic() + 60
    while not list(Path("made/chunks").glob("*.npz")) and time.monotonic() < until:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not Path("made/sweep.nc").exists()
    swept(resume=True)
    assert content() == whole


def test_gpu_has_the_bits_of_the_cpu(monkeypatch):
    """Where there is no GPU, the mock one."""
    gpu.install(monkeypatch)
    ours = swept("cpu", dtype="float32").data
    theirs = swept("gpu", device="cuda").data
    assert theirs.attrs["device"] == '"cuda"'
    assert ours.equals(theirs)


# what is kept


def test_only_what_is_asked_for_is_kept():
    """It has the same numbers, and a world takes less."""
    every, some = swept("all").data, swept(keep=["peak_force", "impulse"]).data
    assert set(some.data_vars) == {"failed", "steps", "peak_force", "impulse"}
    assert all(some[name].equals(every[name]) for name in some.data_vars)
    assert "peak force" in str(hs.Recording.load("made/sweep.nc").summary())
    plan = SweepPlan.of(GRID, RANDOM, WORLDS, 3)
    values = sum(x.nbytes for x in some.variables.values() if "world" in x.dims)
    size = define_sweep("ball.toml", plan, keep=["peak_force", "impulse"]).bytes * WORLDS
    assert values <= size < 1.5 * values
    bare = swept("bare", keep=[])
    assert set(bare.data.data_vars) == {"failed", "steps"}
    assert "failed        none" in str(bare.summary())
    bare.plot("bare.png")
    with pytest.raises(HeelstrikeError, match=r"another keep|keep \[.*\], not"):
        swept(keep=["q"], resume=True)
    with pytest.raises(HeelstrikeError, match=r"no variable to keep 'fell'; .*keep: peak_force"):
        swept("no", keep=["fell"])


def test_who_fell_is_judged_on_the_gpu_and_little_is_copied_back(monkeypatch):
    """Beside the CPU's judgement; a number a world for each of failed, steps and fell."""
    driver = gpu.install(monkeypatch)
    axes = {"random": {"start.v.root.wy": (0.0, 8.0)}, "worlds": 70, "duration": 0.4}
    sims = [
        hs.Simulator(toppler.scene(), control=hs.Servo(), dtype="float32", device=device)
        for device in ("cpu", "cuda")
    ]
    ours = hs.sweep(sims[0], **axes).data
    driver.copied["out"] = 0
    theirs = hs.sweep(sims[1], **axes, keep=["fell"]).data
    assert driver.copied["out"] == 3 * 96 * 4  # 70 worlds in three tiles
    np.testing.assert_array_equal(ours["fell"], theirs["fell"])
    assert 0 < int(ours["fell"].sum()) < 70


def test_chunks_fit_into_the_gpu(monkeypatch):
    """Half of what is free is for the worlds of a chunk; what a user says is taken or refused."""
    driver = gpu.install(monkeypatch)
    plan = SweepPlan.of(None, RANDOM, 3000, 3)
    study = define_sweep("ball.toml", plan, device="cuda")
    assert sweeping.chunk_size(study, shared=False) == 3000
    driver.free = 2 * 300 * study.kernel.world_bytes
    assert study.kernel.max_worlds == 600
    assert sweeping.chunk_size(study, shared=False) == 256  # a multiple of 128
    options = {"grid": None, "worlds": 3000, "duration": 0.002, "device": "cuda"}
    swept("fits", **options)
    assert json.loads(Path("fits/sweep.json").read_text())["chunk"] == 256
    with pytest.raises(HeelstrikeError, match="GB are free; 600 worlds fit"):
        swept("large", chunk=700, **options)


def test_ten_thousand_worlds_cost_one_compile(monkeypatch):
    """And few chunks: 4096 worlds each."""
    monkeypatch.setenv("HEELSTRIKE_CACHE", "off")
    made, compiled = [], compiler.compile_program
    monkeypatch.setattr(
        compiler, "compile_program", lambda p, *rest: made.append(p.name) or compiled(p, *rest)
    )
    found = hs.sweep("ball.toml", None, RANDOM, 10_000, duration=0.01)
    assert made == ["step"]
    assert found.data.sizes["world"] == 10_000


# what is refused, and what is said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grid": {"ground.normal.kk": [1]}}, "did you mean 'ground.normal.k'"),
        ({"grid": {"gravity": [1]}}, "name one entry, gravity.x, gravity.y, gravity.z, or scale"),
        ({"grid": {"gravity.w": [1]}}, "gravity has no entry 'w'; entries: x, y, z"),
        ({"grid": {"dt": [1e-3]}}, "dt cannot vary; run a sweep for each dt"),
        ({"grid": {"ground.normal.k": [1e4, -1]}}, "k is -1.0; allowed: 0 to"),
        ({"random": {"robot.mass_scale": (-0.1, 1)}}, "allowed: masses above 0 kg"),
        ({"grid": {"start.drop": [0.1, -0.2]}}, r"start.drop = -0.2: point .* inside 'ground'"),
        (
            {"scene": "stand", "grid": {"start.drop": [0]}, "random": {"start.q.R_KN": (0, 1)}},
            r"'start.q.R_KN' moves that point; vary the base's own height, start.q.root.z",
        ),
        (
            {"grid": {"start.drop": [0.02, 0.03]}, "random": {"start.q.root.z": (0.5, 0.6)}},
            "'start.drop' and 'start.q.root.z' set the same number; keep one of them",
        ),
        (
            {"scene": "stand", "grid": {"start.q.R_KN": [1], "servo.q_ref.R_KN": [1]}},
            "'start.q.R_KN' and 'servo.q_ref.R_KN' set the same number",
        ),
        ({"grid": {"start.q.root.qw": [1]}}, "no start 'start.q.root.qw'"),
        (
            {"grid": {"ground.normal.k": "1e3:1e6:lag:4"}},
            "grid: ground.normal.k is '1e3:1e6:lag:4'; allowed: texts such as 1e3:1e6:log:64",
        ),
        (
            {"grid": {"ground.normal.k": "0:1:log:4"}},
            "is '0:1:log:4'; allowed: positive ends of a log grid",
        ),
        ({"grid": {"ground.normal.k": "1:2:1"}}, "has 1 values; allowed: 2 to 1000000"),
        ({"random": {"ground.normal.k": "2:1"}}, "2:1 ends below its start; write 1:2"),
        (
            {"random": {"ground.normal.alpha": 0.5}},
            "random: ground.normal.alpha is 0.5; allowed: texts such as 0.9:1.1",
        ),
        ({"random": {"ground.normal.k": "1:2:3"}}, "no distribution '3'"),
        ({"random": {"ground.normal.k": "1e4:2e4"}}, "is both on the grid and random"),
        ({"worlds": 20}, "not a multiple of the grid's 7 = 7 points; use 21"),
        ({"grid": None, "worlds": None}, "the number of worlds is not known; pass it"),
        ({"chunk": 0}, "chunk is 0; allowed: integers above 0"),
        ({"device": "gpu"}, "no device 'gpu'"),
        ({"math": "fast"}, 'math="fast" is available for float32 on a GPU only'),
    ],
)
def test_refusals_come_before_anything_runs(options, said):
    with pytest.raises(HeelstrikeError, match=said):
        swept(**options)
    assert not Path("made").exists()


def test_a_folder_of_another_sweep_is_refused():
    swept()
    with pytest.raises(HeelstrikeError, match="already holds this sweep, finished; use --resume"):
        swept()
    with pytest.raises(HeelstrikeError, match="worlds 42, not 49"):
        swept(worlds=49, resume=True)
    Path("ball.toml").write_text(BALL.replace("mu = 0.3", "mu = 0.4"))
    with pytest.raises(HeelstrikeError, match=r"ground\.friction\.mu \[0\.3\], not \[0\.4\]"):
        swept(resume=True)
    Path("ball.toml").write_text(BALL.replace('model = "ball"', 'model = "cube"'))
    with pytest.raises(HeelstrikeError, match="another robot, law, table or version"):
        swept(resume=True)
    Path("other").mkdir()
    Path("other/notes.txt").write_text("mine")
    with pytest.raises(HeelstrikeError, match=r"holds other files \(notes.txt\)"):
        swept("other", resume=True)


def test_files_that_are_not_ours_stay():
    """Hidden ones with names like those of our own, beside a sweep and in a folder without one."""
    names = [".sweep.mine", ".heelstrike-0123456789a.txt", ".heelstrike"]
    Path("other").mkdir()
    swept("made")
    mine = [Path(folder, name) for folder in ("other", "made") for name in names]
    for path in mine:
        path.write_text("mine")
    half = Path("other/.heelstrike-0123456789ab.json")
    half.write_text("{")
    with pytest.raises(
        HeelstrikeError, match=r"holds other files \(.heelstrike, .heelstrike-0123456789a.txt"
    ):
        swept("other")
    assert half.exists()  # a folder that is not known as ours
    swept(resume=True)
    assert all(path.read_text() == "mine" for path in mine)


def test_a_kill_before_the_manifest_leaves_a_folder_that_may_be_used(whole):
    Path("made").mkdir()
    Path("made/.heelstrike-0123456789ab.json").write_text("{")
    swept()
    assert content() == whole


def test_half_a_sweep_is_refused_without_resume(monkeypatch):
    die_after(1, monkeypatch, chunk=5)
    with pytest.raises(HeelstrikeError, match="unfinished; use --resume to continue it"):
        swept()
    with pytest.raises(HeelstrikeError, match="started with chunks of 5 worlds; omit --chunk"):
        swept(chunk=6, resume=True)


def test_a_disk_that_is_too_small_is_refused_before_anything_runs(monkeypatch, whole):
    """By the file's own size, twice: once as chunks."""
    size = define_sweep("ball.toml", SweepPlan.of(GRID, RANDOM, WORLDS, 3)).bytes * WORLDS
    values = sum(x.nbytes for x in swept(None).data.variables.values() if "world" in x.dims)
    assert values <= size < 1.1 * values
    free = SimpleNamespace(free=2 * size - 1)
    monkeypatch.setattr(store.shutil, "disk_usage", lambda folder: free)
    with pytest.raises(HeelstrikeError, match=r"needs .* GB in 'made', chunks included"):
        swept()
    free.free += 1
    swept(resume=True)
    assert content() == whole


def test_a_damaged_result_says_what_to_do(whole):
    swept()
    Path("made/sweep.nc").write_bytes(whole[:1000])
    with pytest.raises(HeelstrikeError, match="is damaged; remove it, and use --resume"):
        swept(resume=True).summary()
    Path("made/sweep.nc").unlink()
    swept(resume=True)
    assert content() == whole


def test_two_processes_are_refused_in_one_folder():
    Path("made").mkdir()
    with locked(Path("made")), pytest.raises(HeelstrikeError, match=f"process .{os.getpid()}"):
        swept()
    swept()


@pytest.mark.parametrize("begins", [False, True])
def test_a_lock_that_its_holder_removes_while_it_is_taken_is_none(monkeypatch, begins):
    """Between opening and locking the holder ends, and a third process begins or does not."""
    path, flock = Path("made/sweep.lock"), store.fcntl.flock
    path.parent.mkdir()
    with ExitStack() as stack:

        def late(handle, how):
            monkeypatch.setattr(store.fcntl, "flock", flock)
            path.unlink()
            if begins:
                flock(stack.enter_context(path.open("w")), how)
            flock(handle, how)

        monkeypatch.setattr(store.fcntl, "flock", late)
        if begins:
            with pytest.raises(HeelstrikeError, match="another process works"), locked(path.parent):
                pass
        else:
            with locked(path.parent):
                assert path.read_text() == f"{os.getpid()}\n"


# the command line


def test_command_leaves_data_and_a_picture(capsys):
    options = ("--random", "robot.mass_scale=0.9:1.1", "--worlds", "12", "-o", "made")
    code, out, err = call(
        capsys, "sweep", "ball.toml", "--grid", "ground.normal.k=1e4:5e4:4", *options
    )
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "varied        ground.normal.k 1e+04 to 5e+04 N/m^n, 4 values" in out
    assert "made/sweep.nc" in out
    assert Path("made/sweep.png").stat().st_size > 10_000
    run = hs.Recording.load("made/sweep.nc")
    assert run.data["ground.normal.k"].attrs["units"] == "N/m^n"
    assert "fell" not in run.data  # nobody asks of a ball
    assert "12 worlds" in str(run.summary())
    assert "wall time" not in str(run.summary())


def test_json_says_the_same(capsys):
    words = ("sweep", "ball.toml", "--grid", "start.drop=0.01,0.02", "--json")
    code, out, err = call(capsys, *words)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["data"] == "heelstrike-runs/ball-sweep/sweep.nc"
    assert found["summary"]["worlds"] == found["summary"]["computed"] == 2
    assert found["summary"]["peak_force"]["largest"]["values"] == {"start.drop": 0.02}
    assert found["summary"]["failed"] == {"count": 0, "first": None}
    code, out, err = call(capsys, *words)
    assert code == 1
    assert "--resume" in err
    assert call(capsys, "sweep", "ball.toml", "--grid", "start.drop")[0] == 1


def test_worlds_that_diverge_are_counted(capsys):
    """A stiff law in a step that cannot bear it: the others go on, the exit code is 0."""
    code, out, _ = call(
        capsys, "sweep", "ball.toml", "--grid", "ground.normal.k=1e4,1e12", "--duration", "0.2"
    )
    assert code == 0
    assert "failed        1 (50 %), first world 1 (ground.normal.k 1e+12) at step" in out


def test_interrupt_says_how_to_go_on(whole):
    """Ctrl-C: 130, and what was computed is kept."""
    words = ["sweep", "ball.toml", "--grid", "ground.normal.k=1e4:1e5:log:7", "--seed", "3"]
    words += ["--random", "ground.normal.alpha=0:0.5", "--worlds", "42", "-o", "made"]
    command = [sys.executable, "-m", "heelstrike", *words, "--chunk", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not list(Path("made/chunks").glob("*.npz")) and time.monotonic() < until:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "interrupted; the same command with --resume continues in made\n"
    swept(resume=True)
    assert content() == whole


@pytest.mark.parametrize("axes", [1, 2])
def test_picture_is_drawn_of_curves_and_of_maps(axes):
    grid = {"ground.normal.k": "1e4:1e5:log:7", "ground.normal.alpha": "0:0.5:6"}
    chosen = dict(list(grid.items())[:axes])
    figure = swept(None, grid=chosen, random={"start.drop": (0.01, 0.02)}, worlds=84).plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles.count("Peak normal force of any point") == (2 if axes == 1 else 1)
    assert figure.axes[0].get_xscale() == "log"


# a Ray cluster


class PaperRay(ModuleType):
    """What Ray offers, in this process: the last chunk given out comes back first, as bytes."""

    class exceptions:
        class RayError(Exception):
            pass

        class RayTaskError(RayError):
            cause = HeelstrikeError("install the same version on all nodes")

    def __init__(self, fails=None, **gpus):
        super().__init__("ray")
        self.fails, self.put, self.asked = fails, pickle.dumps, []
        self.resources = {"CPU": 2.0} | gpus

    def init(self, **options):
        pass

    shutdown = init

    def cluster_resources(self):
        return self.resources

    def remote(self, **options):
        self.asked.append(options)

        def given(work):
            return SimpleNamespace(remote=lambda job, *rest: (work, job, pickle.dumps(rest)))

        return given

    def wait(self, waiting, num_returns, timeout):
        assert len(waiting) <= 4
        return waiting[-num_returns:], waiting[:-num_returns]

    def get(self, given):
        if self.fails:
            raise self.fails
        work, job, rest = given
        return work(pickle.loads(job), *pickle.loads(rest))


def test_chunks_of_a_cluster_in_any_order_give_the_same_bytes(whole, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", PaperRay())
    swept(ray="local", chunk=4)
    assert content() == whole


def test_gpus_of_a_cluster(monkeypatch):
    """Each worker has one; where there is none, a sentence."""
    gpu.install(monkeypatch)
    ray = PaperRay(GPU=1.0)
    monkeypatch.setitem(sys.modules, "ray", ray)
    theirs = swept("there", ray="local", device="cuda", chunk=32).data
    assert ray.asked == [{"num_gpus": 1, "max_retries": 5}]
    assert theirs.equals(swept("here", dtype="float32").data)
    monkeypatch.setitem(sys.modules, "ray", PaperRay())
    with pytest.raises(HeelstrikeError, match="no node of this Ray cluster has a GPU"):
        swept("none", ray="local", device="cuda")


def test_a_node_that_worked_on_another_sweep_begins_anew():
    """Of the same program: from another start, for another time, with another path that varies."""
    ports = {"ground.normal.k": [2e4, 3e4], "ground.normal.alpha": [0.0, 0.4]}
    rows = [{port: np.array(numbers)[:, None]} for port, numbers in ports.items()]
    study = define_sweep("ball.toml", SweepPlan.of(GRID, None, None, 0))
    job = jobs.with_program(study.job, study.sim)
    lower = dict(job.base) | {"q": job.base["q"] - 0.01 * np.eye(7)[2]}
    others = replace(job, base=lower), replace(job, steps=50), job
    todo = [*((each, rows[0]) for each in others), (job, rows[1])]
    found = [work(each, 2, row) for each, row in todo]
    for (each, row), end in zip(todo, found, strict=True):
        fresh = jobs.Worker(each, each.kernel()).work(2, row)
        np.testing.assert_array_equal(end["q"], fresh["q"])
    assert len({end["q"].tobytes() for end in found}) == 4


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PaperRay.exceptions.RayError(), "the worker of chunk [0-9] was killed 6 times"),
        (PaperRay.exceptions.RayTaskError(), "install the same version on all nodes"),
    ],
)
def test_what_a_cluster_cannot_do_is_a_sentence(monkeypatch, error, said):
    monkeypatch.setitem(sys.modules, "ray", PaperRay(error))
    with pytest.raises(HeelstrikeError, match=said):
        swept(ray="local", chunk=16)


def test_another_version_on_a_node_is_refused():
    study = define_sweep("ball.toml", SweepPlan.of(GRID, None, None, 0))
    job = jobs.with_program(study.job, study.sim)
    with pytest.raises(
        HeelstrikeError, match=r"this sweep was started by Heelstrike 0\.0, but this machine"
    ):
        replace(job, version="0.0").kernel()


def test_waiting_for_a_process_ends():
    """With what is found, with the process, or after a while."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        finds = iter([[], [], [7]])
        assert waited(process, lambda: next(finds), 60.0, 0.0) == [7]
        with pytest.raises(SystemExit, match=r"nothing was found for 0\.1 s"):
            waited(process, lambda: workers_of(process), 0.1, 0.01)
        process.kill()
        with pytest.raises(SystemExit, match="exit code -9"):
            waited(process, list, 60.0, 0.01)


@pytest.mark.nightly
def test_ray_gives_the_same_bytes_though_a_worker_is_killed():
    """Nightly: a cluster takes seconds to start. A worker is killed while it has a chunk."""
    pytest.importorskip("ray", reason="needs heelstrike[ray]")
    swept("whole", duration=400.0)
    words = f"import heelstrike as hs; hs.sweep('ball.toml', {GRID}, {RANDOM}, {WORLDS}, 3, 400.0, "
    words += "folder='made', chunk=2, ray='local')"
    process = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE)
    try:
        waited(process, lambda: list(Path("made/chunks").glob("*.npz")), 300.0)
        os.kill(waited(process, lambda: workers_of(process), 60.0, 0.01)[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=600.0)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, b"")
    assert content() == content("whole")


def test_ray_that_is_not_there_is_a_sentence(monkeypatch):
    with socket.socket() as unused, monkeypatch.context() as here:
        here.setitem(sys.modules, "ray", PaperRay())
        unused.bind(("127.0.0.1", 0))  # and listens to nobody
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(HeelstrikeError, match=f"no Ray cluster at '{address}'"):
            swept("unreached", ray=address)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(HeelstrikeError, match=r"pip install heelstrike\[ray\]"):
        swept(ray="local")
    assert not Path("unreached").exists()
    assert not Path("made").exists()
