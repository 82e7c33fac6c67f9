"""Figures of processes on draws and tables, the worst of bochner first."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.processes import design
from benchmarks.results import Row, group_table, markdown_table

INTRODUCTION = (
    "Exact and sparse Gaussian processes next to each other, on the same rows. Seconds are those "
    "of a fit and of the predictions on one core; megabytes are the peak above the rows."
)

_COVERAGE, _NLPD, _SECONDS = "coverage", "nlpd", "fit_and_predict_seconds"

_FIGURES: Mapping[str, tuple[str, str]] = {
    _NLPD: ("**Negative log predictive density** of new observations, mean over test rows.", ".3f"),
    "rmse": ("**Root mean square error** of the {target}.", ".4f"),
    _COVERAGE: ("**Coverage of 90 % intervals** of new observations.", ".3f"),
    "evidence": ("**Log evidence** of the given kernel, per training row.", ".4f"),
    _SECONDS: ("**Seconds.**", ".1f"),
    "peak_megabytes": ("**Megabytes.**", ".0f"),
}
"""Titles of metrics, and how to show them."""

Case = tuple[str, int, int]
"""Data set, training rows of a draw or rows of a table, and seed."""

Cases = Mapping[Case, Mapping[str, Mapping[str, float]]]
"""Metrics by case, method and name."""


def cases_of(rows: Sequence[Row]) -> Cases:
    """Return the metrics of each case by method, with the sum of the seconds."""
    cases: dict[Case, dict[str, dict[str, float]]] = {}
    for row in rows:
        case = str(row["dataset"]), int(row["n"]), int(row["seed"])
        metrics = cases.setdefault(case, {}).setdefault(str(row["method"]), {})
        metrics[str(row["metric"])] = float(row["value"])
    for methods in cases.values():
        for metrics in methods.values():
            if "fit_seconds" in metrics:
                metrics[_SECONDS] = metrics["fit_seconds"] + metrics["predict_seconds"]
    return cases


def draws(rows: Sequence[Row]) -> Iterator[str]:
    """Yield figures of draws."""
    yield "## Draws of known processes"
    yield (
        f"Rows are uniform in a cube of side {2 * design.HALF_SIDE:g}, functions have variance "
        f"one, and {design.TEST_ROWS:,} rows are tested. *{design.EXACT}* is the posterior of the "
        "kernel that made the draw. Methods with *given* get this kernel; the others learn a "
        "length scale for each input, the variance and the noise of a kernel of its family."
    )
    lines = [
        [name, f"{draw.smoothness:g}", *map(str, (draw.n_inputs, draw.length_scale, draw.noise))]
        for name, draw in design.DRAWS.items()
    ]
    yield markdown_table(("draw", "smoothness", "inputs", "length scale", "noise"), lines)
    yield from _figures(cases_of(rows), "function, whose standard deviation is one")


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield figures of tables."""
    yield "## Tables"
    yield (
        "Columns and target are standardised by the training rows, so that figures are in "
        f"standard deviations of the target; {100 * design.TEST_SHARE:.0f} % of the rows are "
        "tested. All methods learn a Gaussian kernel with a length scale for each column, its "
        "variance and the noise."
    )
    yield from _figures(cases_of(rows), "target")


def _figures(cases: Cases, target: str) -> Iterator[str]:
    yield from _coverages(cases)
    yield from _behind(cases)
    for metric, (title, spec) in _FIGURES.items():
        groups = {
            case: {name: metrics[metric] for name, metrics in methods.items() if metric in metrics}
            for case, methods in cases.items()
        }
        if any(groups.values()):
            yield title.format(target=target)
            yield group_table(
                {case: line for case, line in groups.items() if line},
                design.METHODS,
                lambda value, spec=spec: format(value, spec),
                header=("data set", "rows", "seed"),
            )


def _coverages(cases: Cases) -> Iterator[str]:
    """Yield the cases of bochner whose coverage is wrong, the lowest first."""
    shares = [
        (methods[name][_COVERAGE], case, name)
        for case, methods in cases.items()
        for name in design.BOCHNER
        if name in methods
    ]
    if not shares:
        return
    least, greatest = design.COVERAGES
    wrong = sorted(each for each in shares if not least <= each[0] <= greatest)
    yield (
        f"**Worst first: coverage.** {len(wrong)} of {len(shares)} coverages of bochner are "
        f"outside {100 * least:.0f} to {100 * greatest:.0f} %."
    )
    if wrong:
        others = (design.EXACT, *design.SPARSE)
        lines = [
            [*map(str, case), name, f"{share:.3f}", *_texts(cases[case], others, _COVERAGE)]
            for share, case, name in wrong
        ]
        yield markdown_table(("data set", "rows", "seed", "method", _COVERAGE, *others), lines)


def _texts(
    methods: Mapping[str, Mapping[str, float]], names: Sequence[str], metric: str
) -> list[str]:
    return [f"{methods[name][metric]:.3f}" if name in methods else "–" for name in names]


def behind(cases: Cases) -> list[tuple[float, float, Case, str, str]]:
    """Return learned processes of bochner next to the sparse method of least NLPD.

    Each has the difference of the NLPD and the ratio of the seconds, case, method and the name of
    the sparse one; the greatest differences are first.
    """
    compared = []
    for case, methods in cases.items():
        sparse = [name for name in design.SPARSE if name in methods]
        for name in (design.OURS, design.APPROXIMATE) if sparse else ():
            if name in methods:
                best = min(sparse, key=lambda other: methods[other][_NLPD])
                difference = methods[name][_NLPD] - methods[best][_NLPD]
                ratio = methods[name][_SECONDS] / methods[best][_SECONDS]
                compared.append((difference, ratio, case, name, best))
    return sorted(compared, reverse=True)


def _behind(cases: Cases) -> Iterator[str]:
    compared = behind(cases)
    if not compared:
        return
    lines = [
        [*map(str, case), name, best, f"{difference:+.3f}", f"{ratio:.2f}"]
        for difference, ratio, case, name, best in compared
        if difference > 0.0 or ratio > design.MOST_SECONDS
    ]
    yield (
        "**Worst first: density and seconds**, next to the sparse method with the least negative "
        f"log predictive density (NLPD) on the same rows. In {len(lines)} of {len(compared)} cases "
        f"the NLPD of bochner is greater, or its seconds are more than {design.MOST_SECONDS:g} of "
        "those of this method."
    )
    if lines:
        header = ("data set", "rows", "seed", "method", "next to", "NLPD, difference")
        yield markdown_table((*header, "seconds, ratio"), lines)
