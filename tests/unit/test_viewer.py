"""The viewer without a browser: what it puts where, and what a live scene does.

Oracles: Pinocchio (places of bodies, centre of mass), the recording itself (contacts, forces), a
ramp's and Coulomb's geometry (cones), scipy's convex hull (support polygon), the sum of cross
products that a browser forms (meshes), statics (m g = sum of k d) and momentum (F t = m v) for the
simulator behind the sliders.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.view.browser import export_curves, quantities, sampling, server
from heelstrike.view.browser.camera import first_viewpoint
from heelstrike.view.browser.export import export
from heelstrike.view.browser.instances import rod, rotations_from_z
from heelstrike.view.browser.normals import Normals
from heelstrike.view.browser.overlays import KINDS
from heelstrike.view.browser.player import Player
from heelstrike.view.browser.run_arrays import run_arrays
from heelstrike.view.browser.sampling import axis_bounds
from heelstrike.view.browser.scene_view import SceneView
from heelstrike.view.browser.server import free_port, serving
from heelstrike.view.render.sight import hidden_share
from heelstrike.view.render.solid import box, solid, split_vertices
from tests.cli import call


@pytest.fixture(scope="module")
def standing():
    """hoap1 falls from 1 cm onto its feet."""
    scene = hs.load_scene("stand")
    q0, v0 = scene.start
    return scene.simulator().run(1.0, q0=q0, v0=v0)


@pytest.fixture(scope="module")
def player(standing):
    with serving(port=0) as opened:
        made = Player(opened, [run_arrays(standing, "one"), run_arrays(standing, "other")])
        for kind in KINDS:
            made.scene_view.switch(kind, True)
        yield made


@pytest.mark.parametrize("time", [0.0, 0.1234, 1.0])
def test_bodies_are_where_pinocchio_has_them(player, standing, time):
    player.seek(time)
    model = standing.robot.model
    q = standing.data["q"][0].sel(time=time + 1e-9, method="ffill").values
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    for actor in player.scene_view.robots:
        for node, place in zip(actor.bodies, list(data.oMi)[1:], strict=True):
            np.testing.assert_allclose(node.position, place.translation, atol=1e-12)
            turn = Rotation.from_quat(node.wxyz, scalar_first=True).as_matrix()
            np.testing.assert_allclose(turn, place.rotation, atol=1e-12)
    # recorded by the compiled step in float64
    com = pin.centerOfMass(model, data, q)
    np.testing.assert_allclose(player.scene_view.overlays[0].com.position, com, atol=1e-9)


def directions(copies):
    """Of the axes of a shape's copies in the world."""
    turns = Rotation.from_quat(copies.node.batched_wxyzs, scalar_first=True)
    return turns.apply([0.0, 0.0, 1.0])


def length(arrows):
    """Of shafts and heads together [m]."""
    return sum(part.node.batched_scales[:, 2] for part in (arrows.shafts, arrows.heads))


def test_arrows_are_the_recorded_forces(player, standing):
    player.seek(0.9)
    now = standing.data.isel(world=0).sel(time=0.9, method="nearest")
    arrows, scale = player.scene_view.overlays[0].forces, player.scene_view.scale
    touching = now["touching"].values
    assert touching.any()
    between = 2 * len(now["self_pair"])  # two arrows for each slot of contact between bodies
    on = np.append(touching, np.zeros(between, bool))
    drawn = length(arrows)[:, None] * scale * directions(arrows.heads)
    # float32 in the browser: 1e-7 of 20 N
    np.testing.assert_allclose(drawn[on], now["force"].values[touching], atol=2e-5)
    places = now["contact_position"].values
    np.testing.assert_allclose(
        arrows.shafts.node.batched_positions[on], places[touching], atol=1e-6
    )
    assert not length(arrows)[~on].any()


def test_arrows_follow_the_scale(player):
    player.seek(0.9)
    overlays, scale = player.scene_view.overlays[0], player.scene_view.scale
    before = length(overlays.forces)
    player.scene_view.scale = 2 * scale
    player.scene_view.refresh()
    np.testing.assert_allclose(2 * length(overlays.forces), before, rtol=1e-6)
    player.scene_view.scale = scale


