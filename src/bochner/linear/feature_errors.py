"""Errors of a kernel's features on given data: predicted, and measured on held-out rows."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.features.approximation import approximate
from bochner.kernels import Kernel
from bochner.spectral import Law, NoMeasureError, SpectralMeasure
from bochner.spectral.composite_laws import Mapped
from bochner.spectral.decompositions import Auto, DesignData
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.lattice_measure import Lattice

# Number of draws over which a sampled error is averaged.
_DRAWS = 3


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutSplit:
    """Rows split into rows to fit and held-out rows, with the exact Gram matrix of the latter."""

    fit: Array
    held_out: Array
    exact: Array


@dataclass(frozen=True, slots=True)
class FeatureErrors:
    """The errors of a kernel's features at one number of features, and the measure used.

    Errors are root mean squares over ordered pairs of distinct rows, relative to the root mean
    square of the kernel over these pairs. ``None`` means unknown.

    Attributes
    ----------
    n_components : int
        Number of real features, twice the number of frequencies.
    total_variation : float or None
        Total variation of the measure that frequencies are drawn from.
    max_error : float or None
        Bound on the difference between the measure's transform and the kernel: zero for a
        closed form, the sum of aliasing and truncation for a numerical transform.
    predicted_error : float or None
        Expected error: of orthogonal frequencies for a designed measure, of independent frequencies
        for a measure in closed form that is one law without phases.
    sampled_error : float or None
        Error of three draws of orthogonal frequencies, on held-out rows.
    least_squares_error : float or None
        Error with weights (and phases for an asymmetric kernel) fitted by least squares, on
        held-out rows.
    """

    n_components: int
    total_variation: float | None = None
    max_error: float | None = None
    predicted_error: float | None = None
    sampled_error: float | None = None
    least_squares_error: float | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """Properties of a kernel's measure, and the errors of features drawn from it.

    Attributes
    ----------
    measure : {"closed form", "designed", "numerical", "combined", "none"}
        Kind of the measure. ``"numerical"`` is the Fourier transform of a function of the lag,
        ``"combined"`` a sum or product of measures of the other kinds.
    sign : {"positive", "signed", "complex (polar)", "two-sided", ""}
        Values of the measure: positive for a positive definite kernel; complex for an asymmetric
        kernel whose frequencies have phases; two-sided for an asymmetric kernel whose two arguments
        have different frequencies.
    reason : str
        Reason why there is no measure, otherwise empty.
    refused : bool
        Whether no measure can be made for the kernel, so that weights were fitted to the values of
        the plain function ``kernel.__call__``.
    errors : tuple of FeatureErrors
        Errors for each number of features.
    """

    measure: str
    sign: str
    reason: str
    refused: bool
    errors: tuple[FeatureErrors, ...]

    @property
    def positive(self) -> bool | None:
        """Whether the measure is positive, so that all features have the sign one."""
        return self.sign == "positive" if self.sign else None

    @property
    def fitted(self) -> FeatureErrors | None:
        """The errors at the number of features for which least-squares weights were fitted."""
        return next((e for e in self.errors if e.least_squares_error is not None), None)


def features_of(
    kernel: Any, split: HeldOutSplit, n_frequencies: tuple[int, ...], rng: Generator
) -> Features:
    """Return a kernel's measure and feature errors, with fitted weights at the middle number."""
    middle = sorted(n_frequencies)[len(n_frequencies) // 2]
    measures: list[SpectralMeasure | None] = [None] * len(n_frequencies)
    reason, refused = "", False
    try:
        if isinstance(kernel, Kernel):
            measures = _measures(kernel, split, n_frequencies)
    except (NoMeasureError, ValueError) as problem:
        reason, refused = str(problem), isinstance(problem, ValueError)
    fitted = _least_squares_error(kernel.__call__ if refused else kernel, split, middle, rng)
    errors = []
    for m, measure in zip(n_frequencies, measures, strict=True):
        error = FeatureErrors(2 * m, least_squares_error=fitted if m == middle else None)
        if measure is not None:
            error = replace(
                error,
                total_variation=measure.total_variation,
                max_error=measure.max_error,
                predicted_error=_predicted_error(kernel, measure, split, m),
                sampled_error=_sampled_error(kernel, measure, split, m, rng),
            )
        errors.append(error)
    available = [measure for measure in measures if measure is not None]
    kind = _kind(available[0]) if available else "none"
    return Features(kind, _sign(kernel, available, middle), reason, refused, tuple(errors))


def _measures(
    kernel: Kernel, split: HeldOutSplit, n_frequencies: tuple[int, ...]
) -> list[SpectralMeasure | None]:
    """Return the spectral measure of the kernel for each number of frequencies."""
    # All rows are used, as in `approximate`, so that the cached design is the same.
    contexts = [DesignData(split.fit.shape[1], m, left=split.fit) for m in n_frequencies]
    with warnings.catch_warnings():
        # An inaccurate numerical transform is reported by max_error.
        warnings.simplefilter("ignore", UserWarning)
        first = Auto().measure(kernel, contexts[0])
        if _kind(first) in ("numerical", "closed form"):
            # Closed and numerical forms do not depend on the number of frequencies.
            return [first] * len(contexts)
        return [first, *(Auto().measure(kernel, context) for context in contexts[1:])]


def _kind(measure: SpectralMeasure) -> str:
    if measure.predicted_error is not None:
        return "designed"
    if measure.max_error == 0.0:
        return "closed form"
    numerical = all(isinstance(_unmapped(part.law), Lattice) for part in measure.parts)
    return "numerical" if numerical else "combined"


def _sign(kernel: Kernel, measures: list[SpectralMeasure], m: int) -> str:
    """Return "positive", "signed", "complex (polar)" or "two-sided"; empty without measures."""
    if not measures:
        return ""
    if all(measure.is_positive for measure in measures):
        return "positive"
    drawn = measures[0].sample(m, 0, symmetric=kernel.is_symmetric)
    if drawn.is_symmetric:
        return "signed"
    return "complex (polar)" if drawn.phase.any() else "two-sided"


def _unmapped(law: Law) -> Law:
    return _unmapped(law.law) if isinstance(law, Mapped) else law


def _predicted_error(
    kernel: Kernel, measure: SpectralMeasure, split: HeldOutSplit, m: int
) -> float | None:
    r"""Return the expected relative error of ``m`` frequencies, or ``None`` if it is unknown.

    For a stationary kernel with one law, the mean of :math:`\cos(\omega_j \cdot \Delta)` has the
    variance :math:`(k(0)^2 + k(0) k(2\Delta) - 2 k(\Delta)^2) / 2m`, unless there are phases.
    """
    if measure.predicted_error is not None:
        return measure.predicted_error
    part, mass = measure.parts[0], measure.mass
    is_known = len(measure.parts) == 1 and not measure.max_error and not part.envelope[0]
    law = _unmapped(part.law)
    if not (is_known and law.is_positive):
        return None
    value, twice = (_distinct(kernel(factor * split.fit)) for factor in (1.0, 2.0))
    variance = (mass * (mass + twice) - 2.0 * value**2) / (2.0 * m)
    return _ratio(float(np.mean(np.maximum(variance, 0.0))), value)


def _sampled_error(
    kernel: Kernel, measure: SpectralMeasure, split: HeldOutSplit, m: int, rng: Generator
) -> float | None:
    if not len(split.held_out):
        return None
    draws = (measure.sample(m, rng, symmetric=kernel.is_symmetric) for _ in range(_DRAWS))
    return float(np.sqrt(np.mean([_held_out_error(drawn, split) ** 2 for drawn in draws])))


def _least_squares_error(kernel: Any, split: HeldOutSplit, m: int, rng: Generator) -> float | None:
    if not len(split.held_out):
        return None
    with warnings.catch_warnings():
        # No warning is needed: a poor fit is visible in the reported errors.
        warnings.simplefilter("ignore", UserWarning)
        draw_rng, data_rng = rng.spawn(2)
        approximation = approximate(
            kernel, split.fit, m, draw_rng, data_rng, weights="least_squares"
        )
    return _held_out_error(approximation.frequencies, split)


def _held_out_error(frequencies: Frequencies, split: HeldOutSplit) -> float:
    exact, approximate_values = _distinct(split.exact), _distinct(frequencies.gram(split.held_out))
    return _ratio(float(np.mean((approximate_values - exact) ** 2)), exact)


def _distinct(gram: Array) -> Array:
    """Return the off-diagonal entries of a Gram matrix (n, n)."""
    return gram[~np.eye(len(gram), dtype=bool)]


def _ratio(mean_square: float, exact: Array) -> float:
    return float(np.sqrt(mean_square / (float(np.mean(exact**2)) or 1.0)))
