"""Selects the parameters of a kernel by Laplace's evidence at landmarks and its gradient."""

from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np

from bochner._base.arrays import Array, Index, as_array, dense_rows
from bochner._base.limits import MEBIBYTE
from bochner._base.threads import single_threaded_blas
from bochner.features.landmarks import LandmarkFeatures
from bochner.features.parameters import AnyKernel
from bochner.gaussian_process.laplace_evidence import (
    DIFFERENCE,
    EvidenceSlopes,
    LaplaceProblem,
    LaplaceSearch,
)
from bochner.kernels import Kernel
from bochner.linear.kernel_families import parameterised
from bochner.linear.kernel_selection import canonical_rows, drawn_rows, in_units
from bochner.linear.reparameterised import ParameterisedKernel
from bochner.linear.ridge_search import EvidenceSearch


@dataclass(frozen=True, slots=True)
class _LaplaceStage:
    """Largest numbers of rows, landmarks and steps of a search."""

    n_rows: int
    n_landmarks: int
    n_steps: int


_STAGES = (_LaplaceStage(1000, 128, 20), _LaplaceStage(2000, 256, 30))
"""Stages of a search. The first stage runs from every start, and the best end continues with more
rows and landmarks. A step needs some ten Newton steps, which take 30 and 200 milliseconds."""

MOST_SEARCHED = _STAGES[-1].n_rows
"""Number of rows up to which a search uses all rows."""

_LEAST_LANDMARKS = 64
"""Least number of landmarks of a search."""

_DENSE_BYTES = 128 * MEBIBYTE
"""Memory of the dense rows of a search: 2,000 rows of 8,000 inputs, fewer rows of more inputs."""

_DECIMALS = 3
"""Decimals of logarithms of length scales."""


@dataclass(frozen=True, slots=True, eq=False)
class _KernelLaplaceSearch(EvidenceSearch):
    """Search over kernel parameters, log alpha and likelihood parameters by Laplace's evidence."""

    family: ParameterisedKernel[Any]
    landmarks: Array  # (q, d)
    problem: LaplaceProblem
    base: float = 0.0  # Loss that is subtracted: tolerances are relative to the loss

    def start(self, theta: Array) -> Array:
        """Return the point with kernel parameters (q,), and initial values of the others."""
        return np.append(theta, np.zeros(len(self._search(theta).first)))

    def value(self, point: Array) -> float:
        theta, other_parameters = self.split(point)
        search = self._search(theta)
        penalty = self.penalty(theta)[0] + search.penalty(other_parameters)[0]
        value = penalty - search.mode(other_parameters).log_evidence
        return value / search.size - self.base

    def loss(self, point: Array) -> tuple[float, Array]:
        theta, other_parameters = self.split(point)
        search = self._search(theta)
        mode, slopes = search.slopes(other_parameters)
        penalty, by_theta = self.penalty(theta)
        by_theta -= self._by_kernel(theta, slopes)
        penalty_of_others, by_others = search.penalty(other_parameters)
        by_others -= search.by_numbers(slopes)
        value = penalty + penalty_of_others - mode.log_evidence
        gradient = np.append(by_theta, by_others) / search.size
        return value / search.size - self.base, gradient

    def _by_kernel(self, theta: Array, slopes: EvidenceSlopes) -> Array:
        """Return derivatives of the log evidence by kernel parameters (q,), by differences."""
        by_values, rows = slopes.by_kernel(), slopes.rows.X
        total = np.zeros((2, len(theta)))
        for k, step in enumerate(DIFFERENCE * np.eye(len(theta))):
            for i, moved in enumerate((theta + step, theta - step)):
                kernel = self.family.in_units.kernel(moved)
                total[i, k] = np.sum(by_values.cross * kernel(self.landmarks, rows))
                total[i, k] += np.sum(by_values.landmarks * kernel(self.landmarks))
                total[i, k] += by_values.diagonal @ kernel.diag(rows)
        return as_array((total[0] - total[1]) / (2.0 * DIFFERENCE))

    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        low, high = self._search(self.split(start)[0]).bounds.T
        return low, high

    def _search(self, theta: Array) -> LaplaceSearch:
        kernel = self.family.in_units.kernel(theta)
        return self.problem.search(LandmarkFeatures.at(kernel, self.landmarks))


def select_latent_kernel(
    kernel: AnyKernel | str, problem: LaplaceProblem, n_landmarks: int, rng: np.random.Generator
) -> Kernel | None:
    """Return the kernel with parameters of greatest evidence; ``None`` if it has no parameters."""
    row_rng, median_rng, start_rng, landmark_rng = rng.spawn(4)
    every = np.arange(len(problem.rows))
    most_rows = min(MOST_SEARCHED, max(1, _DENSE_BYTES // (8 * problem.rows.X.shape[1])))
    problem = _part(problem, drawn_rows(every, most_rows, row_rng))
    rows, units = in_units(kernel, problem.rows)
    problem = _merged(replace(problem, rows=rows))
    family = parameterised(kernel, problem.rows, units, median_rng)
    if family is None:
        return None

    def searched(stage: _LaplaceStage) -> _KernelLaplaceSearch:
        # Latent functions share the landmarks, and each has its weights.
        q = max(stage.n_landmarks // problem.likelihood.n_latent, _LEAST_LANDMARKS)
        part = _part(problem, drawn_rows(np.arange(len(problem.rows)), stage.n_rows, row_rng))
        dense = dense_rows(part.rows.X, np.arange(len(part.rows)))
        distinct = np.unique(dense, axis=0)
        # Random rows, because all kernels of a search share the landmarks.
        landmarks = landmark_rng.permutation(distinct)[: min(n_landmarks, q)]
        part = replace(part, rows=replace(part.rows, X=dense))
        search = _KernelLaplaceSearch(family, landmarks, part)
        # Losses do not depend on the units of the targets.
        return replace(search, base=search.value(search.start(family.origin)))

    with single_threaded_blas():
        few, most = map(searched, _STAGES)
        starts = map(few.start, family.starts(start_rng))
        ends = [few.climbed(start, _STAGES[0].n_steps) for start in starts]
        point = most.explored(min(ends, key=itemgetter(1))[0], _STAGES[1].n_steps)
    theta, _ = most.split(point)
    return family.kernel(np.round(theta, _DECIMALS))


def _part(problem: LaplaceProblem, some: Index) -> LaplaceProblem:
    """Return the problem restricted to the rows with indices ``some``."""
    return replace(problem, rows=problem.rows[some], offset=problem.offset[some])


def _merged(problem: LaplaceProblem) -> LaplaceProblem:
    """Return the problem with equal rows merged into one row of their total weight, sorted."""
    rows = problem.rows
    first, weight, _ = canonical_rows(rows, np.column_stack((rows.y, problem.offset)))
    merged = _part(problem, first)
    return replace(merged, rows=replace(merged.rows, weight=weight))
