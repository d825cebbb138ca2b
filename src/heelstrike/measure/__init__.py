"""Yardsticks, the same for every law: what a recording says about its contacts."""
