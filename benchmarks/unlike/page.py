"""Coverage, scores and errors by kind of test rows, the worst first."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.results import Row, group_table, grouped, markdown_table
from benchmarks.unlike import design

INTRODUCTION = (
    "Every method has its default settings and the same rows: up to "
    f"{design.MOST_TRAINING_ROWS:,} training rows and {design.MOST_TEST_ROWS:,} test rows of eight "
    f"tables, in {design.SEEDS} splits. Figures are means over the splits. *Target alone* is the "
    "distribution of the target among the training rows: its quantiles, or the base rates of "
    "classes. The most important column is the one whose permutation raises the error of boosted "
    "trees on training rows most."
)

_OF_GAP = "_gap"  # End of the names of metrics of rows without the most important column
_LEVEL = "coverage_90"

Means = Mapping[tuple[str, str], Mapping[str, float]]
"""Mean values over the splits by table and kind of rows, and then by method."""


def means(rows: Sequence[Row], metric: str) -> Means:
    """Return the mean of a metric by table and kind, and then by method.

    Test rows of a kind in which the most important column is missing follow as a kind of their own.
    """
    found = {
        (name, kind + label): line
        for end, label in (("", ""), (_OF_GAP, ", with the gap"))
        for (name, kind), line in grouped(rows, metric + end, index=("dataset", "rows")).items()
    }
    places = {name: place for place, name in enumerate(design.EVERY)}
    order = {
        kind + label: (place, label)
        for place, kind in enumerate(design.KINDS)
        for label in ("", ", with the gap")
    }
    return {
        key: {method: float(np.mean(values)) for method, values in found[key].items()}
        for key in sorted(found, key=lambda key: (places[key[0]], order[key[1]]))
    }


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield first what is wrong, then summaries by kind of rows, then every table."""
    yield "## Worst first"
    yield from _wrong_coverage(rows)
    yield from _wrong_classes(rows)
    yield "## By kind of rows"
    yield from _summaries(rows)
    yield "## By table"
    yield from _every(rows)
    yield "## Kinds, tables and preparation"
    yield from _conditions(rows)


def _wrong_coverage(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often coverage is wrong, by method, and every wrong coverage of bochner."""
    coverages, (least, greatest) = means(rows, _LEVEL), design.COVERAGES
    if not coverages:
        return
    yield (
        f"**Coverage of 90 % intervals.** Cases are tables with a kind of test rows. The coverage "
        f"should be between {100 * least:.0f} and {100 * greatest:.0f} %."
    )
    lines = []
    for method in design.METHODS:
        own = {key: line[method] for key, line in coverages.items() if method in line}
        if own:
            (name, kind), lowest = min(own.items(), key=lambda item: item[1])
            below = sum(share < least for share in own.values())
            above = sum(share > greatest for share in own.values())
            counts = map(str, (len(own), below, above))
            lines.append([method, *counts, f"{lowest:.3f}", f"{name}, {kind}"])
    yield markdown_table(("method", "cases", "below", "above", "lowest", "on"), lines)
    for method in design.BOCHNER:
        wrong = sorted(
            (line[method], *key)
            for key, line in coverages.items()
            if method in line and not least <= line[method] <= greatest
        )
        if wrong:
            yield f"Cases of {method} outside, the lowest first:"
            lines = [[name, kind, f"{share:.3f}"] for share, name, kind in wrong]
            yield markdown_table(("data set", "test rows", "coverage"), lines)


def _wrong_classes(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often classes are worse than their base rates, and how wrong probabilities are."""
    losses, errors = means(rows, "log_loss"), means(rows, "ece")
    lines = []
    for method in design.METHODS:
        ratios = {
            key: line[method] / line[design.TARGET_ALONE]
            for key, line in losses.items()
            if {method, design.TARGET_ALONE} <= line.keys()
        }
        if ratios and method != design.TARGET_ALONE:
            worst = max(ratios, key=ratios.__getitem__)
            own = {key: line[method] for key, line in errors.items() if method in line}
            above = sum(error > design.MOST_ECE for error in own.values())
            lines.append(
                [
                    method,
                    str(len(ratios)),
                    str(sum(ratio > 1.0 for ratio in ratios.values())),
                    f"{ratios[worst]:.2f}",
                    ", ".join(worst),
                    f"{above} of {len(own)}",
                    f"{max(own.values()):.3f}",
                ]
            )
    if lines:
        yield (
            "**Classes.** Cases whose log loss is above that of the base rates, the greatest ratio "
            f"to it, and cases whose calibration error (ECE) is above {design.MOST_ECE:g}."
        )
        header = ("cases", "worse than base rates", "greatest ratio", "on", "ECE above", "greatest")
        yield markdown_table(("method", *header), lines)


def _share(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.2f}–{max(values):.2f})"


