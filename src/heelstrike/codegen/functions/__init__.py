"""Elementary functions as straight-line code over `Lanes`.

Every function takes the lanes it writes into and operands of their type. Float32 operands of all
but `sincos`, `sin`, `cos` and `sign` are widened to float64 and the result rounded. Accuracy is in
ulp, the spacing of the type at the exact result.
"""

from heelstrike.codegen.functions.arithmetic import fmod, hypot, sign
from heelstrike.codegen.functions.exponential import exp, log, tanh
from heelstrike.codegen.functions.inverse import acos, asin, atan, atan2
from heelstrike.codegen.functions.power import pow
from heelstrike.codegen.functions.trigonometric import cos, sin, sincos, tan

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "exp",
    "fmod",
    "hypot",
    "log",
    "pow",
    "sign",
    "sin",
    "sincos",
    "tan",
    "tanh",
]
