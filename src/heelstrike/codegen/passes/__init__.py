"""Passes over a traced program."""
