"""Gaussian processes on features: landmarks, and minima found with drawn functions."""

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.harness import Benchmark, Part
from benchmarks.pictures import LINEAR, Picture
from benchmarks.processes import residual, thompson
from benchmarks.processes.methods import FEATURES, LANDMARKS, SPARSE
from benchmarks.results import Row, median_table, medians

_QUANTITIES = {
    "mean_error": "Root mean square difference between the means and the exact ones, the prior's "
    "standard deviation being one:",
    "std_error": "Mean relative difference between standard deviations with noise and the exact "
    "ones:",
    "far_variance": "Variance of the function three length scales from the rows, over the exact "
    "one:",
}


def _residual_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "1,500 rows in a cube, targets drawn from a process with a Matérn kernel of smoothness "
        "5/2, and a noise variance of 0.01. Kernel and noise are given. Medians over seeds by the "
        "numbers of features and landmarks (inducing points of SVGP)."
    )
    for metric, text in _QUANTITIES.items():
        yield text
        yield median_table(
            rows, index=["method", "features", "landmarks"], columns="dataset", metric=metric
        )


def _far(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
    """Return the variance far away by data set, method with its features, and landmarks."""
    variances = medians(
        [row for row in rows if row["method"] in (FEATURES, LANDMARKS, SPARSE)],
        by=("dataset", "method", "features", "landmarks"),
        metric="far_variance",
    )
    return {
        (str(dataset), SPARSE if method == SPARSE else f"{p} features", float(q)): value
        for (dataset, method, p, q), value in variances.items()
    }


def _thompson_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "Distance of the least value found from the minimum, after all evaluations: 30, 50 and "
        "60, the first 2 d + 2 of them random and the same for all methods but random search. "
        "Medians over seeds."
    )
    yield median_table(rows, index=["dataset"], columns="method", metric="distance_at_1")


PROCESSES = Benchmark(
    name="processes",
    settings=("part", "features", "landmarks"),
    introduction="Gaussian processes on features, next to the exact one, GPyTorch and BoTorch.",
    parts=(
        Part(
            "residual",
            residual.cells,
            residual.run,
            _residual_tables,
            (
                Picture(
                    "far",
                    "Variance three length scales from the rows, over the exact one, by the number "
                    "of landmarks.",
                    "landmarks",
                    "variance over the exact one",
                    _far,
                    LINEAR,
                ),
            ),
        ),
        Part("minima", thompson.cells, thompson.run, _thompson_tables),
    ),
)
