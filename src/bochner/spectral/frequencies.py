"""The value object of sampled frequencies."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bochner._base.arrays import (
    FLOATS,
    Array,
    Floats,
    InputRows,
    MatrixLike,
    as_array,
    frozen_array,
)
from bochner._base.checks import check_rows_given, largest_size
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.spectral.amplitudes import Amplitudes
from bochner.spectral.factors import CosineFactors, Envelope, along_inputs
from bochner.spectral.hadamard import HadamardRows, Matrix
from bochner.spectral.maps import Side, trigonometric_features


@register(arguments={"omega_blocks": "omega", "nu_blocks": "nu"})
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

    With an envelope, a modulation or both the j-th term carries the factor :math:`g_j(x) g_j(y)`,
    and each of its features :math:`g_j`: kernels of the inner product are such sums, and locally
    stationary ones.

    Parameters
    ----------
    omega : array-like or HadamardRows of shape (m, d)
        Frequencies, in radians per unit of the inputs. :class:`~bochner.spectral.HadamardRows`
        stay blocks, and features are computed without the matrix.
    weight : array-like of shape (m,)
        :math:`a`, of either sign; the weights sum to :math:`\hat k(0)` when ``phase`` is zero.
    phase : array-like of shape (m,), default=None
        :math:`\theta`; ``None`` means zero. Nonzero phases make the kernel asymmetric.
    nu : array-like or HadamardRows of shape (m, d2), default=None
        Frequencies of the right argument, whose number of inputs may differ; ``None``
        means ``omega``.
    envelope : Envelope, default=None
        Factors :math:`g` of the features; ``None`` means one.
    modulation : CosineFactors or Amplitudes, default=None
        Other factors of the features; both arguments must have the same number of inputs.

    Attributes
    ----------
    omega_blocks : ndarray or HadamardRows of shape (m, d)
        ``omega`` as it is stored.
    nu_blocks : ndarray, HadamardRows or None
        ``nu`` as it is stored; ``None`` if it is ``omega``.

    Raises
    ------
    ValueError
        If shapes disagree or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral import Frequencies
    >>> f = Frequencies(omega=[[0.0], [np.pi]], weight=[0.5, 0.5])
    >>> f.gram([[0.0]], [[0.0], [1.0]]).round(12)
    array([[1., 0.]])
    """

    omega_blocks: Matrix
    weight: Array
    phase: Array
    nu_blocks: Matrix | None
    envelope: Envelope | None = None
    modulation: CosineFactors | Amplitudes | None = None

    def __init__(
        self,
        omega: ArrayLike | HadamardRows,
        weight: ArrayLike,
        phase: ArrayLike | None = None,
        nu: ArrayLike | HadamardRows | None = None,
        envelope: Envelope | None = None,
        modulation: CosineFactors | Amplitudes | None = None,
    ) -> None:
        rows = _checked_matrix("omega", omega)
        if len(rows.shape) != 2 or 0 in rows.shape:
            raise ValueError(f"omega must have shape (m, d), both positive, got {rows.shape}.")
        m = rows.shape[0]
        object.__setattr__(self, "omega_blocks", rows)
        object.__setattr__(self, "weight", frozen_array("weight", weight, (m,)))
        phase = np.zeros(m) if phase is None else phase
        object.__setattr__(self, "phase", frozen_array("phase", phase, (m,)))
        right = None if nu is None else _checked_matrix("nu", nu)
        if right is not None and (len(right.shape) != 2 or right.shape[0] != m or 0 in right.shape):
            raise ValueError(
                f"nu must have shape (m, d2) with m = {m}, the number of frequencies in omega; "
                f"got {right.shape}."
            )
        object.__setattr__(self, "nu_blocks", right)
        if envelope is not None and envelope.n_factors != m:
            raise ValueError(
                f"envelope has {envelope.n_factors} factors; omega has {m} frequencies."
            )
        object.__setattr__(self, "envelope", envelope)
        if modulation is not None and not (
            modulation.shape == tuple(rows.shape) and self.dim == self.dim_right
        ):
            raise ValueError(
                f"modulation has waves of shape {modulation.shape}; it needs one for each "
                f"frequency of either argument, of shapes {tuple(rows.shape)} and "
                f"{(m, self.dim_right)}."
            )
        object.__setattr__(self, "modulation", modulation)

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        return Frequencies, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def omega(self) -> Array:
        """Frequencies as an array of shape (m, d), computed from blocks at each access."""
        return np.asarray(self.omega_blocks)

    @property
    def nu(self) -> Array:
        """Frequencies of the right argument as an array of shape (m, d2)."""
        return np.asarray(self._nu_blocks)

    @property
    def _nu_blocks(self) -> Matrix:
        return self.omega_blocks if self.nu_blocks is None else self.nu_blocks

    @property
    def _amplitude(self) -> Array:
        return as_array(np.sqrt(np.abs(self.weight)))

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies, ``m``."""
        return len(self.weight)

    @property
    def n_features(self) -> int:
        """Number of features, ``p = 2m``."""
        return 2 * self.n_frequencies

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
        nu, phase, _, envelope, modulation = self._right
        return Frequencies(nu, self.weight, phase, None, envelope, modulation)

    @property
    def is_symmetric(self) -> bool:
        """Whether left and right features are the same."""
        return not self.is_two_sided.any()

    @property
    def is_two_sided(self) -> NDArray[np.bool_]:
        """Mask (m,) of frequencies with different left and right features."""
        if self.dim != self.dim_right or not (self.envelope is None or self.envelope.is_symmetric):
            return np.ones(self.n_frequencies, dtype=np.bool_)
        two_sided: NDArray[np.bool_] = self.phase != 0.0
        if self.nu_blocks is not None:
            two_sided |= (self.omega != self.nu).any(axis=1)
        return two_sided

    def features(
        self, X: MatrixLike, dtype: DTypeLike | None = None, out: NDArray[np.floating] | None = None
    ) -> NDArray[Any]:
        """Return the left features, of shape (n, 2m).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        dtype : float32 or float64, default=None
            Type of the features; ``None`` means float32 if ``X`` is float32, else float64.
        out : ndarray of shape (n, 2m), default=None
            Array of that type, in C order, to write the features to.

        Raises
        ------
        ValueError
            If rows or ``out`` have another shape, or ``out`` another type.
        """
        return self._map(X, self._left, dtype, out)

    def features_right(self, Y: MatrixLike) -> NDArray[Any]:
        """Return the right features, of shape (n, 2m), of rows ``Y`` (n, d2), dense or sparse."""
        return self._map(Y, self._right)

    def gradient(self, X: ArrayLike, coef: ArrayLike) -> Array:
        r"""Return the gradients of functions that are linear in the left features.

        Derivatives of waves are the same waves with other weights,
        :math:`\nabla [a \cos(\omega \cdot x) + b \sin(\omega \cdot x)]
        = \omega\, [b \cos(\omega \cdot x) - a \sin(\omega \cdot x)]`, so that they take O(p d)
        operations for each row and function, plus those of the envelope and the modulation.

        Parameters
        ----------
        X : array-like of shape (n, d)
        coef : array-like of shape (2m, s)
            Weights of ``s`` functions, ``features(X) @ coef``.

        Returns
        -------
        gradient : ndarray of shape (n, d, s)

        Raises
        ------
        ValueError
            If ``coef`` or the rows have another shape.

        Examples
        --------
        >>> from bochner.spectral import Frequencies
        >>> f = Frequencies(omega=[[2.0]], weight=[1.0])
        >>> f.gradient([[0.0]], [[0.0], [1.0]])  # of sin(2 x)
        array([[[2.]]])
        """
        X, coef = np.asarray(X, dtype=np.float64), np.asarray(coef, dtype=np.float64)
        m = self.n_frequencies
        if coef.ndim != 2 or len(coef) != 2 * m:
            raise ValueError(f"coef must have shape ({2 * m}, functions), got {coef.shape}.")
        Z = self.features(X)
        turned = np.concatenate((coef[m:], -coef[:m]))
        gradient = along_inputs(Z, self.omega, turned)
        if self.modulation is not None:
            plain = Frequencies(self.omega_blocks, self.weight, self.phase, envelope=self.envelope)
            gradient += self.modulation.along(X, plain.features(X), coef)
        if self.envelope is not None:
            for positions, slope, direction in self.envelope.gradient_factors(X):
                along = (Z[:, :m][:, positions] * slope) @ coef[:m][positions]
                along += (Z[:, m:][:, positions] * slope) @ coef[m:][positions]
                gradient += direction[:, :, None] * along[:, None, :]
        return gradient

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> NDArray[Any]:
        r"""Return the approximate Gram matrix :math:`\hat k(x_i, y_j)`, of shape (n, n2).

        Rows (n, d) and (n2, d2) are dense or sparse; ``Y=None`` means ``X``.
        """
        left = self.features(X)
        is_shared = Y is None and self.is_symmetric
        right = left if is_shared else self.features_right(X if Y is None else Y)
        gram: NDArray[Any] = (left * self.signature.astype(left.dtype, copy=False)) @ right.T
        return gram

    def __add__(self, other: "Frequencies") -> "Frequencies":
        """Return the frequencies of the sum of the two kernels."""
        if not isinstance(other, Frequencies):
            return NotImplemented
        one_sided = self.nu_blocks is None and other.nu_blocks is None
        return Frequencies(
            np.r_[self.omega, other.omega],
            np.r_[self.weight, other.weight],
            np.r_[self.phase, other.phase],
            None if one_sided else np.r_[self.nu, other.nu],
            _joined(self, other, "envelope", Envelope),
            _joined(self, other, "modulation", CosineFactors),
        )

    def with_weights(self, weight: ArrayLike, phase: ArrayLike | None = None) -> "Frequencies":
        """Return the same frequencies with other weights and, if given, phases, of shape (m,)."""
        omega, nu = self.omega_blocks, self.nu_blocks
        phase = self.phase if phase is None else phase
        return Frequencies(omega, weight, phase, nu, self.envelope, self.modulation)

    @property
    def _left(self) -> Side:
        return self.omega_blocks, self.phase, self._amplitude, self.envelope, self.modulation

    @property
    def _right(self) -> Side:
        envelope = None if self.envelope is None else self.envelope.transposed()
        no_phase = np.zeros_like(self.phase)
        return self._nu_blocks, no_phase, self._amplitude, envelope, self.modulation

    def _map(
        self, inputs: MatrixLike, side: Side, dtype: Any = None, out: Floats | None = None
    ) -> Floats:
        X = check_rows_given(inputs, accept_sparse="csr", dtype=FLOATS)
        dim = side[0].shape[1]
        if X.shape[1] != dim:
            raise ValueError(f"X has {X.shape[1]} columns, the frequencies have {dim} inputs.")
        for waves in (side[0], *(() if self.modulation is None else (self.modulation.waves,))):
            _refuse_large_angles(X, waves)
        feature_dtype = np.dtype(dtype or X.dtype)
        if (largest := float(np.max(side[2], initial=0.0))) > np.finfo(feature_dtype).max:
            raise ValueError(
                f"Features of size {largest:.3g} overflow {feature_dtype}: use float64, or a "
                f"kernel with a smaller factor."
            )
        shape = (X.shape[0], self.n_features)
        if out is not None and (out.shape != shape or out.dtype != feature_dtype):
            raise ValueError(
                f"out must have shape {shape} and type {feature_dtype}, got {out.shape} and "
                f"{out.dtype}."
            )
        return trigonometric_features(X, *side, dtype=dtype or X.dtype, out=out)


def _checked_matrix(name: str, value: ArrayLike | HadamardRows) -> Matrix:
    return value if isinstance(value, HadamardRows) else frozen_array(name, value, None)


def _refuse_large_angles(X: InputRows, omega: Matrix) -> None:
    """Raise ValueError if products of rows (n, d) and frequencies (m, d) may overflow."""
    if isinstance(omega, HadamardRows):  # entries of its orthonormal blocks are at most one
        fastest = largest_size(omega.row_scale) * largest_size(omega.column_scale)
    else:
        fastest = largest_size(omega)
    if fastest <= LARGEST_ENTRY:  # as the rows are
        return
    most = np.finfo(np.float64).max / (fastest * X.shape[1])
    if (largest := largest_size(X)) > most:
        raise ValueError(
            f"Entries of X must be at most {most:.3g} in size, because they are multiplied by "
            f"frequencies as large as {fastest:.3g}; got {largest:.3g}. Change the unit of X."
        )


def _joined(first: Frequencies, second: Frequencies, name: str, cls: Any) -> Any:
    """Concatenate the factors of both, with ones if one has none; ``None`` if both have none."""
    each = [(getattr(f, name), f) for f in (first, second)]
    if all(factors is None for factors, _ in each):
        return None
    first_factors, second_factors = (
        cls.none(f.n_frequencies, f.dim) if g is None else g for g, f in each
    )
    return first_factors.joined(second_factors)
