"""Likelihoods of chains in a batch: numeric targets, and binary labels."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.batched import factored
from bochner._numerics.namespaces import DeviceArray, like, to_numpy
from bochner.learning.batched.evidence import BatchEvidence, evidence_of
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.evidence import KnownNoise, Noise
from bochner.learning.chains.moves.labels import (
    MODE_GAIN,
    MODE_STEPS,
    bound,
    count_of,
    part_log_likelihood,
    polya_gamma,
    tangent,
)
from bochner.learning.chains.state import Info

Columns = list[Array]
"""Values (n,) of the rows of each chain, on the host."""

Conditioned = tuple[BatchRows, BatchEvidence]
"""Rows with the weights and pseudo-targets of latent variables, and the evidence on them."""


class BatchLikelihood(ABC):
    """A likelihood of a batch of chains, Gaussian in their weights given latent variables."""

    __slots__ = ()

    @abstractmethod
    def start(
        self, rngs: Sequence[Generator], rows: BatchRows, omega: Array, precision: Array
    ) -> Conditioned:
        """Return rows and evidence at frequencies (C, m, d) and precisions (C,)."""

    @abstractmethod
    def redraw(
        self, rngs: Sequence[Generator], rows: BatchRows, evidence: BatchEvidence
    ) -> tuple[Conditioned | None, list[Info]]:
        """Return rows and evidence given new latent variables, and log densities by name.

        The first result is ``None`` without latent variables. ``rows`` have the weights and targets
        of the data.
        """


@dataclass(frozen=True, slots=True)
class BatchNumbers(BatchLikelihood):
    """Numeric targets with normal noise, which is integrated out; no latent variables."""

    noise: Noise

    def start(
        self, rngs: Sequence[Generator], rows: BatchRows, omega: Array, precision: Array
    ) -> Conditioned:
        return rows, evidence_of(rows, omega, precision, self.noise)

    def redraw(
        self, rngs: Sequence[Generator], rows: BatchRows, evidence: BatchEvidence
    ) -> tuple[Conditioned | None, list[Info]]:
        return None, [{"log_evidence": float(value)} for value in evidence.log_evidence()]


_UNIT = KnownNoise()


@dataclass(frozen=True, slots=True)
class BatchLabels(BatchLikelihood):
    """Binary labels, see :class:`~bochner.learning.chains.moves.labels.LogisticLabels`.

    Functions are computed on the device. Pólya-Gamma variables are drawn on the host, by the
    generator of each chain. A round transfers ``n`` numbers in each direction.
    """

    def start(
        self, rngs: Sequence[Generator], rows: BatchRows, omega: Array, precision: Array
    ) -> Conditioned:
        evidence, activation = mode_of(rows, omega, precision)
        weighted_rows = _drawn(rngs, rows, activation)
        return weighted_rows, evidence_of(weighted_rows, omega, precision, _UNIT, reused=evidence)

    def redraw(
        self, rngs: Sequence[Generator], rows: BatchRows, evidence: BatchEvidence
    ) -> tuple[Conditioned | None, list[Info]]:
        lower, _ = factored(evidence.covariance)
        normal = np.stack([rng.normal(size=evidence.mean.shape[1]) for rng in rngs])
        deviation = (lower @ like(normal, lower)[:, :, None])[:, :, 0]
        # The weights are drawn on the device, the Pólya-Gamma variables on the host.
        activation = _activation(rows, evidence, evidence.mean + deviation)
        weighted_rows = _drawn(rngs, rows, activation)
        old = evidence
        new_evidence = evidence_of(weighted_rows, old.omega, old.precision, _UNIT, reused=old)
        infos: list[Info] = [{"log_likelihood": value} for value in _heights(rows, activation)]
        return (weighted_rows, new_evidence), infos


def mode_of(
    rows: BatchRows, omega: Array, precision: Array, *, keep: bool = True
) -> tuple[BatchEvidence, Columns]:
    """Return the evidence at the posterior modes of the weights, and the activations there.

    Newton's method. A chain whose step would decrease the log density goes on by Pólya-Gamma EM
    steps, which never decrease it; a chain that has converged no longer moves. ``keep`` is whether
    features of all rows are stored.
    """
    activation: Columns = [np.zeros(part.n_samples) for part in rows.parts]
    value, newton = np.full(len(omega), -np.inf), np.ones(len(omega), dtype=np.bool_)
    has_converged = np.zeros(len(omega), dtype=np.bool_)
    evidence: BatchEvidence | None = None
    for _ in range(MODE_STEPS):
        weighted_rows = rows.reweighted(
            [
                (tangent if is_newton else bound)(part, values)
                for is_newton, part, values in zip(newton, rows.parts, activation, strict=True)
            ]
        )
        evidence = evidence_of(weighted_rows, omega, precision, _UNIT, keep=keep, reused=evidence)
        reached = _activation(rows, evidence, evidence.mean)
        weights = to_numpy(evidence.mean)[:, : 2 * evidence.n_waves]
        height = _heights(rows, reached) - 0.5 * precision * np.sum(weights**2, axis=1)
        higher = (height >= value) & ~has_converged
        # After a failure the point is the same, and so would be the next Newton step.
        newton &= higher | has_converged
        has_converged |= higher & (height - value < MODE_GAIN)
        value = np.where(higher, height, value)
        activation = [
            new if up else old for new, old, up in zip(reached, activation, higher, strict=True)
        ]
        if has_converged.all():
            break
    if evidence is None:
        raise RuntimeError("The search of the mode made no step.")
    return evidence, activation


def _activation(rows: BatchRows, evidence: BatchEvidence, beta: DeviceArray) -> Columns:
    """Return the values of functions with weights (C, p) at the rows of each chain."""
    values = to_numpy(rows.values(evidence.omega, beta, evidence.features)).astype(np.float64)
    return [of_chain[: part.n_samples] for of_chain, part in zip(values, rows.parts, strict=True)]


def _drawn(rngs: Sequence[Generator], rows: BatchRows, activation: Columns) -> BatchRows:
    """Return the rows given Polya-Gamma variables that are drawn at an activation."""
    each = zip(rngs, rows.parts, activation, strict=True)
    return rows.reweighted(
        [(polya_gamma(count_of(part), of_chain, rng), part.target) for rng, part, of_chain in each]
    )


def _heights(rows: BatchRows, activation: Columns) -> Array:
    """Return the log likelihoods (C,) of activations."""
    each = zip(rows.parts, activation, strict=True)
    return np.array([part_log_likelihood(part, of_chain)[0] for part, of_chain in each])
