"""One round of moves of frequencies, precision and prior, the data's weights being given."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bochner.learning.inference.basis import Basis
from bochner.learning.inference.evidence import Evidence, solved
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.summed import SummedRows
from bochner.learning.moves.hamiltonian import HamiltonianSettings, hamiltonian_step
from bochner.learning.moves.precision import LogNormalPrecision, precision_step
from bochner.learning.moves.replacement import Proposals, replace_frequencies

Info = dict[str, float]

_PRECISION_TARGET, _HAMILTONIAN_TARGET = 0.4, 0.7


@dataclass(frozen=True, slots=True)
class Moves:
    """Which moves make up a round, and the prior of the precision.

    Parameters
    ----------
    replacements : bool
        Whether to propose new values for single frequencies, in a sweep over all of them.
    hamiltonian : HamiltonianSettings or None
        Of a trajectory of all frequencies at once.
    precision_prior : LogNormalPrecision or None
        ``None`` where the precision is fixed.
    block_size : int
        Waves whose proposals are decided between two meetings with the data.
    """

    replacements: bool = True
    hamiltonian: HamiltonianSettings | None = None
    precision_prior: LogNormalPrecision | None = field(default_factory=LogNormalPrecision)
    block_size: int = 64

    @property
    def n_copies(self) -> int:
        """Of the features of all rows, which a round holds at once where they are kept.

        Beside the state's, those of a trajectory's last point and of its next one.
        """
        return 1 if self.hamiltonian is None else 3


@dataclass(frozen=True, slots=True)
class StepSizes:
    """Step sizes of the moves that have one, and the number of rounds they were adapted in."""

    precision: float = 0.3
    hamiltonian: float = 0.03
    n_adapted: int = 0

    def adapted(self, info: Info) -> "StepSizes":
        """Return step sizes moved towards their target acceptance, less and less."""
        rate = 2.0 / (self.n_adapted + 5.0) ** 0.6

        def moved(value: float, acceptance: float, target: float) -> float:
            return value * float(np.exp(rate * (acceptance - target)))

        return StepSizes(
            moved(
                self.precision,
                info.get("acceptance_precision", _PRECISION_TARGET),
                _PRECISION_TARGET,
            ),
            moved(
                self.hamiltonian,
                info.get("acceptance_hmc", _HAMILTONIAN_TARGET),
                _HAMILTONIAN_TARGET,
            ),
            self.n_adapted + 1,
        )


def round_of_moves(
    rng: np.random.Generator,
    evidence: Evidence,
    prior: FrequencyPrior,
    rows: SummedRows,
    moves: Moves,
    sizes: StepSizes,
) -> tuple[Evidence, FrequencyPrior, Info]:
    """Return evidence and prior after one round, which leaves the posterior invariant."""
    info: Info = {}
    if moves.replacements:
        prior, rates = _sweep(rng, evidence, prior, rows, moves.block_size)
        info |= rates
        evidence = solved(evidence, evidence.precision)
    if moves.hamiltonian is not None:
        whitening = prior.whitening(rng, evidence.omega)
        evidence, acceptance = hamiltonian_step(
            rng, evidence, rows, whitening, sizes.hamiltonian, moves.hamiltonian
        )
        info["acceptance_hmc"] = acceptance
    if moves.precision_prior is not None:
        evidence, acceptance = precision_step(rng, evidence, moves.precision_prior, sizes.precision)
        info["acceptance_precision"] = acceptance
    return evidence, prior.refresh(rng, evidence.omega), info


def _sweep(
    rng: np.random.Generator,
    evidence: Evidence,
    prior: FrequencyPrior,
    rows: SummedRows,
    block_size: int,
) -> tuple[FrequencyPrior, Info]:
    """Propose a new value for every unit, in random order; update the evidence in place."""
    tried, accepted = np.zeros(len(prior.kinds)), np.zeros(len(prior.kinds))
    for index in _blocks(rng, rows.basis, len(evidence.omega), block_size):
        suggestion = prior.suggest(rng, evidence.omega, index)
        proposals = Proposals(
            index, suggestion.omega, suggestion.log_ratio, np.log(rng.random(len(index)))
        )
        decided = replace_frequencies(evidence, rows, proposals)
        prior = prior.decided(index, suggestion, decided)
        tried += np.bincount(suggestion.kind, minlength=len(tried))
        accepted += np.bincount(suggestion.kind[decided], minlength=len(tried))
    rates = accepted / np.maximum(tried, 1.0)
    return prior, {
        f"acceptance_{kind}": float(rate) for kind, rate in zip(prior.kinds, rates, strict=True)
    }


def _blocks(
    rng: np.random.Generator, basis: Basis, n_units: int, block_size: int
) -> Iterator[NDArray[np.intp]]:
    """Yield units in random order, group by group, blocks of so many waves or of one unit."""
    for group in basis.groups(n_units):
        order = group[rng.permutation(len(group))]
        width = basis.touched(group[:1], n_units).size
        step = max(1, block_size // width)
        for start in range(0, len(order), step):
            yield order[start : start + step]
