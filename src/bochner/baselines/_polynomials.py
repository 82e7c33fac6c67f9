"""The one form of all polynomial kernels, and products of random projections."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import binom

from bochner._numerics.arrays import Array
from bochner.kernels import Polynomial, SphericalPolynomial


@dataclass(frozen=True, slots=True)
class PolynomialForm:
    r"""The kernel :math:`(\gamma \langle x, y \rangle + c)^p`.

    Parameters
    ----------
    gamma : float
        :math:`\gamma`, in the inverse squared units of the inputs.
    coef0 : float
        :math:`c`.
    degree : int
        :math:`p`.
    """

    gamma: float
    coef0: float
    degree: int

    @property
    def coefficients(self) -> Array:
        r"""Coefficients of :math:`\langle x, y \rangle^n`, of shape (degree + 1,)."""
        n = np.arange(self.degree + 1)
        coefficients: Array = (
            binom(self.degree, n) * self.gamma**n * self.coef0 ** (self.degree - n)
        )
        return coefficients


@singledispatch
def polynomial_form(kernel: Any) -> PolynomialForm:
    """Return the form of a polynomial kernel.

    Raises
    ------
    TypeError
        If ``kernel`` is none.
    """
    raise TypeError(
        f"This map needs a polynomial kernel, bochner.kernels.Polynomial or SphericalPolynomial, "
        f"got {kernel!r}. KreinNystroem takes every symmetric kernel."
    )


@polynomial_form.register
def _(kernel: Polynomial) -> PolynomialForm:
    return PolynomialForm(1.0, kernel.offset, kernel.degree)


@polynomial_form.register
def _(kernel: SphericalPolynomial) -> PolynomialForm:
    # On the unit sphere, where z^2 = 2 - 2 <x, y>.
    return PolynomialForm(2.0 / kernel.a**2, 1.0 - 2.0 / kernel.a**2, kernel.degree)


def positive_form(kernel: Any) -> PolynomialForm:
    """Return the form of a polynomial kernel whose constant is not negative.

    Raises
    ------
    TypeError
        If ``kernel`` is not polynomial.
    ValueError
        If its constant is negative.
    """
    form = polynomial_form(kernel)
    if form.coef0 < 0.0:
        raise ValueError(
            f"{kernel!r} has the negative constant {form.coef0:g}, which makes it indefinite, and "
            f"features of this map are positive alone. Use RandomMaclaurin or KreinNystroem."
        )
    return form


def random_signs(rng: np.random.Generator, count: int, dim: int) -> Array:
    """Return independent vectors of fair signs, of shape (count, dim)."""
    return rng.choice(np.array([-1.0, 1.0]), size=(count, dim))


def product_features(
    X: NDArray[Any], projections: Sequence[Array], amplitude: Array
) -> NDArray[Any]:
    """Return products of projections of rows, in the precision of ``X``.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    projections : sequence of ndarrays of shape (count, d)
        Each multiplies the last ``count`` features, at least one.
    amplitude : ndarray of shape (p,)

    Returns
    -------
    Z : ndarray of shape (n, p)
    """
    Z = np.tile(amplitude.astype(X.dtype), (len(X), 1))
    for projection in projections:
        Z[:, -len(projection) :] *= X @ projection.T.astype(X.dtype)
    return Z
