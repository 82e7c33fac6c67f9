"""Sums of waves whose amplitudes vary with the inputs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bochner._numerics.arrays import Array, frozen_array, row_blocks
from bochner.kernels.base import Kernel, checked_rows, nested_tuples


@dataclass(frozen=True, slots=True)
class ModulatedWaves(Kernel):
    r"""A finite sum of waves with amplitudes of their own, which are waves, too.

    .. math:: k(x, y) = \sum_q w_q\, a_q(x)\, a_q(y) \cos(s_q \cdot (x - y)), \quad
              a_q(x) = \sqrt 2 \cos(v_q \cdot x / 2 + \psi_q),

    with :math:`a_q = 1` where :math:`v_q = 0`. Positive definite, whatever the parameters are. Each
    term is :math:`w_q [\cos(v_q \cdot u + 2 \psi_q) + \cos(v_q \cdot \delta / 2)]
    \cos(s_q \cdot \delta)` with :math:`u = (x + y)/2` and :math:`\delta = x - y`: a locally
    stationary kernel and a stationary one. This is what :class:`bochner.GaBaSRRegressor` learns.

    Parameters
    ----------
    weights : sequence of Q floats
        Positive; they sum to the average of :math:`k(x, x)`.
    frequencies : array-like of shape (Q, d)
        ``s``, in radians per unit of the inputs.
    modulations : array-like of shape (Q, d)
        ``v``, in radians per unit of the inputs.
    phases : sequence of Q floats
        :math:`\psi`, in radians.

    Raises
    ------
    ValueError
        If shapes disagree, a number is not finite or a weight not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import ModulatedWaves
    >>> kernel = ModulatedWaves([1.0], [[3.0]], [[np.pi]], [0.0])
    >>> kernel.diag([[0.0], [0.5], [1.0]]).round(12)
    array([2., 1., 0.])
    """

    weights: tuple[float, ...]
    frequencies: tuple[tuple[float, ...], ...]
    modulations: tuple[tuple[float, ...], ...]
    phases: tuple[float, ...]

    def __post_init__(self) -> None:
        shape, weights = np.shape(self.frequencies), np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"weights must have shape (Q,) and frequencies (Q, d), "
                f"got {weights.shape} and {shape}."
            )
        shapes = {"weights": shape[:1], "frequencies": shape, "modulations": shape}
        for name, expected in {**shapes, "phases": shape[:1]}.items():
            array = frozen_array(name, getattr(self, name), expected)
            object.__setattr__(self, name, nested_tuples(array.tolist()))
        if not (weights > 0).all():
            raise ValueError("weights must be positive.")

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return len(self.frequencies[0])

    def amplitudes(self, X: Array) -> Array:
        """Return the amplitudes at rows (n, d), of shape (n, Q)."""
        v = np.asarray(self.modulations)
        values = np.sqrt(2.0) * np.cos(0.5 * X @ v.T + np.asarray(self.phases))
        return np.where(v.any(axis=1), values, 1.0)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self._features(X) @ self._features(Y).T

    def diag(self, X: ArrayLike) -> Array:
        checked = checked_rows(X)
        self.check_dim(checked.shape[1])
        diagonal = np.empty(len(checked))
        for rows in row_blocks(len(checked), 8 * len(self.weights)):
            diagonal[rows] = self.amplitudes(checked[rows]) ** 2 @ np.asarray(self.weights)
        return diagonal

    def check_dim(self, dim: int) -> None:
        if dim != self.dim:
            raise ValueError(
                f"These ModulatedWaves are defined on {self.dim} inputs (the columns of "
                f"frequencies), but the data have {dim}."
            )

    def __repr__(self) -> str:
        return f"ModulatedWaves({len(self.weights)} waves of {self.dim} inputs)"

    def _features(self, X: Array) -> Array:
        angle = X @ np.asarray(self.frequencies).T
        scaled = np.sqrt(np.asarray(self.weights)) * self.amplitudes(X)
        return np.concatenate([scaled * np.cos(angle), scaled * np.sin(angle)], axis=1)
