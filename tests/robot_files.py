"""Small robots in MJCF and URDF."""

MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'
LINK_MASS = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)


def mjcf(body: str, rest: str = "") -> str:
    return f'<mujoco model="m"><worldbody><body name="a">{body}</body></worldbody>{rest}</mujoco>'


def urdf(joint: str = "", links: str = "", inertial: str = LINK_MASS) -> str:
    return (
        f'<robot name="r"><link name="a">{inertial}</link><link name="b">{inertial}</link>{links}'
        + (joint or '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
           '<axis xyz="0 0 2"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>')
        + "</robot>"
    )  # fmt: skip


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{more}</joint>"
    )


def urdf_shape(shape: str) -> str:
    collision = f"<collision><geometry>{shape}</geometry></collision>"
    return urdf().replace('<link name="b">', f'<link name="b">{collision}')


def mesh(attributes: str) -> str:
    asset = f"<asset><mesh name='m' {attributes}/></asset>"
    return mjcf(f"<joint/>{MASS}<geom type='mesh' mesh='m'/>", asset)


LIMIT = "<limit lower='{}' upper='{}' effort='{}' velocity='1'/>"
CORNERS = "0 0 0 1 0 0 0 1 0 0 0 1"
HINGE = f"<joint name='j' axis='0 1 0'/>{MASS}"
HEAVY = '<inertial pos="0 0 0" mass="{}" diaginertia="{}"/>'
