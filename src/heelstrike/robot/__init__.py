"""Robots: joints, bodies, shapes and contact points, with readers of URDF and MJCF."""

from heelstrike.robot.combine import combine
from heelstrike.robot.load import bundled, load
from heelstrike.robot.parts import Body, Frame, Joint, Point, Shape
from heelstrike.robot.robot import Robot

__all__ = ["Body", "Frame", "Joint", "Point", "Robot", "Shape", "bundled", "combine", "load"]
