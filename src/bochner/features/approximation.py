"""Choice of the frequencies that approximate a kernel on data, shared by all estimators."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from bochner._base.arrays import (
    Array,
    InputRows,
    as_array,
    dense_rows,
    frozen_array,
    some_rows,
    squared_norms,
)
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.features.fitted_weights import fitted_frequencies
from bochner.features.parameters import AnyKernel
from bochner.kernels import Kernel, Metric, Polynomial, UnitSphere
from bochner.spectral.closed_forms import closed_form
from bochner.spectral.decompositions import (
    Auto,
    Decomposition,
    DesignData,
    makes_blocks,
    resolve_decomposition,
)
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Isotropic, NoMeasureError
from bochner.spectral.least_squares import Sample, least_squares_masses
from bochner.spectral.measure import SpectralMeasure
from bochner.spectral.profiles import profile
from bochner.spectral.schemes import (
    LEAST_TRANSFORMED,
    Automatic,
    Orthogonal,
    Scheme,
    Structured,
    resolve_scheme,
    transforms_pay,
)
from bochner.spectral.tails import sample_parts_with_tails


@register
@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The region of inputs at distances ``least`` to ``greatest`` from ``centre`` (d,)."""

    centre: Array
    least: float
    greatest: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", frozen_array("centre", self.centre, None))

    def warn_outside(self, X: InputRows) -> None:
        """Emit one ``UserWarning`` if rows ``X`` (n, d), dense or CSR, lie outside the region."""
        offset = float(self.centre @ self.centre)
        square = squared_norms(X) - 2.0 * (X @ self.centre) + offset
        distance = np.sqrt(np.maximum(square, 0.0))
        outside = (distance > self.greatest) | (distance < self.least)
        if outside.any():
            worst = distance[outside][np.argmax(np.abs(distance[outside] - self.greatest))]
            expected = (
                f"at most {self.greatest:.6g}"
                if self.least == 0.0
                else f"{self.greatest:.6g}, up to rounding"
            )
            warn_user(
                f"{int(outside.sum())} of {len(outside)} rows lie outside the region that the "
                f"training data cover: their distance from its centre should be {expected}, and "
                f"one of them has {worst:.6g}. The kernel's values there are bounded but not "
                f"approximated; fit on data that reach as far."
            )


def check_rows(kernel: object, region: Region | None, X: InputRows, *, right: bool = False) -> None:
    """Raise ValueError for rows outside a kernel's domain; warn of rows outside the region."""
    if isinstance(kernel, Kernel):
        (kernel.check_right_inputs if right else kernel.check_inputs)(X)
    if region is not None:
        region.warn_outside(X)


_FITTED = "FourierFeatures(kernel, weights='least_squares'), alone or as features= of a model"
_SPHERE_TOLERANCE = 1e-4
"""Relative distance from a sphere at which rows count as on it: ten times the tolerance of kernels
on the unit sphere, so that rows which these accept cause no warning."""

_MASS_ROWS = 50
"""Number of rows on which the masses of a measure's parts are fitted; He et al., Algorithm 2."""

_POOR = 0.5
"""Predicted relative error of features above which a warning is given: half of the kernel."""

_BIASED = 0.1
"""Bound on the bias of the features, relative to the kernel's largest value, above which a warning
is given: more features of the same measure do not reduce the bias."""
_SCALE_ROWS = 200
"""Number of rows for the largest value of a kernel: 40,000 values, in a millisecond."""


@dataclass(frozen=True, slots=True, eq=False)
class Approximation:
    """Frequencies that approximate a kernel on data, error bounds, and frequencies for checks."""

    frequencies: Frequencies
    region: Region | None = None
    max_error: float | None = None
    predicted_error: float | None = None
    fit_error: float | None = None
    checks: Frequencies | None = None


