"""Scenes as files: where keys stand, what is built, where parts start, and that a scene written
down loads to the same.

Oracles: the text itself, in which every key of the sample is a word that occurs once; dataclass
equality; Pinocchio's kinematics; statics and free fall for the scenes that are run.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.contact.catalog import LAWS
from heelstrike.contact.law import FrictionLaw, NormalLaw
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.parameters import STATIC, structure
from heelstrike.scene.files.content import (
    Push,
    RecordingSettings,
    SceneContent,
    SimulationSettings,
)
from heelstrike.scene.files.document import key_lines, parse_document, read_document, read_scene
from heelstrike.scene.files.motion_table import MotionTable
from heelstrike.scene.files.overrides import with_drop, with_law, with_settings, with_values
from heelstrike.scene.files.part import Part
from heelstrike.scene.files.schema import kinds_of, surface_kinds
from heelstrike.scene.files.write import scene_text

G = 9.81
TABLES = (Part, SimulationSettings, Push, RecordingSettings, hs.Servo, hs.Stops)

SAMPLE = """\
alpha = 1 # [[no.table]]
"quoted beta" = [
  "a = 3",  # gamma
  "]",
]
text = '''
[not.a.table]
delta = 4
'''

[[first]]
epsilon = { zeta = 1, eta = [{ theta = 2 }] }
[first.inner]
iota.kappa = 3
[[first.inner.deep]]
lambda = 1
[[first]]
[first.inner]
mu = 1
[[first.inner.deep]]
[[first.inner.deep]]
nu = 5
  [ last . "dotted.name" ]
