"""The interface of an inference, and its result: a signed mixture of Gaussians over frequencies."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.kernels import Kernel, SpectralMixture
from bochner.learned.similarity_sketch import Sketch
from bochner.learned.wishart import GaussianComponent, covariance_factor
from bochner.spectral import Allocation, SpectralMeasure, closed_form

# Least share of the frequencies of a component that counts as used, in ``n_used_`` only.
_USED_SHARE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class LearnedPart:
    """The mixture of one sign, of ``K`` Gaussians, in radians per unit of the inputs."""

    sign: float
    mass: float  # Value of the kernel at distance zero
    weights: Array  # (K,): Positive, with a sum of one
    means: Array  # (K, d)
    covariances: Array  # (K, d, d)
    labels: Array  # (K, T): Probabilities of the model's components for each Gaussian's frequencies

    def __post_init__(self) -> None:
        # Inverses and products of matrices are symmetric only up to rounding.
        symmetric = 0.5 * (self.covariances + self.covariances.swapaxes(1, 2))
        object.__setattr__(self, "covariances", symmetric)

    @property
    def kernel(self) -> SpectralMixture:
        """The part's kernel, positive definite."""
        return SpectralMixture(
            tuple(self.mass * self.weights), tuple(map(tuple, self.means)), tuple(self.covariances)
        )

    @property
    def n_used(self) -> int:
        """Number of the model's components with a thousandth of the frequencies or more."""
        return int(np.count_nonzero(self.weights @ self.labels >= _USED_SHARE))

    def responsibilities(self, omega: Array) -> Array:
        """Return the probability of each component given frequencies (m, d), of shape (m, T)."""
        logarithms = np.log(self.weights) + np.column_stack(
            [
                GaussianComponent(mean, covariance_factor("covariance", covariance)).log_density(
                    omega
                )
                for mean, covariance in zip(self.means, self.covariances, strict=True)
            ]
        )
        densities = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        shares: Array = (densities / densities.sum(axis=1, keepdims=True)) @ self.labels
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class LearnedMixture:
    """The parts of a kernel, and the record of their inference."""

    parts: tuple[LearnedPart, ...]  # At most one of each sign, the positive one first
    bounds: Array  # (n_iter,): Evidence lower bound after each iteration
    changes: Array  # (n_iter,): Frobenius norms of the change of label probabilities
    noise: float  # Standard deviation of similarities around the kernel
    allocation: Allocation  # Divides frequencies among the Gaussians of all parts

    @property
    def kernel(self) -> Kernel:
        """The positive part's kernel minus the negative part's."""
        return reduce(add, (part.sign * part.kernel for part in self.parts))

    @property
    def measure(self) -> SpectralMeasure:
        """The kernel's spectral measure."""
        dim = self.parts[0].means.shape[1]
        measures = (part.sign * closed_form(part.kernel, dim) for part in self.parts)
        pieces = tuple(piece for measure in measures for piece in measure.parts)
        return SpectralMeasure(pieces, allocation=self.allocation)


@dataclass(frozen=True, slots=True)
class MixtureSettings:
    """Valid parameters of an inference; :class:`bochner.SimilarityFeatures` documents them."""

    truncation: int = 5
    shift: float = 1.1
    concentration: float = 1.0
    noise: float | None = None
    max_iter: int = 50
    tol: float = 1e-5
    n_starts: int = 3


class Expectation(ABC):
    """A method that infers two mixtures from a sketch, named for its expectation of cosines."""

    __slots__ = ()

    scheme: str  # Sampling scheme of frequencies drawn from the learned measure
    max_iter: int  # Default number of iterations
    learns_noise: bool  # Whether noise that is not given is learned from the similarities

    @abstractmethod
    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        """Return the indices of the ``n`` rows of a sketch, or of all rows if there are fewer."""

    @abstractmethod
    def infer(
        self, sketch: Sketch, settings: MixtureSettings, n_frequencies: int, rng: Generator
    ) -> LearnedMixture:
        """Return the mixtures for ``n_frequencies`` frequencies of both signs together."""
