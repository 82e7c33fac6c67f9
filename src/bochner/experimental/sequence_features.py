"""The scikit-learn transformer of random features of sequences."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import (
    Array,
    LengthScale,
    MatrixLike,
    RandomState,
    as_count,
    frozen_array,
)
from bochner._numerics.limits import NEGLIGIBLE
from bochner._numerics.whole_fits import all_or_nothing
from bochner.experimental.sequence_maps import (
    SignatureLevels,
    WindowMeans,
    drawn_orders,
    some_windows,
    windows_at,
)
from bochner.experimental.sequences import Sequences, alphabet_of, coded, read_sequences
from bochner.features.approximation import Recipe, approximate
from bochner.features.length_scales import resolve_kernel
from bochner.features.parameter_checks import KERNEL_CHECKS, Check, check_each, one_of, unchecked
from bochner.features.parameters import KernelParameters, check_choice, generators
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel
from bochner.registry import register
from bochner.sampling import Scheme
from bochner.spectral import NoMeasureError, closed_form

_ROWS = 1000
"""Windows or points for the length scale, as many as rows for the median distance."""

_PILOT_SEQUENCES = 200
"""Sequences whose mean norms give the weights of levels: their standard error is some per cent."""

_DEEPEST = 10
"""Greatest depth: there are 2046 features for each frequency, and products of ten waves have a
variance that no number of features makes small."""


@register
class SequenceFeatures(
    KernelParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Random Fourier features of sequences: series of different lengths, and strings.

    Rows are sequences, and inner products of their features estimate a kernel of two sequences
    :math:`s` and :math:`t`, which is built from a kernel :math:`\kappa` of vectors:

    - ``method="windows"``: the mean of :math:`\kappa` over all pairs of windows of :math:`s` and
      :math:`t`. It compares short patterns wherever they occur.
    - ``method="signature"``: sums of products of :math:`\kappa` over pairs of subsequences. It
      compares the order of events, at any distance and any speed.

    Both estimates are unbiased.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        Kernel :math:`\kappa` of windows or points: an object of :mod:`bochner.kernels` or a name,
        symmetric with a positive measure in closed form, such as ``"laplacian"`` or ``"matern52"``.
    n_components : int, default=512
        Greatest number of features. Windows have two for each frequency. The signature has
        :math:`2^{m + 1} - 2` for each frequency, with the depth :math:`m`, and a constant.
    method : {"windows", "signature"}, default="windows"
        Kernel of sequences.
    window : int, default=3
        Number of points of a window, with ``method="windows"``. No sequence may be shorter.
    depth : int, default=2
        Number of levels, with ``method="signature"``: the most points of a subsequence that are
        compared, from 1 to 10. The variance grows with it.
    level_weights : "auto" or sequence of depth + 1 floats, default="auto"
        Weights of the levels of the signature, from level zero, a constant. ``"auto"`` gives
        each level a mean squared norm of one on at most 200 sequences, and level zero the weight
        one. A level that is zero on all these sequences, up to rounding, gets the weight zero.
    scheme : {"auto", "energy", "lattice", "orthogonal", "qmc", "iid", "structured"} or Scheme
        How frequencies depend on one another, as in :class:`FourierFeatures`.
    length_scale : float, sequence of floats or "median", default="median"
        Length scale of a kernel given by name; ``"median"`` is the median distance between at
        most 1000 windows or points. It is ignored if ``kernel`` is a kernel object.
    dtype : {None, "float32", "float64"}, default=None
        Type of the features; ``None`` means float32 if all sequences are float32, else float64.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
        The kernel of windows or points.
    map_ : WindowMeans or SignatureLevels
        Frequencies and, for the signature, their orders and the weights of levels.
    n_columns_ : int
        Number of columns of a point. For strings it is the number of letters plus one, because all
        letters absent from the training strings share one column.
    alphabet_ : str or None
        Letters of the strings given to :meth:`fit`; ``None`` for numbers.

    Notes
    -----
    Letters are one-hot encoded. A Gaussian kernel of two windows of letters is then
    :math:`e^{-h / \ell^2}`, with :math:`h` the number of places where they differ.

    The signature does not depend on how long a point stays, nor on the speed of a path. Add a
    column of times if speed matters. Standardise columns of different units first.

    References
    ----------
    Haussler, "Convolution kernels on discrete structures", 1999, for windows. Tóth, Oberhauser and
    Szabó, "Random Fourier signature features", 2023, for the signature.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.experimental import SequenceFeatures
    >>> rng = np.random.default_rng(0)
    >>> series = [rng.normal(size=(length, 2)).cumsum(axis=0) for length in (5, 9, 7)]
    >>> SequenceFeatures(method="signature", random_state=0).fit_transform(series).shape
    (3, 511)

    Strings that share most of their windows have a large kernel:

    >>> words = ["interpolate", "interpolation", "eigenvalue"]
    >>> features = SequenceFeatures(n_components=2000, length_scale=0.5, random_state=0).fit(words)
    >>> gram = features.gram(words)
    >>> bool(gram[0, 1] > 2.0 * gram[0, 2])
    True
    """

    kernel_: Kernel
    map_: WindowMeans | SignatureLevels
    n_columns_: int
    alphabet_: str | None
    _n_features_out: int

    def __init__(
        self,
        kernel: Kernel | str = "gaussian",
        n_components: int = 512,
        *,
        method: str = "windows",
        window: int = 3,
        depth: int = 2,
        level_weights: object = "auto",
        scheme: str | Scheme = "auto",
        length_scale: LengthScale | str = "median",
        dtype: DTypeLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.method = method
        self.window = window
        self.depth = depth
        self.level_weights = level_weights
        self.scheme = scheme
        self.length_scale = length_scale
        self.dtype = dtype
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : list of arrays (T, d) or (T,), array of shape (n, T, d) or (n, T), or list of str
            Sequences. Only their columns or letters matter, unless the length scale or weights of
            levels depend on the data.
        y : None
            Ignored.

        Raises
        ------
        TypeError
            If rows are neither arrays nor strings.
        ValueError
            If a parameter is invalid; if there are no sequences, or one is empty, shorter than the
            window, of another width, or not finite; or if the kernel has no positive measure in
            closed form.
        """
        self._check_parameters()
        read = read_sequences(X)
        self.alphabet_ = alphabet_of(read) if isinstance(read, list) else None
        sequences = read if isinstance(read, Sequences) else coded(read, str(self.alphabet_))
        self.n_columns_ = sequences.width
        self.kernel_, self.map_ = _METHODS[self.method](self, sequences)
        self._n_features_out = self.map_.n_features
        return self

    def _check_parameters(self) -> None:
        """Raise an error for an unusable parameter; also of a model from a file."""
        check_each(self, _CHECKS)

    def transform(self, X: MatrixLike) -> NDArray[Any]:
        """Return the features (n, n_features) of n sequences of the kind given to :meth:`fit`."""
        sequences = self._checked(X)
        dtype = sequences.dtype if self.dtype is None else np.dtype(self.dtype)
        return self.map_.features(sequences).astype(dtype, copy=False)

    def gram(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """Return the approximate kernel (n, n2) between ``X`` and ``Y`` (``None`` means ``X``)."""
        left = self.transform(X)
        right = left if Y is None else self.transform(Y)
        gram: NDArray[Any] = left @ right.T
        return gram

    def _checked(self, X: object) -> Sequences:
        check_is_fitted(self)
        read = read_sequences(X)
        if isinstance(read, list) is (self.alphabet_ is None):
            kinds = ("numbers", "strings")
            kind_of_rows, kind_of_fit = kinds if self.alphabet_ is not None else kinds[::-1]
            raise TypeError(f"X holds {kind_of_rows}, but fit was given {kind_of_fit}.")
        sequences = read if isinstance(read, Sequences) else coded(read, str(self.alphabet_))
        if sequences.width != self.n_columns_:
            raise ValueError(
                f"Sequences of X have {sequences.width} columns, but fit was given "
                f"{self.n_columns_}."
            )
        if isinstance(self.map_, WindowMeans):
            _check_lengths(sequences, self.map_.window)
        return sequences

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _trial_rows(self) -> Any:
        """Return a sequence for the trial of a loaded model, and its rows for the kernel."""
        if self.map_.width != self.n_columns_:  # Before arrays of that width are made
            raise ValueError(f"map_ takes {self.map_.width} columns, not {self.n_columns_}")
        n = max(2, getattr(self.map_, "window", 2))
        if self.alphabet_ is None:
            X: Any = np.eye(n, self.n_columns_)[None]
        else:
            X = [str(self.alphabet_)[0] * n]
        return X, self.map_.kernel_rows(self._checked(X))


def _fit_windows(model: SequenceFeatures, sequences: Sequences) -> tuple[Kernel, WindowMeans]:
    window = as_count("window", model.window)
    _check_lengths(sequences, window)
    m = _count_frequencies(model.n_components, 2, 0, "a cosine and a sine")
    scale_rng, draw_rng, data_rng = generators(model.random_state, 3)
    begin = some_windows(sequences, window, _ROWS, scale_rng)
    rows = windows_at(sequences, begin, window)
    kernel = _resolved(model, rows, scale_rng)
    return kernel, WindowMeans(kernel, _drawn(model, kernel, rows, m, draw_rng, data_rng), window)


def _fit_signature(model: SequenceFeatures, sequences: Sequences) -> tuple[Kernel, SignatureLevels]:
    depth = as_count("depth", model.depth)
    if depth > _DEEPEST:
        raise ValueError(f"depth must be at most {_DEEPEST}, got {depth}.")
    level_weights = _checked_weights(model.level_weights, depth)
    m = _count_frequencies(
        model.n_components, 2 ** (depth + 1) - 2, 1, f"the products of depth={depth}"
    )
    scale_rng, draw_rng, data_rng, pilot_rng = generators(model.random_state, 4)
    rows = windows_at(sequences, some_windows(sequences, 1, _ROWS, scale_rng), 1)
    kernel = _resolved(model, rows, scale_rng)

    def drawn(rng: np.random.Generator, weights: Array) -> SignatureLevels:
        *of_factors, of_orders = rng.spawn(depth + 1)
        draws = tuple(
            _drawn(model, kernel, rows, m, rng_of_factor, data_rng) for rng_of_factor in of_factors
        )
        return SignatureLevels(kernel, draws, drawn_orders(depth, m, of_orders), weights)

    if level_weights is None:
        # Frequencies that features do not use, so that weights do not depend on the features.
        pilot = drawn(pilot_rng, np.ones(depth + 1))
        norms = pilot.level_norms(sequences.some(_PILOT_SEQUENCES, pilot_rng))
        # Rounding of waves of size one is far below it, and must not be scaled up.
        least = (NEGLIGIBLE * float(kernel.diag(rows).max()) ** (0.5 * np.arange(depth + 1))) ** 2
        level_weights = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > least)
    return kernel, drawn(draw_rng, level_weights)


_METHODS: Mapping[str, Any] = MappingProxyType(
    {"windows": _fit_windows, "signature": _fit_signature}
)

_CHECKS: Mapping[str, Check] = {
    **KERNEL_CHECKS,
    "n_components": as_count,
    "method": one_of(tuple(_METHODS)),
    "window": as_count,
    "depth": as_count,
    "level_weights": unchecked,  # Their number is that of the levels of the method
}
"""Checks of the constructor parameters, by name."""


def _resolved(model: SequenceFeatures, rows: Array, rng: np.random.Generator) -> Kernel:
    kernel = resolve_kernel(model.kernel, model.length_scale, rows, rng)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a Kernel or the name of one, got {kernel!r}.")
    try:
        is_positive = closed_form(kernel, rows.shape[1]).is_positive
    except NoMeasureError:
        is_positive = False
    if not is_positive:
        raise ValueError(
            f"kernel must have a positive measure in closed form, because features of sequences "
            f"have no signs and hold for any row; got {kernel!r}. Use one such as 'gaussian', "
            f"'laplacian' or 'matern52'."
        )
    return kernel


def _drawn(
    model: SequenceFeatures,
    kernel: Kernel,
    rows: Array,
    m: int,
    rng: np.random.Generator,
    data_rng: np.random.Generator,
) -> Frequencies:
    return approximate(kernel, rows, Recipe(m, model.scheme), rng, data_rng).frequencies


def _count_frequencies(n_components: object, each: int, n_constants: int, origin: str) -> int:
    count = as_count("n_components", n_components)
    if count < each + n_constants:
        raise ValueError(
            f"n_components must be at least {each + n_constants}, because a frequency makes {each} "
            f"features, {origin}; got {count}."
        )
    return (count - n_constants) // each


def _checked_weights(weights: Any, depth: int) -> Array | None:
    if isinstance(weights, str):
        check_choice("level_weights", weights, ("auto",))
        return None
    checked = frozen_array("level_weights", weights, (depth + 1,))
    if (checked < 0.0).any() or not checked.any():
        raise ValueError(f"level_weights must not be negative, nor all be zero, got {weights!r}.")
    return checked


def _check_lengths(sequences: Sequences, window: int) -> None:
    shortest = int(np.argmin(sequences.lengths))
    if (length := int(sequences.lengths[shortest])) < window:
        raise ValueError(
            f"Sequence {shortest} of X has length {length}, shorter than window={window}: choose a "
            f"smaller window, or leave the sequence out. Strings can begin and end with spaces."
        )
