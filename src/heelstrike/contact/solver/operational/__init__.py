"""Operational-space solver: contacts between moving bodies."""
