"""Importance sampling of frequencies with half of the draws spread over the tails.

The variance of a process between rows depends on frequencies that are rare under the law of a
smooth kernel. Half of the frequencies therefore follow a law with equal probability for each decade
of the tail probability. Weights are ratios of densities, at most two (balance heuristic; Veach and
Guibas, "Optimally combining sampling techniques for Monte Carlo rendering", 1995).
"""

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Independent, Isotropic, NoMeasureError
from bochner.spectral.measure import SpectralMeasure
from bochner.spectral.schemes import Coordinates, Iid, Scheme

_LEAST = 1e-12
"""Probability at which the tail's density ends: a thousandth of the least noise, relative to the
signal, that models of tables learn. Rows determine no frequency that is rarer, and a smaller value
gives each decade fewer."""

_ROUNDING = 2.0**-53
"""Least probability: one minus a smaller one is one in float64, and its radius infinite."""


def sample_with_tails(measure: SpectralMeasure, n_frequencies: int, rng: Generator) -> Frequencies:
    """Return frequencies, half spread over tails, with weights for an unbiased kernel estimate."""
    part = measure.parts[0]
    law = part.law
    if len(measure.parts) > 1 or not (
        (isinstance(law, Isotropic) and law.radial.n_uniforms == 1)
        or (isinstance(law, Independent) and law.radial.n_uniforms == 1 and law.inclusion == 1.0)
    ):
        raise NoMeasureError(
            "Frequencies with tails need the measure of a Gaussian, Matérn, exponential, Laplacian "
            f"or Cauchy kernel, got {measure!r}. Draw them with measure.sample."
        )
    block_rng, tail_rng = rng.spawn(2)
    block, *_ = Iid().sample(law.layout, n_frequencies, block_rng)
    is_signed = isinstance(law.layout[0], Coordinates)
    above, ratio = _upper_probabilities(n_frequencies, law.dim if is_signed else 1, tail_rng)
    if is_signed:
        sign = np.where(np.asarray(block) < 0.5, -1.0, 1.0)
        omega = law.assemble([0.5 * (1.0 + sign * (1.0 - above))])
    else:
        omega = law.assemble([block, 1.0 - above])
    return Frequencies(omega, part.mass * ratio / n_frequencies)


def sample_parts_with_tails(
    measure: SpectralMeasure, n_frequencies: int, rng: Generator, scheme: Scheme
) -> list[Frequencies]:
    """Return frequencies of each part, sampled with tails if its law supports it."""
    mass = np.array([part.mass for part in measure.parts])
    counts = 2 * np.maximum(np.rint(0.5 * n_frequencies * mass / mass.sum()), 1.0).astype(int)
    frequencies = []
    for part, count, stream in zip(measure.parts, counts, rng.spawn(len(mass)), strict=True):
        alone, n_atoms = SpectralMeasure((part,)), part.law.n_atoms
        try:
            frequencies.append(sample_with_tails(alone, int(count), stream))
        except NoMeasureError:
            if n_atoms is not None and n_atoms <= n_frequencies:
                count = n_atoms
            frequencies.append(alone.sample(int(count), stream, scheme))
    return frequencies


def _upper_probabilities(m: int, q: int, rng: Generator) -> tuple[Array, Array]:
    """Return upper tail probabilities (m, q) and importance ratios (m,)."""
    half = m // 2
    above = np.concatenate([_strata(half, q, rng), _strata(m - half, q, rng)])
    # A random first coordinate gives all coordinates the same share for any number of draws.
    column = (rng.permutation(m - half) + rng.integers(q)) % q
    above[half + np.arange(m - half), column] = _LEAST ** _strata(m - half, 1, rng)[:, 0]
    density = np.where(above >= _LEAST, 1.0 / (above * -np.log(_LEAST)), 0.0)
    return np.maximum(above, _ROUNDING), 1.0 / (0.5 + 0.5 * density.mean(axis=1))


def _strata(m: int, q: int, rng: Generator) -> Array:
    """Return stratified uniforms (m, q): each column has one value in each of ``m`` strata."""
    order = rng.permuted(np.tile(np.arange(m), (q, 1)), axis=1).T
    strata: Array = (order + 1.0 - rng.uniform(size=(m, q))) / m
    return strata
