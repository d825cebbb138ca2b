"""Execution of compiled programs: kernels, batches of worlds, the cache, exports."""
