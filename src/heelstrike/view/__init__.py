"""Figures, pictures, pages and the viewer.

plot.py     the style of every figure; helpers for figures of your own
figures/    figures of recordings, sweeps, comparisons, stability maps and benchmarks
render/     ray-traced pictures of robots: film strips and portraits
pages/      reports as HTML or Markdown: comparisons of laws, benchmarks
browser/    recordings and live scenes in the browser
"""
