"""Actuators of an MJCF against trajectories of MuJoCo, free of contact.

Both integrators are of first order and differ by a term of first order: a quarter of the step
leaves a quarter of the difference, within a third for the terms of second order.
"""

import mujoco
import numpy as np
import pytest

import heelstrike as hs

ARM = """<mujoco><option integrator="implicit"><flag contact="disable"/></option><worldbody>
  <body name="a"><joint name="j" axis="0 1 0" damping=".1"/>
    <geom size=".05" pos=".3 0 0" mass="1"/><body name="b" pos=".3 0 0">
      <joint name="k" axis="0 1 0" damping=".1"/><geom size=".04" pos=".2 .02 0" mass=".5"/>
      <site name="s" pos=".1 .05 0" euler="10 20 30"/></body></body></worldbody>
  <tendon><fixed name="t" {tendon}><joint joint="j" coef="1"/><joint joint="k" coef="-.5"/></fixed>
  </tendon><actuator>{actuators}</actuator></mujoco>"""
J = 'name="m" joint="j"'
KINDS = {
    "motor": f'<motor {J} gear="3" ctrlrange="-.5 .5"/>',
    "position": f'<position {J} kp="20" kv="2"/>',
    "position of dampratio": f'<position {J} kp="20" dampratio=".5" inheritrange="0"/>',
    "position with timeconst": f'<position {J} kp="20" kv="1" timeconst=".1"/>',
    "velocity": f'<velocity {J} kv="3"/>',
    "intvelocity": f'<intvelocity {J} kp="20" kv="1" actrange="-.3 .3"/>',
    "damper": f'<damper {J} kv="4" ctrlrange="0 2"/>',
    "cylinder": f'<cylinder {J} area="2" bias="1 -2 -3" timeconst=".2"/>',
    "affine gain": f"""<general {J} gaintype="affine" gainprm="5 -2 -1" biastype="affine"
        biasprm="1 -3 -1" dyntype="filter" dynprm=".1"/>""",
    "integrator": f'<general {J} gainprm="5" dyntype="integrator" actrange="0 .2"/>',
    "early activation": f'<general {J} gainprm="5" dyntype="filter" dynprm=".1" actearly="true"/>',
    "one-sided force": f'<position {J} kp="50" kv="2" forcerange="0 4"/>',
    "force range and gear": f'<position {J} kp="50" kv="2" gear="-2" forcerange="-3 2"/>',
    "two at a joint": f"""<position {J} kp="20" forcerange="-2 1"/>
        <motor name="n" joint="j" forcerange="-.2 .3"/>""",
    "position of a tendon": '<position name="m" tendon="t" kp="20" kv="2"/>',
    "motor of a tendon": '<motor name="m" tendon="t" gear="2" forcerange="-.1 .2"/>',
    "site": """<general name="m" site="s" gear="1 2 3 .1 .2 .3" biastype="affine"
        biasprm=".3 0 -1"/>""",
}
SPATIAL = """<tendon><spatial name="cord" {}><site site="s"/><site site="w"/><site site="u"/>
  </spatial>"""
"""A tendon of three points: of the forearm, of the world and of the upper arm."""
TENDONS = {
    "spring": 'stiffness="20" springlength=".1"',
    "slack spring": 'stiffness="20" springlength="-.2 .3"',
    "damping": 'damping="2"',
    "stiff and damped": 'stiffness="2000" damping="5" springlength=".4"',
}


def difference(path, dt: float) -> float:
    """Return the largest difference of coordinates over 1 s, with controls that change."""
    m, robot = mujoco.MjModel.from_xml_path(str(path)), hs.load(path)
    assert not [d for d in robot.fidelity if d.concerns != "file"]
    m.opt.timestep = dt
    d, steps = mujoco.MjData(m), round(0.05 / dt)
    d.qpos[:], d.qvel[:] = [0.3, -0.2], [0.5, -1.0]
    driven = hs.Actuators() if robot.actuators else None
    sim = hs.Simulator(hs.Scene(robot, self_contact=False), dt=dt, control=driven)
    sim.reset(q0=d.qpos, v0=d.qvel)
    worst = 0.0
    for i in range(20):
        if driven:
            for name in sim.control:
                sim.control[name] = 0.8 * np.sin(0.25 * i) + 0.1
        d.ctrl[:] = 0.8 * np.sin(0.25 * i) + 0.1
        sim.step(steps)
        mujoco.mj_step(m, d, steps)
        worst = max(worst, np.abs(np.ravel(sim.state["q"]) - d.qpos).max())
    return worst


@pytest.mark.filterwarnings("ignore:.*is not symmetric")
@pytest.mark.parametrize("name", KINDS)
def test_trajectory_of_an_actuator(name, tmp_path):
    """Each kind of actuator and transmission."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(tendon="", actuators=KINDS[name]))
    coarse, fine = difference(path, 1e-3), difference(path, 2.5e-4)
    assert coarse < 1e-2  # of 1 rad and more: 6e-3 for the motor, whose arm swings most
    assert fine < coarse / 3


@pytest.mark.parametrize("name", TENDONS)
def test_trajectory_with_a_tendon(name, tmp_path):
    """Springs and dampers over two joints."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(tendon=TENDONS[name], actuators=""))
    coarse, fine = difference(path, 1e-3), difference(path, 2.5e-4)
    assert coarse < 1e-2
    assert fine < coarse / 3


