"""Rotations, motions, forces and inertias over CasADi symbols. Knows nothing of robots."""
