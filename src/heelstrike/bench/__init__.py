"""Speed of this machine: our step beside MuJoCo's, in one run.

from heelstrike.bench.bench import Wanted, bench
result = bench(Wanted(quick=True))          # ready for JSON; `heelstrike bench` shows it
"""