def approximate(
    kernel: AnyKernel,
    X: InputRows,
    n_frequencies: int,
    draw_rng: Generator,
    data_rng: Generator,
    right: InputRows | None = None,
    *,
    scheme: Scheme | str = "auto",
    weights: str = "sampled",
    decomposition: Decomposition | str = "auto",
    masses: str = "exact",
    n_checks: int = 0,
) -> Approximation:
    """Return frequencies that approximate a kernel on rows ``X`` (n, d) and ``right`` (n2, d2)."""
    scheme = resolve_scheme(scheme)
    if (weights, decomposition, masses) == ("sampled", "auto", "exact"):
        measure = _plain_measure(kernel, X, right)
        if measure is not None:
            frequencies = measure.sample(n_frequencies, draw_rng, scheme)
            checks = None
            if n_checks:
                checks = _checks(measure, n_frequencies, n_checks, draw_rng, scheme)
            return Approximation(frequencies, max_error=0.0, checks=checks)
    if weights == masses:
        raise ValueError(
            "weights='least_squares' already fits the weight of every frequency: use it with "
            "masses='exact'."
        )
    data = DesignData(
        X.shape[1],
        n_frequencies,
        makes_blocks(scheme),
        weights == "least_squares",
        X,
        right,
        seed=int(data_rng.integers(2**63)),
    )
    measure = _measure(kernel, data, resolve_decomposition(decomposition))
    return _designed(kernel, measure, data, scheme, masses, n_checks, draw_rng, data_rng)


def _plain_measure(
    kernel: AnyKernel, X: InputRows, right: InputRows | None
) -> SpectralMeasure | None:
    """Return a kernel's closed-form measure if it is positive and independent of the data."""
    if not isinstance(kernel, Kernel) or X.shape[1] >= LEAST_TRANSFORMED:
        return None
    kernel.check_widths(X.shape[1], (X if right is None else right).shape[1])
    kernel.check_inputs(X)
    try:
        measure = closed_form(kernel, X.shape[1])
    except NoMeasureError:
        return None
    is_exact = not measure.max_error and measure.predicted_error is None
    for part in measure.parts:
        if not (is_exact and part.mass > 0.0 and part.law.is_positive):
            return None
    if right is not None:
        kernel.check_right_inputs(right)
    return measure


def _checks(
    measure: SpectralMeasure, m: int, n_checks: int, draw_rng: Generator, scheme: Scheme
) -> Frequencies | None:
    """Return check frequencies of a positive measure; ``None`` if its features are exact."""
    if _is_exact(measure, m):
        return None
    check_rng = draw_rng.spawn(2)[0]
    return reduce(add, sample_parts_with_tails(measure, n_checks, check_rng, scheme))


def _is_exact(measure: SpectralMeasure, m: int) -> bool:
    """Return whether ``m`` frequencies are enough to use all atoms of a discrete measure."""
    atoms = [n for part in measure.parts if (n := part.law.n_atoms) is not None]
    return len(atoms) == len(measure.parts) and sum(atoms) <= m


def _measure(
    kernel: AnyKernel, data: DesignData, decomposition: Decomposition
) -> SpectralMeasure | None:
    """Return the measure of a kernel; ``None`` if it has none and weights are to be fitted."""
    if not isinstance(kernel, Kernel):
        if data.fitted:
            return None
        raise NoMeasureError(
            f"The spectrum of the function {kernel!r} is not known: use "
            f"{_FITTED}, or Radial(function) or DotProduct(function) if it depends "
            f"on the distance or the inner product only."
        )
    right = data.left if data.right is None else data.right
    kernel.check_widths(data.dim, right.shape[1])
    kernel.check_inputs(data.left)
    if data.right is not None or not kernel.is_symmetric:
        kernel.check_right_inputs(right)
    try:
        return decomposition.measure(kernel, data)
    except NoMeasureError:
        if data.fitted and isinstance(decomposition, Auto):
            return None
        raise


