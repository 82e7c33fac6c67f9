"""Base class of the models that learn their kernel by sampling (BaNK)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, ArrayLike, MatrixLike
from bochner._base.checks import drawn_seed, validated
from bochner._base.progress import Callback, Progress
from bochner._base.threads import single_threaded_blas
from bochner._base.warn import warn_user
from bochner.features.chunks import Units
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel, SpectralMixture
from bochner.learned.chain_models import BANK, Model, Structure
from bochner.learned.chain_parameters import Chains, settings_of
from bochner.learned.chain_plan import Sampler, SamplerSettings, default_sizes, learn
from bochner.learned.draws import waves_in_units
from bochner.learned.learned_kernel import (
    Convergence,
    Learned,
    LeftOutRows,
    blocks_of,
    parts_of,
    pooled,
    scored_of,
    spectral_mixture,
)
from bochner.learned.moves import Move
from bochner.learned.relevance import Relevance, averaged, relevance_of
from bochner.learned.training_data import ScaledData, Scaling, Trend, frequency_scales
from bochner.linear.argument_checks import checked_weight

_BAD_RHAT = 1.3
"""R-hat of the predictions beyond which a fit of one chain warns. Short chains of multimodal
posteriors reach 1.1 or 1.2 with useful predictions; beyond 1.3 separate fits disagree."""

_FEW = 10.0
"""Effective sample size below which a fit of one chain warns: the standard error of a mean is a
third of the posterior's standard deviation."""


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """The problems that chains learn: distinct rows, and a task that turns targets into columns."""

    X: Array  # (n, d)
    codes: Array  # (n,): Numeric codes of the targets
    units: Units  # (n,)
    task: Any  # Has ``codes`` of targets, and the ``columns`` that chains learn
    unit: float = 1.0  # Number by which the sample weights were divided
    has_precisions: bool = False  # If not, weights are counts or powers of the likelihood

    @property
    def weight(self) -> Array | None:
        """Total weights (n,) of the rows; ``None`` if all are one."""
        totals = self.units.totals
        return None if (totals == 1.0).all() else totals

    @property
    def repeats(self) -> Array | None:
        """Numbers of observations (n,) if weights are precisions, else ``None``."""
        return self.units.counts if self.has_precisions else None


