"""Many worlds over parameters, kept in a folder: grids and random draws, killed and resumed.

axes.py     values on a grid, values drawn at random
plan.py     which world has which values
places.py   what a path means: a parameter, a part of one, a mass, the start
study.py    simulator, plan and what is kept, checked
job.py      what a worker needs, and its work on a chunk of worlds
fall.py     who fell
store.py    the folder: manifest, lock, chunks
join.py     all chunks as one NetCDF file
cluster.py  workers on a Ray cluster
progress.py how far it is
outcome.py  what came of it
sweep.py    hs.sweep
"""
