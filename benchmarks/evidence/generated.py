"""Seconds, memory and errors of learned length scales on generated rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.evidence import design
from benchmarks.evidence.training import ours
from benchmarks.harness import Cell, Options, Part
from benchmarks.results import Row, group_table, median_text
from benchmarks.speed.part import seconds_and_peak
from bochner import KreinRidge
from bochner._base.arrays import Array

_NOISE, _WAVES, _TEST_ROWS = 0.3, 300, 10_000  # Deviation, waves of variance one, fresh rows
_BLOCK_ROWS = 8_192  # Rows made at once, 20 MB of waves


def generated_rows(n: int, seed: int) -> tuple[Array, Array, Array]:
    """Return rows (n, d), noisy values and values without noise of a function.

    Its length scales grow from 1.5 to 12 over the inputs.
    """
    rng = np.random.default_rng(0)
    d = design.GENERATED_INPUTS
    omega = rng.normal(size=(_WAVES, d)) / np.geomspace(1.5, 12.0, d)
    phase = rng.uniform(0.0, 2.0 * np.pi, size=_WAVES)
    rng = np.random.default_rng((1, seed))
    X, f = rng.normal(size=(n, d)), np.empty(n)
    for start in range(0, n, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        f[rows] = np.cos(X[rows] @ omega.T + phase).sum(axis=1) * np.sqrt(2.0 / _WAVES)
    return X, f + _NOISE * rng.normal(size=n), f


def _cells(options: Options) -> list[Cell]:
    counts = (2_000,) if options.quick else design.GENERATED_ROWS
    p = design.QUICK_FEATURES[0] if options.quick else design.GENERATED_FEATURES
    return [Cell("generated", "bochner", 0, {"p": p, "n": n}) for n in counts]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    n, p = int(cell.settings["n"]), int(cell.settings["p"])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "means.npy"
        seconds, peak = seconds_and_peak(_prepared, _fitted, n, p, path)
        mean = np.load(path)
    rmse = float(np.sqrt(np.mean((mean - generated_rows(_TEST_ROWS, 1)[2]) ** 2)))
    return {"fit_seconds": seconds, "peak_megabytes": peak, "function_rmse": rmse}


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A model, its training rows, new rows, and where to write the means there."""

    model: KreinRidge
    X: Array
    y: Array
    X_test: Array
    path: Path


def _prepared(n: int, p: int, path: Path) -> _Place:
    X, y, _ = generated_rows(n, 0)
    ours(p, 0).fit(X[:1000], y[:1000])  # Loads and compiles what a first fit does
    return _Place(ours(p, 0), X, y, generated_rows(_TEST_ROWS, 1)[0], path)


def _fitted(place: _Place) -> None:
    with threadpool_limits(design.THREADS):
        place.model.fit(place.X, place.y)
    # The predictions take some hundredths of the time of the fit.
    np.save(place.path, place.model.predict(place.X_test))


def _page(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        f"**Many rows.** {design.GENERATED_INPUTS} inputs whose length scales grow from 1.5 to 12, "
        f"noise of {_NOISE} next to a function of variance one. Seconds and megabytes, in "
        "addition to the rows, to learn all parameters and fit, and the error of the function on "
        "fresh rows."
    )
    groups = {
        (str(n),): {str(row["metric"]): [float(row["value"])] for row in rows if row["n"] == n}
        for n in dict.fromkeys(row["n"] for row in rows)
    }
    yield group_table(
        groups, ["fit_seconds", "peak_megabytes", "function_rmse"], median_text(), header=("rows",)
    )


GENERATED = Part("generated", _cells, _run, _page)
