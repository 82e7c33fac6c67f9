"""Likelihoods of binary, multiclass and ordinal labels."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from scipy.stats import qmc

from bochner._base.arrays import Array, as_array, as_count, row_blocks
from bochner._base.registry import register
from bochner.gaussian_process.likelihood import NODE_WEIGHTS, LabelLikelihood, nodes

_N_DRAWS = 256
"""Number of quasi-random normal vectors over which probabilities of several classes are averaged,
the same in every call. The error is about 2e-3 for latent standard deviations of one."""

_DRAWS_SEED = 0  # Seed of the scrambled quasi-random vectors: arbitrary, but the same in every call


@register
@dataclass(frozen=True, slots=True)
class BernoulliLikelihood(LabelLikelihood):
    r"""Two classes, :math:`P(y = 1 \mid f) = 1 / (1 + e^{-f})`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import BernoulliLikelihood
    >>> np.exp(BernoulliLikelihood().log_density(np.array([1.0, 0.0]), np.log(3.0)))
    array([0.75, 0.25])
    """

    @property
    def n_classes(self) -> int:
        return 2

    def origin(self, y: Array, exposure: Array, weight: Array) -> float:
        # Half a label is added to either class, which keeps the log odds finite.
        ones = float(weight @ y)
        return float(np.log((ones + 0.5) / (weight.sum() - ones + 0.5)))

    def log_density(self, y: Array, f: Array) -> Array:
        return as_array(log_expit(np.where(y > 0.0, f, -f)))

    def slope(self, y: Array, f: Array) -> Array:
        return as_array(y - expit(f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.broadcast_to(expit(f) * expit(-f), np.broadcast(y, f).shape)

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        return as_array(rng.random(np.shape(f)) < expit(f))

    def probabilities(self, mean: Array, covariance: Array) -> Array:
        second = expit(nodes(mean[:, 0], covariance[:, 0, 0])) @ NODE_WEIGHTS
        return np.column_stack((1.0 - second, second))


@register
@dataclass(frozen=True, slots=True)
class SoftmaxLikelihood(LabelLikelihood):
    r"""``C`` classes with one latent function each, :math:`P(y = c \mid f) \propto e^{f_c}`.

    Parameters
    ----------
    n_classes : int, default=None
        Number ``C`` of classes, at least two; given, or the number in the training labels if
        ``None``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import SoftmaxLikelihood
    >>> law = SoftmaxLikelihood(n_classes=3)
    >>> np.exp(law.log_density(np.array([2.0]), np.log([[1.0, 1.0, 2.0]])))
    array([0.5])
    """

    n_classes: int | None = None

    def __post_init__(self) -> None:
        if self.n_classes is not None and as_count("n_classes", self.n_classes) < 2:
            raise ValueError(f"n_classes must be at least 2, got {self.n_classes}.")

    @property
    def n_latent(self) -> int:
        if self.n_classes is None:
            raise ValueError("n_classes is None: fit a model, or give the number of classes.")
        return self.n_classes

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        if self.n_classes is not None:
            return self
        return replace(self, n_classes=max(2, int(y.max()) + 1))

    def log_density(self, y: Array, f: Array) -> Array:
        return as_array(np.sum(self._indicators(y) * log_softmax(f, axis=-1), axis=-1))

    def slope(self, y: Array, f: Array) -> Array:
        return as_array(self._indicators(y) - softmax(f, axis=-1))

    def curvature(self, y: Array, f: Array) -> Array:
        p = softmax(f, axis=-1)
        return as_array(p[..., None] * np.eye(self.n_latent) - p[..., None] * p[..., None, :])

    def curvature_slope(self, f: Array, spread: Array) -> Array:
        p = softmax(f, axis=-1)
        # tr S W = sum_i p_i S_ii - p' S p, and dp_i / df_c = p_i (1[i = c] - p_c)
        by_p = np.einsum("nii->ni", spread) - 2.0 * np.matmul(spread, p[..., None])[..., 0]
        return as_array(p * (by_p - np.sum(p * by_p, axis=-1, keepdims=True)))

    def _indicators(self, y: Array) -> Array:
        return as_array(y[..., None] == np.arange(self.n_latent))

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        # Gumbel-max trick: the argmax of latent values plus Gumbel variables has softmax law.
        return as_array(np.argmax(f + rng.gumbel(size=f.shape), axis=-1))

    def probabilities(self, mean: Array, covariance: Array) -> Array:
        """Return the averages of softmax probabilities over quasi-random normal vectors."""
        C = self.n_latent
        engine = qmc.MultivariateNormalQMC(np.zeros(C), rng=_DRAWS_SEED)
        draws = engine.random(_N_DRAWS)
        probabilities = np.empty_like(mean)
        for rows in row_blocks(len(mean), 8 * C * _N_DRAWS):
            values, vectors = np.linalg.eigh(covariance[rows])
            root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
            f = mean[rows, None, :] + np.einsum("sj,nij->nsi", draws, root)
            probabilities[rows] = softmax(f, axis=-1).mean(axis=1)
        return as_array(probabilities / probabilities.sum(axis=1, keepdims=True))


@register
@dataclass(frozen=True, slots=True)
class OrdinalLikelihood(LabelLikelihood):
    r"""Ordered classes with proportional odds, :math:`P(y \le c \mid f) = 1/(1 + e^{f - b_c})`.

    A larger latent value means higher classes (McCullagh, "Regression models for ordinal data",
    1980).

    Parameters
    ----------
    cutpoints : tuple of float, default=None
        The increasing numbers :math:`b_0 < b_1 < \dots`, one fewer than classes; learned if
        ``None``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import OrdinalLikelihood
    >>> law = OrdinalLikelihood(cutpoints=(-1.0, 1.0))
    >>> np.exp(law.log_density(np.array([0.0, 1.0, 2.0]), np.zeros(3))).round(3)
    array([0.269, 0.462, 0.269])
    """

    cutpoints: tuple[float, ...] | None = None

    learnable = ("cutpoints",)
    has_constant = False  # A constant would be redundant with the cutpoints

    def __post_init__(self) -> None:
        if self.cutpoints is None:
            return
        cuts = np.asarray(self.cutpoints, dtype=np.float64)
        if (
            cuts.ndim != 1
            or not cuts.size
            or not np.isfinite(cuts).all()
            or (np.diff(cuts) <= 0).any()
        ):
            raise ValueError(f"cutpoints must be increasing numbers, got {self.cutpoints!r:.60}.")
        object.__setattr__(self, "cutpoints", tuple(cuts.tolist()))

    @property
    def _cuts(self) -> Array:
        if self.cutpoints is None:
            raise ValueError("cutpoints is None, which means that a model learns them; give them.")
        return as_array(self.cutpoints)

    @property
    def n_classes(self) -> int | None:
        return None if self.cutpoints is None else len(self.cutpoints) + 1

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        if self.cutpoints is not None:
            return self
        counts = np.bincount(y.astype(np.intp), weights=weight, minlength=2) + 0.5
        below = np.cumsum(counts)[:-1]
        return replace(self, cutpoints=tuple(np.log(below / (counts.sum() - below)).tolist()))

    def vector(self, names: tuple[str, ...]) -> Array:
        """Return the first cutpoint and the log distances between successive cutpoints."""
        if not names:
            return np.empty(0)
        return np.append(self._cuts[0], np.log(np.diff(self._cuts)))

    def with_vector(self, names: tuple[str, ...], vector: Array) -> Self:
        if not names:
            return self
        cuts = np.cumsum(np.append(vector[0], np.exp(vector[1:])))
        return replace(self, cutpoints=tuple(cuts.tolist()))

    def ends(self, y: Array) -> tuple[Array, Array]:
        """Return the lower and the upper cutpoint of classes, infinite at the ends."""
        ends = np.concatenate(([-np.inf], self._cuts, [np.inf]))
        number = np.asarray(y, dtype=np.intp)
        return as_array(ends[number]), as_array(ends[number + 1])

    def _limits(self, y: Array, f: Array) -> tuple[Array, Array]:
        """Return the lower and upper cutpoint of the class, minus the latent value."""
        low, high = self.ends(y)
        return as_array(low - f), as_array(high - f)

    def log_density(self, y: Array, f: Array) -> Array:
        low, high = self._limits(y, f)
        # expit(high) - expit(low) = expit(high) expit(-low) (1 - exp(low - high)). The width of
        # the class, high - low, is computed without the latent value, which avoids cancellation.
        width = np.subtract(*reversed(self.ends(y)))
        return as_array(log_expit(high) + log_expit(-low) + np.log(-np.expm1(-width)))

    def slope(self, y: Array, f: Array) -> Array:
        low, high = self._limits(y, f)
        return as_array(expit(low) - expit(-high))

    def curvature(self, y: Array, f: Array) -> Array:
        low, high = self._limits(y, f)
        return as_array(expit(low) * expit(-low) + expit(high) * expit(-high))

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        logistic = f + rng.logistic(size=np.shape(f))
        return as_array(np.searchsorted(self._cuts, logistic))

    def probabilities(self, mean: Array, covariance: Array) -> Array:
        f = nodes(mean[:, 0], covariance[:, 0, 0])
        classes = [np.full((1, 1), c) for c in range(len(self._cuts) + 1)]
        by_class = [np.exp(self.log_density(c, f)) @ NODE_WEIGHTS for c in classes]
        return np.column_stack(by_class)
