"""MuJoCo as a reference: the same scene handed over, and its run as a recording."""
