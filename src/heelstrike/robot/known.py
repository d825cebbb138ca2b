"""Attributes and children of the elements of URDF and MJCF that are read here.

They serve to report misspellings, which would otherwise be ignored silently. Elements without an
entry (materials, sensors, solver settings) are not checked. Names with a colon belong to other
tools. MJCF: the schema of MuJoCo 4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from heelstrike.errors import nearest
from heelstrike.robot.xml import RobotFile, label

Words = Mapping[str, tuple[str, str]]
"""Element: (its attributes, its children)."""

URDF: Words = {
    "robot": (
        "name version xmlns",
        "link joint material transmission gazebo ros2_control mujoco sensor",
    ),
    "link": ("name type", "inertial visual collision sensor gazebo contact"),
    "inertial": ("", "origin mass inertia"),
    "origin": ("xyz rpy", ""),
    "mass": ("value", ""),
    "inertia": ("ixx iyy izz ixy ixz iyz", ""),
    "visual": ("name", "origin geometry material"),
    "collision": ("name group", "origin geometry material contact_coefficients verbose"),
    "geometry": ("", "box sphere cylinder capsule mesh"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "mesh": ("filename scale", ""),
    "joint": (
        "name type",
        "origin parent child axis limit dynamics mimic calibration safety_controller",
    ),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
}

_PLACE = "pos quat axisangle xyaxes zaxis euler"
_BODY = (
    f"{_PLACE} name childclass fuse gravcomp mocap simple sleep user",
    "body frame inertial joint freejoint geom site camera light plugin attach flexcomp composite "
    "replicate",
)
_ACTUATORS = (
    "general motor position velocity intvelocity pid orientation damper cylinder muscle adhesion "
    "dcmotor plugin"
)
_ACTUATOR = (
    "name class group user joint jointinparent tendon site refsite slidersite cranksite "
    "cranklength gear lengthrange armature damping ctrllimited ctrlrange forcelimited forcerange "
    "delay interp nsample"
)
_SERVO = f"{_ACTUATOR} kp kv dampratio inheritrange"

MJCF: Words = {
    "mujoco": (
        "model",
        "compiler option size statistic visual default extension custom asset worldbody "
        "deformable contact tendon equality actuator sensor keyframe",
    ),
    "compiler": (
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict "
        "coordinate discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange "
        "meshdir passthrough savecanonical savecompiled saveinertial settotalmass strippath "
        "texturedir usethread",
        "lengthrange",
    ),
    "option": (
        "actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity impratio "
        "integrator iterations jacobian ls_iterations ls_tolerance magnetic noslip_iterations "
        "noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations "
        "sleep_tolerance solver timestep tolerance viscosity wind",
        "flag",
    ),
    "default": (
        "class",
        "default mesh texture material joint geom site camera light pair equality tendon "
        + _ACTUATORS,
    ),
    "asset": ("", "mesh hfield skin texture material model"),
    "mesh": (
        "builtin class content_type face file inertia material maxhullvert name normal params "
        "refpos refquat scale smoothnormal texcoord vertex",
        "plugin",
    ),
    "worldbody": _BODY,
    "body": _BODY,
    "frame": (f"{_PLACE} name childclass", _BODY[1]),
    "inertial": (f"{_PLACE} mass diaginertia fullinertia", ""),
    "joint": (
        "name class type group pos axis range limited ref armature damping frictionloss stiffness "
        "springref springdamper springyield actuatorfrcrange actuatorfrclimited actuatorgravcomp "
        "margin solimpfriction solimplimit solreffriction solreflimit user",
        "",
    ),
    "freejoint": ("name group align", ""),
    "geom": (
        f"{_PLACE} name class type size fromto mass density shellinertia mesh hfield fitscale "
        "contype conaffinity condim group priority friction adhesion solmix solref solimp margin "
        "gap surfacevel fluidshape fluidcoef material rgba castshadow user",
        "plugin",
    ),
    "site": (f"{_PLACE} name class type size fromto mesh group material rgba user", ""),
    "actuator": ("", _ACTUATORS),
    "general": (
        f"{_ACTUATOR} body actdim actearly actlimited actrange biasprm biastype dynprm dyntype "
        "gainprm gaintype ffrange inheritrange input velrange",
        "",
    ),
    "motor": (_ACTUATOR, ""),
    "position": (f"{_SERVO} timeconst", ""),
    "velocity": (f"{_ACTUATOR} kv", ""),
    "intvelocity": (f"{_SERVO} actlimited actrange", ""),
    "pid": (f"{_SERVO} ki imax slewmax ffrange posrange velrange input", ""),
    "keyframe": ("", "key"),
    "key": ("name time qpos qvel act ctrl mpos mquat plastic", ""),
}


def warn_unknown(file: RobotFile, root: Element, words: Words) -> None:
    """Warn once about each unknown attribute and element, with the nearest known name."""
    found: dict[str, list[str]] = {}

    def look(element: Element, what: str) -> None:
        attributes, children = (text.split() for text in words[element.tag])
        for kind, own, known in (
            ("attribute", list(element.attrib), attributes),
            ("element", [child.tag for child in element], children),
        ):
            for name in own:
                if name not in known and ":" not in name:
                    shown = f"'{name}'" if kind == "attribute" else f"<{name}>"
                    close = nearest(name, known)
                    hint = f"; did you mean '{close}'?" if close else ""
                    message = f"the unknown {kind} {shown} of {{}} is not read{hint}"
                    found.setdefault(message, []).append(what)
        for child in element:
            if child.tag in children and child.tag in words:
                inside = "" if element is root else f" in {what}"
                look(child, label(child) if child.get("name") else f"<{child.tag}>{inside}")

    look(root, f"<{root.tag}>")
    for message, owners in found.items():
        more = f" and {len(owners) - 1} more" if len(owners) > 1 else ""
        file.warn(message.replace("{}", owners[0] + more))
