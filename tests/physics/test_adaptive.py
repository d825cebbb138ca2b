"""Steps of variable size (dt="auto") against closed forms.

Oracles. Free fall under symplectic Euler: with 2^k steps in a window of T,

    z = z_0 + v_0 T - g T^2 / 2 (1 + 2^-k),     so   e_k = g T^2 / 2^(k+1)

which gives the step that is chosen; extrapolated, z is the parabola itself. A pendulum: SciPy's
DOP853 at 1e-12, to which the path converges with the square of the accuracy. A push: F t / m.
"""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import heelstrike as hs
from heelstrike.simulate.adaptive import MAX_LEVEL, WINDOW

G = 9.81
PENDULUM = """
<mujoco model="pendulum">
  <worldbody>
    <body name="rod">
      <joint name="hinge" axis="0 1 0"/>
      <inertial pos="0 0 -0.5" mass="1" diaginertia="1e-6 1e-6 1e-6"/>
    </body>
  </worldbody>
</mujoco>
"""


def ball(worlds=1, accuracy=1e-4, **options):
    scene = hs.Scene(hs.load("ball"))
    return hs.Simulator(scene, dt="auto", accuracy=accuracy, worlds=worlds, **options)


def level(accuracy):
    """Smallest k with e_k <= accuracy; at least 1, since two results are compared."""
    return max(1, int(np.ceil(np.log2(G * WINDOW**2 / 2 / accuracy))))


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3, 1e-4, 3e-6])
def test_free_fall_is_its_closed_form(accuracy):
    sim = ball(accuracy=accuracy)
    run = sim.run(0.2, q0=[0, 0, 5, 0, 0, 0, 1])
    assert (run.data["step_size"].values == WINDOW / 2 ** level(accuracy)).all()
    assert np.allclose(sim.time, 0.2)
    # sums of at most 2^10 steps: 1e-13 of 5 m
    assert sim.state["q"][2] == pytest.approx(5 - G * 0.2**2 / 2, abs=1e-12)


def test_a_pendulum_converges_with_the_accuracy(tmp_path):
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    robot = hs.load(path)
    length = (0.5**2 + 1e-6) / 0.5
    exact = solve_ivp(
        lambda t, x: [x[1], -G / length * np.sin(x[0])],
        (0, 1),
        [2.0, 0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
    ).y[0, -1]
    accuracies = np.array([1.6e-4, 4e-5, 1e-5])
    errors = []
    for accuracy in accuracies:
        sim = hs.Simulator(hs.Scene(robot), dt="auto", accuracy=accuracy)
        sim.run(1.0, q0=[2.0], record="final")
        errors.append(abs(sim.state["q"][0] - exact))
    # e ~ dt, so that steps fall by 4 as well, and the error that extrapolation leaves, ~ dt^2, by
    # 16; a few windows choose otherwise, since e has terms of higher order: 2.12 measured
    assert np.polyfit(np.log(accuracies), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.2)
    assert errors[-1] < accuracies[-1]


def test_a_fall_takes_small_steps_and_rest_large_ones():
    """A ball falls onto rigid ground without restitution, and rests."""
    scene = hs.Scene(hs.load("ball"), hs.Plane(law=hs.Rigid()))
    sim = hs.Simulator(scene, dt="auto", accuracy=1e-4)
    run = sim.run(0.5, q0=sim.place(drop=0.1))
    sizes = run.data["step_size"].values[0]
    landing = int(np.sqrt(2 * 0.1 / G) / WINDOW)
    assert (sizes[:landing] == WINDOW / 2 ** level(1e-4)).all()
    assert (sizes[landing + 2 :] == WINDOW / 2).all()
    # at rest it touches: the ground gives nothing, and an impact ends within a step of the surface
    assert run.data["depth"].values[0, -1].max() == pytest.approx(0.0, abs=1e-4)


def hoap1(worlds, **options):
    robot = hs.load("hoap1", collide="feet")
    scene = hs.Scene(robot, hs.Plane())
    sim = hs.Simulator(scene, dt="auto", accuracy=1e-4, control=hs.Servo(), worlds=worlds)
    q0 = np.tile(sim.place(drop=0.005), (worlds, 1))
    q0[:, 2] += 0.004 * np.arange(worlds)
    return sim, sim.run(0.16, q0=q0, **options)


def test_bits_do_not_depend_on_other_worlds():
    """Alone, in a batch that fills more than a tile, and on two threads."""
    sim, run = hoap1(1)
    many, runs = hoap1(11, threads=2)
    for name in sim.state:
        assert np.array_equal(sim.state[name], many.state[name][0]), name
    for name in ("q", "normal_force", "step_size"):
        assert np.array_equal(run.data[name].values[0], runs.data[name].values[0]), name
    sizes = runs.data["step_size"].values
    assert (sizes != sizes[0]).any()  # each world has steps of its own


def test_a_run_may_be_continued_copied_and_pickled():
    sim, _ = hoap1(1)
    copies = copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    sim.run(0.04)
    for other in copies:
        other.step(2)
        assert np.array_equal(sim.state["q"], other.state["q"])
        assert np.array_equal(sim.step_size, other.step_size)


def test_a_push_gives_its_impulse():
    sim = ball(2)
    mass = sim.robot.mass
    sim.push("ball", force=[3.0, 0, 0], duration=0.1, at=0.04)
    sim.run(0.2, q0=[0, 0, 5, 0, 0, 0, 1])
    assert sim.state["v"][:, 0] == pytest.approx(3.0 * 0.1 / mass, rel=1e-12)


def test_records_begin_and_end_with_the_run(tmp_path):
    sim = ball()
    run = sim.run(0.2, q0=[0, 0, 5, 0, 0, 0, 1], every=5)
    assert run.data["time"].values == pytest.approx([0.0, 0.1, 0.2])
    assert run.data["step_size"].sizes == {"world": 1, "time": 3}
    run.save(tmp_path / "run.nc")
    again = hs.Recording.load(tmp_path / "run.nc")
    assert np.array_equal(again.data["step_size"], run.data["step_size"])
    before = sim.state["q"].copy()
    assert sim.observe("com")["com"][0, 2] == pytest.approx(before[2])
    assert np.array_equal(sim.state["q"], before)


def test_records_of_a_run_that_diverges_have_their_steps():
    """The warning looks at the end once more, which is no record."""
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()), dt="auto", accuracy=1e10)
    with pytest.warns(hs.HeelstrikeWarning):
        run = sim.run(0.1, q0=[0, 0, 0.051, 0, 0, 0, 1])
    assert run.data.step_size.sizes["time"] == run.data.sizes["time"] == 6