def _designed(
    kernel: AnyKernel,
    measure: SpectralMeasure | None,
    data: DesignData,
    scheme: Scheme,
    masses: str,
    n_checks: int,
    draw_rng: Generator,
    data_rng: Generator,
) -> Approximation:
    """Return frequencies whose measure, masses or weights may depend on the data."""
    m, region = data.n_frequencies, None if measure is None else _region(kernel, measure, data)

    def parts_of(count: int, rng: Generator, rows_rng: Generator) -> list[Frequencies]:
        assert isinstance(kernel, Kernel)
        assert measure is not None
        if isinstance(scheme, Automatic) and data.dim >= LEAST_TRANSFORMED:
            parts = hadamard_parts(kernel, measure, data, count, rng, rows_rng)
            if parts is not None:
                return parts
        return measure.sample_parts(count, rng, scheme, symmetric=kernel.is_symmetric)

    def one_sided(part: Frequencies) -> Frequencies:
        return part.one_sided() if isinstance(kernel, Kernel) and kernel.is_symmetric else part

    def checks() -> Frequencies | None:
        if not n_checks or measure is None or not isinstance(kernel, Kernel):
            return None
        # Check frequencies keep their sampled weights, so that their error has mean zero.
        if measure.is_positive and measure.mass > 0.0 and not measure.is_two_sided:
            return _checks(measure, m, n_checks, draw_rng, scheme)
        if _is_exact(measure, m):
            return None
        check_rng, rows_rng = draw_rng.spawn(2)
        drawn = parts_of(n_checks, check_rng, rows_rng)
        return reduce(add, (one_sided(part) for part in drawn))

    if data.fitted:
        frequencies, error = fitted_frequencies(kernel, measure, data, draw_rng, scheme, data_rng)
        return Approximation(frequencies, region, fit_error=error, checks=checks())
    assert measure is not None
    assert isinstance(kernel, Kernel)
    parts = parts_of(m, draw_rng, data_rng)
    if masses == "least_squares":
        left = some_rows(data.left, _MASS_ROWS, data_rng)
        other = left if data.right is None else some_rows(data.right, _MASS_ROWS, data_rng)
        parts = least_squares_masses(parts, Sample(left, other, kernel(left, other)), measure.mass)
    frequencies = reduce(add, (one_sided(part) for part in parts))
    if measure.predicted_error is not None and measure.predicted_error > _POOR:
        warn_user(
            f"The features approximate the kernel badly: their predicted relative error is "
            f"{measure.predicted_error:.3g} with n_components={2 * m}. {_advice(kernel)}"
        )
    elif measure.max_error > 0.0:
        _warn_of_bias(kernel, measure.max_error, 2 * m, data, data_rng.spawn(1)[0])
    return Approximation(
        frequencies, region, measure.max_error, measure.predicted_error, checks=checks()
    )


def _warn_of_bias(
    kernel: Kernel, max_error: float, n_components: int, data: DesignData, rng: Generator
) -> None:
    left = some_rows(data.left, _SCALE_ROWS, rng)
    right = left if data.right is None else some_rows(data.right, _SCALE_ROWS, rng)
    greatest = float(np.abs(kernel(left, right)).max())
    if max_error > _BIASED * greatest:
        warn_user(
            f"The features approximate another kernel than {kernel!r}: for pairs of these rows the "
            f"mean of their inner products differs from the kernel by up to {max_error:.3g}, and "
            f"the kernel's largest value is {greatest:.3g}. Use more than "
            f"n_components={n_components}, for which the measure is designed, or {_FITTED}."
        )


def _advice(kernel: Kernel) -> str:
    if isinstance(kernel, Polynomial) and kernel.offset >= 0.0:
        return "sklearn's PolynomialCountSketch has features of polynomials for rows of any length."
    return f"Use more, or {_FITTED}."


def _region(kernel: AnyKernel, measure: SpectralMeasure, data: DesignData) -> Region | None:
    """Return the region that a measure is designed for; ``None`` for closed forms and spheres."""
    kernel_profile, X = profile(kernel), data.left
    if (
        measure.predicted_error is None
        or kernel_profile is None
        or isinstance(kernel_profile.domain, UnitSphere)
    ):
        return None
    pairs = data.pairs(kernel_profile.metric)
    assert pairs is not None
    if kernel_profile.metric is Metric.INNER_PRODUCT:
        radius = max(pairs.norm, *(part.envelope[1] for part in measure.parts))
        least = (1.0 - _SPHERE_TOLERANCE) * radius if pairs.spherical else 0.0
        return Region(np.zeros(X.shape[1]), least, (1.0 + _SPHERE_TOLERANCE) * radius)
    centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    offset = X @ centre
    square = squared_norms(X) - 2.0 * offset + centre @ centre
    greatest = max(pairs.reach, float(np.sqrt(max(square.max(), 0.0))))
    return Region(centre, 0.0, greatest)


_MOST_ERROR = 1.1
"""Error of Hadamard blocks, relative to that of orthogonal ones, up to which they are used."""

_ROWS = 100  # Number of rows of each argument for the comparison of errors: 10,000 pairs
_RADII = 256  # Stratified radii for the expected error: a quadrature with 256 nodes


