"""The state of a chain: the Gaussian evidence of its frequencies, step sizes, and likelihood."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack

from bochner._base.arrays import Array, Floats
from bochner.learned.frequency_priors import FrequencyPrior
from bochner.learned.training_data import TrainingData

KEPT_BYTES = 2**30
"""Largest size of all copies of the features of all rows for them to be kept between moves."""

MACKAY_STEPS = 10
"""Most steps of the precision, with a factorisation each; three are typical."""

_SETTLED = 0.1
"""Relative change of the precision below which its steps end; the evidence changes by less."""

LEAST: Mapping[type[np.floating[Any]], float] = MappingProxyType(
    {np.float64: 1e-11, np.float32: 2e-6}
)
"""Least precision by the type of features, as a share of the sum of squares of all features. At
smaller precisions rounding may leave the posterior precision indefinite."""


class Noise(ABC):
    r"""Distribution of the noise variance, :math:`\lambda_0` times the weights' prior variance."""

    __slots__ = ()

    @abstractmethod
    def coefficients(self, degrees: float) -> tuple[float, float, float]:
        """Return the coefficients ``(l, e, r)`` of :meth:`log_likelihood`."""

    def log_likelihood(self, residual: float, degrees: float) -> float:
        r"""Return the likelihood term :math:`-l s - e \log(r + s/2)` at :math:`s = y'y - q`."""
        linear, exponent, rate = self.coefficients(degrees)
        return -linear * residual - exponent * float(np.log(rate + residual / 2.0))

    def precision(self, residual: float, degrees: float) -> float:
        r"""Return the posterior mean of :math:`1/\sigma^2`: twice the derivative in ``q``."""
        linear, exponent, rate = self.coefficients(degrees)
        return 2.0 * linear + exponent / (rate + residual / 2.0)

    @abstractmethod
    def variance(self, residual: float, degrees: float) -> float:
        """Return the posterior mean of the noise variance."""

    @abstractmethod
    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        """Return a posterior draw of the noise variance, with the weights integrated out.

        With a residual and degrees of zero it is a draw of the prior.
        """


@dataclass(frozen=True, slots=True)
class InverseGammaNoise(Noise):
    r"""An unknown variance, :math:`\sigma^2 \sim IG(a_0, b_0)`; equation (14) of the paper."""

    shape: float  # a_0 and b_0
    rate: float

    def coefficients(self, degrees: float) -> tuple[float, float, float]:
        return 0.0, self.shape + degrees / 2.0, self.rate

    def variance(self, residual: float, degrees: float) -> float:
        # The mean exists beyond shape one; the mode's denominator keeps tiny samples finite.
        shape = self.shape + degrees / 2.0
        return (self.rate + residual / 2.0) / (shape - 1.0 if shape > 1.5 else shape)

    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        return (self.rate + residual / 2.0) / float(rng.gamma(self.shape + degrees / 2.0))


@dataclass(frozen=True, slots=True)
class KnownNoise(Noise):
    """Known noise variance, which is one if row weights are precisions (logistic regression)."""

    value: float = 1.0

    def coefficients(self, degrees: float) -> tuple[float, float, float]:
        return 0.5 / self.value, 0.0, 1.0

    def variance(self, residual: float, degrees: float) -> float:
        return self.value

    def sample(self, rng: Generator, residual: float, degrees: float) -> float:
        return self.value


