"""The scikit-learn transformer of random Fourier features."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner.features.length_scales import resolve_kernel
from bochner.kernels import Kernel
from bochner.sampling import Scheme
from bochner.spectral import spectral_measure

_FLOATS = (np.float64, np.float32)


class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random Fourier features of a kernel.

    A map :math:`z` with :math:`z(x)^\top J z(y)` an unbiased estimate of :math:`k(x, y)`,
    where ``J`` is the diagonal ``signature_``, all ones for a positive definite kernel.
    Frequencies follow the :math:`\mu` of
    :math:`k(\Delta) = \int e^{i \omega \cdot \Delta} \mu(d\omega)`.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        An object of :mod:`bochner.kernels`, or a name such as ``"matern52"``.
    n_components : int, default=512
        Number of real output features, even: a cosine and a sine for each frequency. The one
        odd number accepted is 1, a lone cosine, which scikit-learn's checks insist on.
    scheme : {"orthogonal", "qmc", "iid", "structured"} or Scheme, default="orthogonal"
        How frequencies depend on one another; see :mod:`bochner.sampling`.
    length_scale : float, sequence of d floats or "median", default="median"
        Of a kernel given by name; ``"median"`` is the median distance between at most 1000
        rows. A kernel object has its own length scale, and this one is not used.
    dtype : {None, "float32", "float64"}, default=None
        Of the features; ``None`` keeps float32 and makes all else float64.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is approximated.
    frequencies_ : Frequencies
        The sampled frequencies and weights.
    signature_ : ndarray of shape (n_components,)
        Signs of the features.

    Notes
    -----
    A linear model on these features learns with :math:`Z Z^\top`, which ignores the signature;
    for kernels with negative parts use :class:`bochner.KreinRidge`.

    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", 2007.

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
    """

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        n_components: int = 512,
        *,
        scheme: str | Scheme = "orthogonal",
        length_scale: Any = "median",
        dtype: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.scheme = scheme
        self.length_scale = length_scale
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Only its number of columns is used, and its distances where ``length_scale`` asks.
        y : None
            Ignored.

        Returns
        -------
        self : FourierFeatures

        Raises
        ------
        ValueError
            If ``n_components`` is odd or not positive, or the data are unusable.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS)
        n_frequencies = count_frequencies(self.n_components)
        _check_dtype(self.dtype)
        scale_rng, draw_rng = generators(self.random_state, 2)
        self.kernel_ = resolve_kernel(self.kernel, self.length_scale, X, scale_rng)
        measure = spectral_measure(self.kernel_, X.shape[1])
        self.frequencies_ = measure.sample(n_frequencies, draw_rng, self.scheme)
        self.signature_ = self.frequencies_.signature[: self.n_components]
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the features, of shape (n, n_components): cosines, then sines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        """
        return self._left(self._checked(X))

    def transform_right(self, Y: Any) -> NDArray[Any]:
        """Return the features of the kernel's right argument, of shape (n, n_components).

        They are those of :meth:`transform` for a symmetric kernel.
        """
        return self._right(self._checked(Y))

    def gram(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """Return the approximate Gram matrix between ``X`` and ``Y`` (``None`` means ``X``)."""
        X = self._checked(X)
        left, right = self._left(X), self._right(X if Y is None else self._checked(Y))
        gram: NDArray[Any] = (left * self.signature_.astype(left.dtype)) @ right.T
        return gram

    def _left(self, X: Any) -> NDArray[Any]:
        return self.frequencies_.features(X)[:, : self.n_components]

    def _right(self, Y: Any) -> NDArray[Any]:
        return self.frequencies_.features_right(Y)[:, : self.n_components]

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        dtype = _FLOATS if self.dtype is None else _check_dtype(self.dtype)
        return validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def count_frequencies(n_components: Any) -> int:
    """Return the number of frequencies behind ``n_components`` features: half of it.

    One feature, which scikit-learn's checks ask of every estimator with this parameter, needs
    one frequency too.
    """
    if isinstance(n_components, bool) or not isinstance(n_components, Integral):
        raise TypeError(f"n_components must be an even positive integer, got {n_components!r}.")
    count = int(n_components)
    if count < 1 or (count % 2 and count != 1):
        raise ValueError(
            f"n_components must be even and positive, because every frequency makes two "
            f"features, a cosine and a sine; got {count}, which is odd or not positive. "
            f"Use {max(2, count + count % 2)}."
        )
    return (count + 1) // 2


def generators(random_state: Any, n: int) -> list[np.random.Generator]:
    """Return ``n`` independent generators from a scikit-learn ``random_state``."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return np.random.default_rng(seed).spawn(n)


def _check_dtype(dtype: Any) -> Any:
    if dtype is not None and np.dtype(dtype) not in (np.dtype("float32"), np.dtype("float64")):
        raise ValueError(f"dtype must be None, 'float32' or 'float64', got {dtype!r}.")
    return dtype
