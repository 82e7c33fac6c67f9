"""Kernels given as any function of the lag."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner.kernels._base import Kernel
from bochner.kernels._calls import Function, check_callable, name_of, values_of

_SAMPLED_LAGS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Stationary(Kernel):
    r"""Any function of the lag, :math:`k(x, y) = f(x - y)`, symmetric or not.

    Parameters
    ----------
    function : callable
        From an array of lags of shape (..., d), in the units of the inputs, to an array of shape
        (...) of finite real numbers. Two kernels are equal if their functions are, which for
        functions means being the same object; a function at the top level of a module, unlike
        ``lambda``, makes a kernel that can be pickled.
    symmetric : bool, default=False
        ``True`` promises that :math:`f(-\Delta) = f(\Delta)`. The promise is checked on some of
        the lags whenever the kernel is evaluated.

    Raises
    ------
    TypeError
        If ``function`` cannot be called or ``symmetric`` is not a bool.
    ValueError
        When called, if the function is not vectorised, returns NaN, infinity or complex numbers,
        or breaks the promise.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, Theorem 1, for
    the spectral measure, which is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Stationary
    >>> def fading(delta):
    ...     return np.exp(-np.abs(delta + 0.5).sum(axis=-1))
    >>> k = Stationary(fading)
    >>> k([[0.0, 0.0]], [[0.5, 0.5]]), k([[0.5, 0.5]], [[0.0, 0.0]]).round(4)
    (array([[1.]]), array([[0.1353]]))
    """

    function: Function
    symmetric: bool = False

    def __post_init__(self) -> None:
        check_callable("Stationary", self.function)
        if not isinstance(self.symmetric, bool):
            raise TypeError(f"symmetric must be True or False, got {self.symmetric!r}.")

    def at_lags(self, delta: Array) -> Array:
        """Return a new array of the kernel's values at lags.

        Parameters
        ----------
        delta : ndarray of shape (..., d)
            In the units of the inputs; left as it is.

        Returns
        -------
        values : ndarray of shape (...)

        Raises
        ------
        ValueError
            As the class says.
        """
        flat = delta.reshape(-1, delta.shape[-1])
        values = values_of(self, self.function, flat, flat.shape[:1], "lag")
        if self.symmetric and len(flat):
            self._check_symmetry(flat, values)
        return values.reshape(delta.shape[:-1])

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.empty((len(X), len(Y)))
        # In blocks of rows and columns, since there are d times as many lags as values.
        for columns in row_blocks(len(Y), X.itemsize * X.shape[1]):
            for rows in row_blocks(len(X), Y[columns].nbytes):
                K[rows, columns] = self.at_lags(X[rows, None, :] - Y[None, columns, :])
        return K

    def diag(self, X: ArrayLike) -> Array:
        n_samples, dim = check_array(X, dtype=np.float64, input_name="X").shape
        return np.full(n_samples, self.at_lags(np.zeros(dim)))

    def check_dim(self, dim: int) -> None:
        """Accept any number of inputs; the function may refuse them when it is called."""

    @property
    def is_symmetric(self) -> bool:
        return self.symmetric

    def _check_symmetry(self, lags: Array, values: Array) -> None:
        """Raise ``ValueError`` if some of the lags show that the function is not even."""
        # At random: rows at equal steps may all be lags of zero, an input's with itself.
        some = np.random.default_rng(0).integers(len(lags), size=_SAMPLED_LAGS)
        opposite = values_of(self, self.function, -lags[some], some.shape, "lag")
        gap = np.abs(opposite - values[some])
        worst = int(np.argmax(gap))
        if gap[worst] > limits.FUNCTION_ROUNDING * np.abs(values[some]).max():
            raise ValueError(
                f"The function of {self!r} returned {values[some][worst]:.8g} at the lag "
                f"{lags[some][worst].tolist()} and {opposite[worst]:.8g} at its opposite, so the "
                f"kernel is not symmetric; leave symmetric=False."
            )

    def __repr__(self) -> str:
        promise = ", symmetric=True" if self.symmetric else ""
        return f"Stationary({name_of(self.function)}{promise})"