@dataclass(slots=True, eq=False)
class ChainEvidence:
    r"""Frequencies, their sums over rows, and the posterior of the weights of their features.

    Moves update them in place. The posterior has the mean :math:`u = A^{-1} b` and the covariance
    :math:`\sigma^2 P`, with :math:`P = A^{-1}` and :math:`A = \Phi^\top W \Phi + \Lambda_0`, where
    :math:`\Lambda_0` is :math:`\lambda_0 I` on features and zero on fixed columns.
    """

    omega: Array  # (k, D): Units of the rows' basis, for plain waves their frequencies
    n_waves: int  # m
    gram: Array  # (p, p): Phi' W Phi, p = 2m + q
    cross: Array  # (p,): b = Phi' W y
    square: float  # y' W y
    degrees: float  # Number of observations, less fixed columns
    noise: Noise
    precision: float  # lambda_0, the ratio of noise variance to weight variance
    covariance: Array  # (p, p): P
    mean: Array  # (p,): u
    explained: float  # q = b . u
    log_determinant: float  # log |A|
    least_precision: float  # least lambda_0 at which rounding leaves A positive definite
    features: Floats | None  # (p, n) of all rows, if they are kept

    def posterior_precision(self, precision: float | None = None) -> Array:
        """Return :math:`A` (p, p) in Fortran order, at the current or another ``precision``."""
        A = self.gram.copy(order="F")
        ridge = np.arange(2 * self.n_waves)
        A[ridge, ridge] += self.precision if precision is None else precision
        return A

    @property
    def residual(self) -> float:
        """``square - explained``: residual sum of squares plus the penalty of the weights."""
        return max(self.square - self.explained, 0.0)

    def log_evidence(
        self, explained: float | None = None, log_determinant: float | None = None
    ) -> float:
        """Return the log evidence, equation (14) of BaNK, up to a constant."""
        q = self.explained if explained is None else explained
        logdet = self.log_determinant if log_determinant is None else log_determinant
        fit = self.noise.log_likelihood(max(self.square - q, 0.0), self.degrees)
        return self.n_waves * float(np.log(self.precision)) - 0.5 * logdet + fit


def evidence_of(
    rows: TrainingData,
    omega: Array,
    precision: float,
    noise: Noise,
    *,
    keep: bool | None = None,
    n_copies: int = 1,
    reused: ChainEvidence | None = None,
    degrees: float | None = None,
) -> ChainEvidence:
    """Return the evidence of the units ``omega`` (k, D), from one pass over the rows.

    ``keep`` is whether to keep the features of all rows; ``None`` keeps them if ``n_copies`` of
    them are small. ``reused`` is an evidence of the same ``omega`` for other weights of the rows,
    whose features are reused if it has kept them. ``degrees`` are the degrees of freedom of the
    noise, for weights of rows that are not counts.
    """
    n_waves = rows.basis.n_waves(len(omega))
    p = 2 * n_waves + rows.n_fixed
    if keep is None:
        keep = n_copies * p * rows.n_samples * rows.dtype.itemsize <= KEPT_BYTES
    features = reused.features if reused is not None else rows.room(p) if keep else None
    has_features = reused is not None
    # One pass over the rows; everything else is a function of these sums.
    gram, cross = rows.total(part_sums, omega, has_features, along=(features,), n_features=p)
    unsolved = ChainEvidence(
        omega=omega.copy(),
        n_waves=n_waves,
        gram=gram,
        cross=cross,
        square=rows.total_square,
        degrees=rows.n_observations - rows.n_fixed if degrees is None else degrees,
        noise=noise,
        precision=precision,
        covariance=np.empty((0, 0)),
        mean=np.empty(0),
        explained=0.0,
        log_determinant=0.0,
        least_precision=LEAST[rows.dtype.type] * float(np.trace(gram)),
        features=features,
    )
    return solved(unsolved, max(precision, unsolved.least_precision))


def solved(evidence: ChainEvidence, precision: float) -> ChainEvidence:
    """Return the evidence at ``precision``, with the posterior recomputed from its sums.

    Raises ``numpy.linalg.LinAlgError`` if the posterior precision is not positive definite.
    """
    lower, log_determinant = _factor(evidence, precision)
    covariance, info = lapack.dpotri(lower, lower=1, overwrite_c=1)
    if info != 0:
        raise LinAlgError("The posterior precision of the weights is singular.")
    # LAPACK fills one triangle only.
    covariance = np.tril(covariance)
    covariance += np.tril(covariance, -1).T
    mean: Array = covariance @ evidence.cross
    return replace(
        evidence,
        precision=precision,
        covariance=np.asfortranarray(covariance),
        mean=mean,
        explained=float(evidence.cross @ mean),
        log_determinant=log_determinant,
    )


def log_evidence_at(evidence: ChainEvidence, precision: float) -> float:
    """Return the log evidence of the same frequencies at another ``precision``."""
    lower, log_determinant = _factor(evidence, precision)
    half, _ = lapack.dtrtrs(lower, evidence.cross, lower=1)
    return replace(evidence, precision=precision).log_evidence(float(half @ half), log_determinant)


