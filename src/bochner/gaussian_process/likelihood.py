"""Base classes of likelihoods, and checks of their values and parameters."""

from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Self

import numpy as np

from bochner._base.arrays import Array, as_array, as_scale

_WIDTH = 7.0
"""Half width of the integration in standard deviations: the mass outside is 3e-12."""

_N_NODES = 101
"""Number of nodes of the trapezoidal rule, 0.14 standard deviations apart. The rule is exact up to
rounding for functions that vary slowly at this distance. For a step function the error is at most
0.03, half a distance times the normal density."""

_OFFSETS = np.linspace(-_WIDTH, _WIDTH, _N_NODES)
# Nodes of the rule in standard deviations.
NODE_WEIGHTS: Array = np.exp(-0.5 * _OFFSETS**2) / np.exp(-0.5 * _OFFSETS**2).sum()
"""Weights of the nodes of the trapezoidal rule, which sum to one."""


def nodes(mean: Array, variance: Array) -> Array:
    """Return nodes (n, K) of the trapezoidal rule for latent values of these moments (n,)."""
    return as_array(mean[:, None] + np.sqrt(variance)[:, None] * _OFFSETS)


_LOG_REACH = np.log(1e3)
"""Largest change of the logarithm of a parameter from its initial value. The noise may decrease to
1e-6 of the variance of targets, as in ridge regression, and a dispersion to a value that 1e4 counts
hardly distinguish from zero. With less noise, linear systems lose half of their digits."""


class Likelihood(ABC):
    r"""The distribution :math:`p(y \mid f)` of a target ``y`` given a latent value ``f``.

    Targets and latent values are arrays of equal shape, or of shapes that broadcast. With
    ``n_latent`` > 1 latent functions, latent values and slopes have one more axis of that length,
    and curvatures have two.

    Parameters that are ``None`` are learned: :meth:`started` replaces them by an initial value, and
    models maximise the evidence over :meth:`vector`.
    """

    __slots__ = ()

    learnable: ClassVar[tuple[str, ...]] = ()
    """Names of the positive parameters that can be learned."""

    takes_exposure: ClassVar[bool] = False
    """Whether the latent value is the log mean, so that a log exposure can be added to it."""

    has_constant: ClassVar[bool] = True
    """Whether the latent function has a constant."""

    signal_scale: ClassVar[float | None] = None
    """Scale of the half-Cauchy prior of the standard deviation of latent functions, in their unit.

    ``None`` means a flat prior of the logarithm of that standard deviation.
    """

    @property
    def n_latent(self) -> int:
        """Number of latent functions."""
        return 1

    @property
    def unit(self) -> float:
        """Unit of the latent function: one for logarithms and logits."""
        return 1.0

    @abstractmethod
    def checked(self, y: Array) -> Array:
        """Return targets (n,) in float64; raise ``ValueError`` for impossible targets."""

    @abstractmethod
    def log_density(self, y: Array, f: Array) -> Array:
        r"""Return :math:`\log p(y \mid f)`, a log density or log probability."""

    @abstractmethod
    def slope(self, y: Array, f: Array) -> Array:
        r"""Return the slope :math:`\partial \log p(y \mid f) / \partial f` of the log density."""

    @abstractmethod
    def curvature(self, y: Array, f: Array) -> Array:
        r"""Return the curvature :math:`-\partial^2 \log p(y \mid f) / \partial f^2`."""

    def curvature_slope(self, f: Array, spread: Array) -> Array | None:
        r"""Return derivatives (n, L) of :math:`\operatorname{tr} S_n W_n` by latent values.

        ``spread`` are matrices :math:`S_n` (n, L, L), and curvatures :math:`W_n` must not depend on
        the target. ``None`` means that finite differences are used instead.
        """
        return None

    @abstractmethod
    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        """Return independent targets given latent values."""

    def origin(self, y: Array, exposure: Array, weight: Array) -> float:
        """Return the prior mean of the constant: the link of the weighted mean of targets (n,).

        Exposures are ones if the likelihood has none.
        """
        return 0.0

    def shifted(self, shift: float) -> Self | None:
        """Return the likelihood of ``y - shift`` given ``f - shift``; ``None`` if units differ."""
        return None

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        """Return the likelihood with initial values of all parameters that are ``None``."""
        return self

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names of the parameters that are to be learned."""
        return tuple(name for name in self.learnable if getattr(self, name) is None)

    def vector(self, names: tuple[str, ...]) -> Array:
        """Return the parameters ``names`` as unconstrained numbers: their logarithms."""
        return as_array([np.log(getattr(self, name)) for name in names])

    def bounds(self, names: tuple[str, ...]) -> Array:
        """Return the least and the greatest entries (k, 2) of :meth:`vector` in a search."""
        return as_array(self.vector(names)[:, None] + _LOG_REACH * np.array([-1.0, 1.0]))

    def with_vector(self, names: tuple[str, ...], vector: Array) -> Self:
        """Return the likelihood whose parameters ``names`` are those of :meth:`vector` (k,)."""
        values = {name: float(np.exp(x)) for name, x in zip(names, vector, strict=True)}
        changed: Self = replace(self, **values)  # type: ignore[type-var]
        return changed


class NumberLikelihood(Likelihood):
    """A likelihood of numeric targets given one latent function, with predictive distributions.

    Predictions integrate over a normal latent value with mean and variance of shape (n,).
    """

    __slots__ = ()

    is_discrete: ClassVar[bool] = False
    """Whether targets are whole numbers."""

    @abstractmethod
    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Return mean and variance (n,) of new targets."""

    @abstractmethod
    def distribution(self, y: Array, mean: Array, variance: Array) -> Array:
        r"""Return the probabilities (n,) that new targets are at most ``y`` (n,)."""

    @abstractmethod
    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        r"""Return log densities :math:`\log \int p(y \mid f) N(f) df` of new targets (n,)."""


