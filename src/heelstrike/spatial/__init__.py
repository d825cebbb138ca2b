"""Rotations, motions, forces and inertias over CasADi symbols, independent of robots."""