@pytest.mark.parametrize(
    ("options", "actuators"),
    [
        ('stiffness="20" springlength=".3"', ""),
        ('stiffness="20" springlength="0 .6" damping=".5"', ""),
        ("", '<position name="m" tendon="cord" gear="-2" kp="5" kv=".3" forcerange="-2 3"/>'),
    ],
    ids=["spring", "slack spring and damping", "actuator"],
)
def test_trajectory_with_a_spatial_tendon(options, actuators, tmp_path):
    """A cord that runs straight from site to site."""
    text = ARM.format(tendon="", actuators=actuators).replace("<tendon>", SPATIAL.format(options))
    text = text.replace("<worldbody>", '<worldbody><site name="w" pos=".2 .1 .3"/>')
    text = text.replace('mass="1"/>', 'mass="1"/><site name="u" pos=".1 0 .05"/>', 1)
    path = tmp_path / "arm.xml"
    path.write_text(text)
    coarse, fine = difference(path, 1e-3), difference(path, 2.5e-4)
    assert coarse < 1e-2
    assert fine < coarse / 3


FORCE_RANGES = {
    "fixed tendon": ("t", 'actuatorfrcrange="-.2 .3"', 4),
    "spatial tendon": ("cord", 'actuatorfrcrange="-.2 .3" stiffness="5" springlength=".5"', 9),
}


@pytest.mark.filterwarnings("ignore:.*is not symmetric")
@pytest.mark.parametrize("name", FORCE_RANGES)
def test_force_range_of_a_tendon(name, tmp_path):
    """Its one actuator is limited; the range alone decides the motion."""
    tendon, options, gear = FORCE_RANGES[name]
    text = ARM if tendon == "t" else ARM.replace("<tendon>", SPATIAL.format(options))
    text = text.replace("<worldbody>", '<worldbody><site name="w" pos=".2 .1 .3"/>')
    text = text.replace('mass="1"/>', 'mass="1"/><site name="u" pos=".1 0 .05"/>', 1)
    motor = f'<motor name="m" tendon="{tendon}" gear="{gear}"/>'
    path = tmp_path / "arm.xml"
    path.write_text(text.format(tendon=options if tendon == "t" else "", actuators=motor))
    assert hs.load(path).actuators[0].force_range == (-0.2, 0.3)
    coarse, fine = difference(path, 1e-3), difference(path, 2.5e-4)
    assert coarse < 1e-2
    assert fine < coarse / 3


@pytest.mark.filterwarnings("ignore:.*disables its group")
def test_groups_that_the_file_disables(tmp_path):
    """Of two motors one is in a disabled group: it is left out, and named as a remark."""
    path = tmp_path / "arm.xml"
    text = ARM.format(tendon="", actuators=f'<motor {J} gear="9" group="3"/><motor joint="k"/>')
    path.write_text(text.replace("<option", '<option actuatorgroupdisable="1 3"'))
    robot = hs.load(path)
    assert [actuator.name for actuator in robot.actuators] == ["k"]
    assert [str(difference) for difference in robot.fidelity] == [
        "actuator 'm' is left out: the file disables its group"
    ]
    coarse, fine = difference(path, 1e-3), difference(path, 2.5e-4)
    assert coarse < 1e-2
    assert fine < coarse / 3


def test_controls_of_keyframes(tmp_path):
    """They are held by name; those that are all zero are none."""
    path = tmp_path / "arm.xml"
    keys = """<keyframe><key name="home" qpos=".1 .2" ctrl=".5 -.25"/><key name="rest"/></keyframe>
        </mujoco>"""
    text = ARM.format(tendon="", actuators=f"<motor {J}/><position joint='k' kp='3'/>")
    path.write_text(text.replace("</mujoco>", keys))
    robot = hs.load(path)
    assert robot.controls == {"home": {"m": 0.5, "k": -0.25}}
    sim = hs.Simulator(hs.Scene(robot), control=hs.Actuators(robot.controls["home"]))
    assert [float(np.ravel(u)[0]) for u in sim.control.values()] == [0.5, -0.25]
    pair = hs.combine({"a": robot, "b": robot})
    assert pair.controls == {"home": {"a/m": 0.5, "a/k": -0.25, "b/m": 0.5, "b/k": -0.25}}
    written = mujoco.MjModel.from_xml_path(str(pair.to_mjcf(tmp_path / "pair.xml")))
    np.testing.assert_array_equal(written.key("home").ctrl, [0.5, -0.25, 0.5, -0.25])


