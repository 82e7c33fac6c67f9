"""Stored draws of chains in one batch, and a draw from all rows on a device."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bochner._numerics.arrays import Array
from bochner._numerics.namespaces import DeviceArray, namespace, to_numpy
from bochner.learning.batched.evidence import BatchEvidence, evidence_of, solved, whiteners
from bochner.learning.batched.likelihoods import mode_of
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.draws import ChainDraw, drawn
from bochner.learning.chains.evidence import MACKAY_STEPS, Noise, mackay_step
from bochner.learning.chains.prior import FrequencyPrior
from bochner.learning.chains.training_data import TrainingData


def drawn_together(
    evidence: BatchEvidence,
    priors: Sequence[FrequencyPrior | None],
    log_densities: Sequence[float],
    *,
    in_full: bool,
) -> list[ChainDraw]:
    """Return a stored draw of the state of each chain, as arrays on the host."""
    means = np.asarray(to_numpy(evidence.mean), dtype=np.float64)
    roots = whiteners(evidence) if in_full else None
    draws = []
    for index, (prior, value) in enumerate(zip(priors, log_densities, strict=True)):
        draw = drawn(evidence.of(index, means[index]), prior, value, in_full=False)
        if roots is not None:
            components = None if prior is None else prior.components()
            draw = replace(draw, whitener=roots[index], components=components)
        draws.append(draw)
    return draws


def draw_of_labels(
    rows: TrainingData, omega: Array, precision: float, home: DeviceArray
) -> ChainDraw:
    """Return the draw of frequencies (m, d) at the mode of the weights given labels of all rows."""
    fit, _ = mode_of(BatchRows.of([rows], home), omega[None], np.array([precision]), keep=False)
    (draw,) = drawn_together(fit, [None], list(fit.log_evidence()), in_full=True)
    return draw


def draw_of_numbers(
    rows: TrainingData, omega: Array, precision: float, noise: Noise, home: DeviceArray
) -> ChainDraw:
    """Return the draw of frequencies (m, d) for all rows, at the precision of greatest evidence.

    Sums over rows and their solution are on the device of ``home``.
    """
    batch = BatchRows.of([rows], home)
    fit = evidence_of(batch, omega[None], np.array([precision]), noise, keep=False)
    m = 2 * fit.n_waves
    for _ in range(MACKAY_STEPS):
        xp = namespace(fit.mean)
        diagonal = xp.linalg.diagonal(fit.covariance)[0, :m]
        trace, square = float(xp.sum(diagonal)), float(xp.sum(fit.mean[0, :m] ** 2))
        stepped = np.array([mackay_step(fit.of(0), trace, square)])
        if stepped == fit.precision:
            break
        fit = solved(fit, stepped)
    (draw,) = drawn_together(fit, [None], list(fit.log_evidence()), in_full=True)
    return draw
