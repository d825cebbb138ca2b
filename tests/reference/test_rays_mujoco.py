"""Rays against mj_ray of MuJoCo: planes, boxes, balls, capsules, cylinders, ellipsoids, hulls."""

import mujoco
import numpy as np
import pytest

import heelstrike as hs

REACH = 5.0
KINDS = {
    "sphere": "0.15",
    "box": "0.2 0.1 0.15",
    "capsule": "0.08 0.2",
    "cylinder": "0.12 0.15",
    "ellipsoid": "0.2 0.1 0.15",
    "mesh": "",
}


def model(random):
    """Return an MJCF with a sensor's body and free bodies of all kinds around it."""
    vertices = " ".join(f"{x:.3f}" for x in random.normal(scale=0.12, size=(14, 3)).ravel())
    bodies = []
    for k, (kind, size) in enumerate(KINDS.items()):
        angle = 2 * np.pi * k / len(KINDS)
        place = (
            f"{0.5 * np.cos(angle):.4f} {0.5 * np.sin(angle):.4f} {random.uniform(-0.2, 0.2):.4f}"
        )
        turn = " ".join(f"{x:.4f}" for x in random.normal(size=4))
        shape = 'type="mesh" mesh="stone"' if kind == "mesh" else f'type="{kind}" size="{size}"'
        bodies.append(
            f'<body name="b{k}" pos="{place}" quat="{turn}"><freejoint/>'
            f'<geom {shape} mass="1"/></body>'
        )
    return f"""<mujoco><asset><mesh name="stone" vertex="{vertices}"/></asset><worldbody>
      <body name="eye"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <geom name="own" type="sphere" size="0.02" mass="0.1"/></body>
      {"".join(bodies)}</worldbody></mujoco>"""


def directions(random, count):
    found = random.normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def peer_distances(text, q, starts, rays, exclude):
    """Return the distances by mj_ray, REACH where there are none."""
    spec = mujoco.MjSpec.from_string(text)
    peer = spec.compile()
    data = mujoco.MjData(peer)
    data.qpos[:] = q
    mujoco.mj_forward(peer, data)
    own = -1 if exclude is None else peer.body(exclude).id
    geom, found = np.zeros(1, dtype=np.int32), []
    for start, ray in zip(starts, rays, strict=True):
        distance = mujoco.mj_ray(peer, data, start, ray, None, 1, own, geom)
        found.append(REACH if distance < 0 else min(distance, REACH))
    return np.array(found)


def test_shapes_of_bodies(tmp_path):
    random = np.random.default_rng(4)
    text = model(random)
    file = tmp_path / "stones.xml"
    file.write_text(text)
    robot = hs.load(file)
    rays = directions(random, 400)
    sensor = hs.Rays("eye", directions=rays, reach=REACH, shapes=True)
    sim = hs.Simulator(hs.Scene(robot, gravity=0.0, self_contact=False), sensors=[sensor])
    placed = mujoco.MjSpec.from_string(text).compile().qpos0
    q = placed.reshape(-1, 7)[:, [0, 1, 2, 4, 5, 6, 3]].ravel()  # quaternions are wxyz in MuJoCo
    sim.reset(q0=q)
    sim.step()
    found = np.array(sim.sensors["eye.rays"])
    expected = peer_distances(text, placed, np.zeros((400, 3)), rays, "eye")
    assert (expected < REACH).sum() > 60
    # 1e-6: MuJoCo keeps vertices of meshes as float32
    assert np.allclose(found, expected, rtol=0, atol=1e-6)


