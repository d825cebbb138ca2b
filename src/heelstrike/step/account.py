"""The works that a step accounts for; their sum is the change of kinetic plus potential energy."""

WORKS = (
    "work_contact",
    "work_friction",
    "work_control",
    "work_stops",
    "work_joints",
    "work_push",
)
"""Names, in the order of the step's memory `work`."""
