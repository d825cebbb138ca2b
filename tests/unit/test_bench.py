"""What `heelstrike bench` measures by, and what it writes.

Oracles. The search for a step: explicit Euler of z' = -z from 1, whose path (1 - h)^(t / h) is a
closed form, so that the largest step is known beforehand. Memory: the robot's own counts of
coordinates and points. The command: what docs/bench.md promises.
"""

import json
import subprocess
import sys
from contextlib import nullcontext
from enum import IntFlag
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from heelstrike import machine
from heelstrike.bench import accuracy, memory, standing, steps, timing
from heelstrike.bench.bench import Wanted, notes
from heelstrike.bench.gpu import by_warp, check_warp, fallen, on_gpu
from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import DEFAULT, case, simulator
from heelstrike.cli import main
from heelstrike.robot import load
from heelstrike.view.figures.bench import against_peer
from heelstrike.view.pages.bench import gpu_table, ratios, write_page

ROOT = Path(__file__).parents[2]

TIMES = accuracy.GRID * np.arange(1, 51)


def euler(parts):
    """z' = -z by explicit Euler at multiples of GRID."""
    h = accuracy.GRID / parts
    return (1 - h) ** np.round(TIMES / h)


@pytest.mark.parametrize("tolerance", [2e-4, 1e-3, 3e-3])
def test_the_largest_step_of_euler_is_that_of_its_closed_form(tolerance):
    def error(h):
        finest = accuracy.GRID / accuracy.FINEST
        return np.abs((1 - h) ** (TIMES / h) - (1 - finest) ** (TIMES / finest)).max()

    sizes = accuracy.GRID / np.array(accuracy.PARTS)
    known = max(h for h in sizes if error(h) < tolerance)
    found = accuracy.largest_step(euler, tolerance)
    assert found.dt == known
    assert found.error == pytest.approx(error(known), rel=1e-9)  # the same sums in another order
    # first order: half of h max_t |t e^-t| = h / 2e, of the reference's own step
    assert found.reference_error == pytest.approx(
        accuracy.GRID / accuracy.FINEST / (2 * np.e), rel=0.01
    )


def test_a_large_step_that_agrees_by_chance_is_not_taken():
    def lucky(parts):
        return euler(accuracy.FINEST) if parts == 1 else euler(parts)

    assert accuracy.largest_step(lucky, 1e-3).dt < accuracy.GRID


def test_without_a_converged_reference_there_is_no_step():
    noise = iter(np.random.default_rng(0).normal(size=100))
    found = accuracy.largest_step(lambda parts: euler(parts) + next(noise))
    assert found.dt is None
    assert found.reference_error > 0.1


def test_a_path_that_goes_astray_ends_the_search():
    def diverging(parts):
        return euler(parts) if parts > 8 else np.full(50, np.nan)

    assert accuracy.largest_step(diverging, 0.1).parts == 10


def test_contenders_are_judged_by_their_own_clocks():
    """Clocks that only the calls move: calls last 1/16 s; 1/8, 2/8, 3/8, ... s; and 4 s."""
    now = {"even": 0.0, "slower": 0.0, "slow": 0.0}
    calls = dict.fromkeys(now, 0)

    def call(name, lasts):
        calls[name] += 1
        now[name] += lasts(calls[name])

    def contender(name, work, lasts):
        return timing.Contender(partial(call, name, lasts), work, lambda: now[name])

    found = timing.timed(
        {
            "even": contender("even", 10, lambda n: 1 / 16),
            "slower": contender("slower", 1, lambda n: n / 8),
            "slow": contender("slow", 1, lambda n: 4.0),
        },
        turns=5,
    )
    assert found["even"] == {"us": 1e6 / 160, "spread": 1.0}
    # two calls before the turns; these last 3/8, 4/8, ... 7/8 s
    assert found["slower"] == {"us": 3e6 / 8, "spread": pytest.approx(5 / 3)}
    assert found["slow"] == {"us": 4e6, "spread": 1.0}
    assert calls == {"even": 7, "slower": 7, "slow": 5}  # the slow one has three turns


def test_memory_of_a_world_is_its_coordinates_and_accounts():
    """q, v, clock and failure, works, peaks of force and depth at each point, the feet's impulses,
    and two numbers of each bristle; then eight bytes for each world's own stiffness.
    """
    of = case("hoap1")
    sim = simulator(of.robot, of.dt, worlds=16)
    robot, points, feet = of.robot, 8, 2
    held = sum(np.size(value[0]) for value in sim.state.values())
    least = robot.nq + robot.nv + 2 + 6 + 2 * points + 3 * feet + 2 * points
    assert held >= least
    assert memory.bytes_per_world(sim) == 8 * held
    sim.run(steps=1, vary={"ground.normal.k": np.linspace(1e4, 2e4, 16)})
    assert memory.bytes_per_world(sim) == 8 * held + 8


