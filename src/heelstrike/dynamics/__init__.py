"""Rigid-body dynamics over symbols, one algorithm per file, traced in blocks along the limbs."""
