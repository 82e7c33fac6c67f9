"""How data follow from the functions of chains side by side: numbers, and binary labels."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.batched import factored
from bochner._numerics.namespaces import like, to_numpy
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
"""A value of every row (n,) of each chain, on the host."""

Conditioned = tuple[BatchRows, BatchEvidence]
"""Rows with the weights and pseudo-targets of latent variables, and the evidence on them."""


class BatchLikelihood(ABC):
    """A likelihood of chains side by side, Gaussian in their weights given latent variables."""

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
        """Return rows and evidence given new latent variables (or None), and log densities by name.

        ``rows`` have the weights and targets of the data.
        """


@dataclass(frozen=True, slots=True)
class BatchNumbers(BatchLikelihood):
    """Numbers with normal noise, integrated out; no latent variables."""

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

    Functions are computed on the device and Polya-Gamma variables drawn on the host, by the
    generator of each chain: ``n`` numbers go either way in a round.
    """

    def start(
        self, rngs: Sequence[Generator], rows: BatchRows, omega: Array, precision: Array
    ) -> Conditioned:
        evidence, activation = mode_of(rows, omega, precision)
        given = _drawn(rngs, rows, activation)
        return given, evidence_of(given, omega, precision, _UNIT, known=evidence)

    def redraw(
        self, rngs: Sequence[Generator], rows: BatchRows, evidence: BatchEvidence
    ) -> tuple[Conditioned | None, list[Info]]:
        lower, _ = factored(evidence.covariance)
        normal = np.stack([rng.normal(size=evidence.mean.shape[1]) for rng in rngs])
        deviation = (lower @ like(normal, lower)[:, :, None])[:, :, 0]
        activation = _activation(rows, evidence, evidence.mean + deviation)
        given = _drawn(rngs, rows, activation)
        old = evidence
        fresh = evidence_of(given, old.omega, old.precision, _UNIT, known=old)
        infos: list[Info] = [{"log_likelihood": value} for value in _heights(rows, activation)]
        return (given, fresh), infos


def mode_of(
    rows: BatchRows, omega: Array, precision: Array, *, keep: bool = True
) -> tuple[BatchEvidence, Columns]:
    """Return the evidence at the posterior modes of the weights, and the activations there.

    Newton's method, and where it would descend steps of Polya-Gamma EM, which never do; each chain
    stays where it has arrived. ``keep`` is whether features of all rows are kept.
    """
    activation: Columns = [np.zeros(part.n_samples) for part in rows.parts]
    value, newton = np.full(len(omega), -np.inf), np.ones(len(omega), dtype=np.bool_)
    there = np.zeros(len(omega), dtype=np.bool_)
    evidence: BatchEvidence | None = None
    for _ in range(MODE_STEPS):
        given = rows.reweighted(
            [
                (tangent if fast else bound)(part, own)
                for fast, part, own in zip(newton, rows.parts, activation, strict=True)
            ]
        )
        evidence = evidence_of(given, omega, precision, _UNIT, keep=keep, known=evidence)
        reached = _activation(rows, evidence, evidence.mean)
        weights = to_numpy(evidence.mean)[:, : 2 * evidence.n_waves]
        height = _heights(rows, reached) - 0.5 * precision * np.sum(weights**2, axis=1)
        higher = (height >= value) & ~there
        newton &= higher | there
        there |= higher & (height - value < MODE_GAIN)
        value = np.where(higher, height, value)
        activation = [
            new if up else old for new, old, up in zip(reached, activation, higher, strict=True)
        ]
        if there.all():
            break
    if evidence is None:
        raise RuntimeError("The search of the mode made no step.")
    return evidence, activation


def _activation(rows: BatchRows, evidence: BatchEvidence, beta: Any) -> Columns:
    """Return the values of functions with weights (C, p) at the rows of each chain."""
    values = to_numpy(rows.values(evidence.omega, beta, evidence.features)).astype(np.float64)
    return [own[: part.n_samples] for own, part in zip(values, rows.parts, strict=True)]


def _drawn(rngs: Sequence[Generator], rows: BatchRows, activation: Columns) -> BatchRows:
    """Return the rows given Polya-Gamma variables that are drawn at an activation."""
    each = zip(rngs, rows.parts, activation, strict=True)
    return rows.reweighted(
        [(polya_gamma(count_of(part), own, rng), part.target) for rng, part, own in each]
    )


def _heights(rows: BatchRows, activation: Columns) -> Array:
    """Return the log likelihoods (C,) of activations."""
    each = zip(rows.parts, activation, strict=True)
    return np.array([part_log_likelihood(part, own)[0] for part, own in each])
