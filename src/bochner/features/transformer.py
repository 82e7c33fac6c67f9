"""The scikit-learn transformer of random Fourier features."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    DTypeLike,
    Floats,
    LengthScale,
    MatrixLike,
    RandomState,
    stacked_rows,
)
from bochner._base.checks import check_rows_given, generators, validated
from bochner._base.registry import register
from bochner.features.approximation import Region, approximate, check_rows
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    Check,
    KernelParameters,
    check_each,
    count_frequencies,
    one_of,
    resolve_kernel,
)
from bochner.kernels import Kernel
from bochner.spectral.decompositions import Decomposition
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import Scheme

OUTPUTS = ("left", "concatenated")

_CHECKS: Mapping[str, Check] = {**KERNEL_CHECKS, "output": one_of(OUTPUTS)}
"""Checks of the constructor parameters, by name."""


@register
@dataclass(eq=False, repr=False)
class FourierFeatures(
    KernelParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Random Fourier features of a kernel.

    ``fit(X)`` takes rows (n, d), and ``transform(X)`` returns features (n, n_components) whose
    inner products estimate the kernel: k(x, y) ≈ ∑ᵢ sᵢ zᵢ(x) zᵢ(y). The signs s are in
    ``signature_``; all are 1 for a positive definite kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import FourierFeatures, kernels
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> map = FourierFeatures(kernels.Gaussian(2.0), n_components=256, random_state=0).fit(X)
    >>> map.transform(X).shape
    (100, 256)
    >>> bool(np.abs(map.gram(X) - kernels.Gaussian(2.0)(X)).max() < 0.1)
    True

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        An object of :mod:`bochner.kernels` or of :mod:`sklearn.gaussian_process.kernels`, a name
        such as ``"matern52"`` or ``"ntk"``, or, with ``weights="least_squares"``, any function
        ``k(X, Y)`` that returns Gram matrices.
    n_components : int, default=512
        Even number of real output features: a cosine and a sine for each frequency. It counts left
        features only; ``output="concatenated"`` adds the right features. A symmetric kernel with
        one frequency per argument, such as a locally stationary kernel, needs a multiple of 4. The
        only odd number accepted is 1, a single cosine, which scikit-learn's checks require.
    scheme : {"auto", "energy", "lattice", "orthogonal", "iid", "structured"} or Scheme
        How frequencies are sampled jointly; see :mod:`bochner.spectral`. ``"auto"``, the
        default, is ``"energy"`` for at most 64 inputs and ``"orthogonal"`` for more. It is
        ``"lattice"`` for product kernels of at most two inputs and rational quadratic kernels of at
        most three, and ``"structured"`` for isotropic kernels of 256 inputs or more if that is
        faster and its error on pairs of rows is at most 1.1 times as large.
    length_scale : float, sequence of d floats, "median" or "auto", default="median"
        Length scale of a kernel given by name; ``"median"`` is the median distance between at
        most 1000 rows, and ``"auto"`` is as in :class:`bochner.KreinRidge`. It is
        ignored if ``kernel`` is a kernel object.
    weights : {"sampled", "least_squares"}, default="sampled"
        ``"least_squares"`` fits the weights of the drawn frequencies to the exact kernel on at
        most 1000 rows, and keeps them if they are better on 250 others. Weights of a positive
        definite kernel stay nonnegative.
    decomposition : {"auto", "designed", "polar", "jordan"} or Decomposition, default="auto"
        How an indefinite kernel becomes a signed measure, and an asymmetric one a complex
        measure. ``"auto"`` draws from the closed form where it is positive, designs a measure for
        the data where it would be signed, and draws asymmetric kernels in polar form: one set of
        frequencies with phases. ``"jordan"`` draws from the positive and negative, real and
        imaginary parts of the closed form.
    masses : {"exact", "least_squares"}, default="exact"
        Masses of the parts of a measure; ``"least_squares"`` fits them to the kernel on 50 rows
        (He et al., Algorithm 2).
    output : {"left", "concatenated"}, default="left"
        Features that :meth:`transform` returns: the left features, or the left features followed by
        the right features that differ from them, as He et al. use in linear classifiers.
    dtype : {None, "float32", "float64"}, default=None
        Type of the features; ``None`` keeps float32 and converts all else to float64.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is approximated.
    frequencies_ : Frequencies
        The sampled frequencies and weights.
    signature_ : ndarray of shape (n_components,)
        Signs of the features of one argument.
    max_error_ : float or None
        Bound on the bias of the kernel's values within the reach of the data, zero for a closed
        form; ``None`` with fitted weights.
    predicted_error_ : float or None
        Expected root mean square error over pairs of distinct rows, relative to the root mean
        square of the kernel, for frequencies from a designed measure; ``None`` for others. The
        error is smaller, by at most a fifth, if the scheme is neither independent nor orthogonal.
    fit_error_ : float or None
        Relative error on held-out rows, with ``weights="least_squares"``.

    Notes
    -----
    Angular frequencies ω follow the spectral measure μ of k(x - y) = ∫ exp(i ω·(x - y)) μ(dω). The
    estimate is unbiased if the measure has a closed form. If the measure is designed for the data,
    the bias is at most ``max_error_``. A linear model on these features learns with Z Zᵀ, which
    ignores the signature; for kernels with negative parts use :class:`bochner.KreinRidge`.

    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", 2007. Liu, Huang, Chen
    and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed measures", 2021. He,
    He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022.
    """

    kernel: "AnyKernel | str" = "gaussian"
    n_components: int = 512
    _: KW_ONLY
    scheme: str | Scheme = "auto"
    weights: str = "sampled"
    decomposition: str | Decomposition = "auto"
    masses: str = "exact"
    output: str = "left"
    length_scale: LengthScale | str = "median"
    dtype: DTypeLike | None = None
    random_state: RandomState = None

    kernel_: AnyKernel = field(init=False)
    frequencies_: Frequencies = field(init=False)
    signature_: Array = field(init=False)
    max_error_: float | None = field(init=False)
    predicted_error_: float | None = field(init=False)
    fit_error_: float | None = field(init=False)
    _region: Region | None = field(init=False)
    _n_features_out: int = field(init=False)

    @classmethod
    def of(cls, frequencies: Frequencies, kernel: Kernel) -> "FourierFeatures":
        """Return a fitted transformer with the frequencies ``frequencies`` of ``kernel``."""
        features = cls(kernel, 2 * frequencies.n_frequencies)
        features.kernel_ = kernel
        features.frequencies_ = frequencies
        features.signature_ = frequencies.signature
        features.max_error_ = features.predicted_error_ = features.fit_error_ = None
        features._region = None
        features.n_features_in_ = frequencies.dim
        features._n_features_out = features.n_components
        return features

    def fit(self, X: Any, y: ArrayLike | None = None, right: Any = None) -> Self:
        """Draw the frequencies for the kernel on rows ``X``.

        Raises ``ValueError`` if ``n_components`` is odd or not positive, or not a multiple of 4 if
        that is needed; if the data are invalid or outside the kernel's domain, or its function is
        not finite and continuous within their reach. Raises ``NoMeasureError`` if no measure is
        known for the kernel, and weights are not fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows of the kernel's left argument. Only the number of columns matters, unless the
            length scale, a designed measure or fitted weights depend on the data.
        y : None
            Ignored.
        right : {array-like, sparse matrix} of shape (n2, d2), default=None
            Rows of the kernel's right argument if they differ, such as keys for queries; ``None``
            means ``X``.
        """
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS)
        self._check_parameters()
        n_frequencies = count_frequencies(self.n_components)
        if right is not None:
            right = check_rows_given(right, "right", accept_sparse="csr", dtype=FLOATS)
        # Separate random generators, so that a length-scale rule does not change the frequencies.
        scale_rng, draw_rng, data_rng = generators(self.random_state, 3)
        is_common = right is not None and right.shape[1] == X.shape[1]
        rows = stacked_rows(X, right) if is_common else X
        names = getattr(self, "feature_names_in_", None)
        self.kernel_ = resolve_kernel(self.kernel, self.length_scale, rows, scale_rng, names=names)
        approximation = approximate(
            self.kernel_,
            X,
            n_frequencies,
            draw_rng,
            data_rng,
            right,
            scheme=self.scheme,
            weights=self.weights,
            decomposition=self.decomposition,
            masses=self.masses,
        )
        if self.output == "concatenated" and approximation.frequencies.dim_right != X.shape[1]:
            raise ValueError(
                f"output='concatenated' puts the features of both arguments side by side for the "
                f"same rows, but the kernel's left argument has {X.shape[1]} inputs and its right "
                f"argument {approximation.frequencies.dim_right}; use output='left', and "
                f"transform_right."
            )
        self.frequencies_ = approximation.frequencies
        self._region = approximation.region
        self.max_error_ = approximation.max_error
        self.predicted_error_ = approximation.predicted_error
        self.fit_error_ = approximation.fit_error
        self.signature_ = self.frequencies_.signature[: self.n_components]
        self._n_features_out = self.n_components
        if self.output == "concatenated":
            self._n_features_out += len(self._others())
        return self

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter; also called for a model loaded from a file."""
        check_each(self, _CHECKS)

    def transform(self, X: MatrixLike) -> Floats:
        """Return the features (n, n_components) of rows (n, d), dense or CSR: cosines, then sines.

        With ``output="concatenated"`` the right features that differ from left ones follow.
        """
        X = self._checked(X)
        left = self.frequencies_.map_rows(X)[:, : self.n_components]
        if self.output == "left":
            return left
        right = self._right(self._checked_right(X))
        return np.concatenate((left, right[:, self._others()]), axis=1)

    def transform_right(self, Y: MatrixLike) -> Floats:
        """Return the features (n, n_components) of rows (n, d2) of the kernel's right argument.

        Rows are dense or CSR. A symmetric kernel has the same features as :meth:`transform`.
        """
        check_is_fitted(self, "signature_")
        return self._right(self._checked_right(Y))

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> Floats:
        """Return the approximate Gram matrix between ``X`` and ``Y`` (``None`` means ``X``)."""
        left = self.frequencies_.map_rows(self._checked(X))[:, : self.n_components]
        right = self._right(self._checked_right(X if Y is None else Y))
        gram: Floats = (left * self.signature_.astype(left.dtype, copy=False)) @ right.T
        return gram

    def _others(self) -> NDArray[np.intp]:
        """Return the indices of the right features to concatenate with the left features."""
        if self.output == "left":
            return np.empty(0, dtype=np.intp)
        # Phases cancel in linear models, so that the right features of a one-sided frequency would
        # only double the weight of the left ones (docs/adr/0013).
        return np.flatnonzero(np.tile(self.frequencies_.is_two_sided, 2)[: self.n_components])

    def _right(self, Y: Any) -> Floats:
        return self.frequencies_.right.map_rows(Y)[:, : self.n_components]

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "signature_")
        X = validated(self, X, accept_sparse="csr", dtype=self.dtype or FLOATS, reset=False)
        if self._region is None and isinstance(self.kernel_, Kernel):
            self.kernel_.check_inputs(X)
        else:
            check_rows(self.kernel_, self._region, X)
        return X

    def _checked_right(self, Y: object) -> Any:
        rows = check_rows_given(Y, "Y", accept_sparse="csr", dtype=self.dtype or FLOATS)
        if rows.shape[1] != self.frequencies_.dim_right:
            raise ValueError(
                f"Y has {rows.shape[1]} features, but the kernel's right argument has "
                f"{self.frequencies_.dim_right}."
            )
        check_rows(self.kernel_, self._region, rows, right=True)
        return rows

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