def _ratio(values: Sequence[float]) -> str:
    return f"{np.exp(np.mean(np.log(values))):.3f} (to {max(values):.2f})"


_SUMMARIES: Mapping[str, tuple[str, bool, Callable[[Sequence[float]], str]]] = {
    _LEVEL: (
        "**Coverage of 90 % intervals**: mean over the tables, the least and the greatest.",
        False,
        _share,
    ),
    "coverage_80": ("**Coverage of 80 % intervals.**", False, _share),
    "coverage_50": ("**Coverage of 50 % intervals.**", False, _share),
    "interval_score": (
        "**Interval score** of 90 % intervals, relative to the target alone: geometric mean over "
        "the tables, and the greatest. The score is the width plus, for values outside, 20 times "
        "the distance to the interval; lower is better.",
        True,
        _ratio,
    ),
    "rmse": ("**Root mean square error**, relative to the target alone.", True, _ratio),
    "expected_error": (
        "**Expected error** `score_` of bochner, relative to the error on the test rows.",
        False,
        _ratio,
    ),
    "log_loss": ("**Log loss** of classes, relative to the base rates.", True, _ratio),
    "ece": ("**Calibration error** (ECE) of classes.", False, _share),
    "ece_by_chance": ("**Calibration error** if all probabilities were right.", False, _share),
}
"""Titles of metrics, whether they are relative to the target alone, and how to show them."""


def _summaries(rows: Sequence[Row]) -> Iterator[str]:
    for metric, (title, is_relative, show) in _SUMMARIES.items():
        groups: dict[tuple[str], dict[str, list[float]]] = {}
        for (_, kind), line in means(rows, metric).items():
            unit = line.get(design.TARGET_ALONE, np.nan) if is_relative else 1.0
            for method, value in line.items():
                if np.isfinite(unit) and not (is_relative and method == design.TARGET_ALONE):
                    groups.setdefault((kind,), {}).setdefault(method, []).append(value / unit)
        if groups:
            yield title
            order = sorted(groups, key=lambda key: _place(key[0]))
            shown = {key: groups[key] for key in order}
            yield group_table(shown, list(design.METHODS), show, header=("test rows",))


def _place(kind: str) -> tuple[int, str]:
    name, _, label = kind.partition(", ")
    return list(design.KINDS).index(name), label


_EVERY = {
    _LEVEL: "**Coverage of 90 % intervals.**",
    "interval_score": "**Interval score** of 90 % intervals, in standard deviations of the target.",
    "rmse": "**Root mean square error**, in standard deviations of the target.",
    "log_loss": "**Log loss** of classes.",
    "ece": "**Calibration error** (ECE) of classes.",
}


def _every(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in _EVERY.items():
        if lines := means(rows, metric):
            yield title
            yield group_table(
                lines,
                list(design.METHODS),
                lambda value: f"{value:.3f}",
                header=("data set", "test rows"),
            )


def _conditions(rows: Sequence[Row]) -> Iterator[str]:
    lines = [[kind, text] for kind, text in design.KINDS.items()]
    yield "**Kinds of test rows.**"
    yield markdown_table(("name", "test rows"), lines)
    yield (
        "*With the gap* are the test rows of a kind in which the most important column is missing, "
        f"where they are at least {design.FEWEST_GAP_ROWS}. Entries of dates are never removed. "
        f"Held-back levels are levels of about {100 * design.LEVEL_SHARE:.0f} % of the rows; if "
        "every level is more frequent, the rarest one. A table without text, without numbers or "
        "without dates lacks the kinds that need them."
    )
    yield (
        "**Methods.** *bochner with time* is told which column has the dates; without it, a "
        "date is a column like others. CatBoost is fitted twice for numbers: once for the mean, "
        "once with the loss `MultiQuantile` for all ends of intervals. *Boosted trees* are "
        "scikit-learn's `HistGradientBoosting`, with intervals by MAPIE's "
        "`CrossConformalRegressor` (CV+, five folds) for numbers. NGBoost has normal "
        f"distributions. The Gaussian process is exact, on up to {design.MOST_PROCESS_ROWS:,} "
        "training rows, with a Gaussian kernel of one length scale and noise by the evidence. "
        "NGBoost and the process get one-hot encoded text, medians in place of missing numbers, "
        "and a column that marks gaps of columns with gaps in the training rows. All methods "
        "but bochner get dates as a number of days, year, month, day, weekday and hour."
    )
    if seconds := grouped(rows, "fit_seconds", index=()).get((), {}):
        listed = ", ".join(f"{name} {np.mean(values):.1f}" for name, values in seconds.items())
        yield f"**Mean seconds** of a fit, next to other programs: {listed}."
