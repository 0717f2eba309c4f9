"""Plays environments and prints the process's peak memory in MiB: NAME COUNT STEPS."""

import sys

from osj_envs.bench.measure import own_peak_megabytes, step_rate
from osj_envs.devices import prepare_backend

if __name__ == "__main__":
    prepare_backend()
    step_rate(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(own_peak_megabytes())
