"""The feature maps that the benchmark of double mixtures compares."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks import baselines
from benchmarks.digmm import design
from benchmarks.indefinite.design import FeatureMap, spherical
from bochner import papers
from bochner._base.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import TL1, Kernel
from bochner.learned import ExactInference
from bochner.learned.similarity_features import SimilarityFeatures
from bochner.spectral.least_squares import Sample, least_squares_weights

_WEIGHT_ROWS, _HELD_OUT = 1_250, 250  # As ``FourierFeatures(weights="least_squares")`` has them
_DIRECTIONS, _QUANTILES = 20_000, 200  # In the plane the mean is within 0.005 of the integral

Make = Callable[[Kernel, int, int, int, design.Size], FeatureMap]
"""From a kernel, numbers of inputs and of real features, a seed and the size of the benchmark."""


class Reweighted:
    """Features of a double mixture whose weights are fitted to the kernel on some rows.

    ``seed`` chooses at most 1,250 rows, a fifth of which compares weights.
    """

    signature_: Array

    def __init__(self, mixture: SimilarityFeatures, kernel: Kernel, seed: int) -> None:
        self.mixture = mixture
        self.kernel = kernel
        self.seed = seed

    def fit(self, X: Array) -> Self:
        drawn = self.mixture.fit(X).frequencies_
        rows = X[np.random.default_rng(self.seed).permutation(len(X))[:_WEIGHT_ROWS]]
        n = min(_HELD_OUT, len(rows) // 5)
        held_out, fit = (Sample(part, part, self.kernel(part)) for part in (rows[:n], rows[n:]))
        fitted = least_squares_weights(drawn, fit, held_out)
        self.frequencies_ = drawn.with_weights(fitted.weight, fitted.phase)
        self.signature_ = self.frequencies_.signature
        return self

    def transform(self, X: Array) -> NDArray[Any]:
        return np.asarray(self.frequencies_.features(X))

    def gram(self, X: Array, Y: Array | None = None) -> NDArray[Any]:
        return np.asarray(self.frequencies_.gram(X, Y))


def mixture(
    kernel: Kernel, p: int, seed: int, size: design.Size, inference: Any = None, **options: Any
) -> SimilarityFeatures:
    """Return features of a double mixture, with the paper's sketch unless options say otherwise."""
    if inference is None:
        inference = ExactInference(max_iter=size.max_iter, n_starts=size.n_starts)
    options = {"n_sketch": design.PAPER_SKETCH, **options}
    return SimilarityFeatures(kernel, p, inference=inference, random_state=seed, **options)


def mean_over_directions(kernel: TL1, dim: int) -> Callable[[Array], Array]:
    r"""Return the mean of a TL1 kernel over the directions of a lag, a function of its length.

    Lengths in the city-block norm of uniform directions are represented by 200 quantiles.
    """
    directions = np.random.default_rng(0).standard_normal((_DIRECTIONS, dim))
    lengths = np.abs(directions).sum(axis=1) / np.linalg.norm(directions, axis=1)
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    length = np.quantile(lengths, levels)

    def mean(distance: Array) -> Array:
        lag = np.multiply.outer(np.asarray(distance, dtype=np.float64), length)
        return np.asarray(np.maximum(kernel.tau - lag, 0.0).mean(axis=-1))

    return mean


def _spherical(kernel: Kernel, dim: int, p: int, seed: int, size: design.Size) -> FeatureMap:
    if not isinstance(kernel, TL1):
        return spherical(kernel, p, seed)
    # A sphere whose diameter is that of the unit cube.
    return baselines.SphericalRandomFeatures(
        mean_over_directions(kernel, dim), p, radius=0.5 * dim**0.5, random_state=seed
    )


def _mixture(inference: Any = None) -> Make:
    return lambda kernel, dim, p, seed, size: mixture(kernel, p, seed, size, inference)


def _larger(kernel: Kernel, dim: int, p: int, seed: int, size: design.Size) -> FeatureMap:
    return mixture(kernel, p, seed, size, n_sketch=size.larger_sketch)


def _reweighted(kernel: Kernel, dim: int, p: int, seed: int, size: design.Size) -> FeatureMap:
    return Reweighted(mixture(kernel, p, seed, size), kernel, seed)


def _fourier(scheme: str = "orthogonal", **options: Any) -> Make:
    return lambda kernel, dim, p, seed, size: FourierFeatures(
        kernel, p, scheme=scheme, random_state=seed, **options
    )


def _maclaurin(kernel: Kernel, dim: int, p: int, seed: int, size: design.Size) -> FeatureMap:
    return baselines.RandomMaclaurin(kernel, p, random_state=seed)


METHODS: Mapping[str, Make] = {
    design.TAYLOR: _mixture(papers.digmm.Taylor()),
    design.EXACT: _mixture(),
    design.LARGER: _larger,
    design.REWEIGHTED: _reweighted,
    design.SPHERICAL: _spherical,
    design.MACLAURIN: _maclaurin,
    design.DESIGNED: _fourier(),
    design.LEAST_SQUARES: _fourier(weights="least_squares"),
}
