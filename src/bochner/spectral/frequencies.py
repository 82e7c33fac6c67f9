"""Sampled frequencies and their features, as an immutable value object."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    DTypeLike,
    InputRows,
    MatrixLike,
    frozen_array,
    row_blocks,
)
from bochner._base.checks import check_rows_given, largest_size
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.spectral.feature_factors import (
    CosineFactors,
    FeatureFactor,
    joined,
    multiplied,
    separated,
)
from bochner.spectral.hadamard import HadamardRows, Matrix
from bochner.spectral.wave_formulas import trigonometric_features


@register(arguments={"omega_blocks": "omega", "nu_blocks": "nu"})
@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """Sampled frequencies: a finite sum of waves that approximates a kernel, and its features.

    The sum is k(x, y) ≈ ∑ⱼ aⱼ cos(ωⱼ·x - νⱼ·y + θⱼ). ``gram(X, Y)`` returns its values, and
    ``features(X)``, ``features_right(Y)`` and ``signature`` its factors.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Frequencies
    >>> f = Frequencies(omega=[[0.0], [np.pi]], weight=[0.5, 0.5])
    >>> f.gram([[0.0]], [[0.0], [1.0]]).round(12)
    array([[1., 0.]])

    Parameters
    ----------
    omega : array-like or HadamardRows of shape (m, d)
        Frequencies, in radians per unit of the inputs. ``HadamardRows`` stay blocks,
        and features are computed without the matrix.
    weight : array-like of shape (m,)
        Weights a of either sign; they sum to k(0) if ``phase`` is zero.
    phase : array-like of shape (m,), default=None
        Phases θ; ``None`` means zero. Nonzero phases make the kernel asymmetric.
    nu : array-like or HadamardRows of shape (m, d2), default=None
        Frequencies of the right argument, whose number of inputs may differ; ``None``
        means ``omega``.
    factor : Envelope, CosineFactors, Amplitudes or FactorProduct, default=None
        Functions g; ``None`` means one.

    Attributes
    ----------
    omega_blocks : ndarray or HadamardRows of shape (m, d)
        ``omega`` as it is stored.
    nu_blocks : ndarray, HadamardRows or None
        ``nu`` as it is stored; ``None`` if it is ``omega``.

    Notes
    -----
    With rⱼ = √|aⱼ| the features are two for each frequency: rⱼ cos(ωⱼ·x + θⱼ) for all j, then
    rⱼ sin(ωⱼ·x + θⱼ); those of the right argument are rⱼ cos(νⱼ·y), then rⱼ sin(νⱼ·y). With a
    factor the j-th term is multiplied by gⱼ(x) gⱼ(y), and its features by gⱼ. Kernels of the inner
    product and locally stationary kernels are such sums.

    Raises ``ValueError`` if shapes disagree or an entry is not finite.
    """

    omega_blocks: Matrix
    weight: Array
    phase: Array
    nu_blocks: Matrix | None
    factor: FeatureFactor | None = None

    def __init__(
        self,
        omega: ArrayLike | HadamardRows,
        weight: ArrayLike,
        phase: ArrayLike | None = None,
        nu: ArrayLike | HadamardRows | None = None,
        factor: FeatureFactor | None = None,
    ) -> None:
        left = omega if isinstance(omega, HadamardRows) else frozen_array("omega", omega, None)
        right: Matrix | None = None
        if nu is not None:
            right = nu if isinstance(nu, HadamardRows) else frozen_array("nu", nu, None)
        if len(left.shape) != 2 or 0 in left.shape:
            raise ValueError(f"omega must have shape (m, d), both positive, got {left.shape}.")
        m, dim = left.shape
        shape = left.shape if right is None else right.shape
        if len(shape) != 2 or shape[0] != m or 0 in shape:
            raise ValueError(f"nu must have shape (m, d2) with m = {m} as in omega, got {shape}.")
        if factor is not None and not (factor.n_frequencies == m and factor.fits(dim, shape[1])):
            raise ValueError(
                f"factor has {factor.n_frequencies} functions, or functions of another number of "
                f"inputs: there are {m} frequencies of {dim} inputs and, on the right, {shape[1]}."
            )
        phase = np.zeros(m) if phase is None else phase
        for name, value in (
            ("omega_blocks", left),
            ("weight", frozen_array("weight", weight, (m,))),
            ("phase", frozen_array("phase", phase, (m,))),
            ("nu_blocks", right),
            ("factor", factor),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        return Frequencies, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def omega(self) -> Array:
        """Frequencies of the left argument (m, d), computed from Hadamard blocks at each access."""
        return np.asarray(self.omega_blocks)

    @property
    def nu(self) -> Array:
        """Frequencies of the right argument as an array of shape (m, d2)."""
        return np.asarray(self._nu_blocks)

    @property
    def _nu_blocks(self) -> Matrix:
        return self.omega_blocks if self.nu_blocks is None else self.nu_blocks

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, ``m``."""
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """Number of features, ``p = 2m``."""
        return 2 * len(self.weight)

    @property
    def dim(self) -> int:
        """Number of inputs of the left argument, ``d``."""
        return int(self.omega_blocks.shape[1])

    @property
    def dim_right(self) -> int:
        """Number of inputs of the right argument, ``d2``."""
        return int(self._nu_blocks.shape[1])

    @property
    def signature(self) -> Array:
        """Signs of the ``2m`` features, of shape (2m,)."""
        return np.tile(np.where(self.weight < 0, -1.0, 1.0), 2)

    @property
    def right(self) -> "Frequencies":
        """Frequencies whose left features are the right features of this object."""
        factor = None if self.factor is None else self.factor.transposed()
        return Frequencies(self._nu_blocks, self.weight, factor=factor)

    @property
    def is_symmetric(self) -> bool:
        """Whether left and right features are the same."""
        return not self.is_two_sided.any()

    @property
    def is_two_sided(self) -> NDArray[np.bool_]:
        """Mask (m,) of frequencies with different left and right features."""
        if self.dim != self.dim_right or not (self.factor is None or self.factor.is_symmetric):
            return np.ones(self.n_frequencies, dtype=np.bool_)
        two_sided: NDArray[np.bool_] = self.phase != 0.0
        if self.nu_blocks is not None:
            two_sided |= (self.omega != self.nu).any(axis=1)
        return two_sided

    def features(
        self, X: MatrixLike, dtype: DTypeLike | None = None, out: NDArray[np.floating] | None = None
    ) -> NDArray[Any]:
        """Return the left features, of shape (n, 2m).

        Raises ``ValueError`` if rows or ``out`` have another shape, or ``out`` another type.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        dtype : float32 or float64, default=None
            Type of the features; ``None`` means float32 if ``X`` is float32, else float64.
        out : ndarray of shape (n, 2m), default=None
            Array of that type, in C order, to write the features to.
        """
        return self.map_rows(check_rows_given(X, accept_sparse="csr", dtype=FLOATS), dtype, out)

    def map_rows(
        self, rows: Any, dtype: DTypeLike | None = None, out: NDArray[np.floating] | None = None
    ) -> NDArray[Any]:
        """Return the left features of rows, dense or CSR, without checking that they are finite."""
        omega, m = self.omega_blocks, len(self.weight)
        if rows.shape[1] != omega.shape[1]:
            raise ValueError(
                f"X has {rows.shape[1]} columns, the frequencies have {omega.shape[1]} inputs."
            )
        for waves in (omega, None if self.factor is None else self.factor.waves):
            if waves is not None:
                _refuse_large_angles(rows, waves)
        amplitude, feature_type = np.sqrt(np.abs(self.weight)), np.dtype(dtype or rows.dtype)
        if (largest := float(np.max(amplitude, initial=0.0))) > np.finfo(feature_type).max:
            raise ValueError(
                f"Features of size {largest:.3g} overflow {feature_type}: use float64, or a "
                f"kernel with a smaller factor."
            )
        if out is None:
            out = np.empty((rows.shape[0], 2 * m), dtype=feature_type)
        elif out.shape != (rows.shape[0], 2 * m) or out.dtype != feature_type:
            raise ValueError(
                f"out must have shape {(rows.shape[0], 2 * m)} and type {feature_type}, got "
                f"{out.shape} and {out.dtype}."
            )
        return trigonometric_features(rows, omega, self.phase, amplitude, self.factor, out)

    def features_right(self, Y: MatrixLike) -> NDArray[Any]:
        """Return the right features, of shape (n, 2m), of rows ``Y`` (n, d2), dense or sparse."""
        return self.right.features(Y)

    def one_sided(self) -> "Frequencies":
        """Return frequencies of the kernel's symmetric part, with equal left and right features.

        The symmetric part of a cos(ω·(x - y) + θ) is a cos(θ) cos(ω·(x - y)), so phases become
        weights of either sign. If the arguments have separate frequencies, with s = (ω + ν)/2 and
        v = ω - ν, it is a cos(s·(x - y)) [g(x) g(y) - h(x) h(y)] with g(x) = cos((v·x + θ)/2) and
        h(x) = sin((v·x + θ)/2): two frequencies s, of weights ±a, with the factors g and h. Twice
        as many frequencies are returned then, even where some v are zero. Frequencies are returned
        unchanged if the arguments have different widths or envelopes.
        """
        if self.nu_blocks is None:
            if self.is_symmetric:
                return self
            turned = self.with_weights(self.weight * np.cos(self.phase), np.zeros_like(self.phase))
            return turned if turned.is_symmetric else self
        envelope, other = separated(self.factor)
        differ = self.dim != self.dim_right or other is not None
        if differ or not (envelope is None or envelope.is_symmetric):
            return self
        v, psi = self.omega - self.nu, 0.5 * self.phase
        waves = CosineFactors(np.tile(v, (2, 1)), np.concatenate([psi, psi - 0.5 * np.pi]))
        return Frequencies(
            np.tile(0.5 * (self.omega + self.nu), (2, 1)),
            np.concatenate([self.weight, -self.weight]),
            factor=multiplied(None if envelope is None else envelope.joined(envelope), waves),
        )

    def gradient(self, X: ArrayLike, coef: ArrayLike) -> Array:
        """Return the gradients (n, d, s) of functions with weights ``coef`` of left features.

        Derivatives of waves are the same waves with other weights: the gradient of a cos(ω·x) +
        b sin(ω·x) is ω [b cos(ω·x) - a sin(ω·x)]. They take O(p d) operations for each row and
        function, and as many for a factor.

        Raises ``ValueError`` if ``coef`` or the rows have another shape.

        Parameters
        ----------
        X : array-like of shape (n, d)
        coef : array-like of shape (2m, s)
            Weights of ``s`` functions, ``features(X) @ coef``.

        Examples
        --------
        >>> from bochner import Frequencies
        >>> f = Frequencies(omega=[[2.0]], weight=[1.0])
        >>> f.gradient([[0.0]], [[0.0], [1.0]])  # of sin(2 x)
        array([[[2.]]])
        """
        X, coef = np.asarray(X, dtype=np.float64), np.asarray(coef, dtype=np.float64)
        m, omega = self.n_frequencies, self.omega
        if coef.ndim != 2 or len(coef) != 2 * m:
            raise ValueError(f"coef must have shape ({2 * m}, functions), got {coef.shape}.")
        turned = np.concatenate((coef[m:], -coef[:m]))
        weights = np.tile(omega, (2, 1))[:, :, None] * turned[:, None, :]
        product: Array = self.features(X) @ weights.reshape(2 * m, -1)
        gradient = product.reshape(len(X), omega.shape[1], -1)
        if self.factor is not None:
            waves = Frequencies(self.omega_blocks, self.weight, self.phase).features(X)
            for rows in row_blocks(len(X), 8 * omega.size):
                slopes = self.factor.gradient(X[rows])
                for i in range(self.dim):
                    gradient[rows, i] += (waves[rows] * np.tile(slopes[:, i], 2)) @ coef
        return gradient

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> NDArray[Any]:
        """Return the approximate Gram matrix k(xᵢ, yⱼ), of shape (n, n2).

        Rows (n, d) and (n2, d2) are dense or sparse; ``Y=None`` means ``X``.
        """
        left = self.features(X)
        is_shared = Y is None and self.is_symmetric
        right = left if is_shared else self.features_right(X if Y is None else Y)
        gram: NDArray[Any] = (left * self.signature.astype(left.dtype)) @ right.T
        return gram

    def __add__(self, other: "Frequencies") -> "Frequencies":
        """Return the frequencies of the sum of the two kernels."""
        if not isinstance(other, Frequencies):
            return NotImplemented
        one_sided = self.nu_blocks is None and other.nu_blocks is None
        factor = None
        if self.factor is not None or other.factor is not None:
            counts = self.n_frequencies, other.n_frequencies
            factor = joined(self.factor, other.factor, counts, self.dim)
        return Frequencies(
            np.r_[self.omega, other.omega],
            np.r_[self.weight, other.weight],
            np.r_[self.phase, other.phase],
            None if one_sided else np.r_[self.nu, other.nu],
            factor,
        )

    def with_weights(self, weight: ArrayLike, phase: ArrayLike | None = None) -> "Frequencies":
        """Return the same frequencies with other weights and, if given, phases, of shape (m,)."""
        phase = self.phase if phase is None else phase
        return Frequencies(self.omega_blocks, weight, phase, self.nu_blocks, self.factor)


def _refuse_large_angles(X: InputRows, omega: Matrix) -> None:
    """Raise ValueError if products of rows (n, d) and frequencies (m, d) may overflow."""
    if isinstance(omega, HadamardRows):  # orthonormal entries are at most 1
        fastest = largest_size(omega.row_scale) * largest_size(omega.column_scale)
    else:
        fastest = largest_size(omega)
    if fastest <= LARGEST_ENTRY:  # the bound of X too
        return
    most = np.finfo(np.float64).max / (fastest * X.shape[1])
    if (largest := largest_size(X)) > most:
        raise ValueError(
            f"Entries of X must be at most {most:.3g} in size, because they are multiplied by "
            f"frequencies as large as {fastest:.3g}; got {largest:.3g}. Change the unit of X."
        )