@dataclass(eq=False, repr=False)
class LearnedKernelEstimator(BaseEstimator, ABC):
    """Base of models with a kernel learned from data by posterior draws of its frequencies."""

    _is_classifier: ClassVar[bool]

    n_frequencies: int = 200
    structure: str | Structure = "auto"
    sampler: "str | Sampler | Sequence[Move]" = "auto"
    chains: Chains | None = None
    _: KW_ONLY
    trend: int = 0
    n_jobs: int | None = None
    random_state: Any = None

    learned_: list[Learned] = field(init=False)
    convergence_: list[Convergence] = field(init=False)
    kernel_: Kernel = field(init=False)
    relevance_: Relevance = field(init=False)
    score_: float | None = field(init=False)
    _scaling: Scaling = field(init=False)
    _trend: Trend = field(init=False)

    @property
    def trace_(self) -> Any:
        """Records of every iteration of the chains: a Trace, or a list with one for each class."""
        check_is_fitted(self, "learned_")
        traces = [learned.trace for learned in self.learned_]
        return traces[0] if len(traces) == 1 else traces

    @property
    def interactions_(self) -> Array:
        """Shares (d, d) of pairs of inputs in the function's mean squared second derivatives."""
        check_is_fitted(self, "learned_")
        return self.relevance_.interactions

    def features(self, draw: str = "best") -> FourierFeatures:
        """Return the features of one posterior draw, as a fitted transformer.

        Parameters
        ----------
        draw : {"best", "last"}, default="best"
            The draw of greatest log evidence, or the last draw of the chain. With several classes,
            the features of all classes are concatenated.

        Returns
        -------
        features : FourierFeatures
            With ``2 * n_frequencies`` features (for every class), in the original units of the
            inputs; more where the class has pooled draws.
        """
        check_is_fitted(self, "learned_")
        if draw not in ("best", "last"):
            raise ValueError(f"draw must be 'best' or 'last', got {draw!r:.60}.")
        waves = [
            learned.draws.waves(learned.draws.best if draw == "best" else -1)
            for learned in self.learned_
        ]
        frequencies = reduce(add, (waves_in_units(each, self._scaling) for each in waves))
        weight = frequencies.weight / len(waves)
        return FourierFeatures.of(frequencies.with_weights(weight), self.kernel_)

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Sample the posterior of the kernel's frequencies and of the weights of its features.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        y : array-like of shape (n,)
            Targets: numbers for a regression, at least two labels for a classification.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows. Whole numbers are counts: a row of weight three is three
            independent rows. A row of any other weight ``w`` is one observation. In a regression
            its noise variance is σ² / w, and predictions are for weight one. In a
            classification its log-likelihood is multiplied by ``w``.
        callback : callable, default=None
            Function that is called with a :class:`bochner.FitProgress` after every iteration or,
            if chains run in separate processes, after every chain. If it returns ``False``,
            sampling ends as at a time limit: every remaining stage has one iteration. Chains in
            other processes run to their end. ``callback=print`` prints a line per iteration.

        Raises
        ------
        ValueError
            If a parameter is out of range, the data are unusable, or there is only one class.
        """
        self._learn(self._problems(X, y, sample_weight), Progress(callback))
        return self

    def _learn(self, problems: Problems, progress: Progress) -> None:
        """Sample the posterior of every problem: one regression, or one problem per class."""
        self._check_parameters()
        settings = settings_of(self, len(problems.X))
        self._scaling = Scaling.of(problems.X)
        scaled = self._scaling.apply(problems.X)
        self._trend = Trend.of(scaled, self.trend)
        model = settings.sampler.model or self._model(settings.n_frequencies)
        scale = frequency_scales(scaled, np.random.default_rng(0))
        settings = replace(settings, model=model.scaled(tuple(scale.tolist())))
        columns = self._columns(problems, scaled, settings)
        seed = drawn_seed(self.random_state)
        rng, block, parts = np.random.default_rng(seed), None, None
        if settings.n_chains > 1 and self.trend == 0 and settings.model == BANK:
            # Each chain predicts a block of rows that it leaves out, for score and calibration.
            codes = problems.codes if self._is_classifier else None
            block = blocks_of(rng, problems.units, codes, settings.n_chains)
            parts = None if block is None else parts_of(rng, problems.units, block)
        learned_problems = self._sampled(columns, settings, seed, parts, progress)
        self.learned_ = [
            replace(each, draws=replace(each.draws, noise_unit=problems.unit))
            for each in learned_problems
        ]
        self.kernel_ = mean_kernel([learned.kernel for learned in self.learned_])
        points = scaled.T, self._trend.columns(scaled).T
        self.convergence_ = [Convergence.of(learned, *points) for learned in self.learned_]
        # Several short chains stay near different modes, so that a large R-hat is expected.
        if settings.n_chains == 1:
            warn_of_convergence(self.convergence_)
        self._judge(problems, points, block, rng, settings.n_chains)
        # Pooled weights are fitted to all rows, so that pooling must follow the score.
        if block is not None:
            self.learned_ = with_pooled_draws(self.learned_, columns, settings, rng)
        self.relevance_ = averaged(
            [self._relevance(learned, scaled, problems.weight) for learned in self.learned_]
        )

    def _columns(
        self, problems: Problems, scaled: Array, settings: SamplerSettings
    ) -> list[ScaledData]:
        """Return the scaled training data of each problem."""
        inputs = scaled.astype(getattr(self.chains, "dtype", None) or np.float64, copy=False)
        return [
            ScaledData(
                inputs,
                target,
                self._trend.columns(scaled),
                problems.weight,
                self._is_classifier,
                basis=settings.model.basis(settings.n_frequencies),
                repeats=problems.repeats,
            )
            for target in np.ascontiguousarray(problems.task.columns(problems.codes).T)
        ]

    def _sampled(
        self,
        columns: Sequence[ScaledData],
        settings: SamplerSettings,
        seed: int,
        parts: Any,
        progress: Progress,
    ) -> list[Learned]:
        """Run the chains; return the posterior draws, trace and kernel of each problem."""
        learned = []
        seeds = np.random.SeedSequence(seed).spawn(len(columns))
        # Threads share blocks of rows: the matrices of a block are too small to use several.
        with single_threaded_blas() as n_threads:
            settings = one_share(settings, len(columns), n_threads)
            for data, own_seed in zip(columns, seeds, strict=True):
                structure, chains = learn(own_seed, data, settings, parts=parts, report=progress)
                learned.append(Learned.of(chains, structure.name, self._scaling, data.basis))
        return learned

    def _judge(
        self,
        problems: Problems,
        points: tuple[Array, Array],
        block: Any,
        rng: np.random.Generator,
        n_chains: int,
    ) -> None:
        """Set the score and the calibration from predictions of rows that chains held out."""
        left_out = None
        if block is not None:
            rows, chain_of_row = scored_of(rng, block)
            weights = problems.unit * problems.units.weights[rows]
            units = Units(weights, block[rows, chain_of_row].astype(np.float64))
            inputs, fixed = (part[:, rows] for part in points)
            left_out = LeftOutRows(
                n_chains, chain_of_row, inputs, fixed, problems.codes[rows], units
            )
        self._calibrate(left_out, problems.task)

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters, also of a model loaded from a file."""
        settings_of(self, n_rows=1)

    def _default_sizes(self, n_rows: int) -> Mapping[str, int]:
        """Return the default numbers of iterations and chains."""
        return default_sizes(n_rows)

    def _model(self, n_frequencies: int) -> Model:
        """Return the default model, which a model of the sampler replaces."""
        return BANK

    def _relevance(self, learned: Learned, scaled: Array, weight: Array | None) -> Relevance:
        draws = learned.draws
        fixed = draws.coef[:, 2 * draws.n_waves :]
        return relevance_of(draws, self._trend.polynomial(fixed, scaled.shape[1]), scaled, weight)

    def _rows(self, X: object) -> tuple[Array, Array]:
        """Return scaled inputs (d, n) and fixed columns (q, n) of rows to predict at."""
        check_is_fitted(self, "learned_")
        rows = validated(self, X, dtype=np.float64, reset=False)
        scaled = self._scaling.apply(rows)
        return scaled.T, self._trend.columns(scaled).T

    @abstractmethod
    def _calibrate(self, left_out: LeftOutRows | None, task: Any) -> None:
        """Set ``score_`` and the calibration from ``left_out``, if that is not ``None``."""

    @abstractmethod
    def _problems(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Problems:
        """Return the problems of checked rows, targets and weights."""


def with_pooled_draws(
    learned: Sequence[Learned],
    columns: Sequence[ScaledData],
    settings: SamplerSettings,
    rng: np.random.Generator,
) -> list[Learned]:
    """Return what problems have learned, with the draws of all chains pooled if rows suffice."""
    n_chains = settings.n_chains
    with single_threaded_blas() as n_threads:
        return [
            replace(each, draws=pooled(rng, each.draws, data, n_chains, n_threads))
            for each, data in zip(learned, columns, strict=True)
        ]


def one_share(settings: SamplerSettings, n_problems: int, n_threads: int) -> SamplerSettings:
    """Return the settings for one of ``n_problems``: its threads and its share of the time."""
    limit = settings.time_limit
    limit = None if limit is None else limit / n_problems
    return replace(settings, time_limit=limit, n_threads=n_threads)


def mean_kernel(kernels: list[Kernel]) -> Kernel:
    """Return the mean of kernels; the mean of spectral mixtures is one spectral mixture."""
    if len(kernels) == 1:
        return kernels[0]
    mixtures = [kernel for kernel in kernels if isinstance(kernel, SpectralMixture)]
    if len(mixtures) < len(kernels):
        return (1.0 / len(kernels)) * reduce(add, kernels)
    return spectral_mixture(
        np.concatenate([np.asarray(k.weights) for k in mixtures]) / len(mixtures),
        np.concatenate([np.asarray(k.means) for k in mixtures]),
        np.concatenate([np.asarray(k.covariances) for k in mixtures]),
    )


def warn_of_convergence(convergence: Sequence[Convergence]) -> None:
    """Warn if R-hat of the predictions is high or their effective sample size is low."""
    rhat = max((c.rhat_predictions for c in convergence), key=np.nan_to_num)
    ess = np.fmin.reduce([c.ess_predictions for c in convergence])
    if rhat > _BAD_RHAT or ess < _FEW:
        warn_user(
            f"The chain has not converged: R-hat of the predictions is {rhat:.2f} "
            f"(expected at most {_BAD_RHAT}), the effective sample size {ess:.0f} "
            f"(expected at least {_FEW:.0f}). "
            f"Predictions remain usable, but intervals may be too narrow. Increase n_burn_in "
            f"and n_samples, or thin, or use several chains.",
            ConvergenceWarning,
        )


def positive_rows(X: Array, y: Any, sample_weight: ArrayLike | None) -> tuple[Array, Any, Units]:
    """Return the rows and targets of positive weight, and the observations that they stand for."""
    weight = checked_weight(sample_weight, X)
    if weight is None:
        return X, y, Units.of(None, len(X))
    is_positive = weight > 0
    return (
        X[is_positive],
        y[is_positive],
        Units.of(weight[is_positive], int(np.count_nonzero(is_positive))),
    )