def test_the_support_polygon_is_the_convex_hull(player, standing):
    player.seek(0.9)
    now = standing.data.isel(world=0).sel(time=0.9, method="nearest")
    places = now["contact_position"].values[now["touching"].values]
    x, y, z = player.scene_view.overlays[0].support.vertices.astype(float).T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    assert area == pytest.approx(ConvexHull(places[:, :2]).volume, rel=1e-4)
    assert abs(z - places[:, 2].mean()).max() < 5e-3


def test_cones_stand_on_the_ramp_and_hold_what_sticks():
    """Axis: the ramp's normal; slope: mu; the force of a brick that rests is inside."""
    scene = hs.load_scene("brick-on-a-ramp")
    run = scene.run()
    with serving(port=0) as opened:
        made = Player(opened, [run_arrays(run)])
        made.scene_view.switch("cones", True)
        made.seek(run.data["time"].values[-1])
        cones, forces = made.scene_view.overlays[0].cones, made.scene_view.overlays[0].forces
    (surface,) = scene.content.surface
    normal = np.array(surface.normal) / np.linalg.norm(surface.normal)
    assert abs(normal[2]) < 0.99
    sizes = cones.node.batched_scales
    loaded = sizes[:, 2] > 0
    assert loaded.any()
    axes = directions(cones)[loaded]
    np.testing.assert_allclose(axes, np.tile(normal, (len(axes), 1)), atol=1e-6)
    mu = surface.law.friction.mu_s
    np.testing.assert_allclose(sizes[loaded, 0] / sizes[loaded, 2], mu, rtol=1e-6)
    arrows = directions(forces.heads)[loaded]
    # a brick that slides is on the cone, one that rests inside
    assert np.all(arrows @ normal > np.cos(np.arctan(mu)) - 1e-6)


@pytest.mark.parametrize("name", ["box-stack", "stairs", "three-materials", "hand-and-object"])
def test_normals_are_those_of_the_simulator(name):
    """f . n = f_n, on boxes, stairs, and surfaces that ride on bodies."""
    run = run_arrays(hs.load_scene(name).run())
    normals, seen = Normals(run), 0
    for k in range(0, len(run.time), 80):
        now = run.at(k)
        loaded = now["touching"] & (now["normal_force"] > 1e-3)
        found = normals.at(now["q"], loaded)
        along = np.einsum("ij,ij->i", now["force"][loaded], found[loaded])
        np.testing.assert_allclose(along, now["normal_force"][loaded], rtol=1e-9)
        seen += loaded.sum()
    assert seen > 10


def test_a_recording_of_the_motion_alone_is_shown():
    """Without forces there are no arrows, and no error."""
    short = hs.load_scene("bouncing-ball").simulator().run(0.1, record=["q"])
    with serving(port=0) as opened:
        made = Player(opened, [run_arrays(short)])
        made.seek(0.05)
        assert made.curves is None
        assert not any(made.scene_view.overlays[0].shown.values())
        q = short.data["q"][0].sel(time=0.05, method="nearest").values
        np.testing.assert_allclose(made.scene_view.robots[0].bodies[0].position, q[:3], atol=1e-12)


def test_a_ghost_is_seen_through_and_can_be_hidden(player):
    solid_one, ghost = player.scene_view.robots
    assert {mesh.opacity for mesh in solid_one.meshes} == {None}
    assert all(mesh.opacity < 0.5 for mesh in ghost.meshes)
    solid_one.fade(0.4)
    assert {mesh.opacity for mesh in solid_one.meshes} == {0.4}
    solid_one.fade(1.0)
    assert {mesh.opacity for mesh in solid_one.meshes} == {None}
    player.scene_view.hide(1, True)
    assert not ghost.root.visible
    assert solid_one.root.visible
    player.scene_view.hide(1, False)


