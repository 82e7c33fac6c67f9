"""Selects the parameters of a kernel by maximising the evidence of its features."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._base.arrays import Array, as_array, dense_rows, rounded, spreads
from bochner._base.threads import single_threaded_blas
from bochner.features.chunks import ArrayChunks, Chunk
from bochner.features.landmarks import ResidualFeatures
from bochner.features.parameters import AnyKernel
from bochner.kernels import Kernel
from bochner.linear.feature_evidence import ordered_sums
from bochner.linear.kernel_families import MOST_SCALES, parameterised
from bochner.linear.reparameterised import ParameterisedKernel
from bochner.linear.ridge_posterior import best_alpha, fit_ridge
from bochner.linear.ridge_search import FeatureSearch, GramSearch, RidgeSearch
from bochner.spectral.schemes import Scheme


@dataclass(frozen=True, slots=True)
class SearchStage:
    """Limits of one stage of a search: numbers of rows, frequencies and steps."""

    n_rows: int
    n_frequencies: int
    n_steps: int


_STAGES = (SearchStage(1000, 128, 15), SearchStage(8192, 256, 30), SearchStage(2**15, 512, 40))
"""Stages of a search. The first stage runs from every start, and the best end continues with more
rows and frequencies. More rows distinguish short length scales from noise, and more frequencies
approximate them. With half of the last frequencies, length scales of rough functions are longer
than those of the exact evidence; twice as many take four times as long. A few steps suffice to
compare starts, and later stages mostly end by their tolerance."""

_EXACT_STAGES = (SearchStage(400, 0, 60), SearchStage(1000, 0, 60))
"""Stages of a search by the exact evidence: with 1,000 rows a step takes a second for five
components. A few dozen parameters need more steps than length scales do."""

_KERNEL_VALUES = 10**7
"""Most kernel values, plus inputs, for a step by the exact evidence: a tenth of a second."""

_PRODUCTS = 2**33
"""Largest number of rows times squared features of a step: one second on two cores."""

_MOST_ENTRIES = 2**24
"""Largest number of frequencies times inputs: 128 MiB for an array of base draws."""

_LEAST_FREQUENCIES = 16  # Least number of frequencies for any number of inputs


def in_units(kernel: AnyKernel | str, rows: Chunk) -> tuple[Chunk, Array]:
    """Return the rows divided by column scales, and these scales (d,): ones for kernel objects."""
    dim = rows.X.shape[1]
    if not isinstance(kernel, str):
        return rows, np.ones(dim)
    units = spreads(rows.X, rows.weights)
    if dim > MOST_SCALES:
        units = np.full(dim, np.sqrt(np.mean(units**2)))
    return replace(rows, X=rounded(rows.X @ sparse.diags_array(1.0 / units))), units


def canonical(rows: Chunk) -> Chunk:
    """Return the distinct rows in sorted order, with their total weights and repeat counts."""
    first, weight, repeats = canonical_rows(rows, rows.y)
    targets = _rounded(rows.y, rows.weights)[first]
    return Chunk(rows.X[first], targets, weight, repeats, rows.are_precisions)


def drawn_rows(rows: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return sorted indices of all rows, or of a random sample of ``most`` rows."""
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def canonical_rows(rows: Chunk, numbers: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Merge equal rows: return sorted indices of distinct rows, total weights and counts."""
    units = rows.units
    # Columns are divided by standard deviations, so that rounding suits any unit.
    scaled = rows.X @ sparse.diags_array(1.0 / spreads(rows.X, rows.weights))
    columns = np.column_stack((_rounded(numbers, rows.weights), units.weights))
    keys = _sortable(rounded(scaled), columns)
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    totals, counts = (
        as_array(np.bincount(number.ravel(), each)) for each in (units.totals, units.counts)
    )
    return first, totals, counts


def _rounded(numbers: Array, weights: Array) -> Array:
    """Return numbers (n, t) divided by their standard deviations, rounded to some digits."""
    return as_array(rounded(numbers / spreads(numbers, weights)))


def _sortable(X: Any, y: Array) -> NDArray[np.generic]:
    """Return rows and targets as an array whose rows can be sorted; of bytes if ``X`` is sparse."""
    if isinstance(X, np.ndarray):
        return np.column_stack((X, y))
    X.sort_indices()
    keys = [
        X.indices[row].tobytes() + X.data[row].tobytes() + target.tobytes()
        for row, target in zip(starmap(slice, pairwise(X.indptr)), y, strict=True)
    ]
    return np.array(keys, dtype=object)


def select_kernel(
    kernel: AnyKernel | str,
    rows: Chunk,
    n_frequencies: int,
    scheme: Scheme | str,
    alpha: float | None,
    rng: np.random.Generator,
    *,
    fit_intercept: bool = False,
    n_landmarks: int | None = None,
) -> Kernel | None:
    """Return the kernel with parameters of greatest evidence; ``None`` if it has none."""
    # Separate random streams: repeating rows instead of weighting must not change base draws.
    row_rng, median_rng, start_rng, draw_rng = rng.spawn(4)
    present = drawn_rows(np.flatnonzero(rows.weights > 0), _STAGES[-1].n_rows, row_rng)
    rows, units = in_units(kernel, rows[present])
    rows = canonical(rows)
    family = parameterised(kernel, rows, units, median_rng)
    if family is None:
        return None
    if family.is_exact:
        return _by_values(family, rows, alpha, row_rng, start_rng, fit_intercept)
    room = max(_LEAST_FREQUENCIES, _MOST_ENTRIES // rows.X.shape[1])

    def features(stage: SearchStage) -> FeatureSearch:
        m = min(n_frequencies, max(stage.n_frequencies, family.least), room)
        n_rows = min(stage.n_rows, _PRODUCTS // (2 * m) ** 2)
        some = drawn_rows(np.arange(len(rows)), n_rows, row_rng)
        # New base draws for each stage, so that the fit to one set of draws is not continued.
        draws = family.draw(m, int(draw_rng.integers(2**32)), scheme)
        return FeatureSearch(family, rows[some], alpha, fit_intercept, draws)

    few, some = map(features, _STAGES[:2])
    most: RidgeSearch = features(_STAGES[2])
    n, d = rows.X.shape
    values = (1 + family.origin.size) * n * (n + d)
    if n <= 2 * min(n_frequencies, _STAGES[2].n_frequencies) and values <= _KERNEL_VALUES:
        few_rows = replace(rows, X=dense_rows(rows.X, np.arange(n)))
        most = GramSearch(family.in_units, few_rows, alpha, fit_intercept)
    with single_threaded_blas():
        starts = map(few.started, family.starts(start_rng))
        ends = [few.climbed(start, _STAGES[0].n_steps) for start in starts]
        point = min(ends, key=itemgetter(1))[0]
        for wider, stage in zip((some, most), _STAGES[1:], strict=True):
            point = wider.explored(point, stage.n_steps)
    # The last coordinate is the logarithm of alpha.
    theta = point[:-1]
    if n_landmarks is not None and isinstance(most, FeatureSearch):
        theta = shortened(most, theta, n_landmarks, int(draw_rng.integers(2**32)))
    return family.kernel(theta)


def _by_values(
    family: ParameterisedKernel[Any],
    rows: Chunk,
    alpha: float | None,
    row_rng: np.random.Generator,
    start_rng: np.random.Generator,
    fit_intercept: bool,
) -> Kernel:
    """Return the kernel of the family with the greatest exact evidence on at most 1000 rows."""
    order = row_rng.permutation(len(rows))

    def search(stage: SearchStage) -> GramSearch:
        some = np.sort(order[: stage.n_rows])
        few = replace(rows[some], X=dense_rows(rows.X, some))
        return GramSearch(family.in_units, few, alpha, fit_intercept)

    few, most = map(search, _EXACT_STAGES)
    with single_threaded_blas():
        starts = map(few.started, family.starts(start_rng))
        ends = [few.climbed(start, _EXACT_STAGES[0].n_steps) for start in starts]
        point = min(ends, key=itemgetter(1))[0]
        point, _ = most.climbed(point, _EXACT_STAGES[1].n_steps)
    return family.kernel(point[:-1])


def shortened(search: FeatureSearch, theta: Array, n_landmarks: int, seed: int) -> Array:
    """Return parameters (q,) with length scales shortened one by one while evidence increases."""
    value = _loss_with_landmarks(search, n_landmarks, seed)
    least = value(theta)
    while near := search.family.neighbours(theta):
        shorter = min(near, key=lambda other: float(other[other != theta].min()))
        shorter_loss = value(shorter)
        if shorter_loss >= least:
            break
        theta, least = shorter, shorter_loss
    return theta


def _loss_with_landmarks(
    search: FeatureSearch, n_landmarks: int, seed: int
) -> Callable[[Array], float]:
    """Return the penalised negative log evidence with landmark features, as a function of theta."""
    family: Any = search.family

    def loss(theta: Array) -> float:
        features = ResidualFeatures.of(
            family.frequencies(search.draws, theta),
            family.in_units.kernel(theta),
            search.rows.X,
            n_landmarks,
            np.random.default_rng(seed),
        )
        sums = ordered_sums(ArrayChunks(search.rows), features, search.targets)
        if search.alpha is None:
            evidence = best_alpha(sums, fit_intercept=search.fit_intercept)[1]
        else:
            posterior = fit_ridge(sums, search.alpha, fit_intercept=search.fit_intercept)
            evidence = posterior.log_evidence
        return search.penalty(theta)[0] - evidence

    return loss
