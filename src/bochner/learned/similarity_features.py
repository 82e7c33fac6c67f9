"""Random features of a spectral mixture learned from the similarities of a few rows."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, ArrayLike, Floats, MatrixLike, as_count, as_scale
from bochner._base.checks import check_rows_given, generators, validated
from bochner._base.limits import FUNCTION_ROUNDING
from bochner._base.registry import register
from bochner._base.threads import single_threaded_blas
from bochner._base.warn import warn_user
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    Check,
    KernelParameters,
    check_each,
    check_kernel,
    count_frequencies,
    median_distance,
    optional,
    resolve_kernel,
)
from bochner.kernels import Kernel, SpectralMixture
from bochner.learned.exact_inference import ExactInference
from bochner.learned.mixture_inference import Inference, LearnedMixture, Sketch
from bochner.spectral.frequencies import Frequencies

PRECOMPUTED = "precomputed"

# Root mean square residual, relative to the similarities, above which a warning is given.
_POOR_FIT = 0.5


def _check_sketch(name: str, value: object) -> None:
    if as_count(name, value) < 2:
        raise ValueError(f"{name} must be at least 2, because pairs of rows are compared; got 1.")


def _check_similarity(name: str, value: object) -> None:
    if not (isinstance(value, str) and value == PRECOMPUTED):
        check_kernel(name, value)


def _check_inference(name: str, value: object) -> None:
    if value is not None and not isinstance(value, Inference):
        raise TypeError(
            f"{name} must be an object such as ExactInference() or None, got {value!r:.60}."
        )


_CHECKS: Mapping[str, Check] = {
    **KERNEL_CHECKS,
    "kernel": _check_similarity,
    "n_sketch": _check_sketch,
    "truncation": as_count,
    "noise": optional(as_scale),
    "inference": _check_inference,
}
"""Checks of the constructor parameters, by name."""


@register
@dataclass(eq=False, repr=False)
class SimilarityFeatures(
    KernelParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Random Fourier features of a kernel learned from similarities (DIGMM).

    The similarity is symmetric, definite or indefinite; it can be a function or a matrix of values.
    Its values on a sketch of ``n_sketch`` rows are approximated by the difference of two kernels,
    k₊(x - y) - k₋(x - y). ``transform(X)`` returns features (n, n_components) of that difference.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import SimilarityFeatures, kernels
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> k = kernels.Gaussian(2.0) - 0.5 * kernels.Gaussian(0.5)
    >>> map = SimilarityFeatures(k, n_sketch=100, random_state=0).fit(X)
    >>> map.transform(X).shape
    (300, 512)
    >>> bool(np.abs(map.kernel_(X) - k(X)).max() < 0.05)
    True

    Similarities without a formula are given as a matrix:

    >>> map = SimilarityFeatures("precomputed", n_sketch=100, random_state=0)
    >>> map.fit(X, similarity=np.tanh(2.0 * k(X))).signature_.shape
    (512,)

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        Object of :mod:`bochner.kernels`, name of one, function ``k(X, Y)`` that returns Gram
        matrices, or ``"precomputed"``: then :meth:`fit` takes a similarity matrix.
    n_components : int, default=512
        Number of real output features, even: a cosine and a sine for each frequency of either
        sign. The only odd number accepted is 1.
    n_sketch : int, default=5
        Number of rows whose similarities are used, at least 2. The default is that of the paper; a
        few hundred rows take seconds and work well. Rows after the first ten lie far apart.
    truncation : int, default=5
        Largest number of components of each mixture.
    noise : float or None, default=None
        Standard deviation of similarities around their estimate, relative to the mean size of
        self-similarities. ``None`` learns it, except that ``Taylor`` sets it to one.
    inference : Inference, default=None
        How the mixtures are inferred. ``None`` means :class:`bochner.learned.ExactInference`, with
        exact expectations; :class:`bochner.papers.digmm.Taylor` is Algorithm 1 of the paper.
    length_scale : float, sequence of d floats or "median", default="median"
        Length scale of a kernel given by name, as in :class:`FourierFeatures`.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
        The difference of the two learned kernels.
    positive_, negative_ : SpectralMixture or None
        The kernels k₊ and k₋; ``None`` for a part that is zero.
    frequencies_ : Frequencies
    signature_ : ndarray of shape (n_components,)
        Signs of the features.
    responsibilities_ : tuple of two ndarrays of shape (m, truncation) or None
        Probability of each component for each drawn frequency of the positive and of the negative
        part; rows sum to one.
    n_used_ : tuple of two ints
        Numbers of components with at least a thousandth of the frequencies of their part.
    elbo_ : ndarray of shape (n_iter,)
        Evidence lower bound after each iteration; with ``ExactInference`` it never falls.
    changes_ : ndarray of shape (n_iter,)
        Change in each iteration of the frequencies' component probabilities (Frobenius norm).
    noise_ : float
        Standard deviation of similarities around ``kernel_``, in their units, learned or given.
    sketch_indices_ : ndarray of shape (n_sketch,)
        Indices of the rows whose similarities were used.
    n_iter_ : int

    Notes
    -----
    Spectral measures of both kernels are mixtures of Gaussians with Dirichlet-process priors, and
    frequencies are drawn from both. With the features z of :meth:`transform`, z(x)ᵀ J z(y) is an
    unbiased estimate of the difference, ``kernel_``; J is the diagonal matrix of ``signature_``: -1
    for features of k₋, else 1. Frequencies ω are angular: features are cos(ω·x) and sin(ω·x),
    without a factor 2π.

    The learned kernel is a function of the difference of two rows. If the similarity is not, the
    kernel is the nearest such function. A linear model on these features learns with Z Zᵀ, which
    ignores the signature; see :class:`bochner.KreinRidge`.

    References
    ----------
    Liu, Huang, Shi, Yang and Suykens, "A double-variational Bayesian framework in random Fourier
    features for indefinite kernels", 2020, sections III and IV.
    """

    kernel: "AnyKernel | str" = "gaussian"
    n_components: int = 512
    _: KW_ONLY
    n_sketch: int = 5
    truncation: int = 5
    noise: float | None = None
    inference: Inference | None = None
    length_scale: Any = "median"
    random_state: Any = None

    kernel_: Kernel = field(init=False)
    positive_: SpectralMixture | None = field(init=False)
    negative_: SpectralMixture | None = field(init=False)
    frequencies_: Frequencies = field(init=False)
    responsibilities_: tuple[Array | None, ...] = field(init=False)
    n_used_: tuple[int, ...] = field(init=False)
    signature_: Array = field(init=False)
    elbo_: Array = field(init=False)
    changes_: Array = field(init=False)
    noise_: float = field(init=False)
    sketch_indices_: NDArray[np.integer[Any]] = field(init=False)
    n_iter_: int = field(init=False)
    _n_features_out: int = field(init=False)

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, *, similarity: object = None) -> Self:
        """Infer the mixtures and draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : None
            Ignored.
        similarity : array-like of shape (n, n), default=None
            With ``kernel="precomputed"``: the symmetric matrix of similarities of the rows.

        Raises
        ------
        ValueError
            If a parameter is out of range, the data are unusable, or similarities are not finite,
            not symmetric, all zero, or missing.
        """
        X = validated(self, X, dtype=FLOATS, ensure_min_samples=2)
        self._check_parameters()
        n_frequencies = count_frequencies(self.n_components)
        inference = ExactInference() if self.inference is None else self.inference
        noise = None if self.noise is None else float(self.noise)
        scale_rng, sketch_rng, rng, draw_rng = generators(self.random_state, 4)
        rows = np.asarray(X, dtype=np.float64)
        chosen = inference.choose(rows, self.n_sketch, sketch_rng)
        gram = _checked(self._similarities(rows, chosen, similarity, scale_rng))
        sketch = Sketch(rows[chosen], gram, median_distance(rows, scale_rng))
        with single_threaded_blas():  # the matrices are too small to share among threads
            learned = inference.infer(sketch, int(self.truncation), noise, n_frequencies, rng)
        if inference.learns_noise and noise is None:
            _warn_if_unexplained(gram, learned.noise)
        frequencies = learned.measure.sample(n_frequencies, draw_rng, inference.scheme)
        self._keep(learned, frequencies)
        self.sketch_indices_ = chosen
        return self

    def transform(self, X: MatrixLike) -> Floats:
        """Return the features (n, n_components) of rows (n, d): cosines, then sines."""
        check_is_fitted(self, "sketch_indices_")
        X = validated(self, X, dtype=FLOATS, reset=False)
        return np.asarray(self.frequencies_.features(X)[:, : self._n_features_out])

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> Floats:
        """Return the approximate Gram matrix between ``X`` and ``Y`` (``None`` means ``X``)."""
        left = self.transform(X)
        right = left if Y is None else self.transform(Y)
        return np.asarray((left * self.signature_) @ right.T)

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters, also of a model loaded from a file."""
        check_each(self, _CHECKS)

    def _similarities(
        self, rows: Array, chosen: NDArray[np.intp], similarity: object, rng: np.random.Generator
    ) -> Array:
        """Return the similarities (s, s) of the chosen rows, from the kernel or ``similarity``."""
        if not (isinstance(self.kernel, str) and self.kernel == PRECOMPUTED):
            if similarity is not None:
                raise ValueError(
                    f"similarity requires kernel='precomputed', but kernel is "
                    f"{self.kernel!r:.60}, which computes similarities. Drop one of the two."
                )
            names = getattr(self, "feature_names_in_", None)
            kernel = resolve_kernel(self.kernel, self.length_scale, rows, rng, names=names)
            return np.asarray(kernel(rows[chosen], rows[chosen]), dtype=np.float64)
        if similarity is None:
            raise ValueError(
                "kernel='precomputed' needs fit(X, similarity=S) with the (n, n) similarities "
                "of the rows of X."
            )
        matrix = check_rows_given(similarity, "similarity", dtype=np.float64)
        if matrix.shape != (len(rows), len(rows)):
            raise ValueError(
                f"similarity must have shape {(len(rows), len(rows))}, a row and a column for "
                f"each row of X, got {matrix.shape}."
            )
        return np.asarray(matrix[np.ix_(chosen, chosen)])

    def _keep(self, learned: LearnedMixture, frequencies: Frequencies) -> None:
        by_sign = {part.sign: part for part in learned.parts}
        parts = by_sign.get(1.0), by_sign.get(-1.0)
        self.kernel_ = learned.kernel
        self.positive_, self.negative_ = (None if part is None else part.kernel for part in parts)
        self.n_used_ = tuple(part.n_used if part else 0 for part in parts)
        self.frequencies_ = frequencies
        omega, positive = frequencies.omega, frequencies.weight > 0.0
        self.responsibilities_ = tuple(
            None if part is None else part.responsibilities(omega[mine])
            for part, mine in zip(parts, (positive, ~positive), strict=True)
        )
        self.signature_ = frequencies.signature[: self.n_components]
        self.elbo_, self.changes_ = learned.bounds, learned.changes
        self.noise_ = learned.noise
        self.n_iter_ = len(learned.bounds)
        self._n_features_out = self.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _checked(gram: Array) -> Array:
    """Return the validated, exactly symmetric similarities of the sketch."""
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"The kernel must return a square matrix for a sketch, got {gram.shape}.")
    if not np.isfinite(gram).all():
        raise ValueError("Similarities of the sketch must be finite, got NaN or infinity.")
    greatest = float(np.abs(gram).max())
    if greatest == 0.0:
        raise ValueError(
            "All similarities of the sketch are zero, so no kernel can be learned from them. Use a "
            "larger n_sketch, or a kernel that is not zero on the data."
        )
    gap = float(np.abs(gram - gram.T).max())
    if gap > FUNCTION_ROUNDING * greatest:
        raise ValueError(
            f"Similarities must be symmetric, but differ by {gap:.3g} between (x, y) and (y, x). "
            f"Use FourierFeatures or AsymmetricKernelRidge, which take asymmetric kernels."
        )
    return 0.5 * (gram + gram.T)


def _warn_if_unexplained(gram: Array, noise: float) -> None:
    share = noise / float(np.sqrt(np.mean(gram**2)))
    if share > _POOR_FIT:
        warn_user(
            f"The learned kernel fits the similarities poorly: the residuals are {share:.0%} of "
            f"their size. Use a larger n_sketch; or, if the similarities are not a function of the "
            f"difference of rows, FourierFeatures(function, weights='least_squares')."
        )
