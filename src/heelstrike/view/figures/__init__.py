"""Figures of recordings, sweeps, comparisons, stability maps and benchmarks."""
