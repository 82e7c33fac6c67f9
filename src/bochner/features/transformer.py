"""The scikit-learn transformer of random Fourier features."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner.features.approximation import Recipe, approximate
from bochner.features.length_scales import AnyKernel, resolve_kernel
from bochner.features.region import check_rows
from bochner.sampling import Scheme
from bochner.spectral import Decomposition

_FLOATS = (np.float64, np.float32)


class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random Fourier features of a kernel.

    A map :math:`z` with :math:`z(x)^\top J z(y)` an estimate of :math:`k(x, y)`, where ``J`` is
    the diagonal ``signature_``, all ones for a positive definite kernel. Frequencies follow the
    :math:`\mu` of :math:`k(\Delta) = \int e^{i \omega \cdot \Delta} \mu(d\omega)`. The estimate
    is unbiased for a kernel whose measure is known, and off by no more than ``max_error_`` in the
    mean where the measure is designed for the data.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        An object of :mod:`bochner.kernels`, a name such as ``"matern52"`` or ``"ntk"``, or, with
        ``weights="least_squares"``, any symmetric function ``k(X, Y)`` that returns Gram matrices.
    n_components : int, default=512
        Number of real output features, even: a cosine and a sine for each frequency. The one
        odd number accepted is 1, a lone cosine, which scikit-learn's checks insist on.
    scheme : {"orthogonal", "qmc", "iid", "structured"} or Scheme, default="orthogonal"
        How frequencies depend on one another; see :mod:`bochner.sampling`.
    length_scale : float, sequence of d floats or "median", default="median"
        Of a kernel given by name; ``"median"`` is the median distance between at most 1000
        rows. A kernel object has its own length scale, and this one is not used.
    weights : {"sampled", "least_squares"}, default="sampled"
        ``"least_squares"`` fits the weights of the drawn frequencies to the exact kernel on at
        most 1000 rows, and keeps them if they are better on 250 others. Weights of a positive
        definite kernel stay nonnegative.
    decomposition : {"auto", "designed", "jordan"} or Decomposition, default="auto"
        How an indefinite kernel becomes a signed measure. ``"auto"`` draws from the closed form
        where it is positive, and designs a measure for the data otherwise; ``"jordan"`` draws
        from the positive and negative parts of the closed form.
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
    max_error_ : float or None
        Bound on the bias of the kernel's values within the reach of the data, zero for a closed
        form; ``None`` with fitted weights.
    predicted_error_ : float or None
        Predicted relative root mean square error over pairs of rows, for sampled weights of a
        designed measure.
    fit_error_ : float or None
        Relative error on held-out rows, with ``weights="least_squares"``.

    Notes
    -----
    A linear model on these features learns with :math:`Z Z^\top`, which ignores the signature;
    for kernels with negative parts use :class:`bochner.KreinRidge`.

    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", 2007. Liu, Huang, Chen
    and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed measures", 2021.

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
        kernel: AnyKernel | str = "gaussian",
        n_components: int = 512,
        *,
        scheme: str | Scheme = "orthogonal",
        weights: str = "sampled",
        decomposition: str | Decomposition = "auto",
        length_scale: Any = "median",
        dtype: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.scheme = scheme
        self.weights = weights
        self.decomposition = decomposition
        self.length_scale = length_scale
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Its number of columns, and distances of its rows where the length scale or a
            designed measure asks for them.
        y : None
            Ignored.

        Returns
        -------
        self : FourierFeatures

        Raises
        ------
        ValueError
            If ``n_components`` is odd or not positive, the data are unusable or outside the
            kernel's domain, or its function is not finite and continuous as far as they reach.
        TypeError
            If no measure is known for the kernel, and weights are not fitted.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS)
        n_frequencies = count_frequencies(self.n_components)
        _check_dtype(self.dtype)
        scale_rng, draw_rng, data_rng = generators(self.random_state, 3)
        self.kernel_ = resolve_kernel(self.kernel, self.length_scale, X, scale_rng)
        recipe = Recipe(n_frequencies, self.scheme, self.weights, self.decomposition)
        found = approximate(self.kernel_, X, recipe, draw_rng, data_rng)
        self.frequencies_ = found.frequencies
        self._region = found.region
        self.max_error_ = found.max_error
        self.predicted_error_ = found.predicted_error
        self.fit_error_ = found.fit_error
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
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=False)
        check_rows(self.kernel_, self._region, X)
        return X

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
