"""Factors of features: cosines of the inputs, and envelopes that grow with their norm."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, InputRows, as_array, frozen_array, squared_norms
from bochner._base.registry import register

_SILENCE = 8.0
"""Rate at which factors vanish outside the ball, per R^2 of squared norm: at twice the radius they
are exp(-24). Less leaves values where the measure does not follow the kernel, more a steep edge."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    r"""One factor for each frequency, for inputs in a ball.

    .. math:: g_j(x) = \exp(-\gamma_j (R_j^2 - \|x\|^2)) \quad \text{for } \|x\| \leq R_j.

    A Gaussian of the lag times two envelopes is an exponential of the inner product,
    :math:`e^{-\gamma \|x - y\|^2} g(x) g(y) = e^{-2 \gamma (R^2 - \langle x, y \rangle)}`, so
    inner products need no normalised inputs. Outside the ball, where the measure does not follow
    the kernel, the factor is :math:`\exp(-8 (\|x\|^2 / R^2 - 1))` and soon vanishes.

    Parameters
    ----------
    rate : array-like of shape (m,)
        :math:`\gamma \geq 0`, in inverse squared units of the inputs.
    radius : array-like of shape (m,)
        :math:`R \geq 0`, in the units of the inputs; zero means no factor anywhere.
    left, right : array-like of shapes (d, q) and (d2, q), default=None
        Maps of the kernel's left and right argument, whose norms are those of ``x @ left`` and
        ``y @ right``; ``None`` means the identity.
    others : tuple of Envelope, default=()
        Factors of further frequencies, after these ``m``, with other maps of the inputs.

    Raises
    ------
    ValueError
        If shapes disagree, or an entry is negative or not finite.

    Examples
    --------
    >>> from bochner.spectral import Envelope
    >>> Envelope(rate=[0.0, 0.5], radius=[1.0, 1.0]).factors([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [1.    , 1.    ]])
    """

    rate: Array
    radius: Array
    left: Array | None = None
    right: Array | None = None
    others: "tuple[Envelope, ...]" = ()

    def __post_init__(self) -> None:
        rate = frozen_array("rate", self.rate, None)
        if rate.ndim != 1:
            raise ValueError(f"rate must have shape (m,), got {rate.shape}.")
        radius = frozen_array("radius", self.radius, rate.shape)
        if min(rate.min(initial=0.0), radius.min(initial=0.0)) < 0.0:
            raise ValueError("rate and radius must not be negative.")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "radius", radius)
        for name in ("left", "right"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen_array(name, getattr(self, name), None))

    def __reduce__(self) -> tuple[object, ...]:
        return Envelope, (self.rate, self.radius, self.left, self.right, self.others)

    @classmethod
    def none(cls, m: int, dim: int = 0) -> "Envelope":
        """Return the envelope of ``m`` factors that are one everywhere."""
        return cls(np.zeros(m), np.zeros(m))

    @property
    def n_factors(self) -> int:
        """Number of factors, including factors of nested members."""
        return len(self.rate) + sum(other.n_factors for other in self.others)

    @property
    def decay(self) -> Array:
        """Rates (m,) at which factors vanish outside the ball, per squared norm; zero without."""
        return _decay(self.radius**2)

    @property
    def is_symmetric(self) -> bool:
        """Whether both arguments have the same factors."""
        return _same(self.left, self.right) and all(other.is_symmetric for other in self.others)

    def transposed(self) -> "Envelope":
        """Return the envelope with the arguments exchanged."""
        transposed_others = tuple(other.transposed() for other in self.others)
        return Envelope(self.rate, self.radius, self.right, self.left, transposed_others)

    def joined(self, other: "Envelope") -> "Envelope":
        """Return the factors of both, one after the other."""
        first, *groups = reduce(_with_group, [*other.groups], [*self.groups])
        return replace(first, others=tuple(groups))

    @property
    def groups(self) -> "tuple[Envelope, ...]":
        """The factors of each pair of maps by themselves."""
        return (replace(self, others=()), *self.others)

    def factors(self, X: InputRows) -> Any:
        """Return the factors (n, n_factors) for rows ``X`` (n, d) of the left argument."""
        if self.others:
            return np.hstack([group.factors(X) for group in self.groups])
        rate, depth, index = self._slopes(X)
        return np.exp(-rate * depth)[:, index]

    def gradient_factors(self, X: InputRows) -> Iterator[tuple[slice, Any, Any]]:
        r"""Yield the terms of gradients of the factors at rows ``X`` (n, d).

        Each item belongs to the frequencies of one pair of maps: their positions, slopes (n, m) and
        directions (n, d), with
        :math:`\nabla \log g_j(x_i) = \mathrm{slope}_{ij}\, \mathrm{direction}_i`.
        """
        end = 0
        for group in self.groups:
            rate, _, index = group._slopes(X)
            direction = X if group.left is None else X @ group.left @ group.left.T
            positions = slice(end, end + len(index))
            yield positions, 2.0 * rate[:, index], direction
            end = positions.stop

    def _slopes(self, X: InputRows) -> tuple[Any, Any, NDArray[np.intp]]:
        """Return rates by squared norm, and depths in the ball, (n, q), of distinct factors.

        The last array (m,) has the index of the distinct factor of each frequency; nested members
        are excluded. A factor is the exponential of minus the product of its rate and its depth.
        """
        X = X if self.left is None else X @ self.left
        kinds, index = np.unique(np.stack([self.rate, self.radius]), axis=1, return_inverse=True)
        rate, square = kinds[0], kinds[1] ** 2
        decay = _decay(square)
        depth = square - squared_norms(X)[:, None]
        return np.where(depth >= 0.0, rate, -decay), depth, index.ravel()


def _with_group(groups: list[Envelope], new: Envelope) -> list[Envelope]:
    """Append a group to groups, or merge it with the last group if their maps can be the same."""
    *before, last = groups
    mapped = [e for e in (last, new) if e.radius.any()] or [last]
    left, right = mapped[0].left, mapped[0].right
    if not all(_same(e.left, left) and _same(e.right, right) for e in mapped):
        return [*groups, new]
    rate, radius = np.r_[last.rate, new.rate], np.r_[last.radius, new.radius]
    return [*before, Envelope(rate, radius, left, right)]


def _decay(square: Array) -> Array:
    return as_array(_SILENCE / np.where(square > 0.0, square, np.inf))


def _same(first: Array | None, second: Array | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


@register
@dataclass(frozen=True, slots=True, eq=False)
class CosineFactors:
    r"""Cosines of the inputs, one for each frequency, as factors of both its features.

    .. math:: g_j(x) = \cos(v_j \cdot x / 2 + \psi_j)

    The difference of two products of such factors is a wave of the midpoint of the arguments,
    :math:`\cos(v \cdot x/2 + \psi) \cos(v \cdot y/2 + \psi)
    - \sin(v \cdot x/2 + \psi) \sin(v \cdot y/2 + \psi)
    = \cos(v \cdot (x + y)/2 + 2 \psi)`.

    Parameters
    ----------
    v : array-like of shape (m, d)
        Radians per unit of the inputs; zero, with a phase of zero, means no factor.
    phase : array-like of shape (m,)
        :math:`\psi`, in radians.

    Raises
    ------
    ValueError
        If shapes disagree, or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral import CosineFactors
    >>> waves = CosineFactors(v=[[2.0], [2.0]], phase=[0.0, -np.pi / 2])
    >>> waves.factors([[0.0], [np.pi / 2]]).round(12)
    array([[1., 0.],
           [0., 1.]])
    """

    v: Array
    phase: Array

    def __post_init__(self) -> None:
        v = frozen_array("v", self.v, None)
        if v.ndim != 2 or 0 in v.shape:
            raise ValueError(f"v must have shape (m, d), both positive, got {v.shape}.")
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "phase", frozen_array("phase", self.phase, v.shape[:1]))

    def __reduce__(self) -> tuple[object, ...]:
        return CosineFactors, (self.v, self.phase)

    @classmethod
    def none(cls, m: int, dim: int) -> "CosineFactors":
        """Return ``m`` factors that are one everywhere."""
        return cls(np.zeros((m, dim)), np.zeros(m))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of frequencies and of inputs, (m, d)."""
        return self.v.shape[0], self.v.shape[1]

    def joined(self, other: Any) -> Any:
        """Return the factors of both, one after the other."""
        if not isinstance(other, CosineFactors):
            return type(other).of(self).joined(other)
        return CosineFactors(np.r_[self.v, other.v], np.r_[self.phase, other.phase])

    @property
    def waves(self) -> Array:
        """Frequencies (m, d) of the cosines."""
        return self.v

    def rearranged(self, order: NDArray[np.intp]) -> "CosineFactors":
        """Return the factors of the frequencies in another order."""
        return CosineFactors(self.v[order], self.phase[order])

    def mapped(self, left: Array) -> "CosineFactors":
        """Return the factors of ``x left``, with ``left`` of shape (d, q)."""
        return CosineFactors(self.v @ left.T, self.phase)

    @property
    def derivative(self) -> "CosineFactors":
        r"""The factors' derivatives by their angles, :math:`-\sin(v_j \cdot x / 2 + \psi_j)`."""
        return CosineFactors(self.v, self.phase + np.pi / 2.0)

    def factors(self, X: InputRows) -> Any:
        """Return the factors of shape (n, m) for rows ``X`` (n, d), dense or CSR."""
        return np.cos(X @ (0.5 * np.ascontiguousarray(self.v.T)) + self.phase)

    def along(self, X: Array, waves: Array, coef: Array) -> Array:
        r"""Return :math:`\sum_f \mathrm{wave}_f(x)\, \nabla g_f(x)\, c_{fs}`, (n, d, s).

        At rows (n, d), from the features without these factors ``waves`` (n, 2m) and the weights
        ``coef`` (2m, s) of functions.
        """
        slopes = self.derivative.factors(X)
        return along_inputs(waves * np.tile(slopes, (1, 2)), 0.5 * self.v, coef)


def along_inputs(Z: Array, omega: Array, coef: Array) -> Array:
    """Return features (n, 2m) times weights (2m, s), with factors (m, d) of waves, (n, d, s)."""
    weights = np.tile(omega, (2, 1))[:, :, None] * coef[:, None, :]
    product: Array = Z @ weights.reshape(len(coef), -1)
    return product.reshape(len(Z), omega.shape[1], -1)
