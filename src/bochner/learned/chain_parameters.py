"""Validation, resolution and documentation of the parameters of learned-kernel models."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar

from bochner._base.arrays import LARGEST_COUNT, as_positive_scalar
from bochner._base.checks import check_dtype, check_seed
from bochner._base.registry import register
from bochner._base.threads import checked_n_jobs
from bochner.learned.chain_models import DenseStructure, SparseStructure, Structure
from bochner.learned.chain_plan import Sampler, SamplerSettings
from bochner.learned.moves import (
    LOCAL_MOVES,
    Hamiltonian,
    Move,
    PrecisionWalk,
    PriorParameters,
    ReplacementSweep,
)

ModelClass = TypeVar("ModelClass", bound=type)

_HIGHEST_DEGREE = 2
"""Largest degree of the polynomial trend: cubes of outliers would dominate the predictions."""

STRUCTURES: Mapping[str, tuple[Structure, ...]] = {
    "auto": (SparseStructure(), DenseStructure()),
    "sparse": (SparseStructure(),),
    "dense": (DenseStructure(),),
}
"""Structures of frequencies by name; the evidence chooses if a name has several."""


# Hamiltonian trajectories cannot change which inputs are active; toggles and swaps can.
_TRAJECTORY = (Hamiltonian(), PrecisionWalk(), PriorParameters())
SAMPLERS: Mapping[str, Sampler] = {
    "auto": Sampler(LOCAL_MOVES),
    "pcn": Sampler(LOCAL_MOVES),
    "hmc": Sampler(_TRAJECTORY, (ReplacementSweep(), *_TRAJECTORY)),
}
"""Samplers by name."""


def sampler_of(sampler: object) -> Sampler:
    """Return the sampler for a name, a `Sampler`, or a sequence of moves."""
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, Iterable) and not isinstance(sampler, str):
        moves = tuple(sampler)
        if moves and all(isinstance(move, Move) for move in moves):
            return Sampler(moves)
    elif isinstance(sampler, str) and sampler in SAMPLERS:
        return SAMPLERS[sampler]
    kind = ValueError if isinstance(sampler, str) else TypeError
    raise kind(
        f"sampler must be one of {', '.join(map(repr, SAMPLERS))}, a Sampler or a sequence of "
        f"moves (instances, not classes), got {sampler!r:.60}."
    )


@register
@dataclass(frozen=True, slots=True)
class Chains:
    """Number of chains, iterations of each chain, time limit and float type of the features.

    Parameters
    ----------
    n_burn_in, n_samples : int, default=None
        Numbers of burn-in iterations and of kept iterations of each chain. ``None`` means 10 and 10
        or, from 5,000 rows on, 80 and 20; for locally stationary models 100 and 100.
    n_chains : int, default=None
        Number of independent chains; predictions average all of them. ``None`` means eight or, from
        5,000 rows on, two; for locally stationary models one.
    thin : int or "auto", default="auto"
        Rounds of moves per iteration; ``"auto"`` makes up to four where they cost little.
    time_limit : float or None, default=None
        Seconds after which sampling stops early; several classes share them. Every chain has at
        least one iteration of burn-in and one that is kept. The limit does not include the start
        of the chains and the steps after sampling: with 1,000 rows of 60 inputs and a limit of
        five seconds, these take about five more.
    dtype : {None, "float32", "float64"}, default=None
        Type of the features; ``None`` means float64. Sums over rows are always float64.

    Examples
    --------
    >>> from bochner import LearnedKernelRegressor
    >>> from bochner.learned import Chains
    >>> model = LearnedKernelRegressor(100, chains=Chains(n_burn_in=50, n_samples=50, n_chains=4))
    """

    n_burn_in: int | None = None
    n_samples: int | None = None
    n_chains: int | None = None
    thin: int | str = "auto"
    time_limit: float | None = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        for name, least in {"n_burn_in": 0, "n_samples": 1, "n_chains": 1}.items():
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), least)
        if not (isinstance(self.thin, str) and self.thin == "auto"):
            _check_count("thin", self.thin, 1)
        if self.time_limit is not None:
            as_positive_scalar("time_limit", self.time_limit)
        check_dtype(self.dtype)

    def sizes(self, defaults: Mapping[str, int]) -> dict[str, Any]:
        """Return the numbers of iterations and chains, with defaults in place of ``None``."""
        own = {name: getattr(self, name) for name in defaults}
        return {name: defaults[name] if own[name] is None else int(own[name]) for name in own}


def settings_of(model: Any, n_rows: int) -> SamplerSettings:
    """Return the settings of a model's chains, from its parameters and the number of rows.

    A parameter of the wrong type raises ``TypeError``, one out of range ``ValueError``.
    """
    check_seed(model.random_state)
    _check_count("n_frequencies", model.n_frequencies, 1)
    chains = Chains() if model.chains is None else model.chains
    if not isinstance(chains, Chains):
        raise TypeError(f"chains must be a bochner.learned.Chains or None, got {chains!r:.60}.")
    _check_count("trend", model.trend, 0)
    if model.trend > _HIGHEST_DEGREE:
        raise ValueError(f"trend must be 0, 1 or 2, got {model.trend!r:.60}.")
    sampler = sampler_of(model.sampler)
    return SamplerSettings(
        n_frequencies=int(model.n_frequencies),
        **chains.sizes(model._default_sizes(n_rows)),
        structures=_structures(model.structure, sampler),
        sampler=sampler,
        thin=None if isinstance(chains.thin, str) else int(chains.thin),
        n_jobs=checked_n_jobs(model.n_jobs),
        time_limit=chains.time_limit,
    )


def _structures(structure: Any, sampler: Sampler) -> tuple[Structure, ...]:
    if isinstance(structure, Structure):
        structures: tuple[Structure, ...] = (structure,)
    else:
        check_name("structure", structure, STRUCTURES)
        structures = STRUCTURES[structure]
    if sampler.structure is None:
        return structures
    if not any(each.name == sampler.structure.name for each in structures):
        raise ValueError(
            f"The sampler is for {sampler.structure.name} frequencies; use "
            f"structure={sampler.structure.name!r:.60} with it, or sampler='auto'."
        )
    return (sampler.structure,)


def _check_count(name: str, value: object, least: int) -> None:
    """Raise an error unless a parameter is an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r:.60}.")
    if not least <= int(value) <= LARGEST_COUNT:
        limit = f"least {least}" if int(value) < least else f"most {LARGEST_COUNT}"
        raise ValueError(f"{name} must be at {limit}, got {value!r:.60}.")


