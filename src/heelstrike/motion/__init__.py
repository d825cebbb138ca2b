"""Reference motions for humanoids: tables that `hs.Servo` follows.

walk = motion.walk(robot, steps=8, length=0.03)
sim = hs.Simulator(hs.Scene(robot, floor), control=hs.Servo(reference=walk))
sim.run(walk.duration, q0=walk.start)
"""

from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.jump import jump
from heelstrike.motion.motion import Motion, play
from heelstrike.motion.outcome import Outcome, outcome
from heelstrike.motion.punch import punch
from heelstrike.motion.stance import stance, stand_up
from heelstrike.motion.state import state
from heelstrike.motion.walk import walk

__all__ = [
    "Humanoid",
    "Motion",
    "Outcome",
    "jump",
    "outcome",
    "play",
    "punch",
    "stance",
    "stand_up",
    "state",
    "walk",
]
