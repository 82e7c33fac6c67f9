"""Decides whether isotropic kernels of many inputs use Hadamard blocks."""

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array, as_array, dense_rows, some_rows
from bochner.kernels import Kernel
from bochner.spectral.decompositions import DesignData
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Isotropic
from bochner.spectral.measure import SpectralMeasure
from bochner.spectral.schemes import Orthogonal, Structured, transforms_pay

_MOST_ERROR = 1.1
"""Error of Hadamard blocks, relative to that of orthogonal ones, up to which they are used."""

_ROWS = 100
"""Number of rows of each argument for the comparison of errors: 10,000 pairs."""

_RADII = 256
"""Stratified radii for the expected error: a quadrature with 256 nodes."""


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
    if len(measure.parts) > 1 or not (isinstance(law, Isotropic) and _may_pay(data.left, m)):
        return None
    parts = measure.sample_parts(m, rng, Structured())
    is_accurate = _is_accurate(kernel, law, parts[0], data, data_rng.spawn(1)[0])
    return parts if is_accurate else None


def _may_pay(X: Any, m: int) -> bool:
    """Return whether Hadamard blocks are predicted to be faster and there are rows for a test."""
    n, dim = X.shape
    is_sparse: bool = sparse.issparse(X)
    return n > 1 and transforms_pay(X.nnz / n if is_sparse else dim, dim, m)


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
