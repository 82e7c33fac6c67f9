"""What a fit will take on given hardware: seconds, memory and bytes over the network."""

from numbers import Real
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, as_count
from bochner._numerics.memory import as_bytes
from bochner._numerics.threads import single_threaded_blas
from bochner.distributed.cost import Machine
from bochner.distributed.ridge_cost import FitCost, RidgeFit
from bochner.distributed.table_cost import TableFit
from bochner.features.approximation import Recipe, approximate
from bochner.features.chunks import ArrayChunks, Chunk
from bochner.features.length_scales import median_distance
from bochner.features.parameters import check_choice, count_frequencies
from bochner.features.targets import Numbers
from bochner.kernels import Gaussian
from bochner.learning.ensemble.learner import EFFORTS
from bochner.learning.iterative import fit_iteratively
from bochner.learning.ridge_plan import PASSES, RidgeProblem, plan_ridge

METHODS = ("ridge", "table")

_STEP_ROWS = 8
"""Rows for each feature that count the steps of conjugate gradients. On 100,000 rows they take 57
and 41 with 256 and 512 features; eight rows for each count 47 and 36, and two 30 and 25."""


def plan(
    n_rows: int | float,
    n_inputs: int,
    method: str = "ridge",
    *,
    n_components: int = 1024,
    n_targets: int = 1,
    solver: str = "auto",
    alpha: float | str = 1.0,
    effort: str = "default",
    n_workers: int = 1,
    n_partitions: int | None = None,
    from_files: bool = False,
    memory_limit: int | str | None = None,
    n_steps: int = PASSES,
    machine: Machine | None = None,
) -> FitCost:
    """Return what a fit is predicted to take.

    Parameters
    ----------
    n_rows : int or float
        Number of rows, such as 1e9.
    n_inputs : int
        Number of inputs: for a table, of the columns that :class:`bochner.TableEncoder` makes.
    method : {"ridge", "table"}, default="ridge"
        Ridge regression on random features (:class:`bochner.KreinRidge`), or a
        :class:`bochner.TableRegressor` with ``kernel="auto"``.
    n_components : int, default=1024
        Number of features, for ``"ridge"``.
    n_targets : int, default=1
        Number of targets.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How a ridge regression is solved.
    alpha : float or "evidence", default=1.0
        Penalty of a ridge regression, which decides whether products are float32.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of the models of tables.
    n_workers : int, default=1
        Number of workers of a cluster, each with one thread; one is this process.
    n_partitions : int, default=None
        Partitions of the rows on a cluster. ``None`` means two for each worker, and more if these
        had over 500,000 rows.
    from_files : bool, default=False
        Whether the rows are read from files in every pass, a chunk or a partition at a time. Models
        of tables need their rows in memory.
    memory_limit : int or str, default=None
        Memory that a ridge regression may take in addition to the rows, such as "2GB".
    n_steps : int, default=12
        Steps of conjugate gradients: :attr:`~bochner.KreinRidge.n_iter_` of a fit.
    machine : Machine, default=None
        Rates of the machine or of each worker. ``None`` measures them here, in about a second.

    Returns
    -------
    FitCost

    Raises
    ------
    ValueError
        If a parameter is out of range, the fit needs more than ``memory_limit``, or a model of a
        table is asked for on a cluster or from files.

    Examples
    --------
    >>> from bochner.distributed import Machine, plan
    >>> machine = Machine(seconds_per_product=4e-11, seconds_per_feature=5e-9)
    >>> plan(1e9, 20, n_workers=100, from_files=True, machine=machine)
    FitCost(ridge, cholesky, 100 workers: ...)
    """
    n = _rows(n_rows)
    d, p = as_count("n_inputs", n_inputs), 2 * count_frequencies(n_components)
    t, workers = as_count("n_targets", n_targets), as_count("n_workers", n_workers)
    steps = as_count("n_steps", n_steps)
    if n_partitions is not None:
        n_partitions = as_count("n_partitions", n_partitions)
    check_choice("method", method, METHODS)
    check_choice("effort", effort, tuple(EFFORTS))
    if machine is None:
        machine = machine_here(d, p, n_workers=workers)
    if method != "ridge":
        if workers > 1 or from_files:
            raise ValueError(
                "method='table' needs all rows in the memory of one machine: leave n_workers "
                "and from_files out, or use method='ridge'."
            )
        return TableFit(n, d, t, effort, machine).cost()
    fit = RidgeFit(
        n=n,
        d=d,
        p=p,
        t=t,
        alpha=_penalty(alpha),
        solver=solver,
        memory_limit=as_bytes(memory_limit),
        steps=steps,
        from_files=from_files,
        machine=machine,
    )
    return fit.on_one_machine() if workers == 1 else fit.on_cluster(workers, n_partitions)


def _rows(n_rows: Any) -> int:
    """Return a number of rows, which may be written as 1e9."""
    is_number = isinstance(n_rows, Real) and not isinstance(n_rows, bool)
    if not is_number or not 1 <= n_rows < np.inf or int(n_rows) != n_rows:
        raise ValueError(f"n_rows must be a positive whole number such as 1e6, got {n_rows!r}.")
    return int(n_rows)


def machine_here(n_inputs: int, n_components: int, *, n_workers: int = 1) -> Machine:
    """Return the rates of this machine, with all threads for one worker, and one for several."""
    with single_threaded_blas() as n_threads:
        pass
    return Machine.measured(n_inputs, n_components, n_threads=n_threads if n_workers == 1 else 1)


def count_steps(X: Array, y: Array, n_rows: int, n_components: int, alpha: float = 1.0) -> int:
    """Return the steps of conjugate gradients that a fit to more rows like these would take.

    ``X`` (n, d) are scaled inputs, ``y`` (n,) targets. A part of the rows is fitted, with
    ``alpha`` in proportion to their number, which keeps the spectrum of the system. Fewer than
    eight rows for each feature take too few steps, and the typical number is the least returned.
    """
    rows = np.random.default_rng(0).permutation(len(X))[: _STEP_ROWS * n_components]
    X, y, rng = X[rows], y[rows], np.random.default_rng(1)
    kernel = Gaussian(median_distance(X, rng, None))
    frequencies = approximate(kernel, X, Recipe(n_components // 2), rng, rng).frequencies
    problem = RidgeProblem(n_components, 1, n_rows, alpha, scale=1.0)
    n_landmarks = plan_ridge(problem, "cg", None).n_landmarks
    found = fit_iteratively(
        ArrayChunks(Chunk(X, y)),
        frequencies,
        Numbers(np.zeros(1)),
        np.ones(n_components),
        alpha * min(1.0, len(X) / n_rows),
        rng,
        n_landmarks=min(n_landmarks, len(X)),
    )
    return found.n_iter if len(X) >= _STEP_ROWS * n_components else max(PASSES, found.n_iter)


def _penalty(alpha: Any) -> float | None:
    """Return ``alpha`` as a float, ``None`` for "evidence"."""
    if alpha == "evidence":
        return None
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 < float(alpha) < np.inf:
        raise ValueError(f"alpha must be a positive number or 'evidence', got {alpha!r}.")
    return float(alpha)
