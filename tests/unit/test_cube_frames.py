"""Turns of the tossed cube's frame: found from the tosses before and after.

Oracle: turns that were made up, and a flight of MuJoCo with the centre of mass off the middle.
"""

import numpy as np

from heelstrike.validation import cube_frames
from heelstrike.validation.cube import MEASURED, Cube
from heelstrike.validation.cube_frames import TURNS, turns


def test_turns_between_known_ones():
    """Runs of nine tosses, every fifth unknown, one in ten misread."""
    random = np.random.default_rng(1)
    ids = np.arange(360)
    truth = np.repeat(random.integers(0, 4, 40), 9)
    misfits = random.uniform(3, 5, (360, 4))
    misfits[ids, np.where(random.random(360) < 0.1, (truth + 1) % 4, truth)] = 1.5
    known = ids % 5 != 1
    found = turns(ids[~known], ids[known], misfits[known])
    # at the ends of runs a toss without a misfit of its own can be either; 1/9 of them lie there
    assert np.mean(found == truth[~known]) > 0.75
    assert np.mean(turns(ids, ids, misfits) == truth) > 0.9


def test_the_turn_of_a_judged_toss_does_not_depend_on_it(monkeypatch):
    ids, misfits = cube_frames.known()
    cube = Cube()
    before = cube._turns(ids)
    held = ids % cube.parts == cube.held[0]
    other = np.where(held[:, None], misfits[:, ::-1], misfits)
    monkeypatch.setattr("heelstrike.validation.cube.known", lambda: (ids, other))
    assert np.array_equal(cube._turns(ids), before)
    monkeypatch.setattr(cube, "held", ())
    assert not np.array_equal(cube._turns(ids), before)


def test_quarter_turns_take_y_to_the_axes_of_the_files():
    expected = [[0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1]]
    np.testing.assert_allclose(TURNS.apply([0, 1, 0]), expected, atol=1e-15)


def test_its_centre_of_mass_flies_in_a_parabola():
    """Oracle: MuJoCo's free body with the same centre of mass."""
    import mujoco

    cube = Cube()
    q0 = np.array([[0, 0, 2.0, 0.1, 0.2, 0.3, 0.9]])
    q0[:, 3:] /= np.linalg.norm(q0[:, 3:])
    v0 = np.array([[0.4, -0.2, 0.1, 5.0, -3.0, 2.0]])
    run = cube.simulator(None).run(steps=150, q0=q0, v0=v0, progress=False)
    x, y, z, w = q0[0, 3:]
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{1 / 1480}" gravity="0 0 -{MEASURED.gravity}"/><worldbody>
        <body><freejoint/><inertial pos="0 {MEASURED.offset!r} 0" mass="0.37"
        diaginertia="{" ".join([repr(MEASURED.inertia)] * 3)}"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*q0[0, :3], w, x, y, z]
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, data.qpos[3:])
    data.qvel[:] = [*(rotation.reshape(3, 3) @ v0[0, :3]), *v0[0, 3:]]
    for _ in range(150):
        mujoco.mj_step(model, data)
    # both of first order in 0.7 ms; an origin off the centre of mass turns about it
    np.testing.assert_allclose(run.data.q.values.reshape(-1, 7)[-1, :3], data.qpos[:3], atol=2e-4)
