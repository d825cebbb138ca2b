"""Recordings: variables, provenance, summary, and their files."""