@pytest.mark.nightly
def test_memory_of_a_process_grows_with_worlds():
    """By what a world holds, and by less than three times of it in passing copies."""
    of = case("hoap1")
    grown = memory.peak_per_world(of)
    held = memory.bytes_per_world(simulator(of.robot, of.dt, worlds=16))
    assert held < grown < 4 * held


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells a process's own peak")
def test_peak_of_a_process_is_its_own():
    """Not that of its parent, which holds 256 MiB more; and grows by what is held for a while."""
    ballast = np.ones(2**25)
    code = "from heelstrike.machine import peak_memory as p; before = p(); n = 2**26; b'x' * n"
    told = f"{code}; print(before, p())"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before < ballast.nbytes
    assert after - before == pytest.approx(2**26, rel=0.1)  # less what was free before


def test_peak_where_the_system_does_not_tell_it(monkeypatch):
    """By ru_maxrss, which is at least it: in kB but on macOS."""
    own = machine.peak_memory()
    monkeypatch.setattr(machine, "STATUS", "no-such-file")
    assert own <= 1.01 * machine.peak_memory() < 100 * own  # others of this process go on


def test_memory_does_not_grow_with_steps(monkeypatch):
    monkeypatch.setattr(memory, "MANY", 3000)
    of = case("hoap1")
    grown = memory._growth(simulator(of.robot, of.dt, worlds=16))
    # a record of q alone in each of 2,000 steps of 16 worlds would be 6.9 MB
    assert grown is None or grown < 1e6


def test_a_fallen_robot_has_no_figure():
    """It is not measured: a heap of parts would be cheaper to step."""
    of = case("hoap1")
    sim = simulator(of.robot, of.dt)
    standing.check_stands("hoap1", sim, least=0)
    sim.state["q"] = sim.state["q"] - 0.1 * np.eye(of.robot.nq)[2]
    with pytest.raises(standing.HeelstrikeError, match="does not stand"):
        standing.check_stands("hoap1", sim, least=0)


def test_mujoco_stands_where_ours_does():
    """The same file, pose and servo in both; they differ by what the ground gives, 1 mm."""
    of = case("hoap1")
    peer = Peer(of.source, of.robot)
    peer.check_stands("hoap1")
    assert abs(peer.height - simulator(of.robot, of.dt).state["q"][2]) < 1e-3
    state, _ = peer.rollout(3, 5, 1)()
    peer.step(5)
    assert np.array_equal(state[:, -1, 3], np.full(3, peer.data.qpos[2]))  # after the time


def test_the_load_of_a_gpu_on_this_machine():
    """The same code, on the CPU and with few worlds."""
    found = on_gpu(case("hoap1"), {"linear-spring": DEFAULT}, worlds=65, device="cpu", steps=50)
    row = found["linear-spring, float32, exact"]
    assert row["steps_per_s"] > 1e4
    assert row["fell"] == 0


def test_worlds_that_fall_on_a_gpu_are_counted():
    sim = simulator(case("hoap1").robot, 1e-3, worlds=4)
    assert fallen(sim) == 0
    q = sim.state["q"]
    q[:, 2] *= [1.0, 0.94, np.nan, 1.04]
    sim.compiled.batch(()).set(q=q)
    assert fallen(sim) == 2


class Flags(IntFlag):
    """Of mujoco_warp."""

    NEFC = 1
    NJMAX_NNZ = 2
    BROADPHASE = 4
    NARROWPHASE = 8
    CCD = 16
    ITERATIONS = 512


@pytest.mark.parametrize(
    ("contacts", "overflow", "height", "said"),
    [
        (16, [0, 512], 0.5, None),
        (16, [0, 8], 0.5, "too little room in 1 worlds"),
        (15, [0, 0], 0.5, "does not stand: 7.5 contacts a world"),
        (16, [0, 0], np.nan, "does not stand"),
    ],
)
def test_warp_whose_worlds_lost_contacts_is_refused(contacts, overflow, height, said):
    """Two worlds on eight contacts each; a solver at its limit is no loss."""

    def there(values):
        return SimpleNamespace(numpy=lambda: np.array(values))

    data = SimpleNamespace(nworld=2, nacon=there([contacts]), overflow=there(overflow))
    data.qpos = there([[0, 0, 0.5], [0, 0, height]])
    peer = SimpleNamespace(height=0.5, contacts=8)
    with nullcontext() if said is None else pytest.raises(standing.HeelstrikeError, match=said):
        check_warp("robot", peer, SimpleNamespace(OverflowType=Flags), data)


def test_warp_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    assert by_warp(case("hoap1")) is None


def test_what_is_left_out_is_said(monkeypatch):
    monkeypatch.delenv("HEELSTRIKE_DATA", raising=False)
    said = " ".join(notes(Wanted(), gpu=None))
    assert "g1, anymal_c" in said
    assert "HEELSTRIKE_DATA" in said
    assert [c.name for c in Wanted().cases()] == ["hoap1"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--robots", "no-such"), "no-such"),
        (("--robots", "cube"), "position actuators"),
        (("--laws", "hertz"), "no law 'hertz'"),
        (("--html", "page.txt"), "names that end in .html"),
    ],
)
def test_mistakes_are_sentences(arguments, hint, capsys):
    with pytest.raises(SystemExit) as left:
        main(["bench", *arguments])
    assert left.value.code == 1
    assert hint in capsys.readouterr().err