def test_following_keeps_the_robot_over_the_spot(player):
    player.scene_view.following = True
    player.seek(1.0)
    world, com = (
        player.scene_view.world_node.node.position,
        player.scene_view.overlays[0].com.position,
    )
    np.testing.assert_allclose(
        (world + com)[:2], player.scene_view.world_node.centre[:2], atol=1e-9
    )
    player.scene_view.following = False
    player.scene_view.refresh()
    assert not player.scene_view.world_node.node.position.any()


def test_play_goes_on_to_the_end_and_stops(player):
    player.speed = 50.0
    player.seek(0.0)
    player.toggle()
    assert player.playing
    player.play(lambda: not player.playing)
    assert player.time == player.end
    player.toggle()
    assert player.time == player.begin
    player.toggle()


@pytest.mark.parametrize("shape", [box(np.array([0.1, 0.2, 0.3])), rod()])
def test_meshes_keep_their_edges_where_a_browser_computes_the_normals(shape):
    """Normals as three.js has them: the sum, over the triangles that share a vertex, of their
    cross products.
    """
    shown = solid(shape, (1.0, 1.0, 1.0))
    vertices, triangles = split_vertices(shown)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    total = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(total, triangles[:, k], np.cross(b - a, c - a))
    total /= np.linalg.norm(total, axis=1, keepdims=True)
    # corner normals are grouped to three digits
    np.testing.assert_allclose(total[triangles], shown.normals, atol=2e-3)


