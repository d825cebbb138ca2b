"""Numbers of a law from what a point feels: given loads and masses, not a robot.

    choose("hunt-crossley", felt, wish).law

`simulate/suggest.py` finds what the points of a robot feel.
"""

from heelstrike.contact.choose.choose import NAMES, choose, friction_of, template
from heelstrike.contact.choose.felt import Choice, Felt, Wish

__all__ = ["NAMES", "Choice", "Felt", "Wish", "choose", "friction_of", "template"]
