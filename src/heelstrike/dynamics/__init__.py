"""Rigid-body dynamics over symbols, one algorithm a file, traced in blocks along the limbs."""
