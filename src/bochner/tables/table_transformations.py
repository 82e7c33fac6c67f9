"""Choice of the transformation of a table's target by log densities of left-out rows."""

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from bochner._base.arrays import Array, as_array
from bochner._base.progress import Progress
from bochner.features.parameters import generators
from bochner.tables.fit_plan import TRIAL
from bochner.tables.removal import Removal
from bochner.tables.table_learners import SumLearner
from bochner.tables.table_rows import TableRows
from bochner.tables.table_tasks import RegressionTask
from bochner.tables.target_scales import Transformation, candidates, most_likely
from bochner.tables.weighted_sum import SumOfLaws

_TRIED_ROWS = 800
"""Largest number of rows on which transformations of the target are compared."""


def chosen_transformation(
    name: str, rows: TableRows, learner: SumLearner, progress: Progress
) -> Transformation | None:
    """Return the named transformation, or the one with the greatest density of left-out rows.

    ``None`` means no transformation. Raises ValueError for several targets, and for targets outside
    the domain of a named transformation.
    """
    if name == "none":
        return None
    if rows.y.ndim > 1:
        raise ValueError(
            f"transformation={name!r} takes a single target y of shape (n,), got {rows.y.shape}: "
            "fit a model to each, or leave it out."
        )
    transformation = (
        Transformation.of(name, rows.y) if name != "auto" else _best(rows, learner, progress)
    )
    return None if transformation.name == "none" else transformation


def _best(rows: TableRows, learner: SumLearner, progress: Progress) -> Transformation:
    """Return the transformation of greatest left-out density on a subset of rows."""
    progress("choosing a transformation of the target")
    (rng,) = generators(learner.random_state, 1)
    some, choices = candidates(rows.y, rng, _TRIED_ROWS)
    part = rows.part(some)
    if part.removal.latest is not None:  # Later rows of a subset are few: leave out single rows
        part = replace(part, removal=Removal())
    densities = [
        _left_out_density(replace(part, y=transformation(part.y)), learner)
        + transformation.log_slope(part.y)
        - transformation.n_knots / len(rows.y)
        for transformation in choices
    ]
    return choices[most_likely(np.stack(densities, axis=1))]


def _left_out_density(rows: TableRows, learner: SumLearner) -> Array:
    """Return leave-one-out log densities (n,) of the targets of few rows."""
    task, weights = RegressionTask(), rows.weights_or_ones
    targets = task.targets(rows)
    _, scored_laws = replace(learner, effort=TRIAL).scored_laws(rows, task, targets, Progress(None))
    head, (_, std) = SumOfLaws.with_left_out(scored_laws, targets.scaled(rows.y), weights)
    densities = np.empty(len(rows.y))
    densities[scored_laws.scored] = norm.logpdf(head.scores, scale=head.law.std) - np.log(std)
    return as_array(densities - np.log(targets.scale))
