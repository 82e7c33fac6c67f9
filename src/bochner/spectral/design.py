"""Designed measures: the best few atoms for a kernel on the distances that data reach."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from bochner._numerics.arrays import Array
from bochner.kernels import Kernel
from bochner.spectral.allocation import ByVariance
from bochner.spectral.geometry import Geometry
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.pairs import Pairs
from bochner.spectral.profiles import profile

_MARGINS = (1.05, 1.0)
_TOLERANCES = np.geomspace(0.1, 2e-6, 13)
_LEAST_COST = 0.01
_CEILING = 1.2
_NEGLIGIBLE = 1e-9


@lru_cache(maxsize=64)
def designed_measure(
    kernel: Kernel, dim: int, pairs: Pairs, n_frequencies: int, *, orthogonal: bool = True
) -> SpectralMeasure:
    r"""Return a signed measure of few atoms whose transform is the kernel on the data's distances.

    The data see the kernel on a bounded range of distances only; beyond, its extension is free.
    The masses ``a`` of atoms :math:`\Lambda` solve the linear program

    .. math:: \min_a \sum_i |a_i| c_i \quad \text{subject to} \quad
              \Big| \sum_i a_i \Lambda_i(z) - k(z) \Big| \leq \delta
              \quad \text{for } z \in [0, R],

    with :math:`c_i` the standard deviation of what one frequency of atom ``i`` contributes, plus
    0.01, which bounds the total variation; beyond ``R`` the transform must stay below 1.2 times
    the greatest value of the kernel. Programs for several :math:`\delta` and both costs (alone,
    in orthogonal blocks) are solved, frequencies allocated, and the one of least predicted mean
    square error, bias and variance, is kept. The cost does not depend on the number of rows, and
    equal arguments are solved once.

    Parameters
    ----------
    kernel : Kernel
        A function of the Euclidean or city-block distance, or of the inner product.
    dim : int
    pairs : Pairs
    n_frequencies : int
        For which the design is best.
    orthogonal : bool
        Whether directions come in orthogonal blocks.

    Returns
    -------
    measure : SpectralMeasure
        ``max_error`` is the greatest error on a grid five times finer than the program's.

    Raises
    ------
    TypeError
        If the kernel is not a function of one number.
    ValueError
        If its function is not finite and continuous as far as the data reach.
    """
    found = profile(kernel)
    if found is None:
        raise TypeError(
            f"{kernel!r} is not a function of one distance or inner product, so no measure can be "
            f"designed for it; use decomposition='jordan', or weights='least_squares'."
        )
    geometry = Geometry.of(found, pairs, dim, _MARGINS[0])
    try:
        geometry.check()
    except ValueError:
        geometry = Geometry.of(found, pairs, dim, _MARGINS[1])
        geometry.check()
    return _best(geometry, n_frequencies, orthogonal=orthogonal)


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The linear program of a geometry, with everything that does not change between solves."""

    scales: Array
    inside: Array
    outside: Array
    values: Array
    ceiling: float
    size: float

    @classmethod
    def of(cls, geometry: Geometry) -> "_Program":
        scales = geometry.atoms.scales(geometry.reach)
        grid = geometry.inside(200)
        values = geometry.function(grid)
        greatest = geometry.largest_value(values)
        size = greatest or 1.0
        return cls(
            scales=scales,
            inside=geometry.atoms.transform(grid, scales),
            outside=geometry.atoms.transform(geometry.outside(80), scales),
            values=values / size,
            ceiling=_CEILING * greatest / size,
            size=size,
        )

    def solve(self, cost: Array, tolerance: float) -> Array | None:
        """Return the masses of least cost, or ``None`` where the tolerance cannot be kept."""
        half = np.vstack([self.inside, -self.inside, self.outside, -self.outside])
        bound = np.concatenate(
            [
                self.values + tolerance,
                tolerance - self.values,
                np.full(2 * len(self.outside), self.ceiling + tolerance),
            ]
        )
        solution = linprog(
            np.concatenate([cost, cost]),
            A_ub=np.hstack([half, -half]),
            b_ub=bound,
            bounds=(0.0, None),
            method="highs",
        )
        if solution.status != 0:
            return None
        positive, negative = np.split(np.asarray(solution.x, dtype=np.float64), 2)
        masses = positive - negative
        masses[np.abs(masses) < _NEGLIGIBLE] = 0.0
        return self.size * masses


def _best(geometry: Geometry, m: int, *, orthogonal: bool) -> SpectralMeasure:
    program = _Program.of(geometry)
    atoms, scales = geometry.atoms, program.scales
    block = atoms.block if orthogonal else 1
    pairs = geometry.distance, geometry.damping
    alone = atoms.variance(*pairs, scales, 1).mean(axis=0)
    blocked = atoms.variance(*pairs, scales, block).mean(axis=0) if block > 1 else alone
    seen = atoms.transform(geometry.distance, scales)
    target = geometry.function(geometry.distance)
    best: tuple[tuple[bool, float], Array] | None = None
    for cost in (alone, blocked) if block > 1 else (alone,):
        for tolerance in _TOLERANCES:
            masses = program.solve(np.sqrt(cost) + _LEAST_COST, float(tolerance))
            if masses is None:  # nor can a smaller tolerance be kept
                break
            if not masses.any():
                masses[0] = _NEGLIGIBLE * program.size
            used = np.flatnonzero(masses)
            allocation = ByVariance(tuple(alone[used]), tuple(blocked[used]), block)
            error = float(np.mean((seen @ masses - target) ** 2))
            error += _variance(allocation, masses[used], m)
            # Designs with more atoms than frequencies come last.
            rank = (len(used) > m, error)
            if best is None or rank < best[0]:
                best = rank, masses
    if best is None:
        raise ValueError(
            "The linear program of the designed measure has no solution within 10 % of the "
            "kernel's greatest value: the function varies too fast for the range of the data. "
            "Scale the inputs, or smooth the function."
        )
    (_, error), masses = best
    used = np.flatnonzero(masses)
    size = float(np.mean(target**2))
    return SpectralMeasure(
        parts=tuple(
            Part(float(masses[i]), atoms.law(float(scales[i])), atoms.envelope(float(scales[i])))
            for i in used
        ),
        max_error=_certificate(geometry, masses[used], scales[used]),
        allocation=ByVariance(tuple(alone[used].tolist()), tuple(blocked[used].tolist()), block),
        predicted_error=float(np.sqrt(error / size)) if size > 0.0 else float(np.sqrt(error)),
    )


def _variance(allocation: ByVariance, masses: Array, m: int) -> float:
    if len(masses) > m:
        return (
            float(np.abs(masses).sum() * np.sum(np.abs(masses) * np.array(allocation.single))) / m
        )
    return float(allocation.variances(masses, allocation.counts(masses, m)).sum())


def _certificate(geometry: Geometry, masses: Array, scales: Array) -> float:
    grid = geometry.inside(1001)
    error = geometry.atoms.transform(grid, scales) @ masses - geometry.function(grid)
    return float(np.abs(error).max())
