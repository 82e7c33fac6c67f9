"""What a model of a table costs on one machine: its search for kernels, its chains, its fits."""

from dataclasses import dataclass

from bochner._numerics.limits import SUMS_BLOCK_BYTES
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
from bochner.learning.inference.plan import (
    SECONDS_PER_PROPOSAL,
    TRIAL_FREQUENCIES,
    TRIAL_ROUNDS,
    TRIAL_ROWS,
    round_flops,
    rounds_an_iteration,
)
from bochner.learning.inference.pooling import MOST_FEATURES, MOST_ROWS, ROWS_PER_FEATURE
from bochner.learning.inference.sizes import TABLE_CHAINS, default_sizes, warm_ups
from bochner.learning.ridge_plan import EIGENVALUES

METHODS = ("auto", "learned", "fixed")

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

_FINALIST_STEPS, _FINALIST_ROWS = 75, 800
"""Evaluations of the evidence of a fixed kernel, on so many rows: 25 for each of three kernels."""

_CHOICES, _CHOICE_ROWS = 5, 5000
"""Ridge regressions on some rows that compare fixed kernels."""

_TRIED = 2
"""Structures of a prior of frequencies that short runs compare."""

_COPIES_OF_LAWS, _COPIES = 18, 4
"""Copies of the encoded table in a fit. Laws have two encodings, both side by side, rounded, in
another order, and the columns of the kernel at hand."""

_AROUND = 40e6
"""Bytes of libraries' buffers and small arrays."""

_MODEL_MATRICES, _AROUND_MODELS = 12, 60e6
"""Matrices of the features' products in fixed kernels that are compared: two of each of three, and
five where noise is chosen by evidence; and bytes of everything else."""

_POOLED_MATRICES = 5
"""Matrices of the features of pooled draws at a time."""

_DIM = 8
"""Columns for which a derivative by distances takes as long as a value of the kernel."""

_PRECISIONS = 3
"""Factorisations for the precision of pooled draws."""


@dataclass(frozen=True, slots=True)
class TableFit:
    """A model of a table of ``n`` rows, with ``d`` encoded columns and ``t`` targets.

    Times are those of one thread, divided by the speed-up of the machine's rates; searches that
    end early take less.
    """

    n: int
    d: int
    p: int
    t: int
    effort: str
    machine: Machine

    def cost(self, method: str) -> FitCost:
        """Return the cost of a method: ``"auto"``, ``"learned"`` or ``"fixed"``."""
        seconds, memory, passes = {
            "auto": self._of_laws,
            "learned": self._of_chains,
            "fixed": self._of_one_kernel,
        }[method]()
        copies = _COPIES_OF_LAWS if method == "auto" else _COPIES
        rows = 8.0 * self.n * (self.t + copies * self.d)
        return FitCost(f"table, {method}", seconds, 0.0, rows + memory, passes)

    def _of_laws(self) -> tuple[float, float, int]:
        """Return seconds, bytes and passes of a weighted sum of Gaussian processes."""
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
        kept = 4.0 * n_laws * min(self.n, VARIANCE_LANDMARKS) ** 2
        return seconds + n_laws * fit, memory + kept, 1

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

    def _of_chains(self) -> tuple[float, float, int]:
        """Return seconds, bytes and passes of chains, and of their draws fitted to all rows."""
        sizes = {"n_frequencies": 200, **default_sizes(self.n), **TABLE_CHAINS[self.effort]}
        m, n_chains, kept = (sizes[k] for k in ("n_frequencies", "n_chains", "n_samples"))
        few, trial = min(m, TRIAL_FREQUENCIES), min(self.n, TRIAL_ROWS)
        seconds = _TRIED * TRIAL_ROUNDS * self._round(trial, few)
        rows = min(self.n - self.n // n_chains, MOST_ROWS)
        burn_in = sizes["n_burn_in"]
        stages = [(part, count) for part, count, *_ in warm_ups(rows, burn_in)]
        stages.append((rows, burn_in - sum(count for _, count in stages) + kept))
        for part, count in stages:
            rounds = count * rounds_an_iteration(part, m)
            seconds += n_chains * rounds * self._round(part, m)
        memory = 8.0 * n_chains * kept * (2 * m) ** 2
        most = min(self.n // ROWS_PER_FEATURE, MOST_FEATURES) // (2 * m)
        if pooled := 2 * m * n_chains * min(most // n_chains, kept):
            cube = self.machine.factor * self._product * pooled**3
            seconds += self.n * pooled * (self._feature + pooled * self._product)
            seconds += _PRECISIONS * cube
            memory += _POOLED_MATRICES * 8.0 * pooled**2
        return seconds, memory + _AROUND, 1

    def _round(self, rows: int, n_frequencies: int) -> float:
        """Return the seconds of a round of moves of a chain."""
        flops = round_flops(rows, n_frequencies)
        return flops * self._product + SECONDS_PER_PROPOSAL * n_frequencies

    def _of_one_kernel(self) -> tuple[float, float, int]:
        """Return seconds, bytes and passes of a kernel chosen by evidence, on random features."""
        p, rows = self.p, min(self.n, _FINALIST_ROWS)
        pairs = rows**2 / 2.0
        step = 3.0 * pairs * self._value * self.d / _DIM + 3.0 * rows**3 * self._product
        solved = EIGENVALUES * self.machine.factor * p**3 * self._product

        def fitted(n: int) -> float:
            return n * p * (self._feature + p * self._product) + solved

        seconds = _FINALIST_STEPS * step + _CHOICES * fitted(min(self.n, _CHOICE_ROWS))
        memory = 8.0 * _MODEL_MATRICES * p**2 + min(SUMS_BLOCK_BYTES, 8.0 * self.n * p)
        return seconds + fitted(self.n), memory + _AROUND_MODELS, 1

    @property
    def _product(self) -> float:
        return self.machine.seconds_per_product

    @property
    def _feature(self) -> float:
        return self.machine.seconds_per_feature

    @property
    def _value(self) -> float:
        """Seconds of a value of the kernel of two rows."""
        return self.machine.kernel_value * self.machine.seconds_per_feature
