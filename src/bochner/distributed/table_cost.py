"""What a model of a table costs on one machine: its search for kernels, and its fits."""

from dataclasses import dataclass

from bochner.distributed.cost import Machine
from bochner.distributed.ridge_cost import FitCost
from bochner.learning.ensemble.learner import (
    EFFORTS,
    FEW_LAWS,
    MANY_ROWS,
    MORE_ROWS,
    NOISE_ROWS,
    VARIANCE_LANDMARKS,
    Effort,
    scored_rows,
)
from bochner.learning.ensemble.search import GRID_ROWS

_HALF_STEPS, _WHOLE_STEPS, _MORE_STEPS = 65, 10, 3
"""Errors with their gradients for each kernel: on halves of the rows of the search, on all of them,
and on more rows. They were counted on tables of 8 and 20 columns and 1,000 to 100,000 rows, and
differ by half between tables."""

_STEP_VALUES = 2.5
"""Time of what a gradient does with each pair of rows, in values of the kernel."""

_GRID_PRODUCTS = 60
"""Products, over the cube of the rows, of the eigendecompositions for a common length scale: five,
of about 12 each."""

_NOISE_TRIALS = 2
"""Inverses for the correction of the noise of a kernel."""

_BLOCK_BYTES = 64e6
"""Blocks of kernel values in a fit: two of 32 MB."""

_COPIES = 18
"""Copies of the encoded table in a fit. There are two encodings, both side by side, rounded, in
another order, and the columns of the kernel at hand."""


@dataclass(frozen=True, slots=True)
class TableFit:
    """A model of a table of ``n`` rows, with ``d`` encoded columns and ``t`` targets.

    Times are those of one thread, divided by the speed-up of the machine's rates; searches that
    end early take less.
    """

    n: int
    d: int
    t: int
    effort: str
    machine: Machine

    def cost(self) -> FitCost:
        """Return the cost of a weighted sum of Gaussian processes, without its trees."""
        effort = EFFORTS[self.effort]
        kernels = sum(count for _, count in effort.families.values())
        is_many = self.n > MANY_ROWS
        n_laws = min(kernels, FEW_LAWS) if is_many else kernels
        seconds = kernels * self._search(min(self.n, effort.search_rows))
        if is_many:
            seconds += n_laws * _MORE_STEPS * self._step(MORE_ROWS)
        elif self.n > effort.search_rows:
            rows = min(self.n, NOISE_ROWS)
            seconds += n_laws * (rows**2 * self._value + _NOISE_TRIALS * rows**3 * self._product)
        fit, memory = self._landmarks(effort) if effort.landmarks(self.n) else self._exact(effort)
        memory += 4.0 * n_laws * min(self.n, VARIANCE_LANDMARKS) ** 2
        memory += 8.0 * self.n * (self.t + _COPIES * self.d)
        return FitCost("table", seconds + n_laws * fit, 0.0, memory, 1)

    def _search(self, rows: int) -> float:
        """Return the seconds in which a kernel is found."""
        grid = _GRID_PRODUCTS * min(rows, GRID_ROWS) ** 3 * self._product
        return grid + _HALF_STEPS * self._step(rows // 2) + _WHOLE_STEPS * self._step(rows)

    def _step(self, rows: int) -> float:
        """Return the seconds of an error and its gradient: a factor, an inverse and a product."""
        products = 2.0 * rows**3 * self._product * self.machine.single
        return products + _STEP_VALUES * rows**2 * self._value

    def _exact(self, effort: Effort) -> tuple[float, float]:
        """Return the seconds of an exact fit, and its bytes.

        Cholesky factors are in double precision, as for noise of less than a thousandth of the
        signal; more noise takes half the time and a quarter of the memory.
        """
        n, scored = self.n, self._n_scored(effort)
        left_out = 2.0 / 3.0 * scored**3 * self._product
        factor = n**2 / 2.0 * self._value + n**3 / 3.0 * self._product
        memory = max(16.0 * n**2, 8.0 * n**2 + 24.0 * scored**2) + min(16.0 * n**2, _BLOCK_BYTES)
        if scored == n:  # Halves of the rows are left out, too
            return 3.0 * (factor + left_out) + n**3 / 3.0 * self._product, memory
        return factor + left_out + self._variance(), memory

    def _landmarks(self, effort: Effort) -> tuple[float, float]:
        """Return the seconds of a fit on landmarks, and its bytes."""
        n, m, scored = self.n, effort.n_landmarks, self._n_scored(effort)
        sums = n * m * (self._value + m * self._product)
        solved = (m**3 / 3.0 + m**2 * scored) * self._product
        return sums + solved + self._variance(), 32.0 * m**2 + _BLOCK_BYTES

    def _n_scored(self, effort: Effort) -> int:
        """Return the number of rows that are scored: those without another part, or all."""
        return scored_rows(effort, self.n, effort.landmarks(self.n))[0]

    def _variance(self) -> float:
        """Return the seconds of the variances on landmarks, with an eigendecomposition."""
        m = min(self.n, VARIANCE_LANDMARKS)
        return self.n * m * (self._value + m * self._product) + 12.0 * m**3 * self._product

    @property
    def _product(self) -> float:
        return self.machine.seconds_per_product

    @property
    def _value(self) -> float:
        """Seconds of a value of the kernel of two rows."""
        return self.machine.kernel_value * self.machine.seconds_per_feature
