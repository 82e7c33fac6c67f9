"""Frequencies of the parts of a measure: choice of blocks, and one-sided frequencies."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array, as_array, dense_rows, some_rows
from bochner.features.parameters import AnyKernel
from bochner.kernels import Kernel
from bochner.spectral.decompositions import DesignData
from bochner.spectral.factors import CosineFactors, multiplied, separated
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Independent, Isotropic, NoMeasureError
from bochner.spectral.measure import SpectralMeasure
from bochner.spectral.schemes import (
    Automatic,
    Coordinates,
    Iid,
    Orthogonal,
    Scheme,
    Structured,
    transforms_pay,
)


def one_sided(kernel: AnyKernel, frequencies: Frequencies) -> Frequencies:
    r"""Return frequencies with equal left and right features, if the kernel is symmetric.

    The symmetric part of :math:`a \cos(\omega \cdot \Delta + \theta)` is
    :math:`a \cos\theta \cos(\omega \cdot \Delta)`, so phases become weights of either sign. Such
    phases occur in polar form for the sum of a kernel and its transpose.

    If the arguments have separate frequencies, the symmetric part is, with
    :math:`s = (\omega + \nu)/2` and :math:`v = \omega - \nu`,

    .. math:: a \cos(s \cdot (x - y)) \cos\big(v \cdot \tfrac{x + y}2 + \theta\big)
              = a \cos(s \cdot (x - y)) \big(g(x) g(y) - h(x) h(y)\big),

    :math:`g(x) = \cos((v \cdot x + \theta)/2)` and :math:`h(x) = \sin((v \cdot x + \theta)/2)`:
    two frequencies :math:`s`, of weights :math:`\pm a`, whose features carry the factors ``g`` and
    ``h`` (:class:`~bochner.spectral.CosineFactors`). Twice as many frequencies are returned
    then, even where some :math:`v` are zero.

    Frequencies are returned unchanged for an asymmetric kernel, for a function, and if the
    arguments have different widths or envelopes.
    """
    if not isinstance(kernel, Kernel) or not kernel.is_symmetric:
        return frequencies
    if frequencies.nu_blocks is not None:
        return _modulated(frequencies)
    if frequencies.is_symmetric:
        return frequencies
    turned = frequencies.with_weights(
        frequencies.weight * np.cos(frequencies.phase), np.zeros_like(frequencies.phase)
    )
    return turned if turned.is_symmetric else frequencies


def _modulated(frequencies: Frequencies) -> Frequencies:
    """Return twice as many frequencies of one side, or the same ones if that is impossible."""
    envelope, other = separated(frequencies.factor)
    differ = frequencies.dim != frequencies.dim_right or other is not None
    if differ or not (envelope is None or envelope.is_symmetric):
        return frequencies
    s = 0.5 * (frequencies.omega + frequencies.nu)
    v = frequencies.omega - frequencies.nu
    psi = 0.5 * frequencies.phase
    return Frequencies(
        np.tile(s, (2, 1)),
        np.concatenate([frequencies.weight, -frequencies.weight]),
        factor=multiplied(
            None if envelope is None else envelope.joined(envelope),
            CosineFactors(np.tile(v, (2, 1)), np.concatenate([psi, psi - 0.5 * np.pi])),
        ),
    )


def halves(kernel: AnyKernel, measure: SpectralMeasure, n_frequencies: int) -> bool:
    """Return whether half as many frequencies of two sides are drawn; refuse an odd number then."""
    if not (isinstance(kernel, Kernel) and kernel.is_symmetric and measure.is_two_sided):
        return False
    if n_frequencies % 2:
        raise ValueError(
            f"n_components must be a multiple of 4 for {kernel!r}: each pair of frequencies that "
            f"is drawn makes two cosines and two sines, so that the estimate is symmetric; got "
            f"{2 * n_frequencies}. Use {2 * n_frequencies + 2}."
        )
    return True


def sampled_one_sided(
    kernel: AnyKernel,
    measure: SpectralMeasure,
    n_frequencies: int,
    rng: Generator | int,
    scheme: Scheme | str = "orthogonal",
) -> Frequencies:
    """Return ``n_frequencies`` of all parts of a kernel's measure, made one-sided part by part."""
    halved = halves(kernel, measure, n_frequencies)
    parts = measure.sample_parts(n_frequencies, rng, scheme, to_be_one_sided=halved)
    return reduce(add, (one_sided(kernel, part) for part in parts))


_MOST_ERROR = 1.1
"""Error of Hadamard blocks, relative to that of orthogonal ones, up to which they are used."""

_ROWS = 100
"""Rows of each argument for the comparison, 10,000 pairs; its chance error falls with the root."""

_RADII = 256
"""Stratified radii for the expected error: a quadrature with 256 nodes."""


def sampled_parts(
    kernel: Kernel,
    measure: SpectralMeasure,
    data: DesignData,
    m: int,
    rng: Generator,
    scheme: Scheme,
    data_rng: Generator,
) -> list[Frequencies]:
    """Return ``m`` frequencies of the parts of a kernel's measure, part by part.

    :class:`~bochner.spectral.schemes.Automatic` means :class:`~bochner.spectral.Structured` if the
    measure is one isotropic law in 256 inputs or more, the map is then faster, and the error on
    10,000 pairs of rows is at most 1.1 times that expected of orthogonal blocks.
    """
    law = measure.parts[0].law
    may_be_structured = isinstance(scheme, Automatic) and len(measure.parts) == 1
    if may_be_structured and isinstance(law, Isotropic) and _may_pay(data.left, m):
        parts = measure.sample_parts(m, rng, Structured())
        if _is_accurate(kernel, law, parts[0], data, data_rng.spawn(1)[0]):
            return parts
    halved = halves(kernel, measure, m)
    return measure.sample_parts(m, rng, scheme, to_be_one_sided=halved)


