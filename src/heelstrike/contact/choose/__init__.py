"""Choose the numbers of a law from loads and effective masses, without a robot.

    choose(template("hunt-crossley"), support, requirement).law

simulate/suggest.py finds the support of a robot.
"""

from heelstrike.contact.choose.choice import ChosenLaw, Requirement, Support
from heelstrike.contact.choose.choose import NAMES, choose, friction_of, template

__all__ = ["NAMES", "ChosenLaw", "Requirement", "Support", "choose", "friction_of", "template"]
