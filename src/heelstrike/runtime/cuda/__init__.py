"""Compiled programs on a GPU."""
