"""The scikit-learn transformer of positive features for attention."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    DTypeLike,
    Floats,
    MatrixLike,
    RandomState,
    as_array,
    as_count,
    as_scale,
    some_rows,
)
from bochner._base.checks import check_rows_given, generators, validated
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.features.parameters import KERNEL_CHECKS, Check, check_each
from bochner.spectral.positive_measure import PositiveFrequencies, PositiveMeasure
from bochner.spectral.schemes import Scheme

_ROWS = 800
"""Number of queries, and of keys, to fit and compare weights on; one quarter is held out."""

_CANDIDATES = 4
"""Candidates per feature; their weights are fitted together, at the cube of their number."""

_MOST_CANDIDATES = 1024
"""Largest number of candidates, whose fit takes a second; at least as many as features."""

_RIDGE = 1e-4
"""Penalty of weights, relative to the mean square of their term: errors are some per cent."""

_CHECKS: Mapping[str, Check] = {**KERNEL_CHECKS, "n_components": as_count, "temperature": as_scale}
"""Checks of the constructor parameters, by name."""


@register
@dataclass(eq=False, repr=False)
class PositiveFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Positive random features of the kernel exp(q·k / T) of queries q and keys k, for attention.

    Attention weighs keys by this kernel, divided by its sum over keys. With features it costs
    time and memory linear in the numbers of queries and keys. All features are positive, and so
    are all attention weights.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import PositiveFeatures
    >>> queries, keys = np.random.default_rng(0).normal(size=(2, 200, 4))
    >>> map = PositiveFeatures(128, temperature=2.0, random_state=0).fit(queries, right=keys)
    >>> left, right = map.transform(queries), map.transform_right(keys)
    >>> bool((left @ right.T > 0.0).all())
    True
    >>> exact = np.exp(queries @ keys.T / 2.0)
    >>> averages = exact @ keys / exact.sum(axis=1, keepdims=True)
    >>> error = np.abs(map.attention(queries, keys, keys) - averages).mean()
    >>> bool(error < 0.2 * averages.std())
    True

    Parameters
    ----------
    n_components : int, default=256
        Greatest number of features.
    temperature : float, default=1.0
        Divisor T, in squared units of the inputs. The usual choice is the square root of the number
        of inputs.
    weights : {"least_squares", "sampled"}, default="least_squares"
        ``"least_squares"`` fits nonnegative weights of up to four times as many candidates to
        exact attention on at most 600 queries and keys, and keeps the features that matter most.
        It is for queries and keys like those given to :meth:`fit`. If sampled weights are better
        on other rows, they are kept. With ``"sampled"`` the estimate of the kernel is unbiased.
    scheme : {"orthogonal", "energy", "lattice", "iid", "structured"} or Scheme
        How frequencies depend on one another; see :mod:`bochner.spectral`. ``"orthogonal"`` by
        default.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    frequencies_ : PositiveFrequencies
        Frequencies, weights, maps and centres.
    log_scale_ : float
        Logarithm of the divisor of the kernel in the product of :meth:`transform` and
        :meth:`transform_right`, chosen so that features of the training rows are at most one.
        Attention does not depend on it.
    fit_error_ : float or None
        Relative error of attention weights on rows held out from the fit, in the Frobenius norm;
        ``None`` with sampled weights, or fewer than six rows.

    Notes
    -----
    FAVOR+ draws frequencies from the standard normal law and gives them equal weights. Here
    queries and keys are centred and mapped so that features vary least, frequencies come in
    opposite pairs, and weights or the law of frequencies are fitted. :meth:`attention` works with
    logarithms of features, and does not overflow where :meth:`transform` raises ``ValueError``.

    References
    ----------
    Choromanski et al., "Rethinking attention with performers", 2021, for positive features;
    Likhosherstov et al., "Chefs' random tables: non-trigonometric random features", 2022, for
    other laws. Centres, maps and weights: :doc:`/mathematics/positive`.
    """

    n_components: int = 256
    _: KW_ONLY
    temperature: float = 1.0
    weights: str = "least_squares"
    scheme: str | Scheme = "orthogonal"
    random_state: RandomState = None

    frequencies_: PositiveFrequencies = field(init=False)
    log_scale_: float = field(init=False)
    fit_error_: float | None = field(init=False)
    _tops: tuple[float, float] = field(init=False)
    _n_features_out: int = field(init=False)

    def fit(self, X: Any, y: Any = None, right: Any = None) -> Self:
        """Draw frequencies for queries and keys, and fit their weights.

        Raises ``ValueError`` if a parameter or the data are invalid, or queries and keys have
        different widths.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Queries.
        y : None
            Ignored.
        right : array-like of shape (n2, d), default=None
            Keys; ``None`` means ``X``.
        """
        X = validated(self, X, dtype=FLOATS).astype(np.float64)
        self._check_parameters()
        m = as_count("n_components", self.n_components)
        temperature = as_scale("temperature", self.temperature)
        fitted = self.weights == "least_squares"
        Y = X if right is None else self._checked_keys(right, "right").astype(np.float64)
        _check_size(X, Y, temperature)
        draw_rng, data_rng = generators(self.random_state, 2)
        measure = PositiveMeasure.adapted(X, Y, temperature)
        self.frequencies_, self.fit_error_ = measure.sample(m, draw_rng, self.scheme), None
        queries, keys = some_rows(X, _ROWS, data_rng), some_rows(Y, _ROWS, data_rng)
        if fitted:
            measure = PositiveMeasure.adapted(X, Y, temperature, reshaped=False)
            count = max(m, min(_CANDIDATES * m, _MOST_CANDIDATES))
            candidates = measure.sample(count, draw_rng, self.scheme)
            self.frequencies_, self.fit_error_ = _fitted(
                self.frequencies_, candidates, queries, keys
            )
        self._tops = (
            float(self.frequencies_.log_features(queries).max()),
            float(self.frequencies_.log_features_right(keys).max()),
        )
        self.log_scale_ = sum(self._tops)
        self._n_features_out = self.frequencies_.n_features
        return self

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter; also called for a model loaded from a file."""
        check_each(self, _CHECKS)

    def transform(self, X: MatrixLike) -> Floats:
        """Return the features (n, n_features) of queries (n, d), in float32 if ``X`` is.

        Inner products of left features and features of :meth:`transform_right` estimate the kernel
        divided by exp(c), with c the attribute ``log_scale_``. Features that are less than
        1e-308 times the largest one of the training rows are zero; :meth:`gram` and
        :meth:`attention` work with logarithms.
        """
        queries = self._checked_queries(X)
        return _exponential(self.frequencies_.log_features(queries) - self._tops[0], queries.dtype)

    def transform_right(self, Y: MatrixLike) -> Floats:
        """Return the features (n2, n_features) of keys (n2, d), in float32 if ``Y`` is."""
        check_is_fitted(self, "log_scale_")
        keys = self._checked_keys(Y)
        return _exponential(self.frequencies_.log_features_right(keys) - self._tops[1], keys.dtype)

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> Array:
        """Return the approximate kernel (n, n2) of queries and keys; ``Y=None`` means ``X``.

        Entries that overflow are infinite.
        """
        queries = self._checked_queries(X)
        return self.frequencies_.gram(queries, self._checked_keys(X if Y is None else Y))

    def attention(self, queries: Any, keys: Any, values: Any) -> Array:
        """Return attention outputs (n, t): values (n2, t) of keys averaged for each query.

        The weights are k(qᵢ, kⱼ) / ∑ₗ k(qᵢ, kₗ); no matrix of queries
        and keys is formed.
        """
        queries, keys = self._checked_queries(queries), self._checked_keys(keys, "keys")
        values = check_rows_given(values, "values", dtype=np.float64)
        if len(values) != len(keys):
            raise ValueError(
                f"values has {len(values)} rows and keys {len(keys)}: expected one for each key."
            )
        return self.frequencies_.attention(queries, keys, values)

    def _checked_queries(self, X: MatrixLike) -> Floats:
        check_is_fitted(self, "log_scale_")
        checked: Floats = validated(self, X, dtype=FLOATS, reset=False)
        return checked

    def _checked_keys(self, Y: object, name: str = "Y") -> Floats:
        keys: Floats = check_rows_given(Y, name, dtype=FLOATS)
        if keys.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{name} has {keys.shape[1]} columns, but queries have {self.n_features_in_}: "
                "inner products need rows of one width. Map one of them to that width first."
            )
        return keys

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_size(X: Array, Y: Array, temperature: float) -> None:
    size = max(np.abs(X).max(), np.abs(Y).max()) * max(1.0, 1.0 / temperature)
    if size > np.sqrt(LARGEST_ENTRY):
        raise ValueError(
            f"Queries, keys or their ratio to the temperature have an entry of size {size:.3g}; "
            f"at most {np.sqrt(LARGEST_ENTRY):.3g} is possible. Scale the rows."
        )


def _exponential(logs: Array, dtype: DTypeLike) -> Floats:
    with np.errstate(over="ignore"):
        features = np.exp(logs).astype(dtype, copy=False)
    if not np.isfinite(features).all():
        raise ValueError(
            f"Features overflow {np.dtype(dtype)}: scale the rows by a smaller factor, raise "
            f"temperature, or use attention(), which works with logarithms."
        )
    return features


def _fitted(
    sampled: PositiveFrequencies, candidates: PositiveFrequencies, X: Array, Y: Array
) -> tuple[PositiveFrequencies, float | None]:
    """Return sampled or fitted frequencies, whichever has the smaller error, and this error."""
    cuts = [3 * len(rows) // 4 for rows in (X, Y)]
    if min(cuts) < 4:
        return sampled, None
    (X, X_new), (Y, Y_new) = (
        (rows[:cut], rows[cut:]) for rows, cut in zip((X, Y), cuts, strict=True)
    )
    fitted = fitted_weights(candidates, X, Y, sampled.n_features)
    choices = [sampled] if fitted is None else [sampled, fitted]
    errors = [attention_error(choice, X_new, Y_new) for choice in choices]
    best = int(np.argmin(errors))
    return choices[best], errors[best]


def attention_error(frequencies: PositiveFrequencies, X: Array, Y: Array) -> float:
    """Return the relative Frobenius error of the attention weights of queries on keys."""
    exact = exact_attention(frequencies, X, Y)
    approximate = frequencies.attention(X, Y, np.eye(len(Y)))
    return float(np.linalg.norm(approximate - exact) / np.linalg.norm(exact))


def exact_attention(frequencies: PositiveFrequencies, X: Array, Y: Array) -> Array:
    """Return exact attention weights (n, n2), whose rows sum to one."""
    logits = (X @ frequencies.left) @ (Y @ frequencies.right).T
    return as_array(np.exp(logits - logsumexp(logits, axis=1, keepdims=True)))


def fitted_weights(
    candidates: PositiveFrequencies, X: Array, Y: Array, n_features: int
) -> PositiveFrequencies | None:
    r"""Return at most ``n_features`` candidates, with weights fitted to exact attention.

    Exact rows :math:`A_{ij} = k(x_i, y_j) / s_i`, with :math:`s_i` the exact sum, are fitted by

    .. math:: \min_{a \geq 0} \sum_{ij} \Big( A_{ij} - \sum_l a_l\,
              \frac{\phi_l(x_i)}{s_i}\, \phi_l(y_j) \Big)^2 ,

    with every term scaled to norm one and a small ridge. The weights of the largest terms are
    fitted once more. Returns ``None`` if every term is zero up to rounding at all pairs that
    attend, because the temperature is then far too low for features.
    """
    logits = (X @ candidates.left) @ (Y @ candidates.right).T
    sums = logsumexp(logits, axis=1, keepdims=True)
    logs = candidates.log_features(X) - sums, candidates.log_features_right(Y)
    exact = np.exp(logits - sums)
    # Scale the greatest entry of each factor to one before the norm, to avoid overflow.
    tops = [side.max(axis=0) for side in logs]
    factors = [np.exp(side - top) for side, top in zip(logs, tops, strict=True)]
    norms = [np.linalg.norm(factor, axis=0) for factor in factors]
    left, right = (factor / norm for factor, norm in zip(factors, norms, strict=True))
    H, g = (left.T @ left) * (right.T @ right), np.einsum("il,il->l", left, exact @ right)
    size = _nonnegative(H, g)
    chosen = np.argsort(-size, kind="stable")[:n_features]
    chosen = chosen[size[chosen] > 0.0]
    if not len(chosen):
        return None
    if len(chosen) < np.count_nonzero(size):
        size[chosen] = _nonnegative(H[np.ix_(chosen, chosen)], g[chosen])
        chosen = chosen[size[chosen] > 0.0]
    shift = sum(tops) + np.log(norms[0] * norms[1])
    log_weight = candidates.log_weight + np.log(np.where(size > 0.0, size, 1.0)) - shift
    return PositiveFrequencies(
        candidates.omega[chosen],
        log_weight[chosen],
        candidates.left,
        candidates.right,
        candidates.centre_left,
        candidates.centre_right,
    )


def _nonnegative(H: Array, g: Array) -> Array:
    """Return the nonnegative minimiser of :math:`b^T H b - 2 b^T g` with a ridge."""
    lower = cholesky(H + _RIDGE * np.eye(len(H)), lower=True)
    whitened = solve_triangular(lower, g, lower=True)
    # SciPy's default of three iterations per unknown is too few for such correlated columns.
    return as_array(nnls(lower.T, whitened, maxiter=50 * len(g))[0])