def mackay_step(evidence: ChainEvidence, trace: float, square: float) -> float:
    r"""Return the precision after a step of MacKay's towards the greatest evidence, or unchanged.

    :math:`\lambda_0 \leftarrow \sigma^2 (2m - \lambda_0 \operatorname{tr} P) / \|u\|^2`, with the
    ``trace`` of ``P`` and the ``square`` of ``u`` on features.
    """
    used = 2 * evidence.n_waves - evidence.precision * trace
    square = max(square, np.finfo(np.float64).tiny)
    proposed = evidence.noise.variance(evidence.residual, evidence.degrees) * used / square
    proposed = max(proposed, evidence.least_precision)
    is_settled = abs(proposed - evidence.precision) <= _SETTLED * evidence.precision
    return evidence.precision if is_settled else proposed


def part_sums(
    part: TrainingData, Z: Floats | None, omega: Array, has_features: bool
) -> tuple[Floats, Floats]:
    """Return the Gram matrix and the cross products of a part of the rows.

    ``Z`` are the features if ``has_features``, else an array to write them to, or ``None``.
    """
    F = part.features(omega, Z if has_features else None)
    if Z is not None and not has_features:
        Z[:] = F
    weighted = F if part.weight is None else F * part.weight.astype(F.dtype)
    return weighted @ F.T, F @ part.target.astype(F.dtype)


def _factor(evidence: ChainEvidence, precision: float) -> tuple[Array, float]:
    lower, info = lapack.dpotrf(evidence.posterior_precision(precision), lower=1, overwrite_a=1)
    if info != 0:
        raise LinAlgError(
            "The posterior precision of the weights is not positive definite at "
            f"lambda_0 = {precision:.3g}."
        )
    return lower, 2.0 * float(np.sum(np.log(np.diagonal(lower))))


def frequency_gradient(evidence: ChainEvidence, rows: TrainingData) -> Array:
    r"""Return :math:`\partial \log p(y \mid \omega) / \partial \omega`, of shape (k, D).

    :math:`\partial / \partial \Phi = W (\tau (y - \Phi u) u^\top - \Phi P)`, where
    :math:`\tau = a_n / b_n`, is carried through cosine and sine to the frequencies.
    """
    m, dtype = evidence.n_waves, rows.dtype
    gradient = rows.total(
        part_gradient,
        evidence.omega,
        evidence.covariance[: 2 * m].astype(dtype, copy=False),
        evidence.mean.astype(dtype, copy=False),
        evidence.noise.precision(evidence.residual, evidence.degrees),
        along=(evidence.features,),
        n_features=2 * len(evidence.cross),
    )
    return rows.basis.pull(tuple(gradient), len(evidence.omega))


def part_gradient(
    part: TrainingData,
    Z: NDArray[np.floating] | None,
    omega: Array,
    covariance: NDArray[np.floating],
    mean: NDArray[np.floating],
    tau: float,
) -> tuple[Array, ...]:
    """Return the contribution of a part of the rows to the gradient."""
    Z = part.features(omega, Z)
    n_features, slope, fit = len(covariance), covariance @ Z, mean @ Z
    weight = None if part.weight is None else part.weight.astype(Z.dtype)
    target = part.target.astype(Z.dtype)
    # Targets are stored times their weights: in W (y - Phi u) only the second term needs a factor.
    residual = tau * (target - (fit if weight is None else weight * fit))
    if weight is not None:
        slope *= weight
    # The derivative by the features, in place.
    np.subtract(mean[:n_features, None] * residual, slope, out=slope)
    waves = part.basis.waves(omega)
    return waves.gradient(part.inputs, Z[:n_features], slope, 1.0 / np.sqrt(len(waves)))


Info = dict[str, float]
"""The report of a round of moves: numbers by name, such as ``acceptance_hmc``."""

_GAIN = 2.0
"""Gain of the adaptation: change of a log step size per unit of acceptance, at (n + 5)^0.6 = 1."""

_DELAY = 5.0
"""Offset of the number of rounds in the gain: no acceptance changes a size tenfold."""

_DECAY = 0.6
"""Exponent of the gain's decay. Between 1/2 and 1, step sizes can reach any value and converge."""


