"""Factors by which features grow with the norm of their input."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._numerics.arrays import Array, frozen_array, squared_norms

_SILENCE = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    r"""One factor for each frequency, for inputs in a ball.

    .. math:: g_j(x) = \exp(-\gamma_j (R_j^2 - \|x\|^2)) \quad \text{for } \|x\| \leq R_j.

    A Gaussian of the lag times two envelopes is an exponential of the inner product,
    :math:`e^{-\gamma \|x - y\|^2} g(x) g(y) = e^{-2 \gamma (R^2 - \langle x, y \rangle)}`, so
    inner products need no normalised inputs. Outside the ball, where nothing is known of the
    kernel, the factor is :math:`\exp(-8 (\|x\|^2 / R^2 - 1))` and soon vanishes.

    Parameters
    ----------
    rate : array-like of shape (m,)
        :math:`\gamma \geq 0`, in inverse squared units of the inputs.
    radius : array-like of shape (m,)
        :math:`R \geq 0`, in the units of the inputs; zero means no factor anywhere.

    Raises
    ------
    ValueError
        If shapes disagree, or an entry is negative or not finite.

    Examples
    --------
    >>> from bochner.frequencies import Envelope
    >>> Envelope(rate=[0.0, 0.5], radius=[1.0, 1.0]).factors([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [1.    , 1.    ]])
    """

    rate: Array
    radius: Array

    def __init__(self, rate: ArrayLike, radius: ArrayLike) -> None:
        rate = frozen_array("rate", rate, None)
        if rate.ndim != 1:
            raise ValueError(f"rate must have shape (m,), got {rate.shape}.")
        radius = frozen_array("radius", radius, rate.shape)
        if min(rate.min(initial=0.0), radius.min(initial=0.0)) < 0.0:
            raise ValueError("rate and radius must not be negative.")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "radius", radius)

    def __reduce__(self) -> tuple[Any, ...]:
        return Envelope, (self.rate, self.radius)

    def factors(self, X: Any) -> Array:
        """Return the factors of shape (n, m) for rows ``X`` (n, d), dense or sparse."""
        kinds, index = np.unique(np.stack([self.rate, self.radius]), axis=1, return_inverse=True)
        rate, square = kinds[0], kinds[1] ** 2
        depth = square - squared_norms(X)[:, None]
        decay = _SILENCE / np.where(square > 0.0, square, np.inf)
        exponent = np.where(depth >= 0.0, -rate * depth, decay * depth)
        factors: NDArray[np.float64] = np.exp(exponent)[:, index.ravel()]
        return factors
