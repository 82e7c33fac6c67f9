"""Records of a sampler's iterations."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import Array, frozen_array
from bochner._base.registry import register
from bochner.learned.convergence import effective_sample_size, split_rhat

_NO_ARVIZ = (
    "to_arviz needs ArviZ, which is not installed; run pip install 'bochner[arviz]', or use "
    "summary() and records, which work without it."
)
_STATISTICS = ("acceptance", "log_posterior", "seconds", "step_size")
_ARVIZ_NAMES = {"log_posterior": "lp"}


class Summary(NamedTuple):
    """Summary of the kept draws of one quantity over all chains.

    ``sd`` is the standard deviation (n - 1); :mod:`bochner.learned.convergence` defines
    ``rhat`` and ``ess``.
    """

    mean: float
    sd: float
    rhat: float
    ess: float


@register
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Records of a sampler: one number per quantity, chain and iteration.

    Parameters
    ----------
    records : mapping of str to array-like of shape (n_chains, n_iterations)
        Arrays by name, which are copied and read-only. Usual names are ``log_evidence``,
        ``log_posterior``, ``acceptance_<move>`` (the share of accepted proposals of the move in the
        iteration), ``n_components_used``, ``step_size``, ``precision`` (of the weights, relative to
        the noise), ``noise_variance`` and ``seconds``. Other names are allowed.
    n_burn_in : int
        Number of burn-in iterations at the beginning of each chain.

    Raises
    ------
    ValueError, TypeError
        If there is no record, shapes differ or are not (n_chains, n_iterations), an entry is not
        finite, or ``n_burn_in`` is not an integer from zero to the number of iterations.

    Examples
    --------
    >>> trace = Trace({"log_evidence": [[-9.0, -3.0, -2.0], [-8.0, -2.0, -1.0]]}, n_burn_in=1)
    >>> trace.kept("log_evidence")
    array([[-3., -2.],
           [-2., -1.]])
    >>> trace.summary()["log_evidence"].mean
    -2.0
    """

    records: dict[str, Array]
    n_burn_in: int

    def __init__(self, records: Mapping[str, ArrayLike], n_burn_in: int) -> None:
        frozen = {name: _record(name, value) for name, value in records.items()}
        shapes = {name: array.shape for name, array in frozen.items()}
        if not frozen or len(set(shapes.values())) > 1:
            raise ValueError(
                f"records must be arrays of one shape (n_chains, n_iterations), at least one; "
                f"got {shapes}."
            )
        n_iterations = next(iter(shapes.values()))[1]
        n_burn_in = index(n_burn_in)
        if not 0 <= n_burn_in <= n_iterations:
            raise ValueError(
                f"n_burn_in must be from 0 to the number of iterations, {n_iterations}, got "
                f"{n_burn_in}."
            )
        object.__setattr__(self, "records", frozen)
        object.__setattr__(self, "n_burn_in", n_burn_in)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(next(iter(self.records.values())))

    @property
    def n_iterations(self) -> int:
        """Number of iterations of a chain, burn-in included."""
        return int(next(iter(self.records.values())).shape[1])

    def kept(self, name: str) -> Array:
        """Return a record after burn-in, a read-only view of shape (n_chains, n_kept).

        Raises ``KeyError`` if there is no such record.
        """
        if name not in self.records:
            raise KeyError(f"There is no record {name!r}; there are {', '.join(self.records)}.")
        return self.records[name][:, self.n_burn_in :]

    def summary(self) -> dict[str, Summary]:
        """Return mean, standard deviation, R-hat and effective sample size of each record.

        Burn-in is excluded. Entries are ``nan`` if there are too few draws.
        """
        return {name: _summary(self.kept(name)) for name in self.records}

    def to_arviz(self) -> Any:
        """Return the trace as an ArviZ data set, with burn-in in separate groups.

        Acceptance, step size, seconds and the log posterior (under ArviZ's name ``lp``) are in
        ``sample_stats``, the other records in ``posterior``. From ArviZ 1.0 on the result is an
        xarray.DataTree, before an arviz.InferenceData. Raises ImportError without ArviZ.
        """
        try:
            from_dict = import_module("arviz").from_dict
        except ImportError as error:
            raise ImportError(_NO_ARVIZ) from error
        after_burn_in, burn_in = slice(self.n_burn_in, None), slice(self.n_burn_in)
        groups = {
            "posterior": self._group(False, after_burn_in),
            "sample_stats": self._group(True, after_burn_in),
        }
        if self.n_burn_in:
            groups["warmup_posterior"] = self._group(False, burn_in)
            groups["warmup_sample_stats"] = self._group(True, burn_in)
        groups = {name: group for name, group in groups.items() if group}
        # Before ArviZ 1.0 the groups are keyword arguments.
        if "posterior" in inspect.signature(from_dict).parameters:
            return from_dict(**groups, save_warmup=True)
        return from_dict(groups, save_warmup=True)

    def _group(self, statistics: bool, rows: slice) -> dict[str, Array]:
        """Return copies of the records for one of ArviZ's groups."""
        return {
            _ARVIZ_NAMES.get(name, name): record[:, rows].copy()
            for name, record in self.records.items()
            if name.startswith(_STATISTICS) is statistics
        }


def _record(name: str, value: ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 2 or not array.shape[0]:
        raise ValueError(
            f"The record {name!r} must have shape (n_chains, n_iterations), got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"The record {name!r} must be finite; for an iteration without proposals of a move, "
            f"record an acceptance of 0."
        )
    return frozen_array(name, array, None)


def _summary(draws: Array) -> Summary:
    return Summary(
        float(draws.mean()) if draws.size else float("nan"),
        float(draws.std(ddof=1)) if draws.size > 1 else float("nan"),
        split_rhat(draws),
        effective_sample_size(draws),
    )
