"""Speed and memory of features and regressions, as ratios to others and to the machine."""

from benchmarks.harness import Benchmark
from benchmarks.speed.bank import BANK
from benchmarks.speed.distributed import DISTRIBUTED
from benchmarks.speed.map import FIRST, MAP, STRUCTURED_MAP
from benchmarks.speed.ridge import LARGE, RIDGE
from benchmarks.speed.threads import SHARED

SPEED = Benchmark(
    name="speed",
    settings=("part", "dtype", "n", "d", "p"),
    introduction="Seconds on all cores of the machine, medians over repetitions, and in brackets "
    "their ratio to ours, the first column; all methods in one run, one after the other.",
    parts=(FIRST, MAP, STRUCTURED_MAP, RIDGE, LARGE, BANK, SHARED, DISTRIBUTED),
)