xi = 1
"""
KEYS = {
    ("alpha",): "alpha",
    ("quoted beta",): "quoted beta",
    ("text",): "text",
    ("first", 0): "[[first]]",
    ("first", 0, "epsilon"): "epsilon",
    ("first", 0, "epsilon", "zeta"): "zeta",
    ("first", 0, "epsilon", "eta", 0, "theta"): "theta",
    ("first", 0, "inner", "iota", "kappa"): "kappa",
    ("first", 0, "inner", "deep", 0, "lambda"): "lambda",
    ("first", 1, "inner", "mu"): "mu =",
    ("first", 1, "inner", "deep", 1, "nu"): "nu",
    ("last", "dotted.name"): "dotted.name",
    ("last", "dotted.name", "xi"): "xi",
}


def scene(text, folder=Path()):
    return hs.SceneFile(parse_document(text, "scene.toml", Path(folder)))


def again(made):
    return scene(made.text())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_found_on_its_line(key, newline):
    word = KEYS[key]
    rows = SAMPLE.split("\n")
    line = next(i for i, row in enumerate(rows, start=1) if word in row)
    assert key_lines(SAMPLE.replace("\n", newline))[key] == line


def test_what_only_looks_like_a_key_has_no_line():
    assert not {("gamma",), ("delta",), ("not", "a", "table")} & set(key_lines(SAMPLE))


@pytest.mark.parametrize("name", hs.scenes())
def test_a_bundled_scene_written_down_is_the_same_scene(name):
    made = hs.load_scene(name)
    copy = again(made)
    assert copy.text() == made.text()
    first, second = made.simulator(), copy.simulator()
    assert dict(first.parameters.items()).keys() == dict(second.parameters.items()).keys()
    for path, value in first.parameters.items():
        np.testing.assert_array_equal(second.parameters[path], value, err_msg=path)
    for ours, theirs in zip(made.scene.surfaces, copy.scene.surfaces, strict=True):
        assert structure(ours) == structure(theirs)
    for ours, theirs in zip(made.start, copy.start, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for part in ("simulation", "push", "recording", "gravity", "about", "robot", "object"):
        assert getattr(copy.content, part) == getattr(made.content, part)


def other(node):
    """A copy in which every number that may change has another value."""
    values = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if is_dataclass(value):
            values[f.name] = other(value)
        elif type(value) is float and not f.metadata.get(STATIC):
            values[f.name] = 0.9 * value
        elif isinstance(value, tuple) and value and type(value[0]) is float:
            values[f.name] = tuple(0.9 * x + 0.01 for x in value)
    return replace(node, **values)


def as_surface_law(law):
    made = other(law())
    if isinstance(made, NormalLaw):
        return hs.Elastic(normal=made)
    if isinstance(made, FrictionLaw):
        return hs.Elastic(friction=made)
    return made if isinstance(made, SurfaceLaw) else hs.Rigid(friction=made)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_can_be_written_and_read(law):
    given = as_surface_law(law)
    content = SceneContent(object=(Part("ball", drop=0.1),), surface=(hs.Plane(given),))
    (surface,) = scene(scene_text(content)).content.surface
    assert surface.law == given


@pytest.mark.parametrize("kind", surface_kinds().values())
def test_every_surface_can_be_written_and_read(kind):
    given = other(kind(name="thing"))
    content = SceneContent(object=(Part("ball", drop=0.1),), surface=(given,))
    (found,) = scene(scene_text(content)).content.surface
    assert type(found) is kind
    for f in fields(kind):
        read, written = getattr(found, f.name), getattr(given, f.name)
        assert read == written if f.name == "mesh" else np.array_equal(read, written), f.name


def test_every_public_surface_and_law_has_a_name():
    public = [getattr(hs, name) for name in hs.__all__]
    shapes = [c for c in public if isinstance(c, type) and issubclass(c, hs.Plane.__mro__[1])]
    assert set(shapes) == set(surface_kinds().values())
    assert set(kinds_of(SurfaceLaw).values()) == {c for c in LAWS if issubclass(c, SurfaceLaw)}


def test_every_key_is_written_with_unit_and_default():
    text = hs.load_scene("push").text()
    for table in (
        Part,
        SimulationSettings,
        Push,
        RecordingSettings,
        hs.Servo,
        hs.Stops,
        hs.Plane,
        hs.HuntCrossley,
    ):
        for f in fields(table):
            assert f"{f.name} = " in text or f".{f.name}]" in text
    assert "k = 20000.0  # stiffness [N/m^n]; default 50000.0" in text
    assert "dt = 0.001  # time step [s]" in text


def test_a_text_with_awkward_letters_survives():
    about = 'tab\t "quote" back\\slash \x7f \u00e9\U0001f9be\n# line'
    content = SceneContent(about=about, object=(Part("ball"),))
    assert scene(scene_text(content)).content.about == about


def test_drop_is_the_height_of_the_lowest_point():
    made = scene('[[object]]\nmodel = "box"\nrotation = [0.5, 0.4, 1.0]\ndrop = 0.15\n')
    q = made.start[0]
    corners = np.array([p.position for p in made.robot.points])
    turn = pin.rpy.rpyToMatrix(0.5, 0.4, 1.0)
    heights = corners @ turn.T[:, 2] + q[2]
    assert abs(heights.min() - 0.15) < 1e-12


def test_velocities_are_in_world_axes():
    extra = "rotation = [0.3, -0.2, 0.9]\nvelocity = [1.0, 2.0, 3.0]\nspin = [0.1, 0.2, 0.3]\n"
    made = scene(f'[[object]]\nmodel = "box"\n{extra}')
    q, v = made.start
    model = made.robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    found = pin.getVelocity(model, data, 1, pin.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(found.linear, [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(found.angular, [0.1, 0.2, 0.3], atol=1e-12)


def test_several_parts_have_their_names_before_a_slash():
    made = scene('[[robot]]\nmodel = "foot"\n[[object]]\nname = "toy"\nmodel = "ball"\n')
    assert [body.name for body in made.robot.bodies] == ["foot/foot", "toy/ball"]
    assert len(made.start[0]) == 1 + 7


def test_a_model_is_sought_beside_the_file(tmp_path):
    source = Path(hs.__file__).parent / "robot" / "models" / "ball.xml"
    (tmp_path / "mine.xml").write_text(source.read_text())
    (tmp_path / "mine.toml").write_text('[[object]]\nmodel = "mine.xml"\n')
    made = hs.load_scene(tmp_path / "mine.toml")
    assert made.robot.mass == 1.0
    assert str(tmp_path / "mine.xml") in made.text()


def test_a_motion_as_csv_and_as_npz(tmp_path):
    times, heights = [0.0, 0.1, 0.4], [0.0, 0.02, 0.01]
    rows = "\n".join(f"{t}, {h}" for t, h in zip(times, heights, strict=True))
    (tmp_path / "m.csv").write_text(f"time, slide\n{rows}\n")
    np.savez(tmp_path / "m.npz", time=times, slide=heights)
    for ending in ("csv", "npz"):
        text = f'[[robot]]\nmodel = "foot"\n[servo]\n[motion]\nfile = "m.{ending}"\n'
        made = scene(text, tmp_path)
        way = made.content.motion.trajectory(made.robot, made.start[0])
        np.testing.assert_array_equal(way.times, times)
        np.testing.assert_array_equal(np.ravel(way.q), heights)


WORN = """\
points = [[0.0, 0.0, 0.5], [0.1, 0.0, 0.5, 0.01]]