def test_stiff_tendon_is_stable(tmp_path):
    """With 1e7 N m/rad and damping to match the length stays, and nothing diverges."""
    path = tmp_path / "arm.xml"
    tendon = 'stiffness="1e7" damping="1e3" springlength=".4"'
    path.write_text(ARM.format(tendon=tendon, actuators=""))
    sim = hs.Simulator(hs.Scene(hs.load(path), self_contact=False), dt=1e-3)
    run = sim.run(2.0, q0=[0.3, -0.2])
    q = run.data["q"].values.reshape(-1, 2)
    assert np.abs(q[200:, 0] - 0.5 * q[200:, 1] - 0.4).max() < 1e-5
    assert np.ptp(q[:, 1]) > 0.5  # and the arm swings


def test_controls_by_name_and_world(tmp_path):
    """Controls differ by world; an unknown name and a robot without actuators are errors."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(tendon="", actuators=f"<motor {J}/><motor joint='k'/>"))
    robot = hs.load(path)
    sim = hs.Simulator(hs.Scene(robot), control=hs.Actuators({"k": 0.25}), worlds=3)
    assert list(sim.control) == ["m", "k"]
    sim.control["m"] = [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(sim.control["k"], [0.25] * 3)
    sim.step()
    torque = sim.observe("torque")["torque"]
    np.testing.assert_allclose(torque, [[1, 0.25], [2, 0.25], [3, 0.25]], rtol=1e-12)
    with pytest.raises(hs.UnknownNameError, match="no actuator 'n'"):
        sim.control["n"] = 1.0
    with pytest.raises(hs.HeelstrikeError, match=r"pass control=hs.Actuators\(\)"):
        _ = hs.Simulator(hs.Scene(robot)).control
    with pytest.raises(hs.HeelstrikeError, match="has no actuators"):
        hs.Simulator(hs.Scene(hs.load("ball")), control=hs.Actuators())


def test_activation_is_reset_and_saved(tmp_path):
    """Activation is memory of a world: it grows with the control, and a reset clears it."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(tendon="", actuators=KINDS["integrator"]))
    sim = hs.Simulator(hs.Scene(hs.load(path)), control=hs.Actuators({"m": 1.0}))
    sim.step(100)
    assert np.ravel(sim.state["activation"])[0] == pytest.approx(0.1, rel=1e-12)
    sim.step(500)
    assert np.ravel(sim.state["activation"])[0] == 0.2
    sim.reset()
    assert np.ravel(sim.state["activation"])[0] == 0.0


EVERYTHING = f"""<motor name="n" joint="k" gear="2" forcerange="-1 .5"/>{KINDS["affine gain"]}
    <position name="t" tendon="t" kp="3" kv=".1"/>{KINDS["site"].replace('"m"', '"s"')}"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """An arm with a spring, a tendon and four kinds of actuators."""
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    text = ARM.format(tendon='stiffness="9" damping=".2"', actuators=EVERYTHING)
    path.write_text(text.replace('name="k" axis', 'name="k" stiffness="4" springref="20" axis'))
    with pytest.warns(hs.HeelstrikeWarning, match="not symmetric"):
        return hs.load(path)


def test_bits_of_a_world_do_not_depend_on_others(everything):
    """World 3 of 5, in lanes, has the bits of the same world by itself."""
    controls = np.linspace(-1, 1, 20).reshape(5, 4)
    ends = []
    for worlds, rows in ((5, controls), (1, controls[3:4])):
        sim = hs.Simulator(hs.Scene(everything), control=hs.Actuators(), worlds=worlds)
        sim.parameters["actuators.control"] = rows
        sim.step(300)
        ends.append(np.asarray(sim.state["q"]).reshape(worlds, 2)[-2 if worlds == 5 else 0])
    np.testing.assert_array_equal(ends[0], ends[1])


def test_energy_is_accounted_for(everything):
    """Kinetic plus potential energy is the sum of all works, to first order in dt."""
    left = []
    for dt in (1e-3, 2.5e-4):
        sim = hs.Simulator(hs.Scene(everything), dt=dt, control=hs.Actuators([0.5, 0.3, -0.4, 1.0]))
        data = sim.run(0.5, q0=[0.4, -0.3]).data
        works = data["work_control"] + data["work_joints"] + data["work_stops"]
        energy = (data["kinetic"] + data["potential"] - works).values.ravel()
        left.append(np.ptp(energy) / np.ptp(data["kinetic"].values))
    assert left[0] < 0.02
    assert left[1] < left[0] / 3


def test_combined_robots_keep_their_actuators(everything):
    """Two arms side by side move as one does by itself, each by its own controls."""
    control = [0.5, 0.3, -0.4, 1.0]
    alone = hs.Simulator(hs.Scene(everything), control=hs.Actuators(control))
    alone.step(200)
    pair = hs.combine({"a": everything, "b": everything})
    names = [actuator.name for actuator in pair.actuators]
    assert names[4:] == ["b/n", "b/m", "b/t", "b/s"]
    own = hs.Actuators(dict(zip(names[4:], control, strict=True)))
    both = hs.Simulator(hs.Scene(pair, self_contact=False), control=own)
    both.step(200)
    q, expected = np.ravel(both.state["q"]), np.ravel(alone.state["q"])
    np.testing.assert_allclose(q[2:], expected, rtol=1e-12)
    assert np.abs(q[:2] - expected).max() > 1e-3