def test_an_accuracy_that_no_step_reaches_is_reported():
    sim = ball(accuracy=1e-12)
    with pytest.warns(hs.HeelstrikeWarning, match="in 2 windows of 1 worlds"):
        sim.run(0.04, q0=[0, 0, 5, 0, 0, 0, 1])
    assert sim.step_size == WINDOW / 2**MAX_LEVEL


@hs.controller
def still(c):
    return 0 * c.v


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dt": "auto", "accuracy": 0.0}, "accuracy is 0"),
        ({"dt": 1e-3, "accuracy": 1e-4}, "accuracy goes with steps of variable size"),
        ({"dt": "fine"}, "dt is 'fine'"),
        ({"dt": "auto", "control": still}, "controller functions count time steps"),
        ({"dt": "auto", "control": hs.Servo(control_every=2)}, "control_every count time steps"),
        ({"dt": "auto", "sensors": ["com"]}, "sensors count time steps"),
        ({"dt": "auto", "motors": hs.Motors()}, "hs.Motors count time steps"),
    ],
)
def test_what_cannot_be_served_is_refused(options, said):
    robot = hs.load("hoap1", collide="feet")
    with pytest.raises(hs.HeelstrikeError, match=said):
        hs.Simulator(hs.Scene(robot, hs.Plane()), **options)


def test_what_needs_steps_of_one_size_is_refused():
    sim = ball()
    for act in (
        lambda: sim.linearize(),
        lambda: sim.run(0.1, controller=lambda s: s),
        lambda: hs.Environments(sim),
        lambda: hs.sweep(sim, {"gravity": [9.0, 10.0]}, duration=1.0),
    ):
        with pytest.raises(hs.HeelstrikeError, match="needs steps of one size"):
            act()


def test_an_interrupted_window_leaves_the_state_as_it_was(monkeypatch):
    sim = ball()
    sim.run(0.04, q0=[0, 0, 5, 0, 0, 0, 1])
    before, batch = sim.state.copy(), sim.compiled.batch()
    run, calls = batch.run, []

    def interrupted(steps, *args):
        calls.append(steps)
        if steps == 4:
            raise KeyboardInterrupt
        run(steps, *args)

    with monkeypatch.context() as patch:
        patch.setattr(sim.compiled.batch(()), "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sim.step()
    assert calls == [1, 2, 4]
    assert all(np.array_equal(sim.state.copy()[name], before[name]) for name in before)
    assert sim.dt == WINDOW