def check_name(name: str, value: object, names: Iterable[str]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless ``value`` is one of ``names``."""
    if not isinstance(value, str) or value not in names:
        kind = ValueError if isinstance(value, str) else TypeError
        raise kind(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r:.60}.")


_FRAGMENTS: Mapping[str, str] = {
    "structure": """structure : {"auto", "sparse", "dense"} or Structure, default="auto"
    Prior of the frequencies. ``"dense"``: every frequency acts on all inputs, and their law
    is a Dirichlet-process mixture of Gaussians. ``"sparse"``: a frequency acts on few inputs,
    whose number and choice are learned. ``"auto"`` compares the evidence of short runs; a
    single input is dense.""",
    "chains": """chains : Chains, default=None
    Numbers of burn-in iterations, of kept iterations and of chains, rounds per iteration, time
    limit and type of the features: see :class:`bochner.learned.Chains`.
trend : {0, 1, 2}, default=0
    Degree of a polynomial with a flat prior: a constant, straight lines, squares.
n_jobs : int or None, default=None
    Number of processes for the chains, at most one per chain.
random_state : int, RandomState instance or None, default=None
    Seed of the sampler.""",
    "learned": """learned_ : list of Learned
    Draws, their trace and the structure in use: one entry, or one for every class where there
    are more than two.
trace_ : Trace
    Log evidence, acceptance, components and step sizes by iteration; a list of traces where
    there are more than two classes.
relevance_ : Relevance
    ``inclusion`` and ``importance`` of every input.
interactions_ : ndarray of shape (d, d)
    Shares of the mean squares of the function's second derivatives: how much the slope along
    an input depends on another input or, on the diagonal, on the input itself.
convergence_ : list of Convergence
    R-hat and effective sample sizes. A fit of one chain warns if they are bad; several short chains
    stay near different modes, and left-out rows judge their average.""",
    "left out": """With several chains, each leaves out a random block of the rows. Predictions of
left-out rows give ``score_`` and calibrate the model's uncertainty. Each chain learns from at most
8,000 different rows. If there are enough rows, frequencies of all chains are pooled, and their
weights fitted to all rows. Nothing is left out with a trend, with a sampler that has a model, or
with fewer than five rows for each chain.""",
}
"""Descriptions of parameters and attributes that several models share."""


def documented(cls: ModelClass) -> ModelClass:
    """Replace placeholder lines ``<name>`` in a class docstring by shared descriptions."""
    lines = []
    for line in (cls.__doc__ or "").split("\n"):
        name = line.strip().removeprefix("<").removesuffix(">")
        if line.strip() == f"<{name}>" and name in _FRAGMENTS:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + each for each in _FRAGMENTS[name].split("\n")]
        else:
            lines.append(line)
    cls.__doc__ = "\n".join(lines)
    return cls
