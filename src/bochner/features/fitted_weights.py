"""Least-squares weights and phases of sampled frequencies, fitted to kernel values on data."""

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, InputRows, some_rows, squared_norms
from bochner._base.limits import FUNCTION_ROUNDING, LARGEST_ENTRY
from bochner._base.warn import warn_user
from bochner.features.parameters import (
    AnyKernel,
    exact_values,
    is_symmetric,
    median_distance,
    rounding_of,
)
from bochner.kernels import Kernel, NonNegative, UnitSphere
from bochner.spectral import SpectralMeasure
from bochner.spectral.decompositions import DesignData
from bochner.spectral.design import broad_proposal
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.least_squares import Sample, least_squares_weights
from bochner.spectral.profiles import profile
from bochner.spectral.schemes import Scheme

_ROWS = 1250  # Number of rows on which weights are fitted and tested: 1.5 million kernel values
_LEAST_ROWS = 4  # Fewest rows for a fit of weights: two to fit on and two to test on
_HELD_OUT_SHARE = 0.2  # Share of the rows for the test, as in five-fold cross-validation
_FAR = (1.5, 3.0, 10.0, 100.0)
"""Distances from the centre, in diameters of the data, at which the estimate must stay bounded."""

_FAR_ROWS = 64  # Number of points far from the data, sixteen at each distance of ``_FAR``
_CEILING = 1.5
"""Largest allowed estimate far from the data, relative to the kernel's greatest value."""

_POOR_FIT = 0.5  # Relative error of a fit above which a warning is given: half of the kernel


def fitted_frequencies(
    kernel: AnyKernel,
    measure: SpectralMeasure | None,
    data: DesignData,
    draw_rng: Generator,
    scheme: Scheme,
    rng: Generator,
) -> tuple[Frequencies, float]:
    """Return frequencies with least-squares weights, and their relative error on held-out rows."""
    right = left = _rows_to_fit("n_samples", data.left, rng)
    if data.right is not None:
        right = _rows_to_fit("right n_samples", data.right, rng)
    gram, seems_symmetric = _exact_gram(kernel, left, right)
    if measure is None:
        drawn = _proposed(left, right, data.n_frequencies, draw_rng, scheme, rng)
    else:
        symmetric = isinstance(kernel, Kernel) and kernel.is_symmetric
        drawn = measure.sample(data.n_frequencies, draw_rng, scheme, symmetric=symmetric)
    phases = not (seems_symmetric and drawn.is_symmetric)
    fit, held_out = _split(left, right, gram)
    # Least squares does not constrain values far from the data, so a bound is set there.
    far = _far_rows(kernel, left, rng)
    far_right = far if right is left else _far_rows(kernel, right, rng)
    greatest = max(
        float(np.abs(gram).max()),
        _greatest(kernel, far, held_out.right),
        _greatest(kernel, held_out.left, far_right),
    )
    result = least_squares_weights(
        drawn,
        fit,
        held_out,
        phases=phases,
        nonnegative=measure is not None and measure.is_positive and not phases,
        far=far,
        far_right=far_right,
        ceiling=_CEILING * greatest,
    )
    _warn(result.error, is_prior=result.is_prior, has_measure=measure is not None)
    return drawn.with_weights(result.weight, result.phase), result.error


def _rows_to_fit(name: str, X: InputRows, rng: Generator) -> Array:
    rows = some_rows(X, _ROWS, rng)
    if len(rows) < _LEAST_ROWS:
        raise ValueError(
            f"weights='least_squares' needs at least {_LEAST_ROWS} rows, got {name} = "
            f"{len(rows)}; use weights='sampled'."
        )
    return rows


