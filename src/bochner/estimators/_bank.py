"""What the regressor and the classifier that learn their kernel share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from hashlib import sha256
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_info, threadpool_limits

from bochner._numerics.arrays import Array, as_positive_scalar
from bochner._numerics.warn import warn_user
from bochner.features.transformer import FourierFeatures
from bochner.frequencies import Frequencies
from bochner.kernels import SpectralMixture
from bochner.learning.inference.components import spectral_mixture
from bochner.learning.inference.learned import Convergence, Learned
from bochner.learning.inference.plan import SAMPLERS, STRUCTURES, Data, Settings, learn
from bochner.learning.inference.preparation import Scaling, Trend
from bochner.learning.inference.relevance import Relevance, relevance_of

BANK_ATTRIBUTES: Mapping[str, Any] = MappingProxyType(
    {
        "learned_": list[Learned],
        "convergence_": list[Convergence],
        "kernel_": SpectralMixture,
        "_scaling": Scaling,
        "_trend": Trend,
    }
)
"""What both learn, for model files."""

_BAD_RHAT, _FEW = 1.3, 10.0


class BaNK(BaseEstimator, ABC):
    """A kernel learned from data: posterior draws of frequencies and weights."""

    learned_: list[Learned]
    convergence_: list[Convergence]
    kernel_: SpectralMixture
    _scaling: Scaling
    _trend: Trend

    def __init__(
        self,
        n_frequencies: int = 200,
        structure: str = "auto",
        sampler: str = "auto",
        n_burn_in: int = 100,
        n_samples: int = 100,
        *,
        thin: int | str = "auto",
        n_chains: int = 1,
        n_jobs: int | None = None,
        trend: int = 0,
        time_limit: float | None = None,
        dtype: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.structure = structure
        self.sampler = sampler
        self.n_burn_in = n_burn_in
        self.n_samples = n_samples
        self.thin = thin
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.trend = trend
        self.time_limit = time_limit
        self.dtype = dtype
        self.verbose = verbose
        self.random_state = random_state

    @property
    def trace_(self) -> Any:
        """What the chains did, iteration by iteration: a Trace, or one for each class."""
        check_is_fitted(self, "learned_")
        traces = [learned.trace for learned in self.learned_]
        return traces[0] if len(traces) == 1 else traces

    @property
    def relevance_(self) -> Relevance:
        """Inclusion and importance of every input, averaged over the classes."""
        return self._relevance()[0]

    @property
    def interactions_(self) -> Array:
        """Share of the function's variance that depends on both of two inputs, (d, d)."""
        return self._relevance()[1]

    def features(self, draw: str = "best") -> FourierFeatures:
        """Return the features of one posterior draw, as a fitted transformer.

        Parameters
        ----------
        draw : {"best", "last"}, default="best"
            The draw of greatest log evidence, or the chain's last one. With several classes,
            the draws of all of them side by side.

        Returns
        -------
        features : FourierFeatures
            With ``2 * n_frequencies`` features (for every class), on inputs in their own units.
        """
        check_is_fitted(self, "learned_")
        if draw not in ("best", "last"):
            raise ValueError(f"draw must be 'best' or 'last', got {draw!r}.")
        omega = np.concatenate(
            [
                learned.draws.omega[learned.draws.best if draw == "best" else -1]
                for learned in self.learned_
            ]
        )
        weight = np.full(len(omega), 1.0 / len(omega))
        frequencies = Frequencies(omega / self._scaling.scale, weight)
        return FourierFeatures.of(frequencies, self.kernel_)

    def _relevance(self) -> tuple[Relevance, Array]:
        check_is_fitted(self, "learned_")
        omega = np.concatenate([learned.draws.omega for learned in self.learned_])
        coef = np.concatenate([learned.draws.coef for learned in self.learned_])
        return relevance_of(omega, coef)

    def _learn(
        self,
        X: Array,
        targets: Array,
        weight: Array | None,
        checkpoint: Any,
        *,
        is_binary: bool,
    ) -> None:
        """Learn one problem for every column of ``targets`` (n, t)."""
        settings = _shared(self._settings(), targets.shape[1])
        self._scaling = Scaling.of(X)
        scaled = self._scaling.apply(X)
        self._trend = Trend.of(scaled, self.trend)
        fixed = self._trend.columns(scaled)
        inputs = scaled.astype(_checked_dtype(self.dtype), copy=False)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        seeds = np.random.SeedSequence(seed).spawn(targets.shape[1])
        paths = _paths(checkpoint, targets.shape[1])
        self.learned_ = []
        # Threads share blocks of rows; inside, matrices are too small to gain from any.
        with threadpool_limits(1, user_api="blas"):
            for column, path in enumerate(paths):
                data = Data(inputs, targets[:, column], fixed, weight, is_binary)
                structure, chains = learn(
                    seeds[column],
                    data,
                    settings,
                    checkpoint=path,
                    fingerprint=_fingerprint(data, settings, seed) if path else "",
                    report=print if self.verbose else None,
                )
                self.learned_.append(Learned.of(chains, structure, self._scaling.scale))
        self.kernel_ = _averaged([learned.kernel for learned in self.learned_])
        self.convergence_ = [
            Convergence.of(learned, scaled.T, fixed.T) for learned in self.learned_
        ]
        self._warn()
        for path in paths:
            _forget(path, settings.n_chains)

    def _settings(self) -> Settings:
        for name in ("n_frequencies", "n_samples", "n_chains"):
            _check_count(name, getattr(self, name), least=1)
        _check_count("n_burn_in", self.n_burn_in, least=0)
        if not (isinstance(self.thin, str) and self.thin == "auto"):
            _check_count("thin", self.thin, least=1)
        _check_name("structure", self.structure, STRUCTURES)
        _check_name("sampler", self.sampler, SAMPLERS)
        _check_count("trend", self.trend, least=0)
        if self.trend > 2:
            raise ValueError(f"trend must be 0, 1 or 2, got {self.trend!r}.")
        limit = self.time_limit
        if limit is not None:
            limit = as_positive_scalar("time_limit", limit)
        if self.n_jobs is not None and (
            isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, Integral)
        ):
            raise TypeError(f"n_jobs must be None or an integer, got {self.n_jobs!r}.")
        structure = self.structure
        if self.sampler == "mh":
            if structure == "sparse":
                raise ValueError(
                    "sampler='mh' is the paper's independence proposal for dense frequencies; "
                    "use structure='dense' with it, or sampler='pcn'."
                )
            structure = "dense"
        return Settings(
            n_frequencies=int(self.n_frequencies),
            structure=structure,
            sampler=self.sampler,
            n_burn_in=int(self.n_burn_in),
            n_samples=int(self.n_samples),
            thin=None if isinstance(self.thin, str) else int(self.thin),
            n_chains=int(self.n_chains),
            n_jobs=self.n_jobs,
            time_limit=limit,
        )

    def _warn(self) -> None:
        rhat = max((c.rhat_predictions for c in self.convergence_), key=np.nan_to_num)
        ess = np.fmin.reduce([c.ess_predictions for c in self.convergence_])
        if rhat > _BAD_RHAT or ess < _FEW:
            warn_user(
                f"The chains have not converged: R-hat of the predictions is {rhat:.2f} "
                f"(expected at most {_BAD_RHAT}), their effective sample size {ess:.0f} "
                f"(expected at least {_FEW:.0f}). "
                f"Predictions average what was seen; intervals may be too narrow. Increase "
                f"n_burn_in and n_samples, or thin.",
                ConvergenceWarning,
            )

    def _rows(self, X: Any) -> tuple[Array, Array]:
        """Return scaled inputs (d, n) and fixed columns (q, n) of rows to predict at."""
        check_is_fitted(self, "learned_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        scaled = self._scaling.apply(X)
        return scaled.T, self._trend.columns(scaled).T

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Any:
        """Learn the kernel."""


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Give the estimator its attributes back if what follows fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def positive_rows(X: Array, y: Any, weight: Array | None) -> tuple[Array, Any, Array | None]:
    """Return the rows that have weight."""
    if weight is None:
        return X, y, None
    kept = weight > 0
    return X[kept], y[kept], weight[kept]


def quantile_of(level: float) -> float:
    """Return the normal quantile of a central interval."""
    return float(ndtri(0.5 + 0.5 * level))


def _shared(settings: Settings, n_problems: int) -> Settings:
    """Return settings for one of several problems: its threads, and its share of the time."""
    limit = settings.time_limit
    pools = (pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
    return replace(
        settings,
        time_limit=None if limit is None else limit / n_problems,
        n_threads=max(pools, default=1),
    )


def _averaged(kernels: list[SpectralMixture]) -> SpectralMixture:
    if len(kernels) == 1:
        return kernels[0]
    return spectral_mixture(
        np.concatenate([np.asarray(k.weights) for k in kernels]) / len(kernels),
        np.concatenate([np.asarray(k.means) for k in kernels]),
        np.concatenate([np.asarray(k.covariances) for k in kernels]),
    )


def _paths(checkpoint: Any, count: int) -> list[Path | None]:
    if checkpoint is None:
        return [None] * count
    path = Path(checkpoint)
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint {str(path)!r} lies in a folder that does not exist; make it first."
        )
    if path.is_dir():
        raise ValueError(f"checkpoint {str(path)!r} is a folder; give the name of a file in it.")
    return [path if count == 1 else path.with_name(f"{path.name}.class{i}") for i in range(count)]


def _forget(path: Path | None, n_chains: int) -> None:
    """Delete the checkpoints of a finished fit."""
    if path is None:
        return
    for index in range(n_chains):
        one = path if n_chains == 1 else path.with_name(f"{path.name}.{index}")
        one.unlink(missing_ok=True)
        # Of runs that were killed while they wrote.
        for partial in one.parent.glob(f"{escape(one.name)}.*.partial"):
            partial.unlink(missing_ok=True)


def _fingerprint(data: Data, settings: Settings, seed: int) -> str:
    # How many processes and threads do the work changes nothing.
    settings = replace(settings, n_jobs=None, n_threads=1)
    digest = sha256(repr((settings, seed, data.is_binary)).encode())
    for array in (data.X, data.y, data.fixed, data.weight):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if int(value) < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")


def _checked_dtype(dtype: Any) -> np.dtype[Any]:
    chosen = np.dtype(np.float64 if dtype is None else dtype)
    if chosen not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be None, 'float32' or 'float64', got {dtype!r}.")
    return chosen


def _check_name(name: str, value: Any, names: tuple[str, ...]) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}.")
    if value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}.")