def test_surfaces(tmp_path):
    """A plane, a box and a tilted box of the world, and a ball, a rod and a post."""
    random = np.random.default_rng(5)
    text = """<mujoco><worldbody>
      <geom type="plane" size="5 5 0.1"/>
      <geom type="box" pos="0.5 0.1 0.1" size="0.2 0.15 0.1"/>
      <geom type="sphere" pos="-0.5 0.2 0.1" size="0.2"/>
      <geom type="capsule" pos="0 -0.6 0.2" size="0.1 0.25" zaxis="1 0 0"/>
      <geom type="cylinder" pos="0.1 0.6 0.2" size="0.15 0.2" zaxis="0 1 1"/>
      <body name="eye" pos="0 0 0.6"><freejoint/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      </worldbody></mujoco>"""
    file = tmp_path / "eye.xml"
    file.write_text("""<mujoco><worldbody><body name="eye"><freejoint/>
        <geom type="sphere" size="0.01" mass="1"/></body></worldbody></mujoco>""")
    robot = hs.load(file)
    scene = hs.Scene(
        robot,
        hs.Plane(name="ground"),
        hs.Box(name="box", point=(0.5, 0.1, 0.1), size=(0.4, 0.3, 0.2)),
        hs.Sphere(name="ball", point=(-0.5, 0.2, 0.1), radius=0.2),
        hs.Capsule(name="rod", point=(0, -0.6, 0.2), radius=0.1, length=0.5, axis=(1, 0, 0)),
        hs.Cylinder(name="post", point=(0.1, 0.6, 0.2), radius=0.15, length=0.4, axis=(0, 1, 1)),
    )
    rays, starts = directions(random, 300), random.uniform(-0.3, 0.3, (300, 3))
    sensors = [
        hs.Rays("eye", starts=starts, directions=rays, reach=REACH, align=align, label=align)
        for align in ("frame", "yaw", "world")
    ]
    sim = hs.Simulator(scene, sensors=sensors)
    turn = np.array([0.1, 0.2, 0.6, 0.75])
    turn /= np.linalg.norm(turn)
    q = np.array([0.05, -0.02, 0.7, *turn])
    sim.reset(q0=q)
    sim.step()
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, turn[[3, 0, 1, 2]])
    matrix = matrix.reshape(3, 3)
    heading = np.arctan2(matrix[1, 0], matrix[0, 0])
    c, s = np.cos(heading), np.sin(heading)
    axes = {
        "frame": matrix,
        "yaw": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
        "world": np.eye(3),
    }
    for align, turned in axes.items():
        placed = q[:3] + starts @ turned.T
        expected = peer_distances(
            text, np.array([9, 9, 9, 1, 0, 0, 0]), placed, rays @ turned.T, "eye"
        )
        found = np.array(sim.sensors[f"eye.rays:{align}"])
        assert (expected < REACH).sum() > 100
        assert np.allclose(found, expected, rtol=0, atol=1e-9)


def test_height_field_meets_its_own_equation():
    """At the end of a ray the ground is as high as the ray, and higher nowhere before."""
    random = np.random.default_rng(6)
    heights = random.uniform(0, 0.1, (12, 15))
    field = hs.HeightField(name="ground", heights=heights, size=(2.0, 2.5))
    rays = directions(random, 60)
    rays[:, 2] = -np.abs(rays[:, 2]) - 0.2
    rays[0] = 0, 0, -1
    sensor = hs.Rays("ball", directions=rays, reach=REACH, align="world")
    robot = hs.load("ball")
    sim = hs.Simulator(hs.Scene(robot, field), sensors=[sensor])
    q = np.array([0.11, -0.07, 0.6, 0, 0, 0, 1])
    sim.reset(q0=q)
    sim.step()
    found = np.array(sim.sensors["ball.rays"])
    unit = rays / np.linalg.norm(rays, axis=1, keepdims=True)

    def above(place):
        depth, axes = field.depth_and_axes(place)
        return -float(depth) / float(axes[2, 2])

    for distance, ray in zip(found, unit, strict=True):
        assert distance < REACH
        gaps = [above(q[:3] + t * ray) for t in np.linspace(0, distance, 50)]
        assert abs(gaps[-1]) < 1e-6  # CLOSE, over the steepest ray
        assert min(gaps[:-1]) > -1e-9


def test_rays_have_the_options_of_sensors_and_are_recorded():
    robot = hs.load("ball")
    scene = hs.Scene(robot, hs.Plane(name="ground"))
    down = {"directions": [(0, 0, -1), (0, 1, -1)], "reach": 2.0, "align": "world"}
    late = hs.Rays("ball", **down, label="late", latency=3e-3, history=2)
    noisy = hs.Rays("ball", **down, label="noisy", noise=0.01)
    sim = hs.Simulator(scene, sensors=[hs.Rays("ball", **down), late, noisy], worlds=3)
    run = sim.run(0.01, q0=[0, 0, 0.8, 0, 0, 0, 1])
    exact = run.data["ball.rays"].values
    height = run.data.q.values[:, :, 2]
    assert np.allclose(exact, height[..., None] * [1, np.sqrt(2)], rtol=1e-12)
    assert np.array_equal(run.data["ball.rays:late"].values[:, 3:], exact[:, :-3])
    assert 0 < np.abs(run.data["ball.rays:noisy"].values - exact).std() < 0.02
    assert sim.sensors["ball.rays:late"].shape == (3, 2, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hs.Rays("ball", directions=(0, 0, 0)), "any length but zero"),
        (lambda: hs.Rays("ball", starts=np.zeros((2, 3)), directions=np.ones((3, 3))), "as many"),
        (lambda: hs.Rays("ball", align="body"), "'frame' or 'yaw' or 'world'"),
        (lambda: hs.Rays("bal"), "ball.rays"),
        (lambda: "ball.rays", "needs rays"),
    ],
)
def test_wrong_rays_are_refused(make, words):
    with pytest.raises(hs.HeelstrikeError, match=words):
        hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane()), sensors=[make()])


def test_rays_refuse_meshes():
    scene = hs.Scene(hs.load("ball"), hs.Mesh(name="hill"))
    with pytest.raises(hs.HeelstrikeError, match=r"do not meet hs\.Mesh"):
        hs.Simulator(scene, sensors=[hs.Rays("ball")])
