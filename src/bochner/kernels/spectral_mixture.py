"""The spectral mixture kernel: a Gaussian mixture over frequencies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.mixtures import check_mixture
from bochner.kernels.base import LagKernel, nested_tuples


@dataclass(frozen=True, slots=True)
class SpectralMixture(LagKernel):
    r"""A mixture of Gaussians over frequencies.

    .. math:: k(\Delta) = \sum_q w_q \exp(-\Delta^\top \Sigma_q \Delta / 2) \cos(\mu_q \cdot \Delta)

    is the transform of :math:`\sum_q w_q N(\mu_q, \Sigma_q)`, symmetrised, in angular
    frequencies: a period :math:`T` is the mean :math:`2\pi/T`.

    Parameters
    ----------
    weights : sequence of Q floats
        Positive; they sum to :math:`k(0)`.
    means : array-like of shape (Q, d)
        Radians per unit of the inputs.
    covariances : array-like of shape (Q, d, d), (Q, d) or (Q,)
        Full, diagonal or scalar; positive semi-definite (zero makes a pure cosine).

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import SpectralMixture
    >>> yearly = SpectralMixture([1.0], [[2 * np.pi]], [0.0])
    >>> yearly([[0.0]], [[0.5], [1.0]]).round(6)
    array([[-1.,  1.]])

    References
    ----------
    Wilson and Adams, "Gaussian process kernels for pattern discovery and extrapolation", 2013.
    """

    weights: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    covariances: tuple[Any, ...]

    def __post_init__(self) -> None:
        names = ("weights", "means", "covariances")
        arrays = {name: as_array(getattr(self, name)) for name in names}
        check_mixture(**arrays)
        for name, array in arrays.items():
            object.__setattr__(self, name, nested_tuples(array.tolist()))

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return len(self.means[0])

    def factors(self) -> Array:
        r"""Return ``L`` of shape (Q, d, d) with :math:`\Sigma_q = L_q L_q^\top`."""
        covariances = as_array(self.covariances)
        if covariances.ndim < 3:
            scale = np.sqrt(covariances).reshape(len(covariances), -1, 1)
            return scale * np.eye(self.dim)
        # Of correlations: units of the inputs may differ by any power of ten.
        deviation = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
        unit = np.where(deviation > 0, deviation, 1.0)
        correlations = covariances / (unit[:, :, None] * unit[:, None, :])
        eigenvalues, vectors = np.linalg.eigh(correlations)
        root: Array = np.sqrt(np.maximum(eigenvalues, 0.0))
        return as_array(deviation[:, :, None] * vectors * root[:, None, :])

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.zeros((len(X), len(Y)))
        for weight, mean, factor in zip(self.weights, self.means, self.factors(), strict=True):
            term = cdist(X @ factor, Y @ factor, "sqeuclidean")
            term *= -0.5
            np.exp(term, out=term)
            angle = np.subtract.outer(X @ mean, Y @ mean)
            term *= np.cos(angle, out=angle)
            term *= weight
            K += term
        return K

    def check_dim(self, dim: int) -> None:
        if dim != self.dim:
            raise ValueError(
                f"This SpectralMixture is defined on {self.dim} inputs (the columns of means), "
                f"but the data have {dim}."
            )
