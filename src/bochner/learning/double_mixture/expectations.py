"""The two ways of inference: the paper's expansion of the cosine, and its exact expectation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.bound import Factor
from bochner.learning.double_mixture.evidence import STIFFNESS
from bochner.learning.double_mixture.exact import infer
from bochner.learning.double_mixture.learned import Given, Learned, LearnedPart
from bochner.learning.double_mixture.mean_field import MeanFieldPrior
from bochner.learning.double_mixture.observed import Observed, observed
from bochner.learning.double_mixture.setting import Setting
from bochner.learning.double_mixture.sketch import (
    Sketch,
    SplitPart,
    eigen_split,
    random_rows,
    spread_rows,
)
from bochner.learning.double_mixture.taylor import Inferred, Part, coordinate_ascent
from bochner.spectral import ByMass

_LEAST_WEIGHT = 1e-4
_LEAST_MASS = 1e-9
_WIDTH = 0.5


class Expectation(ABC):
    """A way to infer two mixtures from a sketch."""

    __slots__ = ()

    scheme: str
    """How frequencies are drawn from what it learns."""

    max_iter: int
    """Iterations unless others are asked for."""

    learns_noise: bool
    """Whether the noise, unless it is given, is that of the similarities about the kernel."""

    @abstractmethod
    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        """Return the indices of the ``n`` rows of a sketch, or of all rows if there are fewer."""

    @abstractmethod
    def infer(
        self, sketch: Sketch, setting: Setting, n_frequencies: int, rng: Generator
    ) -> Learned:
        """Return what is learned for ``n_frequencies`` of both signs together."""


@dataclass(frozen=True, slots=True)
class Exact(Expectation):
    """The bound with exact expectations, both signs together, maximised.

    The eigen-split is not used: a part of it is no function of the difference of rows, even where
    the kernel is. The measure itself is split instead, as the bound likes it best.
    """

    scheme = "orthogonal"
    max_iter = 200
    learns_noise = True

    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        return spread_rows(rows, n, rng)

    def infer(
        self, sketch: Sketch, setting: Setting, n_frequencies: int, rng: Generator
    ) -> Learned:
        data = observed(sketch, rng)
        signs = (1.0, -1.0) if float(np.trace(sketch.gram)) >= 0.0 else (-1.0, 1.0)
        ascent, bound = infer(data, signs, setting, rng)
        masses = bound.masses.copy()
        if not masses.any():  # no function of differences explains anything
            masses[0] = _LEAST_MASS
        found = zip(ascent.objective.signs.tolist(), masses, ascent.factors, strict=True)
        parts = [
            _part_of_factor(sign, data.unit * float(mass), factor, data, sketch.distance)
            for sign, mass, factor in found
            if mass > 0.0
        ]
        return Learned(
            parts=tuple(sorted(parts, key=lambda part: -part.sign)),
            bounds=ascent.history[1:],
            changes=ascent.changes,
            noise=data.unit * bound.noise,
            allocation=ByMass(),
        )


@dataclass(frozen=True, slots=True)
class Taylor(Expectation):
    """Algorithm 1 as published, for each part of the eigen-split alone."""

    scheme = "iid"
    max_iter = 50
    learns_noise = False

    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        return random_rows(rows, n, rng)

    def infer(
        self, sketch: Sketch, setting: Setting, n_frequencies: int, rng: Generator
    ) -> Learned:
        prior = _paper_prior(sketch, setting)
        split = zip((1.0, -1.0), eigen_split(sketch.gram, setting.shift), strict=True)
        given = [(sign, part) for sign, part in split if part is not None]
        shares = _equal(max(n_frequencies, len(given)), len(given))
        streams = rng.spawn(len(given))
        noise = 1.0 if setting.noise is None else setting.noise
        found = [
            coordinate_ascent(
                Part(sketch.rows, part.gram, noise),
                prior,
                _equal(share, setting.truncation),
                stream,
                setting.max_iter,
                setting.tol,
            )
            for (_, part), share, stream in zip(given, shares, streams, strict=True)
        ]
        parts = (
            _part_of_groups(sign, part, one) for (sign, part), one in zip(given, found, strict=True)
        )
        sizes = np.concatenate([one.frequencies.sizes for one in found])
        return Learned(
            parts=tuple(parts),
            bounds=_summed([one.bounds for one in found]),
            changes=np.sqrt(_summed([one.changes**2 for one in found], last=0.0)),
            noise=noise * max(part.mass for _, part in given),
            allocation=Given(tuple(map(int, sizes))),
        )


EXPECTATIONS: Mapping[str, Expectation] = MappingProxyType({"exact": Exact(), "taylor": Taylor()})


def _paper_prior(sketch: Sketch, setting: Setting) -> MeanFieldPrior:
    """Return a prior whose frequencies are those of a Gaussian kernel of half the distance."""
    dim = sketch.rows.shape[1]
    precision = (_WIDTH * sketch.distance) ** 2 * np.eye(dim)
    dof = dim + 1.0 + STIFFNESS
    return MeanFieldPrior(np.zeros(dim), precision, precision / dof, dof, setting.concentration)


def _part_of_groups(sign: float, part: SplitPart, found: Inferred) -> LearnedPart:
    frequencies = found.frequencies
    return LearnedPart(
        sign,
        part.mass,
        frequencies.sizes / frequencies.sizes.sum(),
        frequencies.means,
        frequencies.covariances,
        frequencies.labels,
    )


def _part_of_factor(
    sign: float, mass: float, factor: Factor, data: Observed, distance: float
) -> LearnedPart:
    """Return a part in the units of the inputs, round in what the sketch says nothing of."""
    factor = factor.ordered()
    labels = np.eye(len(factor.weights))
    kept = factor.weights >= _LEAST_WEIGHT
    basis = data.basis
    beside = np.eye(len(basis)) - basis @ basis.T
    inside = basis @ factor.covariances[kept] @ basis.T
    outside = np.exp(factor.log_scales[kept])[:, None, None] * beside
    return LearnedPart(
        sign,
        mass,
        factor.weights[kept] / factor.weights[kept].sum(),
        factor.means[kept] @ basis.T / distance,
        (inside + outside) / distance**2,
        labels[kept],
    )


def _equal(total: int, n_parts: int) -> NDArray[np.intp]:
    """Return the sizes of at most ``n_parts`` parts of a number, equal but for one, not zero."""
    n_parts = max(min(n_parts, total), 1)
    sizes = np.full(n_parts, max(total, 1) // n_parts)
    sizes[: max(total, 1) % n_parts] += 1
    return sizes


def _summed(series: list[Array], last: float | None = None) -> Array:
    """Return the sum of series; the shorter end, or stay at ``last`` or their last value."""
    longest = max(map(len, series))
    padded = [
        np.append(one, np.full(longest - len(one), one[-1] if last is None else last))
        for one in series
    ]
    total: Array = np.sum(padded, axis=0)
    return total
