"""Length scales by the gradient of the evidence, next to other ways to a Gaussian process."""

from benchmarks.evidence.approximation import APPROXIMATION
from benchmarks.evidence.generated import GENERATED
from benchmarks.evidence.training import TRAINING
from benchmarks.harness import Benchmark

EVIDENCE = Benchmark(
    name="evidence",
    settings=("part", "p", "n"),
    introduction="Gaussian processes with a length scale for every input, learned by the evidence. "
    "Exact processes and stochastic variational ones (SVGP) are those of GPyTorch, with the "
    "settings of its tutorials (see the benchmark of published splits); all use two threads.",
    parts=(TRAINING, APPROXIMATION, GENERATED),
)
