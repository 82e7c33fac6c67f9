"""Choosing the parameters of a kernel by the evidence of its features, along its gradient."""

from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._numerics.arrays import Array, as_array, dense_rows
from bochner._numerics.namespaces import taken
from bochner._numerics.threads import single_threaded_blas
from bochner._numerics.units import rounded, spreads
from bochner.features.chunks import Chunk
from bochner.features.length_scales import AnyKernel
from bochner.kernels import Kernel
from bochner.learning.evidence.landmark_search import shortened
from bochner.learning.evidence.reparameterised import ParameterisedKernel
from bochner.learning.evidence.ridge_search import FeatureSearch, GramSearch, RidgeSearch
from bochner.learning.families.kernel_families import in_units, parameterised
from bochner.sampling import Scheme


@dataclass(frozen=True, slots=True)
class _Stage:
    """Most rows, frequencies and steps of a search."""

    n_rows: int
    n_frequencies: int
    n_steps: int


_STAGES = (_Stage(1000, 128, 15), _Stage(8192, 256, 30), _Stage(2**15, 512, 40))
"""From every start, the best of which goes on with more of both. More rows tell shorter length
scales from noise, and more frequencies follow them. With half of the last ones, scales of rough
functions come out longer than those of the exact evidence; twice as many take four times as long.
The first steps tell starts apart, and the others mostly end by their tolerance."""

_EXACT_STAGES = (_Stage(400, 0, 60), _Stage(1000, 0, 60))
"""Stages of searches that take the kernel itself: 1,000 rows are a second for a step of five
components. A few dozen parameters take more steps than length scales."""

_KERNEL_VALUES = 10**7
"""Most values of kernels, and inputs of rows for them, for a step along the evidence of the kernel
itself: a tenth of a second."""

_PRODUCTS = 2**33
"""Most rows times squared features: one second for a step, on two cores."""

_MOST_ENTRIES = 2**24
"""Frequencies times inputs: 128 MiB for an array of base draws."""

_LEAST_FREQUENCIES = 16
"""Frequencies however many inputs there are."""


def _canonical(rows: Chunk) -> Chunk:
    """Return the different rows in the order of their entries, with numbers of their repeats.

    Targets are in units of their deviations, and rounded, as the last digit may decide between two
    maxima of the evidence: repeated rows, other orders and other units do not change it.
    """
    first, weight, repeats = canonical_rows(rows, rows.y)
    targets = _rounded(rows.y, rows.weights)[first]
    return Chunk(taken(rows.X, first), targets, weight, repeats, rows.are_precisions)


def drawn_rows(rows: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return sorted indices of rows, a random sample if there are more than ``most``."""
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def canonical_rows(rows: Chunk, numbers: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Return the first of equal rows, in the order of entries, their total weights and repeats.

    Rows are equal if their numbers (n, t), such as targets, are, too, and their weights where
    these are precisions. As many observations are left as there were.
    """
    units = rows.units
    scaled = rows.X @ sparse.diags_array(1.0 / spreads(rows.X, rows.weights))
    columns = np.column_stack((_rounded(numbers, rows.weights), units.weights))
    keys = _sortable(rounded(scaled), columns)
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    totals, counts = (
        as_array(np.bincount(number.ravel(), each)) for each in (units.totals, units.counts)
    )
    return first, totals, counts


def _rounded(numbers: Array, weights: Array) -> Array:
    """Return numbers (n, t) in units of their deviations, to some digits."""
    return as_array(rounded(numbers / spreads(numbers, weights)))


def _sortable(X: Any, y: Array) -> NDArray[Any]:
    """Return rows and their targets as an array of numbers, or of bytes if sparse."""
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
    """Return the kernel with the parameters of greatest evidence, or ``None`` if it has none.

    The evidence is penalised by a weak prior of the parameters. Searches from several starts are
    compared on at most 1000 rows with 128 frequencies. The best one goes on with more of both, at
    most 512 frequencies and 32,768 rows, from where shorter length scales of single inputs are
    tried, too. Each search has base draws of its own, and learns alpha, too, unless it is a number.
    Where rows are no more than features, the last search takes the kernel itself, whose evidence
    does not depend on draws. Otherwise, the shortest length scale is then shortened while the
    evidence with ``n_landmarks`` rises, if there are any.
    ``rows`` have targets (n, t), whose units do not matter, nor do those of columns for a name.
    """
    # Other rows, such as repetitions in place of weights, leave the draws as they are.
    row_rng, median_rng, start_rng, draw_rng = rng.spawn(4)
    present = drawn_rows(np.flatnonzero(rows.weights > 0), _STAGES[-1].n_rows, row_rng)
    rows, units = in_units(kernel, rows[present])
    rows = _canonical(rows)
    family = parameterised(kernel, rows, units, median_rng)
    if family is None:
        return None
    if family.is_exact:
        return _by_values(family, rows, alpha, row_rng, start_rng, fit_intercept)
    room = max(_LEAST_FREQUENCIES, _MOST_ENTRIES // rows.X.shape[1])

    def features(stage: _Stage) -> FeatureSearch:
        m = min(n_frequencies, max(stage.n_frequencies, family.least), room)
        n_rows = min(stage.n_rows, _PRODUCTS // (2 * m) ** 2)
        some = drawn_rows(np.arange(len(rows)), n_rows, row_rng)
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
    """Return the kernel of greatest exact evidence on few rows, without random features."""
    order = row_rng.permutation(len(rows))

    def search(stage: _Stage) -> GramSearch:
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