ARM = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 0.5">
      <joint name="elbow" axis="0 1 0"/>
      <geom type="sphere" size="0.05" mass="1"/>
    </body>
  </worldbody>
  <actuator><position joint="elbow" kp="10"/></actuator>
</mujoco>
"""


def test_a_robot_on_a_fixed_base_is_not_measured(tmp_path):
    """It has points and an actuator, and stands nowhere."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    robot = load(path, collide="feet")
    assert robot.points
    assert robot.kp.any()
    with pytest.raises(standing.HeelstrikeError, match="an MJCF with a free base, feet and"):
        case(str(path))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Figures and page of a quick run."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.chdir(folder)
        words = ["--quick", "--laws", "linear-spring", "--out", "b.json", "--html", "b.html"]
        with pytest.raises(SystemExit) as left:
            main(["bench", *words])
    assert not left.value.code
    return json.loads((folder / "b.json").read_text()), (folder / "b.html").read_text()


@pytest.mark.nightly
def test_figures_as_json(quick):
    found, _ = quick
    assert set(found) == {
        "machine", "date", "took_s", "load_before", "quiet", "quick", "worlds", "notes", "robots",
        "gpu", "command",
    }  # fmt: skip
    robot = found["robots"]["hoap1"]
    assert set(robot["ways"]) == {*steps.WAYS, steps.PEER_ONE, steps.PEER_BATCH}
    law, dropped = robot["laws"]["linear-spring"], robot["accuracy"]["linear-spring"]
    assert 0 < law["cached_s"] < law["cold_s"]
    assert law["batch"]["us"] > 0  # by the wall, which others move
    assert 1e-3 < dropped["dt"] < 5e-3
    assert dropped["error"] < 1e-3
    # simulated seconds a second are the step over its time; others may use the machine meanwhile
    rate = 1e6 * dropped["dt"] / law["one"]["us"]
    assert rate / 10 < dropped["one"]["rate"] < 10 * rate
    assert robot["memory"]["bytes_per_world"] > 0


@pytest.mark.nightly
def test_mujoco_is_measured_beside(quick):
    found, page = quick
    assert found["robots"]["hoap1"]["accuracy"]["mujoco"]["one"]["rate"] > 0
    assert "times MuJoCo" in page


@pytest.mark.nightly
def test_the_page_names_machine_and_command(quick):
    found, page = quick
    for word in (found["machine"]["cpu"], found["machine"]["casadi"], "heelstrike ", "data:image"):
        assert word in page


def test_ways_are_drawn_beside_mujoco(tmp_path):
    """The committed run: a picture, and every way of ours at MuJoCo's time over its own."""
    result = json.loads((ROOT / "benchmarks/results/bench.json").read_text())
    write_page(result, tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text().count("data:image") == 1
    ways = result["robots"]["g1"]["ways"]
    (ax,) = against_peer({"g1": {"batch, run": 40.0, "one world, run": 8.0}}).axes
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one world, run", "batch, run"]
    assert ax.lines[1].get_xdata().tolist() == [40.0, 8.0]
    expected = ways["one world, MuJoCo"]["us"] / ways["one world, run"]["us"]
    assert ratios(ways)["one world, run"] == expected
    steady = {name for name in ways if ways[name]["spread"] <= 1.5}
    assert set(ratios(ways)) <= steady


def test_a_starved_peer_is_no_bar():
    """By CPU time a peer whose pool waited is as fast as it is; turns that differ are not drawn."""
    ours = {"us": 1.0, "spread": 1.05, "cpu_us": 2.0}
    theirs = {"us": 230.0, "spread": 1.1, "cpu_us": 40.0}
    assert ratios({"batch, run": ours, "batch, MuJoCo": theirs}) == {"batch, run": 20.0}
    assert ratios({"batch, run": ours, "batch, MuJoCo": theirs | {"spread": 3.0}}) == {}


@pytest.mark.nightly
def test_laws_and_mujoco(capsys, tmp_path, monkeypatch):
    """The whole quick run with two laws and MuJoCo."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["bench", "--quick"])
    assert not left.value.code
    text = capsys.readouterr().out
    assert "times MuJoCo" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_gpu_s_part_of_the_page():
    """Figures, what could not be measured and why, and nothing of what is not installed."""
    made = {
        "rigid, float32, exact": {"steps_per_s": 4.7e7, "built_s": 3.0, "fell": 2},
        "rigid, float32, fast": {"said": "700 of 65536 worlds do not stand"},
        "mujoco_warp": None,
    }
    table = gpu_table({"hoap1": made})
    assert [line.cells[1:] for line in table.rows] == [
        ("rigid, float32, exact", "47.0", "3.0"),
        ("rigid, float32, fast", "700 of 65536 worlds do not stand", ""),
    ]
