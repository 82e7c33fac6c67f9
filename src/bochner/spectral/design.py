"""Designed measures: few atoms that approximate a kernel best on the distances of the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from bochner._base.arrays import Array, squared_norms
from bochner._base.limits import FLOAT32_ROUNDING, LARGEST_ENTRY
from bochner.kernels import Kernel
from bochner.spectral.laws import Chi, Isotropic, NoMeasureError, Shell
from bochner.spectral.measure import ByVariance, Part, SpectralMeasure
from bochner.spectral.profiles import Geometry, Pairs, profile

# Bound of the transform beyond the reach, relative to the greatest value; a lower bound would
# increase the total variation.
_CEILING = 1.2
_NEGLIGIBLE = 1e-9  # smaller masses are rounding errors of the linear program
# Reach relative to the greatest distance: 5 % more for new rows, none if the domain ends there.
_MARGINS = (1.05, 1.0)
# Tolerances relative to the greatest value, down to the accuracy of the linear program.
_TOLERANCES = tuple(np.geomspace(1.0, 2e-6, 16).tolist())
# Fewer tolerances for fine scales, because these programs have many more atoms.
_FEW_TOLERANCES = (0.1, 0.03, 0.01, 3e-3, 1e-3)
_ROUGH = 0.01  # fine scales are tried if the least feasible tolerance exceeds this
_POOR = 0.5  # relative error above which a design counts as poor
_FITTED_TOLERANCE = 0.1  # relative tolerance of designs whose weights are fitted afterwards
# Minimum cost per unit of mass, which bounds the total variation.
_LEAST_COST = 0.01
# Bound of sampled kernel values far from the data, relative to the greatest value.
_FAR_CEILING = 1.5
_FAR_DEVIATIONS = 4.0  # a normal variable exceeds them once in 16,000 draws
# Norms of proposal frequencies, as multiples of sqrt(d) / length.
_SHELLS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
_RATES = (0.05, 0.2, 0.8, 3.2)  # rates of the envelope, times the squared radius


class Program:
    """The linear program for the cheapest atoms, in units of the function's greatest value."""

    def __init__(self, geometry: Geometry, scales: Array) -> None:
        # At least two points per period of the shortest wave.
        grid = geometry.inside(max(200, 2 * len(scales)))
        values = geometry.function(grid)
        greatest = geometry.largest_value(values)
        self.size = greatest or 1.0
        inside = geometry.atoms.transform(grid, scales)
        outside = geometry.atoms.transform(geometry.outside(80), scales)
        half = np.vstack([inside, -inside, outside, -outside])
        self._matrix = np.hstack([half, -half])
        values, ceiling = values / self.size, _CEILING * greatest / self.size
        self._bound = np.r_[values, -values, np.full(2 * len(outside), ceiling)]

    def solve(self, cost: Array, tolerance: float) -> Array | None:
        """Return the atom masses of least ``cost`` (n_atoms,), ``None`` for too low a tolerance."""
        costs, bound = np.r_[cost, cost], tolerance + self._bound
        solution = linprog(costs, self._matrix, bound, bounds=(0.0, None), method="highs")
        if solution.status != 0:
            return None
        positive, negative = np.split(np.asarray(solution.x, dtype=np.float64), 2)
        masses = positive - negative
        masses[np.abs(masses) < _NEGLIGIBLE] = 0.0
        return self.size * masses


def designed_measure(
    kernel: Kernel,
    dim: int,
    pairs: Pairs,
    n_frequencies: int,
    *,
    orthogonal: bool = True,
    fitted: bool = False,
) -> SpectralMeasure:
    r"""Return a signed measure of a few atoms that reproduces the kernel at distances up to R.

    R is the greatest distance in ``pairs`` of rows, plus 5 % if the kernel is defined there. The
    masses ``a`` of atoms with kernels :math:`\Lambda` in ``dim`` inputs solve the linear program

    .. math:: \min_a \sum_i |a_i| c_i \quad \text{subject to} \quad
              \Big| \sum_i a_i \Lambda_i(z) - k(z) \Big| \leq \delta
              \quad \text{for } z \in [0, R],

    and the sum stays below 1.2 times the kernel's greatest value beyond R. The cost :math:`c_i` is
    the standard deviation of one frequency of atom ``i`` plus 0.01. Of the solutions for several
    :math:`\delta`, the one with the least mean square error predicted for ``n_frequencies`` is
    returned. If weights will be ``fitted`` and its relative error is above one half, a smaller
    :math:`\delta` is preferred. Raises ``NoMeasureError`` for a kernel that is not a function of
    one distance or of the inner product, ``ValueError`` for a function that is not continuous.
    """
    search = _cached_search if _is_hashable(kernel) else _search
    geometry, candidates = search(kernel, dim, pairs, orthogonal)
    best = min(candidates, key=lambda candidate: candidate.rank(n_frequencies))
    if fitted and best.relative_error(n_frequencies) > _POOR:
        near = tuple(c for c in candidates if c.tolerance <= _FITTED_TOLERANCE)
        best = min(near or candidates, key=lambda candidate: candidate.rank(n_frequencies))
    return best.measure(geometry, n_frequencies)


