"""The data of an inference from similarities, its interface, and its result."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array
from bochner.kernels import Kernel, SpectralMixture
from bochner.learned.dirichlet_mixture import GaussianComponent, covariance_factor
from bochner.spectral import SpectralMeasure
from bochner.spectral.closed_forms import closed_form
from bochner.spectral.measure import Allocation

# Random rows at the start of a spread sketch: their 45 pairs give differences of typical length.
_N_RANDOM = 10
# Rows among which a spread sketch is chosen. Time and memory are proportional to it; rows that
# lie farther out than all of them are about one in 10,000.
_N_CANDIDATES = 10_000
# Pairs of rows that the bound sums over. Its memory and time are proportional to this number:
# 8,192 pairs times 5 components times 8 bytes are 0.3 MiB for each intermediate array.
_MOST_PAIRS = 8_192
# Singular values of the centred rows below this fraction of the largest are rounding error.
_RANK_TOLERANCE = 1e-9
# Mean self-similarities below this fraction of the mean of all similarities are rounding error.
_ZERO_DIAGONAL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A sample of rows (n, d), their similarities (n, n), and a typical distance of the data."""

    rows: Array
    gram: Array
    distance: float  # Prior frequencies are of the order of its inverse


@dataclass(frozen=True, slots=True, eq=False)
class PairSimilarities:
    """Pairs of rows of a sketch: the difference of the two rows, and their similarity.

    The self-similarities of all rows are one observation: their mean. ``unit`` is the mean size of
    self-similarities, or of all similarities if self-similarities are zero up to rounding.
    """

    deltas: Array  # (P, q): Differences in ``basis``, in units of the typical distance
    values: Array  # (P,): Mean similarities at each difference, in units of ``unit``
    counts: Array  # (P,): Numbers of similarities in each mean
    spread: float  # Sum of squared deviations from the averages
    unit: float
    basis: Array  # (d, q): Orthonormal basis of the span

    @property
    def total(self) -> float:
        """Number of similarities."""
        return float(self.counts.sum())


def observed(sketch: Sketch, rng: Generator) -> PairSimilarities:
    """Return the similarities of all pairs of rows, or of 8,192 random pairs if there are more."""
    basis = _span(sketch.rows)
    coordinates = sketch.rows @ basis / sketch.distance
    first, second = np.triu_indices(len(sketch.rows), k=1)
    share = 1.0
    # A random subset of pairs, with weights so that self-similarities count as before.
    if len(first) > _MOST_PAIRS:
        share = _MOST_PAIRS / len(first)
        chosen = rng.choice(len(first), _MOST_PAIRS, replace=False)
        first, second = first[chosen], second[chosen]
    unit, mean_size = (
        float(np.mean(np.abs(values))) for values in (np.diagonal(sketch.gram), sketch.gram)
    )
    if unit <= _ZERO_DIAGONAL * mean_size:
        unit = mean_size
    self_similarities = np.diagonal(sketch.gram) / unit
    zero = np.zeros((1, basis.shape[1]))
    return PairSimilarities(
        deltas=np.concatenate((zero, coordinates[first] - coordinates[second])),
        values=np.append(self_similarities.mean(), sketch.gram[first, second] / unit),
        counts=np.append(share * len(self_similarities), np.ones(len(first))),
        spread=share * float(np.sum((self_similarities - self_similarities.mean()) ** 2)),
        unit=unit,
        basis=basis,
    )


def _span(rows: Array) -> Array:
    """Return an orthonormal basis (d, q) of the span of row differences; q is at least one."""
    _, values, directions = svd(rows - rows.mean(axis=0), full_matrices=False)
    rank = int(np.count_nonzero(values > _RANK_TOLERANCE * values[0]))
    basis: Array = directions[: max(rank, 1)].T
    return basis


def spread_rows(rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
    """Return the indices of ``n`` rows: ten random rows, and rows that are far apart.

    Each further row is drawn with a probability proportional to its squared distance from the
    nearest row chosen before, as in Arthur and Vassilvitskii, "k-means++: the advantages of careful
    seeding", 2007. A kernel learned from random rows only is wrong for the few rows far from all
    others. Candidates are at most 10,000 random rows, or ``n`` if that is more.
    """
    order = rng.permutation(len(rows))[: max(n, _N_CANDIDATES)]
    candidates = rows[order]
    square = cdist(candidates, candidates[:_N_RANDOM], "sqeuclidean").min(axis=1)
    chosen = list(range(min(n, _N_RANDOM, len(order))))
    left = np.ones(len(order), dtype=bool)
    left[chosen] = False
    while len(chosen) < min(n, len(order)):
        weight = square * left
        if not weight.any():  # all other rows are copies of chosen rows
            weight = left.astype(np.float64)
        chosen.append(int(rng.choice(len(order), p=weight / weight.sum())))
        left[chosen[-1]] = False
        last = candidates[chosen[-1:]]
        square = np.minimum(square, cdist(candidates, last, "sqeuclidean")[:, 0])
    return order[chosen]


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
        """Number of components with at least a thousandth of the frequencies."""
        return int(np.count_nonzero(self.weights @ self.labels >= _USED_SHARE))

    def responsibilities(self, omega: Array) -> Array:
        """Return the probabilities (m, T) that frequencies (m, d) come from each component."""
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
    """A learned kernel, as a positive and a negative part, and the record of its inference."""

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


class Inference(ABC):
    """A method that infers two mixtures from the similarities of a sketch."""

    __slots__ = ()

    scheme: ClassVar[str]  # Sampling scheme of frequencies drawn from the learned measure
    learns_noise: ClassVar[bool]  # Whether noise that is not given is learned from the similarities

    @abstractmethod
    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        """Return the indices of the ``n`` rows of a sketch, or of all rows if there are fewer."""

    @abstractmethod
    def infer(
        self,
        sketch: Sketch,
        truncation: int,
        noise: float | None,
        n_frequencies: int,
        rng: Generator,
    ) -> LearnedMixture:
        """Return the mixtures of both signs, for ``n_frequencies`` frequencies in total.

        A mixture has at most ``truncation`` components; ``noise`` is relative to the similarities.
        """
