"""Kernels whose variance or spectrum changes over the inputs."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist

from bochner._base.arrays import (
    Array,
    LengthScale,
    RandomState,
    as_array,
    as_positive_scalar,
    as_scalar_or_tuple,
    check_dim,
    frozen_array,
)
from bochner._base.limits import LARGEST_ENTRY
from bochner.kernels.base import Kernel, Product, Scaled, Sum
from bochner.kernels.kernel_parameters import (
    check_count,
    checked_rows,
    convert_fields,
    nested_tuples,
)
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import Anova, Correlation

_NARROW = 0.25
"""Initial frequencies times the width of their window, in radians: waves are smooth in it."""

_DIGITS = 12  # Decimals to which standardised columns are rounded before distinct rows are counted


@dataclass(frozen=True, slots=True, repr=False)
class Harmonizable(Kernel):
    r"""A mixture of Gaussian windows, each multiplied by waves with correlated weights.

    .. math:: k(x, y) = \sum_q g_q(x)\, g_q(y)\, e^{-\frac12 \|S_q (x - y)\|^2}\,
              \Re \sum_{r, r'} B_{q r r'}\, e^{i \mu_{qr} \cdot (x - c_q)
              - i \mu_{qr'} \cdot (y - c_q)}, \qquad
              g_q(x) = e^{-\frac14 \|T_q (x - c_q)\|^2}

    with :math:`B_q = L_q L_q^*`, diagonal :math:`S_q` and :math:`T_q`: positive definite for all
    parameters. It is the transform :math:`\iint e^{i (\omega \cdot x - \nu \cdot y)}
    \mu(d\omega, d\nu)` of a mixture of Gaussians over *pairs* of frequencies, with means
    :math:`(\mu_{qr}, \mu_{qr'})`, of which both members have the variance :math:`S^2 + T^2 / 2` and
    their covariance is :math:`S^2`. A stationary kernel is the limit :math:`T = 0` with a diagonal
    :math:`B`, where :math:`\omega = \nu`; with :math:`S = T = 0` the frequencies are a finite grid.

    Parameters
    ----------
    factors : array-like of shape (Q, R, P), (Q, P) or (Q,)
        Absolute values of the complex numbers in ``L``: a component has ``R`` columns, with a
        number for each of its ``P`` frequencies. Missing axes have length one.
    frequencies : array-like of shape (Q, P, d) or (Q, d)
        :math:`\mu`, in radians per unit of the inputs.
    centres : array-like of shape (Q, d), default=0.0
        ``c``, in the units of the inputs.
    inverse_widths : array-like of shape (Q, d), default=0.0
        ``T``: inverse standard deviations of the variance :math:`k(x, x)` along the inputs. Zero
        means no window.
    spreads : array-like of shape (Q, d), default=0.0
        ``S``: standard deviations of frequencies, the inverse of length scales. Zero means lines.
    phases : array-like of the shape of ``factors``, default=0.0
        Arguments (angles) of the complex numbers in ``L``, in radians.

    ``length_scale="evidence"`` learns all parameters. :class:`KernelAdapter`, for processes of
    scikit-learn, keeps them as given.

    References
    ----------
    Yaglom, "Correlation theory of stationary and related random functions", 1987. Remes, Heinonen
    and Kaski, "Non-stationary spectral kernels", 2017. Shen, Heinonen and Kaski, "Harmonizable
    mixture kernels with variational Fourier features", 2019.

    Examples
    --------
    A slow function whose waves are fast near 1:

    >>> from bochner.kernels import Harmonizable
    >>> centres, inverse_widths, spreads = [[0.0], [1.0]], [[0.0], [5.0]], [[1.0], [4.0]]
    >>> k = Harmonizable([1.0, 1.0], [[0.0], [20.0]], centres, inverse_widths, spreads)
    >>> k.diag([[0.0], [1.0]]).round(4)
    array([1., 2.])
    """

    factors: Any
    frequencies: Any
    centres: Any = 0.0
    inverse_widths: Any = 0.0
    spreads: Any = 0.0
    phases: Any = 0.0

    def __post_init__(self) -> None:
        frequencies = frozen_array("frequencies", self.frequencies, None)
        if frequencies.ndim == 2:
            frequencies = frequencies[:, None]
        factors = frozen_array("factors", self.factors, None)
        if factors.ndim in (1, 2) and factors.size:
            factors = factors.reshape(len(factors), 1, -1)
        if frequencies.ndim != 3 or not frequencies.size or factors.ndim != 3 or not factors.size:
            raise ValueError(
                f"factors must have shape (Q, R, P) and frequencies (Q, P, d), got "
                f"{factors.shape} and {frequencies.shape}."
            )
        n, count, dim = frequencies.shape
        if factors.shape != (n, factors.shape[1], count):
            raise ValueError(
                f"factors must have shape (Q, R, P), with Q = {n} components and P = {count} "
                f"frequencies each as in frequencies, got {factors.shape}."
            )
        made = {"factors": factors, "frequencies": frequencies}
        shapes = dict.fromkeys(("centres", "inverse_widths", "spreads"), (n, dim))
        for name, shape in (shapes | {"phases": factors.shape}).items():
            value = frozen_array(name, getattr(self, name), None)
            if value.ndim and value.size != np.prod(shape):
                raise ValueError(f"{name} must have shape {shape}, got {value.shape}.")
            made[name] = np.broadcast_to(value if not value.ndim else value.reshape(shape), shape)
        for name in ("inverse_widths", "spreads"):
            if made[name].min() < 0.0:
                raise ValueError(f"{name} must not be negative.")
        for name, array in made.items():
            object.__setattr__(self, name, nested_tuples(array.tolist()))

    @classmethod
    def covering(
        cls, X: ArrayLike, n_windows: int = 4, *, variance: float = 1.0, random_state: int = 0
    ) -> Self:
        """Return an initial kernel for learning, with windows that cover rows ``X`` (n, d).

        Centres come from k-means; widths are the standard deviations of the rows about their
        centres. Learn the parameters with ``KreinRidge(kernel, alpha="evidence",
        length_scale="evidence")``. Raises ``TypeError`` or ``ValueError`` if ``n_windows`` is not
        an integer up to the number of distinct rows, or ``variance`` is not a positive number.
        """
        rows, total = checked_rows(X), as_positive_scalar("variance", variance)
        mean, unit = np.mean(rows, axis=0), np.std(rows, axis=0)
        varies = (np.ptp(rows, axis=0) > 0.0) & (unit >= 1.0 / LARGEST_ENTRY)
        unit = np.where(varies, unit, 1.0)
        scaled = np.where(varies, (rows - mean) / unit, 0.0)
        _check_windows(n_windows, scaled)
        centres, width = mean[None], unit[None]
        if n_windows:
            means, label = _clusters(scaled, int(n_windows), random_state)
            away = np.sum((scaled - means[label]) ** 2) / (len(rows) * max(int(varies.sum()), 1))
            centres = np.concatenate([mean + means[np.lexsort(means.T)] * unit, centres])
            # Twice the standard deviation of a uniform distribution, so that neighbours overlap.
            local = np.full((n_windows, len(unit)), 2.0 * max(float(np.sqrt(away)), 1e-3))
            width = np.concatenate([local * unit, width])
        n = len(centres)
        inverse = 1.0 / width
        inverse[-1] = 0.0
        # Slightly nonzero, because the gradient by a frequency vanishes at zero.
        return cls(
            np.full(n, np.sqrt(total / min(n, 2))), _NARROW / width, centres, inverse, 2.0 / width
        )

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return len(self.frequencies[0][0])

    @property
    def weights(self) -> Any:
        """The complex weights ``B`` of pairs of frequencies, of shape (Q, P, P)."""
        L = as_array(self.factors) * np.exp(1j * as_array(self.phases))
        return np.einsum("qlr,qls->qrs", L, L.conj())

    def windowed(self, X: Array, component: int) -> tuple[Array, Array]:
        """Return a component's window (n,) and amplitudes (n, 2R) at rows, real parts first."""
        away = X - as_array(self.centres[component])
        lag = away * as_array(self.inverse_widths[component])
        window = np.exp(-0.25 * np.sum(lag**2, axis=1))
        wave = np.exp(1j * (away @ as_array(self.frequencies[component]).T))
        turned = as_array(self.factors[component]) * np.exp(1j * as_array(self.phases[component]))
        amplitude = wave @ turned.T
        return as_array(window), as_array(np.concatenate([amplitude.real, amplitude.imag], axis=1))

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.zeros((len(X), len(Y)))
        for component, spread in enumerate(as_array(self.spreads)):
            left, right = (w[:, None] * a for w, a in (self.windowed(Z, component) for Z in (X, Y)))
            term = left @ right.T
            if spread.any():
                term *= np.exp(-0.5 * cdist(X * spread, Y * spread, "sqeuclidean"))
            K += term
        return K

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        diagonal = np.zeros(len(rows))
        for component in range(len(self.factors)):
            window, amplitude = self.windowed(rows, component)
            diagonal += window**2 * np.sum(amplitude**2, axis=1)
        return diagonal

    def check_dim(self, dim: int) -> None:
        check_count(self, "the last axis of frequencies", dim)


def _check_windows(n_windows: object, scaled: Array) -> None:
    """Raise TypeError or ValueError unless there are as many distinct rows as windows."""
    if isinstance(n_windows, bool) or not isinstance(n_windows, Integral):
        raise TypeError(f"n_windows must be an integer, got {n_windows!r:.60}.")
    count = len(np.unique(scaled.round(_DIGITS), axis=0))
    if not 0 <= int(n_windows) <= count:
        raise ValueError(
            f"n_windows must be from 0 to {count}, the number of distinct rows, got {n_windows}."
        )


def _clusters(
    scaled: Array, count: int, random_state: RandomState
) -> tuple[Array, NDArray[np.integer]]:
    """Return centres (count, d) of k-means clusters of rows, and the index (n,) of each row's."""
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"random_state must be a seed of zero or more, got {random_state!r:.60}."
        ) from error
    with warnings.catch_warnings():
        # An empty cluster keeps its centre, which is still a valid initial value.
        warnings.filterwarnings("ignore", "One of the clusters is empty")
        centres, label = kmeans2(scaled, count, minit="++", rng=rng)
    return as_array(centres), label


@dataclass(frozen=True, slots=True, repr=False)
class LocallyStationary(Kernel):
    r"""A stationary kernel with an amplitude that depends on the midpoint of the arguments.

    .. math:: k(x, y) = \kappa_1\big(\tfrac{x + y}{2} - c\big)\, \kappa_s(x - y)

    Near the centre :math:`c` it is nearly :math:`\kappa_s`, and the variance
    :math:`k(x, x) = \kappa_1(x - c)\, \kappa_s(0)` changes from place to place. It is symmetric,
    and positive definite only for some pairs of factors: with two Gaussians, exactly if no length
    scale of the stationary factor exceeds twice that of the envelope. :func:`bochner.diagnose`
    shows the eigenvalues on given rows.

    Parameters
    ----------
    envelope : Kernel
        :math:`\kappa_1(u)` is its value at the lag ``u``. Gaussian, Laplacian, Exponential, Matern,
        Cauchy, RationalQuadratic, SpectralMixture, Anova, and sums, products and positive
        multiples of them.
    stationary : Kernel
        :math:`\kappa_s`, one of the same kernels.
    centre : float or sequence of d floats, default=0.0
        :math:`c`, in the units of the inputs; a number is the same for every input. Models on
        features keep it, and the parameters of both kernels, as given.

    References
    ----------
    Silverman, "Locally stationary random processes", 1957. Genton, "Classes of kernels for machine
    learning: a statistics perspective", 2001.

    Examples
    --------
    >>> from bochner.kernels import Gaussian, LocallyStationary
    >>> k = LocallyStationary(Gaussian(2.0), Gaussian(1.0))
    >>> k([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1194],
           [0.1194, 0.6065]])
    """

    envelope: Kernel
    stationary: Kernel
    centre: LengthScale = 0.0

    def __post_init__(self) -> None:
        convert_fields(self, envelope=_as_factor, stationary=_as_factor, centre=as_scalar_or_tuple)

    def evaluate(self, X: Array, Y: Array) -> Array:
        centre = as_array(self.centre)
        # The lag between these two arrays is the midpoint relative to the centre.
        K = self.envelope.evaluate(0.5 * (X - centre), 0.5 * (centre - Y))
        K *= self.stationary.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        origin = np.zeros((1, rows.shape[1]))
        amplitude = self.envelope.evaluate(rows - as_array(self.centre), origin)
        return as_array(amplitude[:, 0] * self.stationary.diag(rows))

    def check_dim(self, dim: int) -> None:
        self.envelope.check_dim(dim)
        self.stationary.check_dim(dim)
        check_dim("centre", self.centre, dim)


def _as_factor(name: str, kernel: object) -> Kernel:
    """Check that a factor is a stationary positive definite kernel in closed form; return it."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{name} must be a kernel, such as Gaussian(1.0), got {kernel!r}.")
    if not _is_of_the_lag(kernel):
        raise ValueError(
            f"{name} must be a symmetric, positive definite function of the lag in closed form: "
            f"Gaussian, Laplacian, Exponential, Matern, Cauchy, RationalQuadratic, "
            f"SpectralMixture, Anova, or sums, products and positive multiples of them; got "
            f"{kernel!r}."
        )
    return kernel


def _is_of_the_lag(kernel: Kernel) -> bool:
    if isinstance(kernel, Sum | Product):
        return all(map(_is_of_the_lag, kernel.members))
    if isinstance(kernel, Scaled):
        return kernel.factor > 0.0 and _is_of_the_lag(kernel.kernel)
    return isinstance(kernel, Correlation | SpectralMixture | Anova)