def _split(left: Array, right: Array, gram: Array) -> tuple[Sample, Sample]:
    """Split the rows of both arguments into rows to fit on and held-out rows."""

    def sample(left_rows: slice, right_rows: slice) -> Sample:
        chosen = left[left_rows]
        return Sample(
            chosen, chosen if right is left else right[right_rows], gram[left_rows, right_rows]
        )

    n, n2 = (max(2, round(_HELD_OUT_SHARE * len(rows))) for rows in (left, right))
    return sample(slice(n, None), slice(n2, None)), sample(slice(n), slice(n2))


def _proposed(
    left: Array, right: Array, m: int, draw_rng: Generator, scheme: Scheme, rng: Generator
) -> Frequencies:
    """Return frequencies of weight zero from a broad measure, for a kernel without a measure."""
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"The spectrum of this kernel is not known, so all rows must have one width, but they "
            f"have {left.shape[1]} and {right.shape[1]} columns. Use Bilinear(kernel, left, "
            f"right), which maps both to one width."
        )
    rows = left if right is left else np.concatenate([left, right])
    proposal = broad_proposal(rows, median_distance(rows, rng))
    drawn = proposal.sample(m, draw_rng, scheme)
    return drawn.with_weights(np.zeros(m))


def _exact_gram(kernel: AnyKernel, left: Array, right: Array) -> tuple[Array, bool]:
    """Return the exact Gram matrix (n, n2), and whether the kernel is symmetric."""
    values = exact_values(kernel, left, right)
    greatest = float(np.abs(values).max(initial=0.0))
    if greatest > LARGEST_ENTRY:
        raise ValueError(
            f"Values of the kernel must be at most {LARGEST_ENTRY:g} in size, because they are "
            f"squared; got {greatest:.3g}. Scale it, or X, by a smaller factor."
        )
    gram = values.astype(np.float64)
    if isinstance(kernel, Kernel) and not kernel.is_symmetric:
        return gram, False
    if right is not left:
        return gram, isinstance(kernel, Kernel)
    return gram, is_symmetric(gram, rounding_of(values, FUNCTION_ROUNDING))


def _far_rows(kernel: AnyKernel, rows: Array, rng: Generator) -> Array | None:
    """Return points far from all data rows; ``None`` for a kernel on the unit sphere."""
    kernel_profile = profile(kernel)
    domain = None if kernel_profile is None else kernel_profile.domain
    if isinstance(domain, UnitSphere):
        return None
    centre = rows.mean(axis=0)
    spread = float(np.sqrt(squared_norms(rows - centre).max())) or 1.0
    direction = rng.standard_normal((_FAR_ROWS, rows.shape[1]))
    if isinstance(domain, NonNegative) or not _accepts(kernel, -np.abs(direction)):
        direction = np.abs(direction)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    steps = spread * np.resize(_FAR, _FAR_ROWS)
    return np.asarray(centre + 2.0 * steps[:, None] * direction, dtype=np.float64)


def _accepts(kernel: AnyKernel, rows: Array) -> bool:
    """Return whether rows lie in the kernel's domain; always true for a plain function."""
    if isinstance(kernel, Kernel):
        try:
            kernel.check_inputs(rows)
        except ValueError:
            return False
    return True


def _greatest(kernel: AnyKernel, left: Array | None, right: Array | None) -> float:
    """Return the greatest absolute kernel value on rows; zero for a plain function."""
    if left is None or right is None or not isinstance(kernel, Kernel):
        return 0.0
    try:
        return float(np.abs(kernel(left, right)).max())
    except ValueError:  # the kernel is undefined at such distances
        return 0.0


def _warn(error: float, *, is_prior: bool, has_measure: bool) -> None:
    if is_prior and has_measure:
        warn_user(
            f"Least-squares weights were no better than the sampled ones on held-out rows "
            f"(relative error {error:.3g}), which are kept."
        )
    elif not has_measure and error > _POOR_FIT:
        warn_user(
            f"The features approximate the kernel badly: relative error {error:.3g} on held-out "
            f"rows. Use more features, or Radial or DotProduct if the kernel is a function of the "
            f"distance or the inner product."
        )
