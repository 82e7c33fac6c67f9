"""Factors that multiply features: envelopes, cosines of the inputs, and windows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, InputRows, as_array, frozen_array, squared_norms
from bochner._base.registry import register

_SILENCE = 8.0
"""Rate at which factors vanish outside the ball, per R^2 of squared norm: at twice the radius they
are exp(-24). A lower rate leaves features where nothing was fitted; a higher one, a steep edge."""


class FeatureFactor(ABC):
    """Real functions of a row that multiply the two features of each frequency."""

    __slots__ = ()

    is_symmetric = True
    """Whether both arguments have the same factors."""

    waves: Array | None = None
    """Frequencies (k, d) of cosines of the inputs, whose angles must not overflow."""

    @property
    @abstractmethod
    def n_frequencies(self) -> int:
        """Number of frequencies, ``m``."""

    @abstractmethod
    def values(self, X: InputRows) -> Any:
        """Return the factors (n, m) at rows ``X`` (n, d) of the left argument, dense or CSR."""

    @abstractmethod
    def gradient(self, X: Array) -> Array:
        """Return the gradients (n, d, m) of the factors at rows ``X`` (n, d)."""

    def fits(self, dim: int, dim_right: int) -> bool:
        """Return whether the factors accept ``dim`` left and ``dim_right`` right inputs."""
        return True

    def transposed(self) -> "FeatureFactor":
        """Return the factors with the arguments exchanged."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self), tuple(getattr(self, name) for name in names)


@register
@dataclass(frozen=True, slots=True, eq=False)
class Envelope(FeatureFactor):
    r"""Factors that depend on the norm of the input, one per frequency.

    .. math:: g_j(x) = \exp(-\gamma_j (R_j^2 - \|x\|^2)) \quad \text{for } \|x\| \leq R_j.

    :math:`e^{-\gamma \|x - y\|^2} g(x) g(y) = e^{-2 \gamma (R^2 - \langle x, y \rangle)}`, so
    kernels of the inner product need no normalised inputs. Outside the ball the factor is
    :math:`\exp(-8 (\|x\|^2 / R^2 - 1))`.

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

    Examples
    --------
    >>> from bochner.spectral import Envelope
    >>> Envelope(rate=[0.0, 0.5], radius=[1.0, 1.0]).values([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [1.    , 1.    ]])
    """

    rate: Array
    radius: Array
    left: Any = None
    right: Any = None
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

    @classmethod
    def none(cls, m: int, dim: int = 0) -> "Envelope":
        """Return an envelope of ``m`` factors equal to one everywhere."""
        return cls(np.zeros(m), np.zeros(m))

    @property
    def n_frequencies(self) -> int:
        return len(self.rate) + sum(other.n_frequencies for other in self.others)

    @property
    def decay(self) -> Array:
        """Decay rates (m,) of the factors outside the ball, per squared norm."""
        return _decay(self.radius**2)

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]
        return np.array_equal(self.left, self.right) and all(
            other.is_symmetric for other in self.others
        )

    def transposed(self) -> "Envelope":
        others = tuple(other.transposed() for other in self.others)
        return Envelope(self.rate, self.radius, self.right, self.left, others)

    def joined(self, other: "Envelope") -> "Envelope":
        """Return these factors, followed by the factors of ``other``."""
        first, *groups = reduce(_with_group, [*other.groups], [*self.groups])
        return replace(first, others=tuple(groups))

    @property
    def groups(self) -> "tuple[Envelope, ...]":
        """The envelope split into one envelope for each pair of maps."""
        return (replace(self, others=()), *self.others)

    def values(self, X: InputRows) -> Any:
        if self.others:
            return np.hstack([group.values(X) for group in self.groups])
        rate, depth, index = self._slopes(X)
        return np.exp(-rate * depth)[:, index]

    def gradient(self, X: Array) -> Array:
        gradients = []
        for group in self.groups:
            rate, depth, index = group._slopes(X)
            direction = X if group.left is None else X @ group.left @ group.left.T
            slopes = (2.0 * rate * np.exp(-rate * depth))[:, index]
            gradients.append(slopes[:, None, :] * direction[:, :, None])
        return np.concatenate(gradients, axis=2)

    def _slopes(self, X: InputRows) -> tuple[Any, Any, NDArray[np.intp]]:
        """Return rates and depths (n, q) of q distinct factors, and each frequency's index (m,)."""
        X = X if self.left is None else X @ self.left
        kinds, index = np.unique(np.stack([self.rate, self.radius]), axis=1, return_inverse=True)
        rate, square = kinds[0], kinds[1] ** 2
        decay = _decay(square)
        depth = square - squared_norms(X)[:, None]
        return np.where(depth >= 0.0, rate, -decay), depth, index.ravel()


