"""Multiple kernel learning with random features of a bank of kernels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from benchmarks.baselines.mixture_frequencies import means_and_deviations
from bochner._base.arrays import FLOATS, Array, Floats, RandomState, as_positive
from bochner._base.checks import check_choice, generators, validated
from bochner.features.nystroem import KernelFeatures
from bochner.features.parameters import count_frequencies, median_distance
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import named_kernel
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies

# Default length scales, in median distances of standardised rows.
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

# Rows that the weights are learned on: 15 Gram matrices of 500 rows take 30 MiB.
_N_ALIGNED = 500

# Largest number of different integers that count as labels of classes.
_MOST_LABELS = 20


class MultipleKernelFeatures(KernelFeatures):
    r"""Random features of a non-negative combination of a bank of kernels.

    The bank has each of ``kernels`` with each of the length scales, ``B`` kernels in all. Each
    kernel has an equal share of the frequencies, drawn independently, and the features approximate

    .. math:: k(x, y) = \sum_{b=1}^{B} w_b k_b(x, y), \qquad w_b \geq 0, \quad \sum_b w_b = 1.

    With targets, the weights are given by centred alignment: with the centring matrix ``H`` and
    exact Gram matrices :math:`K_b` of at most 500 rows, the weights minimise

    .. math:: \left\| \sum_b w_b H K_b H - H y y^\top H \right\|_F^2

    and are then scaled to sum to one. Without targets, or if the targets are constant or aligned
    with no kernel, weights are uniform. Use the features in a linear model.

    Parameters
    ----------
    n_components : int, default=768
        Number of real features, even: a cosine and a sine for each frequency; or 1. With fewer
        frequencies than kernels, some kernels have none and weight zero.
    length_scales : sequence of float, default=None
        Length scales in standard deviations of the inputs. ``None`` means 1/4, 1/2, 1, 2 and 4
        times the median distance of at most 1000 standardised rows.
    kernels : sequence of str, default=("laplacian", "gaussian", "cauchy")
        Names of kernels that have a length scale.
    weights : {"alignment", "uniform"}, default="alignment"
        ``"uniform"`` ignores the targets and leaves the weighting to the linear model.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    bank_ : list of Kernel
        Kernels with length scales in the units of the inputs; scales vary faster than names.
    centre_ : ndarray of shape (d,)
        Means of the inputs, which are subtracted.
    weights_, counts_ : ndarrays of shape (B,)
        Weight and number of frequencies of each kernel.
    frequencies_ : Frequencies
    signature_ : ndarray of ones, of shape (n_components,)

    Notes
    -----
    Columns of targets are standardised each. Labels (strings, booleans or at most 20 different
    integers) become indicators of classes. The paper leaves all weights to the linear model, as
    ``weights="uniform"`` does. Alignment ignores noise: where targets depend on small differences
    between rows it may keep rough kernels only, and uniform weights predict better.

    References
    ----------
    Oliva et al., "Bayesian nonparametric kernel-learning", 2016, Section 4.2, equations 19 and 20.
    Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered alignment",
    2012, Section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import MultipleKernelFeatures
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> map = MultipleKernelFeatures(n_components=96, random_state=0).fit(X, X[:, 0])
    >>> map.transform(X).shape, map.weights_.shape, bool(map.weights_.min() >= 0.0)
    ((100, 96), (15,), True)
    """

    def __init__(
        self,
        n_components: int = 768,
        length_scales: Sequence[float] | None = None,
        kernels: Sequence[str] = ("laplacian", "gaussian", "cauchy"),
        *,
        weights: str = "alignment",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.length_scales = length_scales
        self.kernels = kernels
        self.weights = weights
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies and, given targets, learn the weights of the kernels.

        ``X`` has shape (n, d), ``y`` shape (n,) or (n, t): numbers or labels, or ``None``.
        """
        check_choice("weights", self.weights, ("alignment", "uniform"))
        X = validated(self, X, dtype=FLOATS)
        if y is not None:
            y = check_array(y, dtype=None, ensure_2d=False, input_name="y")
            check_consistent_length(X, y)
        draw_rng, row_rng = generators(self.random_state, 2)
        self.signature_ = self._draw(X, draw_rng)
        self._n_features_out = len(self.signature_)
        if y is not None and self.weights == "alignment":
            rows = np.sort(row_rng.permutation(len(X))[:_N_ALIGNED])
            self._weigh(self._aligned(X[rows].astype(np.float64), _columns(y[rows])))
        return self

    def _draw(self, X: NDArray[np.floating], rng: np.random.Generator) -> Array:
        m = count_frequencies(self.n_components)
        scale_rng, draw_rng = rng.spawn(2)
        self.centre_, deviation = means_and_deviations(X.astype(np.float64))
        self.bank_ = self._bank((X - self.centre_) / deviation, deviation, scale_rng)
        # Remainders are spread over the bank, as are all frequencies if there are few.
        self.counts_ = np.diff(np.arange(len(self.bank_) + 1) * m // len(self.bank_))
        self._omega = np.concatenate(
            [
                spectral_measure(kernel, X.shape[1]).sample(count, stream, "iid").omega
                for kernel, count, stream in zip(
                    self.bank_, self.counts_.tolist(), draw_rng.spawn(len(self.bank_)), strict=True
                )
                if count
            ]
        )
        drawn = self.counts_ > 0
        self._weigh(drawn / np.count_nonzero(drawn))
        return np.ones(self.n_components)

    def _bank(self, rows: Array, deviation: Array, rng: np.random.Generator) -> list[Kernel]:
        """Return the kernels in the units of the inputs, for standardised rows."""
        is_sequence = isinstance(self.kernels, Sequence) and not isinstance(self.kernels, str)
        if not (is_sequence and self.kernels):
            raise ValueError(
                f"kernels must be a sequence of one or more names, got {self.kernels!r}."
            )
        if self.length_scales is None:
            scales = median_distance(rows, rng) * np.array(_FACTORS)
        else:
            scales = np.atleast_1d(np.asarray(as_positive("length_scales", self.length_scales)))
        families = [named_kernel(name) for name in self.kernels]
        return [family(tuple(scale * deviation)) for family in families for scale in scales]

    def _weigh(self, weights: Array) -> None:
        self.weights_ = weights
        share = weights / np.maximum(self.counts_, 1)
        self.frequencies_ = Frequencies(self._omega, np.repeat(share, self.counts_))

    def _aligned(self, X: Array, targets: Array) -> Array:
        """Return the weights of centred alignment, uniform where it has none."""
        drawn = np.flatnonzero(self.counts_)
        columns = np.stack(
            [KernelCenterer().fit_transform(self.bank_[b](X)).ravel() for b in drawn], axis=1
        )
        orthogonal, triangle = np.linalg.qr(columns)
        alignments, _ = nnls(triangle, orthogonal.T @ (targets @ targets.T).ravel())
        if not alignments.sum() > 0.0:
            return self.weights_
        weights = np.zeros(len(self.bank_))
        weights[drawn] = alignments / alignments.sum()
        return weights

    def _features(self, X: NDArray[np.floating]) -> Floats:
        rows = X - self.centre_.astype(X.dtype)
        return self.frequencies_.features(rows)[:, : self.n_components]


def _columns(y: NDArray[Any]) -> Array:
    """Return targets as columns: numbers standardised, labels as indicators."""
    if y.dtype.kind == "O" and not any(isinstance(value, str) for value in y.ravel()):
        y = y.astype(np.float64)
    y = y.reshape(len(y), -1)
    if y.dtype.kind not in "fiu" or (y.dtype.kind in "iu" and len(np.unique(y)) <= _MOST_LABELS):
        indicators = [column[:, None] == np.unique(column) for column in y.T]
        # The Gram matrices are centred, so targets need not be.
        return np.concatenate(indicators, axis=1).astype(np.float64)
    centre, deviation = means_and_deviations(y.astype(np.float64))
    return np.asarray((y - centre) / deviation)
