"""The value object of sampled frequencies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from bochner._numerics.arrays import Array
from bochner.frequencies.maps import trigonometric_features

_FLOATS = (np.float64, np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    r"""The finite sum that approximates a kernel, and its features.

    .. math:: \hat k(x, y) = \sum_j a_j \cos(\omega_j \cdot x - \nu_j \cdot y + \theta_j)

    with :math:`r_j = \sqrt{|a_j|}` splits into

    .. math::
        \mathrm{left}(x) &= [r_j \cos(\omega_j \cdot x + \theta_j)]_j \,\|\,
                            [r_j \sin(\omega_j \cdot x + \theta_j)]_j \\
        \mathrm{right}(y) &= [r_j \cos(\nu_j \cdot y)]_j \,\|\, [r_j \sin(\nu_j \cdot y)]_j \\
        \hat k(x, y) &= \sum_f \mathrm{signature}_f\, \mathrm{left}_f(x)\, \mathrm{right}_f(y).

    Parameters
    ----------
    omega : array-like of shape (m, d)
        Frequencies, in radians per unit of the inputs.
    weight : array-like of shape (m,)
        :math:`a`, of either sign; the weights sum to :math:`\hat k(0)` when ``phase`` is zero.
    phase : array-like of shape (m,), default=None
        :math:`\theta`; ``None`` means zero. Nonzero phases make the kernel asymmetric.
    nu : array-like of shape (m, d), default=None
        Frequencies of the right argument; ``None`` means ``omega`` (a stationary kernel).

    Raises
    ------
    ValueError
        If shapes disagree or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.frequencies import Frequencies
    >>> f = Frequencies(omega=[[0.0], [np.pi]], weight=[0.5, 0.5])
    >>> f.gram([[0.0]], [[0.0], [1.0]]).round(12)
    array([[1., 0.]])
    """

    omega: Array
    weight: Array
    phase: Array
    nu: Array

    def __init__(
        self,
        omega: ArrayLike,
        weight: ArrayLike,
        phase: ArrayLike | None = None,
        nu: ArrayLike | None = None,
    ) -> None:
        omega = _frozen("omega", omega, None)
        if omega.ndim != 2 or not omega.size:
            raise ValueError(f"omega must have shape (m, d), both positive, got {omega.shape}.")
        m = len(omega)
        object.__setattr__(self, "omega", omega)
        object.__setattr__(self, "weight", _frozen("weight", weight, (m,)))
        phase = np.zeros(m) if phase is None else phase
        object.__setattr__(self, "phase", _frozen("phase", phase, (m,)))
        nu = omega if nu is None else _frozen("nu", nu, omega.shape)
        object.__setattr__(self, "nu", nu)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        nu = None if self.nu is self.omega else self.nu
        return Frequencies, (self.omega, self.weight, self.phase, nu)

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, ``m``."""
        return len(self.omega)

    @property
    def dim(self) -> int:
        """Number of inputs, ``d``."""
        return int(self.omega.shape[1])

    @property
    def signature(self) -> Array:
        """Signs of the ``2m`` features, of shape (2m,)."""
        return np.tile(np.where(self.weight < 0, -1.0, 1.0), 2)

    @property
    def is_symmetric(self) -> bool:
        """Whether left and right features are the same."""
        return not self.phase.any() and np.array_equal(self.nu, self.omega)

    def features(self, X: Any) -> NDArray[Any]:
        """Return the left features, of shape (n, 2m), in float32 if ``X`` is and else float64.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return self._map(X, self.omega, self.phase)

    def features_right(self, Y: Any) -> NDArray[Any]:
        """Return the right features, of shape (n, 2m).

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, d)
        """
        return self._map(Y, self.nu, np.zeros_like(self.phase))

    def gram(self, X: Any, Y: Any = None) -> NDArray[Any]:
        r"""Return the approximate Gram matrix :math:`\hat k(x_i, y_j)`, of shape (n, n2).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        Y : array-like or sparse matrix of shape (n2, d), default=None
            ``None`` means ``X``.
        """
        left = self.features(X)
        right = (
            left if Y is None and self.is_symmetric else self.features_right(X if Y is None else Y)
        )
        gram: NDArray[Any] = (left * self.signature.astype(left.dtype)) @ right.T
        return gram

    def __add__(self, other: "Frequencies") -> "Frequencies":
        """Return the frequencies of the sum of the two kernels."""
        if not isinstance(other, Frequencies):
            return NotImplemented
        pairs = (
            (getattr(self, name), getattr(other, name))
            for name in ("omega", "weight", "phase", "nu")
        )
        return Frequencies(*(np.concatenate(pair) for pair in pairs))

    def _map(self, X: Any, omega: Array, phase: Array) -> NDArray[Any]:
        X = check_array(X, accept_sparse="csr", dtype=_FLOATS, input_name="X")
        if X.shape[1] != self.dim:
            raise ValueError(f"X has {X.shape[1]} columns, the frequencies have {self.dim} inputs.")
        return trigonometric_features(X, omega, phase, np.sqrt(np.abs(self.weight)), X.dtype)


def _frozen(name: str, value: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    array = np.array(value, dtype=np.float64)
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, as omega says, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    array.flags.writeable = False
    return array
