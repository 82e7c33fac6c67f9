"""Speed and memory of features and regressions, as ratios to others and to the machine."""

from benchmarks.harness import Benchmark
from benchmarks.speed.bank import BANK
from benchmarks.speed.distributed import DISTRIBUTED
from benchmarks.speed.first import FIRST
from benchmarks.speed.large import LARGE
from benchmarks.speed.map import MAP
from benchmarks.speed.ridge import RIDGE
from benchmarks.speed.structured import STRUCTURED_MAP

SPEED = Benchmark(
    name="speed",
    description="Speed and memory of features and regressions, next to others.",
    settings=("part", "dtype", "n", "d", "p"),
    introduction="Seconds on all cores of the machine, medians over repetitions, and in brackets "
    "their ratio to ours, the first column; all methods in one run, one after the other.",
    parts=(FIRST, MAP, STRUCTURED_MAP, RIDGE, LARGE, BANK, DISTRIBUTED),
)