def hadamard_parts(
    kernel: Kernel,
    measure: SpectralMeasure,
    data: DesignData,
    m: int,
    rng: Generator,
    data_rng: Generator,
) -> list[Frequencies] | None:
    """Return ``m`` frequencies in Hadamard blocks; ``None`` if those are slow or inaccurate."""
    law = measure.parts[0].law
    n, dim = data.left.shape
    n_filled = getattr(data.left, "nnz", n * dim) / n  # Sparse rows have nnz
    may_pay = n > 1 and transforms_pay(n_filled, dim, m)
    if len(measure.parts) > 1 or not (isinstance(law, Isotropic) and may_pay):
        return None
    parts = measure.sample_parts(m, rng, Structured())
    is_accurate = _is_accurate(kernel, law, parts[0], data, data_rng.spawn(1)[0])
    return parts if is_accurate else None


def _is_accurate(
    kernel: Kernel, law: Isotropic, frequencies: Frequencies, data: DesignData, rng: Generator
) -> bool:
    """Return whether ``frequencies`` estimate the kernel about as well as orthogonal blocks."""
    left, other = _pairs(data, rng)
    error = frequencies.gram(left, other) - kernel(left, other)
    scale = as_array(law.length_scale)
    lag = cdist(left / scale, other / scale).ravel()
    uniforms = Orthogonal().uniforms(_RADII, law.radial.n_uniforms, rng)
    radius = law.radial.radius(uniforms, law.dim)
    variance = orthogonal_variance(radius, lag, law.dim, frequencies.n_frequencies)
    mass = frequencies.weight.sum()
    return bool((error**2).sum() <= (_MOST_ERROR * mass) ** 2 * variance.sum())


def orthogonal_variance(radius: Array, lag: Array, dim: int, m: int) -> Array:
    r"""Return the variance of a kernel value from ``m`` frequencies in Haar orthogonal blocks.

    With :math:`\varphi_s` the mean of :math:`\cos(s u_1)` over unit vectors, radii ``r`` that are
    stratified, :math:`a = r^2 \delta^2 / d`, and :math:`n` ordered pairs of frequencies in one
    block,

    .. math::
        m V = \left\langle \tfrac12 (1 + \varphi_{2 r \delta}) - \varphi_{r \delta}^2 \right\rangle
              - \frac{n}{m} \left[ \frac{A_1^2}{2 (d + 2)} + \frac{2 A_1 A_2}{(d + 2) (d + 4)}
              - \frac{A_2^2}{8 (d + 2)^2} \right], \qquad
        A_i = \langle a^i \varphi_{r \delta} \rangle.

    The second part is the covariance :math:`\varphi_{\sqrt{s^2 + t^2}} - \varphi_s \varphi_t` of
    two orthogonal directions, up to terms of order :math:`1/d^3`. Radii (q,) are a stratified
    sample for unit length scale, lags :math:`\delta` (n,) are in length scales, and d is large.
    """
    n_blocks, n_last = divmod(m, dim)
    n_pairs = n_blocks * dim * (dim - 1) + n_last * (n_last - 1)
    a = np.multiply.outer(lag**2, radius**2) / dim
    phi = _sphere_mean(a, dim)
    single = (0.5 * (1.0 + _sphere_mean(4.0 * a, dim)) - phi**2).mean(axis=1)
    first, second = (a * phi).mean(axis=1), (a**2 * phi).mean(axis=1)
    pair = first**2 / 2.0 + 2.0 * first * second / (dim + 4) - second**2 / (8.0 * (dim + 2))
    return as_array((single - n_pairs / (m * (dim + 2)) * pair) / m)


def _sphere_mean(a: Array, dim: int) -> Array:
    r"""Return :math:`\varphi_s` from :math:`a = s^2 / d` by Rayleigh's series."""
    return np.exp(-a / 2.0 - a**2 / (4.0 * (dim + 2)) - a**3 / (3.0 * (dim + 2) * (dim + 4)))


def _pairs(data: DesignData, rng: Generator) -> tuple[Array, Array]:
    """Return some left and some right rows; disjoint samples if both arguments share the rows."""
    if data.right is not None:
        return some_rows(data.left, _ROWS, rng), some_rows(data.right, _ROWS, rng)
    chosen = rng.permutation(data.left.shape[0])
    half = min(_ROWS, len(chosen) // 2)
    return dense_rows(data.left, chosen[:half]), dense_rows(data.left, chosen[half : 2 * half])