def _with_group(groups: list[Envelope], new: Envelope) -> list[Envelope]:
    """Append a group to ``groups``, or merge it with the last if their maps are compatible."""
    *before, last = groups
    mapped = [e for e in (last, new) if e.radius.any()] or [last]
    left, right = mapped[0].left, mapped[0].right
    if not all(np.array_equal(e.left, left) and np.array_equal(e.right, right) for e in mapped):
        return [*groups, new]
    rate, radius = np.r_[last.rate, new.rate], np.r_[last.radius, new.radius]
    return [*before, Envelope(rate, radius, left, right)]


def _decay(square: Array) -> Array:
    return as_array(_SILENCE / np.where(square > 0.0, square, np.inf))


@register
@dataclass(frozen=True, slots=True, eq=False)
class CosineFactors(FeatureFactor):
    r"""Cosines of the inputs that multiply the two features of each frequency.

    .. math:: g_j(x) = \cos(v_j \cdot x / 2 + \psi_j)

    Parameters
    ----------
    v : array-like of shape (m, d)
        Radians per unit of the inputs; zero, with a phase of zero, means no factor.
    phase : array-like of shape (m,)
        :math:`\psi`, in radians.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral import CosineFactors
    >>> waves = CosineFactors(v=[[2.0], [2.0]], phase=[0.0, -np.pi / 2])
    >>> waves.values([[0.0], [np.pi / 2]]).round(12)
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

    @classmethod
    def none(cls, m: int, dim: int) -> "CosineFactors":
        """Return ``m`` cosine factors equal to one everywhere."""
        return cls(np.zeros((m, dim)), np.zeros(m))

    @property
    def n_frequencies(self) -> int:
        return len(self.v)

    def fits(self, dim: int, dim_right: int) -> bool:
        return (dim, dim_right) == 2 * self.v.shape[1:]

    def joined(self, other: Any) -> Any:
        """Return these factors, followed by the factors of ``other``."""
        if not isinstance(other, CosineFactors):
            return type(other).of(self).joined(other)
        return CosineFactors(np.r_[self.v, other.v], np.r_[self.phase, other.phase])

    @property
    def waves(self) -> Array:  # type: ignore[override]
        return self.v

    def rearranged(self, order: NDArray[np.intp]) -> "CosineFactors":
        """Return the factors with frequencies reordered by ``order``."""
        return CosineFactors(self.v[order], self.phase[order])

    def mapped(self, left: Array) -> "CosineFactors":
        """Return the factors of mapped inputs ``x left``, for a matrix ``left`` (d, q)."""
        return CosineFactors(self.v @ left.T, self.phase)

    def values(self, X: InputRows) -> Any:
        return np.cos(X @ (0.5 * np.ascontiguousarray(self.v.T)) + self.phase)

    def gradient(self, X: Array) -> Array:
        half = 0.5 * np.ascontiguousarray(self.v.T)
        return as_array(-half * np.sin(X @ half + self.phase)[:, None, :])


@register
@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes(FeatureFactor):
    r"""Real amplitude functions that multiply features; frequency ``j`` uses number ``index[j]``.

    .. math:: a_g(x) = \exp\big(-\tfrac14 \|W_g^\top x - b_g\|^2\big)
              \sum_r c_{gr} \cos(\mu_{gr} \cdot x + \varphi_{gr})

    ``window`` (G, d, q), ``centre`` (G, q), ``coef`` (G, R), ``mu`` (G, R, d), ``phase`` (G, R).
    """

    index: Array
    window: Array
    centre: Array
    mu: Array
    coef: Array
    phase: Array

    def __post_init__(self) -> None:
        mu, window = (frozen_array(name, getattr(self, name), None) for name in ("mu", "window"))
        if mu.ndim != 3 or window.ndim != 3 or window.shape[:2] != (len(mu), mu.shape[2]):
            raise ValueError(
                f"mu must have shape (G, R, d) and window (G, d, q), got {mu.shape} and "
                f"{window.shape}."
            )
        index = frozen_array("index", self.index, None)
        if index.ndim != 1 or not np.isin(index, np.arange(len(mu))).all():
            raise ValueError(f"index must be numbers (m,) of {len(mu)} functions, from 0.")
        shapes = {"centre": (len(mu), window.shape[2]), "coef": mu.shape[:2], "phase": mu.shape[:2]}
        arrays = {name: frozen_array(name, getattr(self, name), shapes[name]) for name in shapes}
        for name, array in (arrays | {"index": index, "window": window, "mu": mu}).items():
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, factors: "Amplitudes | CosineFactors") -> "Amplitudes":
        """Return cosine factors converted to amplitude functions."""
        if isinstance(factors, Amplitudes):
            return factors
        m, d = factors.v.shape
        window, zero, one = np.zeros((m, d, 1)), np.zeros((m, 1)), np.ones((m, 1))
        mu, phase = 0.5 * factors.v[:, None], factors.phase[:, None]
        return cls(np.arange(m, dtype=np.float64), window, zero, mu, one, phase)

    @property
    def n_frequencies(self) -> int:
        return len(self.index)

    def fits(self, dim: int, dim_right: int) -> bool:
        return (dim, dim_right) == 2 * self.mu.shape[2:]

    def joined(self, other: "Amplitudes | CosineFactors") -> "Amplitudes":
        first, second = self, Amplitudes.of(other)
        sizes = list(map(max, first._sizes, second._sizes))
        pairs = zip(first._padded(*sizes), second._padded(*sizes), strict=True)
        arrays = [np.concatenate(pair) for pair in pairs]
        return Amplitudes(np.concatenate([first.index, second.index + len(first.mu)]), *arrays)

    @property
    def waves(self) -> Array:  # type: ignore[override]
        return as_array(self.mu.reshape(-1, self.mu.shape[2]))

    def rearranged(self, order: NDArray[np.intp]) -> "Amplitudes":
        return replace(self, index=self.index[order])

    def mapped(self, left: Array) -> "Amplitudes":
        window = np.einsum("ij,gjk->gik", left, self.window)
        return Amplitudes(self.index, window, self.centre, self.mu @ left.T, self.coef, self.phase)

    def values(self, X: InputRows) -> Any:
        window, centre, decay, mu, phase, sums = self.matrices()
        angle, lag = X @ mu + phase, X @ window - centre
        return np.exp((lag * lag) @ decay) * (np.cos(angle) @ sums)

    def matrices(self) -> tuple[Array, ...]:
        r"""Return the matrices of :math:`\exp(((X W - b)^2) D) \circ (\cos(X M + \varphi)\, C)`."""
        (n_functions, n_waves, d), q = self.mu.shape, self.window.shape[2]
        is_factor = as_array(np.arange(n_functions)[:, None] == self.index)
        window = self.window.transpose(1, 0, 2).reshape(d, -1)
        decay, mu = -0.25 * np.repeat(is_factor, q, axis=0), self.mu.reshape(-1, d).T
        sums = self.coef.reshape(-1, 1) * np.repeat(is_factor, n_waves, axis=0)
        each = (window, self.centre.ravel(), decay, mu, self.phase.ravel(), sums)
        return tuple(map(np.ascontiguousarray, each))

    def gradient(self, X: Array) -> Array:
        return as_array(self._slopes(X)[:, self.index.astype(np.intp)].transpose(0, 2, 1))

    def _slopes(self, X: Array) -> Array:
        """Return the gradients (n, G, d) of the ``G`` amplitude functions at rows (n, d)."""
        lag = np.einsum("nd,gdq->ngq", X, self.window) - self.centre
        angle = np.einsum("nd,grd->ngr", X, self.mu) + self.phase
        window = np.exp(-0.25 * np.sum(lag**2, axis=2))
        value = window * np.sum(self.coef * np.cos(angle), axis=2)
        slopes = -0.5 * value[:, :, None] * np.einsum("ngq,gdq->ngd", lag, self.window)
        slopes -= np.einsum("ngr,grd->ngd", window[:, :, None] * self.coef * np.sin(angle), self.mu)
        return as_array(slopes)

    @property
    def _sizes(self) -> tuple[int, int]:
        return int(self.window.shape[2]), int(self.mu.shape[1])

    def _padded(self, q: int, r: int) -> tuple[Array, ...]:
        """Return all arrays except the index, zero-padded to ``q`` axes and ``r`` waves."""
        axes, waves, no_padding = (0, q - self._sizes[0]), (0, r - self._sizes[1]), (0, 0)
        return (
            np.pad(self.window, (no_padding, no_padding, axes)),
            np.pad(self.centre, (no_padding, axes)),
            np.pad(self.mu, (no_padding, waves, no_padding)),
            np.pad(self.coef, (no_padding, waves)),
            np.pad(self.phase, (no_padding, waves)),
        )


@register
@dataclass(frozen=True, slots=True, eq=False)
class FactorProduct(FeatureFactor):
    """An envelope times cosines or windows."""

    envelope: Envelope
    other: CosineFactors | Amplitudes

    @property
    def n_frequencies(self) -> int:
        return self.envelope.n_frequencies

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]
        return self.envelope.is_symmetric

    @property
    def waves(self) -> Array:  # type: ignore[override]
        return self.other.waves

    def fits(self, dim: int, dim_right: int) -> bool:
        same = self.other.n_frequencies == self.n_frequencies
        return same and self.other.fits(dim, dim_right)

    def transposed(self) -> "FactorProduct":
        return replace(self, envelope=self.envelope.transposed())

    def values(self, X: InputRows) -> Any:
        return self.envelope.values(X) * self.other.values(X)

    def gradient(self, X: Array) -> Array:
        by_envelope = self.envelope.gradient(X) * self.other.values(X)[:, None, :]
        return as_array(by_envelope + self.envelope.values(X)[:, None, :] * self.other.gradient(X))


def multiplied(
    envelope: Envelope | None, other: CosineFactors | Amplitudes | None
) -> FeatureFactor | None:
    """Return the product of an envelope and a factor; ``None`` stands for the constant one."""
    if envelope is None or other is None:
        return envelope or other
    return FactorProduct(envelope, other)


def separated(
    factor: FeatureFactor | None,
) -> tuple[Envelope | None, CosineFactors | Amplitudes | None]:
    """Split a factor into its envelope and the rest; ``None`` stands for the constant one."""
    if isinstance(factor, FactorProduct):
        return factor.envelope, factor.other
    if isinstance(factor, Envelope):
        return factor, None
    if factor is None or isinstance(factor, CosineFactors | Amplitudes):
        return None, factor
    raise TypeError(f"Frequencies with the factor {factor!r} cannot be added or written anew.")


def joined(
    first: FeatureFactor | None, second: FeatureFactor | None, counts: tuple[int, int], dim: int
) -> FeatureFactor | None:
    """Concatenate the factors of two sets of frequencies, with ``counts`` frequencies of each."""
    made: list[Any] = []
    kinds: tuple[Any, Any] = Envelope, CosineFactors
    for one, other, kind in zip(separated(first), separated(second), kinds, strict=True):
        if one is None and other is None:
            made.append(None)
            continue
        before: Any = kind.none(counts[0], dim) if one is None else one
        made.append(before.joined(kind.none(counts[1], dim) if other is None else other))
    return multiplied(*made)
