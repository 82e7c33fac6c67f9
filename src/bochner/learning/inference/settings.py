"""What chains are asked for: data, settings, and which model of them."""

from dataclasses import dataclass, replace
from typing import Any

from joblib import effective_n_jobs

from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import PLAIN, Basis
from bochner.learning.inference.models import BANK, Model
from bochner.learning.inference.summed import SummedRows
from bochner.learning.inference.training_data import TrainingData

STRUCTURES = ("auto", "sparse", "dense")
SAMPLERS = ("auto", "pcn", "hmc", "mh")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to sample; see :class:`bochner.BaNKRegressor`."""

    n_frequencies: int
    structure: str
    sampler: str
    n_burn_in: int
    n_samples: int
    thin: int | None
    n_chains: int
    n_jobs: int | None
    time_limit: float | None
    n_full: int = 16
    n_threads: int = 1
    model: Model = BANK

    @property
    def seconds_a_chain(self) -> float | None:
        """The time limit of one chain: those of one process run one after another."""
        if self.time_limit is None:
            return None
        n_jobs = 1 if self.n_chains == 1 else min(effective_n_jobs(self.n_jobs), self.n_chains)
        return self.time_limit / -(-self.n_chains // n_jobs)

    def less(self, seconds: float) -> "Settings":
        """Return the settings when some seconds are gone."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=max(0.0, self.time_limit - seconds))


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Scaled inputs, targets and fixed columns of the rows to learn from.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        float32 or float64, the type of the features.
    y : ndarray of shape (n,)
        Of unit variance; plus and minus one for a classification.
    fixed : ndarray of shape (n, q)
    weight : ndarray of shape (n,) or None
    is_binary : bool
        Whether the likelihood is logistic.
    elsewhere : SummedRows or None
        The rows that chains end with, where these are a sample of them.
    basis : Basis, default=PLAIN
        Of the features.
    """

    X: Any
    y: Array
    fixed: Array
    weight: Array | None
    is_binary: bool
    elsewhere: SummedRows | None = None
    basis: Basis = PLAIN

    @property
    def n_samples(self) -> int:
        """Number of rows that chains end with."""
        return len(self.y) if self.elsewhere is None else self.elsewhere.n_samples

    @property
    def target_factor(self) -> float:
        """By which targets are multiplied: one half of plus and minus one makes kappa."""
        return 0.5 if self.is_binary else 1.0

    def rows(self, n_threads: int = 1) -> TrainingData:
        """Return the rows in memory as chains want them."""
        target = self.target_factor * self.y
        return TrainingData.of(self.X, target, self.fixed, self.weight, n_threads, self.basis)

    def subset(self, index: Any) -> "Data":
        """Return some of the rows in memory."""
        weight = None if self.weight is None else self.weight[index]
        X, y, fixed = self.X[index], self.y[index], self.fixed[index]
        return replace(self, X=X, y=y, fixed=fixed, weight=weight, elsewhere=None)