def _may_pay(X: Any, m: int) -> bool:
    """Return whether Hadamard blocks are faster, and there are rows to test them on."""
    n, dim = X.shape
    is_sparse: bool = sparse.issparse(X)
    return n > 1 and transforms_pay(X.nnz / n if is_sparse else dim, dim, m)


def _is_accurate(
    kernel: Kernel, law: Isotropic, frequencies: Frequencies, data: DesignData, rng: Generator
) -> bool:
    """Return whether the error on pairs of rows is about that expected of orthogonal blocks."""
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
    r"""Return :math:`\varphi_s` from :math:`a = s^2 / d`: Rayleigh's series of its logarithm."""
    return np.exp(-a / 2.0 - a**2 / (4.0 * (dim + 2)) - a**3 / (3.0 * (dim + 2) * (dim + 4)))


def _pairs(data: DesignData, rng: Generator) -> tuple[Array, Array]:
    """Return rows of the left and of the right argument, disjoint if these have the same rows."""
    if data.right is not None:
        return some_rows(data.left, _ROWS, rng), some_rows(data.right, _ROWS, rng)
    chosen = rng.permutation(data.left.shape[0])
    half = min(_ROWS, len(chosen) // 2)
    return dense_rows(data.left, chosen[:half]), dense_rows(data.left, chosen[half : 2 * half])


_LEAST = 1e-12
"""Probability at which the tail's density ends: a thousandth of the least noise, relative to the
signal, that models of tables learn. Rows determine no frequency that is rarer, and a smaller value
gives each decade fewer."""

_ROUNDING = 2.0**-53
"""Least probability: one minus a smaller one is one in float64, and its radius infinite."""


def sample_with_tails(measure: SpectralMeasure, n_frequencies: int, rng: Generator) -> Frequencies:
    r"""Return frequencies with positive weights, an unbiased estimate of the measure's kernel.

    Raises NoMeasureError for a measure that is not a single law of a direction and a radius, or of
    independent coordinates that are never zero. ``n_frequencies`` is even.
    """
    part = measure.parts[0]
    law = part.law
    if len(measure.parts) > 1 or not (
        (isinstance(law, Isotropic) and law.radial.n_uniforms == 1)
        or (isinstance(law, Independent) and law.radial.n_uniforms == 1 and law.inclusion == 1.0)
    ):
        raise NoMeasureError(
            "Frequencies with tails need the measure of a Gaussian, Matérn, exponential, Laplacian "
            f"or Cauchy kernel, got {measure!r}. Draw them with measure.sample."
        )
    block_rng, tail_rng = rng.spawn(2)
    block, *_ = Iid().sample(law.layout, n_frequencies, block_rng)
    is_signed = isinstance(law.layout[0], Coordinates)
    above, ratio = _upper_probabilities(n_frequencies, law.dim if is_signed else 1, tail_rng)
    if is_signed:
        sign = np.where(np.asarray(block) < 0.5, -1.0, 1.0)
        omega = law.assemble([0.5 * (1.0 + sign * (1.0 - above))])
    else:
        omega = law.assemble([block, 1.0 - above])
    return Frequencies(omega, part.mass * ratio / n_frequencies)


def sample_parts_with_tails(
    measure: SpectralMeasure, n_frequencies: int, rng: Generator, scheme: Scheme
) -> list[Frequencies]:
    """Return frequencies of each part, by :func:`sample_with_tails` where its law allows it.

    The parts of a positive measure have at least two frequencies, and about ``n_frequencies``
    together. Parts of no more atoms have all of them.
    """
    mass = np.array([part.mass for part in measure.parts])
    counts = 2 * np.maximum(np.rint(0.5 * n_frequencies * mass / mass.sum()), 1.0).astype(int)
    frequencies = []
    for part, count, stream in zip(measure.parts, counts, rng.spawn(len(mass)), strict=True):
        alone, n_atoms = SpectralMeasure((part,)), part.law.n_atoms
        try:
            frequencies.append(sample_with_tails(alone, int(count), stream))
        except NoMeasureError:
            if n_atoms is not None and n_atoms <= n_frequencies:
                count = n_atoms
            frequencies.append(alone.sample(int(count), stream, scheme))
    return frequencies


def _upper_probabilities(m: int, q: int, rng: Generator) -> tuple[Array, Array]:
    """Return probabilities (m, q) of greater magnitudes, and the ratios (m,) of densities."""
    half = m // 2
    above = np.concatenate([_strata(half, q, rng), _strata(m - half, q, rng)])
    # A random first coordinate gives all of them the same share, whatever the number of draws.
    column = (rng.permutation(m - half) + rng.integers(q)) % q
    above[half + np.arange(m - half), column] = _LEAST ** _strata(m - half, 1, rng)[:, 0]
    density = np.where(above >= _LEAST, 1.0 / (above * -np.log(_LEAST)), 0.0)
    return np.maximum(above, _ROUNDING), 1.0 / (0.5 + 0.5 * density.mean(axis=1))


def _strata(m: int, q: int, rng: Generator) -> Array:
    """Return uniforms (m, q), of which each column has one in every m-th part of (0, 1)."""
    order = rng.permuted(np.tile(np.arange(m), (q, 1)), axis=1).T
    strata: Array = (order + 1.0 - rng.uniform(size=(m, q))) / m
    return strata
