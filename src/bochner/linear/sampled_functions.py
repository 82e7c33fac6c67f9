r"""Functions drawn from posteriors: finite sums of waves, kernel values and powers of inputs.

A draw of a process on features is a function with values and gradients at every point, in O(p)
operations per point for ``p`` terms. Draws conditioned on ``n`` rows add values of the exact kernel
at these rows, in O(n) operations (pathwise conditioning: Wilson et al., "Pathwise conditioning of
Gaussian processes", 2021).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._base.arrays import Array, MatrixLike, as_array, row_blocks
from bochner._base.checks import check_rows_given
from bochner._base.registry import register
from bochner.features.landmarks import FeatureMap, ResidualFeatures
from bochner.kernels import Kernel
from bochner.kernels.gradients import input_derivatives
from bochner.spectral.frequencies import Frequencies

FrequencyIndices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionTerm(ABC):
    """A sum of basis functions with weights (q, k), which is one term of some functions."""

    coef: Array
    members: FrequencyIndices

    def __post_init__(self) -> None:
        if self.coef.ndim != 2 or self.coef.shape[1] not in (1, len(self.members)):
            raise ValueError(
                f"coef must have a column for each of {len(self.members)} functions, or one for "
                f"all, got the shape {self.coef.shape}."
            )

    @abstractmethod
    def values(self, X: Array) -> Array:
        """Return the values at rows (n, d), with one column for each column of ``coef``."""

    @abstractmethod
    def gradient(self, X: Array) -> Array:
        """Return the gradients at rows (n, d), of shape (n, d, columns of ``coef``)."""

    def chosen(self, numbers: FrequencyIndices) -> "FunctionTerm":
        """Return the term restricted to the functions with indices ``numbers`` (f,)."""
        place = {int(number): column for column, number in enumerate(self.members)}
        positions = [new for new, number in enumerate(numbers.tolist()) if number in place]
        columns = [place[int(numbers[new])] for new in positions]
        coef = self.coef if self.coef.shape[1] == 1 else self.coef[:, columns]
        return replace(self, coef=coef, members=np.array(positions, dtype=np.int64))

    def scaled(self, factors: Array) -> "FunctionTerm":
        """Return the term multiplied by ``factors`` (f,), one for each function."""
        return replace(self, coef=self.coef * factors[self.members])


@register(shapes={"members": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class WaveTerm(FunctionTerm):
    """A sum of wave features, the cosines and sines of frequencies."""

    frequencies: Frequencies

    def values(self, X: Array) -> Array:
        return as_array(self.frequencies.features(X) @ self.coef)

    def gradient(self, X: Array) -> Array:
        return self.frequencies.gradient(X, self.coef)


@register(shapes={"members": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class KernelTerm(FunctionTerm):
    r"""A sum of kernel values :math:`k(x M, r_i)` between inputs times a matrix, and rows ``r``."""

    kernel: Kernel
    rows: Array  # (q, d')
    matrix: Array | None = None  # (d, d'); None for the identity

    def values(self, X: Array) -> Array:
        return as_array(self.kernel(self._mapped(X), self.rows) @ self.coef)

    def gradient(self, X: Array) -> Array:
        parts = input_derivatives(self.kernel, self._mapped(X), self.rows)
        gradient = np.stack([part @ self.coef for part in parts], axis=1)
        return gradient if self.matrix is None else np.einsum("da,nak->ndk", self.matrix, gradient)

    def _mapped(self, X: Array) -> Array:
        return X if self.matrix is None else as_array(X @ self.matrix)


@register(shapes={"constant": "f"})
@dataclass(frozen=True, slots=True, eq=False)
class SampledFunctions:
    """Functions drawn jointly from a model's posterior, without noise.

    ``functions(X)`` returns the values of all functions, ``functions.gradient(X)`` their gradients,
    ``functions[i]`` and ``functions[i:j]`` single functions or slices, and ``len(functions)`` their
    number. Values at different rows have the joint posterior. Repeated evaluations of a function at
    a row give the same value. The method ``sample_functions`` of a model draws functions.

    Axes after the axis of the rows, ``shape``, are ``(n_functions,)`` or, with several targets,
    ``(n_targets, n_functions)``, without the last axis for a single function.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KreinRidge
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = KreinRidge(alpha=1e-3, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> functions = model.sample_functions(5, random_state=0)
    >>> functions([[1.0], [2.0]]).shape, functions.gradient([[1.0], [2.0]]).shape
    ((2, 5), (2, 1, 5))
    >>> bool(abs(functions[0].gradient([[1.0]])[0, 0] - np.cos(1.0)) < 0.05)
    True
    """

    terms: tuple[FunctionTerm, ...]
    constant: Array
    shape: tuple[int, ...]
    dim: int
    scaling: Any = None

    def __post_init__(self) -> None:
        count = len(self.constant)
        if int(np.prod(self.shape)) != count:
            raise ValueError(f"{count} functions do not have the shape {self.shape}.")
        for term in self.terms:
            if not np.isin(term.members, np.arange(count)).all():
                raise ValueError(f"members must be indices of the {count} functions.")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("A single function has no length; functions[i:i + 1] is one of many.")
        return self.shape[-1]

    def __getitem__(self, index: Any) -> "SampledFunctions":
        # A NumPy index applies to the last axis, along which functions lie.
        numbers = np.arange(len(self.constant)).reshape(self.shape)[..., index]
        chosen = numbers.ravel()
        terms = [term.chosen(chosen) for term in self.terms]
        return replace(
            self,
            terms=tuple(term for term in terms if len(term.members)),
            constant=self.constant[chosen],
            shape=numbers.shape,
        )

    def __call__(self, X: MatrixLike) -> Array:
        """Return the values at rows (n, d), of shape ``(n, *shape)``."""
        rows = self._checked(X)
        values = np.tile(self.constant, (len(rows), 1))

        def add(part: slice, term: FunctionTerm) -> None:
            values[part, term.members] += term.values(rows[part])

        self._each(len(rows), add)
        return values.reshape(len(rows), *self.shape)

    def gradient(self, X: MatrixLike) -> Array:
        """Return the gradients at rows (n, d), of shape ``(n, d, *shape)``, in closed form.

        Raises ``NotImplementedError`` if the functions have values of a kernel without derivatives;
        see :func:`bochner.kernels.gradients.input_derivatives`.
        """
        rows = self._checked(X)
        gradients = np.zeros((*rows.shape, len(self.constant)))

        def add(part: slice, term: FunctionTerm) -> None:
            gradients[part][:, :, term.members] += term.gradient(rows[part])

        self._each(len(rows), add)
        if self.scaling is not None:
            gradients /= self.scaling.scale[:, None]
        return gradients.reshape(*rows.shape, *self.shape)

    def transformed(self, shift: ArrayLike, scale: ArrayLike) -> "SampledFunctions":
        """Return the functions ``scale * f + shift``, with scalars or one entry per target.

        Targets are the last axis of ``shape``.
        """
        factors, shifts = (
            np.broadcast_to(np.expand_dims(part, -1), self.shape).ravel() for part in (scale, shift)
        )
        terms = tuple(term.scaled(factors) for term in self.terms)
        return replace(self, terms=terms, constant=factors * self.constant + shifts)

    def _checked(self, X: MatrixLike) -> Array:
        rows = as_array(check_rows_given(X, dtype=np.float64))
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"X has {rows.shape[1]} columns, and the functions have {self.dim} inputs."
            )
        return rows if self.scaling is None else self.scaling.apply(rows)

    def _each(self, n_rows: int, function: Callable[[slice, FunctionTerm], None]) -> None:
        for term in self.terms:
            # Evaluate in blocks of rows, because features are larger than the result.
            for part in row_blocks(n_rows, 8 * len(term.coef)):
                function(part, term)


def linear_functions(
    features: FeatureMap, coef: Array, constant: Array, shape: tuple[int, ...]
) -> SampledFunctions:
    """Return the functions of features with weights ``coef`` (p, f) and a ``constant`` (f,)."""
    members = np.arange(len(constant))
    if not isinstance(features, ResidualFeatures):
        terms: tuple[FunctionTerm, ...] = (WaveTerm(coef, members, features),)
        return SampledFunctions(terms, constant, shape, features.dim)
    waves, near = features.split(coef)
    terms = (
        WaveTerm(waves, members, features.frequencies),
        KernelTerm(near, members, features.kernel, features.landmarks),
    )
    return SampledFunctions(terms, constant, shape, features.frequencies.dim)
