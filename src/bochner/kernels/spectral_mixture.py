"""Spectral mixtures of Gaussians."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array, as_array
from bochner._base.limits import EIGENVALUE_ROUNDING
from bochner.kernels.kernel_parameters import POSITIVE, Interval, check_count, nested_tuples
from bochner.kernels.stationary import LagKernel


@dataclass(frozen=True, slots=True, repr=False)
class SpectralMixture(LagKernel):
    r"""A kernel whose spectral density is a mixture of Gaussians.

    .. math:: k(\Delta) = \sum_q w_q \exp(-\Delta^\top \Sigma_q \Delta / 2) \cos(\mu_q \cdot \Delta)

    is the transform of :math:`\sum_q w_q N(\mu_q, \Sigma_q)`, symmetrised, in angular
    frequencies: a period :math:`T` is the mean :math:`2\pi/T`.

    Parameters
    ----------
    weights : sequence of Q floats
        Positive; they sum to :math:`k(0)`.
    means : array-like of shape (Q, d)
        Radians per unit of the inputs. :class:`KernelAdapter`, for processes of scikit-learn,
        keeps them as given if one of them is not positive.
    covariances : array-like of shape (Q, d, d), (Q, d) or (Q,)
        Full, diagonal or scalar; positive semi-definite (zero makes a pure cosine). Learned are
        factors of the deviations along the inputs. :class:`KernelAdapter` keeps full ones, and all
        of them if one is zero, as given.

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

    parameter_domains = MappingProxyType(
        dict.fromkeys(("weights", "means", "covariances"), POSITIVE)
    )

    def domain_of(self, name: str) -> Interval | None:
        is_full = name == "covariances" and np.ndim(self.covariances) > np.ndim(self.means)
        return None if is_full else LagKernel.domain_of(self, name)

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
        # Correlations are factored, because input scales may differ by many orders of magnitude.
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
        check_count(self, "the columns of means", dim)


def check_mixture(weights: Array, means: Array, covariances: Array) -> None:
    """Raise ``ValueError`` unless weights (Q,), means (Q, d) and covariances are valid."""
    if weights.ndim != 1 or means.ndim != 2 or len(weights) != len(means) or not means.size:
        raise ValueError(
            f"weights must have shape (Q,) and means (Q, d), got {weights.shape} and {means.shape}."
        )
    for name, array in (("weights", weights), ("means", means), ("covariances", covariances)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array.tolist()}.")
    if (weights <= 0).any():
        raise ValueError(f"weights must be positive, got {weights.tolist()}.")
    q, d = means.shape
    if covariances.shape not in {(q,), (q, d), (q, d, d)}:
        raise ValueError(
            f"covariances must have shape (Q, d, d), (Q, d) or (Q,) with Q = {q} components and "
            f"d = {d} inputs as in means, got {covariances.shape}."
        )
    is_full = covariances.ndim == 3
    if is_full and not np.allclose(
        covariances, covariances.swapaxes(1, 2), rtol=EIGENVALUE_ROUNDING, atol=0
    ):
        raise ValueError("Full covariances must be symmetric matrices.")
    least = np.linalg.eigvalsh(covariances) if is_full else covariances
    if (least < -EIGENVALUE_ROUNDING * np.abs(covariances).max(initial=0.0)).any():
        raise ValueError("covariances must be positive semi-definite.")