class LabelLikelihood(Likelihood):
    """A likelihood of targets that are class numbers 0, 1, ....

    The evidence of a few dozen labels may be greatest for a strong signal even if there is none,
    and for separable labels it increases without bound with the log odds. The half-Cauchy prior has
    scale one, because labels start to be predictable at log odds of one.
    """

    __slots__ = ()

    signal_scale: ClassVar[float | None] = 1.0

    @property
    @abstractmethod
    def n_classes(self) -> int | None:
        """Number of classes; ``None`` if the training labels determine it."""

    @abstractmethod
    def probabilities(self, mean: Array, covariance: Array) -> Array:
        """Return the probabilities (n, C) of classes for normal latent values.

        ``mean`` is of shape (n, n_latent), ``covariance`` (n, n_latent, n_latent).
        """

    def checked(self, y: Array) -> Array:
        labels = as_array(y)
        wrong = labels[(labels != np.floor(labels)) | (labels < 0.0)]
        if wrong.size:
            raise ValueError(f"y must hold numbers 0, 1, ... of classes, got {wrong[0]:g}.")
        if self.n_classes is not None and labels.max(initial=0.0) >= self.n_classes:
            raise ValueError(
                f"y has {int(labels.max()) + 1} classes, and {self!r} is for {self.n_classes}. Use "
                f"the likelihood 'softmax', or 'ordinal' for classes in order."
            )
        return labels


def checked_targets(likelihood: Likelihood, y: Array) -> Array:
    """Return the targets after ``checked``; raise ``TypeError`` if it does not return them."""
    targets = likelihood.checked(y)
    if np.shape(targets) != np.shape(y):
        shape = "" if targets is None else f" of shape {np.shape(targets)}"
        raise TypeError(
            f"{type(likelihood).__name__}.checked must return the targets, an array of shape "
            f"{np.shape(y)}, got {type(targets).__name__}{shape}."
        )
    return targets


def prior_centre(likelihood: Likelihood, y: Array, exposure: Array, weight: Array) -> float:
    """Return the origin of a likelihood; raise an error unless it is a finite number."""
    origin = likelihood.origin(y, exposure, weight)
    name = type(likelihood).__name__
    if not isinstance(origin, Real):
        shape = f" of shape {np.shape(origin)}" if np.ndim(origin) else f" {origin!r}"
        kind = type(origin).__name__
        raise TypeError(f"{name}.origin must return a number, got {kind}{shape}.")
    if not np.isfinite(origin):
        raise ValueError(f"{name}.origin must return a finite number, got {origin} for these y.")
    return float(origin)


def optional_scale(name: str, value: float | None) -> float | None:
    """Return a checked positive number, or ``None`` for a parameter that is to be learned."""
    return None if value is None else as_scale(name, value)


def known(name: str, value: float | None) -> float:
    """Return a parameter; raise ``ValueError`` if it has not been learned yet."""
    if value is None:
        raise ValueError(f"{name} is None, which means that a model learns it; give a number.")
    return value


def shaped(likelihood: Likelihood, method: str, values: Array, shape: tuple[int, ...]) -> Array:
    """Return the values of a likelihood's method; raise ValueError unless they have ``shape``."""
    if np.shape(values) != shape:
        raise ValueError(
            f"{type(likelihood).__name__}.{method} must return an array of shape {shape}, the "
            f"first axis for the targets, got {np.shape(values)}."
        )
    return values
