"""Sweeps: many worlds over grids and random draws of parameters, which can be resumed.

axes.py             values on a grid, and random distributions
plan.py             the values of each world
parameter_paths.py  the meaning of a path: a parameter, an entry of one, a mass, the start
definition.py       simulator, plan and kept variables, checked
fell.py             the criterion of a fall
job.py              the data of a worker, and its work on a chunk of worlds
store.py            the folder: manifest, lock, chunks
join.py             all chunks as one NetCDF file
cluster.py          workers on a Ray cluster
progress.py         the progress display
outcome.py          the result: data, summary, figure
sweep.py            hs.sweep
"""