@dataclass(slots=True)
class StepSizes:
    """Step sizes by the name of the move; adaptation changes them in place."""

    values: dict[str, float]
    n_adapted: int = 0  # Number of rounds with adaptation

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def adapt(self, targets: Mapping[str, float], info: Info) -> None:
        """Move each log step size by acceptance rate minus target, times a decaying gain.

        A move without ``acceptance_<name>`` in ``info`` keeps its step size.
        """
        gain = _GAIN / (self.n_adapted + _DELAY) ** _DECAY
        for name, target in targets.items():
            acceptance = info.get(f"acceptance_{name}", target)
            self.values[name] *= float(np.exp(gain * (acceptance - target)))
        self.n_adapted += 1


@dataclass(slots=True, eq=False)
class ChainState:
    """A point of the posterior, which moves change in place."""

    rows: TrainingData  # With weights and pseudo-targets that follow from the latent variables
    evidence: ChainEvidence  # Frequencies, their sums over rows, and the posterior of the weights
    prior: FrequencyPrior  # Current parameters of the prior of the frequencies
    steps: StepSizes
    latent: Any = None  # Latent variables of the likelihood; None if it has none

    @property
    def omega(self) -> Array:
        """Unknowns of the basis, of shape (k, D): for plain waves, their frequencies."""
        return self.evidence.omega

    @property
    def precision(self) -> float:
        r"""Precision :math:`\lambda_0` of the weights."""
        return self.evidence.precision

    def evidence_at(self, omega: Array) -> ChainEvidence:
        """Return the evidence at the unknowns ``omega`` (k, D), from one pass over the rows.

        Raises ``numpy.linalg.LinAlgError`` if rounding leaves the posterior without a covariance.
        """
        old = self.evidence
        keep = old.features is not None
        # Weights from latent variables are no counts: the degrees of freedom stay the same.
        return evidence_of(
            self.rows, omega, old.precision, old.noise, keep=keep, degrees=old.degrees
        )


class ConditionallyGaussian(ABC):
    """A likelihood that is Gaussian in the weights of the features, given latent variables.

    Latent variables determine weights and pseudo-targets of the rows.
    """

    __slots__ = ()

    noise: Noise
    """Distribution of the noise variance, given the latent variables."""

    def start(
        self, rng: Generator, rows: TrainingData, omega: Array, precision: float, n_copies: int
    ) -> tuple[Any, ChainEvidence | None]:
        """Return initial latent variables, and an evidence with features to reuse, or ``None``."""
        return None, None

    def given(self, rows: TrainingData, latent: Any) -> TrainingData:
        """Return the rows with the weights and pseudo-targets that follow from latent variables."""
        return rows

    @abstractmethod
    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        """Redraw the latent variables of a state in place; return log densities by name."""

    def kept(self, latent: Any) -> dict[str, Any]:
        """Return the latent variables that a draw stores, by field names of ``ChainDraw``."""
        return {}

    def conditioned(
        self,
        rows: TrainingData,
        latent: object,
        omega: Array,
        precision: float,
        n_copies: int = 1,
        reused: ChainEvidence | None = None,
    ) -> tuple[TrainingData, ChainEvidence]:
        """Return the rows given latent variables, and the evidence of ``omega`` on them."""
        weighted_rows = self.given(rows, latent)
        # Weights from latent variables are no counts: degrees of freedom come from the rows.
        degrees = rows.n_observations - rows.n_fixed
        settings = omega, precision, self.noise
        return weighted_rows, evidence_of(
            weighted_rows, *settings, n_copies=n_copies, reused=reused, degrees=degrees
        )

    def recondition(self, rows: TrainingData, state: ChainState, latent: object) -> None:
        """Set the latent variables of a state, at its current frequencies and precision."""
        old = state.evidence
        state.latent = latent
        state.rows, state.evidence = self.conditioned(
            rows, latent, old.omega, old.precision, reused=old
        )


@dataclass(frozen=True, slots=True)
class ConstantNoise(ConditionallyGaussian):
    """Gaussian noise of constant variance, which is integrated out; no latent variables."""

    noise: Noise

    def redraw(self, rng: Generator, rows: TrainingData, state: ChainState) -> Info:
        return {"log_evidence": state.evidence.log_evidence()}
