"""Numbers of rows at which the code takes another way, with tables just below and above."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from laws.honest_laws import COVERAGE, RELATIVE, Bias, Trial, bias, trial_on
from laws.honest_models import Model
from laws.honest_tables import Drawn, Kind

from bochner.tables import fit_plan
from bochner.tables.fit_plan import Effort

LEARNER = "bochner.tables.learner"
PLAN = "bochner.tables.fit_plan"
_FAMILIES = {"rough": (fit_plan._ROUGH, 1), "smooth": (fit_plan._SMOOTH, 1)}


def effort(
    search_rows: int = 120, most_exact: int = 3000, n_landmarks: int = 150, more_rows: int = 2000
) -> Any:
    """Return an effort of few kernels, by name, to put in place of the usual ones."""
    return {"quick": Effort(_FAMILIES, search_rows, most_exact, n_landmarks, more_rows)}


@dataclass(frozen=True)
class Threshold:
    """A number of rows, which a test may set so that small tables cross it."""

    name: str
    below: int
    above: int
    kinds: tuple[str, ...] = ("smooth", "weights over two decades")
    constants: Mapping[str, Any] = field(default_factory=dict)  # Values by module and name


EFFORTS = "bochner.tables.table_model.EFFORTS"
SEARCH = "bochner.tables.kernel_search"

THRESHOLDS = [
    Threshold("observations that learn length scales", 31, 33, ("one column", "six cells")),
    Threshold("rows of the search", 120, 126, constants={EFFORTS: effort()}),
    Threshold("most rows that are fitted exactly", 300, 306, constants={EFFORTS: effort(120, 300)}),
    Threshold(
        "rows that correct the noise",
        200,
        206,
        constants={EFFORTS: effort(), f"{LEARNER}._NOISE_ROWS": 200},
    ),
    Threshold(
        "rows beyond which the best kernels alone are fitted",
        250,
        256,
        constants={
            EFFORTS: effort(more_rows=180),
            f"{PLAN}._MANY_ROWS": 250,
        },
    ),
    Threshold(
        "fewest rows that are scored alone",
        299,
        305,
        ("smooth", "weights over two decades", "thirty cells"),
        {
            EFFORTS: effort(),
            f"{PLAN}._FEWEST_OTHERS": 150,
            f"{PLAN}._VARIANCE_LANDMARKS": 150,
            f"{PLAN}._LEAST_UNSCORED": 150,
        },
    ),
    Threshold(
        "most rows that are scored",
        330,
        336,
        constants={
            EFFORTS: effort(),
            f"{PLAN}._FEWEST_OTHERS": 150,
            f"{PLAN}.MOST_SCORED": 180,
            f"{PLAN}._VARIANCE_LANDMARKS": 150,
            f"{PLAN}._LEAST_UNSCORED": 150,
        },
    ),
    Threshold(
        "landmarks of variances",
        200,
        206,
        constants={EFFORTS: effort(), f"{PLAN}._VARIANCE_LANDMARKS": 200},
    ),
    Threshold(
        "rows of the grid", 200, 206, constants={EFFORTS: effort(3000), f"{SEARCH}._GRID_ROWS": 200}
    ),
    Threshold(
        "rows whose kernel matrix is kept whole",
        200,
        206,
        constants={
            EFFORTS: effort(),
            "bochner.tables.kernel_laws._FEW": 200,
        },
    ),
    Threshold(
        "observations of a row of the search",
        180,
        186,
        ("six cells",),
        {
            EFFORTS: effort(),
            "bochner.tables.observations._OBSERVATIONS_PER_ROW": 30,
        },
    ),
    Threshold(
        "observations for trees",
        200,
        206,
        ("smooth", "weights over two decades"),
        {EFFORTS: effort(), f"{LEARNER}.FEWEST_FOR_TREES": 203},
    ),
    Threshold(
        "scores that widths are learned from",
        97,
        103,
        ("smooth", "skewed", "counts"),
        {EFFORTS: effort(60)},
    ),
    Threshold(
        "scores that give widths by columns",
        200,
        206,
        ("smooth", "skewed"),
        {EFFORTS: effort(), "bochner.tables.widths._FEWEST_FOR_TREES": 203},
    ),
    Threshold(
        "rows that counts are expanded to",
        200,
        206,
        ("counts as weights",),
        {"bochner.tables.table_rows._MOST_ROWS": 200},
    ),
]
"""Thresholds, each set so that a fit takes a fraction of a second."""

REAL = [
    Threshold("rows that correct the noise", 1590, 1610, ("smooth",)),
    Threshold("rows whose kernel matrix is kept whole", 1990, 2010, ("smooth",)),
    Threshold("most rows that are fitted exactly", 2980, 3020, ("weights over two decades",)),
    Threshold("rows beyond which the best kernels alone are fitted", 3980, 4020, ("smooth",)),
    Threshold("counts beyond the rows of the search", 16_490, 16_510, ("thirty cells",)),
]
"""Thresholds as they are."""


def first_rows(drawn: Drawn, n: int) -> Drawn:
    """Return the table of the first rows."""
    fit = {name: values[:n] for name, values in drawn.fit.items()}
    return Drawn(drawn.X.iloc[:n], drawn.y[:n], drawn.fresh, drawn.best, fit)


def steps(kind: Kind, model: Model, threshold: Threshold, seeds: range) -> list[Bias]:
    """Return by how much statements change across a threshold, relative to what happens.

    The rows below are the first of those above.
    """
    pairs = []
    for seed in seeds:
        drawn, rng = kind.drawn(threshold.above, seed)
        new = int(rng.integers(2**31))
        # Counts as weights have fewer rows than observations: another table of the kind.
        below = first_rows(drawn, threshold.below)
        if len(drawn.X) < threshold.below:
            below = kind.drawn(threshold.below, seed)[0]
        tables = below, drawn
        pairs.append([trial_on(kind, model, seed, t, np.random.default_rng(new)) for t in tables])
    return [
        bias("score", [_change(pair, "score") for pair in pairs], 2.0 * RELATIVE),
        bias("width", [_change(pair, "width") for pair in pairs], RELATIVE),
        bias("error", [np.log(b.fresh / a.fresh) for a, b in pairs], 3.0 * RELATIVE),
        *(
            bias(
                f"coverage {level:.0%}",
                [b.coverage[level] - a.coverage[level] for a, b in pairs],
                COVERAGE,
            )
            for level in kind.levels
        ),
    ]


def _change(pair: list[Trial], name: str) -> float:
    """Return the change of the logarithm of a statement over the error that it is about."""
    power = 1.0 if name == "score" else 0.5
    below, above = (getattr(t, name) / t.fresh**power for t in pair)
    return float(np.log(above / below))


def is_crossed_without_a_step(kind: Kind, model: Model, threshold: Threshold, n_seeds: int) -> None:
    """Assert that statements agree below and above; what seeds show, new seeds must confirm."""
    suspects = {b.law for b in steps(kind, model, threshold, range(n_seeds)) if b.is_large}
    if suspects:
        more = range(n_seeds, 3 * n_seeds)
        found = [b for b in steps(kind, model, threshold, more) if b.is_large and b.law in suspects]
        assert not found, f"{threshold.name}, {kind.name}: " + "; ".join(map(str, found))
