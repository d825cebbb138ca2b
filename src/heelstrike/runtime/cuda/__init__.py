"""Kernels and batches of worlds on a GPU."""
