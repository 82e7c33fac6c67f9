"""Amplitudes of waves in a Gaussian window: few functions, each shared by many frequencies."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, InputRows, as_array, frozen_array
from bochner._base.registry import register
from bochner.spectral.factors import CosineFactors


@register
@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    r"""Real amplitude functions, one of a few for each frequency, as factors of both its features.

    .. math:: a_g(x) = \exp\big(-\tfrac14 \|W_g^\top x - b_g\|^2\big)
              \sum_r c_{gr} \cos(\mu_{gr} \cdot x + \varphi_{gr})

    Parameters
    ----------
    index : array-like of shape (m,)
        The number ``g`` of each frequency's function.
    window : array-like of shape (G, d, q)
        ``W``, in inverse units of the inputs; zero means no window.
    centre : array-like of shape (G, q)
        ``b``, in the units of the mapped inputs.
    mu : array-like of shape (G, R, d)
        Radians per unit of the inputs.
    coef, phase : array-like of shape (G, R)
        ``c``, and :math:`\varphi` in radians.

    Raises
    ------
    ValueError
        If shapes disagree, an entry is not finite or an index is not one of a function.
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

    def __reduce__(self) -> tuple[object, ...]:
        return Amplitudes, self._arrays

    @classmethod
    def of(cls, factors: "Amplitudes | CosineFactors") -> "Amplitudes":
        """Return cosine factors as such functions."""
        if isinstance(factors, Amplitudes):
            return factors
        m, d = factors.shape
        mu = 0.5 * factors.v[:, None]
        phase = factors.phase[:, None]
        return cls(
            np.arange(m, dtype=np.float64),
            np.zeros((m, d, 1)),
            np.zeros((m, 1)),
            mu,
            np.ones((m, 1)),
            phase,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of frequencies and of inputs, (m, d)."""
        return len(self.index), int(self.mu.shape[2])

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def _places(self) -> NDArray[np.intp]:
        return self.index.astype(np.intp)

    def joined(self, other: "Amplitudes | CosineFactors") -> "Amplitudes":
        """Concatenate the functions of both objects."""
        first, second = self, Amplitudes.of(other)
        sizes = [
            max(first_size, second_size)
            for first_size, second_size in zip(first._sizes, second._sizes, strict=True)
        ]
        pairs = zip(first._padded(*sizes), second._padded(*sizes), strict=True)
        arrays = [np.concatenate(pair) for pair in pairs]
        return Amplitudes(np.concatenate([first.index, second.index + len(first.mu)]), *arrays)

    @property
    def waves(self) -> Array:
        """Frequencies (G R, d) of the cosines."""
        return as_array(self.mu.reshape(-1, self.mu.shape[2]))

    def rearranged(self, order: NDArray[np.intp]) -> "Amplitudes":
        """Return the functions of the frequencies in another order."""
        return Amplitudes(self.index[order], *self._arrays[1:])

    def mapped(self, left: Array) -> "Amplitudes":
        """Return the functions of ``x left``, with ``left`` of shape (d, q)."""
        window = np.einsum("ij,gjk->gik", left, self.window)
        return Amplitudes(self.index, window, self.centre, self.mu @ left.T, self.coef, self.phase)

    def factors(self, X: InputRows) -> Any:
        """Return the factors of shape (n, m) for rows ``X`` (n, d), dense or CSR."""
        window, centre, decay, mu, phase, sums = self.matrices()
        angle, lag = X @ mu + phase, X @ window - centre
        return np.exp((lag * lag) @ decay) * (np.cos(angle) @ sums)

    def matrices(self) -> tuple[Array, ...]:
        r"""Return the matrices that compute the factors of rows by matrix products.

        The factors are :math:`\exp(((X W - b)^2) D) \circ (\cos(X M + \varphi)\, C)`, with
        elementwise squares and the matrices ``W`` (d, k), ``b`` (k,), ``D`` (k, m), ``M`` (d, l),
        :math:`\varphi` (l,) and ``C`` (l, m).
        """
        (n_functions, n_waves, d), q = self.mu.shape, self.window.shape[2]
        is_factor = as_array(np.arange(n_functions)[:, None] == self.index)
        window = self.window.transpose(1, 0, 2).reshape(d, -1)
        decay, mu = -0.25 * np.repeat(is_factor, q, axis=0), self.mu.reshape(-1, d).T
        sums = self.coef.reshape(-1, 1) * np.repeat(is_factor, n_waves, axis=0)
        each = (window, self.centre.ravel(), decay, mu, self.phase.ravel(), sums)
        return tuple(map(np.ascontiguousarray, each))

    def along(self, X: Array, waves: Array, coef: Array) -> Array:
        r"""Return :math:`\sum_f \mathrm{wave}_f(x)\, \nabla a_f(x)\, c_{fs}`, (n, d, s).

        At rows (n, d), from the features without these factors ``waves`` (n, 2m) and the weights
        ``coef`` (2m, s) of functions.
        """
        functions, slopes = np.tile(self._places, 2), self._slopes(X)
        gradient = np.zeros((*X.shape, coef.shape[1]))
        for g in np.unique(functions):
            features = functions == g
            gradient += slopes[:, g, :, None] * (waves[:, features] @ coef[features])[:, None, :]
        return gradient

    def _slopes(self, X: Array) -> Array:
        """Return the gradients (n, G, d) of the functions at rows (n, d)."""
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
        """Return all arrays but the index, with zeros up to ``q`` axes and ``r`` waves."""
        axes, waves = (0, q - self._sizes[0]), (0, r - self._sizes[1])
        no_padding = (0, 0)
        return (
            np.pad(self.window, (no_padding, no_padding, axes)),
            np.pad(self.centre, (no_padding, axes)),
            np.pad(self.mu, (no_padding, waves, no_padding)),
            np.pad(self.coef, (no_padding, waves)),
            np.pad(self.phase, (no_padding, waves)),
        )
