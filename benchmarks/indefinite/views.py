"""What each figure of the benchmark of indefinite kernels shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.indefinite.design import (
    DESIGNED,
    DESIGNED_IID,
    EXACT,
    JORDAN,
    JORDAN_IID,
    MAIN,
    METHODS,
    OTHERS,
    POLYNOMIALS,
)
from benchmarks.results import Row, medians

Values = Mapping[tuple[str, str, float], float]


@dataclass(frozen=True, slots=True)
class View:
    """A figure: a panel for each kernel and data set, a curve for each method.

    Parameters
    ----------
    name, caption : str
    metric : str
        Over sizes; ``"k"`` means kernel values over distances.
    kernels : tuple of str
    methods : tuple of str, default=every method
    lowest : float or None, default=None
        What is smaller leaves the picture.
    """

    name: str
    caption: str
    metric: str
    kernels: tuple[str, ...]
    methods: tuple[str, ...] = tuple(METHODS)
    lowest: float | None = None

    @property
    def of_distance(self) -> bool:
        """Whether curves are functions of the distance."""
        return self.metric == "k"

    def values(self, rows: Sequence[Row]) -> Values:
        """Return medians over seeds, by panel, curve and abscissa; empty without any."""
        chosen = [row for row in rows if self._shows(row)]
        kernels = [name for name in self.kernels if any(row["kernel"] == name for row in chosen)]
        datasets = list(dict.fromkeys(str(row["dataset"]) for row in chosen))
        if not chosen:
            return {}
        found = _profiles(chosen) if self.of_distance else _medians(chosen, self.metric)
        return {
            (_panel(kernel, dataset, kernels, datasets), method, x): found[key]
            for kernel in kernels
            for dataset in datasets
            for method in self.methods
            for key in found
            if key[:3] == (kernel, dataset, method)
            for x in key[3:]
        }

    def _shows(self, row: Row) -> bool:
        metric = str(row["metric"])
        wanted = metric.startswith("k(") if self.of_distance else metric == self.metric
        return wanted and row["kernel"] in self.kernels and row["method"] in self.methods


def _medians(rows: Sequence[Row], metric: str) -> dict[tuple[str, str, str, float], float]:
    found = medians(rows, by=("kernel", "dataset", "method", "size"), metric=metric)
    return {(str(k), str(n), str(m), float(s)): value for (k, n, m, s), value in found.items()}


def _profiles(rows: Sequence[Row]) -> dict[tuple[str, str, str, float], float]:
    return {
        (str(row["kernel"]), str(row["dataset"]), str(row["method"]), _distance(row)): float(
            row["value"]
        )
        for row in rows
    }


def _distance(row: Row) -> float:
    """Return the distance in ``k(0.25)``."""
    return float(str(row["metric"])[2:-1])


def _panel(kernel: str, dataset: str, kernels: Sequence[str], datasets: Sequence[str]) -> str:
    if len(kernels) == 1:
        return dataset
    return kernel if len(datasets) == 1 else f"{kernel}, {dataset}"


VIEWS = (
    View(
        "kernel",
        "The kernels and what one draw of features makes of them, along a great circle. No data "
        "lie beyond the distances that measures are designed for, where nothing but a bound is "
        "asked of them.",
        "k",
        MAIN,
        (EXACT, DESIGNED, JORDAN),
    ),
    View(
        "error",
        "Relative error of the Gram matrix against the size. Curves below 1e-6 leave the picture.",
        "relative_error",
        MAIN,
        lowest=1e-6,
    ),
    View("accuracy", "Test accuracy of liblinear on the features, against the size.", "accuracy",
         MAIN),
    View(
        "schemes",
        "Relative error by sampling scheme: independent and orthogonal frequencies, of the Jordan "
        "parts and of designed measures.",
        "relative_error",
        MAIN,
        (JORDAN_IID, JORDAN, DESIGNED_IID, DESIGNED),
    ),
    View(
        "orders",
        "Relative error by the degree of the spherical polynomial. Curves below 1e-6 leave the "
        "picture.",
        "relative_error",
        POLYNOMIALS,
        lowest=1e-6,
    ),
    View(
        "others",
        "Relative error for other kernels. Curves below 1e-6 leave the picture.",
        "relative_error",
        OTHERS,
        lowest=1e-6,
    ),
)  # fmt: skip
