"""From a kernel and data to the frequencies that approximate it: what all estimators share."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, dense_rows, squared_norms
from bochner.features.length_scales import AnyKernel, median_distance
from bochner.features.region import Region
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel, Metric, NonNegative, UnitSphere
from bochner.sampling import Scheme, resolve_scheme
from bochner.spectral import Decomposition, Pairs, SpectralMeasure, profile
from bochner.spectral.decompositions import Auto, Setting, makes_blocks, resolve_decomposition
from bochner.spectral.least_squares import Sample, least_squares_weights
from bochner.spectral.proposal import broad_proposal

_FITTED_ROWS = 1250
_HELD_OUT_SHARE = 0.2
_FAR = (1.5, 3.0, 10.0, 100.0)
_FAR_ROWS = 64
_CEILING = 1.5
_POOR_FIT = 0.5
_SYMMETRY = 1e-8
_SPHERE_TOLERANCE = 1e-4

WEIGHTS = ("sampled", "least_squares")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How frequencies are made.

    Parameters
    ----------
    n_frequencies : int
    scheme : Scheme or str
    weights : {"sampled", "least_squares"}
    decomposition : Decomposition or str
    """

    n_frequencies: int
    scheme: Scheme | str = "orthogonal"
    weights: str = "sampled"
    decomposition: Decomposition | str = "auto"

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise ValueError(
                f"weights must be one of {', '.join(map(repr, WEIGHTS))}, got {self.weights!r}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Approximation:
    """Frequencies that approximate a kernel on data, and what is known of their error.

    Attributes
    ----------
    frequencies : Frequencies
    region : Region or None
        Outside which a designed measure does not follow the kernel.
    max_error, predicted_error : float or None
        Of the measure that they were drawn from; ``None`` where not known, or weights were fitted.
    fit_error : float or None
        Relative error on held-out pairs of rows, where weights were fitted.
    """

    frequencies: Frequencies
    region: Region | None
    max_error: float | None = None
    predicted_error: float | None = None
    fit_error: float | None = None


def approximate(
    kernel: AnyKernel,
    X: Any,
    recipe: Recipe,
    draw_rng: np.random.Generator,
    data_rng: np.random.Generator,
) -> Approximation:
    """Return the frequencies of a kernel for the rows of ``X`` (n, d), dense or sparse.

    Parameters
    ----------
    kernel : Kernel or callable
        A function ``k(X, Y)`` that returns Gram matrices needs ``weights="least_squares"``.
    X : ndarray or CSR matrix
    recipe : Recipe
    draw_rng, data_rng : numpy.random.Generator
        For the frequencies, and for the choice of the rows that designs and fits look at.
    """
    dim = X.shape[1]
    scheme = resolve_scheme(recipe.scheme)
    rows_seed = int(data_rng.integers(2**63))
    setting = Setting(
        dim=dim,
        pairs=partial(_pairs, X, rows_seed),
        n_frequencies=recipe.n_frequencies,
        orthogonal=makes_blocks(scheme),
    )
    fitted = recipe.weights == "least_squares"
    measure = _measure(kernel, X, recipe, setting, or_none=fitted)
    if not fitted:
        assert measure is not None
        frequencies = measure.sample(recipe.n_frequencies, draw_rng, scheme)
        return Approximation(
            frequencies,
            _region(kernel, X, measure, setting),
            max_error=measure.max_error,
            predicted_error=measure.predicted_error,
        )
    return _fitted(kernel, X, measure, setting, scheme, draw_rng, data_rng)


def _measure(
    kernel: AnyKernel, X: Any, recipe: Recipe, setting: Setting, *, or_none: bool
) -> SpectralMeasure | None:
    """Return the kernel's measure, or ``None`` where there is none and a proposal will do."""
    if not isinstance(kernel, Kernel):
        if or_none:
            return None
        raise TypeError(
            f"Nothing is known of the spectrum of the function {kernel!r}: use "
            f"weights='least_squares', or one of Radial(function) and DotProduct(function) if it "
            f"depends on the distance or the inner product alone."
        )
    kernel.check_dim(setting.dim)
    kernel.check_inputs(X)
    decomposition = resolve_decomposition(recipe.decomposition)
    try:
        return decomposition.measure(kernel, setting)
    except (TypeError, NotImplementedError):
        if or_none and isinstance(decomposition, Auto):
            return None
        raise


def _pairs(X: Any, seed: int, metric: Metric) -> Pairs:
    return Pairs.of_rows(X, metric, np.random.default_rng(seed))


def _region(kernel: AnyKernel, X: Any, measure: SpectralMeasure, setting: Setting) -> Region | None:
    """Return where a designed measure holds; ``None`` for a closed form or on the unit sphere."""
    found = profile(kernel)
    if measure.predicted_error is None or found is None or isinstance(found.domain, UnitSphere):
        return None
    pairs = setting.pairs(found.metric)
    assert pairs is not None
    if found.metric is Metric.INNER_PRODUCT:
        radius = max(pairs.norm, *(part.envelope[1] for part in measure.parts))
        least = (1.0 - _SPHERE_TOLERANCE) * radius if pairs.spherical else 0.0
        return Region(np.zeros(setting.dim), least, (1.0 + _SPHERE_TOLERANCE) * radius)
    centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    offset = X @ centre
    square = squared_norms(X) - 2.0 * offset + centre @ centre
    greatest = max(pairs.reach, float(np.sqrt(max(square.max(), 0.0))))
    return Region(centre, 0.0, greatest)


def _fitted(
    kernel: AnyKernel,
    X: Any,
    measure: SpectralMeasure | None,
    setting: Setting,
    scheme: Scheme,
    draw_rng: np.random.Generator,
    data_rng: np.random.Generator,
) -> Approximation:
    """Return frequencies with least-squares weights on a subsample."""
    chosen = data_rng.permutation(X.shape[0])[:_FITTED_ROWS]
    rows = dense_rows(X, chosen)
    if len(rows) < 4:
        raise ValueError(
            f"weights='least_squares' needs at least 4 rows, got {len(rows)}; use "
            f"weights='sampled'."
        )
    gram = _exact_gram(kernel, rows)
    n_held = max(2, round(_HELD_OUT_SHARE * len(rows)))
    parts = slice(n_held, None), slice(None, n_held)
    fit, held_out = (Sample(rows[part], gram[part, part]) for part in parts)
    if measure is None:
        proposal = broad_proposal(rows, median_distance(rows, data_rng))
        drawn = proposal.sample(setting.n_frequencies, draw_rng, scheme)
        drawn = drawn.with_weights(np.zeros(setting.n_frequencies))
    else:
        drawn = measure.sample(setting.n_frequencies, draw_rng, scheme)
    far = _far_rows(kernel, rows, data_rng)
    result = least_squares_weights(
        drawn,
        fit,
        held_out,
        nonnegative=measure is not None and measure.is_positive,
        far=far,
        ceiling=_CEILING * _greatest(kernel, gram, far, held_out.rows),
    )
    _say(result.error, is_prior=result.is_prior, known=measure is not None)
    region = None if measure is None else _region(kernel, X, measure, setting)
    return Approximation(drawn.with_weights(result.weight), region, fit_error=result.error)


def _exact_gram(kernel: AnyKernel, rows: Array) -> Array:
    gram = np.asarray(kernel(rows, rows), dtype=np.float64)
    if gram.shape != (len(rows), len(rows)):
        raise ValueError(
            f"The kernel must return an array of shape {(len(rows), len(rows))} for as many rows, "
            f"got {gram.shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("The kernel returned NaN or infinity for rows of the data.")
    if np.abs(gram - gram.T).max() > _SYMMETRY * np.abs(gram).max():
        raise ValueError(
            "The kernel is not symmetric, k(x, y) != k(y, x); these features are for symmetric "
            "kernels. Symmetrise it: (k(X, Y) + k(Y, X).T) / 2."
        )
    return gram


def _far_rows(kernel: AnyKernel, rows: Array, rng: np.random.Generator) -> Array | None:
    """Return rows far from all data; ``None`` on the sphere, where nothing is far."""
    found = profile(kernel)
    domain = None if found is None else found.domain
    if isinstance(domain, UnitSphere):
        return None
    centre = rows.mean(axis=0)
    spread = float(np.sqrt(squared_norms(rows - centre).max())) or 1.0
    direction = rng.standard_normal((_FAR_ROWS, rows.shape[1]))
    if isinstance(domain, NonNegative):
        direction = np.abs(direction)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    steps = spread * np.resize(_FAR, _FAR_ROWS)
    return np.asarray(centre + 2.0 * steps[:, None] * direction, dtype=np.float64)


def _greatest(kernel: AnyKernel, gram: Array, far: Array | None, rows: Array) -> float:
    greatest = float(np.abs(gram).max())
    if far is None or not isinstance(kernel, Kernel):
        return greatest
    try:
        return max(greatest, float(np.abs(kernel(far, rows)).max()))
    except ValueError:  # not defined so far out
        return greatest


def _say(error: float, *, is_prior: bool, known: bool) -> None:
    if is_prior and known:
        warnings.warn(
            f"Least-squares weights were no better than the sampled ones on held-out rows "
            f"(relative error {error:.3g}), which are kept.",
            stacklevel=5,
        )
    elif not known and error > _POOR_FIT:
        warnings.warn(
            f"The features explain the kernel badly: relative error {error:.3g} on held-out rows. "
            f"Use more features, or Radial or DotProduct if the kernel is a function of the "
            f"distance or the inner product.",
            stacklevel=5,
        )
