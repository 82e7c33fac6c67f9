"""Weights of drawn frequencies, fitted to the kernel itself on rows of the data."""

import warnings
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, dense_rows, squared_norms
from bochner.features.length_scales import AnyKernel, median_distance
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel, NonNegative, UnitSphere
from bochner.sampling import Scheme
from bochner.spectral import SpectralMeasure, profile
from bochner.spectral.least_squares import Sample, least_squares_weights
from bochner.spectral.proposal import broad_proposal

_ROWS = 1250
_LEAST_ROWS = 4
_HELD_OUT_SHARE = 0.2
_FAR = (1.5, 3.0, 10.0, 100.0)
_FAR_ROWS = 64
_CEILING = 1.5
_POOR_FIT = 0.5
_SYMMETRY = 1e-8


def fitted_frequencies(
    kernel: AnyKernel,
    X: Any,
    measure: SpectralMeasure | None,
    n_frequencies: int,
    scheme: Scheme,
    draw_rng: np.random.Generator,
    data_rng: np.random.Generator,
) -> tuple[Frequencies, float]:
    """Return frequencies with least-squares weights, and their relative error on held-out rows.

    Parameters
    ----------
    kernel : Kernel or callable
        Symmetric.
    X : ndarray or CSR matrix of shape (n, d)
        At most 1250 rows are looked at; a fifth of them is held out.
    measure : SpectralMeasure or None
        From which frequencies are drawn; ``None`` for a kernel of which nothing is known.
    n_frequencies : int
    scheme : Scheme
    draw_rng, data_rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If there are fewer than 4 rows, or the kernel's values for them are not a finite symmetric
        matrix.
    """
    rows = dense_rows(X, data_rng.permutation(X.shape[0])[:_ROWS])
    if len(rows) < _LEAST_ROWS:
        raise ValueError(
            f"weights='least_squares' needs at least {_LEAST_ROWS} rows, got n_samples = "
            f"{len(rows)}; use weights='sampled'."
        )
    gram = _exact_gram(kernel, rows)
    n_held = max(2, round(_HELD_OUT_SHARE * len(rows)))
    parts = slice(n_held, None), slice(None, n_held)
    fit, held_out = (Sample(rows[part], gram[part, part]) for part in parts)
    if measure is None:
        proposal = broad_proposal(rows, median_distance(rows, data_rng))
        drawn = proposal.sample(n_frequencies, draw_rng, scheme)
        drawn = drawn.with_weights(np.zeros(n_frequencies))
    else:
        drawn = measure.sample(n_frequencies, draw_rng, scheme)
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
    return drawn.with_weights(result.weight), result.error


def _exact_gram(kernel: AnyKernel, rows: Array) -> Array:
    values = np.asarray(kernel(rows, rows))
    if values.dtype.kind not in "biuf":
        raise ValueError(f"The kernel must return real numbers, got {values.dtype}.")
    gram = values.astype(np.float64)
    if gram.shape != (len(rows), len(rows)):
        raise ValueError(
            f"The kernel must return an array of shape {(len(rows), len(rows))} for as many rows, "
            f"got {gram.shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("The kernel returned NaN or infinity for rows of the data.")
    rounding = 100.0 * np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0.0
    if np.abs(gram - gram.T).max() > max(_SYMMETRY, rounding) * np.abs(gram).max():
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