def test_turns_take_z_to_any_direction():
    directions = np.vstack([np.eye(3), -np.eye(3), np.random.default_rng(1).normal(size=(20, 3))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rotations = Rotation.from_quat(rotations_from_z(directions), scalar_first=True)
    np.testing.assert_allclose(rotations.apply([0, 0, 1.0]), directions, atol=1e-12)


def test_a_thinned_curve_keeps_its_peaks():
    time = np.arange(10_000) * 1e-3
    value = np.sin(time)
    value[[123, 7777]] = 40.0, -50.0
    short, thin = sampling.thinned(time, value)
    assert len(short) <= sampling.MAX_SAMPLES
    assert np.all(np.diff(short) > 0)
    assert (thin.max(), thin.min()) == (40.0, -50.0)


@pytest.mark.parametrize("low", [0.0, 6.326, -6.326, 0.49, 1e4])
@pytest.mark.parametrize("spread", [0.0, 1e-7, 1e-3, 0.3, 40.0])
@pytest.mark.parametrize("from_zero", [True, False])
def test_ends_of_an_axis_hold_the_values_and_differ(low, spread, from_zero):
    """A curve that hardly moves does not fill the axis: its ends differ by the least span."""
    values = low + spread * np.linspace(0.0, 1.0, 7)
    a, b = axis_bounds([values], 0.1, from_zero)
    rounding = 1e-9 * (b - a)
    assert a <= values.min() + rounding
    assert values.max() <= b + rounding
    assert b - a >= max(0.1, 0.019 * abs(low))
    assert b - a <= 3 * max(spread, 0.1, 0.02 * abs(low) + 0.02 * spread) or from_zero
    assert (a <= 0 <= b) or not from_zero
    # a tick at each third at least: distinct to three decimals, which is what uPlot prints
    assert round(a, 3) != round(a + (b - a) / 4, 3)


def test_curves_are_the_recorded_variables(standing):
    """CoP: from body_force, body_moment of the recording, by statics; work: by the balance."""
    run = run_arrays(standing)
    assert quantities.topics(run) == list(quantities.TOPICS)
    x, y = quantities.plots(run, quantities.BALANCE, "")
    last = standing.data.isel(world=0, time=-1)
    force = last["body_force"].values.sum(axis=0)
    moment = last["body_moment"].values.sum(axis=0)
    height = last["contact_position"].values[last["touching"].values][:, 2].mean()
    # m = r x f about the world's origin; contacts differ in height by their depths, 0.3 mm
    known = np.array([height * force[0] - moment[1], moment[0] + height * force[1]]) / force[2]
    found = [plot.lines["CoP"](run)[-1] for plot in (x, y)]
    np.testing.assert_allclose(found, known, atol=1e-4)
    energies = quantities.plots(run, quantities.ENERGY, "")
    kinetic, potential, works = (list(plot.lines.values()) for plot in energies)
    total = kinetic[0](run) + potential[0](run)
    done = sum(line(run) for line in works)
    for name in ("work_stops", "work_joints"):
        done = done + standing.data[name].values[0]
    # works are trapezoids of a step of 1 ms: 1 % of the energy that the fall brings
    np.testing.assert_allclose(total[-1] - total[0], done[-1], atol=0.01 * np.ptp(total))
    name = quantities.choices(run, quantities.JOINT)[3]
    angle, speed, _ = quantities.plots(run, quantities.JOINT, name)
    q, v = (plot.lines[name](run) for plot in (angle, speed))
    # symplectic: q+ = q + dt v+
    np.testing.assert_allclose(np.diff(q), 1e-3 * v[1:], atol=1e-9)


LIKE_STAND = ("humanoid-drop", "push")
"""Scenes with the robot and the ground of another, which take long to compile."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name in LIKE_STAND else [])
        for name in hs.scenes()
    ],
)
def test_the_robot_is_in_view_from_outside(name):
    """At the start, and after it moved; in a wide page and in a phone's."""
    scene = hs.load_scene(name)
    q0, v0 = scene.start
    run = run_arrays(scene.simulator().run(0.5, q0=q0, v0=v0))
    with serving(port=0) as opened:
        view = SceneView(opened, [run], 1.0)
        world = view.world_node
        view.following = True
        for k in (0, -1):
            view.show([run.at(k)])
            shift = np.asarray(world.node.position)
            points = run.vertices(k) + shift
            world.subject = lambda points=points, shift=shift: points - shift
            for ratio in (0.6, 844 / 390):
                eye = world._view(ratio)
                x, y = eye.project(points).T
                assert np.abs(x).max() < 1.0
                assert np.abs(y).max() < ratio
                planes = [(place + shift, normal) for place, normal in world._planes]
                hidden = hidden_share(eye.position, points[::50], world._triangles + shift, planes)
                assert hidden < 0.1  # 3 % where a table hides a robot's fingers


def test_a_wall_is_looked_past():
    """A wall before the first look: the view turns until nothing is hidden."""
    places = np.random.default_rng(2).uniform(-0.1, 0.1, (50, 3))
    free = first_viewpoint(places, 0.6, np.zeros((0, 3, 3)))
    middle, right, up = free.position / 2, 3 * free.axes[0], 3 * free.axes[1]
    wall = np.array([[middle - right - up, middle + right - up, middle + up]])
    assert hidden_share(free.position, places, wall) == 1.0
    turned = first_viewpoint(places, 0.6, wall)
    assert hidden_share(turned.position, places, wall) == 0.0
    behind = wall + 10 * (free.position - middle)
    assert hidden_share(free.position, places, behind) == 0.0


def test_a_taken_port_is_told_and_the_next_one_found(monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        taken = other.getsockname()[1]
        with pytest.raises(HeelstrikeError, match=f"port {taken} of '127.0.0.1' cannot be used"):
            free_port("127.0.0.1", taken)
        monkeypatch.setattr(server, "PORT", taken)
        assert taken < free_port("127.0.0.1", None) < taken + server.MAX_PORTS


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is there on Linux alone")
def test_it_listens_to_this_machine_alone():
    with serving(port=0) as opened:
        port = opened.get_port()
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with socket.socket() as other:  # free on all other addresses of the machine
            other.bind(("127.0.0.2", port))


def test_mistakes_are_sentences(capsys, tmp_path, monkeypatch, standing):
    monkeypatch.chdir(tmp_path)
    standing.save("stand.nc")
    ball = hs.load_scene("bouncing-ball")
    ball.simulator().run(0.01).save("ball.nc")
    ball.simulator().run(0.01, record="final").save("end.nc")
    Path("notes.nc").write_text("no recording")
    said = {
        (): "pass recordings",
        ("nothing",): "no scene 'nothing'",
        ("gone.nc",): "there is no file 'gone.nc'",
        ("notes.nc",): "'notes.nc' is not a NetCDF4 file",
        ("end.nc",): "holds no q over time",
        ("my.urdf",): "heelstrike view --robot my.urdf",
        ("stand", "push"): "2 scenes cannot be shown together",
        ("ball.nc", "push"): "'push' is not a recording",
        ("stand.nc", "ball.nc"): "is a recording of hoap1, 'ball.nc' of ball",
        ("stand.nc", "--robot", "ball"): "ball has 7 coordinates",
        ("ball.nc", "--world", "2"): "world is 2; allowed: 0 to 0",
        ("ball.nc", "--law", "rigid"): "change a scene, not a recording",
        ("ball.nc", "--export", "a.pdf"): "'a.pdf'; allowed: names that end in .html",
        ("ball.nc", "--port", "70000"): "port is 70000; allowed: 0 (any free port) to 65535",
        ("ball.nc", "--host", "192.0.2.1"): "check --host",
        ("ball.nc", "--host", "no..host"): "unknown host 'no..host'",
    }
    for arguments, sentence in said.items():
        code, out, err = call(capsys, "view", *arguments, "--no-open")
        assert (code, out) == (1, ""), arguments
        assert sentence in " ".join(err.split()), (arguments, err)


def test_a_robot_that_is_gone_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = Path("mine.xml")
    model.write_text(
        '<mujoco model="mine"><worldbody><body name="b"><freejoint/><geom type="sphere" '
        'size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    scene = hs.Scene(hs.load(model, collide="feet"), hs.Plane())
    hs.Simulator(scene).run(0.01, q0=[0, 0, 0.5, 0, 0, 0, 1]).save("mine.nc")
    model.unlink()
    code, _, err = call(capsys, "view", "mine.nc", "--no-open")
    assert code == 1
    assert "cannot load the robot of 'mine.nc'" in " ".join(err.split())
    assert "--robot" in err


def test_it_serves_until_ctrl_c(tmp_path):
    hs.load_scene("bouncing-ball").simulator().run(0.1).save(tmp_path / "ball.nc")
    command = [sys.executable, "-m", "heelstrike", "view", "ball.nc", "--no-open", "--json"]
    with subprocess.Popen(
        [*command, "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        said = b""
        while b"}" not in said:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        with urllib.request.urlopen(json.loads(said)["url"], timeout=60) as answer:
            assert b"<html" in answer.read()[:200].lower()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_the_page_is_one_file(capsys, tmp_path, standing):
    path = tmp_path / "page.html"
    standing.save(tmp_path / "stand.nc")
    code, out, _ = call(capsys, "view", str(tmp_path / "stand.nc"), "--export", str(path), "--json")
    assert code == 0
    assert json.loads(out) == {"page": str(path)}
    assert path.stat().st_size > 5e5
    again = export([run_arrays(standing)], tmp_path / "again.html", overlays=["com"])
    assert again.stat().st_size > 5e5
    text = path.read_text()
    assert text.count("data:image/svg+xml;base64,") >= 4
    assert f"Contact {quantities.most_loaded(run_arrays(standing))}" in text
    assert not re.search(r"""(src|href)=["']https?:""", text)
    code, _, err = call(capsys, "view", "stand", "--export", str(path), "--contact", "nose")
    assert code == 1
    assert "no contact 'nose'" in err


def test_curves_of_a_page_are_those_of_the_recording(standing):
    """The polyline of the SVG against the samples, by the axes that beside.py gives it."""
    run = run_arrays(standing)
    contact = quantities.most_loaded(run)
    shown = {plot.title: plot for plot in quantities.plots(run, quantities.CONTACT, contact)}
    figure = export_curves.curve_figure([run], shown["depth [mm]"])
    (line,) = figure.axes[0].lines
    k = run.points.index(contact)
    known = np.interp(line.get_xdata(), run.time, 1e3 * run.arrays["depth"][:, k])
    np.testing.assert_allclose(line.get_ydata(), known, atol=1e-9)
    assert line.get_ydata().max() == 1e3 * run.arrays["depth"][:, k].max()
    np.testing.assert_allclose(figure.axes[0].get_position().bounds, export_curves.AXES)
