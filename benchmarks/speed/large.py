"""Time and memory of ridge regressions on ever more rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peak import seconds_and_peak
from benchmarks.results import Row, medians
from benchmarks.speed.part import Place, by_method, speed_part
from benchmarks.speed.ridge import ridge_model, ridge_rows
from bochner._numerics.arrays import Array
from bochner.estimators.krein_ridge import KreinRidge

ARRAYS, STREAM = "rows in memory", "rows made on the fly"

_CHUNK_ROWS = 100_000


def large_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``large_seconds`` and ``peak_megabytes`` of one fit in a process of its own."""
    prepare = _in_memory if method == ARRAYS else _on_the_fly
    seconds, peak = seconds_and_peak(prepare, _fit, n, d, p, seed)
    return {"large_seconds": seconds, "peak_megabytes": peak}


@dataclass(frozen=True, slots=True)
class MadeRows:
    """Chunks of normal rows, with a sine of one direction and noise, from seeds."""

    # n, d: Rows and inputs.
    n: int
    d: int

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Yield chunks of 100,000 rows."""
        direction = np.random.default_rng(0).normal(size=self.d) / np.sqrt(self.d)
        for start in range(0, self.n, _CHUNK_ROWS):
            rng = np.random.default_rng((1, start))
            X = rng.normal(size=(min(_CHUNK_ROWS, self.n - start), self.d))
            yield X, np.sin(3.0 * X @ direction) + 0.1 * rng.normal(size=len(X))


Fit = tuple[KreinRidge, tuple[Array, Array] | tuple[MadeRows]]


def _in_memory(n: int, d: int, p: int, seed: int) -> Fit:
    X, y, *_ = ridge_rows(n, d)
    _warm_up(X[:1000], y[:1000])
    return ridge_model(d, p, seed), (X, y)


def _on_the_fly(n: int, d: int, p: int, seed: int) -> Fit:
    rows = MadeRows(n, d)
    _warm_up(*next(iter(MadeRows(1000, d))))
    return ridge_model(d, p, seed), (rows,)


def _warm_up(X: Array, y: Array) -> None:
    # What is loaded and compiled once is no part of a fit.
    ridge_model(X.shape[1], 64, 0).fit(X, y)


def _fit(prepared: Fit) -> None:
    model, rows = prepared
    model.fit(*rows)


def _places(quick: bool) -> Sequence[Place]:
    if quick:
        return [Place(method, n, 3, 32) for method in (ARRAYS, STREAM) for n in (1_000, 3_000)]
    made = [
        Place(STREAM, n, 20, 512, repetitions=3)
        for n in (1_000_000, 2_000_000, 5_000_000, 10_000_000)
    ]
    sizes = ((200_000, 2_048), (1_000_000, 2_048), (100_000, 8_192))
    return made + [Place(ARRAYS, n, 20, p, repetitions=1) for n, p in sizes]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    made = [row for row in rows if row["method"] == STREAM]
    seconds = medians(made, by=("n",), metric="large_seconds")
    n = np.array([key[0] for key in seconds], dtype=np.float64)
    explained = np.corrcoef(n, np.array(list(seconds.values())))[0, 1] ** 2
    return (
        "**Ridge regression on many rows**, every fit in a process of its own: seconds (with those "
        "of making the rows), and megabytes at the peak, above the rows where they are in memory.",
        by_method(rows, "large_seconds"),
        by_method(rows, "peak_megabytes"),
        f"A line in the number of rows made on the fly explains {explained:.2%} of the variance "
        "of the seconds.",
    )


LARGE = speed_part("large", _places, large_metrics, _page)