def _is_hashable(kernel: Kernel) -> bool:
    """Return whether a kernel is hashable: it may contain an unhashable function object."""
    try:
        hash(kernel)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Squares:
    """Mean squares of Gram entries and of their errors, which predict the error of a design."""

    size: float
    bias: float
    random: float
    variances: ByVariance

    @classmethod
    def of(
        cls,
        weight: Array,
        target: Array,
        transforms: Array,
        masses: Array,
        single: Array,
        in_blocks: Array,
        block: int,
    ) -> "_Squares":
        """Return the mean squares of values at pairs, averaged with weights (n_pairs,)."""
        fitted, size = transforms @ masses, np.abs(masses)
        alone, blocked = (weight @ variance for variance in (single, in_blocks))
        return cls(
            size=float(weight @ target**2),
            bias=float(weight @ (fitted - target) ** 2),
            random=float(
                size.sum() * (size @ (alone + weight @ transforms**2)) - weight @ fitted**2
            ),
            variances=ByVariance(tuple(alone.tolist()), tuple(blocked.tolist()), block),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A candidate design: masses of a few atoms, with the expected error for any sample size."""

    scales: Array
    masses: Array
    tolerance: float
    entries: _Squares  # Mean squares over all entries of a Gram matrix
    distinct: _Squares  # Mean squares over pairs of distinct rows
    lasting: Array
    far_ceiling: float

    @property
    def allocation(self) -> ByVariance:
        """The rule that divides frequencies among the atoms."""
        return self.entries.variances

    def rank(self, m: int) -> tuple[bool, bool, float]:
        """Return the sort key: too many atoms for ``m``, too large far from the data, error."""
        error = self._square_error(self.entries, m)
        return len(self.masses) > m, self._far_value(m) > self.far_ceiling, error

    def _square_error(self, squares: _Squares, m: int) -> float:
        """Return the mean square error of ``m`` frequencies: bias, variance and rounding."""
        rounding = float(FLOAT32_ROUNDING * np.abs(self.masses).sum()) ** 2
        if len(self.masses) > m:  # with too few frequencies, atoms are drawn at random too
            return squares.bias + squares.random / m + rounding
        counts = self.allocation.counts(self.masses, m)
        variances = squares.variances.variances(self.masses, counts)
        return squares.bias + float(variances.sum()) + rounding

    def relative_error(self, m: int) -> float:
        """Return the root mean square error over all entries, relative to the kernel's size."""
        return float(np.sqrt(self._square_error(self.entries, m) / (self.entries.size or 1.0)))

    def predicted_error(self, m: int) -> float:
        """Return the relative root mean square error over pairs of distinct rows."""
        return float(np.sqrt(self._square_error(self.distinct, m) / (self.distinct.size or 1.0)))

    def _far_value(self, m: int) -> float:
        """Return a bound of the kernel value sampled far from the data, to four deviations."""
        counts = np.full(len(self.masses), m / len(self.masses))
        if len(self.masses) <= m:
            counts = self.allocation.counts(self.masses, m).astype(np.float64)
        wave = self.scales > 0.0
        lasting = self.lasting * self.masses
        deviation = float(np.sqrt(np.sum(0.5 * (lasting**2 / counts)[wave])))
        return abs(float(lasting[~wave].sum())) + _FAR_DEVIATIONS * deviation

    def measure(self, geometry: Geometry, m: int) -> SpectralMeasure:
        atoms = geometry.atoms
        grid = geometry.inside(1001)
        error = atoms.transform(grid, self.scales) @ self.masses - geometry.function(grid)
        atom_pairs = zip(self.masses.tolist(), self.scales.tolist(), strict=True)
        return SpectralMeasure(
            parts=tuple(
                Part(mass, atoms.law(scale), atoms.envelope(scale)) for mass, scale in atom_pairs
            ),
            max_error=float(np.abs(error).max()),
            allocation=self.allocation,
            predicted_error=self.predicted_error(m),
        )


def _search(
    kernel: Kernel, dim: int, pairs: Pairs, orthogonal: bool
) -> tuple[Geometry, tuple[_Candidate, ...]]:
    """Return a kernel's candidate designs, independent of the number of frequencies."""
    kernel_profile = profile(kernel)
    if kernel_profile is None:
        raise NoMeasureError(
            f"{kernel!r} is not a function of one distance or inner product, so no measure can be "
            f"designed for it; use decomposition='jordan', or weights='least_squares'."
        )
    geometry = Geometry.of(kernel_profile, pairs, dim, _MARGINS[0])
    try:
        geometry.check()
    except ValueError:
        geometry = Geometry.of(kernel_profile, pairs, dim, _MARGINS[1])
        geometry.check()
    atoms, reach = geometry.atoms, geometry.reach
    if not np.abs(geometry.function(geometry.distance)).max() <= LARGEST_ENTRY:
        raise ValueError(
            f"Values of {kernel!r} overflow when they are squared, within the reach of the data. "
            f"Scale X, or the kernel, by a smaller factor."
        )
    candidates = list(_candidates(geometry, atoms.scales(reach), _TOLERANCES, orthogonal))
    fine = atoms.fine_scales(reach)
    if fine is not None and min(candidate.tolerance for candidate in candidates) > _ROUGH:
        candidates += _candidates(geometry, fine, _FEW_TOLERANCES, orthogonal)
    return geometry, tuple(candidates)


_cached_search = lru_cache(maxsize=64)(_search)


def _candidates(
    geometry: Geometry, scales: Array, tolerances: tuple[float, ...], orthogonal: bool
) -> Iterator[_Candidate]:
    """Yield a candidate for each cost and feasible tolerance, the greatest tolerance first."""
    atoms = geometry.atoms
    block = atoms.block if orthogonal else 1
    single, in_blocks = (
        atoms.variance(geometry.distance, geometry.damping, scales, size) for size in (1, block)
    )
    alone, blocked = (geometry.weight @ variance for variance in (single, in_blocks))
    transforms = atoms.transform(geometry.distance, scales)
    target = geometry.function(geometry.distance)
    lasting = geometry.lasting(scales).astype(np.float64)
    program = Program(geometry, scales)
    for cost in (alone, blocked) if block > 1 else (alone,):
        for tolerance in tolerances:
            masses = program.solve(np.sqrt(cost) + _LEAST_COST, tolerance)
            if masses is None:  # smaller tolerances are infeasible too
                break
            used = np.flatnonzero(masses) if masses.any() else np.zeros(1, dtype=np.intp)
            arguments = (
                target,
                transforms[:, used],
                masses[used],
                single[:, used],
                in_blocks[:, used],
                block,
            )
            entries = _Squares.of(geometry.weight, *arguments)
            distinct = _Squares.of(geometry.distinct, *arguments)
            yield _Candidate(
                scales=scales[used],
                masses=masses[used],
                tolerance=tolerance,
                entries=entries,
                distinct=distinct,
                lasting=lasting[used],
                far_ceiling=_FAR_CEILING * program.size,
            )


def broad_proposal(rows: Array, length: float) -> SpectralMeasure:
    """Return a positive measure with frequencies for most similarity functions of rows (n, d).

    Half of the mass is on shells, from a tenth to thirteen times the inverse ``length``, half on
    damped Gaussians. The weights are then fitted by least squares.
    """
    dim = rows.shape[1]
    radius = float(np.sqrt(squared_norms(rows).max())) or 1.0
    shells = (Isotropic(Shell(norm * np.sqrt(dim) / length), dim) for norm in _SHELLS)
    damped = (
        (Isotropic(Chi(), dim, radius / np.sqrt(2.0 * rate)), (rate / radius**2, radius))
        for rate in _RATES
    )
    parts = (
        *(Part(0.5 / len(_SHELLS), law) for law in shells),
        *(Part(0.5 / len(_RATES), law, envelope) for law, envelope in damped),
    )
    equal = (1.0,) * len(parts)
    # All parts, including the constant, get frequencies if there are enough of them.
    return SpectralMeasure(parts, allocation=ByVariance(equal, equal, 1))