[[object]]
model = "box"
drop = 0.0
edge_points = 1

[[surface]]
type = "height-field"
name = "hills"
heights = "hills.npy"

[[surface]]
type = "sphere"
name = "knob"
body = "box"
touches = ["world"]

[materials.box]
type = "elastic"
normal = { type = "linear-spring", k = 1e4 }

[materials."box on hills"]
type = "rigid"
"""


def test_points_of_the_world_materials_and_height_fields(tmp_path):
    np.save(tmp_path / "hills.npy", [[0.0, 0.1], [0.2, 0.3]])
    made = scene(WORN, tmp_path)
    made.simulator()
    assert len(made.robot.points) == 8 + 12  # a point on each edge
    assert made.scene.laws["box on hills"] == hs.Rigid()
    assert made.scene.laws["box"].normal == hs.LinearSpring(k=1e4)
    assert [point.radius for point in made.scene.points] == [0.0, 0.01]
    copy = again(made)
    assert copy.text() == made.text()
    assert copy.scene.laws == made.scene.laws


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[materials.box]", "[materials.bocks]", "line 19, materials.bocks: box has no body"),
        ('"box on hills"', '"box on hill"', "no surface 'hill'; did you mean 'hills'?"),
        ("hills.npy", "nowhere.npy", "line 11, surface.heights"),
        ('["world"]', '["box"]', "line 17, surface.touches"),
        ('body = "box"', 'body = "bocks"', "line 16, surface.body"),
    ],
)
def test_mistakes_in_them(tmp_path, old, new, said):
    np.save(tmp_path / "hills.npy", [[0.0, 0.1], [0.2, 0.3]])
    with pytest.raises(hs.SceneError) as told:
        scene(WORN.replace(old, new), tmp_path).simulator()
    assert said in str(told.value)


BASE = '[[object]]\nmodel = "ball"\ndrop = 0.1\n[[surface]]\ntype = "plane"\n'


@pytest.mark.parametrize(
    ("setting", "look", "value"),
    [
        ("ground.normal.k=3e4", lambda c: c.surface[0].law.normal.k, 3e4),
        ("ground.law.normal.k=3e4", lambda c: c.surface[0].law.normal.k, 3e4),
        ("ground.friction=none", lambda c: c.surface[0].law.friction, None),
        ("ground.friction=kinetic", lambda c: c.surface[0].law.friction, hs.Kinetic()),
        ("ground.law=rigid", lambda c: c.surface[0].law, hs.Rigid()),
        ("ground.normal=[0,1,1]", lambda c: c.surface[0].normal, (0.0, 1.0, 1.0)),
        ("ground.point=[0, 0, -1]", lambda c: c.surface[0].point, (0.0, 0.0, -1.0)),
        ("simulation.dt=2e-3", lambda c: c.simulation.dt, 2e-3),
        ("object.drop=0.7", lambda c: c.object[0].drop, 0.7),
        ("object.pose=zero", lambda c: c.object[0].pose, "zero"),
        ("gravity=1.62", lambda c: c.gravity, 1.62),
        ("recording.every=5", lambda c: c.recording.every, 5),
    ],
)
def test_set(setting, look, value):
    document = with_settings(parse_document(BASE, "b.toml", Path()), [setting])
    assert look(hs.SceneFile(document).content) == value


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("grund.normal.k=1", "no surface, part or table 'grund'; did you mean 'ground'?"),
        ("ground.normal.kk=1", "--set ground.normal.kk=1, surface.law.normal.kk: no key 'kk'"),
        ("ground.normal.k=-1", "--set ground.normal.k=-1, surface.law.normal.k: HuntCrossley"),
        ("ground.normal.k", "not a path and a value; write ground.normal.k=2e4"),
        ("simulation.dt.x=1", "must be a number"),
    ],
)
def test_set_that_cannot_be(setting, said):
    with pytest.raises(hs.SceneError) as told:
        hs.SceneFile(with_settings(parse_document(BASE, "b.toml", Path()), [setting]))
    assert said in str(told.value)


def test_law_keeps_what_it_can():
    document = read_scene("stand")
    spring = hs.SceneFile(with_law(document, "linear-spring")).content.surface[0].law
    assert spring.normal == hs.LinearSpring()
    assert spring.friction == hs.load_scene("stand").content.surface[0].law.friction
    assert hs.SceneFile(with_law(document, "rigid")).content.surface[0].law == hs.Rigid()
    with pytest.raises(hs.SceneError, match="a friction law only"):
        with_law(document, "bristle")


def test_flags():
    document = with_values(with_drop(read_scene("stand"), 0.3), {"--dt": 5e-4})
    made = hs.SceneFile(document).content
    assert (made.robot[0].drop, made.simulation.dt) == (0.3, 5e-4)
    with pytest.raises(hs.SceneError, match=r"--dt -1, simulation.dt"):
        hs.SceneFile(with_values(document, {"--dt": -1.0}))


def test_a_file_too_large_is_refused(tmp_path):
    (tmp_path / "big.toml").write_bytes(b"#" * 2_000_000)
    with pytest.raises(hs.SceneError, match="larger than"):
        read_document(tmp_path / "big.toml")


def test_names_of_scenes():
    with pytest.raises(hs.SceneError, match="did you mean 'stand'"):
        hs.load_scene("stnd")
    with pytest.raises(hs.SceneError, match="'hoap1' is a robot"):
        hs.load_scene("hoap1")
    with pytest.raises(hs.SceneError, match="no such file"):
        hs.load_scene("nowhere/stand.toml")


PAGE = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text()


def test_the_page_names_every_key():
    for table in (
        SceneContent,
        Part,
        SimulationSettings,
        Push,
        RecordingSettings,
        MotionTable,
        hs.Servo,
        hs.Stops,
    ):
        for f in fields(table):
            assert f"`{f.name}`" in PAGE or f"[{f.name}]" in PAGE, f"{table.__name__}.{f.name}"


def test_the_scene_of_the_page_loads():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    made = scene(text)
    made.simulator()
    assert [s.name for s in made.scene.surfaces] == ["mat", "plate"]


def test_the_ball_falls_as_long_as_it_should():
    """Free fall: sqrt(2 h / g); the step before is the last without force."""
    run = hs.load_scene("bouncing-ball").run()
    first = int(np.argmax(run.data["touching"].values[0].any(1)))
    # touched at the first step after the fall
    assert abs(first * 2e-4 - np.sqrt(2 * 0.3 / G)) < 2.1e-4


def test_the_brick_stops_where_friction_says():
    """v^2 / (2 g (mu cos - sin)) down the slope, and there it stays."""
    run = hs.load_scene("brick-on-a-ramp").run()
    slope = 0.34907
    way = 1 / (2 * G * (0.6 * np.cos(slope) - np.sin(slope)))
    x = run.data["q"].sel(coordinate="root.x").values[0]
    # a step of 1 ms at 1 m/s is 1 mm: friction acts over whole steps
    assert abs((x[-1] - x[0]) / np.cos(slope) - way) < 2e-3
    assert run.summary().as_dict()["at_rest"]


def test_the_foot_rests_where_forces_balance():
    """k d + kp (ref + d) = m g."""
    run = hs.load_scene("foot").run()
    depth = (25 * G + 2e4 * 0.02) / (7.5e4 + 2e4)
    assert abs(run.data["depth"].values[0, -1, 0] - depth) < 1e-9


@pytest.mark.nightly
@pytest.mark.parametrize("name", hs.scenes())
def test_every_bundled_scene_runs(name):
    run = hs.load_scene(name).run()
    assert run.data["failed"].item() == -1


DOCUMENTED = (
    *surface_kinds().values(),
    hs.Scene,
    hs.SceneFile,
    hs.Servo,
    hs.Stops,
    hs.Trajectory,
    hs.controller,
    hs.load_scene,
)


@pytest.mark.parametrize("thing", DOCUMENTED, ids=lambda thing: thing.__name__)
def test_examples_of_docstrings_run(thing):
    names = {"hs": hs, "np": np}
    examples = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__, globs=names)
    assert [len(example.examples) > 0 for example in examples] == [True]
    assert doctest.DocTestRunner().run(examples[0]).failed == 0


def test_reading_a_scene_imports_no_more_than_it_needs():
    """In a process of its own: SciPy's optimizers alone take a third of a second."""
    script = (
        "import sys, heelstrike as hs\n"
        "hs.load_scene('stand')\n"
        "sys.exit('scipy.optimize' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
